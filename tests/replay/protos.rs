//! The types in every vector file are read, and survive being written: those
//! that the published generator wrote with the same keys in the same order.

use polywire_schema::{TypeSet, types_from_json, types_to_json};
use polywire_tests::{
    notation,
    vectors::{Outcome, load, replay, replay_all},
};
use serde_json::Value as Json;

/// Reads a proto, which may be hand-written: keys in any order, ids left out.
fn read(proto: &Json) -> Result<TypeSet, String> {
    let types = types_from_json(&notation::read(proto)).map_err(|error| error.to_string())?;
    match types_from_json(&types_to_json(&types)) {
        Ok(back) if back == types => Ok(types),
        Ok(back) => Err(format!("{types:?} became {back:?}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads a proto of the published generator and writes it as that does.
fn rewrite(proto: &Json) -> Result<(), String> {
    let (published, ours) = (proto.to_string(), notation::write(&types_to_json(&read(proto)?)).to_string());
    if ours == published { Ok(()) } else { Err(format!("{ours}\n    instead of {published}")) }
}

#[test]
fn protos_of_the_tsbuffer_vectors() {
    for file in ["tsbuffer-binary-vectors.json", "tsbuffer-json-vectors.json", "tsbuffer-validation-vectors.json"] {
        replay(file, |vector| read(&vector["proto"]).map(|_| Outcome::AsPublished));
    }
}

#[test]
fn protos_of_the_generator_vectors() {
    let Some(file) = load("tsrpc-generator-vectors.json") else { return };
    let all = |kind: &str| file[kind].as_array().cloned().unwrap_or_default();
    replay_all("generator syntax", &all("syntax"), |vector| {
        vector.get("types").map_or(Ok(()), rewrite).map(|()| Outcome::AsPublished)
    });
    replay_all("generator compatible", &all("compatible"), |vector| {
        read(&vector["old"])?;
        rewrite(&vector["new"]).map(|()| Outcome::AsPublished)
    });
}
