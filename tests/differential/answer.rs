//! What a codec answers, ours or the published one.

use std::fmt;

use polywire_schema::Value;
use polywire_tests::notation;
use polywire_tsbuffer::DecodeError;
use serde_json::Value as Json;

/// An answer, as far as it has to be the same.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Valid,
    Value(Value),
    Bytes(Vec<u8>),
    /// JSON text; `undefined` has none.
    Text(Option<String>),
    /// With its text and, where something was decoded, the phase.
    Refused(String, Option<String>),
}

impl Answer {
    /// Our answer.
    pub(crate) fn of<T, E: fmt::Display>(result: Result<T, E>, success: impl FnOnce(T) -> Self) -> Self {
        result.map_or_else(|error| Self::Refused(error.to_string(), None), success)
    }

    /// Our answer where something was decoded.
    pub(crate) fn of_decoding(result: Result<Value, DecodeError>) -> Self {
        let refused = |error: DecodeError| Self::Refused(error.to_string(), Some(error.phase().name().to_owned()));
        result.map_or_else(refused, Self::Value)
    }

    /// The worker's answer. A text that the published package has lost (known bug B20) is the validator's.
    pub(crate) fn read(json: &Json) -> Self {
        if let Some(text) = json["threw"].as_str() {
            // An exception, which is never ours.
            return Self::Refused(text.to_owned(), Some("exception".to_owned()));
        }
        if json["ok"] == true {
            return match (json.get("value"), json["hex"].as_str(), json.get("jsonText")) {
                (Some(value), ..) => Self::Value(notation::read(value)),
                (_, Some(hex), _) => Self::Bytes(notation::from_hex(hex)),
                (.., Some(text)) => Self::Text(text.as_str().map(str::to_owned)),
                _ => Self::Valid,
            };
        }
        let mut texts = ["error", "stringifyError", "validateMessage"].into_iter();
        let text = texts.find_map(|key| json[key].as_str()).unwrap_or_default();
        Self::Refused(text.to_owned(), json["phase"].as_str().map(str::to_owned))
    }

    /// Whether two answers are the same, the order of keys included.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Valid, Self::Valid) => true,
            (Self::Value(a), Self::Value(b)) => notation::same(a, b, notation::Keys::SameOrder),
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Refused(text, phase), Self::Refused(other_text, other_phase)) => {
                text == other_text && phase == other_phase
            }
            _ => false,
        }
    }
}
