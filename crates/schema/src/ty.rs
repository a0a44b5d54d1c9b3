//! The type model: what a schema is (reference §2).
//!
//! Depends on the value modules only. A [`Type`] is plain data, as written in a
//! service proto; [`Program`](crate::Program) is what it is compiled into.

use indexmap::IndexMap;

use crate::{BufferKind, Value};

/// How a `Number` is represented and what it may hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `double`: any IEEE-754 double. Schemas say so by leaving the scalar type out.
    #[default]
    Double,
    /// `double`, written out.
    ExplicitDouble,
    /// An integer.
    Int,
    /// An integer of at least zero.
    Uint,
    /// `bigint`.
    BigInt,
    /// `bigint64`.
    BigInt64,
    /// `biguint64`.
    BigUint64,
}

impl Scalar {
    /// The name in the JSON form; `double` also where it is left out there.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Double | Self::ExplicitDouble => "double",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::BigInt => "bigint",
            Self::BigInt64 => "bigint64",
            Self::BigUint64 => "biguint64",
        }
    }

    /// Whether values are bigints.
    #[must_use]
    pub const fn is_big(self) -> bool {
        matches!(self, Self::BigInt | Self::BigInt64 | Self::BigUint64)
    }
}

/// The value of a `Literal` type.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `undefined`.
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    String(String),
}

impl Literal {
    /// The only value of the type.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Undefined => Value::Undefined,
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => Value::Number(*number),
            Self::String(text) => Value::from(text.as_str()),
        }
    }
}

/// The value of an `Enum` member.
#[derive(Debug, Clone, PartialEq)]
pub enum EnumValue {
    /// A number.
    Number(f64),
    /// A string.
    String(String),
    /// What the published generator writes for a member without initialiser
    /// behind a string member. No value equals it.
    Null,
}

impl EnumValue {
    /// The value in the application.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Number(number) => Value::Number(*number),
            Self::String(text) => Value::from(text.as_str()),
            Self::Null => Value::Null,
        }
    }
}

/// One member of an enum.
#[derive(Debug, Clone, PartialEq)]
pub struct EnumMember {
    /// The id on the wire.
    pub id: u32,
    /// The value in the application.
    pub value: EnumValue,
}

/// One property of an interface.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// The id on the wire, stable between versions.
    pub id: u32,
    /// The name.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// Whether the property may be missing.
    pub optional: bool,
}

/// A type with an id: a member of a union or intersection, or a base of an interface.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The id on the wire, stable between versions.
    pub id: u32,
    /// The type.
    pub ty: Type,
}

/// What the keys of an index signature are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// Any string.
    String,
    /// Strings that are the decimal form of an integer.
    Number,
}

/// `[key: …]: type`.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexSignature {
    /// What the keys are.
    pub key: KeyType,
    /// The type of each value.
    pub ty: Box<Type>,
}

/// An object type with named properties.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interface {
    /// Base interfaces.
    pub extends: Vec<Member>,
    /// Own properties.
    pub properties: Vec<Property>,
    /// The index signature.
    pub index: Option<IndexSignature>,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// `any`, `unknown`.
    Any,
    /// `boolean`.
    Boolean,
    /// A number or bigint.
    Number(Scalar),
    /// `string`.
    String,
    /// `Date`.
    Date,
    /// A typed array or `ArrayBuffer`.
    Buffer(BufferKind),
    /// A single value.
    Literal(Literal),
    /// One of several named values.
    Enum(Vec<EnumMember>),
    /// `object`: any non-null object or array.
    Object,
    /// `T[]`.
    Array(Box<Type>),
    /// `[A, B?]`.
    Tuple {
        /// The types by position.
        elements: Vec<Type>,
        /// Elements from here on may be missing.
        optional_from: Option<usize>,
    },
    /// An object type.
    Interface(Box<Interface>),
    /// `A | B`.
    Union(Vec<Member>),
    /// `A & B`.
    Intersection(Vec<Member>),
    /// A type by its schema id.
    Reference(String),
    /// `T['k']`.
    IndexedAccess {
        /// The key.
        index: String,
        /// The type of the object.
        object: Box<Type>,
    },
    /// `keyof T`.
    Keyof(Box<Type>),
    /// `NonNullable<T>`.
    NonNullable(Box<Type>),
    /// `Pick<T, K>`.
    Pick {
        /// The object type.
        target: Box<Type>,
        /// The keys that stay.
        keys: Vec<String>,
    },
    /// `Omit<T, K>`.
    Omit {
        /// The object type.
        target: Box<Type>,
        /// The keys that go.
        keys: Vec<String>,
    },
    /// `Partial<T>`.
    Partial(Box<Type>),
    /// `Overwrite<T, U>`.
    Overwrite {
        /// The object type.
        target: Box<Type>,
        /// The object type whose properties replace those of the target.
        overwrite: Box<Type>,
    },
}

impl Type {
    /// The name of the kind, as in the JSON form (`"Interface"`, `"Union"`, …).
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Any => "Any",
            Self::Boolean => "Boolean",
            Self::Number(_) => "Number",
            Self::String => "String",
            Self::Date => "Date",
            Self::Buffer(_) => "Buffer",
            Self::Literal(_) => "Literal",
            Self::Enum(_) => "Enum",
            Self::Object => "Object",
            Self::Array(_) => "Array",
            Self::Tuple { .. } => "Tuple",
            Self::Interface(_) => "Interface",
            Self::Union(_) => "Union",
            Self::Intersection(_) => "Intersection",
            Self::Reference(_) => "Reference",
            Self::IndexedAccess { .. } => "IndexedAccess",
            Self::Keyof(_) => "Keyof",
            Self::NonNullable(_) => "NonNullable",
            Self::Pick { .. } => "Pick",
            Self::Omit { .. } => "Omit",
            Self::Partial(_) => "Partial",
            Self::Overwrite { .. } => "Overwrite",
        }
    }
}

/// Named types: schema id → type, in the order of the service proto.
pub type TypeSet = IndexMap<String, Type>;
