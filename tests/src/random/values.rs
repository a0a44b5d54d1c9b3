//! Random values: such as a type accepts, and such as come close.
//!
//! Depends on the compiled program, only to know what to aim for: which value
//! is right is for the implementations under test to say.

use polywire_schema::{BufferKind, EnumValue, Flat, JsString, KeyType, Node, Object, Program, Scalar, Slot, Value};

use super::Rng;

/// Below this depth a value takes every way to end.
const DEPTH: usize = 8;

/// Below this one it just ends: its type is one that no finite value has.
const BOTTOM: usize = 24;

/// The same two bounds for the number of values within a value.
const MANY: usize = 100;
const TOO_MANY: usize = 300;

/// A value for a type of `program`. One in `spoil` values within is replaced by
/// something else, is missing, or stands next to what the type does not declare;
/// 0 spoils nothing.
#[must_use]
pub fn random_value(rng: &mut Rng, program: &Program, slot: Slot, spoil: usize) -> Value {
    Maker { rng, program, spoil, made: 0 }.value(slot, 0)
}

/// Any value that JSON can hold.
#[must_use]
pub fn random_json(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth >= 3 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => Value::Bool(rng.one_in(2)),
        2 => Value::Number(finite(rng)),
        3 | 4 => Value::from(text(rng)),
        5 => Value::Array((0..rng.below(4)).map(|_| random_json(rng, depth + 1)).collect()),
        _ => {
            let mut object = Object::new();
            for _ in 0..rng.below(4) {
                let key = *rng.pick(&["a", "b", "c", "10", "2", "$", "é"]);
                object.set(key, random_json(rng, depth + 1));
            }
            Value::Object(object)
        }
    }
}

struct Maker<'r> {
    rng: &'r mut Rng,
    program: &'r Program,
    spoil: usize,
    made: usize,
}

impl Maker<'_> {
    fn must_end(&self, depth: usize) -> bool {
        depth >= DEPTH || self.made > MANY
    }

    fn spoils(&mut self) -> bool {
        self.spoil > 0 && self.rng.one_in(self.spoil)
    }

    fn value(&mut self, slot: Slot, depth: usize) -> Value {
        self.made += 1;
        if depth > BOTTOM || self.made > TOO_MANY || (depth > 0 && self.spoils()) {
            return self.stranger();
        }
        let program = self.program;
        match program.node(slot.node) {
            Node::Any => self.anything(),
            Node::Boolean => Value::Bool(self.rng.one_in(2)),
            Node::Number(scalar) => self.number(*scalar),
            Node::String => self.string(),
            Node::Date => Value::Date(self.date()),
            Node::Buffer(kind) => self.buffer(*kind),
            Node::Literal(literal) => literal.to_value(),
            Node::Enum(members) => match &self.rng.pick(members).value {
                EnumValue::Number(number) => Value::Number(*number),
                EnumValue::String(text) => Value::from(text.as_str()),
                EnumValue::Null => Value::Null,
            },
            Node::Object => random_json(self.rng, 0),
            Node::Array(element) => {
                let length = if self.must_end(depth) { 0 } else { self.rng.below(4) };
                Value::Array((0..length).map(|_| self.value(*element, depth + 1)).collect())
            }
            Node::Tuple { elements, optional_from } => {
                let length =
                    if self.rng.one_in(3) { self.rng.within(*optional_from..=elements.len()) } else { elements.len() };
                let mut tuple: Vec<Value> = elements[..length]
                    .iter()
                    .enumerate()
                    .map(|(at, element)| {
                        let missing = at >= *optional_from && self.rng.one_in(4);
                        if missing { self.nothing() } else { self.value(*element, depth + 1) }
                    })
                    .collect();
                if self.spoils() {
                    tuple.push(self.stranger());
                }
                Value::Array(tuple)
            }
            Node::Interface(interface) => self.object(&interface.flat, depth),
            Node::Mapped(mapped) => self.object(&mapped.flat, depth),
            Node::Union(members) if members.is_empty() => Value::Undefined,
            Node::Union(members) => {
                // Deep down, one that ends.
                let member = if self.must_end(depth) {
                    self.shallowest(members.iter().map(|m| m.slot))
                } else {
                    self.rng.pick(members).slot
                };
                let mut value = self.value(member, depth + 1);
                if self.rng.one_in(6) {
                    let other = self.rng.pick(members).slot;
                    merge(&mut value, self.value(other, depth + 1));
                }
                value
            }
            Node::Intersection(members) => {
                let mut value = Value::Object(Object::new());
                for member in members.iter() {
                    merge(&mut value, self.value(member.slot, depth + 1));
                }
                value
            }
            Node::NonNullable(target) => self.value(*target, depth + 1),
            Node::Custom(_) => {
                let mut id = [0; 12];
                id.fill_with(|| self.rng.below(256) as u8);
                Value::ObjectId(id)
            }
            Node::Invalid(_) => self.stranger(),
        }
    }

    fn object(&mut self, flat: &Flat, depth: usize) -> Value {
        let mut object = Object::new();
        let mut names: Vec<_> = flat.properties.keys().collect();
        if self.rng.one_in(4) {
            names.reverse();
        }
        for name in names {
            let property = &flat.properties[name];
            let missing = property.optional && (self.must_end(depth) || self.rng.one_in(2));
            if missing {
                if self.rng.one_in(5) {
                    object.set(&**name, self.nothing());
                }
            } else if !self.spoils() {
                object.set(&**name, self.value(property.slot, depth + 1));
            }
        }
        if let Some(index) = &flat.index {
            for _ in 0..if self.must_end(depth) { 0 } else { self.rng.below(4) } {
                let key = match index.key {
                    KeyType::Number => (*self.rng.pick(&["0", "7", "10", "-1"])).to_owned(),
                    KeyType::String => text(self.rng),
                };
                if !flat.properties.contains_key(key.as_str()) {
                    object.set(key, self.value(index.slot, depth + 1));
                }
            }
        }
        if self.spoils() {
            let key = *self.rng.pick(&["excess", "a", "b", "c", "t", "10"]);
            if !object.contains_key(key) {
                object.set(key, self.stranger());
            }
        }
        Value::Object(object)
    }

    fn nothing(&mut self) -> Value {
        if self.rng.one_in(2) { Value::Undefined } else { Value::Null }
    }

    /// A value of a type that was not asked for.
    fn stranger(&mut self) -> Value {
        match self.rng.below(12) {
            0 => Value::Undefined,
            1 => Value::Null,
            2 => Value::Number(f64::NAN),
            3 => Value::Number(-1.5),
            4 => Value::Date(self.date()),
            5 => Value::Buffer(BufferKind::Uint8Array, vec![1, 2, 3].into()),
            6 => Value::Array(vec![]),
            7 => Value::Object(Object::new()),
            8 => Value::ObjectId([1; 12]),
            9 => Value::from("a"),
            _ => random_json(self.rng, 2),
        }
    }

    /// What `any` is given: mostly JSON.
    fn anything(&mut self) -> Value {
        match self.rng.below(8) {
            0 => Value::Undefined,
            1 => Value::Date(self.date()),
            2 => Value::Number(f64::NAN),
            3 => Value::from("undefined"),
            _ => random_json(self.rng, 0),
        }
    }

    fn number(&mut self, scalar: Scalar) -> Value {
        Value::Number(match scalar {
            Scalar::Double | Scalar::ExplicitDouble => match self.rng.below(12) {
                0 => -0.0,
                1 => f64::NAN,
                2 => f64::NEG_INFINITY,
                _ => finite(self.rng),
            },
            Scalar::Int | Scalar::BigInt | Scalar::BigInt64 => {
                let number = natural(self.rng);
                if self.rng.one_in(2) { -number } else { number }
            }
            Scalar::Uint | Scalar::BigUint64 => natural(self.rng),
        })
    }

    fn string(&mut self) -> Value {
        match self.rng.below(24) {
            0 => Value::String(JsString::from_utf16(&[0x61, 0xd800])),
            1 => Value::String(JsString::from_utf16(&[0xdc00, 0x62])),
            2 => Value::from("x".repeat(self.rng.within(120..=140))),
            _ => Value::from(text(self.rng)),
        }
    }

    fn date(&mut self) -> f64 {
        match self.rng.below(10) {
            0 => 0.0,
            1 => 8.64e15,
            2 => f64::NAN,
            3 => -1.0,
            4 => -62_198_755_200_000.0,
            5 => 253_402_300_800_000.0,
            _ => natural(self.rng).min(8.64e15),
        }
    }

    fn buffer(&mut self, kind: BufferKind) -> Value {
        let length = self.rng.below(4) * kind.element_size();
        let bytes: Vec<u8> = (0..length).map(|_| self.rng.below(256) as u8).collect();
        Value::Buffer(kind, bytes.into())
    }

    /// The member whose values end soonest: no interface, if there is one.
    fn shallowest(&mut self, mut members: impl Iterator<Item = Slot> + Clone) -> Slot {
        let first = members.clone().next().expect("a union with members");
        let is_leaf = |slot: &Slot| {
            !matches!(
                self.program.node(slot.node),
                Node::Interface(_)
                    | Node::Mapped(_)
                    | Node::Union(_)
                    | Node::Intersection(_)
                    | Node::Tuple { .. }
                    | Node::NonNullable(_)
            )
        };
        members.find(is_leaf).unwrap_or(first)
    }
}

/// Puts the properties of `other` next to those of `value`, if both are objects.
fn merge(value: &mut Value, other: Value) {
    if let (Value::Object(object), Value::Object(other)) = (value, other) {
        for (key, value) in other.iter() {
            if !object.contains_key(key) {
                object.set(key, value.clone());
            }
        }
    }
}

fn finite(rng: &mut Rng) -> f64 {
    match rng.below(6) {
        0 => *rng.pick(&[0.1, 1e21, 1e-7, 5e-324, f64::MAX, 123_456.789, 2.0f64.powi(53) + 2.0]),
        1 => {
            let number = f64::from_bits(rng.bits());
            if number.is_finite() { number } else { 0.5 }
        }
        _ => {
            let number = natural(rng);
            if rng.one_in(2) { -number / 4.0 } else { number }
        }
    }
}

/// An integer from 0 to 2^53, of every length.
fn natural(rng: &mut Rng) -> f64 {
    let bits = rng.below(54);
    (rng.bits() & ((1 << bits) - 1)) as f64
}

fn text(rng: &mut Rng) -> String {
    (*rng.pick(&[
        "",
        "a",
        "b",
        "abc",
        "é",
        "中文",
        "😀",
        "\u{0}\u{1f}\u{7f}",
        "\"\\/",
        "\u{2028}",
        "2020-01-01",
        "undefined",
        "AQID",
        "61531914435b997af15dc382",
        "10",
        "1970-01-01T00:00:00.000Z",
    ]))
    .to_owned()
}
