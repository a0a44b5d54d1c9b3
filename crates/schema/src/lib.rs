//! What a value may be: the type model, dynamic values, validation, pruning, paths and error texts.
//!
//! Depends on no other crate of polywire, and on no async, no sockets, no clocks.

mod any;
mod buffers;
mod compile;
mod custom;
mod date;
mod date_method;
mod date_time;
mod declared;
#[doc(hidden)]
pub mod derive;
mod describe;
mod dispatch;
mod effort;
mod error;
mod impls;
mod js_string;
mod json;
mod link;
mod mode;
mod number;
mod object;
mod object_id;
mod own_properties;
mod place;
mod presence;
mod program;
mod prune;
mod registry;
mod resolve;
mod service;
mod text;
mod ty;
mod type_json;
mod union_error;
mod validate;
mod value;

pub use any::{Any, AnyObject, Nullable};
pub use buffers::{
    ArrayBuffer, BigInt64Array, BigUint64Array, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Uint8Array, Uint16Array, Uint32Array,
};
pub use compile::CompileOptions;
pub use custom::{ObjectIdClass, object_id_hex, parse_object_id};
pub use date::{iso_text, parse_date, time_clip};
pub use date_time::{DateTime, ParseDateTimeError};
pub use derive::from_untrusted;
pub use describe::{Mismatch, Schema};
pub use error::{ValidationError, ValidationErrorKind};
pub use impls::{Element, MapKey, SAFE_INTEGER, TooDeep, to_value_if_shallow};
pub use js_string::JsString;
pub use json::{JsonError, MAX_JSON_DEPTH, StringifyError, json_plain_len, write_json_string};
pub use number::{is_number_key, number_text, write_integer, write_number};
pub use object::{Object, array_index};
pub use object_id::{ObjectId, ParseObjectIdError};
pub use own_properties::own_properties;
pub use program::{
    BaseSlot, CustomType, Flat, IndexSlot, InterfaceNode, MappedNode, Mapping, MemberSlot, Members, Node, NodeId,
    Nullness, Program, PropertySlot, SchemaError, Slot, ValidateOptions,
};
pub use registry::{Comments, Registry};
pub use service::{Api, Message};
pub use ty::{
    EnumMember, EnumValue, IndexSignature, Interface, KeyType, Literal, Member, Property, Scalar, Type, TypeSet,
};
pub use type_json::{MAX_TYPE_DEPTH, TypeJsonError, types_from_json, types_to_json};
pub use validate::{Checker, MAX_VALUE_DEPTH};
pub use value::{BufferKind, Value};
