//! The law of specialised codecs, on random values and spoilt input: what they
//! accept, the dynamic path accepts with the same value; what they write, it writes.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use indexmap::IndexMap;
use polywire_macros::Schema;
use polywire_schema::{
    Any, AnyObject, ArrayBuffer, CompileOptions, DateTime, Float32Array, JsString, Nullable, ObjectId, Program,
    Registry, Slot, Value,
};
use polywire_tests::{
    notation::{Keys, same, to_hex},
    random::{Rng, random_value},
};
use polywire_tsbuffer::{
    TsBuffer, TsBufferOptions,
    binary::BinaryReader,
    typed::{Codec, Depth, JsonReader, TypedCodec},
};

use super::{decoded, types};

/// Random values for each type and form.
const VALUES: u64 = 300;

/// Checks a type; says how many of its values and inputs the specialised codec took.
pub(super) fn check<T: Codec>() -> Taken {
    check_with::<T>(Keys::SameOrder)
}

fn check_with<T: Codec>(keys: Keys) -> Taken {
    let mut taken = Taken::default();
    let mut types = Registry::default();
    let ty = T::describe(&mut types);
    let (program, slot) = Program::compile_type(&ty, types.types(), &CompileOptions::default());
    let program = Arc::new(program);
    for strict_null_checks in [false, true] {
        let mut options = TsBufferOptions::default();
        options.checks.strict_null_checks = strict_null_checks;
        let buffer = TsBuffer::new(Arc::clone(&program), options);
        let law = Law { buffer, slot, strict_null_checks, keys };
        for seed in 0..VALUES {
            let mut rng = Rng::new(seed);
            let spoil = *rng.pick(&[0, 0, 0, 8, 30]);
            let value = random_value(&mut rng, &program, slot, spoil);
            if let Ok(rust) = T::from_value(value) {
                law.binary(&rust, &mut rng, &mut taken);
                law.json(&rust, &mut rng, &mut taken);
            }
        }
    }
    taken
}

/// How often the specialised codec did it.
#[derive(Debug, Default)]
pub(super) struct Taken {
    encoded: u64,
    of_values: u64,
    decoded: u64,
    /// What the dynamic path decodes. Infinities, for one, do not come back from JSON.
    of_inputs: u64,
    /// Inputs that had been spoilt.
    spoilt: u64,
}

struct Law {
    buffer: TsBuffer,
    slot: Slot,
    strict_null_checks: bool,
    keys: Keys,
}

impl Law {
    fn binary<T: Codec>(&self, rust: &T, rng: &mut Rng, taken: &mut Taken) {
        taken.of_values += 1;
        let value = rust.to_value();
        let dynamic = self.buffer.encode(self.slot, &value);
        let mut fast = Vec::new();
        if rust.encode_binary(&mut fast, Depth::ROOT).is_ok() {
            taken.encoded += 1;
            assert_eq!(dynamic.as_ref().map(|bytes| to_hex(bytes)), Ok(to_hex(&fast)), "{value:?}");
        }
        let Ok(mut bytes) = dynamic else { return };
        taken.of_inputs += u64::from(decoded::<T>(self.buffer.decode(self.slot, &bytes)).is_ok());
        taken.decoded += u64::from(self.decode_binary::<T>(&bytes));
        for _ in 0..4 {
            spoil(&mut bytes, rng, |rng| rng.bits() as u8);
            taken.spoilt += u64::from(self.decode_binary::<T>(&bytes));
        }
    }

    fn decode_binary<T: Codec>(&self, bytes: &[u8]) -> bool {
        let Ok(fast) = T::decode_binary(&mut BinaryReader::new(bytes)) else { return false };
        let dynamic = decoded::<T>(self.buffer.decode(self.slot, bytes));
        let is_same = dynamic.as_ref().is_ok_and(|dynamic| same(dynamic, &fast.to_value(), self.keys));
        assert!(is_same, "{}: {dynamic:?}, but fast {:?}", to_hex(bytes), fast.to_value());
        true
    }

    fn json<T: Codec>(&self, rust: &T, rng: &mut Rng, taken: &mut Taken) {
        taken.of_values += 1;
        let value = rust.to_value();
        let dynamic = self.buffer.encode_json(self.slot, &value);
        let mut fast = Vec::new();
        if rust.encode_json(&mut fast, Depth::ROOT).is_ok() {
            taken.encoded += 1;
            let fast = String::from_utf8(fast).expect("JSON is UTF-8");
            assert_eq!(dynamic, Ok(Some(fast)), "{value:?}");
        }
        let Ok(Some(text)) = dynamic else { return };
        let json = Value::parse_json(&text).expect("what was written is JSON");
        taken.of_inputs += u64::from(decoded::<T>(self.buffer.decode_json(self.slot, json)).is_ok());
        taken.decoded += u64::from(self.decode_json::<T>(text.as_bytes()));
        let mut bytes = text.into_bytes();
        for _ in 0..4 {
            const LETTERS: &[u8] = b"{}[]:,\"0123456789.-+eEnulltrue \\abTZ\xe4";
            spoil(&mut bytes, rng, |rng| *rng.pick(LETTERS));
            taken.spoilt += u64::from(self.decode_json::<T>(&bytes));
        }
    }

    fn decode_json<T: Codec>(&self, bytes: &[u8]) -> bool {
        let Ok(mut reader) = JsonReader::from_bytes(bytes) else { return false };
        reader = reader.with_strict_null_checks(self.strict_null_checks);
        let Ok(fast) = T::decode_json(&mut reader) else { return false };
        if reader.finish().is_err() {
            return false;
        }
        let text = String::from_utf8_lossy(bytes);
        let json = Value::parse_json(bytes).unwrap_or_else(|error| panic!("{text}: {error}"));
        let dynamic = decoded::<T>(self.buffer.decode_json(self.slot, json));
        let is_same = dynamic.as_ref().is_ok_and(|dynamic| same(dynamic, &fast.to_value(), self.keys));
        assert!(is_same, "{text}: {dynamic:?}, but fast {:?}", fast.to_value());
        true
    }
}

/// Changes, drops, doubles or inserts a byte.
fn spoil(bytes: &mut Vec<u8>, rng: &mut Rng, byte: impl Fn(&mut Rng) -> u8) {
    if bytes.is_empty() {
        bytes.push(byte(rng));
        return;
    }
    let at = rng.below(bytes.len());
    match rng.below(5) {
        0 => drop(bytes.remove(at)),
        1 => bytes.insert(at, bytes[at]),
        2 => bytes.insert(at, byte(rng)),
        3 => bytes.truncate(at),
        _ => bytes[at] = byte(rng),
    }
}

#[test]
fn types_of_the_vectors_obey_the_law() {
    for candidate in types::candidates() {
        (candidate.law)();
    }
}

#[derive(Schema)]
#[schema(rename_all = "camelCase")]
struct Everything {
    bool_: bool,
    small: isize,
    float: f32,
    signed: i64,
    unsigned: Option<u64>,
    text: JsString,
    boxed: Box<str>,
    any: Option<Any>,
    object: AnyObject,
    id: ObjectId,
    at: DateTime,
    #[schema(id = 40)]
    bytes: ArrayBuffer,
    floats: Option<Float32Array>,
    list: Vec<Nullable<u64>>,
    pair: (String, Option<Nullable<f64>>, Option<bool>),
    #[schema(default)]
    defaulted: Vec<bool>,
    #[schema(default = 7)]
    seven: u64,
    by_name: IndexMap<String, Vec<usize>>,
    by_number: BTreeMap<i64, Nullable<String>>,
    nested: Option<Box<Everything>>,
    shape: Shape,
    level: Option<Level>,
    unit: (),
    literals: Vec<Only>,
    #[schema(rename = "quo\"ted\u{1}é")]
    quoted: Option<Only>,
}

#[derive(Schema)]
enum Only {
    Only,
}

#[derive(Schema)]
#[repr(u8)]
enum Level {
    Low = 1,
    High = 10,
}

#[derive(Schema)]
#[schema(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Dot,
    Circle { radius: f64, center: Option<(f64, f64)> },
    Named(Named),
    Group(Box<Group>),
}

#[derive(Schema)]
struct Named {
    name: String,
    at: Option<DateTime>,
}

#[derive(Schema)]
struct Group {
    shapes: Vec<Shape>,
    #[schema(flatten)]
    named: Named,
}

/// An intersection: an enum cannot be a base.
#[derive(Schema)]
struct Framed {
    width: u64,
    #[schema(flatten)]
    named: Named,
    #[schema(flatten)]
    shape: Tagged,
    title: Option<String>,
}

#[derive(Schema)]
#[schema(tag = "t", content = "c")]
enum Tagged {
    #[schema(value = 1)]
    One(DateTime),
    #[schema(value = true)]
    Two(Vec<u64>),
    Three(u64, String),
    Four {
        x: u64,
    },
    Five,
}

#[derive(Schema)]
struct Indexed {
    #[schema(rename = "10")]
    ten: String,
    b: u64,
    #[schema(rename = "2")]
    two: Option<bool>,
}

#[derive(Schema)]
struct OverIndexed {
    own: u64,
    #[schema(flatten)]
    indexed: Indexed,
}

#[derive(Schema)]
struct Prototype {
    constructor: Option<DateTime>,
    #[schema(rename = "toString")]
    to_string: String,
}

#[derive(Schema)]
#[schema(untagged)]
enum Disjoint {
    Date(DateTime),
    List(Vec<Disjoint>),
    Number(i64),
    Yes(bool),
    Pair(u64, Option<String>),
}

#[derive(Schema)]
#[schema(untagged)]
enum Clear {
    #[schema(rename = "a")]
    A,
    Number(i64),
    Yes(bool),
    List(Vec<Clear>),
    Record {
        #[schema(rename = "x")]
        value: Box<Clear>,
        more: Option<Level>,
    },
    #[schema(value = null)]
    Null,
}

#[derive(Schema)]
struct Page<T> {
    items: Vec<T>,
    next: Option<T>,
    cursor: Nullable<T>,
}

#[derive(Schema)]
struct Over<T> {
    page: Page<T>,
    #[schema(flatten)]
    named: Named,
}

#[test]
fn types_of_every_form_obey_the_law() {
    fn some<T: Codec>() {
        let taken = check::<T>();
        assert!(taken.of_values > 20, "{}: {taken:?}", std::any::type_name::<T>());
    }
    some::<Everything>();
    some::<Shape>();
    some::<Framed>();
    some::<Tagged>();
    some::<Indexed>();
    some::<OverIndexed>();
    some::<Prototype>();
    some::<Disjoint>();
    some::<Clear>();
    some::<Over<u64>>();
    some::<Page<Shape>>();
    some::<IndexMap<u64, Clear>>();
    // Its order is another each time.
    check_with::<HashMap<String, Vec<String>>>(Keys::AnyOrder);
    some::<Nullable<Any>>();
    some::<Vec<Any>>();
    some::<(u8, i8, f32)>();
}

#[derive(Schema)]
struct Chain {
    next: Option<Box<Chain>>,
}

#[derive(Schema)]
#[schema(tag = "t")]
enum Nest {
    Leaf,
    Node { inner: Box<Nest> },
}

fn typed<T: Codec>() -> TypedCodec<T> {
    let mut types = Registry::default();
    let ty = T::describe(&mut types);
    let (program, slot) = Program::compile_type(&ty, types.types(), &CompileOptions::default());
    TypedCodec::new(Arc::new(TsBuffer::new(program, TsBufferOptions::default())), slot)
}

/// On the stack that a test or a worker has.
#[test]
fn nesting_is_bounded_whatever_is_sent() {
    let codec = typed::<Chain>();
    for (levels, accepted) in [(1, true), (500, true), (513, false), (100_000, false)] {
        let binary = [[1, 0x2b].repeat(levels), vec![0]].concat();
        assert_eq!(codec.decode_binary(&binary).is_ok(), accepted, "{levels}");
        let json = format!("{}{{}}{}", "{\"next\":".repeat(levels), "}".repeat(levels));
        assert_eq!(codec.decode_json(json.as_bytes()).is_ok(), accepted, "{levels}");
    }
    let mut chain = Chain { next: None };
    for levels in 1..=600 {
        chain = Chain { next: Some(Box::new(chain)) };
        let (mut binary, mut json) = (Vec::new(), Vec::new());
        assert_eq!(codec.encode_binary(&chain, &mut binary).is_ok(), levels < 512, "{levels}");
        assert_eq!(codec.encode_json(&chain, &mut json).is_ok(), levels < 512, "{levels}");
    }
}

/// Where the tag comes last, every level looks ahead over all that is inside of it.
#[test]
fn looking_ahead_is_bounded_whatever_is_sent() {
    let codec = typed::<Nest>();
    let nested = |levels: usize, padding: usize| {
        let inner = format!("{{\"pad\":\"{}\",\"t\":\"Leaf\"}}", "x".repeat(padding));
        format!("{}{inner}{}", "{\"inner\":".repeat(levels), ",\"t\":\"Node\"}".repeat(levels))
    };
    for (levels, fast) in [(1, true), (7, true), (8, false), (100, false)] {
        let text = nested(levels, 1_000_000);
        let is_fast = Nest::decode_json(&mut JsonReader::new(&text)).is_ok();
        assert_eq!(is_fast, fast, "{levels}");
        assert!(codec.decode_json(text.as_bytes()).is_ok(), "{levels}");
    }
}

/// Valid values of these take the fast path always, both ways.
#[test]
fn types_without_any_never_leave_the_fast_path() {
    fn all<T: Codec>() {
        let taken = check::<T>();
        let name = std::any::type_name::<T>();
        assert_eq!(taken.encoded, taken.of_values, "{name}: {taken:?}");
        assert_eq!(taken.decoded, taken.of_inputs, "{name}: {taken:?}");
        assert!(taken.of_values > 0, "{name}");
    }
    all::<Shape>();
    all::<Named>();
    all::<Group>();
    all::<Page<Shape>>();
    all::<Over<u64>>();
}
