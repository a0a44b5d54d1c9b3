//! Literals that are written at compile time.

use crate::{EnumValue, Literal, Mismatch, Type, Value};

/// A literal that can be written at compile time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lit {
    /// `undefined`.
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    String(&'static str),
}

impl Lit {
    /// As a type.
    #[must_use]
    pub fn to_type(self) -> Type {
        Type::Literal(match self {
            Self::Undefined => Literal::Undefined,
            Self::Null => Literal::Null,
            Self::Bool(value) => Literal::Bool(value),
            Self::Number(number) => Literal::Number(number),
            Self::String(text) => Literal::String(text.to_owned()),
        })
    }

    /// As a value.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self {
            Self::Undefined => Value::Undefined,
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Number(number) => Value::Number(number),
            Self::String(text) => Value::from(text),
        }
    }

    /// As the value of a member of an enum, which is a number or a string.
    #[must_use]
    pub fn to_enum_value(self) -> EnumValue {
        match self {
            Self::Number(number) => EnumValue::Number(number),
            Self::String(text) => EnumValue::String(text.to_owned()),
            Self::Undefined | Self::Null | Self::Bool(_) => EnumValue::Null,
        }
    }

    /// Whether a value is this literal; null and undefined are not told apart.
    #[must_use]
    pub fn is(self, value: &Value) -> bool {
        match self {
            Self::Undefined | Self::Null => value.is_nullish(),
            Self::Bool(expected) => value.as_bool() == Some(expected),
            Self::Number(expected) => value.as_number() == Some(expected),
            Self::String(expected) => value.as_str() == Some(expected),
        }
    }

    /// The position of the literal that a value is.
    ///
    /// # Errors
    /// Where it is none of them.
    pub fn find(literals: &[Self], value: &Value) -> Result<usize, Mismatch> {
        let found = literals.iter().position(|literal| literal.is(value));
        found.ok_or_else(|| match value {
            Value::String(text) => {
                Mismatch::new(format!("`{}` is none of the expected values.", text.to_string_lossy()))
            }
            Value::Number(number) => Mismatch::new(format!("`{number}` is none of the expected values.")),
            other => Mismatch::new(format!("A value of type `{}` is none of the expected values.", other.type_name())),
        })
    }
}
