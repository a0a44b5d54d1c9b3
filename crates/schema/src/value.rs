//! The dynamic value: whatever TSRPC peers can hold in JavaScript.
//!
//! Depends on the sibling value modules only.

use bytes::Bytes;

use crate::{JsString, Object};

/// The class of a binary value: `Buffer` in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BufferKind {
    /// `ArrayBuffer`: plain bytes.
    ArrayBuffer,
    /// `Int8Array`.
    Int8Array,
    /// `Int16Array`.
    Int16Array,
    /// `Int32Array`.
    Int32Array,
    /// `BigInt64Array`.
    BigInt64Array,
    /// `Uint8Array`.
    Uint8Array,
    /// `Uint16Array`.
    Uint16Array,
    /// `Uint32Array`.
    Uint32Array,
    /// `BigUint64Array`.
    BigUint64Array,
    /// `Float32Array`.
    Float32Array,
    /// `Float64Array`.
    Float64Array,
}

impl BufferKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::ArrayBuffer,
        Self::Int8Array,
        Self::Int16Array,
        Self::Int32Array,
        Self::BigInt64Array,
        Self::Uint8Array,
        Self::Uint16Array,
        Self::Uint32Array,
        Self::BigUint64Array,
        Self::Float32Array,
        Self::Float64Array,
    ];

    /// The name of the JavaScript class.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ArrayBuffer => "ArrayBuffer",
            Self::Int8Array => "Int8Array",
            Self::Int16Array => "Int16Array",
            Self::Int32Array => "Int32Array",
            Self::BigInt64Array => "BigInt64Array",
            Self::Uint8Array => "Uint8Array",
            Self::Uint16Array => "Uint16Array",
            Self::Uint32Array => "Uint32Array",
            Self::BigUint64Array => "BigUint64Array",
            Self::Float32Array => "Float32Array",
            Self::Float64Array => "Float64Array",
        }
    }

    /// The kind of a JavaScript class name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The size of one element in bytes (1 for `ArrayBuffer`).
    #[must_use]
    pub const fn element_size(self) -> usize {
        match self {
            Self::ArrayBuffer | Self::Int8Array | Self::Uint8Array => 1,
            Self::Int16Array | Self::Uint16Array => 2,
            Self::Int32Array | Self::Uint32Array | Self::Float32Array => 4,
            Self::BigInt64Array | Self::BigUint64Array | Self::Float64Array => 8,
        }
    }
}

/// A dynamic value.
///
/// `PartialEq` is structural; numbers compare as IEEE-754 does (`NaN` is
/// unequal to itself).
///
/// Whatever reads a value bounds how deep it is ([`MAX_VALUE_DEPTH`](crate::MAX_VALUE_DEPTH),
/// [`MAX_JSON_DEPTH`](crate::MAX_JSON_DEPTH)), and what checks, converts and writes one refuses
/// a deeper one. But dropping, cloning, comparing and printing a value recurse, as they do for
/// any tree in Rust: parts can be moved out of the variants, which a `Drop` would forbid. Who
/// builds values of tens of thousands of levels by hand has to take them apart level by level.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    /// `undefined`, also where a property is missing.
    #[default]
    Undefined,
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number: an IEEE-754 double.
    Number(f64),
    /// A `bigint`. Values beyond 128 bits are not represented.
    BigInt(i128),
    /// A string.
    String(JsString),
    /// A typed array or `ArrayBuffer`: its memory, little-endian.
    Buffer(BufferKind, Bytes),
    /// A `Date`: milliseconds since 1970-01-01T00:00:00Z; `NaN` is the invalid date.
    Date(f64),
    /// An `ObjectId` of MongoDB, as the class.
    ObjectId([u8; 12]),
    /// An array. A hole is [`Value::Undefined`].
    Array(Vec<Value>),
    /// A plain object.
    Object(Object),
}

impl Value {
    /// How much work it is to go through it: one for each value in it and for itself, and
    /// some more for long texts and for the elements of typed arrays.
    #[must_use]
    pub fn size(&self) -> u64 {
        let mut size = 0;
        // Values that were not read from anywhere may be deeper than the stack.
        let mut left = vec![self];
        while let Some(value) = left.pop() {
            size += value.own_size();
            match value {
                Self::Array(elements) => left.extend(elements),
                Self::Object(object) => left.extend(object.iter().map(|(_, value)| value)),
                _ => {}
            }
        }
        size
    }

    /// Its [`size`](Self::size) without what is in it.
    #[must_use]
    pub fn own_size(&self) -> u64 {
        /// As much text is copied in the time that a value takes.
        const BYTES: usize = 64;
        let more = match self {
            Self::String(JsString::Utf8(text)) => text.len() / BYTES,
            Self::String(JsString::Utf16(text)) => size_of_val(&**text) / BYTES,
            Self::Buffer(_, bytes) => bytes.len(),
            _ => 0,
        };
        1 + more as u64
    }

    /// What `typeof` and the published type errors call it: `null`, `Array` and
    /// `Object` (any other object) are told apart.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::BigInt(_) => "bigint",
            Self::String(_) => "string",
            Self::Array(_) => "Array",
            Self::Buffer(..) | Self::Date(_) | Self::ObjectId(_) | Self::Object(_) => "Object",
        }
    }

    /// Whether it is `undefined`.
    #[must_use]
    pub fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined)
    }

    /// Whether it is `null` or `undefined`.
    #[must_use]
    pub fn is_nullish(&self) -> bool {
        matches!(self, Self::Undefined | Self::Null)
    }

    /// The text of a well-formed string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => text.as_str(),
            _ => None,
        }
    }

    /// The number.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The plain object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// A property of a plain object; `None` where there is none.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Number(value.into())
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Number(value.into())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value.into())
    }
}

impl From<JsString> for Value {
    fn from(value: JsString) -> Self {
        Self::String(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Value>) -> Self {
        Self::Array(value)
    }
}

impl From<Object> for Value {
    fn from(value: Object) -> Self {
        Self::Object(value)
    }
}
