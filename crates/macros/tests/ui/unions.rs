extern crate self as polywire;
pub use polywire_tsbuffer::__private;

use polywire_macros::Schema;

#[derive(Schema)]
enum Undecided {
    Text(String),
    Number(f64),
}

#[derive(Schema)]
#[schema(tag = "type")]
enum TaggedTuple {
    Point(f64, f64),
}

#[derive(Schema)]
#[schema(tag = "type")]
enum TaggedText {
    Text(String),
}

#[derive(Schema)]
#[schema(tag = "type")]
enum SameTags {
    First,
    #[schema(rename = "First")]
    Second,
}

#[derive(Schema)]
#[schema(tag = "type")]
enum TagAsField {
    Only { r#type: String },
}

#[derive(Schema)]
#[schema(content = "data")]
enum ContentAlone {
    Only(String),
}

#[derive(Schema)]
#[schema(tag = "type", untagged)]
enum Both {
    Only(String),
}

#[derive(Schema)]
#[schema(tag = "type")]
struct TaggedStruct {
    field: String,
}

#[derive(Schema)]
#[schema(tag = "type", content = "type")]
enum TagAndContentInOne {
    Only(String),
}

#[derive(Schema)]
#[schema(tag = "type")]
enum TagThatIsNull {
    #[schema(value = null)]
    Nothing,
}

#[derive(Schema)]
#[schema(untagged)]
enum VariantOfNothing {
    Nothing(),
}

#[derive(Schema)]
#[schema(untagged)]
enum VariantThatMayBeMissing {
    Text(String),
    Missing(Option<u8>),
}

#[derive(Schema)]
#[schema(untagged)]
enum VariantWithoutSchema {
    Text(String),
    At { since: std::time::Instant },
}

fn main() {}
