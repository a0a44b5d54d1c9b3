//! `tsbuffer-validation-vectors.json`: what `validate` and `prune` say.

use polywire_schema::{Program, ValidateOptions, ValidationError, Value};
use polywire_tests::{
    notation,
    vectors::{self, Outcome, replay},
};
use serde_json::Value as Json;

use crate::mended::{
    self,
    validation::{Case, Published},
};

fn read(vector: &Json) -> Result<Case, String> {
    let program = Program::compile(&vectors::types(vector)?, &vectors::compile_options(vector));
    let id = vector["schemaId"].as_str().unwrap_or_default();
    let slot = program.root(id).ok_or_else(|| format!("no schema `{id}`"))?;
    let option = |name: &str, default: bool| vector["options"][name].as_bool().unwrap_or(default);
    let options = ValidateOptions {
        excess_property_checks: option("excessPropertyChecks", true),
        strict_null_checks: option("strictNullChecks", false),
    };
    Ok(Case { program: program.into(), slot, value: notation::read(&vector["value"]), options })
}

fn verdict(vector: &Json) -> Published {
    match (vector["throws"].as_str(), vector["errMsg"].as_str()) {
        (Some(text), _) => Published::Threw(text.to_owned()),
        (None, Some(text)) => Published::Refused(text.to_owned()),
        (None, None) => Published::Success(None),
    }
}

fn pruned(vector: &Json) -> Published {
    let vector = &vector["prune"];
    match verdict(vector) {
        Published::Success(_) => {
            Published::Success(Some(vector.get("output").map_or(Value::Undefined, notation::read)))
        }
        other => other,
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
    let case = read(vector)?;
    let ours = case.program.validate(case.slot, &case.value, case.options).map(|()| None);
    let validated = compare(&case, &verdict(vector), &ours);
    let ours = case.program.prune(case.slot, &case.value, case.options).map(Some);
    let pruned = compare(&case, &pruned(vector), &ours);
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
