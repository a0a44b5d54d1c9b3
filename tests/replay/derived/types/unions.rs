//! Literals, enums and unions.

use polywire_macros::Schema;
use polywire_schema::{Any, DateTime, Uint8Array};

use super::structs::{I1, JustA, JustB};

#[derive(Schema)]
#[schema(numeric)]
pub(super) enum E {
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
pub(super) enum ZeroOne {
    Zero,
    One,
}

#[derive(Schema)]
#[schema(numeric)]
pub(super) enum ZeroB {
    Zero,
    #[schema(value = "b")]
    B,
}

#[derive(Schema)]
#[schema(string)]
pub(super) enum Str {
    #[schema(rename = "aaa")]
    A,
    #[schema(rename = "bbb")]
    B,
}

// The names are the published ones.
#[expect(clippy::enum_variant_names)]
#[derive(Schema)]
#[schema(string)]
pub(super) enum TsrpcErrorType {
    NetworkError,
    ServerError,
    ClientError,
    ApiError,
}

#[derive(Schema)]
pub(super) enum LitNull {
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
pub(super) enum LitUndefined {
    #[schema(value = undefined)]
    Undefined,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
pub(super) enum LitAbc {
    Abc,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
pub(super) enum LitA {
    A,
}

#[derive(Schema)]
#[schema(untagged, inline)]
pub(super) enum TextOrUndefined {
    Text(String),
    #[schema(value = undefined)]
    Undefined,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
pub(super) enum LitLit {
    Lit,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
pub(super) enum LitOpt {
    Opt,
}

#[derive(Schema)]
#[schema(inline)]
pub(super) enum InlineNull {
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(inline)]
pub(super) enum InlineUndefined {
    #[schema(value = undefined)]
    Undefined,
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum TextOrTexts {
    Text(String),
    Texts(Vec<String>),
}

#[derive(Schema)]
#[schema(untagged, inline)]
pub(super) enum TextUndefinedOrNull {
    Text(String),
    #[schema(value = undefined)]
    Undefined,
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum U1 {
    Text(String),
    Number(f64),
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum U2 {
    A { a: String },
    B { b: f64 },
}

#[derive(Schema)]
pub(super) enum U3 {
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
pub(super) enum NullOrUndefined {
    #[schema(value = null)]
    Null,
    #[schema(value = undefined)]
    Undefined,
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum UndefinedOrText {
    #[schema(value = undefined)]
    Undefined,
    Text(String),
}

#[derive(Schema)]
#[schema(tag = "type", rename_all = "lowercase")]
pub(super) enum U4 {
    A { v: String },
    B { v: f64 },
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum U5 {
    A { a: Option<String> },
    B { b: Option<f64> },
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum U6 {
    A { x: JustA },
    B { x: JustB },
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum TextsOrText {
    Texts(Vec<String>),
    Text(String),
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum U9 {
    U1(U1),
    Bool(bool),
}

#[derive(Schema)]
#[schema(untagged, inline)]
pub(super) enum NumberOrBool {
    Number(f64),
    Bool(bool),
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum U10 {
    Text(String),
    Other(NumberOrBool),
}

#[derive(Schema)]
#[schema(untagged, inline)]
pub(super) enum BOrC {
    B { b: f64 },
    C { c: bool },
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum U11 {
    A {
        a: String,
    },
    Other(BOrC),
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum U12 {
    Int(i64),
    Double(f64),
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum DateOrText {
    Date(DateTime),
    Text(String),
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum BytesOrText {
    Bytes(Uint8Array),
    Text(String),
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum AnyOrText {
    Any(Any),
    Text(String),
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum U16 {
    Tuple((String,)),
    A { a: String },
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
pub(super) enum LitS {
    S,
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum U17 {
    C { k: LitS, c: String },
    D { k: LitS, d: String },
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
pub(super) enum Ul {
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
pub(super) enum U18 {
    Number(ZeroOne),
    Text(String),
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum U19b {
    Text(String),
    Number(f64),
    Bool(bool),
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum Ubool {
    Bool(bool),
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(inline)]
pub(super) enum ABNull {
    #[schema(rename = "a")]
    A,
    #[schema(rename = "b")]
    B,
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum I3 {
    Both(I1),
    C { c: bool },
}

#[derive(Schema)]
#[schema(untagged, inline)]
pub(super) enum TextOrNumber {
    Text(String),
    Number(f64),
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum Ptu {
    A { a: Option<String> },
    B { b: Option<String> },
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
pub(super) enum LitX {
    X,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
pub(super) enum LitY {
    Y,
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum PickUnion {
    X { a: String, t: LitX },
    Y { a: f64, t: LitY },
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum NumberOrUndefined {
    Number(f64),
    #[schema(value = undefined)]
    Undefined,
}

#[derive(Schema)]
#[schema(rename_all = "lowercase")]
pub(super) enum SKey {
    A,
    B,
    C,
    N,
}

#[derive(Schema)]
#[schema(untagged, inline)]
pub(super) enum Code {
    Text(String),
    Number(i64),
}

#[derive(Schema)]
#[schema(untagged)]
pub(super) enum AorC {
    A { a: String },
    C { c: String },
}
