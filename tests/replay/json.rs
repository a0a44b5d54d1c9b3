//! `tsbuffer-json-vectors.json`: what `encodeJSON` writes and `decodeJSON` makes of it.

use polywire_schema::{Program, Slot, ValidateOptions, Value};
use polywire_tests::{
    notation,
    vectors::{self, Outcome, replay},
};
use polywire_tsbuffer::{DecodeError, EncodeError, TsBuffer, TsBufferOptions};
use serde_json::Value as Json;

use crate::mended;

/// The types of a vector.
pub(crate) struct Case {
    pub(crate) program: Program,
    pub(crate) tsbuffer: TsBuffer,
    pub(crate) slot: Slot,
    pub(crate) options: ValidateOptions,
    /// What was encoded, where something was.
    pub(crate) value: Option<Value>,
}

/// What the published package wrote, or said against writing it.
#[derive(Debug, PartialEq)]
pub(crate) enum Written {
    Text(String),
    /// `undefined`: no text.
    Nothing,
    Refused(String),
}

/// What the published package read, or said against it.
#[derive(Debug)]
pub(crate) enum Read {
    Value(Value),
    /// Something, of which it made up a part.
    Anything,
    Refused {
        phase: String,
        text: String,
    },
    Threw(String),
}

impl Case {
    fn read(vector: &Json) -> Result<Self, String> {
        let program = Program::compile(&vectors::types(vector)?, &vectors::compile_options(vector));
        let option = |name: &str, default: bool| vector["options"][name].as_bool().unwrap_or(default);
        let options = ValidateOptions {
            excess_property_checks: option("excessPropertyChecks", true),
            strict_null_checks: option("strictNullChecks", false),
        };
        let tsbuffer_options = TsBufferOptions { checks: options, ..TsBufferOptions::default() };
        let tsbuffer = TsBuffer::new(program.clone(), tsbuffer_options);
        let slot = tsbuffer.root(vector["schemaId"].as_str().unwrap_or_default()).map_err(|error| error.to_string())?;
        let value = vector.get("value").map(notation::read);
        Ok(Self { program, tsbuffer, slot, options, value })
    }

    pub(crate) fn decode(&self, text: Option<&str>) -> Result<Value, DecodeError> {
        let json = match text {
            Some(text) => Value::parse_json(text).map_err(|error| DecodeError::Json(Box::new(error)))?,
            None => Value::Undefined,
        };
        self.tsbuffer.decode_json(self.slot, json)
    }
}

impl Written {
    fn published(vector: &Json) -> Self {
        let refusal = ["error", "stringifyError", "throws"].into_iter().find_map(|key| vector[key].as_str());
        match (refusal, vector["jsonText"].as_str()) {
            (Some(text), _) => Self::Refused(text.to_owned()),
            (None, Some(text)) => Self::Text(text.to_owned()),
            (None, None) => Self::Nothing,
        }
    }

    fn ours(written: Result<Option<String>, EncodeError>) -> Self {
        match written {
            Ok(Some(text)) => Self::Text(text),
            Ok(None) => Self::Nothing,
            Err(error) => Self::Refused(error.to_string()),
        }
    }
}

impl Read {
    fn published(vector: &Json) -> Self {
        let decode = &vector["decode"];
        let text = |key: &str| decode[key].as_str().unwrap_or_default().to_owned();
        match (decode["throws"].as_str(), decode["isSucc"].as_bool()) {
            (Some(text), _) => Self::Threw(text.to_owned()),
            (None, Some(false)) => Self::Refused { phase: text("phase"), text: text("errMsg") },
            (None, _) if vector["nondeterministic"] == true => Self::Anything,
            (None, _) => Self::Value(decode.get("value").map_or(Value::Undefined, notation::read)),
        }
    }

    fn agrees(&self, ours: &Result<Value, DecodeError>) -> bool {
        match (self, ours) {
            (Self::Value(published), Ok(ours)) => notation::same(published, ours, notation::Keys::SameOrder),
            (Self::Anything, Ok(_)) => true,
            (Self::Refused { phase, text }, Err(ours)) => *phase == ours.phase().name() && *text == ours.to_string(),
            _ => false,
        }
    }
}

fn check_encode(case: &Case, value: &Value, vector: &Json) -> Result<Outcome, String> {
    let published = Written::published(vector);
    let ours = Written::ours(case.tsbuffer.encode_json(case.slot, value));
    if ours == published {
        return Ok(Outcome::AsPublished);
    }
    let rule = mended::json::encode_rule(case, value, &published, &ours);
    rule.map(Outcome::Mended).ok_or_else(|| format!("encoded: {ours:?}\n    instead of {published:?}"))
}

fn check_decode(case: &Case, vector: &Json) -> Result<Outcome, String> {
    let published = Read::published(vector);
    let text = vector["jsonText"].as_str();
    let ours = case.decode(text);
    if published.agrees(&ours) {
        return Ok(Outcome::AsPublished);
    }
    let rule = mended::json::decode_rule(case, text, &published, &ours);
    rule.map(Outcome::Mended).ok_or_else(|| match ours {
        Ok(value) => format!("decoded: {value:?}\n    instead of {published:?}"),
        Err(error) => format!("decoded ({}): {error}\n    instead of {published:?}", error.phase().name()),
    })
}

fn check(vector: &Json) -> Result<Outcome, String> {
    let case = Case::read(vector)?;
    let encoded = match &case.value {
        Some(value) => check_encode(&case, value, vector)?,
        None => Outcome::AsPublished,
    };
    if vector["decode"].is_null() {
        return Ok(encoded);
    }
    let decoded = check_decode(&case, vector)?;
    Ok(if encoded == Outcome::AsPublished { decoded } else { encoded })
}

#[test]
fn json() {
    replay("tsbuffer-json-vectors.json", check);
}
