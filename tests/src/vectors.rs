//! The vector files: the folder that `POLYWIRE_VECTORS` names, else the project's own.

use std::{env, fs, path::PathBuf};

use serde_json::Value as Json;

/// The folder of the vector files.
#[must_use]
pub fn folder() -> PathBuf {
    let own = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors");
    env::var_os("POLYWIRE_VECTORS").map_or_else(own, PathBuf::from)
}

/// The parsed content of one vector file.
///
/// # Panics
/// Where the file is missing or is not JSON; the message names it.
#[must_use]
pub fn load(file: &str) -> Json {
    let path = folder().join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
