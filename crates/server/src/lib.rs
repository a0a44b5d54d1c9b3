//! The polywire server: listeners, connections, calls, messages, flows.
//!
//! Depends on polywire-net for transports, on polywire-tsrpc for the protocol
//! and on the codecs. The protocol's rules live there; here is what waits.

mod answer;
mod api;
mod assemble;
mod buffers;
mod call;
mod conn;
mod connection;
mod conns;
mod dispatch;
mod extensions;
mod flows;
mod http_driver;
mod in_flight;
mod in_process;
mod life_cycle;
mod log;
mod messages;
mod options;
mod outbound;
mod policies;
mod register;
mod send;
mod server;
mod short;
mod ws_driver;

pub use answer::ApiReturn;
pub use call::{Call, CallInfo, IntoReply, PendingRequest, Reply};
pub use conn::{Conn, ConnStatus, SendError};
pub use flows::{BufferData, Data, Disconnect, Flows, RecvData, SendData};
pub use life_cycle::Stopped;
pub use messages::{Msg, OutgoingMessage, ReceivedMessage};
pub use options::{Limits, ServerOptions, SlowReader};
pub use policies::InputVerdict;
pub use polywire_runtime::{
    BoxError, Dynamic, Flow, HookId, IntoFlow, IntoOutcome, ListenerId, Panicked, Pattern, Payload, Request,
};
pub use polywire_tsrpc::{
    ApiError, DataType, ErrorCode, ErrorKind, InputError, Service, ServiceKind, ServiceProto, Sn,
    http::InvalidInputStatus,
};
pub use server::{Server, ServerStatus, StartError};
