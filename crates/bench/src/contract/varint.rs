//! Unsigned LEB128, as TSBuffer writes lengths, ids and dates.

/// Appends `value` in its shortest form, 1 to 10 bytes.
pub(super) fn write(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Takes a number off the front of `bytes`; `None` if it is cut off or longer than 64 bits.
pub(super) fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Takes a length and as many bytes off the front of `bytes`.
pub(super) fn read_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(read(bytes)?).ok()?;
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back() {
        for (value, len) in [(0, 1), (127, 1), (128, 2), (1_733_000_000_000, 6), (u64::MAX, 10)] {
            let mut bytes = Vec::new();
            write(&mut bytes, value);
            assert_eq!(bytes.len(), len);
            assert_eq!(read(&mut &bytes[..]), Some(value));
            assert_eq!(read(&mut &bytes[..len - 1]), None, "cut off");
        }
    }

    #[test]
    fn a_length_beyond_the_end_is_refused() {
        assert_eq!(read_bytes(&mut &[2, b'h', b'i'][..]), Some(&b"hi"[..]));
        assert_eq!(read_bytes(&mut &[3, b'h', b'i'][..]), None);
        assert_eq!(read_bytes(&mut &[0xff, 0xff, 0xff, 0xff, 0x0f][..]), None);
    }
}
