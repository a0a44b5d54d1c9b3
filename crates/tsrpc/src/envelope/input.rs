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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        DataType, Draft,
        testing::{hex, service_of_id},
    };

    fn check(frame: &str, expected: Result<(u64, &str, Option<u64>), &str>) {
        let bytes = hex(frame);
        let found = parse_input(&bytes, Strictness::Strict).map_err(|error| error.to_string());
        let found = found.map(|input| (input.service_id, input.body.to_vec(), input.sn));
        let expected = expected.map(|(service_id, body, sn)| (service_id, hex(body), sn));
        assert_eq!(found, expected.map_err(str::to_owned), "{frame}");
    }

    #[test]
    fn what_published_clients_write_is_read() {
        check("0229002c00", Ok((0, "", None)));
        check("0329002c003101", Ok((0, "", Some(1))));
        check("0329ac022c03aabbcc31ffffffffffffff0f", Ok((300, "aabbcc", Some((1 << 53) - 1))));
    }

    #[test]
    fn blocks_come_in_any_order_and_the_last_of_a_kind_counts() {
        check("03310129002c00", Ok((0, "", Some(1))));
        check("022c01ff2907", Ok((7, "ff", None)));
        check("0429012c01aa29022c01bb", Ok((2, "bb", None)));
        check("0529012c01aa310131022903", Ok((3, "aa", Some(2))));
    }

    #[test]
    fn what_is_unknown_is_passed_over() {
        // Properties of all four length types, a base, entries of an index signature.
        check("0329012c00340177", Ok((1, "", None)));
        check("0335ff0129012c00", Ok((1, "", None)));
        check("0336010203040506070829012c00", Ok((1, "", None)));
        check("03370128017829012c00", Ok((1, "", None)));
        check("03070128017829012c00", Ok((1, "", None)));
        check("0300016b017629012c00", Ok((1, "", None)));
        check("0301016bff0129012c00", Ok((1, "", None)));
        // Whatever stands behind the last block.
        check("0229012c00ffff", Ok((1, "", None)));
        // The length type of a known block is not looked at.
        check("022a012f00", Ok((1, "", None)));
    }

    #[test]
    fn what_is_missing_is_named() {
        check("00", Err("Missing required property `serviceId`."));
        check("012c00", Err("Missing required property `serviceId`."));
        check("012901", Err("Missing required property `buffer`."));
        check("", Err("Read varint error: index out of range"));
        check("0329012c00", Err("Read varint error: index out of range"));
        check("0229012c05aa", Err("Length 5 exceeds the 1 bytes that are left"));
        check("0229012cffffffff0faa", Err("Length 4294967295 exceeds the 1 bytes that are left"));
    }

    #[test]
    fn lenient_reading_cuts_a_body_at_the_end_as_published_servers_do() {
        let frame = hex("0229012c05aabb");
        let input = parse_input(&frame, Strictness::Lenient).unwrap();
        assert_eq!(input, ServerInput { service_id: 1, body: &[0xaa, 0xbb], sn: None });
    }

    /// Frames that are nearly, or not at all, as clients write them.
    fn frames() -> impl Strategy<Value = Vec<u8>> {
        let block = prop_oneof![
            (0..4u8, any::<u8>()).prop_map(|(id, value)| vec![0x29 + 4 * id, value]),
            prop::collection::vec(any::<u8>(), 0..4).prop_map(|body| [&[0x2c, body.len() as u8], &*body].concat()),
            prop::collection::vec(any::<u8>(), 0..6),
            Just(vec![0x31, 0x80, 0x01]),
            Just(vec![0xac, 0x00, 0x01, 0x61]),
        ];
        (0..6u8, prop::collection::vec(block, 0..6)).prop_map(|(count, blocks)| [vec![count], blocks.concat()].concat())
    }

    proptest! {
        #[test]
        fn the_fast_path_accepts_only_what_the_general_one_reads_to_the_same(frame in frames()) {
            if let Some(fast) = canonical(&frame) {
                prop_assert_eq!(general(&frame, Strictness::Strict), Ok(fast));
                prop_assert_eq!(general(&frame, Strictness::Lenient), Ok(fast));
            }
        }

        #[test]
        fn what_was_written_is_read(service_id: u32, body: Vec<u8>, sn: Option<u64>) {
            let services = service_of_id(service_id);
            let service = services.iter().next().unwrap();
            let mut frame = Vec::new();
            let mut draft = match sn {
                Some(sn) => Draft::request(&mut frame, DataType::Buffer, service, sn),
                None => Draft::http_request(&mut frame, DataType::Buffer, service),
            };
            draft.body().extend_from_slice(&body);
            draft.finish();
            let expected = ServerInput { service_id: service_id.into(), body: &body, sn };
            prop_assert_eq!(canonical(&frame), Some(expected));
        }
    }
}
