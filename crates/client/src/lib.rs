//! The polywire client for Rust: typed and dynamic calls and messages over
//! WebSocket and HTTP, in JSON and in binary.
//!
//! Depends on polywire-net for transports and on polywire-tsrpc for the
//! protocol. Holds always: every call settles, also when it is aborted, a hook
//! stops it, or the connection is lost.

mod builder;
mod call;
mod core;
mod flows;
mod http_client;
mod listeners;
mod message;
mod options;
mod running;
mod transport;
mod websocket;

pub use builder::{BuildError, Builder, Client};
pub use call::CallOptions;
pub use flows::{
    ApiReturn, BufferData, Calling, Connecting, Data, Disconnected, Flows, IncomingMessage, OutgoingMessage, SocketData,
};
pub use http_client::HttpClient;
pub use options::{ClientOptions, Limits, Reconnect};
pub use polywire_net::tls::ClientTls;
pub use polywire_runtime::{BoxError, Dynamic, Flow, HookId, IntoFlow, IntoOutcome, ListenerId, Pattern};
pub use polywire_tsrpc::{ApiError, DataType, ErrorCode, ErrorKind, HeartbeatOptions, ServiceProto};
pub use running::{AbortHandle, Running};
pub use websocket::{ConnectFailed, ConnectReason, WsClient, WsStatus};
