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

#[cfg(test)]
mod tests {
    use polywire_schema::Value;
    use proptest::prelude::*;

    use super::*;
    use crate::{DataType, ErrorCode, ErrorKind, testing::hex, write_bare_error};

    fn check(frame: &str, expected: Result<ServerOutput<'_>, &str>) {
        let bytes = hex(frame);
        let found = parse_output(&bytes, Strictness::Strict).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{frame}");
    }

    fn output(body: Option<&[u8]>, service_id: Option<u64>, sn: Option<u64>) -> ServerOutput<'_> {
        ServerOutput { body, service_id, sn, error: None }
    }

    #[test]
    fn what_published_servers_write_is_read() {
        check("012800", Ok(output(Some(&[]), None, None)));
        check("022802aabb3107", Ok(output(Some(&[0xaa, 0xbb]), Some(7), None)));
        check("032801aa310735ac02", Ok(output(Some(&[0xaa]), Some(7), Some(300))));
        check("00", Ok(ServerOutput::default()));
        check("023507310a", Ok(output(None, Some(10), Some(7))));
    }

    #[test]
    fn errors_are_read_with_all_their_fields() {
        let error = |error: ApiError| Ok(ServerOutput { error: Some(error), ..ServerOutput::default() });
        let bad = || ApiError::new("bad thing");
        check("012f022809626164207468696e672d03", error(bad()));
        check("012f032809626164207468696e672d0333010006455f434f4445", error(bad().code("E_CODE")));
        check("012f032809626164207468696e672d0333010509", error(bad().code(-5)));
        check("012f032809626164207468696e672d03000573747566660474727565", error(bad().with("stuff", true)));
        // D19: a code of null counts as none. `undefined` is a value of its own.
        check("012f032809626164207468696e672d030004636f6465046e756c6c", error(bad()));
        let undefined = Value::Undefined;
        check("012f032809626164207468696e672d0300016109756e646566696e6564", error(bad().with("a", undefined)));
        // Of several members of the code the last counts; a member that nobody knows does not.
        check("012f032809626164207468696e672d033303000161050a0907", error(bad().code(5)));
        // A property and a base that nobody knows.
        check("012f042809626164207468696e672d0334017807012900", error(bad()));
    }

    #[test]
    fn what_is_no_error_is_refused() {
        check("012f00", Err("Missing required property `message`."));
        check("012f01280178", Err("Missing required property `type`."));
        check("012f022801782d04", Err("Invalid enum encoding: unexpected id 4"));
        check("012f032801782d030001610178", Err("Unexpected token 'x', \"x\" is not valid JSON"));
    }

    proptest! {
        #[test]
        fn an_error_that_was_written_is_read(
            message: String,
            kind in 0..4u64,
            code in prop_oneof![
                Just(None),
                any::<String>().prop_map(|code| Some(ErrorCode::Str(code))),
                any::<i64>().prop_map(|code| Some(ErrorCode::Int(code))),
            ],
            data in prop::collection::vec((any::<String>(), any::<u32>()), 0..4),
        ) {
            let mut error = ApiError::new(message).kind(ErrorKind::from_id(kind).unwrap());
            error.code = code;
            for (key, value) in data {
                error.set(key, value);
            }
            let mut frame = Vec::new();
            write_bare_error(&mut frame, DataType::Buffer, &error);
            let output = parse_output(&frame, Strictness::Strict).unwrap();
            prop_assert_eq!(output, ServerOutput { error: Some(error), ..ServerOutput::default() });
        }

        #[test]
        fn no_bytes_make_it_panic(frame: Vec<u8>) {
            let _ = parse_output(&frame, Strictness::Strict);
            let _ = parse_output(&frame, Strictness::Lenient);
        }

        #[test]
        fn the_fast_path_accepts_only_what_the_general_one_reads_to_the_same(
            count in 0..5u8,
            blocks in prop::collection::vec(prop_oneof![
                prop::collection::vec(any::<u8>(), 0..3).prop_map(|body| [&[0x28, body.len() as u8], &*body].concat()),
                (0..3u8, any::<u8>()).prop_map(|(id, value)| vec![0x31 + 4 * id, value]),
                prop::collection::vec(any::<u8>(), 0..4),
            ], 0..5),
        ) {
            let frame = [vec![count], blocks.concat()].concat();
            if let Some(fast) = canonical(&frame) {
                prop_assert_eq!(general(&frame, Strictness::Strict), Ok(fast));
            }
        }
    }
}
