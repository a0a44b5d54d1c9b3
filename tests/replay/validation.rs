//! `tsbuffer-validation-vectors.json`: what `validate` and `prune` say.

use polywire_schema::{Program, Slot, ValidateOptions, ValidationError, Value};
use polywire_tests::{
    notation,
    vectors::{self, Outcome, replay},
};
use serde_json::Value as Json;

use crate::mended;

/// A vector, and what we make of it.
pub(crate) struct Case {
    pub(crate) program: Program,
    pub(crate) slot: Slot,
    pub(crate) value: Value,
    pub(crate) options: ValidateOptions,
}

/// What the published package made of it.
#[derive(Debug)]
pub(crate) enum Published {
    /// Success; pruning has an output.
    Success(Option<Value>),
    Refused(String),
    Threw(String),
}

impl Case {
    fn read(vector: &Json) -> Result<Self, String> {
        let program = Program::compile(&vectors::types(vector)?, &vectors::compile_options(vector));
        let id = vector["schemaId"].as_str().unwrap_or_default();
        let slot = program.root(id).ok_or_else(|| format!("no schema `{id}`"))?;
        let option = |name: &str, default: bool| vector["options"][name].as_bool().unwrap_or(default);
        let options = ValidateOptions {
            excess_property_checks: option("excessPropertyChecks", true),
            strict_null_checks: option("strictNullChecks", false),
        };
        Ok(Self { program, slot, value: notation::read(&vector["value"]), options })
    }

    fn validate(&self) -> Result<Option<Value>, ValidationError> {
        self.program.validate(self.slot, &self.value, self.options).map(|()| None)
    }

    fn prune(&self) -> Result<Option<Value>, ValidationError> {
        self.program.prune(self.slot, &self.value, self.options).map(Some)
    }
}

impl Published {
    fn validate(vector: &Json) -> Self {
        match (vector["throws"].as_str(), vector["errMsg"].as_str()) {
            (Some(text), _) => Self::Threw(text.to_owned()),
            (None, Some(text)) => Self::Refused(text.to_owned()),
            (None, None) => Self::Success(None),
        }
    }

    fn prune(vector: &Json) -> Self {
        let vector = &vector["prune"];
        match Self::validate(vector) {
            Self::Success(_) => Self::Success(Some(vector.get("output").map_or(Value::Undefined, notation::read))),
            other => other,
        }
    }

    pub(crate) fn agrees(&self, ours: &Result<Option<Value>, ValidationError>) -> bool {
        match (self, ours) {
            (Self::Success(Some(published)), Ok(Some(ours))) => {
                notation::same(published, ours, notation::Keys::SameOrder)
            }
            (Self::Success(None), Ok(None)) => true,
            (Self::Refused(published), Err(ours)) => *published == ours.to_string(),
            _ => false,
        }
    }
}

fn compare(
    case: &Case,
    published: &Published,
    ours: &Result<Option<Value>, ValidationError>,
) -> Result<Outcome, String> {
    if published.agrees(ours) {
        return Ok(Outcome::AsPublished);
    }
    mended::validation::rule(case, published, ours).map(Outcome::Mended).ok_or_else(|| match ours {
        Ok(value) => format!("{value:?}\n    instead of {published:?}"),
        Err(error) => format!("{error}\n    instead of {published:?}"),
    })
}

fn check(vector: &Json) -> Result<Outcome, String> {
    let case = Case::read(vector)?;
    let validated = compare(&case, &Published::validate(vector), &case.validate());
    let pruned = compare(&case, &Published::prune(vector), &case.prune());
    match (validated, pruned) {
        (Err(validated), Err(pruned)) => Err(format!("validate: {validated}\n    prune: {pruned}")),
        (Err(why), _) => Err(format!("validate: {why}")),
        (_, Err(why)) => Err(format!("prune: {why}")),
        (Ok(Outcome::AsPublished), Ok(outcome)) | (Ok(outcome), Ok(_)) => Ok(outcome),
    }
}

#[test]
fn validation() {
    replay("tsbuffer-validation-vectors.json", check);
}
