//! Booleans, numbers and strings.

use std::sync::Arc;

use crate::{JsString, Mismatch, Registry, Scalar, Schema, Type, Value};

/// The integers up to here, and down to its negative, are exact in JavaScript: 2⁵³ − 1.
///
/// `i64` and `u64` travel as numbers and are checked against it, both ways.
pub const SAFE_INTEGER: u64 = (1 << 53) - 1;

impl Schema for bool {
    fn describe(_: &mut Registry) -> Type {
        Type::Boolean
    }

    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        value.as_bool().ok_or_else(|| Mismatch::kind("boolean", &value))
    }
}

impl Schema for f64 {
    fn describe(_: &mut Registry) -> Type {
        Type::Number(Scalar::Double)
    }

    fn to_value(&self) -> Value {
        Value::Number(*self)
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        value.as_number().ok_or_else(|| Mismatch::kind("number", &value))
    }
}

/// A number that is rounded to 32 bits when it arrives.
impl Schema for f32 {
    fn describe(_: &mut Registry) -> Type {
        Type::Number(Scalar::Double)
    }

    fn to_value(&self) -> Value {
        Value::Number((*self).into())
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        f64::from_value(value).map(|number| number as Self)
    }
}

/// An integer from what its schema admits.
///
/// A `BigInt` is what [`big`] makes of integers that JavaScript cannot hold.
fn integer(value: &Value) -> Result<i128, Mismatch> {
    match value {
        Value::Number(number) if number.abs() <= SAFE_INTEGER as f64 && number.fract() == 0.0 => Ok(*number as i128),
        Value::Number(number) => Err(Mismatch::new(format!("`{number}` is not an integer of at most 53 bits."))),
        Value::BigInt(number) => Ok(*number),
        other => Err(Mismatch::kind("number", other)),
    }
}

/// The dynamic form of a 64-bit integer. One that no JavaScript number holds
/// exactly becomes a `bigint`, which every schema of numbers refuses.
fn big(number: i128) -> Value {
    if number.unsigned_abs() <= SAFE_INTEGER.into() {
        return Value::Number(number as f64);
    }
    Value::BigInt(number)
}

macro_rules! integers {
    ($($integer:ty as $scalar:ident),*) => {$(
        impl Schema for $integer {
            fn describe(_: &mut Registry) -> Type {
                Type::Number(Scalar::$scalar)
            }

            fn to_value(&self) -> Value {
                big(*self as i128)
            }

            fn from_value(value: Value) -> Result<Self, Mismatch> {
                let number = integer(&value)?;
                Self::try_from(number).map_err(|_| {
                    Mismatch::new(format!("`{number}` is not in the range {} to {}.", Self::MIN, Self::MAX))
                })
            }
        }
    )*};
}

integers!(
    i8 as Int,
    i16 as Int,
    i32 as Int,
    i64 as Int,
    isize as Int,
    u8 as Uint,
    u16 as Uint,
    u32 as Uint,
    u64 as Uint,
    usize as Uint
);

fn text(value: Value) -> Result<String, Mismatch> {
    match value {
        Value::String(text) => Ok(text.into_string_lossy()),
        other => Err(Mismatch::kind("string", &other)),
    }
}

macro_rules! strings {
    ($($string:ty),*) => {$(
        /// A lone surrogate, which Rust's strings cannot hold, becomes U+FFFD.
        impl Schema for $string {
            fn describe(_: &mut Registry) -> Type {
                Type::String
            }

            fn to_value(&self) -> Value {
                Value::from(&**self)
            }

            fn from_value(value: Value) -> Result<Self, Mismatch> {
                text(value).map(Self::from)
            }
        }
    )*};
}

strings!(String, Box<str>, Arc<str>);

impl Schema for JsString {
    fn describe(_: &mut Registry) -> Type {
        Type::String
    }

    fn to_value(&self) -> Value {
        Value::String(self.clone())
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(Mismatch::kind("string", &other)),
        }
    }
}
