extern crate self as polywire;
pub use polywire_tsbuffer::__private;

use std::collections::{BTreeMap, HashMap};

use polywire_macros::Schema;

#[derive(Schema)]
struct TwoMaps {
    #[schema(flatten)]
    first: HashMap<String, String>,
    #[schema(flatten)]
    second: BTreeMap<String, f64>,
}

#[derive(Schema)]
struct FlattenedText {
    #[schema(flatten)]
    text: String,
}

#[derive(Schema)]
struct FlattenedOption {
    #[schema(flatten)]
    base: Option<Base>,
}

#[derive(Schema)]
struct Base {
    name: String,
}

#[derive(Schema)]
struct SameNameAsBase {
    name: String,
    #[schema(flatten)]
    base: Base,
}

#[derive(Schema)]
struct FlattenedAndRenamed {
    #[schema(flatten, rename = "other")]
    base: Base,
}

fn main() {}
