//! `ObjectId`, the custom type that every peer knows (reference §2, §12.1).
//!
//! Depends on [`CustomType`] and [`Value`] only.

use std::sync::Arc;

use crate::{CustomType, Value};

/// What `?mongodb/ObjectId` and its three variants stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ObjectIdClass {
    /// A value of its own, [`Value::ObjectId`].
    #[default]
    Class,
    /// A string of 24 hex digits, as in browsers.
    String,
    /// Not known: using it is an error.
    None,
}

/// The type behind one of the four `ObjectId` references.
pub(crate) fn object_id_type(schema_id: &str, class: ObjectIdClass) -> Option<Arc<dyn CustomType>> {
    const IDS: [&str; 4] = ["?mongodb/ObjectId", "?mongodb/ObjectID", "?bson/ObjectId", "?bson/ObjectID"];
    if !IDS.contains(&schema_id) {
        return None;
    }
    match class {
        ObjectIdClass::Class => Some(Arc::new(ObjectIdAsClass)),
        ObjectIdClass::String => Some(Arc::new(ObjectIdAsString)),
        ObjectIdClass::None => None,
    }
}

/// 24 hex digits of 12 bytes.
#[must_use]
pub fn object_id_hex(id: &[u8; 12]) -> String {
    hex(id)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The 12 bytes of 24 hex digits.
#[must_use]
pub fn parse_object_id(hex: &str) -> Option<[u8; 12]> {
    if hex.len() != 24 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut id = [0; 12];
    for (at, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).ok()?;
    }
    Some(id)
}

#[derive(Debug)]
struct ObjectIdAsClass;

impl CustomType for ObjectIdAsClass {
    fn validate(&self, value: &Value) -> Result<(), String> {
        match value {
            Value::ObjectId(_) => Ok(()),
            _ => Err("Expected to be instance of `ObjectId`, actually not.".to_owned()),
        }
    }

    fn encode(&self, value: &Value) -> Option<Result<Vec<u8>, String>> {
        Some(match value {
            Value::ObjectId(id) => Ok(id.to_vec()),
            other => self.validate(other).map(|()| Vec::new()),
        })
    }

    fn decode(&self, bytes: &[u8]) -> Option<Result<Value, String>> {
        // The text is that of the library which published peers use (bson 5).
        let id = bytes.try_into().map_err(|_| "Argument passed in does not match the accepted types".to_owned());
        Some(id.map(Value::ObjectId))
    }
}

#[derive(Debug)]
struct ObjectIdAsString;

impl ObjectIdAsString {
    fn parse(value: &Value) -> Result<[u8; 12], String> {
        let Value::String(text) = value else {
            let found = match value {
                Value::Null | Value::Array(_) | Value::Object(_) => "object",
                other => other.type_name(),
            };
            return Err(format!("Expected type to be `string`, actually `{}`.", found.to_lowercase()));
        };
        let id = text.as_str().and_then(parse_object_id);
        id.ok_or_else(|| "ObjectId must be a string of 24 hex characters".to_owned())
    }
}

impl CustomType for ObjectIdAsString {
    fn validate(&self, value: &Value) -> Result<(), String> {
        Self::parse(value).map(drop)
    }

    fn encode(&self, value: &Value) -> Option<Result<Vec<u8>, String>> {
        Some(Self::parse(value).map(Vec::from))
    }

    fn decode(&self, bytes: &[u8]) -> Option<Result<Value, String>> {
        // Of any length: validation refuses what is no id.
        Some(Ok(Value::from(hex(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: [u8; 12] = [0x61, 0x53, 0x19, 0x14, 0x43, 0x5b, 0x99, 0x7a, 0xf1, 0x5d, 0xc3, 0x82];

    #[test]
    fn both_classes_have_the_same_twelve_bytes() {
        let text = Value::from("61531914435b997af15dc382");
        assert_eq!(ObjectIdAsClass.encode(&Value::ObjectId(ID)), Some(Ok(ID.to_vec())));
        assert_eq!(ObjectIdAsString.encode(&text), Some(Ok(ID.to_vec())));
        assert_eq!(ObjectIdAsClass.decode(&ID), Some(Ok(Value::ObjectId(ID))));
        assert_eq!(ObjectIdAsString.decode(&ID), Some(Ok(text)));
    }

    #[test]
    fn refusals_have_the_published_texts() {
        let cases: [(&dyn CustomType, Value, &str); 4] = [
            (&ObjectIdAsClass, Value::from("x"), "Expected to be instance of `ObjectId`, actually not."),
            (&ObjectIdAsString, Value::from(1), "Expected type to be `string`, actually `number`."),
            (&ObjectIdAsString, Value::ObjectId(ID), "Expected type to be `string`, actually `object`."),
            (
                &ObjectIdAsString,
                Value::from("é1531914435b997af15dc38"),
                "ObjectId must be a string of 24 hex characters",
            ),
        ];
        for (class, value, text) in cases {
            assert_eq!(class.validate(&value), Err(text.to_owned()), "{value:?}");
        }
    }
}
