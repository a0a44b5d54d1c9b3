use bytes::Bytes;

use super::*;
use crate::{BufferKind, JsString, Object};

fn refused(text: &str) -> String {
    Value::parse_json(text).expect_err(text).to_string()
}

fn rewritten(text: &str) -> String {
    Value::parse_json(text).expect(text).to_json().expect(text).expect(text)
}

fn written(value: impl Into<Value>) -> Option<String> {
    value.into().to_json().expect("no bigint")
}

#[test]
fn texts_are_read_and_written_as_javascript_does() {
    let cases = [
        ("null", "null"),
        (" [ true , false ]\r\n\t", "[true,false]"),
        ("{}", "{}"),
        ("[]", "[]"),
        ("-0", "0"),
        ("1e2", "100"),
        ("1E400", "null"),
        ("1e-400", "0"),
        ("0.1", "0.1"),
        ("123456789012345678901234567890", "1.2345678901234568e+29"),
        ("9007199254740993", "9007199254740992"),
        (r#""\u0041\/\"\\\b\f\n\r\t\u001F""#, r#""A/\"\\\b\f\n\r\t\u001f""#),
        (r#""\ud83d\ude00""#, r#""😀""#),
        (r#""\ud83d""#, r#""\ud83d""#),
        (r#""\ude00\ud83d\ud83d\ude00x""#, r#""\ude00\ud83d😀x""#),
        ("\"\u{7f}\u{2028}\"", "\"\u{7f}\u{2028}\""),
        (r#"{"b":1,"a":2,"b":3}"#, r#"{"b":3,"a":2}"#),
        (r#"{"b":1,"10":2,"9":3,"01":4}"#, r#"{"9":3,"10":2,"b":1,"01":4}"#),
        (r#"{"__proto__":{"x":1},"constructor":2}"#, r#"{"__proto__":{"x":1},"constructor":2}"#),
    ];
    for (text, expected) in cases {
        assert_eq!(rewritten(text), expected, "{text}");
    }
}

#[test]
fn invalid_utf8_is_read_as_replacement_characters() {
    let value = Value::parse_json(b"\"a\xff\xe4\xb8z\"").expect("a string");
    assert_eq!(value.as_str(), Some("a\u{fffd}\u{fffd}z"));
}

#[test]
fn refusals_are_worded_as_node_does() {
    let cases = [
        ("", "Unexpected end of JSON input"),
        ("[1,", "Unexpected end of JSON input"),
        ("nul", "Unexpected end of JSON input"),
        (r#"{"a":1,"b""#, "Unexpected end of JSON input"),
        ("hello", r#"Unexpected token 'h', "hello" is not valid JSON"#),
        ("trux", r#"Unexpected token 'x', "trux" is not valid JSON"#),
        ("fals3", "Unexpected number in JSON at position 4"),
        ("tru\"", "Unexpected string in JSON at position 3"),
        ("undefined", r#""undefined" is not valid JSON"#),
        ("[object Object]", r#""[object Object]" is not valid JSON"#),
        (
            "[1,2,3,4,5,6,7,8,9,10,x,11,12,13,14]",
            r#"Unexpected token 'x', ...",7,8,9,10,x,11,12,13"... is not valid JSON"#,
        ),
        ("[1,2,3,4,5,6,7,8,9,10,11,12,x]", r#"Unexpected token 'x', ...",10,11,12,x]" is not valid JSON"#),
        ("[x,2,3,4,5,6,7,8,9,10,11,12]", r#"Unexpected token 'x', "[x,2,3,4,5,"... is not valid JSON"#),
        ("{h", "Expected property name or '}' in JSON at position 1"),
        (r#"{"a":1,}"#, "Expected double-quoted property name in JSON at position 7"),
        (r#"{"a" 1}"#, "Expected ':' after property name in JSON at position 5"),
        (r#"{"a":1]"#, "Expected ',' or '}' after property value in JSON at position 6"),
        ("[1 2]", "Expected ',' or ']' after array element in JSON at position 3"),
        (r#"{"a":1} x"#, "Unexpected non-whitespace character after JSON at position 8"),
        ("\"中😀", "Unterminated string in JSON at position 4"),
        ("\"a\nb\"", "Bad control character in string literal in JSON at position 2"),
        (r#""\x""#, "Bad escaped character in JSON at position 2"),
        (r#""\u12""#, "Bad Unicode escape in JSON at position 5"),
        ("-", "No number after minus sign in JSON at position 1"),
        ("1.", "Unterminated fractional number in JSON at position 2"),
        ("1e+", "Exponent part is missing a number in JSON at position 3"),
        ("01", "Unexpected number in JSON at position 1"),
    ];
    for (text, expected) in cases {
        assert_eq!(refused(text), expected, "{text}");
    }
}

#[test]
fn an_excerpt_may_cut_a_surrogate_pair() {
    let error = Value::parse_json("😀").expect_err("no JSON");
    assert_eq!(error.to_string(), "Unexpected token '\u{fffd}', \"😀\" is not valid JSON");
    assert_eq!(error.message().as_str(), None);
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(Value::parse_json(nested(MAX_JSON_DEPTH)).is_ok());
    assert_eq!(Value::parse_json(nested(MAX_JSON_DEPTH + 1)), Err(JsonError::TooDeep(MAX_JSON_DEPTH)));
    assert_eq!(Value::parse_json("[".repeat(100_000)), Err(JsonError::TooDeep(MAX_JSON_DEPTH)));
    assert_eq!(Value::parse_json_within("[[1]]", 1), Err(JsonError::TooDeep(1)));

    let deepest = Value::parse_json(nested(MAX_JSON_DEPTH)).expect("at the limit");
    assert!(deepest.to_json().is_ok());
    assert_eq!(Value::Array(vec![deepest]).to_json(), Err(StringifyError::TooDeep(MAX_JSON_DEPTH)));
}

#[test]
fn values_beyond_json_are_written_as_javascript_does() {
    let object: Object = [("u", Value::Undefined), ("n", Value::Number(f64::NAN))].into_iter().collect();
    let buffer = |kind, bytes: &'static [u8]| Value::Buffer(kind, Bytes::from_static(bytes));
    let cases = [
        (Value::Undefined, None),
        (vec![Value::Undefined, Value::Number(f64::INFINITY)].into(), Some("[null,null]")),
        (object.into(), Some(r#"{"n":null}"#)),
        (Value::Date(0.0), Some(r#""1970-01-01T00:00:00.000Z""#)),
        (Value::Date(f64::NAN), Some("null")),
        (Value::ObjectId([0xab; 12]), Some(r#""abababababababababababab""#)),
        (buffer(BufferKind::ArrayBuffer, b"\x01"), Some("{}")),
        (buffer(BufferKind::Uint8Array, b""), Some("{}")),
        (buffer(BufferKind::Uint8Array, b"\x01\xff"), Some(r#"{"0":1,"1":255}"#)),
        (buffer(BufferKind::Int16Array, b"\xff\xff\x00\x01"), Some(r#"{"0":-1,"1":256}"#)),
        (
            buffer(BufferKind::Float32Array, b"\x00\x00\xc0\x7f\xcd\xcc\xcc\x3d"),
            Some(r#"{"0":null,"1":0.10000000149011612}"#),
        ),
        (buffer(BufferKind::BigInt64Array, b""), Some("{}")),
        (JsString::from_utf16(&[0x61, 0xdc00, 0x22]).into(), Some(r#""a\udc00\"""#)),
    ];
    for (value, expected) in cases {
        assert_eq!(written(value).as_deref(), expected);
    }
}

#[test]
fn a_bigint_has_no_json_form() {
    let bigints = [Value::BigInt(1), Value::Buffer(BufferKind::BigUint64Array, Bytes::from_static(&[0; 8]))];
    for value in bigints {
        assert_eq!(Value::Array(vec![value]).to_json(), Err(StringifyError::BigInt));
    }
}
