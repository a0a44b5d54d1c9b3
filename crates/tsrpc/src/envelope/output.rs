//! What a server sends: `ServerOutputData { 0 buffer?: Uint8Array, 1 error?: TsrpcErrorData,
//! 2 serviceId?: uint, 3 sn?: uint }`.

use polywire_tsbuffer::binary::{BinaryReader, Strictness};

use super::{Block, EnvelopeError, error_block::read_error, read_block, skip_block, tag};
use crate::ApiError;

/// What a server sent. Nothing of it has to be there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerOutput<'a> {
    /// The response or message, in TSBuffer.
    pub body: Option<&'a [u8]>,
    /// Why there is no response.
    pub error: Option<ApiError>,
    /// The service: on a long connection.
    pub service_id: Option<u64>,
    /// The serial number of the call that is answered.
    pub sn: Option<u64>,
}

/// Reads a binary frame or HTTP body that a server sent. Hot.
///
/// Blocks may come in any order, later ones replace earlier ones, unknown ones
/// and what follows the last one are passed over, as published clients do.
///
/// # Errors
/// Where the bytes end too early, or hold an error that is none.
pub fn parse_output(frame: &[u8], strictness: Strictness) -> Result<ServerOutput<'_>, EnvelopeError> {
    match canonical(frame) {
        Some(output) => Ok(output),
        None => general(frame, strictness),
    }
}

/// The form in which published servers write responses and messages.
fn canonical(frame: &[u8]) -> Option<ServerOutput<'_>> {
    let (&[count @ 1..=3, tag::OUTPUT_BODY], rest) = frame.split_first_chunk()? else { return None };
    let mut reader = BinaryReader::new(rest);
    let mut output = ServerOutput { body: Some(reader.read_bytes().ok()?), ..ServerOutput::default() };
    if count > 1 {
        if reader.read_varint().ok()? != tag::OUTPUT_SERVICE.into() {
            return None;
        }
        output.service_id = Some(reader.read_varint().ok()?);
    }
    if count > 2 {
        if reader.read_varint().ok()? != tag::OUTPUT_SN.into() {
            return None;
        }
        output.sn = Some(reader.read_varint().ok()?);
    }
    Some(output)
}

fn general(frame: &[u8], strictness: Strictness) -> Result<ServerOutput<'_>, EnvelopeError> {
    let mut reader = BinaryReader::with_strictness(frame, strictness);
    let mut output = ServerOutput::default();
    for _ in 0..reader.read_varint()? {
        match read_block(&mut reader)? {
            Block::Property(0, _) => output.body = Some(reader.read_bytes()?),
            Block::Property(1, _) => output.error = Some(read_error(&mut reader)?),
            Block::Property(2, _) => output.service_id = Some(reader.read_varint()?),
            Block::Property(3, _) => output.sn = Some(reader.read_varint()?),
            other => skip_block(&mut reader, &other)?,
        }
    }
    Ok(output)
}
