//! The TSRPC protocol: service protos, envelopes and the sessions of both ends.
//!
//! Depends on `schema` and `tsbuffer`, and on no async, no sockets, no clocks: time is an argument.

mod envelope;
mod error;
mod framework;
pub mod http;
mod proto;
mod service;
mod session;
pub mod text;

#[cfg(test)]
mod testing;

pub use envelope::{EnvelopeError, ServerInput, ServerOutput, parse_input, parse_output};
pub use error::{ApiError, ErrorCode, ErrorKind};
pub use framework::{INVALID_REQUEST_BUFFER, codes};
pub use proto::{Built, IdReport, LiteralError, ProtoBuilder, ProtoBuilderError, ProtoError, ServiceDef, ServiceProto};
pub use service::{SchemaIds, Service, ServiceId, ServiceKind, ServiceMap, ServiceMapError, ServiceTypes};
pub use session::{
    Body, CallError, CallOptions, ClientOptions, ClientSession, DataType, Draft, Due, Frame, HEARTBEAT,
    HEARTBEAT_LOST_CODE, HEARTBEAT_LOST_REASON, HEARTBEAT_TIMEOUT_CODE, HEARTBEAT_TIMEOUT_REASON, Heartbeat,
    HeartbeatAction, HeartbeatOptions, Incoming, InputError, MAX_CLOSE_REASON, Negotiation, OutputError, Pending,
    PendingCalls, Received, Sender, ServerSession, SessionOptions, Sn, Watchdog, cut_close_reason, decode_buffer,
    decode_http_reply, decode_http_reply_slow, decode_output, decode_output_slow, decode_slow, decode_text, negotiate,
    write_bare_error, write_error_reply,
};
