//! What a value may be: the type model, dynamic values, validation, pruning, paths and error texts.
//!
//! Depends on no other crate of polywire, and on no async, no sockets, no clocks.

mod compile;
mod custom;
mod describe;
mod js_string;
mod object;
mod program;
mod resolve;
mod service;
mod ty;
mod type_json;
mod value;

pub use compile::CompileOptions;
pub use custom::{ObjectIdClass, object_id_hex, parse_object_id};
pub use describe::{Mismatch, Registry, Schema};
pub use js_string::JsString;
pub use object::{Object, array_index};
pub use program::{
    BaseSlot, CustomType, Flat, IndexSlot, InterfaceNode, MappedNode, Mapping, MemberSlot, Node, NodeId, Nullness,
    Program, PropertySlot, SchemaError, Slot, ValidateOptions,
};
pub use service::{Api, Message};
pub use ty::{
    EnumMember, EnumValue, IndexSignature, Interface, KeyType, Literal, Member, Property, Scalar, Type, TypeSet,
};
pub use type_json::{MAX_TYPE_DEPTH, TypeJsonError, types_from_json, types_to_json};
pub use value::{BufferKind, Value};
