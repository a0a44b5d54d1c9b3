//! `tsbuffer-binary-vectors.json`: what encoding and decoding dynamic values give.

use polywire_schema::{Program, Slot, ValidateOptions, Value};
use polywire_tests::{
    notation::{self, Keys, from_hex, to_hex},
    vectors::{Outcome, compile_options, replay, types},
};
use polywire_tsbuffer::{DecodeError, TsBuffer, TsBufferOptions, binary::Strictness};
use serde_json::Value as Json;

use crate::mended::binary::{self as mended, Published};

const LENIENT_INPUT: &str = "input that ends too early is refused, unless the reader is lenient";

/// What a vector asks about.
struct Case<'v> {
    vector: &'v Json,
    strict: TsBuffer,
    lenient: TsBuffer,
    slot: Slot,
    options: ValidateOptions,
}

impl Case<'_> {
    fn text(&self, key: &str) -> Result<&str, String> {
        self.vector[key].as_str().ok_or_else(|| format!("no {key}"))
    }

    fn rules(&self) -> mended::Case<'_> {
        mended::Case { tsbuffer: &self.lenient, slot: self.slot, options: self.options }
    }

    fn check_encoded(&self, published: &Published<Vec<u8>>) -> Result<Outcome, String> {
        let value = notation::read(&self.vector["value"]);
        let ours = self.strict.encode(self.slot, &value);
        let agrees = match (published, &ours) {
            (Published::Success(theirs), Ok(ours)) => theirs == ours,
            (Published::Refused { text, .. }, Err(error)) => error.to_string() == *text,
            _ => false,
        };
        if agrees {
            return Ok(Outcome::AsPublished);
        }
        let rule = mended::encoded(&self.rules(), &value, published, &ours);
        let ours = ours.map(|bytes| to_hex(&bytes));
        rule.map(Outcome::Mended).ok_or_else(|| format!("encoding: {ours:?}\n    instead of {published:?}"))
    }

    fn check_decoded(&self, published: &Published<Value>, keys: Keys) -> Result<Outcome, String> {
        let bytes = from_hex(self.text("hex")?);
        let ours = self.strict.decode(self.slot, &bytes);
        if agrees(published, &ours, keys) {
            return Ok(Outcome::AsPublished);
        }
        let lenient = self.lenient.decode(self.slot, &bytes);
        if let Some(rule) = mended::decoded(&self.rules(), &bytes, published, &lenient) {
            return Ok(Outcome::Mended(rule));
        }
        if matches!(ours, Err(DecodeError::Read(_))) && agrees(published, &lenient, keys) {
            return Ok(Outcome::Mended(LENIENT_INPUT));
        }
        Err(format!("decoding: {ours:?}, lenient: {lenient:?}\n    instead of {published:?}"))
    }

    /// What decoding the bytes of the vector gave, and whether the order of keys is known.
    fn published(&self) -> (Published<Value>, Keys) {
        let error = &self.vector["decodeError"];
        if error.is_object() {
            let text = error["errMsg"].as_str().or(error["validateMessage"].as_str()).unwrap_or_default();
            let unvalidated = error.get("unvalidated").map(notation::read);
            return (Published::Refused { text: text.to_owned(), unvalidated }, Keys::SameOrder);
        }
        match self.vector.get("decoded") {
            Some(value) => (Published::Success(notation::read(value)), Keys::SameOrder),
            // A round trip gives the value back, but keys in the order of the wire.
            None => (Published::Success(notation::read(&self.vector["value"])), Keys::AnyOrder),
        }
    }
}

fn agrees(published: &Published<Value>, ours: &Result<Value, DecodeError>, keys: Keys) -> bool {
    match (published, ours) {
        (Published::Success(theirs), Ok(ours)) => notation::same(theirs, ours, keys),
        (Published::Refused { text, unvalidated }, Err(error)) => {
            let phase = if unvalidated.is_some() { "validate" } else { "decode" };
            error.to_string() == *text && error.phase().name() == phase
        }
        _ => false,
    }
}

fn check(vector: &Json) -> Result<Outcome, String> {
    let id = vector["schemaId"].as_str().unwrap_or_default();
    let program = Program::compile(&types(vector)?, &compile_options(vector));
    let option = |name: &str, default| vector["options"][name].as_bool().unwrap_or(default);
    let options = ValidateOptions {
        excess_property_checks: option("excessPropertyChecks", true),
        strict_null_checks: option("strictNullChecks", false),
    };
    let strict = TsBuffer::new(program, TsBufferOptions { checks: options, strictness: Strictness::Strict });
    let lenient = strict.with_options(TsBufferOptions { checks: options, strictness: Strictness::Lenient });
    let error = vector["error"].as_str().unwrap_or_default().to_owned();
    let slot = match strict.root(id) {
        Ok(slot) => slot,
        Err(unknown) if unknown.to_string() == error => return Ok(Outcome::AsPublished),
        Err(unknown) => return Err(unknown.to_string()),
    };
    let case = Case { vector, strict, lenient, slot, options };
    let (published, keys) = case.published();
    match vector["kind"].as_str() {
        Some("roundtrip") => {
            let encoded = case.check_encoded(&Published::Success(from_hex(case.text("hex")?)))?;
            let decoded = case.check_decoded(&published, keys)?;
            Ok(if encoded == Outcome::AsPublished { decoded } else { encoded })
        }
        Some("encode_error") if vector["threw"] == true => case.check_encoded(&Published::Threw(error)),
        Some("encode_error") => case.check_encoded(&Published::Refused { text: error, unvalidated: None }),
        Some("decode" | "decode_error") => case.check_decoded(&published, keys),
        kind => Err(format!("no such kind: {kind:?}")),
    }
}

#[test]
fn binary() {
    replay("tsbuffer-binary-vectors.json", check);
}
