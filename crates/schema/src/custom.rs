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
    fn object_id_class(&self) -> Option<ObjectIdClass> {
        Some(ObjectIdClass::Class)
    }

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
        Some(bytes.try_into().map(Value::ObjectId).map_err(|_| UNACCEPTED.to_owned()))
    }

    fn encode_json(&self, value: &Value) -> Option<Value> {
        match value {
            Value::ObjectId(id) => Some(object_id_hex(id).into()),
            _ => None,
        }
    }

    fn decode_json(&self, value: &Value) -> Option<Result<Value, String>> {
        Some(new_object_id(value).map(Value::ObjectId).map_err(str::to_owned))
    }
}

/// The text of the library which published peers use (bson 5), as those below.
const UNACCEPTED: &str = "Argument passed in does not match the accepted types";

/// `new ObjectId(value)`: 24 hex digits, a string of 12 bytes, an object that has one as `id`,
/// or a number of seconds. The bytes behind the seconds are zero here; the library invents them.
fn new_object_id(value: &Value) -> Result<[u8; 12], &'static str> {
    let text = match value {
        Value::Number(seconds) => return Ok(from_seconds(*seconds)),
        Value::String(text) => text,
        Value::Object(object) => match object.get("id") {
            None => return Err(UNACCEPTED),
            Some(Value::String(text)) => text,
            Some(_) => return Err("Argument passed in must have an id that is of type string or Buffer"),
        },
        _ => return Err(UNACCEPTED),
    };
    let text = text.to_string_lossy();
    if let Some(id) = parse_object_id(&text) {
        return Ok(id);
    }
    match text.as_bytes().try_into() {
        Ok(id) if text.encode_utf16().count() == 12 => Ok(id),
        _ if text.encode_utf16().count() == 12 => Err("Argument passed in must be a string of 12 bytes"),
        _ => Err("Argument passed in must be a string of 12 bytes or a string of 24 hex characters or an integer"),
    }
}

fn from_seconds(seconds: f64) -> [u8; 12] {
    let mut id = [0; 12];
    // `setUint32`: the whole number modulo 2^32, zero for what is none.
    let seconds = if seconds.is_finite() { seconds.trunc().rem_euclid(4_294_967_296.0) as u32 } else { 0 };
    id[..4].copy_from_slice(&seconds.to_be_bytes());
    id
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
    fn object_id_class(&self) -> Option<ObjectIdClass> {
        Some(ObjectIdClass::String)
    }

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
    fn the_class_reads_what_its_constructor_takes() {
        let twelve = "Argument passed in must be a string of 12 bytes";
        let neither = format!("{twelve} or a string of 24 hex characters or an integer");
        let seconds = |bytes: [u8; 4]| bytes.iter().copied().chain([0; 8]).collect::<Vec<u8>>();
        let cases = [
            ("\"61531914435B997AF15DC382\"", Ok(ID.to_vec())),
            ("{\"id\":\"61531914435b997af15dc382\"}", Ok(ID.to_vec())),
            ("\"hello world!\"", Ok(b"hello world!".to_vec())),
            ("5", Ok(seconds([0, 0, 0, 5]))),
            ("-1", Ok(seconds([255; 4]))),
            ("1000000000000.5", Ok(seconds([0xd4, 0xa5, 0x10, 0]))),
            ("\"zz\"", Err(&*neither)),
            ("\"ééé456789\"", Err(&*neither)),
            ("\"12345678901é\"", Err(twelve)),
            ("true", Err(UNACCEPTED)),
            ("[]", Err(UNACCEPTED)),
            ("{}", Err(UNACCEPTED)),
            ("{\"id\":5}", Err("Argument passed in must have an id that is of type string or Buffer")),
        ];
        for (json, expected) in cases {
            let found = ObjectIdAsClass.decode_json(&Value::parse_json(json).unwrap()).unwrap();
            let expected = expected.map(|id| Value::ObjectId(id.try_into().unwrap())).map_err(str::to_owned);
            assert_eq!(found, expected, "{json}");
        }
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
