//! Rust types for the schemas of the vector files, each found by its structure.
//!
//! What is missing has no Rust type: properties that a base declares otherwise,
//! `Overwrite`, `NonNullable` of what can be null, bigints, types that cannot be
//! resolved, enums with repeated members.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use polywire_macros::Schema;
use polywire_schema::{
    Any, AnyObject, ArrayBuffer, BigInt64Array, BigUint64Array, DateTime, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Nullable, ObjectId, Uint8Array, Uint16Array, Uint32Array,
};

use super::Candidate;

/// Every type that a vector may be about.
pub(super) fn candidates() -> Vec<Candidate> {
    macro_rules! all {
        ($($ty:ty),* $(,)?) => { vec![$(Candidate::of::<$ty>()),*] };
    }
    all![
        bool, f64, u64, i64, String, DateTime, Any, AnyObject, ObjectId,
        ArrayBuffer, Int8Array, Int16Array, Int32Array, BigInt64Array, Uint8Array, Uint16Array, Uint32Array,
        BigUint64Array, Float32Array, Float64Array,
        E, ZeroOne, ZeroB, Str, TsrpcErrorType,
        LitNull, LitUndefined, LitAbc, LitA,
        Vec<String>, Vec<f64>, Vec<Vec<u64>>, Vec<TextOrUndefined>, Vec<Any>, Vec<AB>, Vec<Nullable<String>>,
        Vec<DateTime>,
        (String, f64, Option<Nullable<bool>>), (u64, String, bool), (TextOrUndefined, Nullable<String>),
        (String, (u64, Option<u64>), Option<JustA>), (String,), (DateTime, String, Option<Uint8Array>), T40, T64,
        Empty, P, N, N2, L, Lo, X1, X11, Xe, XOpt, IndexMap<String, String>, IxA, IndexMap<i64, String>,
        IndexMap<String, Vec<String>>, IndexMap<String, (u64, Option<u64>)>, IndexMap<String, TextUndefinedOrNull>,
        IndexMap<String, V>, IndexMap<String, f64>, IndexMap<String, bool>, IndexMap<String, DateTime>,
        IndexMap<String, D>, IndexMap<String, u64>, IndexMap<String, Any>,
        IxExt, IxExt2, R, Big, Deep, Proto, Many,
        U1, U2, U3, NullOrUndefined, UndefinedOrText, U4, U5, U6, TextsOrText, Nullable<Vec<U2>>, U9, U10, U11, U12,
        DateOrText, BytesOrText, AnyOrText, U16, U17, Ul, U18, W, U19b, Ubool,
        I1, I2, I3, I6, I8, I9, I11,
        Pk, PkL, Pt, Om, OPick, PickOmit, Xp, XPart, Ptu, PickUnion,
        O, NumberOrUndefined, SKey, K, ServerInputData, ServerOutputData, TsrpcErrorData,
        AandC, JustA, OptA, AorC, HasI16, HasI16At30,
        JsonA, JsonOo, DateTextOrNumber, DateOrBytes, JsonI, TaggedDate, TaggedBytes, Nullable<DateTime>, PkD, OmD,
        JsonPt, JsonEx, DatesR, JsonUn, JsonPu, Vec<JsonPua>, JsonAny, JsonEnm, JsonX2, JsonN, JsonPr, JsonKo,
    ]
}

#[derive(Schema)]
#[schema(numeric)]
enum E {
    A = 0,
    B = 5,
    C = 6,
    #[schema(value = "x")]
    D = 7,
    F = -3,
    G = -2,
}

#[derive(Schema)]
#[schema(numeric)]
enum ZeroOne {
    Zero,
    One,
}

#[derive(Schema)]
#[schema(numeric)]
enum ZeroB {
    Zero,
    #[schema(value = "b")]
    B,
}

#[derive(Schema)]
#[schema(string)]
enum Str {
    #[schema(rename = "aaa")]
    A,
    #[schema(rename = "bbb")]
    B,
}

// The names are the published ones.
#[expect(clippy::enum_variant_names)]
#[derive(Schema)]
#[schema(string)]
enum TsrpcErrorType {
    NetworkError,
    ServerError,
    ClientError,
    ApiError,
}

#[derive(Schema)]
enum LitNull {
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
enum LitUndefined {
    #[schema(value = undefined)]
    Undefined,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
enum LitAbc {
    Abc,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
enum LitA {
    A,
}

#[derive(Schema)]
#[schema(untagged, inline)]
enum TextOrUndefined {
    Text(String),
    #[schema(value = undefined)]
    Undefined,
}

#[derive(Schema)]
struct AB {
    a: String,
    b: Option<u64>,
}

#[derive(Schema)]
struct T40(
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
struct T64(
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
struct Empty;

#[derive(Schema)]
struct P {
    a: String,
    b: Option<f64>,
    c: bool,
}

#[derive(Schema)]
struct N {
    a: Nullable<String>,
    b: Option<Nullable<String>>,
    c: TextOrUndefined,
    d: Option<String>,
    e: Any,
    f: Option<Any>,
}

#[derive(Schema)]
struct NullableText(Nullable<String>);

#[derive(Schema)]
struct N2 {
    a: NullableText,
    b: Option<NullableText>,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
enum LitLit {
    Lit,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
enum LitOpt {
    Opt,
}

#[derive(Schema)]
#[schema(inline)]
enum InlineNull {
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(inline)]
enum InlineUndefined {
    #[schema(value = undefined)]
    Undefined,
}

#[derive(Schema)]
struct L {
    k: LitLit,
    n: InlineNull,
    u: InlineUndefined,
    v: f64,
}

#[derive(Schema)]
struct Lo {
    o: Option<LitOpt>,
    v: f64,
}

#[derive(Schema)]
struct B1 {
    a: String,
    b: Option<f64>,
}

#[derive(Schema)]
struct B2 {
    c: bool,
}

#[derive(Schema)]
struct X1 {
    d: String,
    #[schema(flatten)]
    b1: B1,
    #[schema(flatten)]
    b2: B2,
}

#[derive(Schema)]
struct X11 {
    e: u64,
    #[schema(flatten)]
    x1: X1,
}

#[derive(Schema)]
struct Xe {
    #[schema(flatten)]
    b1: B1,
}

#[derive(Schema)]
struct OptZ {
    z: Option<String>,
}

#[derive(Schema)]
struct XOpt {
    y: u64,
    #[schema(flatten)]
    opt: OptZ,
}

#[derive(Schema)]
#[schema(untagged)]
enum TextOrTexts {
    Text(String),
    Texts(Vec<String>),
}

#[derive(Schema)]
struct IxA {
    a: String,
    #[schema(flatten)]
    rest: IndexMap<String, TextOrTexts>,
}

#[derive(Schema)]
#[schema(untagged, inline)]
enum TextUndefinedOrNull {
    Text(String),
    #[schema(value = undefined)]
    Undefined,
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
struct V {
    v: u64,
}

#[derive(Schema)]
struct IxStrings {
    #[schema(flatten)]
    all: IndexMap<String, String>,
}

#[derive(Schema)]
struct IxExt {
    z: String,
    #[schema(flatten)]
    base: IxStrings,
}

#[derive(Schema)]
struct IxExt2 {
    #[schema(flatten)]
    base: B1,
    #[schema(flatten)]
    rest: IndexMap<String, Any>,
}

#[derive(Schema)]
struct R {
    v: u64,
    c: Option<Box<R>>,
    l: Option<Vec<R>>,
}

#[derive(Schema)]
struct Big {
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
struct Deep {
    a: Deep1,
}

#[derive(Schema)]
struct Deep1 {
    b: Deep2,
}

#[derive(Schema)]
struct Deep2 {
    c: Deep3,
}

#[derive(Schema)]
struct Deep3 {
    d: Vec<u64>,
}

#[derive(Schema)]
struct Proto {
    #[schema(id = 1)]
    constructor: String,
    #[schema(rename = "valueOf")]
    value_of: u64,
    #[schema(id = 0)]
    x: u64,
}

#[derive(Schema)]
struct M0 {
    m0: u32,
}

#[derive(Schema)]
struct M1 {
    m1: u32,
}

#[derive(Schema)]
struct M2 {
    m2: u32,
}

#[derive(Schema)]
struct M3 {
    m3: u32,
}

#[derive(Schema)]
struct M4 {
    m4: u32,
}

#[derive(Schema)]
struct M5 {
    m5: u32,
}

#[derive(Schema)]
struct M6 {
    m6: u32,
}

#[derive(Schema)]
struct M7 {
    m7: u32,
}

#[derive(Schema)]
struct M8 {
    m8: u32,
}

#[derive(Schema)]
struct Many {
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
#[schema(untagged)]
enum U1 {
    Text(String),
    Number(f64),
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(untagged)]
enum U2 {
    A { a: String },
    B { b: f64 },
}

#[derive(Schema)]
enum U3 {
    #[schema(rename = "x")]
    X,
    #[schema(rename = "y")]
    Y,
    #[schema(value = 1)]
    One,
    #[schema(value = true)]
    True,
    #[schema(value = null)]
    Null,
    #[schema(value = undefined)]
    Undefined,
}

#[derive(Schema)]
enum NullOrUndefined {
    #[schema(value = null)]
    Null,
    #[schema(value = undefined)]
    Undefined,
}

#[derive(Schema)]
#[schema(untagged)]
enum UndefinedOrText {
    #[schema(value = undefined)]
    Undefined,
    Text(String),
}

#[derive(Schema)]
#[schema(tag = "type", rename_all = "lowercase")]
enum U4 {
    A { v: String },
    B { v: f64 },
}

#[derive(Schema)]
#[schema(untagged)]
enum U5 {
    A { a: Option<String> },
    B { b: Option<f64> },
}

#[derive(Schema)]
struct JustA {
    a: String,
}

#[derive(Schema)]
struct JustB {
    b: String,
}

#[derive(Schema)]
#[schema(untagged)]
enum U6 {
    A { x: JustA },
    B { x: JustB },
}

#[derive(Schema)]
#[schema(untagged)]
enum TextsOrText {
    Texts(Vec<String>),
    Text(String),
}

#[derive(Schema)]
#[schema(untagged)]
enum U9 {
    U1(U1),
    Bool(bool),
}

#[derive(Schema)]
#[schema(untagged, inline)]
enum NumberOrBool {
    Number(f64),
    Bool(bool),
}

#[derive(Schema)]
#[schema(untagged)]
enum U10 {
    Text(String),
    Other(NumberOrBool),
}

#[derive(Schema)]
#[schema(untagged, inline)]
enum BOrC {
    B { b: f64 },
    C { c: bool },
}

#[derive(Schema)]
#[schema(untagged)]
enum U11 {
    A {
        a: String,
    },
    Other(BOrC),
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(untagged)]
enum U12 {
    Int(i64),
    Double(f64),
}

#[derive(Schema)]
#[schema(untagged)]
enum DateOrText {
    Date(DateTime),
    Text(String),
}

#[derive(Schema)]
#[schema(untagged)]
enum BytesOrText {
    Bytes(Uint8Array),
    Text(String),
}

#[derive(Schema)]
#[schema(untagged)]
enum AnyOrText {
    Any(Any),
    Text(String),
}

#[derive(Schema)]
#[schema(untagged)]
enum U16 {
    Tuple((String,)),
    A { a: String },
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
enum LitS {
    S,
}

#[derive(Schema)]
#[schema(untagged)]
enum U17 {
    C { k: LitS, c: String },
    D { k: LitS, d: String },
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
enum Ul {
    V0,
    V1,
    V2,
    V3,
    V4,
    V5,
    V6,
    V7,
    V8,
    V9,
    V10,
    V11,
    V12,
    V13,
    V14,
    V15,
    V16,
    V17,
    V18,
    V19,
    V20,
    V21,
    V22,
    V23,
    V24,
    V25,
    V26,
    V27,
    V28,
    V29,
    V30,
    V31,
    V32,
    V33,
    V34,
    V35,
    V36,
    V37,
    V38,
    V39,
}

#[derive(Schema)]
#[schema(untagged)]
enum U18 {
    Number(ZeroOne),
    Text(String),
}

#[derive(Schema)]
#[schema(untagged)]
enum U19b {
    Text(String),
    Number(f64),
    Bool(bool),
}

#[derive(Schema)]
#[schema(untagged)]
enum Ubool {
    Bool(bool),
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(inline)]
enum ABNull {
    #[schema(rename = "a")]
    A,
    #[schema(rename = "b")]
    B,
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
struct W {
    u: Option<ABNull>,
    v: U2,
}

#[derive(Schema)]
struct NumberB {
    b: f64,
}

#[derive(Schema)]
#[schema(intersection)]
struct I1 {
    #[schema(flatten)]
    a: JustA,
    #[schema(flatten)]
    b: NumberB,
}

#[derive(Schema)]
#[schema(intersection)]
struct I2 {
    #[schema(flatten)]
    a: JustA,
    #[schema(flatten)]
    other: BOrC,
}

#[derive(Schema)]
#[schema(untagged)]
enum I3 {
    Both(I1),
    C { c: bool },
}

#[derive(Schema)]
struct I6 {
    x: JustA,
}

#[derive(Schema)]
#[schema(untagged, inline)]
enum TextOrNumber {
    Text(String),
    Number(f64),
}

#[derive(Schema)]
struct OptCommon {
    common: Option<TextOrNumber>,
}

#[derive(Schema)]
struct I8 {
    #[schema(flatten)]
    omitted: OptCommon,
    a: String,
    #[schema(id = 1)]
    c: bool,
}

#[derive(Schema)]
struct ALit {
    a: LitLit,
}

#[derive(Schema)]
struct OptB {
    b: Option<u64>,
}

#[derive(Schema)]
#[schema(intersection)]
struct I9 {
    #[schema(flatten)]
    a: ALit,
    #[schema(flatten)]
    b: OptB,
}

#[derive(Schema)]
struct UintB {
    b: u64,
}

#[derive(Schema)]
struct UintC {
    c: u64,
}

#[derive(Schema)]
#[schema(intersection)]
struct AandUintB {
    #[schema(flatten)]
    a: JustA,
    #[schema(flatten)]
    b: UintB,
}

#[derive(Schema)]
#[schema(intersection)]
struct I11 {
    #[schema(flatten)]
    ab: AandUintB,
    #[schema(flatten)]
    c: UintC,
}

/// `Pick<B1, 'a'>`, of `B1 = { a, b?, c, k: "lit" }`, like the next ones.
#[derive(Schema)]
struct Pk {
    a: String,
}

#[derive(Schema)]
struct PkL {
    a: String,
    #[schema(id = 3)]
    k: LitLit,
}

#[derive(Schema)]
struct Pt {
    a: Option<String>,
    b: Option<f64>,
    c: Option<bool>,
    k: Option<LitLit>,
}

#[derive(Schema)]
struct Om {
    #[schema(id = 1)]
    b: Option<f64>,
    #[schema(id = 3)]
    k: LitLit,
}

#[derive(Schema)]
struct OPick {
    a: String,
}

#[derive(Schema)]
struct PickOmit {
    #[schema(id = 1)]
    b: Option<f64>,
    c: bool,
}

#[derive(Schema)]
struct Xp {
    d: String,
    #[schema(flatten)]
    base: Pk,
}

#[derive(Schema)]
struct XPart {
    d: String,
    #[schema(flatten)]
    base: Pt,
}

#[derive(Schema)]
#[schema(untagged)]
enum Ptu {
    A { a: Option<String> },
    B { b: Option<String> },
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
enum LitX {
    X,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
enum LitY {
    Y,
}

#[derive(Schema)]
#[schema(untagged)]
enum PickUnion {
    X { a: String, t: LitX },
    Y { a: f64, t: LitY },
}

#[derive(Schema)]
struct O {
    _id: ObjectId,
    l: Option<Vec<ObjectId>>,
}

#[derive(Schema)]
#[schema(untagged)]
enum NumberOrUndefined {
    Number(f64),
    #[schema(value = undefined)]
    Undefined,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
enum SKey {
    A,
    B,
    C,
    N,
}

#[derive(Schema)]
struct K {
    k: SKey,
}

#[derive(Schema)]
#[schema(rename_all = "camelCase")]
struct ServerInputData {
    service_id: u64,
    buffer: Uint8Array,
    sn: Option<u64>,
}

#[derive(Schema)]
#[schema(untagged, inline)]
enum Code {
    Text(String),
    Number(i64),
}

#[derive(Schema)]
struct TsrpcErrorData {
    message: String,
    #[schema(rename = "type")]
    kind: TsrpcErrorType,
    code: Option<Code>,
    #[schema(flatten)]
    rest: BTreeMap<String, Any>,
}

#[derive(Schema)]
#[schema(rename_all = "camelCase")]
struct ServerOutputData {
    buffer: Option<Uint8Array>,
    error: Option<TsrpcErrorData>,
    service_id: Option<u64>,
    sn: Option<u64>,
}

#[derive(Schema)]
struct AandC {
    a: String,
    c: Option<String>,
}

#[derive(Schema)]
struct OptA {
    a: Option<String>,
}

#[derive(Schema)]
#[schema(untagged)]
enum AorC {
    A { a: String },
    C { c: String },
}

#[derive(Schema)]
struct HasI16 {
    a: Int16Array,
}

#[derive(Schema)]
struct HasI16At30 {
    #[schema(id = 30)]
    a: Int16Array,
}

#[derive(Schema)]
struct JsonA {
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
struct JsonOo {
    _id: ObjectId,
    l: Option<Vec<ObjectId>>,
}

#[derive(Schema)]
#[schema(untagged)]
enum DateTextOrNumber {
    Date(DateTime),
    Text(String),
    Number(f64),
}

#[derive(Schema)]
struct D {
    d: DateTime,
}

#[derive(Schema)]
struct U {
    u: Uint8Array,
}

#[derive(Schema)]
#[schema(untagged)]
enum DateOrBytes {
    D(D),
    U(U),
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(intersection)]
struct JsonI {
    #[schema(flatten)]
    d: D,
    #[schema(flatten)]
    u: U,
}

#[derive(Schema)]
#[schema(tag = "t", rename_all = "lowercase")]
enum TaggedDate {
    A { v: DateTime },
    B { v: String },
}

#[derive(Schema)]
#[schema(tag = "t", rename_all = "lowercase")]
enum TaggedBytes {
    A { v: Uint8Array },
    B { v: String },
}

#[derive(Schema)]
struct PkD {
    d: DateTime,
}

#[derive(Schema)]
struct OmD {
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
struct JsonPt {
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
struct DatesR {
    d: DateTime,
    c: Option<Box<DatesR>>,
    l: Option<Vec<DatesR>>,
}

#[derive(Schema)]
struct JsonEx {
    x: DateTime,
    #[schema(flatten)]
    r: DatesR,
}

#[derive(Schema)]
#[schema(untagged, inline)]
enum UndefinedOrDate {
    #[schema(value = undefined)]
    Undefined,
    Date(DateTime),
}

#[derive(Schema)]
struct JsonUn {
    d: Option<Nullable<DateTime>>,
    e: Nullable<DateTime>,
    f: Option<UndefinedOrDate>,
}

#[derive(Schema)]
#[schema(untagged)]
enum JsonPu {
    X { d: DateTime, t: LitX },
    Y { d: String, t: LitY },
}

#[derive(Schema)]
#[schema(untagged)]
enum JsonPua {
    X { d: DateTime, t: LitX },
    Y { d: DateTime, t: LitY },
}

#[derive(Schema)]
struct JsonAny {
    a: Any,
    o: AnyObject,
    d: DateTime,
}

#[derive(Schema)]
struct JsonEnm {
    e: ZeroB,
}

#[derive(Schema)]
struct JsonX1 {
    z: String,
    a: u64,
}

#[derive(Schema)]
struct JsonX2 {
    m: u64,
    #[schema(flatten)]
    x1: JsonX1,
}

#[derive(Schema)]
struct JsonN {
    a: Nullable<String>,
    b: Option<String>,
    c: TextOrUndefined,
}

#[derive(Schema)]
struct JsonPr {
    a: Vec<JustB>,
    u: Option<Nullable<Vec<JustB>>>,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
enum ZOrA {
    Z,
    A,
}

#[derive(Schema)]
struct JsonKo {
    k: ZOrA,
    d: DateTime,
}
