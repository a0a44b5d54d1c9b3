//! What derived codecs are made of. Applications derive; they do not call this.
//!
//! Everything here is generic over the property or member that it handles and
//! small enough to be inlined, so that derived code stays short and fast.

pub use polywire_schema::derive::Lit;
use polywire_schema::derive::{Flatten, Names, Shape};

pub use super::tuples::{JsonTupleReader, JsonTupleWriter, bit, read_element, write_element};
use super::{Codec, Depth, JsonReader, Kinds, Refused};
use crate::binary::{base_tag, member_tag, property_tag};
pub use crate::{
    binary::{BinaryReader, LengthType, write_length_prefixed, write_varint},
    json::{JsonKind, write_number, write_string},
};

/// A type with properties, which can be flattened into another.
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

/// Whether the JSON order of the properties is the order of their declaration:
/// whether none is named like an array index.
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

/// Refuses in one word.
///
/// # Errors
/// Where the condition does not hold.
#[inline]
pub const fn ensure(condition: bool) -> Result<(), Refused> {
    if condition { Ok(()) } else { Err(Refused) }
}

/// Whether null, which this may be, may be written where it stands (reference §5.8).
///
/// # Errors
/// Where the dynamic path has to decide.
#[inline]
pub(super) fn check_place<T: Codec>(value: &T) -> Result<(), Refused> {
    ensure(T::NULL_IN_PLACE || !value.is_nullish())
}

// ---- binary: what is framed --------------------------------------------------------------------

#[inline]
fn write_payload<T: Codec>(out: &mut Vec<u8>, value: &T, depth: Depth) -> Result<(), Refused> {
    match T::PREFIXED {
        true => write_length_prefixed(out, |out| value.encode_binary(out, depth)),
        false => value.encode_binary(out, depth),
    }
}

#[inline]
fn read_payload<T: Codec>(input: &mut BinaryReader<'_>) -> Result<T, Refused> {
    if T::PREFIXED {
        // What it says does not matter to a reader that knows the type.
        input.read_varint()?;
    }
    T::decode_binary(input)
}

/// A member of a union: its tag, its length where it has one, its payload.
///
/// # Errors
/// As [`Codec::encode_binary`]; for null, which may be another member as well.
#[inline]
pub fn write_framed<T: Codec>(out: &mut Vec<u8>, tag: u64, value: &T, depth: Depth) -> Result<(), Refused> {
    ensure(!value.is_nullish())?;
    write_varint(out, tag);
    write_payload(out, value, depth)
}

/// A member of a union behind its tag.
///
/// # Errors
/// As [`Codec::decode_binary`]; for null.
#[inline]
pub fn read_framed<T: Codec>(input: &mut BinaryReader<'_>) -> Result<T, Refused> {
    let value: T = read_payload(input)?;
    ensure(!value.is_nullish())?;
    Ok(value)
}

/// The tag of a member of a union.
#[must_use]
pub const fn tag_of_member<T: Codec>(id: u32) -> u64 {
    member_tag(id, T::LENGTH_TYPE)
}

/// The tag of a member that is an object type.
#[must_use]
pub const fn tag_of_object(id: u32) -> u64 {
    member_tag(id, LengthType::IdBlock)
}

/// The tag of a member that takes no bytes, or has a length.
#[must_use]
pub const fn tag_of_bytes(id: u32) -> u64 {
    member_tag(id, LengthType::LengthDelimited)
}

// ---- binary: properties ------------------------------------------------------------------------

/// How many blocks a property takes that is there.
#[must_use]
#[inline]
pub const fn block<T: Codec>() -> u64 {
    !T::LITERAL as u64
}

/// A property.
///
/// # Errors
/// As [`Codec::encode_binary`].
#[inline]
pub fn write_property<const ID: u32, T: Codec>(out: &mut Vec<u8>, value: &T, depth: Depth) -> Result<(), Refused> {
    if T::LITERAL {
        return Ok(());
    }
    check_place(value)?;
    write_varint(out, const { property_tag(ID, T::LENGTH_TYPE) });
    write_payload(out, value, depth)
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

    /// Reads a property if its block is next. Hot: writers keep the order of the schema.
    ///
    /// # Errors
    /// As [`Codec::decode_binary`].
    #[inline]
    pub fn expect<const ID: u32, T: Codec>(
        &mut self,
        input: &mut BinaryReader<'_>,
        value: &mut Option<T>,
    ) -> Result<(), Refused> {
        if !T::LITERAL && self.0 > 0 && input.eat_varint(const { property_tag(ID, T::LENGTH_TYPE) }) {
            self.0 -= 1;
            return read_property(input, value);
        }
        Ok(())
    }

    /// Reads a base if its block is next.
    ///
    /// # Errors
    /// As [`Codec::decode_binary`].
    #[inline]
    pub fn expect_base<T: Record>(
        &mut self,
        id: u32,
        input: &mut BinaryReader<'_>,
        value: &mut Option<T>,
    ) -> Result<(), Refused> {
        if self.0 > 0 && input.eat_varint(base_tag(id, LengthType::IdBlock)) {
            self.0 -= 1;
            *value = Some(T::decode_binary(input)?);
        }
        Ok(())
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
    ensure(id >= PROPERTY_BLOCKS)?;
    Ok(input.skip(length_type)?)
}

/// Block ids from here on are properties.
pub const PROPERTY_BLOCKS: i32 = crate::binary::FIRST_PROPERTY_BLOCK as i32;

/// A property behind its tag. A later one replaces an earlier one.
///
/// # Errors
/// As [`Codec::decode_binary`]; for literals, which no writer writes.
#[inline]
pub fn read_property<T: Codec>(input: &mut BinaryReader<'_>, value: &mut Option<T>) -> Result<(), Refused> {
    ensure(!T::LITERAL)?;
    let read: T = read_payload(input)?;
    check_place(&read)?;
    *value = Some(read);
    Ok(())
}

/// A property that must have been read, unless it is a literal.
///
/// # Errors
/// Where it was not.
#[inline]
pub fn required<T: Codec>(value: Option<T>) -> Result<T, Refused> {
    match value {
        Some(value) => Ok(value),
        None if T::LITERAL => T::decode_binary(&mut BinaryReader::new(&[])),
        None => Err(Refused),
    }
}

/// A property that may be missing. Literals never are: readers add them (reference §5.5).
///
/// # Errors
/// None but those of literals.
#[inline]
pub fn optional<T: Codec>(value: Option<T>) -> Result<Option<T>, Refused> {
    match value {
        None if T::LITERAL => T::decode_binary(&mut BinaryReader::new(&[])).map(Some),
        value => Ok(value),
    }
}

// ---- binary: flattened types -------------------------------------------------------------------

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

/// How many blocks a base takes.
#[inline]
pub fn base_block<T: Record>(value: &T) -> u64 {
    (value.blocks() > 0).into()
}

/// A base, unless it writes nothing.
///
/// # Errors
/// As [`Codec::encode_binary`].
pub fn write_base<T: Record>(out: &mut Vec<u8>, id: u32, value: &T, depth: Depth) -> Result<(), Refused> {
    let depth = depth.deeper()?;
    let blocks = value.blocks();
    if blocks == 0 {
        return Ok(());
    }
    write_varint(out, base_tag(id, LengthType::IdBlock));
    write_varint(out, blocks);
    value.write_blocks(out, depth)
}

/// A base that was read, or one without blocks.
///
/// # Errors
/// Where a base without blocks misses something.
pub fn base<T: Record>(value: Option<T>) -> Result<T, Refused> {
    value.map_or_else(|| T::decode_binary(&mut BinaryReader::new(&[0])), Ok)
}

/// Whether a block id is that of a base.
#[must_use]
pub const fn is_base_block(block: i32, base: u32) -> bool {
    block as i64 == base as i64 + 1
}

/// Whether the mask of a tuple has no bit beyond its elements.
#[must_use]
#[inline]
pub const fn fits(mask: u64, elements: u32) -> bool {
    elements >= u64::BITS || mask >> elements == 0
}

/// Takes a tag or count that must come next.
///
/// # Errors
/// Where something else does.
#[inline]
pub fn expect(input: &mut BinaryReader<'_>, varint: u64) -> Result<(), Refused> {
    ensure(input.eat_varint(varint))
}

// ---- unions ------------------------------------------------------------------------------------

/// The number of members of a union that are written: one, where they exclude each other.
///
/// # Errors
/// Where there are others.
#[inline]
pub fn one_member(input: &mut BinaryReader<'_>) -> Result<i32, Refused> {
    ensure(input.eat_varint(1))?;
    Ok(input.read_tag()?.id)
}

/// What a literal is in JavaScript.
#[must_use]
pub const fn literal_kinds(literal: Lit) -> Kinds {
    match literal {
        Lit::Undefined | Lit::Null => Kinds::NULLISH,
        Lit::Bool(_) => Kinds::BOOLEAN,
        Lit::Number(_) => Kinds::NUMBER,
        Lit::String(_) => Kinds::STRING,
    }
}

// ---- JSON --------------------------------------------------------------------------------------

/// A property; `quoted` is its key with quotes and colon.
///
/// # Errors
/// As [`Codec::encode_json`].
#[inline]
pub fn write_json_property<T: Codec>(out: &mut Vec<u8>, quoted: &str, value: &T, depth: Depth) -> Result<(), Refused> {
    check_place(value)?;
    out.extend_from_slice(quoted.as_bytes());
    value.encode_json(out, depth)?;
    out.push(b',');
    Ok(())
}

/// Closes an object, in place of the comma behind its last property.
#[inline]
pub fn close_object(out: &mut Vec<u8>) {
    match out.last_mut() {
        Some(last @ b',') => *last = b'}',
        _ => out.push(b'}'),
    }
}

/// Reads a property if it is next, written as `JSON.stringify` writes it.
///
/// # Errors
/// As [`Codec::decode_json`].
#[inline]
pub fn expect_json<T: Codec>(input: &mut JsonReader<'_>, quoted: &str, value: &mut Option<T>) -> Result<(), Refused> {
    if input.take_key(quoted) { read_json(input, value) } else { Ok(()) }
}

/// As [`expect_json`], for a property that may be missing.
///
/// # Errors
/// As [`Codec::decode_json`].
#[inline]
pub fn expect_json_optional<T: Codec>(
    input: &mut JsonReader<'_>,
    quoted: &str,
    value: &mut Option<T>,
) -> Result<(), Refused> {
    if input.take_key(quoted) { read_json_optional(input, value) } else { Ok(()) }
}

/// A property behind its key. A second one of the same key is for the dynamic path.
///
/// # Errors
/// As [`Codec::decode_json`].
#[inline]
pub fn read_json<T: Codec>(input: &mut JsonReader<'_>, value: &mut Option<T>) -> Result<(), Refused> {
    ensure(value.is_none())?;
    let read = T::decode_json(input)?;
    check_place(&read)?;
    *value = Some(read);
    Ok(())
}

/// A property that may be missing. Unless null checks are strict, null is as good as missing
/// where the type cannot be null.
///
/// # Errors
/// As [`Codec::decode_json`].
#[inline]
pub fn read_json_optional<T: Codec>(input: &mut JsonReader<'_>, value: &mut Option<T>) -> Result<(), Refused> {
    ensure(value.is_none())?;
    if !T::JSON_KINDS.overlaps(Kinds::NULLISH) && input.take_null()? {
        return ensure(!input.strict_null_checks());
    }
    read_json(input, value)
}

/// A property that must be there.
///
/// # Errors
/// Where it is not.
#[inline]
pub fn given<T: Codec>(value: Option<T>) -> Result<T, Refused> {
    value.ok_or(Refused)
}

/// A property that may be missing.
///
/// # Errors
/// None.
#[inline]
pub fn maybe<T: Codec>(value: Option<T>) -> Result<Option<T>, Refused> {
    Ok(value)
}

/// Passes over a property that the type does not have.
///
/// # Errors
/// Where it does not end; for names that mean something to JavaScript.
#[inline]
pub fn skip_json(input: &mut JsonReader<'_>, key: &str) -> Result<(), Refused> {
    ensure(is_plain_key(key))?;
    input.skip_value()
}

/// Passes over the properties of an object that has been opened.
///
/// # Errors
/// As [`skip_json`].
pub fn skip_properties(input: &mut JsonReader<'_>) -> Result<(), Refused> {
    while let Some(key) = input.next_key()? {
        skip_json(input, key)?;
    }
    Ok(())
}

/// Whether a key has no meaning of its own in JavaScript: `constructor` keeps published
/// peers from converting an object, and `__proto__` cannot be a property.
pub(super) fn is_plain_key(key: &str) -> bool {
    !matches!(key, "__proto__" | "constructor")
}

/// Reads the property that tells which member of a union an object is, without moving:
/// `read` gets the position of its value. Quick where it is the first.
///
/// Whoever reads the object must refuse a second property of that name.
///
/// # Errors
/// Where there is none; as `read`.
#[inline]
pub fn find_tag<'a, T>(
    input: &JsonReader<'a>,
    quoted: &str,
    name: &str,
    read: impl FnOnce(&mut JsonReader<'a>) -> Result<T, Refused>,
) -> Result<T, Refused> {
    let mut ahead = input.clone();
    ahead.begin_object()?;
    if ahead.take_key(quoted) {
        return read(&mut ahead);
    }
    while let Some(key) = ahead.next_key()? {
        if key == name {
            return read(&mut ahead);
        }
        ahead.skip_value()?;
    }
    Err(Refused)
}

/// Makes sure that an object has only one property of a name, without moving.
///
/// # Errors
/// Where it has several, or does not end.
pub fn only_once(input: &JsonReader<'_>, name: &str) -> Result<(), Refused> {
    let mut ahead = input.clone();
    let mut found = 0;
    ahead.begin_object()?;
    while let Some(key) = ahead.next_key()? {
        found += u32::from(key == name);
        ahead.skip_value()?;
    }
    ensure(found <= 1)
}
