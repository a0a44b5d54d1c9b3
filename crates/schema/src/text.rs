//! Values in error texts, as the published validator prints them (reference §6.1).
//!
//! Depends on values and their JSON form only. Printing never fails: where
//! `JSON.stringify` throws (at a bigint) or there is no end of nesting, a text
//! stands in the place.

use crate::{Object, Value, own_properties::own_properties};

/// How many levels of a value are printed. Nobody reads on further down, and a
/// text may be made where most of the stack is in use.
const MAX_LEVELS: usize = 128;

/// A value: strings in single quotes, everything else as JSON.
pub(crate) fn stringify(value: &Value) -> String {
    match value {
        Value::Undefined => "undefined".to_owned(),
        Value::BigInt(number) => format!("{number}n"),
        Value::String(_) => {
            let json = json(value);
            // The quotes are one byte each.
            format!("'{}'", &json[1..json.len() - 1])
        }
        other => json(other),
    }
}

fn json(value: &Value) -> String {
    let mut text = Vec::new();
    if value.write_json_within(&mut text, MAX_LEVELS).is_err() {
        text.clear();
        // What is printable has a JSON form.
        let _ = printable(value, MAX_LEVELS).write_json_within(&mut text, MAX_LEVELS + 1);
    }
    String::from_utf8(text).unwrap_or_default()
}

/// A copy in which texts stand for what JSON has no form for.
fn printable(value: &Value, levels: usize) -> Value {
    match value {
        Value::BigInt(number) => Value::from(format!("{number}n")),
        Value::Array(_) | Value::Object(_) if levels == 0 => Value::from("…"),
        Value::Array(elements) => {
            elements.iter().map(|element| printable(element, levels - 1)).collect::<Vec<_>>().into()
        }
        Value::Object(_) | Value::Buffer(..) => {
            let properties = own_properties(value).unwrap_or_default();
            let entries = properties.iter().map(|(key, value)| (key, printable(value, levels.saturating_sub(1))));
            Value::Object(entries.collect::<Object>())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{BufferKind, JsString};

    #[test]
    fn values_are_printed_as_the_published_validator_prints_them() {
        let object = |entries: Vec<(&str, Value)>| Value::Object(entries.into_iter().collect());
        let cases = [
            (Value::Undefined, "undefined"),
            (Value::Number(f64::NAN), "null"),
            (Value::Number(-0.0), "0"),
            (Value::from("it's \"quoted\"\n"), r#"'it's \"quoted\"\n'"#),
            (JsString::from_utf16(&[0x61, 0xdc00]).into(), r"'a\udc00'"),
            (Value::Date(0.0), "\"1970-01-01T00:00:00.000Z\""),
            (Value::Date(f64::NAN), "null"),
            (object(vec![("b", Value::Undefined), ("a", 1.into())]), r#"{"a":1}"#),
            (Value::Buffer(BufferKind::Uint8Array, Bytes::from_static(&[1, 2])), r#"{"0":1,"1":2}"#),
        ];
        for (value, expected) in cases {
            assert_eq!(stringify(&value), expected, "{value:?}");
        }
    }

    #[test]
    fn what_has_no_json_form_is_printed_all_the_same() {
        let deep = (0..=MAX_LEVELS).fold(Value::Null, |inner, _| Value::from(vec![inner]));
        let memory = Bytes::from_static(&[255; 8]);
        let cases = [
            (Value::BigInt(-7), "-7n".to_owned()),
            (Value::from(vec![Value::BigInt(7)]), "[\"7n\"]".to_owned()),
            (Value::Buffer(BufferKind::BigInt64Array, memory), "{\"0\":\"-1n\"}".to_owned()),
            (deep, format!("{}\"…\"{}", "[".repeat(MAX_LEVELS), "]".repeat(MAX_LEVELS))),
        ];
        for (value, expected) in cases {
            assert_eq!(stringify(&value), expected);
        }
    }
}
