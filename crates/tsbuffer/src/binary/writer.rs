//! Writing the primitives of the binary form into a byte vector (reference §5.1).
//!
//! Depends on the sibling modules only. Everything appends; a length or count
//! that is known only afterwards is written into a byte kept free for it.

use super::varint::{Varint, zigzag};

/// A varint.
#[inline]
pub fn write_varint(out: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        out.push(value as u8);
    } else if value < 0x4000 {
        out.extend_from_slice(&[value as u8 | 0x80, (value >> 7) as u8]);
    } else {
        out.extend_from_slice(Varint::new(value).as_bytes());
    }
}

/// A signed integer in zigzag form.
#[inline]
pub fn write_zigzag(out: &mut Vec<u8>, value: i64) {
    write_varint(out, zigzag(value));
}

/// An IEEE-754 double, big-endian. There is one NaN, as in JavaScript.
#[inline]
pub fn write_double(out: &mut Vec<u8>, value: f64) {
    let value = if value.is_nan() { f64::NAN } else { value };
    out.extend_from_slice(&value.to_be_bytes());
}

/// A boolean.
#[inline]
pub fn write_bool(out: &mut Vec<u8>, value: bool) {
    out.push(if value { 0xff } else { 0 });
}

/// A string behind its length.
#[inline]
pub fn write_str(out: &mut Vec<u8>, text: &str) {
    write_bytes(out, text.as_bytes());
}

/// Bytes behind their length.
#[inline]
pub fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A byte kept free for a number that is known only when what follows it is written.
#[derive(Debug)]
#[must_use = "the byte kept free must be filled in"]
pub struct Placeholder(usize);

impl Placeholder {
    /// Keeps a byte free at the end.
    #[inline]
    pub fn reserve(out: &mut Vec<u8>) -> Self {
        out.push(0);
        Self(out.len() - 1)
    }

    /// Fills in a number. One that takes more than a byte moves up what follows.
    ///
    /// # Panics
    /// Where `out` has been cut below the placeholder.
    #[inline]
    pub fn fill(self, out: &mut Vec<u8>, value: u64) {
        if value < 0x80 {
            out[self.0] = value as u8;
        } else {
            let varint = Varint::new(value);
            let (varint, end) = (varint.as_bytes(), out.len());
            // One byte of it is there already.
            out.resize(end + varint.len() - 1, 0);
            out.copy_within(self.0 + 1..end, self.0 + varint.len());
            out[self.0..self.0 + varint.len()].copy_from_slice(varint);
        }
    }

    /// Fills in the number of bytes that follow.
    ///
    /// # Panics
    /// As [`fill`](Self::fill).
    #[inline]
    pub fn fill_length(self, out: &mut Vec<u8>) {
        let length = out.len() - self.0 - 1;
        self.fill(out, length as u64);
    }
}

/// Writes something behind the length that it turns out to have.
///
/// ```
/// use polywire_tsbuffer::binary::{write_length_prefixed, write_varint};
///
/// let mut out = Vec::new();
/// write_length_prefixed(&mut out, |out| write_varint(out, 300));
/// assert_eq!(out, [0x02, 0xac, 0x02]);
/// ```
#[inline]
pub fn write_length_prefixed<T>(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    let length = Placeholder::reserve(out);
    let result = write(out);
    length.fill_length(out);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = vec![0xee];
        write(&mut out);
        assert_eq!(out.remove(0), 0xee);
        out
    }

    #[test]
    fn primitives_have_the_published_bytes() {
        assert_eq!(written(|out| write_varint(out, 127)), [0x7f]);
        assert_eq!(written(|out| write_varint(out, 128)), [0x80, 1]);
        assert_eq!(written(|out| write_varint(out, 16_383)), [0xff, 0x7f]);
        assert_eq!(written(|out| write_varint(out, 16_384)), [0x80, 0x80, 1]);
        assert_eq!(written(|out| write_zigzag(out, -1)), [1]);
        assert_eq!(written(|out| write_zigzag(out, 64)), [0x80, 1]);
        assert_eq!(written(|out| write_double(out, 1.5)), [0x3f, 0xf8, 0, 0, 0, 0, 0, 0]);
        assert_eq!(written(|out| write_double(out, -f64::NAN)), [0x7f, 0xf8, 0, 0, 0, 0, 0, 0]);
        assert_eq!(written(|out| write_bool(out, true)), [0xff]);
        assert_eq!(written(|out| write_bool(out, false)), [0]);
        assert_eq!(written(|out| write_str(out, "中")), [3, 0xe4, 0xb8, 0xad]);
    }

    #[test]
    fn lengths_found_out_later_are_minimal_varints() {
        for length in [0, 1, 127, 128, 16_383, 16_384] {
            let bytes = vec![7; length];
            let prefixed = written(|out| write_length_prefixed(out, |out| out.extend_from_slice(&bytes)));
            assert_eq!(prefixed, written(|out| write_bytes(out, &bytes)), "{length}");
        }
    }
}
