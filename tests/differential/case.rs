//! A random type with a random value, and what is asked of the codecs about them.

use polywire_schema::{
    CompileOptions, Node, Program, SchemaError, Slot, TypeSet, ValidateOptions, Value, types_to_json,
};
use polywire_tests::{
    notation::{self, to_hex},
    random::{Rng, random_value},
};
use polywire_tsbuffer::{
    DecodeError, TsBuffer, TsBufferOptions,
    binary::{ReadError, Strictness},
};
use serde_json::{Value as Json, json};

use crate::answer::Answer;

/// A type, a value, and what is asked about them: always the same for a seed.
pub(crate) struct Case {
    pub(crate) seed: u64,
    root: String,
    pub(crate) types: TypeSet,
    pub(crate) options: ValidateOptions,
    /// Reads leniently, as the published package does.
    pub(crate) tsbuffer: TsBuffer,
    pub(crate) slot: Slot,
    pub(crate) value: Value,
    pub(crate) calls: Vec<Call>,
}

/// What is asked.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    Validate,
    Prune,
    Encode,
    Decode(Vec<u8>),
    EncodeJson,
    DecodeJson(String),
}

impl Case {
    /// The case of a seed.
    pub(crate) fn new(seed: u64, random_types: fn(&mut Rng) -> TypeSet) -> Self {
        let mut rng = Rng::new(seed);
        let (types, program) = loop {
            let types = random_types(&mut rng);
            let program = Program::compile(&types, &CompileOptions::default());
            // Where types are defined by themselves alone, the published package has no answer.
            let is_circular = |node: &Node| matches!(node, Node::Invalid(SchemaError::TooDeep(_)));
            if !program.nodes().iter().any(is_circular) {
                break (types, program);
            }
        };
        let checks = ValidateOptions { excess_property_checks: !rng.one_in(10), strict_null_checks: rng.one_in(6) };
        let (root, _) = types.first().expect("a set of at least one type");
        let root = root.clone();
        let slot = program.root(&root).expect("every type of the set is a root");
        let spoil = *rng.pick(&[0, 0, 30, 8]);
        let value = random_value(&mut rng, &program, slot, spoil);
        let options = TsBufferOptions { checks, strictness: Strictness::Lenient };
        let tsbuffer = TsBuffer::new(program, options);
        let mut case = Self { seed, root, types, options: checks, tsbuffer, slot, value, calls: Vec::new() };
        case.calls = case.random_calls(&mut rng);
        case
    }

    fn random_calls(&self, rng: &mut Rng) -> Vec<Call> {
        let mut calls = vec![Call::Validate, Call::Prune, Call::Encode, Call::EncodeJson];
        if let Ok(bytes) = self.tsbuffer.encode(self.slot, &self.value) {
            let changed = (0..3).map(|_| Call::Decode(change(&bytes, rng))).collect::<Vec<_>>();
            calls.push(Call::Decode(bytes));
            calls.extend(changed);
        } else {
            let length = rng.below(12);
            calls.push(Call::Decode((0..length).map(|_| rng.bits() as u8).collect()));
        }
        // What a peer may send: what we would, the value as it stands, another value of about the type.
        let written = self.tsbuffer.encode_json(self.slot, &self.value).ok().flatten();
        let spoilt = random_value(rng, self.tsbuffer.program(), self.slot, 10).to_json().ok().flatten();
        let plain = self.value.to_json().ok().flatten();
        calls.extend([written, plain, spoilt].into_iter().flatten().map(Call::DecodeJson));
        calls.retain(|call| self.is_bounded(call));
        calls
    }

    /// The published package loops over as many elements as the bytes claim, also where they take no bytes.
    fn is_bounded(&self, call: &Call) -> bool {
        let Call::Decode(bytes) = call else { return true };
        let error = self.tsbuffer.decode(self.slot, bytes).err();
        !matches!(error, Some(DecodeError::Read(ReadError::TooManyZeroWidthElements | ReadError::TooDeep)))
    }

    /// What the worker is asked: about all calls what the package says.
    pub(crate) fn job(&self) -> Json {
        self.job_of(self.calls.iter().map(|call| self.call_to_json(call)).collect())
    }

    /// What the worker is asked about some calls: also what the package says with its defects mended.
    pub(crate) fn mended_job(&self, calls: &[usize]) -> Json {
        let calls = calls.iter().map(|at| {
            let mut call = self.call_to_json(&self.calls[*at]);
            call["mended"] = true.into();
            call
        });
        self.job_of(calls.collect())
    }

    fn job_of(&self, calls: Vec<Json>) -> Json {
        let options = json!({
            "excessPropertyChecks": self.options.excess_property_checks,
            "strictNullChecks": self.options.strict_null_checks,
        });
        json!({"proto": self.proto(), "schemaId": self.root, "options": options, "calls": calls})
    }

    fn call_to_json(&self, call: &Call) -> Json {
        let of_value = |op: &str| json!({"op": op, "value": notation::write(&self.value)});
        match call {
            Call::Validate => of_value("validate"),
            Call::Prune => of_value("prune"),
            Call::Encode => of_value("encode"),
            Call::Decode(bytes) => json!({"op": "decode", "hex": to_hex(bytes)}),
            Call::EncodeJson => of_value("encodeJSON"),
            Call::DecodeJson(text) => json!({"op": "decodeJSON", "jsonText": text}),
        }
    }

    /// The types in JSON, in the notation of the vectors.
    pub(crate) fn proto(&self) -> Json {
        notation::write(&types_to_json(&self.types))
    }

    /// Our answer to a call.
    pub(crate) fn answer(&self, call: &Call) -> Answer {
        let (tsbuffer, slot) = (&self.tsbuffer, self.slot);
        match call {
            Call::Validate => Answer::of(tsbuffer.validate(slot, &self.value), |()| Answer::Valid),
            Call::Prune => Answer::of(tsbuffer.prune(slot, &self.value), Answer::Value),
            Call::Encode => Answer::of(tsbuffer.encode(slot, &self.value), Answer::Bytes),
            Call::EncodeJson => Answer::of(tsbuffer.encode_json(slot, &self.value), Answer::Text),
            Call::Decode(bytes) => Answer::of_decoding(tsbuffer.decode(slot, bytes)),
            Call::DecodeJson(text) => {
                let json = Value::parse_json(text).expect("a text that was written as JSON");
                Answer::of_decoding(tsbuffer.decode_json(slot, json))
            }
        }
    }
}

/// Bytes with something changed, cut or added.
fn change(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + rng.below(2) {
        let at = rng.below(bytes.len().max(1));
        match rng.below(8) {
            _ if bytes.is_empty() => bytes.push(rng.bits() as u8),
            0 => bytes.truncate(at),
            1 => bytes.insert(at, rng.bits() as u8),
            2 => drop(bytes.remove(at)),
            3 => bytes[at] = rng.bits() as u8,
            4 => bytes[at] = *rng.pick(&[0, 1, 0x7f, 0x80, 0xff]),
            5 => bytes[at] = bytes[at].wrapping_add(4),
            6 => bytes[at] ^= 1 << rng.below(8),
            _ => bytes[at] = bytes[at].wrapping_sub(1),
        }
    }
    bytes
}
