//! A set of types, compiled: every name resolved, every mapped type flattened, once.
//!
//! Depends on the type model only. Invariants: every [`NodeId`] of a program
//! names a node of it; a node never needs a lookup by schema id; what cannot be
//! resolved is a [`Node::Invalid`], reported where a value reaches it and not before.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    ops::Deref,
    sync::Arc,
};

use indexmap::IndexMap;

use crate::{
    BufferKind, EnumMember, KeyType, Literal, ObjectIdClass, Scalar, Value, declared::Declared, dispatch::Dispatch,
};

/// The place of a node in its [`Program`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// The position in [`Program::nodes`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which empty literals a type admits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Nullness {
    /// It can be the literal `null`.
    pub null: bool,
    /// It can be the literal `undefined`.
    pub undefined: bool,
}

impl Nullness {
    pub(crate) fn of_literal(literal: &Literal) -> Self {
        Self { null: *literal == Literal::Null, undefined: *literal == Literal::Undefined }
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self { null: self.null || other.null, undefined: self.undefined || other.undefined }
    }
}

/// A use of a type: as a property, an element, a member, a value.
///
/// TSBuffer decides on null and undefined partly by the schema as it is written
/// and partly by what it refers to (reference §5.8, §6.2), so each view is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The resolved type.
    pub node: NodeId,
    /// What the type can be as written: no reference is followed.
    pub written: Nullness,
    /// What it can be, all references followed.
    pub resolved: Nullness,
    /// Whether the type as written is `any` itself.
    pub any: bool,
    /// What the codecs take the type as written to be: as `written`, but `any`
    /// can be both, also as a member of a union (§5.8; for the missing rule of
    /// §6.2 it can be neither).
    pub codable: Nullness,
}

/// A property with everything resolved.
#[derive(Debug, Clone)]
pub struct PropertySlot {
    /// The name.
    pub name: Arc<str>,
    /// The id on the wire; for flattened properties, the position.
    pub id: u32,
    /// The type.
    pub slot: Slot,
    /// Whether it may be missing.
    pub optional: bool,
}

/// An index signature with everything resolved.
#[derive(Debug, Clone, Copy)]
pub struct IndexSlot {
    /// What the keys are.
    pub key: KeyType,
    /// The type of each value.
    pub slot: Slot,
}

/// An interface or mapped type with its bases and mappings applied (reference §2.1).
#[derive(Debug, Clone, Default)]
pub struct Flat {
    /// The properties, in JavaScript's key order.
    pub properties: IndexMap<Arc<str>, PropertySlot>,
    /// The index signature.
    pub index: Option<IndexSlot>,
}

/// A base of an interface.
#[derive(Debug, Clone, Copy)]
pub struct BaseSlot {
    /// The id as written in the proto; the block id on the wire is one more.
    pub id: u32,
    /// An interface or a mapped type (or what is invalid).
    pub node: NodeId,
}

/// A compiled interface.
#[derive(Debug, Clone)]
pub struct InterfaceNode {
    /// The bases, in schema order.
    pub bases: Vec<BaseSlot>,
    /// Own properties, in schema order.
    pub properties: Vec<PropertySlot>,
    /// The own index signature.
    pub index: Option<IndexSlot>,
    /// With all bases applied.
    pub flat: Flat,
}

/// What a mapped type does to its target.
#[derive(Debug, Clone)]
pub enum Mapping {
    /// Keeps these keys.
    Pick(Vec<Arc<str>>),
    /// Drops these keys.
    Omit(Vec<Arc<str>>),
    /// Makes every property optional.
    Partial,
    /// Replaces properties by those of another object type.
    Overwrite(NodeId),
}

/// A mapped type over an interface (or over another mapped type of one).
#[derive(Debug, Clone)]
pub struct MappedNode {
    /// What is done.
    pub mapping: Mapping,
    /// To what: an [`Node::Interface`] or [`Node::Mapped`].
    pub target: NodeId,
    /// The result.
    pub flat: Flat,
}

/// A member of a union or intersection.
#[derive(Debug, Clone, Copy)]
pub struct MemberSlot {
    /// The id on the wire.
    pub id: u32,
    /// The type.
    pub slot: Slot,
}

/// The members of a union or intersection, in schema order.
#[derive(Debug, Clone, Default)]
pub struct Members {
    slots: Box<[MemberSlot]>,
    pub(crate) declared: Declared,
    pub(crate) dispatch: Dispatch,
}

impl Members {
    pub(crate) fn new(slots: Box<[MemberSlot]>) -> Self {
        Self { slots, ..Self::default() }
    }

    pub(crate) fn slots_mut(&mut self) -> &mut [MemberSlot] {
        &mut self.slots
    }

    /// The members of a union that a value may match, by position, in schema
    /// order: a quick look at the value, not a check. No other member matches.
    pub fn candidates(&self, value: &Value) -> impl Iterator<Item = usize> + use<'_> {
        self.dispatch.candidates(value, self.slots.len())
    }
}

impl Deref for Members {
    type Target = [MemberSlot];

    fn deref(&self) -> &[MemberSlot] {
        &self.slots
    }
}

/// A compiled type.
#[derive(Debug, Clone)]
pub enum Node {
    /// Anything.
    Any,
    /// A boolean.
    Boolean,
    /// A number or bigint.
    Number(Scalar),
    /// A string.
    String,
    /// A date.
    Date,
    /// A typed array or `ArrayBuffer`.
    Buffer(BufferKind),
    /// One value.
    Literal(Literal),
    /// One of several values.
    Enum(Vec<EnumMember>),
    /// Any object or array.
    Object,
    /// An array.
    Array(Slot),
    /// A tuple.
    Tuple {
        /// The types by position.
        elements: Vec<Slot>,
        /// Elements from here on may be missing; the length where none may.
        optional_from: usize,
    },
    /// An object type.
    Interface(Box<InterfaceNode>),
    /// A mapped object type.
    Mapped(Box<MappedNode>),
    /// One or more of the members.
    Union(Box<Members>),
    /// All of the members.
    Intersection(Box<Members>),
    /// Neither null nor undefined.
    NonNullable(Slot),
    /// A type defined by the application (or `ObjectId`).
    Custom(Arc<dyn CustomType>),
    /// A type that cannot be resolved.
    Invalid(SchemaError),
}

/// A type whose values the application checks and converts (reference §2, `Custom`).
pub trait CustomType: fmt::Debug + Send + Sync {
    /// Checks a value; the error is the text that the peer sees.
    ///
    /// # Errors
    /// The text, where the value is refused.
    fn validate(&self, value: &Value) -> Result<(), String>;

    /// The binary form. `None` where the type has none.
    fn encode(&self, value: &Value) -> Option<Result<Vec<u8>, String>> {
        let _ = value;
        None
    }

    /// Reads the binary form. `None` where the type has none.
    fn decode(&self, bytes: &[u8]) -> Option<Result<Value, String>> {
        let _ = bytes;
        None
    }

    /// The JSON form. `None`: the value stays as it is.
    fn encode_json(&self, value: &Value) -> Option<Value> {
        let _ = value;
        None
    }

    /// Reads the JSON form. `None`: the value stays as it is.
    fn decode_json(&self, value: &Value) -> Option<Result<Value, String>> {
        let _ = value;
        None
    }

    /// Which of the known forms of `ObjectId` it is: specialised codecs know the class.
    fn object_id_class(&self) -> Option<ObjectIdClass> {
        None
    }
}

/// Why a type cannot be resolved. `Display` gives the published text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A schema id that the set does not hold.
    #[error("Cannot find reference target: {0}")]
    MissingReference(String),
    /// An indexed access whose object is no object type.
    #[error("Error objectType: {0}")]
    NotAnObjectType(&'static str),
    /// A base, `keyof` or overwriting type that is no object type.
    #[error("Cannot flatten non interface type: {0}")]
    NotAnInterface(&'static str),
    /// An indexed access to a key that the object type does not have.
    #[error("Error index: {0}")]
    NoSuchIndex(String),
    /// A mapped type over something that is no object type.
    #[error("Unsupported pattern {mapping}<{target}>")]
    UnsupportedPattern {
        /// The outer kind.
        mapping: &'static str,
        /// The innermost kind.
        target: &'static str,
    },
    /// A type that is defined by itself without anything in between, or too deep a nesting.
    #[error("Type is circular or nested too deeply: {0}")]
    TooDeep(String),
}

/// How checks are done (reference §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidateOptions {
    /// Refuse properties that the type does not declare. On by default.
    pub excess_property_checks: bool,
    /// Tell null, undefined and missing apart. Off by default.
    pub strict_null_checks: bool,
}

impl Default for ValidateOptions {
    fn default() -> Self {
        Self { excess_property_checks: true, strict_null_checks: false }
    }
}

/// Compiled types: an arena of nodes and the entry points by schema id.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub(crate) nodes: Vec<Node>,
    pub(crate) roots: HashMap<Box<str>, Slot>,
    /// See [`Program::is_overwrite`].
    pub(crate) overwrites: HashSet<NodeId>,
}

impl Program {
    /// The entry point of a schema id.
    #[must_use]
    pub fn root(&self, schema_id: &str) -> Option<Slot> {
        self.roots.get(schema_id).copied()
    }

    /// A node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The ids of every node, in order.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> {
        // Nodes are numbered by 32 bits when they are made.
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// Every node, by [`NodeId::index`].
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether a node is an `Overwrite<…>` as its outermost type, also where it
    /// stands for a union or intersection of such: the wire frames it differently.
    #[must_use]
    pub fn is_overwrite(&self, id: NodeId) -> bool {
        self.overwrites.contains(&id)
    }

    /// The flattened properties of an interface or mapped type.
    #[must_use]
    pub fn flat(&self, id: NodeId) -> Option<&Flat> {
        match self.node(id) {
            Node::Interface(interface) => Some(&interface.flat),
            Node::Mapped(mapped) => Some(&mapped.flat),
            _ => None,
        }
    }
}
