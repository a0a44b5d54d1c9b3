//! Reading a text frame as a whole, as published servers do.
//!
//! Depends on JSON text.

use polywire_schema::{Value, number_text};

use crate::{InputError, Sn};

/// A text frame, read as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What stands in the place of the name, as JavaScript prints it.
    pub name: String,
    /// The body; `undefined` where the frame ends before it.
    pub body: Value,
    /// The serial number; none makes it a message.
    pub sn: Sn,
}

/// Reads a text frame. What it says is final.
///
/// # Errors
/// [`InputError::NotJson`] or [`InputError::UnresolvedName`].
pub fn parse(frame: &[u8]) -> Result<Parsed, InputError> {
    let Value::Array(elements) = value(frame).map_err(InputError::NotJson)? else {
        return Err(InputError::UnresolvedName);
    };
    let mut elements = elements.into_iter();
    let mut next = || elements.next().unwrap_or_default();
    let (name, body, sn) = (next(), next(), next());
    Ok(Parsed { name: js_string(&name), body, sn: sn_of(&sn) })
}

/// Reads JSON text; the error is what the engine of published peers says.
pub(crate) fn value(text: &[u8]) -> Result<Value, String> {
    Value::parse_json(text).map_err(|error| error.to_string())
}

/// `String(value)` for what JSON can hold.
pub(crate) fn js_string(value: &Value) -> String {
    let mut text = String::new();
    put_js_string(&mut text, value);
    text
}

/// Appends, so that nested arrays are not copied once a level.
fn put_js_string(out: &mut String, value: &Value) {
    match value {
        Value::Undefined => out.push_str("undefined"),
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(*number)),
        Value::String(text) => out.push_str(&text.to_string_lossy()),
        Value::Array(elements) => {
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                if !element.is_nullish() {
                    put_js_string(out, element);
                }
            }
        }
        _ => out.push_str("[object Object]"),
    }
}

fn sn_of(value: &Value) -> Sn {
    match value {
        Value::Undefined => Sn::None,
        Value::Null => Sn::Null,
        Value::Number(sn) if *sn >= 0.0 && *sn < 2f64.powi(53) && sn.fract() == 0.0 => Sn::Number(*sn as u64),
        // What was read from JSON has a JSON form.
        other => other.to_json().ok().flatten().map_or(Sn::Null, |text| Sn::Json(text.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(frame: &str, expected: Result<(&str, &str, Sn), &str>) {
        let parsed = parse(frame.as_bytes());
        let found = parsed.map(|parsed| (parsed.name, parsed.body.to_json().unwrap().unwrap_or_default(), parsed.sn));
        let expected = expected.map(|(name, body, sn)| (name.to_owned(), body.to_owned(), sn));
        assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_owned), "{frame}");
    }

    #[test]
    fn the_third_element_is_echoed_as_json_writes_it() {
        let json = |text: &str| Sn::Json(text.into());
        #[rustfmt::skip]
        let cases = [
            (r#"["A",{}]"#,                     Sn::None),
            (r#"["A",{},null]"#,                Sn::Null),
            (r#"["A",{},0]"#,                   Sn::Number(0)),
            (r#"["A",{},-0]"#,                  Sn::Number(0)),
            (r#"["A",{},1.0]"#,                 Sn::Number(1)),
            (r#"["A",{},1e3]"#,                 Sn::Number(1000)),
            (r#"["A",{},9007199254740991]"#,    Sn::Number(9_007_199_254_740_991)),
            (r#"["A",{},9007199254740993]"#,    json("9007199254740992")),
            (r#"["A",{},1e21]"#,                json("1e+21")),
            (r#"["A",{},-1]"#,                  json("-1")),
            (r#"["A",{},0.5]"#,                 json("0.5")),
            (r#"["A",{},false]"#,               json("false")),
            (r#"["A",{},"\u0061\u0000b"]"#,     json(r#""a\u0000b""#)),
            (r#"["A",{}, { "b":1, "2":[] } ]"#, json(r#"{"2":[],"b":1}"#)),
            (r#"["A",{},1,2]"#,                 Sn::Number(1)),
        ];
        for (frame, sn) in cases {
            check(frame, Ok(("A", "{}", sn)));
        }
    }

    #[test]
    fn anything_in_the_place_of_the_name_is_printed_as_javascript_does() {
        let cases = [
            (r#"[]"#, "undefined"),
            (r#"[null]"#, "null"),
            (r#"[5]"#, "5"),
            (r#"[1e21]"#, "1e+21"),
            (r#"[true]"#, "true"),
            (r#"[{"a":1}]"#, "[object Object]"),
            (r#"[["a",null,[1,2]]]"#, "a,,1,2"),
            (r#"["\u0041"]"#, "A"),
        ];
        for (frame, name) in cases {
            check(frame, Ok((name, "", Sn::None)));
        }
    }

    #[test]
    fn a_long_name_deep_inside_costs_no_more_than_its_length() {
        // Copied once a level, it would be 4 GB.
        let (depth, long) = (250, "x".repeat(16 << 20));
        let frame = format!(r#"[{}"{long}"{}]"#, "[".repeat(depth), "]".repeat(depth));
        let parsed = parse(frame.as_bytes()).expect("a frame");
        assert!(parsed.name == long);
    }

    #[test]
    fn what_is_no_array_has_no_name() {
        let unresolved = "Invalid request format: unresolved service name.";
        for frame in [r#"{"a":1}"#, "1", "null", r#""Add""#] {
            check(frame, Err(unresolved));
        }
        check("hello", Err(r#"Input is not a valid JSON string: Unexpected token 'h', "hello" is not valid JSON"#));
        check("", Err("Input is not a valid JSON string: Unexpected end of JSON input"));
    }
}
