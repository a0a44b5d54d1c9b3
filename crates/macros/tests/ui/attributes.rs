extern crate self as polywire;
pub use polywire_tsbuffer::__private;

use polywire_macros::Schema;

#[derive(Schema)]
#[schema(rename_al = "camelCase")]
struct UnknownOnStruct {
    field: String,
}

#[derive(Schema)]
struct UnknownOnField {
    #[schema(skip)]
    field: String,
}

#[derive(Schema)]
enum UnknownOnVariant {
    #[schema(other)]
    Only,
}

#[derive(Schema)]
#[schema(rename_all = "Camel")]
struct UnknownCase {
    field: String,
}

#[derive(Schema)]
struct SameName {
    first: String,
    #[schema(rename = "first")]
    second: String,
}

#[derive(Schema)]
struct SameId {
    #[schema(id = 1)]
    first: String,
    second: String,
    #[schema(id = 2)]
    third: String,
}

#[derive(Schema)]
struct HugeId {
    #[schema(id = 268435456)]
    field: String,
}

#[derive(Schema)]
struct Prototype {
    #[schema(rename = "__proto__")]
    field: String,
}

#[derive(Schema)]
struct DefaultOption {
    #[schema(default)]
    field: Option<String>,
}

#[derive(Schema)]
struct DefaultAndOptional {
    #[schema(default, optional)]
    field: String,
}

#[derive(Schema)]
struct OptionalOption {
    #[schema(optional)]
    field: Option<String>,
}

#[derive(Schema)]
struct InTuple(#[schema(rename = "a")] String, String);

fn main() {}
