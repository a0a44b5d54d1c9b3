extern crate self as polywire;
pub use polywire_tsbuffer::__private;

use std::collections::HashMap;

use polywire_macros::Schema;

#[derive(Schema)]
struct WideKey {
    by_id: HashMap<u128, String>,
}

#[derive(Schema)]
struct WideNumber {
    number: u128,
}

#[derive(Schema)]
struct OptionInside {
    list: Vec<Option<String>>,
}

#[derive(Schema)]
struct Borrowed<'a> {
    text: &'a str,
}

#[derive(Schema)]
struct Gap(Option<u8>, String);

#[derive(Schema)]
union Raw {
    number: u32,
    float: f32,
}

#[derive(Schema)]
struct Nothing();

#[derive(Schema)]
struct Doubly {
    field: Option<Option<String>>,
}

#[derive(Schema)]
struct NullOfOption {
    field: __private::polywire_schema::Nullable<Option<u8>>,
}

struct NoSchema;

#[derive(Schema)]
struct Page<T> {
    items: Vec<T>,
}

#[derive(Schema)]
struct PageOfNoSchema {
    page: Page<NoSchema>,
    bytes: std::collections::BTreeMap<String, NoSchema>,
    pair: (String, NoSchema),
}

fn main() {}
