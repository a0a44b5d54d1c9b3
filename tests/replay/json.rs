//! `tsbuffer-json-vectors.json`: what `encodeJSON` writes and `decodeJSON` makes of it.

use polywire_schema::{Program, ValidateOptions, Value};
use polywire_tests::{
    notation,
    vectors::{self, Outcome, replay},
};
use polywire_tsbuffer::{TsBuffer, TsBufferOptions};
use serde_json::Value as Json;

use crate::mended::json::{self as mended, Case, Read, Written};

fn published_text(vector: &Json) -> Written {
    let refusal = ["error", "stringifyError", "throws"].into_iter().find_map(|key| vector[key].as_str());
    match (refusal, vector["jsonText"].as_str()) {
        (Some(text), _) => Written::Refused(text.to_owned()),
        (None, Some(text)) => Written::Text(text.to_owned()),
        (None, None) => Written::Nothing,
    }
}

fn published_value(vector: &Json) -> Read {
    let decode = &vector["decode"];
    let text = |key: &str| decode[key].as_str().unwrap_or_default().to_owned();
    match (decode["throws"].as_str(), decode["isSucc"].as_bool()) {
        (Some(text), _) => Read::Threw(text.to_owned()),
        (None, Some(false)) => Read::Refused { phase: text("phase"), text: text("errMsg") },
        (None, _) if vector["nondeterministic"] == true => Read::Anything,
        (None, _) => Read::Value(decode.get("value").map_or(Value::Undefined, notation::read)),
    }
}

fn check_encode(case: &Case<'_>, value: &Value, vector: &Json) -> Result<Outcome, String> {
    let published = published_text(vector);
    let ours = Written::from(case.tsbuffer.encode_json(case.slot, value));
    if ours == published {
        return Ok(Outcome::AsPublished);
    }
    let rule = mended::encode_rule(case, value, &published, &ours);
    rule.map(Outcome::Mended).ok_or_else(|| format!("encoded: {ours:?}\n    instead of {published:?}"))
}

fn check_decode(case: &Case<'_>, vector: &Json) -> Result<Outcome, String> {
    let published = published_value(vector);
    let text = vector["jsonText"].as_str();
    let ours = case.decode(text);
    if published.agrees(&ours) {
        return Ok(Outcome::AsPublished);
    }
    let rule = mended::decode_rule(case, text, &published, &ours);
    rule.map(Outcome::Mended).ok_or_else(|| match ours {
        Ok(value) => format!("decoded: {value:?}\n    instead of {published:?}"),
        Err(error) => format!("decoded ({}): {error}\n    instead of {published:?}", error.phase().name()),
    })
}

fn check(vector: &Json) -> Result<Outcome, String> {
    let program = Program::compile(&vectors::types(vector)?, &vectors::compile_options(vector));
    let option = |name: &str, default: bool| vector["options"][name].as_bool().unwrap_or(default);
    let options = ValidateOptions {
        excess_property_checks: option("excessPropertyChecks", true),
        strict_null_checks: option("strictNullChecks", false),
    };
    let tsbuffer = TsBuffer::new(program, TsBufferOptions { checks: options, ..TsBufferOptions::default() });
    let slot = tsbuffer.root(vector["schemaId"].as_str().unwrap_or_default()).map_err(|error| error.to_string())?;
    let case = Case { tsbuffer: &tsbuffer, slot, options };
    let encoded = match vector.get("value") {
        Some(value) => check_encode(&case, &notation::read(value), vector)?,
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
