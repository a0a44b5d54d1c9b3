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
    id.iter().map(|byte| format!("{byte:02x}")).collect()
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
            other => Err(format!("Expected to be instance of `ObjectId`, actually not: {}", other.type_name())),
        }
    }
}

#[derive(Debug)]
struct ObjectIdAsString;

impl CustomType for ObjectIdAsString {
    fn validate(&self, value: &Value) -> Result<(), String> {
        match value.as_str().and_then(parse_object_id) {
            Some(_) => Ok(()),
            None => Err("ObjectId must be a string of 24 hex digits".to_owned()),
        }
    }
}
