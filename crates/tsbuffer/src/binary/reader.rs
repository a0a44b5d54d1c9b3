//! Reading the primitives of the binary form, bounds checked (reference §5.1).
//!
//! Depends on the sibling modules only. Invariants: no byte outside the input
//! is ever looked at; the position never passes the end; whatever the bytes
//! are, every function ends after work proportional to what it consumes.

use std::borrow::Cow;

use super::{
    varint::{Varint, unzigzag},
    wire::{LengthType, Tag},
};

/// What becomes of input that ends too early.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Strictness {
    /// It is an error.
    #[default]
    Strict,
    /// As published peers do: a string or byte sequence that runs past the end is
    /// what is there of it, and so is a varint of which three bytes are left.
    Lenient,
}

/// How many arrays, tuples and objects may stand within each other in a message.
///
/// The published codec has no limit but its stack.
pub const MAX_DEPTH: u32 = 512;

/// How many types may be entered at once, a union at every level and some more: as
/// many as checking a value admits. Unions, bases and mapped types nest without the
/// value getting deeper, and the stack has an end.
pub(crate) const MAX_FRAMES: u32 = 2 * MAX_DEPTH + 64;

/// How many array elements that take no bytes (literals) a message may hold.
///
/// They cost the sender nothing, so only a number can bound them.
pub const MAX_ZERO_WIDTH_ELEMENTS: u32 = 65_536;

/// Why bytes could not be read. `Display` gives the published text where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input ends inside a varint.
    #[error("Read varint error: index out of range")]
    VarintOutOfRange,
    /// A varint of more than ten bytes.
    #[error("invalid varint encoding")]
    VarintTooLong,
    /// The input ends inside a double or before a boolean.
    #[error("Offset is outside the bounds of the DataView")]
    OutOfBounds,
    /// A length that exceeds what is left of the input.
    #[error("Length {length} exceeds the {remaining} bytes that are left")]
    LengthOutOfRange {
        /// The length as written.
        length: u64,
        /// The bytes that are left.
        remaining: usize,
    },
    /// A boolean that is neither `00` nor `ff`.
    #[error("Invalid boolean encoding [{byte}] at pos {position}")]
    InvalidBoolean {
        /// What stands there.
        byte: u8,
        /// Where it stands.
        position: usize,
    },
    /// More nesting than [`MAX_DEPTH`].
    #[error("Nesting exceeds {MAX_DEPTH} levels")]
    TooDeep,
    /// More elements without bytes than [`MAX_ZERO_WIDTH_ELEMENTS`].
    #[error("More than {MAX_ZERO_WIDTH_ELEMENTS} array elements that take no bytes")]
    TooManyZeroWidthElements,
}

/// A position in the bytes of a message.
///
/// ```
/// use polywire_tsbuffer::binary::{BinaryReader, ReadError};
///
/// let mut reader = BinaryReader::new(&[0x03, b'a', b'b', b'c', 0x7f]);
/// assert_eq!(reader.read_str()?, "abc");
/// assert_eq!(reader.read_varint()?, 127);
/// assert_eq!(reader.read_varint(), Err(ReadError::VarintOutOfRange));
/// # Ok::<(), ReadError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BinaryReader<'a> {
    input: &'a [u8],
    position: usize,
    levels_left: u32,
    zero_width_left: u32,
    strictness: Strictness,
}

impl<'a> BinaryReader<'a> {
    /// At the start of the input, strict.
    #[must_use]
    #[inline]
    pub fn new(input: &'a [u8]) -> Self {
        Self::with_strictness(input, Strictness::Strict)
    }

    /// At the start of the input.
    #[must_use]
    #[inline]
    pub fn with_strictness(input: &'a [u8], strictness: Strictness) -> Self {
        Self { input, position: 0, levels_left: MAX_DEPTH, zero_width_left: MAX_ZERO_WIDTH_ELEMENTS, strictness }
    }

    /// How many bytes have been read.
    #[must_use]
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// How many bytes are left.
    #[must_use]
    #[inline]
    pub fn remaining(&self) -> usize {
        self.input.len() - self.position
    }

    /// A varint. Forms longer than necessary are accepted; bits above 64 are dropped.
    ///
    /// # Errors
    /// [`ReadError::VarintOutOfRange`] or [`ReadError::VarintTooLong`].
    #[inline]
    pub fn read_varint(&mut self) -> Result<u64, ReadError> {
        match self.input.get(self.position) {
            Some(&byte) if byte < 0x80 => {
                self.position += 1;
                Ok(byte.into())
            }
            _ => self.read_long_varint(),
        }
    }

    /// Takes a varint if it comes next in its minimal form, and says whether it did.
    ///
    /// Hot: with a constant of one byte, one comparison.
    #[inline]
    pub fn eat_varint(&mut self, expected: u64) -> bool {
        if expected < 0x80 {
            let found = self.input.get(self.position) == Some(&(expected as u8));
            self.position += usize::from(found);
            return found;
        }
        let expected = Varint::new(expected);
        let found = self.input[self.position..].starts_with(expected.as_bytes());
        if found {
            self.position += expected.as_bytes().len();
        }
        found
    }

    fn read_long_varint(&mut self) -> Result<u64, ReadError> {
        let rest = &self.input[self.position..];
        let mut value = 0;
        for (at, &byte) in rest.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.position += at + 1;
                return Ok(value);
            }
        }
        if rest.len() >= 10 {
            return Err(ReadError::VarintTooLong);
        }
        // The published reader does not look at the high bit of the last of four
        // bytes, nor at whether that byte is there at all.
        if self.strictness == Strictness::Lenient && (3..=4).contains(&rest.len()) {
            self.position = self.input.len();
            return Ok(value);
        }
        Err(ReadError::VarintOutOfRange)
    }

    /// A signed integer in zigzag form.
    ///
    /// # Errors
    /// As [`read_varint`](Self::read_varint).
    #[inline]
    pub fn read_zigzag(&mut self) -> Result<i64, ReadError> {
        self.read_varint().map(unzigzag)
    }

    /// An IEEE-754 double, big-endian.
    ///
    /// # Errors
    /// [`ReadError::OutOfBounds`].
    #[inline]
    pub fn read_double(&mut self) -> Result<f64, ReadError> {
        let (bytes, _) = self.input[self.position..].split_first_chunk().ok_or(ReadError::OutOfBounds)?;
        self.position += 8;
        Ok(f64::from_be_bytes(*bytes))
    }

    /// A boolean: `ff` or `00`.
    ///
    /// # Errors
    /// [`ReadError::OutOfBounds`] or [`ReadError::InvalidBoolean`].
    #[inline]
    pub fn read_bool(&mut self) -> Result<bool, ReadError> {
        let position = self.position;
        let value = match self.input.get(position) {
            Some(0xff) => true,
            Some(0) => false,
            Some(&byte) => return Err(ReadError::InvalidBoolean { byte, position }),
            None => return Err(ReadError::OutOfBounds),
        };
        self.position += 1;
        Ok(value)
    }

    /// Bytes behind their length. The position afterwards is where they end.
    ///
    /// # Errors
    /// [`ReadError::LengthOutOfRange`] unless lenient; as [`read_varint`](Self::read_varint).
    #[inline]
    pub fn read_bytes(&mut self) -> Result<&'a [u8], ReadError> {
        let length = self.read_varint()?;
        self.take(length)
    }

    /// A string behind its length. Where it is not UTF-8, U+FFFD stands in, as on Node.
    ///
    /// # Errors
    /// As [`read_bytes`](Self::read_bytes).
    #[inline]
    pub fn read_str(&mut self) -> Result<Cow<'a, str>, ReadError> {
        self.read_bytes().map(String::from_utf8_lossy)
    }

    /// The tag in front of a block or member.
    ///
    /// # Errors
    /// As [`read_varint`](Self::read_varint).
    #[inline]
    pub fn read_tag(&mut self) -> Result<Tag, ReadError> {
        self.read_varint().map(Tag::from_varint)
    }

    /// The number of elements of an array whose elements take at least one byte each.
    ///
    /// The number is as written: reading the elements finds out whether they are
    /// there. For what to reserve see [`capacity_for`](Self::capacity_for).
    ///
    /// # Errors
    /// As [`read_varint`](Self::read_varint).
    #[inline]
    pub fn read_count(&mut self) -> Result<u64, ReadError> {
        self.read_varint()
    }

    /// The number of elements of an array whose elements take no bytes: literals.
    ///
    /// # Errors
    /// [`ReadError::TooManyZeroWidthElements`] where the message holds more than
    /// [`MAX_ZERO_WIDTH_ELEMENTS`] together; as [`read_varint`](Self::read_varint).
    pub fn read_zero_width_count(&mut self) -> Result<u32, ReadError> {
        let count = self.read_varint()?;
        match u32::try_from(count).ok().filter(|count| *count <= self.zero_width_left) {
            Some(count) => {
                self.zero_width_left -= count;
                Ok(count)
            }
            None => Err(ReadError::TooManyZeroWidthElements),
        }
    }

    /// How many `T` to reserve for `count` elements of at least one byte each: never
    /// more than there are bytes left, and not much before the first has been read.
    #[must_use]
    pub fn capacity_for<T>(&self, count: u64) -> usize {
        /// What a sender may make us reserve with a count alone.
        const UNPROVEN_BYTES: usize = 16 * 1024;
        let most = self.remaining().min(UNPROVEN_BYTES / size_of::<T>().max(1));
        usize::try_from(count).unwrap_or(usize::MAX).min(most)
    }

    /// Passes over a payload that the reader does not know.
    ///
    /// # Errors
    /// Where the input ends inside it, or it nests deeper than [`MAX_DEPTH`].
    pub fn skip(&mut self, length_type: LengthType) -> Result<(), ReadError> {
        match length_type {
            LengthType::LengthDelimited => self.read_bytes().map(drop),
            LengthType::Varint => self.read_varint().map(drop),
            LengthType::Bit64 => self.take(8).map(drop),
            LengthType::IdBlock => self.nested(|reader| {
                let count = reader.read_varint()?;
                for _ in 0..count {
                    let tag = reader.read_tag()?;
                    reader.skip(tag.length_type)?;
                }
                Ok(())
            }),
        }
    }

    /// Reads something that may contain something like itself, one level further down.
    ///
    /// # Errors
    /// [`ReadError::TooDeep`] at [`MAX_DEPTH`] levels; what `read` returns.
    #[inline]
    pub fn nested<T, E: From<ReadError>>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        self.enter()?;
        let result = read(self);
        self.leave();
        result
    }

    /// One level down, for readers around this one; see [`nested`](Self::nested).
    #[inline]
    pub(crate) fn enter(&mut self) -> Result<(), ReadError> {
        self.levels_left = self.levels_left.checked_sub(1).ok_or(ReadError::TooDeep)?;
        Ok(())
    }

    /// One level up again.
    #[inline]
    pub(crate) fn leave(&mut self) {
        self.levels_left += 1;
    }

    #[inline]
    fn take(&mut self, length: u64) -> Result<&'a [u8], ReadError> {
        let rest = &self.input[self.position..];
        let taken = match usize::try_from(length).ok().and_then(|length| rest.get(..length)) {
            Some(taken) => taken,
            None if self.strictness == Strictness::Lenient => rest,
            None => return Err(ReadError::LengthOutOfRange { length, remaining: rest.len() }),
        };
        self.position += taken.len();
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lenient(input: &[u8]) -> BinaryReader<'_> {
        BinaryReader::with_strictness(input, Strictness::Lenient)
    }

    #[test]
    fn varints_are_read_to_their_end_or_refused() {
        type Verdict = Result<u64, ReadError>;
        let out_of_range = Err(ReadError::VarintOutOfRange);
        let cases: [(&[u8], Verdict, Verdict); 13] = [
            // input, strict, lenient
            (&[], out_of_range, out_of_range),
            (&[0x05], Ok(5), Ok(5)),
            (&[0x85, 0x00], Ok(5), Ok(5)),
            (&[0x80], out_of_range, out_of_range),
            (&[0x80, 0x80], out_of_range, out_of_range),
            (&[0x80, 0x80, 0x80], out_of_range, Ok(0)),
            (&[0x80, 0x80, 0x80, 0x80], out_of_range, Ok(0)),
            (&[0xff, 0xff, 0xff, 0xff], out_of_range, Ok(268_435_455)),
            (&[0x80; 5], out_of_range, out_of_range),
            (&[0x80; 9], out_of_range, out_of_range),
            (&[0x80; 10], Err(ReadError::VarintTooLong), Err(ReadError::VarintTooLong)),
            (&[0x80; 11], Err(ReadError::VarintTooLong), Err(ReadError::VarintTooLong)),
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], Ok(u64::MAX), Ok(u64::MAX)),
        ];
        for (input, strict, tolerant) in cases {
            assert_eq!(BinaryReader::new(input).read_varint(), strict, "{input:x?}");
            assert_eq!(lenient(input).read_varint(), tolerant, "{input:x?}, lenient");
        }
    }

    #[test]
    fn a_length_past_the_end_is_refused_unless_lenient() {
        let input = [0x05, b'a'];
        let error = ReadError::LengthOutOfRange { length: 5, remaining: 1 };
        assert_eq!(BinaryReader::new(&input).read_str(), Err(error));
        let mut reader = lenient(&input);
        assert_eq!(reader.read_str().as_deref(), Ok("a"));
        assert_eq!(reader.remaining(), 0);
        let four_gigabytes = [0xff, 0xff, 0xff, 0xff, 0x0f];
        let error = ReadError::LengthOutOfRange { length: u32::MAX.into(), remaining: 0 };
        assert_eq!(BinaryReader::new(&four_gigabytes).read_bytes(), Err(error));
    }

    #[test]
    fn doubles_and_booleans_never_read_past_the_input() {
        for len in 0..8 {
            assert_eq!(lenient(&[0x3f; 8][..len]).read_double(), Err(ReadError::OutOfBounds), "{len}");
        }
        assert_eq!(lenient(&[]).read_bool(), Err(ReadError::OutOfBounds));
        let error = ReadError::InvalidBoolean { byte: 0x80, position: 1 };
        let mut reader = BinaryReader::new(&[0xff, 0x80]);
        assert_eq!(reader.read_bool(), Ok(true));
        assert_eq!(reader.read_bool(), Err(error));
        assert_eq!(error.to_string(), "Invalid boolean encoding [128] at pos 1");
    }

    #[test]
    fn strings_that_are_not_utf8_get_replacement_characters() {
        let mut reader = BinaryReader::new(&[0x05, b'a', 0xed, 0xa0, 0x80, 0xff]);
        assert_eq!(reader.read_str().as_deref(), Ok("a\u{fffd}\u{fffd}\u{fffd}\u{fffd}"));
    }

    #[test]
    fn every_length_type_can_be_skipped() {
        let cases: [(LengthType, &[u8]); 5] = [
            (LengthType::LengthDelimited, &[2, 1, 1]),
            (LengthType::Varint, &[0x80, 1]),
            (LengthType::Bit64, &[1; 8]),
            (LengthType::IdBlock, &[0]),
            (LengthType::IdBlock, &[2, 0x28, 1, 9, 0x2f, 1, 0x29, 3]),
        ];
        for (length_type, payload) in cases {
            let mut reader = BinaryReader::new(payload);
            assert_eq!(reader.skip(length_type), Ok(()), "{payload:x?}");
            assert_eq!(reader.remaining(), 0, "{payload:x?}");
            for len in 0..payload.len() {
                assert!(BinaryReader::new(&payload[..len]).skip(length_type).is_err(), "{payload:x?} cut at {len}");
            }
        }
    }

    #[test]
    fn skipping_stops_at_the_depth_limit_and_at_the_end_of_the_input() {
        let nested = [1, 3].repeat(100_000);
        assert_eq!(BinaryReader::new(&nested).skip(LengthType::IdBlock), Err(ReadError::TooDeep));
        let many = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x29, 0];
        assert_eq!(BinaryReader::new(&many).skip(LengthType::IdBlock), Err(ReadError::VarintOutOfRange));
    }

    #[test]
    fn nesting_is_allowed_up_to_the_limit_and_counts_down_again() {
        fn descend(reader: &mut BinaryReader<'_>, levels: u32) -> Result<(), ReadError> {
            if levels == 0 { Ok(()) } else { reader.nested(|reader| descend(reader, levels - 1)) }
        }
        let mut reader = BinaryReader::new(&[]);
        assert_eq!(descend(&mut reader, MAX_DEPTH), Ok(()));
        assert_eq!(descend(&mut reader, MAX_DEPTH + 1), Err(ReadError::TooDeep));
        assert_eq!(descend(&mut reader, MAX_DEPTH), Ok(()));
    }

    #[test]
    fn elements_without_bytes_are_counted_over_the_whole_message() {
        let half = super::super::Varint::new(u64::from(MAX_ZERO_WIDTH_ELEMENTS) / 2);
        let input = [half.as_bytes(), half.as_bytes(), &[1]].concat();
        let mut reader = BinaryReader::new(&input);
        assert!(reader.read_zero_width_count().is_ok());
        assert!(reader.read_zero_width_count().is_ok());
        assert_eq!(reader.read_zero_width_count(), Err(ReadError::TooManyZeroWidthElements));
    }

    #[test]
    fn what_is_reserved_is_bounded_by_the_input() {
        let reader = BinaryReader::new(&[0; 100]);
        assert_eq!(reader.capacity_for::<u8>(7), 7);
        assert_eq!(reader.capacity_for::<u8>(u64::MAX), 100);
        assert_eq!(reader.capacity_for::<[u8; 1024]>(u64::MAX), 16);
        assert_eq!(reader.capacity_for::<()>(u64::MAX), 100);
    }
}
