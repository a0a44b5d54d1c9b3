//! The value notation of the vector files (and of `interop/tsbuffer-worker.mjs`):
//! plain JSON, except that an object whose only key is `$` stands for what JSON
//! has no form for.
//!
//! Depends on the `schema` crate only. Invariant: reading what was written gives
//! the same value, bit for bit.

use polywire_schema::{BufferKind, JsString, Object, Value};
use serde_json::{Map, Number, Value as Json, json};

/// The value that `note` stands for.
///
/// # Panics
/// On a note that is not of the notation: a vector file is wrong then.
#[must_use]
pub fn read(note: &Json) -> Value {
    match note {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => Value::Number(number.as_f64().expect("a JSON number is a double")),
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(notes) => Value::Array(notes.iter().map(read).collect()),
        Json::Object(map) => match map.get("$") {
            None => read_object(map),
            Some(kind) => read_special(kind.as_str().unwrap_or_else(|| panic!("no notation: {note}")), map),
        },
    }
}

fn read_object(map: &Map<String, Json>) -> Value {
    let mut object = Object::new();
    for (key, note) in map {
        object.set(key.as_str(), read(note));
    }
    Value::Object(object)
}

fn read_special(kind: &str, map: &Map<String, Json>) -> Value {
    let text = |key: &str| map[key].as_str().unwrap_or_else(|| panic!("{kind} without {key}: {map:?}"));
    match kind {
        "undefined" => Value::Undefined,
        "bigint" => Value::BigInt(text("v").parse().expect("a bigint of at most 128 bits")),
        "number" => Value::Number(match text("v") {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            "-0" => -0.0,
            other => panic!("no such number: {other}"),
        }),
        "utf16" => {
            let unit = |note: &Json| note.as_u64().and_then(|unit| u16::try_from(unit).ok()).expect("a UTF-16 unit");
            let units: Vec<u16> = map["units"].as_array().expect("units").iter().map(unit).collect();
            Value::String(JsString::from_utf16(&units))
        }
        "Date" => Value::Date(map["ms"].as_f64().unwrap_or(f64::NAN)),
        "ObjectId" => Value::ObjectId(from_hex(text("hex")).try_into().expect("12 bytes")),
        "object" => read_object(map["v"].as_object().expect("an object")),
        class => {
            let kind = BufferKind::from_name(class).unwrap_or_else(|| panic!("no notation: {map:?}"));
            Value::Buffer(kind, from_hex(text("hex")).into())
        }
    }
}

/// The notation of a value.
#[must_use]
pub fn write(value: &Value) -> Json {
    match value {
        Value::Undefined => json!({"$": "undefined"}),
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => write_number(*number),
        Value::BigInt(number) => json!({"$": "bigint", "v": number.to_string()}),
        Value::String(JsString::Utf8(text)) => Json::String(text.clone()),
        Value::String(JsString::Utf16(units)) => json!({"$": "utf16", "units": units}),
        Value::Buffer(kind, bytes) => json!({"$": kind.name(), "hex": to_hex(bytes)}),
        Value::Date(ms) => json!({"$": "Date", "ms": number(*ms)}),
        Value::ObjectId(id) => json!({"$": "ObjectId", "hex": to_hex(id)}),
        Value::Array(elements) => Json::Array(elements.iter().map(write).collect()),
        Value::Object(object) => {
            let map: Map<String, Json> = object.iter().map(|(key, value)| (key.to_owned(), write(value))).collect();
            if map.contains_key("$") { json!({"$": "object", "v": map}) } else { Json::Object(map) }
        }
    }
}

fn write_number(value: f64) -> Json {
    let name = match value {
        _ if value == 0.0 && value.is_sign_negative() => "-0",
        _ if value.is_nan() => "NaN",
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => return number(value),
    };
    json!({"$": "number", "v": name})
}

/// A JSON number, an integer where the double is a small one; null where it is not finite.
fn number(value: f64) -> Json {
    // 2^53: every integer below is exact in both forms.
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
        #[expect(clippy::cast_possible_truncation, reason = "an integer below 2^53")]
        return Json::from(value as i64);
    }
    Number::from_f64(value).map_or(Json::Null, Json::Number)
}

/// Bytes as lower-case hex digits.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string never fails");
        text
    })
}

/// The bytes that hex digits stand for.
///
/// # Panics
/// On anything but pairs of hex digits.
#[must_use]
pub fn from_hex(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2), "an odd number of hex digits: {digits}");
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap_or_else(|_| panic!("no hex digits: {digits}")))
        .collect()
}

/// Whether two values are the same: doubles bit for bit (`NaN` equals `NaN`, `-0` differs from `0`).
#[must_use]
pub fn same(left: &Value, right: &Value, keys: Keys) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) | (Value::Date(a), Value::Date(b)) => {
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, keys)),
        (Value::Object(a), Value::Object(b)) => {
            let ordered = || a.keys().eq(b.keys());
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other, keys)))
                && (keys == Keys::AnyOrder || ordered())
        }
        _ => left == right,
    }
}

/// Whether the order of an object's keys counts. Integer-like keys have none of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// Keys may come in any order.
    AnyOrder,
    /// Keys come in the same order.
    SameOrder,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_what_was_written_gives_the_same_value() {
        let mut object = Object::new();
        object.set("$", Value::from("a key of its own"));
        object.set("10", Value::Undefined);
        object.set("2", Value::Null);
        for value in [
            Value::Undefined,
            Value::Number(f64::NAN),
            Value::Number(-0.0),
            Value::Number(f64::NEG_INFINITY),
            Value::Number(5e-324),
            Value::Number(0.1 + 0.2),
            Value::Number(1.797_693_134_862_315_7e308),
            Value::Number(18_446_744_073_709_552_000.0),
            Value::BigInt(-170_141_183_460_469_231_731_687_303_715_884_105_728),
            Value::String(JsString::from_utf16(&[0x61, 0xd800])),
            Value::Date(f64::NAN),
            Value::Date(-62_135_596_800_000.0),
            Value::Buffer(BufferKind::Float64Array, vec![0; 8].into()),
            Value::ObjectId([7; 12]),
            Value::Array(vec![Value::Object(object)]),
        ] {
            let text = write(&value).to_string();
            let back = read(&serde_json::from_str(&text).unwrap());
            assert!(same(&back, &value, Keys::SameOrder), "{value:?} became {back:?} by {text}");
        }
    }

    #[test]
    fn every_note_of_the_vectors_is_written_as_it_was_read() {
        fn check(note: &Json) {
            let back = write(&read(note));
            assert!(same(&read(&back), &read(note), Keys::SameOrder), "{note} became {back}");
        }
        for file in ["tsbuffer-binary-vectors.json", "tsbuffer-json-vectors.json", "tsbuffer-validation-vectors.json"] {
            for vector in crate::vectors::load_own(file).as_array().expect("a list of vectors") {
                ["value", "decoded"].iter().filter_map(|key| vector.get(key)).for_each(check);
            }
        }
    }
}
