//! Connecting: WebSockets and HTTP requests, in clear or by TLS.
//!
//! May depend on hyper, tokio and rustls. Holds always: whoever drops a future
//! of this module ends what it began, and nothing waits without a deadline.

mod http;
mod target;
mod websocket;

pub use http::{HttpClient, HttpClientOptions, SendError};
pub use target::UrlError;
pub use websocket::{ConnectError, WebSocket, WebSocketOptions, connect};
