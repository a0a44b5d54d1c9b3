//! TSBuffer binary and JSON codecs over `polywire-schema`.
//!
//! Depends on `polywire-schema` only, and on no async, no sockets, no clocks.

pub mod binary;
mod error;
pub mod json;
mod layout;
mod ts_buffer;
pub mod typed;

pub use error::{DecodeError, EncodeError, Phase, UnknownSchema};
pub use ts_buffer::{TsBuffer, TsBufferOptions};

/// Where derived code finds the crates that it refers to. The facade re-exports it.
#[doc(hidden)]
pub mod __private {
    pub use crate as tsbuffer;
    pub use polywire_schema as schema;
}
