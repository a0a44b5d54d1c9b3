//! Replays the vectors of both codecs through derived Rust types.
//!
//! A vector is about whatever Rust type describes its schema, found by comparing
//! structure, never by name; one whose schema or value no Rust type has is not
//! expressible, and counted as such. What a derived type must give is what the
//! dynamic path gives, which its own modules compare with the published packages.

mod law;
mod types;

use std::{cell::RefCell, sync::Arc};

use polywire_schema::{Program, Slot, Value};
use polywire_tests::{
    notation::{self, Keys, same, to_hex},
    vectors::{self, Outcome, compile_options, replay_all, say},
};
use polywire_tsbuffer::{
    DecodeError, EncodeError, TsBuffer, TsBufferOptions,
    binary::{BinaryReader, Strictness},
    typed::{Agreement, Codec, Depth, JsonReader, TypedCodec},
};
use serde_json::Value as Json;

/// A Rust type that vectors may be about.
struct Candidate {
    agreement: fn(&Program, Slot) -> Agreement,
    binary: fn(&Case<'_>) -> Result<Run, String>,
    json: fn(&Case<'_>) -> Result<Run, String>,
    law: fn() -> law::Taken,
}

impl Candidate {
    fn of<T: Codec>() -> Self {
        Self { agreement: Agreement::of::<T>, binary: binary::<T>, json: json::<T>, law: law::check::<T> }
    }
}

/// A vector with its types.
struct Case<'v> {
    vector: &'v Json,
    buffer: Arc<TsBuffer>,
    slot: Slot,
}

/// What became of a vector.
#[derive(Default)]
struct Run {
    /// The Rust type has the value, or refuses the input.
    expressible: bool,
    /// The specialised codec did it.
    fast: bool,
}

/// A run of something that the dynamic path gives too.
fn agree<D, E: ToString>(
    what: &str,
    dynamic: &Result<D, E>,
    derived: &Result<D, E>,
    same: impl Fn(&D, &D) -> bool,
    show: impl Fn(&D) -> String,
) -> Result<(), String> {
    let text = |result: &Result<D, E>| result.as_ref().map_or_else(ToString::to_string, &show);
    let agree = match (dynamic, derived) {
        (Ok(dynamic), Ok(derived)) => same(dynamic, derived),
        (Err(dynamic), Err(derived)) => dynamic.to_string() == derived.to_string(),
        _ => false,
    };
    if agree { Ok(()) } else { Err(format!("{what}: {} instead of {}", text(derived), text(dynamic))) }
}

/// The Rust value of a vector's value, if its dynamic form writes the same.
fn expressed<T: Codec, D: PartialEq>(
    case: &Case<'_>,
    encode: impl Fn(&Value) -> Result<D, EncodeError>,
) -> Option<(T, Result<D, EncodeError>)> {
    let value = notation::read(case.vector.get("value")?);
    let rust = T::from_value(value.clone()).ok()?;
    let (written, of_value) = (encode(&rust.to_value()), encode(&value));
    // An untagged enum holds one member of a union, a value may be several at once.
    (written == of_value).then_some((rust, written))
}

/// What a decoded value is in Rust.
fn decoded<T: Codec>(dynamic: Result<Value, DecodeError>) -> Result<Value, DecodeError> {
    let rust = dynamic.and_then(|value| T::from_value(value).map_err(|error| DecodeError::Mismatch(Box::new(error))));
    rust.map(|rust| rust.to_value())
}

fn is_mismatch(result: &Result<Value, DecodeError>) -> bool {
    matches!(result, Err(DecodeError::Mismatch(_)))
}

fn binary<T: Codec>(case: &Case<'_>) -> Result<Run, String> {
    let codec = TypedCodec::<T>::new(Arc::clone(&case.buffer), case.slot);
    let mut run = Run::default();
    if let Some((rust, dynamic)) = expressed::<T, _>(case, |value| case.buffer.encode(case.slot, value)) {
        let mut bytes = Vec::new();
        let derived = codec.encode_binary(&rust, &mut bytes).map(|()| bytes);
        agree("encode", &dynamic, &derived, PartialEq::eq, |bytes| to_hex(bytes))?;
        run = Run { expressible: true, fast: rust.encode_binary(&mut Vec::new(), Depth::ROOT).is_ok() };
    }
    if let Some(hex) = case.vector["hex"].as_str() {
        let bytes = notation::from_hex(hex);
        let dynamic = decoded::<T>(case.buffer.decode(case.slot, &bytes));
        let derived = codec.decode_binary(&bytes).map(|rust| rust.to_value());
        agree("decode", &dynamic, &derived, |a, b| same(a, b, Keys::SameOrder), |value| format!("{value:?}"))?;
        run.expressible |= !is_mismatch(&dynamic);
        run.fast |= T::decode_binary(&mut BinaryReader::new(&bytes)).is_ok();
    }
    Ok(run)
}

fn json<T: Codec>(case: &Case<'_>) -> Result<Run, String> {
    let codec = TypedCodec::<T>::new(Arc::clone(&case.buffer), case.slot);
    let mut run = Run::default();
    let encode = |value: &Value| {
        let mut text = Vec::new();
        case.buffer.encode_json_into(&mut text, case.slot, value).map(|_| text)
    };
    let show = |text: &Vec<u8>| String::from_utf8_lossy(text).into_owned();
    if let Some((rust, dynamic)) = expressed::<T, _>(case, encode) {
        let mut text = Vec::new();
        let derived = codec.encode_json(&rust, &mut text).map(|()| text);
        agree("encode", &dynamic, &derived, PartialEq::eq, show)?;
        run = Run { expressible: true, fast: rust.encode_json(&mut Vec::new(), Depth::ROOT).is_ok() };
    }
    if let Some(text) = case.vector["jsonText"].as_str()
        && case.vector.get("nondeterministic").is_none()
    {
        let parsed = Value::parse_json(text).map_err(|error| DecodeError::Json(Box::new(error)));
        let dynamic = decoded::<T>(parsed.and_then(|json| case.buffer.decode_json(case.slot, json)));
        let derived = codec.decode_json(text.as_bytes()).map(|rust| rust.to_value());
        agree("decode", &dynamic, &derived, |a, b| same(a, b, Keys::SameOrder), |value| format!("{value:?}"))?;
        run.expressible |= !is_mismatch(&dynamic);
        run.fast |= T::decode_json(&mut JsonReader::new(text)).is_ok();
    }
    Ok(run)
}

/// Replays a file through whatever candidate each of its vectors is about.
fn replay(file: &str, run: impl Fn(&Candidate, &Case<'_>) -> Result<Run, String>) {
    let Some(file_content) = vectors::load(file) else { return };
    let vectors = file_content.as_array().unwrap_or_else(|| panic!("{file} is no list of vectors"));
    let candidates = types::candidates();
    let counts = RefCell::new([0_usize; 3]);
    replay_all(&format!("{file}, derived"), vectors, |vector| {
        let types = vectors::types(vector)?;
        let schema_id = vector["schemaId"].as_str().unwrap_or_default();
        let strict_null_checks = vector["options"]["strictNullChecks"].as_bool().unwrap_or(false);
        let program = Arc::new(Program::compile(&types, &compile_options(vector)));
        let Some(slot) = program.root(schema_id) else { return Ok(Outcome::AsPublished) };
        let mut about = false;
        let mut best = Run::default();
        for candidate in candidates.iter().filter(|it| (it.agreement)(&program, slot) == Agreement::Full) {
            about = true;
            for strictness in [Strictness::Strict, Strictness::Lenient] {
                let mut options = TsBufferOptions { strictness, ..TsBufferOptions::default() };
                options.checks.strict_null_checks = strict_null_checks;
                let buffer = Arc::new(TsBuffer::new(Arc::clone(&program), options));
                let run = run(candidate, &Case { vector, buffer, slot })?;
                best = Run { expressible: best.expressible | run.expressible, fast: best.fast | run.fast };
            }
        }
        for (count, counted) in counts.borrow_mut().iter_mut().zip([about, best.expressible, best.fast]) {
            *count += usize::from(counted);
        }
        Ok(Outcome::AsPublished)
    });
    let [about, expressible, fast] = counts.into_inner();
    let total = vectors.len();
    say(&format!(
        "    {about} of {total} have a Rust type, {expressible} a Rust value too; \
         the specialised codec takes {fast}, the dynamic path the others"
    ));
}

#[test]
fn binary_vectors_through_derived_types() {
    replay("tsbuffer-binary-vectors.json", |candidate, case| (candidate.binary)(case));
}

#[test]
fn json_vectors_through_derived_types() {
    replay("tsbuffer-json-vectors.json", |candidate, case| (candidate.json)(case));
}
