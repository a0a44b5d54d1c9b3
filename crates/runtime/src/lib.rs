//! What server and client share: codecs of the values of a service, typed and
//! dynamic; flows of hooks; patterns of message names.
//!
//! Depends on the protocol cores and codecs. Knows no sockets.

mod codec;
mod codec_cache;
mod contract;
mod flow;
mod handler;
mod panics;
mod poll_once;

pub use codec::{Dynamic, DynamicCodec, Payload, Request, RustCodec, ValueCodec};
pub use codec_cache::CodecCache;
pub use contract::Contract;
pub use flow::{BoxError, Flow, HookId, IntoFlow};
pub use handler::{IntoOutcome, ListenerId, Pattern};
pub use panics::{Panicked, catch, message};
pub use poll_once::{Task, run_or_spawn};
