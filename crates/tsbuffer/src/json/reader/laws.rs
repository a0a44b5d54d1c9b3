//! The reader accepts part of what `JSON.parse` accepts, with the same values.

use polywire_schema::Object;
use proptest::{collection::vec, prelude::*};

use super::*;

/// Any value by the primitives that specialised codecs read with.
fn read(reader: &mut JsonReader<'_>) -> Result<Value, Refused> {
    Ok(match reader.peek()? {
        JsonKind::Null => reader.null().map(|()| Value::Null)?,
        JsonKind::Bool => Value::Bool(reader.bool()?),
        JsonKind::Number => Value::Number(reader.number()?),
        JsonKind::String => Value::from(reader.string()?.into_owned()),
        JsonKind::Array => {
            let mut elements = Vec::new();
            reader.begin_array()?;
            while reader.next_element()? {
                elements.push(read(reader)?);
            }
            Value::Array(elements)
        }
        JsonKind::Object => {
            let mut object = Object::new();
            reader.begin_object()?;
            if reader.take_key("\"a\":") {
                object.set("a", read(reader)?);
            }
            while let Some(key) = reader.next_key()? {
                object.set(key, read(reader)?);
            }
            Value::Object(object)
        }
    })
}

fn whole<T>(text: &str, read: impl FnOnce(&mut JsonReader<'_>) -> Result<T, Refused>) -> Option<T> {
    let mut reader = JsonReader::new(text);
    let value = read(&mut reader).ok()?;
    reader.finish().ok().map(|()| value)
}

/// JSON with a few bytes changed, so that most of it is still right.
fn nearly_json() -> impl Strategy<Value = String> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\n",
        "\\u0041",
        "\\ud83d",
        "\\x",
        "\"a\"",
        "\"a\":1",
        "\"a\":",
        "\"b c\":",
        "\"eight or more bytes\"",
        "null",
        "true",
        "false",
        "1",
        "-0",
        "12.5",
        "1e3",
        "12345678901234567890",
        ".",
        " ",
        "\t",
        "\u{1f}",
        "é",
        "😀",
    ];
    let sample = r#"["Send",{"content":"hello \"you\" é","a":[1,-2.5e3,{"a":null}],"b":{}},17]"#;
    let mutated =
        (0..sample.len(), 0..4_usize, proptest::sample::select(pieces.to_vec())).prop_map(|(at, len, piece)| {
            let (start, end) =
                (sample.floor_char_boundary(at), sample.floor_char_boundary((at + len).min(sample.len())));
            format!("{}{piece}{}", &sample[..start], &sample[end..])
        });
    prop_oneof![vec(proptest::sample::select(pieces.to_vec()), 0..12).prop_map(|pieces| pieces.concat()), mutated]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_accepted_is_what_json_parse_reads(text in nearly_json()) {
        let parsed = Value::parse_json(&text).ok();
        if let Some(value) = whole(&text, read) {
            prop_assert_eq!(Some(&value), parsed.as_ref(), "{}", text);
        }
        prop_assert_eq!(whole(&text, |reader| reader.skip_value()).is_some(), parsed.is_some(), "{}", text);
        prop_assert_eq!(whole(&text, |reader| reader.value()), parsed, "{}", text);
    }

    #[test]
    fn numbers_are_rounded_as_json_parse_rounds_them(text in "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,24})?([eE][-+]?[0-9]{1,3})?") {
        let expected: f64 = text.parse().unwrap();
        prop_assert_eq!(whole(&text, |reader| reader.number()).map(f64::to_bits), Some(expected.to_bits()));
        if let Some(integer) = whole(&text, |reader| reader.integer()) {
            prop_assert_eq!(integer as f64, expected);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), key in "[a-z]{0,3}") {
        // Nothing of this panics.
        let _ = (JsonReader::new(&text).string(), JsonReader::new(&text).raw_value());
        let _ = JsonReader::new(&text).date();
        let _ = JsonReader::new(&text).buffer(BufferKind::Int32Array);
        prop_assert!(!JsonReader::new(&text).take_key(&key) || text.starts_with(','));
    }
}
