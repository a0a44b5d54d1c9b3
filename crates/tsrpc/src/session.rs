//! The two ends of a connection, as state machines: frames in, events out; bodies in, frames out.
//!
//! Depends on the envelopes, the service map and the error model. Knows nothing
//! of sockets and tasks; time is an argument.

mod client;
mod data_type;
mod draft;
mod heartbeat;
mod input_error;
mod output_error;
mod pending;
mod received;
mod server;
mod sn;
mod watchdog;

pub use client::{ClientOptions, ClientSession, Due};
pub use data_type::{DataType, Negotiation, negotiate};
pub use draft::{Draft, Sender, write_bare_error, write_error_reply};
pub use heartbeat::{HEARTBEAT_TIMEOUT_CODE, HEARTBEAT_TIMEOUT_REASON, Heartbeat, HeartbeatAction, HeartbeatOptions};
pub use input_error::{InputError, MAX_CLOSE_REASON, cut_close_reason};
pub use output_error::OutputError;
pub use pending::{CallError, CallOptions, Pending, PendingCalls};
pub use received::{Received, decode_http_reply, decode_http_reply_slow, decode_output, decode_output_slow};
pub use server::{
    Body, Frame, HEARTBEAT, Incoming, ServerSession, SessionOptions, decode_buffer, decode_slow, decode_text,
};
pub use sn::Sn;
pub use watchdog::{HEARTBEAT_LOST_CODE, HEARTBEAT_LOST_REASON, Watchdog};
