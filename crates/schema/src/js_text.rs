//! Values as JavaScript prints them into error texts: `JSON.stringify` and template literals.
//!
//! Depends on the value modules only. Differs from JavaScript in one thing: a
//! bigint, at which `JSON.stringify` throws, is printed as a bigint literal.

use std::fmt::Write as _;

use crate::{DateTime, JsString, MAX_VALUE_DEPTH, Value, object_id_hex, own_properties::own_properties};

/// What `JSON.stringify(value)` gives; `None` where that is undefined.
pub(crate) fn json_text(value: &Value) -> Option<String> {
    let mut out = String::new();
    write_json(&mut out, value, 0).then_some(out)
}

/// What `${number}` gives.
pub(crate) fn number_text(number: f64) -> String {
    ryu_js::Buffer::new().format(number).to_owned()
}

/// The JSON form of a string, without the quotes around it.
pub(crate) fn escaped(text: &JsString) -> String {
    let mut out = String::new();
    write_escaped(&mut out, text);
    out
}

/// Appends the JSON form of a value, or nothing (and says so) where it has none.
fn write_json(out: &mut String, value: &Value, depth: u32) -> bool {
    match value {
        Value::Undefined => return false,
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => write_number(out, *number),
        Value::BigInt(number) => push(out, format_args!("{number}n")),
        Value::String(text) => write_string(out, text),
        Value::Date(millis) => match DateTime::from_unix_millis(*millis as i64).filter(|_| !millis.is_nan()) {
            Some(date) => push(out, format_args!("\"{date}\"")),
            None => out.push_str("null"),
        },
        Value::ObjectId(id) => push(out, format_args!("\"{}\"", object_id_hex(id))),
        // Nobody reads on down there, and the stack has an end.
        Value::Array(_) | Value::Object(_) | Value::Buffer(..) if depth == MAX_VALUE_DEPTH => out.push('…'),
        Value::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                if !write_json(out, element, depth + 1) {
                    out.push_str("null");
                }
            }
            out.push(']');
        }
        Value::Object(_) | Value::Buffer(..) => {
            out.push('{');
            let start = out.len();
            for (key, value) in own_properties(value).iter().flat_map(|object| object.iter()) {
                let before = out.len();
                if before > start {
                    out.push(',');
                }
                write_string(out, &JsString::from(key));
                out.push(':');
                if !write_json(out, value, depth + 1) {
                    out.truncate(before);
                }
            }
            out.push('}');
        }
    }
    true
}

fn write_number(out: &mut String, number: f64) {
    match number.is_finite() {
        true => out.push_str(ryu_js::Buffer::new().format(number)),
        false => out.push_str("null"),
    }
}

fn write_string(out: &mut String, text: &JsString) {
    out.push('"');
    write_escaped(out, text);
    out.push('"');
}

fn write_escaped(out: &mut String, text: &JsString) {
    match text {
        JsString::Utf8(text) => text.chars().for_each(|char| write_char(out, char)),
        JsString::Utf16(units) => {
            for char in char::decode_utf16(units.iter().copied()) {
                match char {
                    Ok(char) => write_char(out, char),
                    Err(lone) => push(out, format_args!("\\u{:04x}", lone.unpaired_surrogate())),
                }
            }
        }
    }
}

fn write_char(out: &mut String, char: char) {
    match char {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        control @ '\0'..'\u{20}' => push(out, format_args!("\\u{:04x}", u32::from(control))),
        other => out.push(other),
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string never fails.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{BufferKind, Object};

    #[test]
    fn values_are_printed_as_json_stringify_prints_them() {
        let object = |entries: Vec<(&str, Value)>| Value::Object(entries.into_iter().collect());
        let bytes = |bytes: &'static [u8]| Bytes::from_static(bytes);
        let cases = [
            (Value::Undefined, None),
            (Value::Number(f64::NAN), Some("null")),
            (Value::Number(-0.0), Some("0")),
            (Value::Number(1e21), Some("1e+21")),
            (Value::BigInt(-7), Some("-7n")),
            (Value::from("\u{0}\u{1f}\u{7f}\u{2028}\"\\/\n"), Some("\"\\u0000\\u001f\u{7f}\u{2028}\\\"\\\\/\\n\"")),
            (JsString::from_utf16(&[0x61, 0xdc00]).into(), Some("\"a\\udc00\"")),
            (Value::Date(0.0), Some("\"1970-01-01T00:00:00.000Z\"")),
            (Value::Date(f64::NAN), Some("null")),
            (Value::Date(8.64e15 + 2.0), Some("null")),
            (Value::from(vec![Value::Undefined, Value::Null]), Some("[null,null]")),
            (object(vec![("b", Value::Undefined), ("a", 1.into()), ("0", Value::Undefined)]), Some("{\"a\":1}")),
            (Value::Buffer(BufferKind::Int16Array, bytes(&[1, 0, 255, 255])), Some("{\"0\":1,\"1\":-1}")),
            (Value::Buffer(BufferKind::ArrayBuffer, bytes(&[1])), Some("{}")),
            (Value::from(Object::new()), Some("{}")),
        ];
        for (value, expected) in cases {
            assert_eq!(json_text(&value).as_deref(), expected, "{value:?}");
        }
    }
}
