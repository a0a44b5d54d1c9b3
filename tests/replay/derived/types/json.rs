//! Types of the JSON vectors.

use indexmap::IndexMap;
use polywire_macros::Schema;
use polywire_schema::{Any, AnyObject, ArrayBuffer, DateTime, Int16Array, Nullable, ObjectId, Uint8Array};

use super::structs::JustB;
use super::unions::{LitX, LitY, TextOrUndefined, ZeroB};

#[derive(Schema)]
pub(super) struct JsonA {
    d: DateTime,
    u: Option<Uint8Array>,
    ab: Option<ArrayBuffer>,
    i16: Option<Int16Array>,
    o: Option<ObjectId>,
    n: Option<f64>,
    any: Option<Any>,
    ix: Option<IndexMap<String, DateTime>>,
    arr: Option<Vec<DateTime>>,
    t: Option<(String, Option<DateTime>)>,
}

#[derive(Schema)]
pub(super) struct JsonOo {
    _id: ObjectId,
    l: Option<Vec<ObjectId>>,
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum DateTextOrNumber {
    Date(DateTime),
    Text(String),
    Number(f64),
}

#[derive(Schema)]
pub(super) struct D {
    d: DateTime,
}

#[derive(Schema)]
pub(super) struct U {
    u: Uint8Array,
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum DateOrBytes {
    D(D),
    U(U),
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(intersection)]
pub(super) struct JsonI {
    #[schema(flatten)]
    d: D,
    #[schema(flatten)]
    u: U,
}

#[derive(Schema)]
#[schema(tag = "t", rename_all = "lowercase")]
pub(super) enum TaggedDate {
    A { v: DateTime },
    B { v: String },
}

#[derive(Schema)]
#[schema(tag = "t", rename_all = "lowercase")]
pub(super) enum TaggedBytes {
    A { v: Uint8Array },
    B { v: String },
}

#[derive(Schema)]
pub(super) struct PkD {
    d: DateTime,
}

#[derive(Schema)]
pub(super) struct OmD {
    d: DateTime,
    #[schema(id = 3)]
    i16: Option<Int16Array>,
    #[schema(id = 5)]
    n: Option<f64>,
    any: Option<Any>,
    ix: Option<IndexMap<String, DateTime>>,
    arr: Option<Vec<DateTime>>,
    t: Option<(String, Option<DateTime>)>,
}

#[derive(Schema)]
pub(super) struct JsonPt {
    d: Option<DateTime>,
    u: Option<Uint8Array>,
    ab: Option<ArrayBuffer>,
    i16: Option<Int16Array>,
    o: Option<ObjectId>,
    n: Option<f64>,
    any: Option<Any>,
    ix: Option<IndexMap<String, DateTime>>,
    arr: Option<Vec<DateTime>>,
    t: Option<(String, Option<DateTime>)>,
}

#[derive(Schema)]
pub(super) struct DatesR {
    d: DateTime,
    c: Option<Box<DatesR>>,
    l: Option<Vec<DatesR>>,
}

#[derive(Schema)]
pub(super) struct JsonEx {
    x: DateTime,
    #[schema(flatten)]
    r: DatesR,
}

#[derive(Schema)]
#[schema(untagged, inline)]
pub(super) enum UndefinedOrDate {
    #[schema(value = undefined)]
    Undefined,
    Date(DateTime),
}

#[derive(Schema)]
pub(super) struct JsonUn {
    d: Option<Nullable<DateTime>>,
    e: Nullable<DateTime>,
    f: Option<UndefinedOrDate>,
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum JsonPu {
    X { d: DateTime, t: LitX },
    Y { d: String, t: LitY },
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum JsonPua {
    X { d: DateTime, t: LitX },
    Y { d: DateTime, t: LitY },
}

#[derive(Schema)]
pub(super) struct JsonAny {
    a: Any,
    o: AnyObject,
    d: DateTime,
}

#[derive(Schema)]
pub(super) struct JsonEnm {
    e: ZeroB,
}

#[derive(Schema)]
pub(super) struct JsonX1 {
    z: String,
    a: u64,
}

#[derive(Schema)]
pub(super) struct JsonX2 {
    m: u64,
    #[schema(flatten)]
    x1: JsonX1,
}

#[derive(Schema)]
pub(super) struct JsonN {
    a: Nullable<String>,
    b: Option<String>,
    c: TextOrUndefined,
}

#[derive(Schema)]
pub(super) struct JsonPr {
    a: Vec<JustB>,
    u: Option<Nullable<Vec<JustB>>>,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
pub(super) enum ZOrA {
    Z,
    A,
}

#[derive(Schema)]
pub(super) struct JsonKo {
    k: ZOrA,
    d: DateTime,
}
