use super::*;

fn whole<'a, T>(text: &'a str, read: impl FnOnce(&mut JsonReader<'a>) -> Result<T, Refused>) -> Option<T> {
    let mut reader = JsonReader::new(text);
    let value = read(&mut reader).ok()?;
    reader.finish().ok()?;
    assert_eq!((reader.at, reader.depth_left), (text.len(), MAX_JSON_DEPTH), "{text}");
    Some(value)
}

#[test]
fn strings_are_borrowed_unless_escaped() {
    let cases = [
        (r#""""#, Some("")),
        (r#" "hi" "#, Some("hi")),
        (r#""exactly8""#, Some("exactly8")),
        ("\"中文 and more than eight bytes\u{7f}\"", Some("中文 and more than eight bytes\u{7f}")),
        (r#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00z""#, Some("a\"\\/\u{8}\u{c}\n\r\té😀z")),
        (r#""\ud83d""#, None),
        (r#""\x""#, None),
        (r#""\u12""#, None),
        (r#""\u123"#, None),
        ("\"", None),
        ("\"open and long", None),
        ("\"a\nb\"", None),
        ("\"1234567\u{1f}90\"", None),
        ("5", None),
        ("", None),
    ];
    for (text, expected) in cases {
        let found = whole(text, |reader| reader.string());
        assert_eq!(found.as_deref(), expected, "{text}");
        let borrowed = matches!(found, Some(Cow::Borrowed(_)));
        assert_eq!(borrowed, expected.is_some() && !text.contains('\\'), "{text}");
    }
}

#[test]
fn numbers_are_those_of_json() {
    let accepted = [
        "0",
        "-0",
        "7",
        "-12",
        "123456789012345",
        "1234567890123456",
        "12345678901234567890123",
        "0.1",
        "-1.5",
        "3.14159265358979",
        "3.141592653589793238",
        "0.000000000000001",
        "1e3",
        "1E-7",
        "2.5e+300",
        "1e400",
        "5e-324",
    ];
    for text in accepted {
        let expected: f64 = text.parse().unwrap();
        let found = whole(text, |reader| reader.number()).map(f64::to_bits);
        assert_eq!(found, Some(expected.to_bits()), "{text}");
    }
    for text in ["", "-", "01", "-01", "1.", ".5", "1e", "1e+", "+1", "NaN", "0x1", "1_000", "\"1\"", "1 2"] {
        assert_eq!(whole(text, |reader| reader.number()), None, "{text}");
    }
}

#[test]
fn integers_may_be_written_in_any_form_but_must_be_safe() {
    let cases = [
        ("0", Some(0)),
        ("-0", Some(0)),
        ("-17", Some(-17)),
        ("1e3", Some(1000)),
        ("1.50e1", Some(15)),
        ("9007199254740991", Some(9_007_199_254_740_991)),
        ("-9007199254740991", Some(-9_007_199_254_740_991)),
        ("9007199254740992", None),
        ("1e300", None),
        ("1.5", None),
        ("01", None),
        ("-", None),
        ("true", None),
    ];
    for (text, expected) in cases {
        assert_eq!(whole(text, |reader| reader.integer()), expected, "{text}");
    }
}

#[test]
fn literals_are_taken_whole() {
    assert_eq!(whole("true", |reader| reader.bool()), Some(true));
    assert_eq!(whole(" false", |reader| reader.bool()), Some(false));
    assert_eq!(whole("null ", |reader| reader.null()), Some(()));
    assert_eq!(whole("null", |reader| reader.take_null()), Some(true));
    for text in ["tru", "truee", "fals", "nul", "null", "1", ""] {
        assert_eq!(whole(text, |reader| reader.bool()), None, "{text}");
    }
}

#[test]
fn dates_are_read_as_new_date_does() {
    let cases = [
        (r#""1970-01-01T00:00:00.001Z""#, Some(1)),
        (r#""1970-01-01""#, Some(0)),
        (r#""Thu, 01 Jan 1970 00:00:01 GMT""#, Some(1000)),
        (r#""\u0031970-01-01T00:00:00.001Z""#, Some(1)),
        ("5", Some(5)),
        ("-1.9", Some(-1)),
        ("8.64e15", Some(8_640_000_000_000_000)),
        ("8.65e15", None),
        ("1e400", None),
        (r#""hello""#, None),
        ("true", None),
        ("null", None),
    ];
    for (text, expected) in cases {
        let found = whole(text, |reader| reader.date());
        assert_eq!(found.map(DateTime::unix_millis), expected, "{text}");
    }
}

#[test]
fn buffers_hold_whole_elements() {
    let cases = [
        (r#""AQID""#, BufferKind::Uint8Array, Some(&[1, 2, 3][..])),
        (r#""AQI\u0044""#, BufferKind::ArrayBuffer, Some(&[1, 2, 3])),
        (r#""AQID""#, BufferKind::Int16Array, Some(&[1, 2])),
        (r#""AQID""#, BufferKind::Float64Array, Some(&[])),
        (r#""AAAAAAAAAAA=""#, BufferKind::BigInt64Array, None),
        ("5", BufferKind::Uint8Array, None),
    ];
    for (text, kind, expected) in cases {
        assert_eq!(whole(text, |reader| reader.buffer(kind)).as_deref(), expected, "{text}");
    }
}

#[test]
fn object_ids_have_24_hex_digits() {
    let hex = r#""61531914435b997af15dc382""#;
    assert_eq!(
        whole(hex, |reader| reader.object_id()).map(|id| id.to_string()).as_deref(),
        Some(hex.trim_matches('"'))
    );
    assert_eq!(whole(r#""zz""#, |reader| reader.object_id()), None);
}

#[test]
fn arrays_and_objects_are_walked_and_skipped() {
    let text = r#" { "a" : [ 1 , [ ] , { } ] , "b" : { "\u0063" : null } , "d" : "\ud800" } "#;
    let keys = |reader: &mut JsonReader<'_>| {
        let mut keys = Vec::new();
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            keys.push(format!("{key}={}", reader.raw_value()?));
        }
        Ok::<_, Refused>(keys)
    };
    let expected = [r#"a=[ 1 , [ ] , { } ]"#, r#"b={ "\u0063" : null }"#, r#"d="\ud800""#];
    assert_eq!(JsonReader::new(text).peek(), Ok(JsonKind::Object));
    let mut reader = JsonReader::new(text);
    assert_eq!(keys(&mut reader).unwrap(), expected);
    assert_eq!(reader.finish(), Ok(()));
    assert_eq!(reader.depth_left, MAX_JSON_DEPTH);
}

#[test]
fn punctuation_must_be_right() {
    let accepted = ["[]", "[1]", "[1,2]", "{}", r#"{"a":1}"#, r#"{"a":1,"b":[{}]}"#, "[[],[]]", "[{},{}]"];
    let refused = [
        "",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1}",
        "{",
        "}",
        "{1:2}",
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"a":1,}"#,
        r#"{,"a":1}"#,
        r#"{"a":1 "b":2}"#,
        r#"{"a":1]"#,
        "[[]",
        "[] []",
        "undefined",
    ];
    for text in accepted {
        assert_eq!(whole(text, |reader| reader.skip_value()), Some(()), "{text}");
        assert_eq!(whole(text, |reader| reader.value()), Value::parse_json(text).ok(), "{text}");
    }
    for text in refused {
        assert_eq!(whole(text, |reader| reader.skip_value()), None, "{text}");
    }
}

#[test]
fn keys_in_the_expected_order_are_taken_by_comparison() {
    let mut reader = JsonReader::new(r#"{"a":1,"b":2, "c":3}"#);
    assert!(!reader.take_key(r#""a":"#), "no object is open");
    reader.begin_object().unwrap();
    assert!(!reader.take_key(r#""b":"#));
    assert!(reader.take_key(r#""a":"#));
    assert_eq!(reader.integer(), Ok(1));
    assert!(reader.take_key(r#""b":"#));
    assert_eq!(reader.integer(), Ok(2));
    assert!(!reader.take_key(r#""c":"#), "white space");
    assert_eq!(reader.next_key(), Ok(Some("c")));
    assert_eq!(reader.integer(), Ok(3));
    assert_eq!(reader.next_key(), Ok(None));
    assert!(!reader.take_key(r#""a":"#));
}

#[test]
fn a_key_with_escapes_is_left_to_the_slow_path() {
    let mut reader = JsonReader::new(r#"{"\u0061":1}"#);
    reader.begin_object().unwrap();
    assert_eq!(reader.next_key(), Err(Refused));
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let skip = |text: &str| JsonReader::new(text).skip_value();
    assert_eq!(skip(&nested(MAX_JSON_DEPTH)), Ok(()));
    assert_eq!(skip(&nested(MAX_JSON_DEPTH + 1)), Err(Refused));
    assert_eq!(skip(&"[".repeat(100_000)), Err(Refused));
    assert_eq!(skip(&r#"{"a":"#.repeat(100_000)), Err(Refused));
}
