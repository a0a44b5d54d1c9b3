//! Rust types for the schemas of the vector files, each found by its structure.
//!
//! What is missing has no Rust type: properties that a base declares otherwise,
//! `Overwrite`, `NonNullable` of what can be null, bigints, types that cannot be
//! resolved, enums with repeated members.

mod json;
mod structs;
mod unions;

use indexmap::IndexMap;
use polywire_schema::{
    Any, AnyObject, ArrayBuffer, BigInt64Array, BigUint64Array, DateTime, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Nullable, ObjectId, Uint8Array, Uint16Array, Uint32Array,
};

use self::{json::*, structs::*, unions::*};
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
