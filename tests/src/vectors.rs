//! The vector files: the folder that `POLYWIRE_VECTORS` names, else the project's
//! own; and replaying one so that every failure is seen.
//!
//! Knows the common form of the files (reference §16), not what is in them, and
//! assumes nothing about how many vectors there are or what they are called.

use std::{
    any::Any,
    collections::BTreeMap,
    env, fs,
    io::{self, Write as _},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
};

use polywire_schema::{CompileOptions, ObjectIdClass, TypeSet, types_from_json};
use serde_json::Value as Json;

use crate::notation;

/// The folder of the vector files. A relative path is seen from the root of the
/// repository, where the test command is given.
#[must_use]
pub fn folder() -> PathBuf {
    match env::var_os("POLYWIRE_VECTORS") {
        Some(folder) => crate::node::root().join(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors"),
    }
}

/// The parsed content of one of the project's own vector files, whatever `POLYWIRE_VECTORS` says.
///
/// # Panics
/// Where the file is missing or is not JSON; the message names it.
#[must_use]
pub fn load_own(file: &str) -> Json {
    read(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors").join(file))
}

/// The parsed content of one vector file. Nothing, which is said, where a folder of the
/// caller's choice does not hold it.
///
/// # Panics
/// Where the file is not JSON, or is missing among the project's own; the message names it.
#[must_use]
pub fn load(file: &str) -> Option<Json> {
    let path = folder().join(file);
    if env::var_os("POLYWIRE_VECTORS").is_some() && !path.exists() {
        say(&format!("{file}: not in {}, skipped", folder().display()));
        return None;
    }
    Some(read(&path))
}

fn read(path: &Path) -> Json {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// How a vector that passed came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// As the published packages have it.
    AsPublished,
    /// As this rule of reference §15 has it instead.
    Mended(&'static str),
}

/// Checks every vector of a file and prints how many passed.
///
/// A file that a folder of the caller's choice does not hold is said to be skipped.
///
/// # Panics
/// At the end, naming every vector that failed and why.
pub fn replay(file: &str, check: impl Fn(&Json) -> Result<Outcome, String>) {
    let Some(vectors) = load(file) else { return };
    let vectors = vectors.as_array().unwrap_or_else(|| panic!("{file} is no list of vectors"));
    replay_all(file, vectors, check);
}

/// As [`replay`], over vectors that were taken out of a file.
///
/// # Panics
/// At the end, naming every vector that failed and why.
pub fn replay_all(title: &str, vectors: &[Json], check: impl Fn(&Json) -> Result<Outcome, String>) {
    let mut mended: BTreeMap<&str, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for vector in vectors {
        // A vector that panics fails by its name, like the others.
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| check(vector)));
        match outcome.unwrap_or_else(|panic| Err(format!("panicked: {}", panic_text(&*panic)))) {
            Ok(Outcome::AsPublished) => {}
            Ok(Outcome::Mended(rule)) => *mended.entry(rule).or_default() += 1,
            Err(why) => failures.push(format!("{}\n    {why}", name(vector))),
        }
    }
    let (total, failed) = (vectors.len(), failures.len());
    let mut summary = format!("{title}: {} of {total} passed", total - failed);
    for (rule, count) in mended {
        summary += &format!("\n    {count} as mended: {rule}");
    }
    say(&summary);
    assert!(failures.is_empty(), "{title}: {failed} of {total} failed:\n{}", failures.join("\n"));
}

/// What a vector is called.
#[must_use]
pub fn name(vector: &Json) -> &str {
    vector["name"].as_str().unwrap_or("(a vector without a name)")
}

/// The types of a vector.
///
/// # Errors
/// Where its `proto` is none.
pub fn types(vector: &Json) -> Result<TypeSet, String> {
    types_from_json(&notation::read(&vector["proto"])).map_err(|error| format!("proto: {error}"))
}

/// How the types of a vector are to be compiled.
#[must_use]
pub fn compile_options(vector: &Json) -> CompileOptions {
    let object_id = match vector["objectIdClass"].as_str() {
        Some("String") => ObjectIdClass::String,
        Some("none") => ObjectIdClass::None,
        _ => ObjectIdClass::Class,
    };
    CompileOptions { object_id, ..CompileOptions::default() }
}

/// Prints past the test harness, which shows what a test prints only where it fails.
pub fn say(text: &str) {
    // Where there is nobody to read it, nothing is lost.
    let _ = writeln!(io::stdout(), "{text}");
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no text)")
}
