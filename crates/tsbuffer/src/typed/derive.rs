//! What derived codecs are made of. Applications derive; they do not call this.
//!
//! Everything here is generic over the property or member that it handles and
//! small enough to be inlined, so that derived code stays short and fast. What
//! needs a codec is a method of a trait and not a function: then the compiler
//! says once, and at the field, that its type has none.

mod property;
mod record;
mod union;

pub use self::{
    property::Property,
    record::{Blocks, Layout, Record, has_declared_order, is_base_block, skip_block},
    union::{expect, find_tag, literal_kinds, one_member, only_once, tag_of_bytes, tag_of_object},
};
pub use super::tuples::{JsonTupleReader, JsonTupleWriter, fits};
pub use crate::{
    binary::{BinaryReader, LengthType, write_length_prefixed, write_varint},
    json::{JsonKind, write_number},
};

use super::{Codec, JsonReader, Refused};

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

/// Closes an object, in place of the comma behind its last property.
#[inline]
pub fn close_object(out: &mut Vec<u8>) {
    match out.last_mut() {
        Some(last @ b',') => *last = b'}',
        _ => out.push(b'}'),
    }
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
pub(super) fn skip_properties(input: &mut JsonReader<'_>) -> Result<(), Refused> {
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
