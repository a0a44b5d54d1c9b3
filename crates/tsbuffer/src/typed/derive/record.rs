//! Types with properties, and how they are flattened into others.

use polywire_schema::derive::{Flatten, Names, Shape};

use super::ensure;
use crate::{
    binary::{BinaryReader, FIRST_PROPERTY_BLOCK, LengthType, base_tag, write_varint},
    typed::{Codec, Depth, JsonReader, Refused},
};

/// A type with properties, which can be flattened into another.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be flattened",
    label = "has no properties of its own",
    note = "what is flattened is a struct with named fields, a tagged enum, or a map, and derives `Schema`"
)]
pub trait Record: Flatten + Codec {
    /// Whether the specialised codecs know it. Index signatures beside properties are
    /// for the dynamic path.
    const FAST: bool;

    /// How many blocks it writes as an interface.
    fn blocks(&self) -> u64;

    /// Appends its blocks as an interface, without their number.
    ///
    /// # Errors
    /// As [`Codec::encode_binary`].
    fn write_blocks(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused>;

    /// Appends its JSON properties, a comma behind each.
    ///
    /// # Errors
    /// As [`Codec::encode_json`].
    fn write_properties(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused>;

    /// How many blocks it takes as a base: one, unless it writes nothing.
    #[inline]
    fn base_blocks(&self) -> u64 {
        (self.blocks() > 0).into()
    }

    /// Writes a base, unless it writes nothing.
    ///
    /// # Errors
    /// As [`Codec::encode_binary`].
    #[inline]
    fn write_base(&self, out: &mut Vec<u8>, id: u32, depth: Depth) -> Result<(), Refused> {
        let depth = depth.deeper()?;
        let blocks = self.blocks();
        if blocks == 0 {
            return Ok(());
        }
        write_varint(out, base_tag(id, LengthType::IdBlock));
        write_varint(out, blocks);
        self.write_blocks(out, depth)
    }

    /// Reads a base if its block is next.
    ///
    /// # Errors
    /// As [`Codec::decode_binary`].
    #[inline]
    fn expect_base(
        blocks: &mut Blocks,
        id: u32,
        input: &mut BinaryReader<'_>,
        value: &mut Option<Self>,
    ) -> Result<(), Refused> {
        if blocks.eat(input, base_tag(id, LengthType::IdBlock)) {
            *value = Some(Self::decode_binary(input)?);
        }
        Ok(())
    }

    /// A base that was read, or one without blocks.
    ///
    /// # Errors
    /// Where a base without blocks misses something.
    #[inline]
    fn base(value: Option<Self>) -> Result<Self, Refused> {
        value.map_or_else(|| Self::decode_binary(&mut BinaryReader::new(&[0])), Ok)
    }

    /// Reads it from an object that is still to be read by the type that it is flattened into.
    ///
    /// # Errors
    /// As [`Codec::decode_json`].
    #[inline]
    fn read_flattened(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        input.ahead(Self::decode_json)
    }

    /// Appends its JSON properties behind those of the type that it is flattened into.
    ///
    /// # Errors
    /// As [`Codec::encode_json`]; where their order in JavaScript is not the declared one.
    #[inline]
    fn write_flattened(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        ensure(const { has_declared_order(Self::NAMES) })?;
        self.write_properties(out, depth)
    }
}

impl<T: Record> Record for Box<T> {
    const FAST: bool = T::FAST;

    fn blocks(&self) -> u64 {
        T::blocks(self)
    }

    fn write_blocks(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        T::write_blocks(self, out, depth)
    }

    fn write_properties(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        T::write_properties(self, out, depth)
    }
}

/// Whether the JSON order of properties is the order of their declaration: whether none
/// is named like an array index.
#[must_use]
pub const fn has_declared_order(names: &Names) -> bool {
    let mut at = 0;
    while at < names.own.len() {
        // Stricter than JavaScript: what begins with a digit may be an index.
        if let [b'0'..=b'9', ..] = names.own[at].as_bytes() {
            return false;
        }
        at += 1;
    }
    at = 0;
    while at < names.inner.len() {
        if !has_declared_order(names.inner[at]) {
            return false;
        }
        at += 1;
    }
    true
}

/// The blocks of an interface that are left to read.
#[derive(Debug)]
pub struct Blocks(u64);

impl Blocks {
    /// As many as the input says.
    ///
    /// # Errors
    /// Where it ends.
    #[inline]
    pub fn begin(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        Ok(Self(input.read_varint()?))
    }

    /// Takes the tag of a block if it is next.
    #[inline]
    pub(super) fn eat(&mut self, input: &mut BinaryReader<'_>, tag: u64) -> bool {
        let found = self.0 > 0 && input.eat_varint(tag);
        self.0 -= u64::from(found);
        found
    }

    /// The block id and length type of what comes next.
    ///
    /// # Errors
    /// Where the input ends.
    #[inline]
    pub fn next(&mut self, input: &mut BinaryReader<'_>) -> Result<Option<(i32, LengthType)>, Refused> {
        if self.0 == 0 {
            return Ok(None);
        }
        self.0 -= 1;
        let tag = input.read_tag()?;
        Ok(Some((tag.id, tag.length_type)))
    }
}

/// Passes over a property that the type does not have.
///
/// # Errors
/// Where it does not end; for bases and index signatures, which need more than skipping.
#[cold]
pub fn skip_block(input: &mut BinaryReader<'_>, id: i32, length_type: LengthType) -> Result<(), Refused> {
    ensure(id >= FIRST_PROPERTY_BLOCK as i32)?;
    Ok(input.skip(length_type)?)
}

/// Whether a block id is that of a base.
#[must_use]
pub const fn is_base_block(block: i32, base: u32) -> bool {
    block as i64 == base as i64 + 1
}

/// Where the parts of a struct with flattened types are on the wire.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    own_properties: usize,
    shapes: &'static [Shape],
    forced: bool,
}

impl Layout {
    /// A struct with so many properties of its own and flattened types of these shapes;
    /// `forced` is the attribute `intersection`.
    #[must_use]
    pub const fn new(own_properties: usize, shapes: &'static [Shape], forced: bool) -> Self {
        Self { own_properties, shapes, forced }
    }

    /// Whether a flattened type is a base of the struct's own interface.
    #[must_use]
    #[inline]
    pub const fn is_base(self, position: usize) -> bool {
        !self.forced && matches!(self.shapes[position], Shape::Interface)
    }

    /// Whether a flattened type is a member beside the struct's own interface.
    #[must_use]
    #[inline]
    pub const fn is_member(self, position: usize) -> bool {
        !self.is_base(position) && !matches!(self.shapes[position], Shape::Index)
    }

    /// The id of a flattened type among the bases, or among the members.
    #[must_use]
    pub const fn id(self, position: usize) -> u32 {
        let is_base = self.is_base(position);
        let mut id = if !is_base && self.has_interface() { 1 } else { 0 };
        let mut at = 0;
        while at < position {
            if is_base && self.is_base(at) || !is_base && self.is_member(at) {
                id += 1;
            }
            at += 1;
        }
        id
    }

    /// Whether there are own properties or bases.
    #[must_use]
    pub const fn has_interface(self) -> bool {
        let mut at = 0;
        while at < self.shapes.len() {
            if !self.is_member(at) {
                return true;
            }
            at += 1;
        }
        self.own_properties > 0
    }

    /// How many members it is an intersection of; none where it is an interface.
    #[must_use]
    pub const fn members(self) -> u64 {
        let mut members = 0;
        let mut at = 0;
        while at < self.shapes.len() {
            if self.is_member(at) {
                members += 1;
            }
            at += 1;
        }
        if members > 0 && self.has_interface() { members + 1 } else { members }
    }
}
