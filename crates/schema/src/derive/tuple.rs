//! Tuples as types and values.

use crate::{Mismatch, Type, Value};

/// A tuple as a value: missing elements at the end are left out, those before are undefined.
#[must_use]
pub fn tuple(mut elements: Vec<Value>, optional_from: usize) -> Value {
    let given = elements.iter().rposition(|element| !element.is_undefined()).map_or(0, |last| last + 1);
    elements.truncate(given.max(optional_from));
    Value::Array(elements)
}

/// The elements of a tuple of at most this many.
///
/// # Errors
/// Where the value is no array, or has more.
pub fn tuple_elements(value: Value, most: usize) -> Result<std::vec::IntoIter<Value>, Mismatch> {
    let Value::Array(elements) = value else { return Err(Mismatch::kind("Array", &value)) };
    if elements.len() > most {
        let text = format!("Value has {} elements but schema allows only {most}.", elements.len());
        return Err(Mismatch::new(text));
    }
    Ok(elements.into_iter())
}

/// Where the optional elements of a tuple begin; the length where there are none.
///
/// # Panics
/// At compile time, where an optional element stands before a required one.
#[must_use]
pub const fn optional_from(optional: &[bool]) -> usize {
    let mut from = optional.len();
    while from > 0 && optional[from - 1] {
        from -= 1;
    }
    let mut at = 0;
    while at < from {
        assert!(!optional[at], "an optional element (`Option`) of a tuple must not stand before a required one");
        at += 1;
    }
    from
}

/// Refuses to compile a tuple with an optional element before a required one.
///
/// # Panics
/// As [`optional_from`].
pub const fn check_tuple(optional: &[bool]) {
    let _ = optional_from(optional);
}

/// The type of a tuple.
#[must_use]
pub fn tuple_type(elements: Vec<Type>, optional_from: usize) -> Type {
    let optional_from = (optional_from < elements.len()).then_some(optional_from);
    Type::Tuple { elements, optional_from }
}
