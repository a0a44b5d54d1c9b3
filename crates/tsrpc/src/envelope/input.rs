//! What a client sends: `ServerInputData { 0 serviceId: uint, 1 buffer: Uint8Array, 2 sn?: uint }`.

use polywire_tsbuffer::binary::{BinaryReader, Strictness};

use super::{Block, EnvelopeError, read_block, skip_block, tag};

/// What a client sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerInput<'a> {
    /// The service.
    pub service_id: u64,
    /// The request or message, in TSBuffer.
    pub body: &'a [u8],
    /// The serial number: on calls over a long connection.
    pub sn: Option<u64>,
}

/// Reads a binary frame or HTTP body that a client sent. Hot.
///
/// Blocks may come in any order, later ones replace earlier ones, unknown ones
/// and what follows the last one are passed over, as published servers do.
///
/// # Errors
/// Where the bytes end too early, or the service id or body is missing.
pub fn parse_input(frame: &[u8], strictness: Strictness) -> Result<ServerInput<'_>, EnvelopeError> {
    match canonical(frame) {
        Some(input) => Ok(input),
        None => general(frame, strictness),
    }
}

/// The form that every published client writes.
fn canonical(frame: &[u8]) -> Option<ServerInput<'_>> {
    let (&[count @ (2 | 3), tag::INPUT_SERVICE], rest) = frame.split_first_chunk()? else { return None };
    let mut reader = BinaryReader::new(rest);
    let service_id = reader.read_varint().ok()?;
    // Tags below 0x80 are one byte, and so are the varints that they are read as.
    if reader.read_varint().ok()? != tag::INPUT_BODY.into() {
        return None;
    }
    let body = reader.read_bytes().ok()?;
    let mut sn = None;
    if count == 3 {
        if reader.read_varint().ok()? != tag::INPUT_SN.into() {
            return None;
        }
        sn = Some(reader.read_varint().ok()?);
    }
    Some(ServerInput { service_id, body, sn })
}

fn general(frame: &[u8], strictness: Strictness) -> Result<ServerInput<'_>, EnvelopeError> {
    let mut reader = BinaryReader::with_strictness(frame, strictness);
    let (mut service_id, mut body, mut sn) = (None, None, None);
    for _ in 0..reader.read_varint()? {
        match read_block(&mut reader)? {
            Block::Property(0, _) => service_id = Some(reader.read_varint()?),
            Block::Property(1, _) => body = Some(reader.read_bytes()?),
            Block::Property(2, _) => sn = Some(reader.read_varint()?),
            other => skip_block(&mut reader, &other)?,
        }
    }
    Ok(ServerInput {
        service_id: service_id.ok_or(EnvelopeError::Missing("serviceId"))?,
        body: body.ok_or(EnvelopeError::Missing("buffer"))?,
        sn,
    })
}
