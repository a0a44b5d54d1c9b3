//! The types in every vector file survive reading and writing, key order included.

use polywire_schema::{types_from_json, types_to_json};
use polywire_tests::{
    notation,
    vectors::{Outcome, load, replay, replay_all},
};
use serde_json::{Value as Json, json};

fn check(proto: &Json) -> Result<Outcome, String> {
    let types = types_from_json(&notation::read(proto)).map_err(|error| error.to_string())?;
    let (published, ours) = (with_ids(proto).to_string(), notation::write(&types_to_json(&types)).to_string());
    if ours == published { Ok(Outcome::AsPublished) } else { Err(format!("{ours}\n    instead of {published}")) }
}

/// Some hand-written protos leave the ids of properties out: their positions are meant.
fn with_ids(json: &Json) -> Json {
    match json {
        Json::Array(elements) => elements.iter().map(with_ids).collect(),
        Json::Object(object) => {
            let mut object: serde_json::Map<String, Json> =
                object.iter().map(|(key, value)| (key.clone(), with_ids(value))).collect();
            if let Some(properties) = object.get_mut("properties").and_then(Json::as_array_mut) {
                for (at, property) in properties.iter_mut().enumerate() {
                    let Some(property) = property.as_object_mut() else { continue };
                    if !property.contains_key("id") {
                        property.shift_insert(0, "id".to_owned(), json!(at));
                    }
                }
            }
            Json::Object(object)
        }
        other => other.clone(),
    }
}

#[test]
fn protos_of_the_tsbuffer_vectors() {
    for file in ["tsbuffer-binary-vectors.json", "tsbuffer-json-vectors.json", "tsbuffer-validation-vectors.json"] {
        replay(file, |vector| check(&vector["proto"]));
    }
}

#[test]
fn protos_of_the_generator_vectors() {
    let file = load("tsrpc-generator-vectors.json");
    let all = |kind: &str| file[kind].as_array().cloned().unwrap_or_default();
    replay_all("generator syntax", &all("syntax"), |vector| match vector.get("types") {
        Some(types) => check(types),
        None => Ok(Outcome::AsPublished),
    });
    replay_all("generator compatible", &all("compatible"), |vector| {
        check(&vector["old"])?;
        check(&vector["new"])
    });
}
