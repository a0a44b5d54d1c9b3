//! The pieces of text frames that are not bodies.
//!
//! Depends on JSON text.

use polywire_schema::{Value, array_index, write_integer, write_json_string};

use crate::{ApiError, ErrorCode};

/// Writes `{"isSucc":false,"err":{…}}`.
///
/// The fields come in JavaScript's order: integer-like ones, `message`, `type`,
/// `code`, the others as they were set. A field that JSON has no form for is left out.
pub(crate) fn write_error(out: &mut Vec<u8>, error: &ApiError) {
    out.extend_from_slice(br#"{"isSucc":false,"err":{"#);
    let is_integer = |entry: &(&str, &Value)| array_index(entry.0).is_some();
    for (key, value) in error.data().filter(is_integer) {
        write_field(out, key, value);
    }
    out.extend_from_slice(br#""message":"#);
    write_json_string(out, &error.message);
    out.extend_from_slice(br#","type":""#);
    out.extend_from_slice(error.kind.name().as_bytes());
    out.extend_from_slice(br#"","#);
    match &error.code {
        Some(ErrorCode::Str(code)) => {
            out.extend_from_slice(br#""code":"#);
            write_json_string(out, code);
            out.push(b',');
        }
        Some(ErrorCode::Int(code)) => {
            out.extend_from_slice(br#""code":"#);
            write_integer(out, *code);
            out.push(b',');
        }
        Some(ErrorCode::Number(code)) => write_field(out, "code", &Value::Number(*code)),
        None => {}
    }
    for (key, value) in error.data().filter(|entry| !is_integer(entry)) {
        write_field(out, key, value);
    }
    // Every field was followed by a comma, and there are at least two.
    out.pop();
    out.extend_from_slice(b"}}");
}

/// Writes `"key":value,`, or nothing.
fn write_field(out: &mut Vec<u8>, key: &str, value: &Value) {
    let start = out.len();
    write_json_string(out, key);
    out.push(b':');
    match value.write_json(out) {
        Ok(true) => out.push(b','),
        Ok(false) | Err(_) => out.truncate(start),
    }
}

#[cfg(test)]
mod tests {
    use polywire_schema::Object;

    use super::*;

    fn check(error: &ApiError, expected: &str) {
        let mut out = Vec::new();
        write_error(&mut out, error);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, format!(r#"{{"isSucc":false,"err":{expected}}}"#));
        let object = Value::parse_json(&text).unwrap().get("err").cloned().unwrap();
        assert_eq!(object.to_json().unwrap().unwrap(), expected, "JavaScript's order");
    }

    #[test]
    fn fields_come_in_the_published_order() {
        check(&ApiError::new("bad thing"), r#"{"message":"bad thing","type":"ApiError"}"#);
        check(&ApiError::new("m").code("E_CODE"), r#"{"message":"m","type":"ApiError","code":"E_CODE"}"#);
        check(&ApiError::new("m").code(-5), r#"{"message":"m","type":"ApiError","code":-5}"#);
        check(&ApiError::new("m").code(1.5), r#"{"message":"m","type":"ApiError","code":1.5}"#);
        check(
            &ApiError::internal(Some("boom")),
            r#"{"message":"Internal Server Error","type":"ServerError","code":"INTERNAL_ERR","innerErr":"boom"}"#,
        );
        let x = Object::from_iter([("x", Value::from(1.0))]);
        check(
            &ApiError::new("\"\n").with("d", Value::Date(0.0)).with("2", true).with("foo", x).code("T"),
            r#"{"2":true,"message":"\"\n","type":"ApiError","code":"T","d":"1970-01-01T00:00:00.000Z","foo":{"x":1}}"#,
        );
    }

    #[test]
    fn what_json_cannot_say_is_left_out() {
        let error = ApiError::new("m").with("a", Value::Undefined).with("b", Value::BigInt(1)).with("c", Value::Null);
        check(&error, r#"{"message":"m","type":"ApiError","c":null}"#);
    }
}
