//! Base64 as peers write it and as Node reads it.
//!
//! Depends on the crate `base64` only.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use polywire_schema::BufferKind;

/// Reads base64 as leniently as Node: up to the first `=`, both alphabets,
/// anything else skipped, and whatever makes no whole byte at the end dropped.
///
/// ```
/// use polywire_tsbuffer::json::decode_base64;
///
/// assert_eq!(decode_base64("AQID"), [1, 2, 3]);
/// assert_eq!(decode_base64(" A-_ /"), [3, 239, 255]);
/// ```
#[must_use]
pub fn decode_base64(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap_or_else(|_| decode_leniently(text))
}

/// Bytes of whole elements of a typed array; `None` for those of bigints, which published
/// peers do not read either.
pub(super) fn decode_elements(text: &str, kind: BufferKind) -> Option<Bytes> {
    if matches!(kind, BufferKind::BigInt64Array | BufferKind::BigUint64Array) {
        return None;
    }
    let mut bytes = decode_base64(text);
    bytes.truncate(bytes.len() - bytes.len() % kind.element_size());
    Some(bytes.into())
}

fn decode_leniently(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0_u32, 0);
    for unit in text.encode_utf16() {
        // Node looks at the low byte of a UTF-16 unit, whatever it stands for.
        let [byte, _] = unit.to_le_bytes();
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            // The low eight bits of what is complete.
            out.push((bits >> count) as u8);
        }
    }
    out
}

/// Padded base64 in the standard alphabet.
pub(super) fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Appends padded base64 in the standard alphabet.
pub(super) fn encode(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    // What no slice in memory exceeds.
    let len = base64::encoded_len(bytes.len(), true).expect("base64 of a slice fits memory");
    out.resize(start + len, 0);
    STANDARD.encode_slice(bytes, &mut out[start..]).expect("room for the encoded length");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_node_reads() {
        let cases: [(&str, &[u8]); 17] = [
            ("", &[]),
            ("AQID", &[1, 2, 3]),
            ("AQI=", &[1, 2]),
            ("AQI", &[1, 2]),
            ("AQ==AQ==", &[1]),
            ("AQ=ID", &[1]),
            ("A", &[]),
            ("AB", &[0]),
            ("====", &[]),
            ("AQID=", &[1, 2, 3]),
            (" AQ ID ", &[1, 2, 3]),
            ("!!", &[]),
            ("_-8", &[0xff, 0xef]),
            ("hello", &[0x85, 0xe9, 0x65]),
            ("AQIDé", &[1, 2, 3]),
            ("中AQID", &[0xf8, 0x04, 0x08]),
            ("AQ\u{13d}ID", &[1]),
        ];
        for (text, expected) in cases {
            assert_eq!(decode_base64(text), expected, "{text:?}");
        }
    }
}
