//! Object types, tuples and aliases.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use polywire_macros::Schema;
use polywire_schema::{Any, Int16Array, Nullable, ObjectId, Uint8Array};

use super::unions::{
    ABNull, BOrC, Code, InlineNull, InlineUndefined, LitLit, LitOpt, SKey, TextOrNumber, TextOrTexts, TextOrUndefined,
    TsrpcErrorType, U2,
};

#[derive(Schema)]
pub(super) struct AB {
    a: String,
    b: Option<u64>,
}

#[derive(Schema)]
pub(super) struct T40(
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
);

#[derive(Schema)]
pub(super) struct T64(
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
);

#[derive(Schema)]
pub(super) struct Empty;

#[derive(Schema)]
pub(super) struct P {
    a: String,
    b: Option<f64>,
    c: bool,
}

#[derive(Schema)]
pub(super) struct N {
    a: Nullable<String>,
    b: Option<Nullable<String>>,
    c: TextOrUndefined,
    d: Option<String>,
    e: Any,
    f: Option<Any>,
}

#[derive(Schema)]
pub(super) struct NullableText(Nullable<String>);

#[derive(Schema)]
pub(super) struct N2 {
    a: NullableText,
    b: Option<NullableText>,
}

#[derive(Schema)]
pub(super) struct L {
    k: LitLit,
    n: InlineNull,
    u: InlineUndefined,
    v: f64,
}

#[derive(Schema)]
pub(super) struct Lo {
    o: Option<LitOpt>,
    v: f64,
}

#[derive(Schema)]
pub(super) struct B1 {
    a: String,
    b: Option<f64>,
}

#[derive(Schema)]
pub(super) struct B2 {
    c: bool,
}

#[derive(Schema)]
pub(super) struct X1 {
    d: String,
    #[schema(flatten)]
    b1: B1,
    #[schema(flatten)]
    b2: B2,
}

#[derive(Schema)]
pub(super) struct X11 {
    e: u64,
    #[schema(flatten)]
    x1: X1,
}

#[derive(Schema)]
pub(super) struct Xe {
    #[schema(flatten)]
    b1: B1,
}

#[derive(Schema)]
pub(super) struct OptZ {
    z: Option<String>,
}

#[derive(Schema)]
pub(super) struct XOpt {
    y: u64,
    #[schema(flatten)]
    opt: OptZ,
}

#[derive(Schema)]
pub(super) struct IxA {
    a: String,
    #[schema(flatten)]
    rest: IndexMap<String, TextOrTexts>,
}

#[derive(Schema)]
pub(super) struct V {
    v: u64,
}

#[derive(Schema)]
pub(super) struct IxStrings {
    #[schema(flatten)]
    all: IndexMap<String, String>,
}

#[derive(Schema)]
pub(super) struct IxExt {
    z: String,
    #[schema(flatten)]
    base: IxStrings,
}

#[derive(Schema)]
pub(super) struct IxExt2 {
    #[schema(flatten)]
    base: B1,
    #[schema(flatten)]
    rest: IndexMap<String, Any>,
}

#[derive(Schema)]
pub(super) struct R {
    v: u64,
    c: Option<Box<R>>,
    l: Option<Vec<R>>,
}

#[derive(Schema)]
pub(super) struct Big {
    f0: Option<String>,
    f1: Option<String>,
    f2: Option<String>,
    f3: Option<String>,
    f4: Option<String>,
    f5: Option<String>,
    f6: Option<String>,
    f7: Option<String>,
    f8: Option<String>,
    f9: Option<String>,
    f10: Option<String>,
    f11: Option<String>,
    f12: Option<String>,
    f13: Option<String>,
    f14: Option<String>,
    f15: Option<String>,
    f16: Option<String>,
    f17: Option<String>,
    f18: Option<String>,
    f19: Option<String>,
    f20: Option<String>,
    f21: Option<String>,
    f22: Option<String>,
    f23: Option<String>,
    f24: Option<String>,
    f25: Option<String>,
}

#[derive(Schema)]
pub(super) struct Deep {
    a: Deep1,
}

#[derive(Schema)]
pub(super) struct Deep1 {
    b: Deep2,
}

#[derive(Schema)]
pub(super) struct Deep2 {
    c: Deep3,
}

#[derive(Schema)]
pub(super) struct Deep3 {
    d: Vec<u64>,
}

#[derive(Schema)]
pub(super) struct Proto {
    #[schema(id = 1)]
    constructor: String,
    #[schema(rename = "valueOf")]
    value_of: u64,
    #[schema(id = 0)]
    x: u64,
}

#[derive(Schema)]
pub(super) struct M0 {
    m0: u32,
}

#[derive(Schema)]
pub(super) struct M1 {
    m1: u32,
}

#[derive(Schema)]
pub(super) struct M2 {
    m2: u32,
}

#[derive(Schema)]
pub(super) struct M3 {
    m3: u32,
}

#[derive(Schema)]
pub(super) struct M4 {
    m4: u32,
}

#[derive(Schema)]
pub(super) struct M5 {
    m5: u32,
}

#[derive(Schema)]
pub(super) struct M6 {
    m6: u32,
}

#[derive(Schema)]
pub(super) struct M7 {
    m7: u32,
}

#[derive(Schema)]
pub(super) struct M8 {
    m8: u32,
}

#[derive(Schema)]
pub(super) struct Many {
    #[schema(flatten)]
    m0: M0,
    #[schema(flatten)]
    m1: M1,
    #[schema(flatten)]
    m2: M2,
    #[schema(flatten)]
    m3: M3,
    #[schema(flatten)]
    m4: M4,
    #[schema(flatten)]
    m5: M5,
    #[schema(flatten)]
    m6: M6,
    #[schema(flatten)]
    m7: M7,
    #[schema(flatten)]
    m8: M8,
}

#[derive(Schema)]
pub(super) struct JustA {
    a: String,
}

#[derive(Schema)]
pub(super) struct JustB {
    b: String,
}

#[derive(Schema)]
pub(super) struct W {
    u: Option<ABNull>,
    v: U2,
}

#[derive(Schema)]
pub(super) struct NumberB {
    b: f64,
}

#[derive(Schema)]
#[schema(intersection)]
pub(super) struct I1 {
    #[schema(flatten)]
    a: JustA,
    #[schema(flatten)]
    b: NumberB,
}

#[derive(Schema)]
#[schema(intersection)]
pub(super) struct I2 {
    #[schema(flatten)]
    a: JustA,
    #[schema(flatten)]
    other: BOrC,
}

#[derive(Schema)]
pub(super) struct I6 {
    x: JustA,
}

#[derive(Schema)]
pub(super) struct OptCommon {
    common: Option<TextOrNumber>,
}

#[derive(Schema)]
pub(super) struct I8 {
    #[schema(flatten)]
    omitted: OptCommon,
    a: String,
    #[schema(id = 1)]
    c: bool,
}

#[derive(Schema)]
pub(super) struct ALit {
    a: LitLit,
}

#[derive(Schema)]
pub(super) struct OptB {
    b: Option<u64>,
}

#[derive(Schema)]
#[schema(intersection)]
pub(super) struct I9 {
    #[schema(flatten)]
    a: ALit,
    #[schema(flatten)]
    b: OptB,
}

#[derive(Schema)]
pub(super) struct UintB {
    b: u64,
}

#[derive(Schema)]
pub(super) struct UintC {
    c: u64,
}

#[derive(Schema)]
#[schema(intersection)]
pub(super) struct AandUintB {
    #[schema(flatten)]
    a: JustA,
    #[schema(flatten)]
    b: UintB,
}

#[derive(Schema)]
#[schema(intersection)]
pub(super) struct I11 {
    #[schema(flatten)]
    ab: AandUintB,
    #[schema(flatten)]
    c: UintC,
}

/// `Pick<B1, 'a'>`, of `B1 = { a, b?, c, k: "lit" }`, like the next ones.
#[derive(Schema)]
pub(super) struct Pk {
    a: String,
}

#[derive(Schema)]
pub(super) struct PkL {
    a: String,
    #[schema(id = 3)]
    k: LitLit,
}

#[derive(Schema)]
pub(super) struct Pt {
    a: Option<String>,
    b: Option<f64>,
    c: Option<bool>,
    k: Option<LitLit>,
}

#[derive(Schema)]
pub(super) struct Om {
    #[schema(id = 1)]
    b: Option<f64>,
    #[schema(id = 3)]
    k: LitLit,
}

#[derive(Schema)]
pub(super) struct OPick {
    a: String,
}

#[derive(Schema)]
pub(super) struct PickOmit {
    #[schema(id = 1)]
    b: Option<f64>,
    c: bool,
}

#[derive(Schema)]
pub(super) struct Xp {
    d: String,
    #[schema(flatten)]
    base: Pk,
}

#[derive(Schema)]
pub(super) struct XPart {
    d: String,
    #[schema(flatten)]
    base: Pt,
}

#[derive(Schema)]
pub(super) struct O {
    _id: ObjectId,
    l: Option<Vec<ObjectId>>,
}

#[derive(Schema)]
pub(super) struct K {
    k: SKey,
}

#[derive(Schema)]
#[schema(rename_all = "camelCase")]
pub(super) struct ServerInputData {
    service_id: u64,
    buffer: Uint8Array,
    sn: Option<u64>,
}

#[derive(Schema)]
pub(super) struct TsrpcErrorData {
    message: String,
    #[schema(rename = "type")]
    kind: TsrpcErrorType,
    code: Option<Code>,
    #[schema(flatten)]
    rest: BTreeMap<String, Any>,
}

#[derive(Schema)]
#[schema(rename_all = "camelCase")]
pub(super) struct ServerOutputData {
    buffer: Option<Uint8Array>,
    error: Option<TsrpcErrorData>,
    service_id: Option<u64>,
    sn: Option<u64>,
}

#[derive(Schema)]
pub(super) struct AandC {
    a: String,
    c: Option<String>,
}

#[derive(Schema)]
pub(super) struct OptA {
    a: Option<String>,
}

#[derive(Schema)]
pub(super) struct HasI16 {
    a: Int16Array,
}

#[derive(Schema)]
pub(super) struct HasI16At30 {
    #[schema(id = 30)]
    a: Int16Array,
}
