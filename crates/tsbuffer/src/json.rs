//! The JSON form (reference §7): the codec over dynamic values, and primitives for
//! specialised codecs.
//!
//! Depends on `polywire-schema` only.

mod base64;
mod change;
mod codec;
mod convert;
mod plan;
mod reader;
mod writer;

pub(crate) use plan::JsonPlan;

pub use base64::decode_base64;
pub use reader::{JsonKind, JsonReader, Refused};
pub use writer::{write_base64, write_date, write_number, write_object_id, write_string};
