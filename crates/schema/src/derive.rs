//! What derived code is made of. Applications derive; they do not call this.
//!
//! Depends on the type model and [`Schema`] only. Everything here keeps the
//! code that a derive writes small: decisions are taken once, here.

mod field;
mod flatten;
mod literal;
mod names;
mod tuple;
mod untagged;

pub use self::{
    field::Field,
    flatten::{Flatten, ObjectType, put_all, take_part},
    literal::Lit,
    names::{Names, Shape, check_flattened, shape_with},
    tuple::{check_tuple, optional_from, tuple, tuple_elements, tuple_type},
    untagged::{TakeVariant, from_untrusted, untagged},
};

use crate::{Mismatch, Object, Schema, Value};

/// The object inside a value.
///
/// # Errors
/// Where it is none.
pub fn object(value: Value) -> Result<Object, Mismatch> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(Mismatch::kind("Object", &other)),
    }
}

/// A value that may be missing. Null is as good as missing unless the type can be null.
pub(crate) fn optional<T: Schema>(value: Value) -> Result<Option<T>, Mismatch> {
    match value {
        Value::Undefined => Ok(None),
        Value::Null => Ok(T::from_value(Value::Null).ok()),
        value => T::from_value(value).map(Some),
    }
}
