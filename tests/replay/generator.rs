//! Ids stay the same when a proto changes, and start from zero without an old one.
//!
//! What a generation gives without an old proto is taken from the vector's
//! `new`: the ids in it count for nothing.

use polywire_schema::{TypeSet, types_from_json, types_to_json};
use polywire_tests::{
    notation,
    vectors::{Outcome, load, replay_all},
};
use polywire_tsrpc::{IdReport, ServiceProto};
use serde_json::Value as Json;

fn types(json: &Json) -> Result<TypeSet, String> {
    types_from_json(&notation::read(json)).map_err(|error| error.to_string())
}

/// The types of a generation with the given old ones, and what was reported.
fn generate(fresh: TypeSet, old: Option<TypeSet>) -> (String, IdReport) {
    let proto = |types| ServiceProto { types, ..ServiceProto::default() };
    let mut new = proto(fresh);
    let report = new.assign_ids(old.map(proto).as_ref());
    (notation::write(&types_to_json(&new.types)).to_string(), report)
}

fn check(fresh: &Json, old: Option<&Json>, can_optimize: bool) -> Result<Outcome, String> {
    let (found, report) = generate(types(fresh)?, old.map(types).transpose()?);
    let expected = fresh.to_string();
    if found != expected {
        return Err(format!("{found}\n    instead of {expected}"));
    }
    if report.redundant.is_empty() == can_optimize {
        return Err(format!("reported as redundant: {:?}, expected: {can_optimize}", report.redundant));
    }
    Ok(Outcome::AsPublished)
}

#[test]
fn ids_against_an_old_proto() {
    let Some(file) = load("tsrpc-generator-vectors.json") else { return };
    let vectors = file["compatible"].as_array().cloned().unwrap_or_default();
    replay_all("generator compatible, ids", &vectors, |vector| {
        let can_optimize = vector["canOptimize"].as_bool().unwrap_or(false);
        check(&vector["new"], Some(&vector["old"]).filter(|old| old.is_object()), can_optimize)
    });
}

#[test]
fn ids_of_a_first_generation() {
    let Some(file) = load("tsrpc-generator-vectors.json") else { return };
    let vectors = file["syntax"].as_array().cloned().unwrap_or_default();
    let with_types: Vec<Json> = vectors.into_iter().filter(|vector| vector["types"].is_object()).collect();
    replay_all("generator syntax, ids", &with_types, |vector| check(&vector["types"], None, false));
}
