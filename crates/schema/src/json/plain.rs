//! Where the plain part of a JSON string ends.
//!
//! Depends on nothing.

/// How many bytes at the start stand for themselves in a JSON string: up to a quote, a
/// backslash or a control character.
///
/// Hot: looks at eight bytes at once.
///
/// ```
/// use polywire_schema::json_plain_len;
///
/// assert_eq!(json_plain_len("中 and more\"".as_bytes()), 12);
/// assert_eq!(json_plain_len(b"a\\n"), 1);
/// ```
#[inline]
#[must_use]
pub fn json_plain_len(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((chunk, behind)) = rest.split_first_chunk() {
        let stops = stops(u64::from_le_bytes(*chunk));
        if stops != 0 {
            return bytes.len() - rest.len() + stops.trailing_zeros() as usize / 8;
        }
        rest = behind;
    }
    while let [b' '..=b'!' | b'#'..=b'[' | b']'.., behind @ ..] = rest {
        rest = behind;
    }
    bytes.len() - rest.len()
}

/// The high bit of each byte that ends a run of plain bytes. Above the first such byte
/// there may be false ones.
#[inline]
fn stops(chunk: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // Subtracting n from a byte of ASCII sets its high bit where the byte is less than n.
    let quotes = (chunk ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslashes = (chunk ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    let controls = chunk.wrapping_sub(ONES * 0x20);
    (quotes | backslashes | controls) & !chunk & (ONES * 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_is_judged_alone() {
        for byte in 0..=u8::MAX {
            for at in 0..20 {
                let mut bytes = [b'x'; 20];
                bytes[at] = byte;
                let ends = matches!(byte, b'"' | b'\\' | ..=0x1f);
                assert_eq!(json_plain_len(&bytes), if ends { at } else { 20 }, "{byte:#x} at {at}");
            }
        }
    }
}
