//! Unions and their members.

use polywire_schema::derive::Lit;

use super::ensure;
use crate::{
    binary::{BinaryReader, LengthType, member_tag},
    typed::{JsonReader, Kinds, Refused},
};

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

/// Takes a tag or count that must come next.
///
/// # Errors
/// Where something else does.
#[inline]
pub fn expect(input: &mut BinaryReader<'_>, varint: u64) -> Result<(), Refused> {
    ensure(input.eat_varint(varint))
}

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

/// Reads the property that tells which member of a union an object is, without moving:
/// `read` gets the position of its value. Quick where it is the first.
///
/// Whoever reads the object must refuse a second property of that name.
///
/// # Errors
/// Where there is none; as `read`.
#[inline]
pub fn find_tag<'a, T>(
    input: &mut JsonReader<'a>,
    quoted: &str,
    name: &str,
    read: impl FnOnce(&mut JsonReader<'a>) -> Result<T, Refused>,
) -> Result<T, Refused> {
    input.ahead(|ahead| {
        ahead.begin_object()?;
        if ahead.take_key(quoted) {
            return read(ahead);
        }
        while let Some(key) = ahead.next_key()? {
            if key == name {
                return read(ahead);
            }
            ahead.skip_value()?;
        }
        Err(Refused)
    })
}

/// Makes sure that an object has only one property of a name, without moving.
///
/// # Errors
/// Where it has several, or does not end.
pub fn only_once(input: &mut JsonReader<'_>, name: &str) -> Result<(), Refused> {
    input.ahead(|ahead| {
        let mut found = 0;
        ahead.begin_object()?;
        while let Some(key) = ahead.next_key()? {
            found += u32::from(key == name);
            ahead.skip_value()?;
        }
        ensure(found <= 1)
    })
}
