//! TSBuffer binary and JSON codecs over `polywire-schema`.
//!
//! Depends on `polywire-schema` only, and on no async, no sockets, no clocks.

pub mod binary;
pub mod json;
