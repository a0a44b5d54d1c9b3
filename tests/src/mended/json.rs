//! What `encodeJSON` and `decodeJSON` do other than the published package.

use std::sync::Arc;

use polywire_schema::{BufferKind, Mapping, Node, Slot, ValidateOptions, Value, parse_date, time_clip};
use polywire_tsbuffer::{DecodeError, EncodeError, Phase, TsBuffer, json::decode_base64};

use super::validation::{self, Published};
use crate::notation::{Keys, same};

/// A type and the codec under test.
#[derive(Debug)]
pub struct Case<'a> {
    /// The codec.
    pub tsbuffer: &'a TsBuffer,
    /// The type.
    pub slot: Slot,
    /// How values are checked.
    pub options: ValidateOptions,
}

impl Case<'_> {
    /// What we make of a JSON text; of none: of nothing at all.
    ///
    /// # Errors
    /// Where we refuse it.
    pub fn decode(&self, text: Option<&str>) -> Result<Value, DecodeError> {
        let json = match text {
            Some(text) => Value::parse_json(text).map_err(|error| DecodeError::Json(Box::new(error)))?,
            None => Value::Undefined,
        };
        self.tsbuffer.decode_json(self.slot, json)
    }
}

/// What was written, or said against writing it.
#[derive(Debug, PartialEq)]
pub enum Written {
    /// A text.
    Text(String),
    /// `undefined`: no text.
    Nothing,
    /// A refusal with its text.
    Refused(String),
}

impl From<Result<Option<String>, EncodeError>> for Written {
    fn from(written: Result<Option<String>, EncodeError>) -> Self {
        match written {
            Ok(Some(text)) => Self::Text(text),
            Ok(None) => Self::Nothing,
            Err(error) => Self::Refused(error.to_string()),
        }
    }
}

/// What the published package read, or said against it.
#[derive(Debug)]
pub enum Read {
    /// A value.
    Value(Value),
    /// Something, of which it made up a part.
    Anything,
    /// A refusal.
    Refused {
        /// At which step.
        phase: String,
        /// With which text.
        text: String,
    },
    /// An exception with its text.
    Threw(String),
}

impl Read {
    /// Whether ours is the same, the order of keys included.
    #[must_use]
    pub fn agrees(&self, ours: &Result<Value, DecodeError>) -> bool {
        match (self, ours) {
            (Self::Value(published), Ok(ours)) => same(published, ours, Keys::SameOrder),
            (Self::Anything, Ok(_)) => true,
            (Self::Refused { phase, text }, Err(ours)) => *phase == ours.phase().name() && *text == ours.to_string(),
            _ => false,
        }
    }
}

/// The rule that admits what we write.
#[must_use]
pub fn encode_rule(case: &Case<'_>, value: &Value, published: &Written, ours: &Written) -> Option<&'static str> {
    match (published, ours) {
        (Written::Text(published), Written::Text(ours)) => written_by_overwrite(case, ours)
            .or_else(|| constructor_written(case, value, ours))
            .or_else(|| custom_in_union(case, published, ours))
            .or_else(|| pruned_text(case, published, ours)),
        (Written::Refused(published), Written::Text(ours)) if published.starts_with("Cannot read properties") => {
            buffer_in_union(case, ours)
        }
        (Written::Refused(published), Written::Text(_)) if is_broken(case, published) => Some(BROKEN),
        _ => {
            let checked = case.tsbuffer.prune(case.slot, value).map(Some);
            let published = match published {
                Written::Refused(text) => Published::Refused(text.clone()),
                _ => Published::Success(None),
            };
            validation::rule(&check(case, value), &published, &checked)
        }
    }
}

/// The rule that admits what we read.
#[must_use]
pub fn decode_rule(
    case: &Case<'_>,
    text: Option<&str>,
    published: &Read,
    ours: &Result<Value, DecodeError>,
) -> Option<&'static str> {
    engine_text(text, published, ours)
        .or_else(|| broken_type(case, published))
        .or_else(|| proto_key(case, text, ours))
        .or_else(|| constructor_read(text, published, ours))
        .or_else(|| members_of_their_own(case, text, published, ours))
        .or_else(|| checked(case, text, published, ours))
}

/// "encodeJSON of Overwrite: target's types → overwrite's types".
fn written_by_overwrite(case: &Case<'_>, ours: &str) -> Option<&'static str> {
    let overwrites =
        |node: &Node| matches!(node, Node::Mapped(mapped) if matches!(mapped.mapping, Mapping::Overwrite(_)));
    let applies = case.tsbuffer.program().nodes().iter().any(overwrites) && comes_back(case, ours);
    applies.then_some("Overwrite is encoded by the overwriting types")
}

/// Known bug C14: "a field called `constructor`" keeps the whole object from being converted.
fn constructor_written(case: &Case<'_>, value: &Value, ours: &str) -> Option<&'static str> {
    (contains_key(value, "constructor") && comes_back(case, ours))
        .then_some("an object with a key `constructor` is converted like others")
}

fn constructor_read(text: Option<&str>, published: &Read, ours: &Result<Value, DecodeError>) -> Option<&'static str> {
    let json = Value::parse_json(text?).ok()?;
    let left_unconverted = match published {
        Read::Refused { text, .. } => {
            let classes = BufferKind::ALL.iter().map(|kind| kind.name()).chain(["Date", "ObjectId"]);
            ours.is_ok() && { classes }.any(|class| text.contains(&format!(" `{class}`, actually")))
        }
        _ => false,
    };
    let is_sound = ours.as_ref().is_ok_and(|ours| is_read_from(ours, &json));
    let applies =
        contains_key(&json, "constructor") && is_sound && (left_unconverted || matches!(published, Read::Value(_)));
    applies.then_some("an object with a key `constructor` is converted like others")
}

/// "JSON unions: sequential conversion": an application's type makes a text of whatever
/// object stands in the same union.
fn custom_in_union(case: &Case<'_>, published: &str, ours: &str) -> Option<&'static str> {
    (published.contains("[object Object]") && has_converting_members(case) && comes_back(case, ours))
        .then_some("a member of a union converts only what is of it")
}

/// The same for bytes: an `ArrayBuffer` is asked for what only typed arrays have.
fn buffer_in_union(case: &Case<'_>, ours: &str) -> Option<&'static str> {
    (has_converting_members(case) && comes_back(case, ours))
        .then_some("a member of a union converts only what is of it")
}

/// "prune holes (arrays in unions; index signatures): secrets survive → prune properly": what
/// is missing in our text is what nobody reads from theirs.
fn pruned_text(case: &Case<'_>, published: &str, ours: &str) -> Option<&'static str> {
    let (published_json, ours_json) = (Value::parse_json(published).ok()?, Value::parse_json(ours).ok()?);
    let reads_the_same = match (case.decode(Some(published)), case.decode(Some(ours))) {
        (Ok(published), Ok(ours)) => same(&published, &ours, Keys::AnyOrder),
        // A date without a time is written as null by both, and refused.
        (Err(_), Err(_)) => true,
        _ => false,
    };
    (reads_the_same && is_part_of(&ours_json, &published_json))
        .then_some("prune reaches arrays in unions and declared properties beside index signatures")
}

/// Texts of the JavaScript engine become texts about the value.
fn engine_text(text: Option<&str>, published: &Read, ours: &Result<Value, DecodeError>) -> Option<&'static str> {
    let Read::Refused { phase, text: published } = published else { return None };
    if phase != "decode" || !published.starts_with("Cannot read properties of undefined") {
        return None;
    }
    match ours {
        Err(DecodeError::ExcessElements(_)) => Some("a tuple longer than its type is refused in words"),
        ours if text.is_none() && ours.as_ref().err().is_none_or(|error| error.phase() == Phase::Validate) => {
            Some("where there is no JSON at all, that is checked like any value")
        }
        _ => None,
    }
}

/// "missing reference: throws → return an error", and only where a value reaches it.
fn broken_type(case: &Case<'_>, published: &Read) -> Option<&'static str> {
    let (Read::Threw(text) | Read::Refused { text, .. }) = published else { return None };
    is_broken(case, text).then_some(BROKEN)
}

const BROKEN: &str = "a broken type is an error where a value reaches it, not an exception wherever it stands";

fn is_broken(case: &Case<'_>, text: &str) -> bool {
    case.tsbuffer.program().nodes().iter().any(|node| matches!(node, Node::Invalid(error) if error.to_string() == text))
}

/// "`__proto__`: keep dropping", but as a key of its own: the published package makes it the
/// prototype of the copy, whose properties then count as properties of the value.
fn proto_key(case: &Case<'_>, text: Option<&str>, ours: &Result<Value, DecodeError>) -> Option<&'static str> {
    let json = Value::parse_json(text?).ok()?;
    let without = case.tsbuffer.decode_json(case.slot, without_key(&json, "__proto__"));
    let is_dropped = match (&without, ours) {
        (Ok(without), Ok(ours)) => same(without, ours, Keys::SameOrder),
        (Err(without), Err(ours)) => without.to_string() == ours.to_string(),
        _ => false,
    };
    (contains_key(&json, "__proto__") && is_dropped).then_some("a key `__proto__` is a key, and is dropped")
}

/// "JSON unions: sequential conversion → try members one by one".
///
/// Where both read something, they differ only where we left alone what the published
/// package converted by a member that the value is not of. Where only we read something, it
/// is no more than what the JSON says. Where both refuse, they differ in what conversions
/// left of the value, or in which member was asked first.
fn members_of_their_own(
    case: &Case<'_>,
    text: Option<&str>,
    published: &Read,
    ours: &Result<Value, DecodeError>,
) -> Option<&'static str> {
    if !has_converting_members(case) {
        return None;
    }
    let json = Value::parse_json(text?).ok()?;
    let applies = match (published, ours) {
        (Read::Value(published), Ok(ours)) => is_left_alone(&json, published, ours),
        (Read::Refused { .. }, Ok(ours)) => is_read_from(ours, &json),
        (Read::Refused { phase, text }, Err(error)) => {
            phase == "decode" || without_values(text) == without_values(&error.to_string())
        }
        _ => false,
    };
    applies.then_some("a member of a union converts only what is of it")
}

/// Whether our value is the published one but for parts that are still the JSON.
fn is_left_alone(json: &Value, published: &Value, ours: &Value) -> bool {
    match (json, published, ours) {
        (Value::Object(json), Value::Object(published), Value::Object(ours)) => {
            let part = |key: &str| json.get(key).unwrap_or(&Value::Undefined);
            ours.keys().eq(published.keys())
                && ours
                    .iter()
                    .zip(published.iter())
                    .all(|((key, ours), (_, published))| is_left_alone(part(key), published, ours))
        }
        (Value::Array(json), Value::Array(published), Value::Array(ours)) if ours.len() == published.len() => {
            let part = |at: usize| json.get(at).unwrap_or(&Value::Undefined);
            (0..ours.len()).all(|at| is_left_alone(part(at), &published[at], &ours[at]))
        }
        (json, published, ours) => same(published, ours, Keys::SameOrder) || is_part_of(ours, json),
    }
}

/// Whether a value says no more than the JSON that it was read from.
fn is_read_from(value: &Value, json: &Value) -> bool {
    match (value, json) {
        (Value::Object(value), Value::Object(json)) => value.iter().all(|(key, value)| match json.get(key) {
            Some(json) => is_read_from(value, json),
            None => value.is_nullish(),
        }),
        (Value::Array(value), Value::Array(json)) => value
            .iter()
            .enumerate()
            .all(|(at, value)| json.get(at).map_or(value.is_nullish(), |json| is_read_from(value, json))),
        (Value::Date(ms), Value::String(text)) => {
            same(&Value::Date(*ms), &Value::Date(parse_date(&text.to_string_lossy())), Keys::SameOrder)
        }
        (Value::Date(ms), Value::Number(number)) => {
            same(&Value::Date(*ms), &Value::Date(time_clip(*number)), Keys::SameOrder)
        }
        (Value::Buffer(_, bytes), Value::String(text)) => decode_base64(&text.to_string_lossy()).starts_with(bytes),
        (Value::ObjectId(_), Value::String(_) | Value::Number(_) | Value::Object(_)) => true,
        (value, json) => is_part_of(value, json),
    }
}

/// What checks and pruning do otherwise.
fn checked(
    case: &Case<'_>,
    text: Option<&str>,
    published: &Read,
    ours: &Result<Value, DecodeError>,
) -> Option<&'static str> {
    let json = text.map_or(Some(Value::Undefined), |text| Value::parse_json(text).ok())?;
    let published = match published {
        Read::Value(value) => Published::Success(Some(value.clone())),
        Read::Refused { phase, text } if phase == "validate" => Published::Refused(text.clone()),
        _ => return None,
    };
    let ours = match ours {
        Ok(value) => Ok(Some(value.clone())),
        Err(DecodeError::Invalid(error)) => Err((**error).clone()),
        Err(_) => return None,
    };
    validation::rule(&check(case, &json), &published, &ours)
}

fn check(case: &Case<'_>, value: &Value) -> validation::Case {
    let program = Arc::clone(case.tsbuffer.program());
    validation::Case { program, slot: case.slot, value: value.clone(), options: case.options }
}

/// Whether a union or intersection has something to convert in it.
fn has_converting_members(case: &Case<'_>) -> bool {
    let nodes = case.tsbuffer.program().nodes();
    nodes.iter().any(|node| matches!(node, Node::Union(_) | Node::Intersection(_)))
        && nodes.iter().any(|node| matches!(node, Node::Date | Node::Buffer(_) | Node::Custom(_)))
}

/// Whether our own text is read to a value that is written as that text.
fn comes_back(case: &Case<'_>, text: &str) -> bool {
    let read = case.decode(Some(text)).ok();
    let again = read.and_then(|value| case.tsbuffer.encode_json(case.slot, &value).ok()).flatten();
    again.as_deref() == Some(text)
}

/// Whether two JSON values differ only in properties (or elements at the end) that the part
/// lacks, and in nulls.
fn is_part_of(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().all(|(key, part)| match whole.get(key) {
            Some(whole) => is_part_of(part, whole),
            None => part.is_nullish(),
        }),
        (Value::Array(part), Value::Array(whole)) => part
            .iter()
            .enumerate()
            .all(|(at, part)| whole.get(at).map_or(part.is_nullish(), |whole| is_part_of(part, whole))),
        (part, whole) => same(part, whole, Keys::SameOrder),
    }
}

/// A text without the values that it prints.
fn without_values(text: &str) -> String {
    text.lines().map(|line| line.split("actually `").next().unwrap_or_default()).collect()
}

fn contains_key(value: &Value, wanted: &str) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(|value| contains_key(value, wanted)),
        Value::Object(object) => object.iter().any(|(key, value)| key == wanted || contains_key(value, wanted)),
        _ => false,
    }
}

fn without_key(value: &Value, unwanted: &str) -> Value {
    match value {
        Value::Array(elements) => Value::Array(elements.iter().map(|value| without_key(value, unwanted)).collect()),
        Value::Object(object) => {
            let kept = object.iter().filter(|(key, _)| *key != unwanted);
            Value::Object(kept.map(|(key, value)| (key, without_key(value, unwanted))).collect())
        }
        other => other.clone(),
    }
}
