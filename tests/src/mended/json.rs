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
        (Written::Text(published), Written::Text(ours)) => written_by_overwrite(case, value, ours)
            .or_else(|| constructor_written(case, value, ours))
            .or_else(|| custom_in_union(case, value, published, ours))
            .or_else(|| pruned_text(case, published, ours))
            .or_else(|| inherited_names(case, ours))
            .or_else(|| pruned(case, value, published, ours))
            .or_else(|| (is_mixed(case) && says(case, value, ours)).then_some(PRUNED)),
        (Written::Refused(published), Written::Text(ours)) if published.starts_with("Cannot read properties") => {
            buffer_in_union(case, ours)
        }
        (Written::Refused(published), Written::Refused(ours)) if published == ours => Some(BROKEN),
        (Written::Refused(published), Written::Text(_)) if is_broken(case, published) => Some(BROKEN),
        _ => {
            let checked = case.tsbuffer.prune(case.slot, value).map(Some);
            let published = match published {
                Written::Refused(text) if text.starts_with("Cannot read properties") => Published::Threw(text.clone()),
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
        .or_else(|| fresh_ids(text, published, ours))
        .or_else(|| proto_key(case, text, ours))
        .or_else(|| constructor_read(text, published, ours))
        .or_else(|| inherited_value(case, text, published, ours))
        .or_else(|| members_of_their_own(case, text, published, ours))
        .or_else(|| checked(case, text, published, ours))
        .or_else(|| pruned_value(case, text, published, ours))
}

/// "encodeJSON of Overwrite: target's types → overwrite's types".
fn written_by_overwrite(case: &Case<'_>, value: &Value, ours: &str) -> Option<&'static str> {
    let overwrites =
        |node: &Node| matches!(node, Node::Mapped(mapped) if matches!(mapped.mapping, Mapping::Overwrite(_)));
    let applies = case.tsbuffer.program().nodes().iter().any(overwrites) && says(case, value, ours);
    applies.then_some("Overwrite is encoded by the overwriting types")
}

/// Known bug C14: "a field called `constructor`" keeps the whole object from being converted.
fn constructor_written(case: &Case<'_>, value: &Value, ours: &str) -> Option<&'static str> {
    (contains_key(value, "constructor") && says(case, value, ours))
        .then_some("an object with a key `constructor` is converted like others")
}

/// "property names on Object.prototype: dropped": a member of a union that declares one matches.
fn inherited_names(case: &Case<'_>, ours: &str) -> Option<&'static str> {
    let declares = case.tsbuffer.program().nodes().iter().any(validation::declares_inherited);
    (declares && comes_back(case, ours)).then_some("names of Object.prototype are names like others")
}

/// The other way round: what a value inherits from Object.prototype is not its own.
fn inherited_value(
    case: &Case<'_>,
    text: Option<&str>,
    published: &Read,
    ours: &Result<Value, DecodeError>,
) -> Option<&'static str> {
    let declares = case.tsbuffer.program().nodes().iter().any(validation::declares_inherited);
    let is_function = matches!(published, Read::Threw(text) if text == "No notation for a function");
    let json = Value::parse_json(text?).ok()?;
    let is_sound = match ours {
        Ok(ours) => is_read_from(ours, &json),
        Err(error) => error.phase() == Phase::Validate,
    };
    (declares && is_function && is_sound).then_some("names of Object.prototype are names like others")
}

fn constructor_read(text: Option<&str>, published: &Read, ours: &Result<Value, DecodeError>) -> Option<&'static str> {
    let json = Value::parse_json(text?).ok()?;
    let left_unconverted = match published {
        Read::Refused { text, .. } => {
            let classes = BufferKind::ALL.iter().map(|kind| kind.name()).chain(["Date", "ObjectId"]);
            let left = |class: &str| [" `{}`, actually", " of `{}`, actually"].map(|words| words.replace("{}", class));
            // Where both refuse, they have come by different properties.
            ours.is_err() || { classes }.any(|class| left(class).iter().any(|words| text.contains(words)))
        }
        _ => false,
    };
    let is_sound = match ours {
        Ok(ours) => is_read_from(ours, &json),
        Err(error) => error.phase() == Phase::Validate,
    };
    let applies =
        contains_key(&json, "constructor") && is_sound && (left_unconverted || matches!(published, Read::Value(_)));
    applies.then_some("an object with a key `constructor` is converted like others")
}

/// "JSON unions: sequential conversion": an application's type makes a text of whatever
/// object stands in the same union.
fn custom_in_union(case: &Case<'_>, value: &Value, published: &str, ours: &str) -> Option<&'static str> {
    (has_converting_members(case) && says(case, value, ours) && !says(case, value, published))
        .then_some("a member of a union converts only what is of it")
}

/// Whether a text says what is of its type in a value.
fn says(case: &Case<'_>, value: &Value, text: &str) -> bool {
    match (case.tsbuffer.prune(case.slot, value), Value::parse_json(text)) {
        (Ok(value), Ok(json)) => is_read_from(&value, &json),
        _ => false,
    }
}

/// The same: an index signature takes away what the declared property keeps.
fn pruned_value(
    case: &Case<'_>,
    text: Option<&str>,
    published: &Read,
    ours: &Result<Value, DecodeError>,
) -> Option<&'static str> {
    let json = Value::parse_json(text?).ok()?;
    let is_sound = ours.as_ref().is_ok_and(|ours| is_read_from(ours, &json));
    (is_mixed(case) && is_sound && matches!(published, Read::Value(_))).then_some(PRUNED)
}

const PRUNED: &str = "prune reaches arrays in unions and declared properties beside index signatures";

/// Whether an object type has both declared properties and an index signature.
fn is_mixed(case: &Case<'_>) -> bool {
    let program = case.tsbuffer.program();
    let mut flats = program.ids().filter_map(|id| program.flat(id));
    flats.any(|flat| flat.index.is_some() && !flat.properties.is_empty())
}

/// What pruning does otherwise.
fn pruned(case: &Case<'_>, value: &Value, published: &str, ours: &str) -> Option<&'static str> {
    let published = Published::Success(Some(Value::parse_json(published).ok()?));
    validation::rule(&check(case, value), &published, &Ok(Some(Value::parse_json(ours).ok()?)))
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
    match ours {
        // An element of it may be refused first.
        Err(DecodeError::ExcessElements(_)) if phase == "decode" => {
            Some("a tuple longer than its type is refused in words")
        }
        _ if phase != "decode" || !published.starts_with("Cannot read properties of undefined") => None,
        ours if text.is_none() && ours.as_ref().err().is_none_or(|error| error.phase() == Phase::Validate) => {
            Some("where there is no JSON at all, that is checked like any value")
        }
        _ => None,
    }
}

/// An id made of a number is a fresh one, different each time.
fn fresh_ids(text: Option<&str>, published: &Read, ours: &Result<Value, DecodeError>) -> Option<&'static str> {
    let (Read::Value(published), Ok(ours)) = (published, ours) else { return None };
    let json = Value::parse_json(text?).ok()?;
    (has_fresh_ids(ours, &json) && same(&without_ids(published), &without_ids(ours), Keys::SameOrder))
        .then_some("an id made of a number is a fresh one")
}

fn has_fresh_ids(value: &Value, json: &Value) -> bool {
    match (value, json) {
        (Value::ObjectId(_), Value::Number(_)) => true,
        (Value::Array(value), Value::Array(json)) => {
            value.iter().zip(json).any(|(value, json)| has_fresh_ids(value, json))
        }
        (Value::Object(value), Value::Object(json)) => {
            value.iter().any(|(key, value)| json.get(key).is_some_and(|json| has_fresh_ids(value, json)))
        }
        _ => false,
    }
}

fn without_ids(value: &Value) -> Value {
    match value {
        Value::ObjectId(_) => Value::ObjectId([0; 12]),
        Value::Array(elements) => Value::Array(elements.iter().map(without_ids).collect()),
        Value::Object(object) => Value::Object(object.iter().map(|(key, value)| (key, without_ids(value))).collect()),
        other => other.clone(),
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
        (Read::Value(published), Ok(ours)) => is_left_alone(&json, published, ours) || is_read_from(ours, &json),
        (Read::Refused { .. }, Ok(ours)) => is_read_from(ours, &json),
        // The text is about what a conversion left of the value.
        (Read::Refused { .. }, Err(_)) => true,
        // A text that became a date or bytes, which are valid where the text is not.
        (Read::Value(_), Err(error)) => error.phase() == Phase::Validate,
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
        (value, json) if value.is_nullish() && json.is_nullish() => true,
        (Value::Number(value) | Value::Date(value), Value::Null) => !value.is_finite(),
        (Value::Number(value), Value::Number(json)) => value == json,
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
        // Within `any`, elements stay elements.
        (Value::Buffer(..), Value::Object(_)) => true,
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
