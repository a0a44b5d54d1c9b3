//! What holds for every value and every text.

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{JsString, number_text, parse_date};

/// Values that JSON has a form for.
fn json_value() -> impl Strategy<Value = Value> {
    let text = vec(prop_oneof![any::<u16>(), 0x20_u16..0x7f, 0xd7f0_u16..0xe010], 0..12)
        .prop_map(|units| Value::String(JsString::from_utf16(&units)));
    let number = prop_oneof![
        any::<f64>().prop_filter("JSON numbers are finite", |number| number.is_finite()),
        any::<i64>().prop_map(|number| number as f64),
        (-1000_i32..1000).prop_map(f64::from),
    ];
    // There is no negative zero in JSON.
    let number = number.prop_map(|number| Value::Number(number + 0.0));
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::Bool), number, text];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let key = prop_oneof!["[a-z]{0,3}", "[0-9]{1,3}", any::<String>()];
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::Array),
            vec((key, inner), 0..6).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Texts that are nearly JSON.
fn nearly_json() -> impl Strategy<Value = String> {
    let pieces = [
        "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "\\ud83d", "\\ude00", "\"a\"", "\"a\":", "null", "true",
        "fals", "1", "0", "-", ".5", "e+3", " ", "\n", "\u{1}", "é", "中", "😀",
    ];
    vec(proptest::sample::select(pieces.to_vec()), 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn reading_what_was_written_gives_the_value(value in json_value()) {
        let text = value.to_json().unwrap().unwrap();
        prop_assert_eq!(Value::parse_json(&text), Ok(value), "{}", text);
    }

    #[test]
    fn what_is_read_is_written_and_read_again(text in nearly_json()) {
        if let Ok(value) = Value::parse_json(&text) {
            let again = value.to_json().unwrap().unwrap();
            prop_assert_eq!(Value::parse_json(&again), Ok(value), "{} became {}", text, again);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused_with_a_text(bytes in vec(any::<u8>(), 0..40)) {
        if let Err(error) = Value::parse_json(&bytes) {
            prop_assert_eq!(error.message().into_string_lossy(), error.to_string());
        }
    }

    #[test]
    fn every_double_is_read_back_from_its_text(number in any::<f64>()) {
        let again: f64 = number_text(number).parse().unwrap();
        prop_assert!(again == number || number.is_nan());
    }

    #[test]
    fn any_text_is_a_date_or_none(text in "[-+0-9:.TZ ()a-z]{0,24}", more in any::<String>()) {
        for text in [text, more] {
            let ms = parse_date(&text);
            prop_assert!(ms.is_nan() || ms.fract() == 0.0, "{}", text);
        }
    }
}
