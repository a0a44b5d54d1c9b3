//! How parts of a message are framed: length types and tags (reference §5.2).
//!
//! Depends on nothing. Inside interfaces, unions and intersections each payload
//! follows a tag that says what it is and, for readers that do not know it, how
//! to skip it.

/// How a reader that does not know a payload finds its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LengthType {
    /// A varint `n`, then `n` bytes.
    LengthDelimited = 0,
    /// One varint.
    Varint = 1,
    /// Eight bytes.
    Bit64 = 2,
    /// A varint count, then as many tags, each with its payload.
    IdBlock = 3,
}

impl LengthType {
    /// From the two lowest bits of a tag.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::LengthDelimited,
            1 => Self::Varint,
            2 => Self::Bit64,
            _ => Self::IdBlock,
        }
    }
}

/// Block ids from here on are properties: property id + 10.
pub const FIRST_PROPERTY_BLOCK: u32 = MAX_BASES as u32 + 1;

/// How many bases an interface may have: block ids 1 to 9 are theirs, 0 is the index signature's.
pub const MAX_BASES: usize = 9;

/// How many elements a tuple may have: its mask has as many bits.
pub const MAX_TUPLE_ELEMENTS: usize = 64;

/// The tag of a union or intersection member, or of any block by its block id.
#[must_use]
pub const fn member_tag(id: u32, length_type: LengthType) -> u64 {
    (id as u64) << 2 | length_type as u64
}

/// The tag of a property of an interface.
///
/// ```
/// use polywire_tsbuffer::binary::{LengthType, property_tag};
///
/// assert_eq!(property_tag(0, LengthType::LengthDelimited), 0x28);
/// ```
#[must_use]
pub const fn property_tag(id: u32, length_type: LengthType) -> u64 {
    (id as u64 + FIRST_PROPERTY_BLOCK as u64) << 2 | length_type as u64
}

/// The tag of a base of an interface.
#[must_use]
pub const fn base_tag(id: u32, length_type: LengthType) -> u64 {
    (id as u64 + 1) << 2 | length_type as u64
}

/// The tag of an entry of an index signature; the key follows it, then the value.
#[must_use]
pub const fn index_tag(length_type: LengthType) -> u64 {
    length_type as u64
}

/// A tag that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    /// The member or block id. Negative ids never name anything: they come
    /// from varints that no writer makes.
    pub id: i32,
    /// How to skip the payload.
    pub length_type: LengthType,
}

impl Tag {
    /// Splits a varint as published readers do: it becomes a double, and then 32 bits of it.
    #[must_use]
    #[inline]
    pub fn from_varint(varint: u64) -> Self {
        const EXACT: u64 = 1 << 53;
        let bits = if varint < EXACT { varint as u32 as i32 } else { (varint as f64 as u128) as u32 as i32 };
        Self { id: bits >> 2, length_type: LengthType::from_bits(bits as u8) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_hold_the_id_above_the_length_type() {
        assert_eq!(index_tag(LengthType::Bit64), 2);
        assert_eq!(base_tag(0, LengthType::IdBlock), 7);
        assert_eq!(base_tag(8, LengthType::IdBlock), 0x27);
        assert_eq!(property_tag(0, LengthType::LengthDelimited), 0x28);
        assert_eq!(property_tag(21, LengthType::LengthDelimited), 0x7c);
        assert_eq!(member_tag(32, LengthType::LengthDelimited), 0x80);
    }

    #[test]
    fn read_tags_wrap_at_32_bits_like_the_published_ones() {
        let cases = [
            (0x28, 10, LengthType::LengthDelimited),
            (0x7fff_ffff, 0x1fff_ffff, LengthType::IdBlock),
            (0x8000_0001, -0x2000_0000, LengthType::Varint),
            (0x1_0000_0007, 1, LengthType::IdBlock),
            (u64::MAX, 0, LengthType::LengthDelimited),
        ];
        for (varint, id, length_type) in cases {
            assert_eq!(Tag::from_varint(varint), Tag { id, length_type }, "{varint:#x}");
        }
    }
}
