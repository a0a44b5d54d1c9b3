//! MongoDB's `ObjectId` in Rust.
//!
//! Depends on the type model only.

use std::{fmt, str::FromStr};

use crate::{Mismatch, Registry, Schema, Type, Value, object_id_hex, parse_object_id};

/// An `ObjectId` of MongoDB: 12 bytes, printed and parsed as 24 hex digits.
///
/// In TypeScript it is the class of the package `mongodb`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub [u8; 12]);

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&object_id_hex(&self.0))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not 24 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an ObjectId has 24 hex digits")]
pub struct ParseObjectIdError;

impl FromStr for ObjectId {
    type Err = ParseObjectIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_object_id(text).map(Self).ok_or(ParseObjectIdError)
    }
}

impl Schema for ObjectId {
    fn describe(_: &mut Registry) -> Type {
        Type::Reference("?mongodb/ObjectId".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::ObjectId(self.0)
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match &value {
            Value::ObjectId(id) => Ok(Self(*id)),
            // Where ObjectIds are configured to be strings.
            Value::String(text) => text
                .as_str()
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| Mismatch::new("ObjectId must be a string of 24 hex digits")),
            other => Err(Mismatch::kind("ObjectId", other)),
        }
    }
}
