//! What a server can be told (reference §12.1), with the published defaults or ours where they were unsafe.
//!
//! Depends on the layers below only.

use std::time::Duration;

use polywire_schema::CompileOptions;
use polywire_tsrpc::http::InvalidInputStatus;

/// The limits of a server. Each bounds something that a peer can grow.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Longest message of a WebSocket connection, in bytes, all fragments and
    /// inflation included. A longer one closes the connection with code 1009.
    /// Default 16 MiB.
    pub frame: usize,
    /// Longest body of an HTTP request, in bytes. A longer one is answered 413.
    /// Default 10 MiB.
    pub body: usize,
    /// Calls and messages of one WebSocket connection whose handlers wait. At
    /// the limit nothing more is read from it until one is done. Default 1,024.
    pub calls_in_flight: usize,
    /// Bytes that wait to be written to one connection whose peer does not take
    /// them. What happens beyond is decided by [`ServerOptions::slow_reader`].
    /// Replies, and bursts that the connection had no turn yet to write, may
    /// take four times as much; from half of it on nothing is read from the
    /// connection. Default 8 MiB.
    pub outbound: usize,
    /// Open connections, of all kinds together. Further ones are refused.
    /// Default 100,000.
    pub connections: usize,
    /// How long a WebSocket message or the body of an HTTP request may take
    /// from its first byte to its last. Measured coarsely on a WebSocket, which
    /// is closed with code 1008; a body is answered 408. Default 60 s.
    pub message_time: Duration,
    /// How long TLS and the first request head may take. Default 10 s.
    pub handshake: Duration,
    /// Longest head of an HTTP request, in bytes. Default 64 KiB.
    pub header: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame: 16 << 20,
            body: 10 << 20,
            calls_in_flight: 1024,
            outbound: 8 << 20,
            connections: 100_000,
            message_time: Duration::from_secs(60),
            handshake: Duration::from_secs(10),
            header: 64 << 10,
        }
    }
}

/// What to do with a connection that takes messages more slowly than they are sent to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlowReader {
    /// Close it. It can come back and ask for what it missed.
    #[default]
    Disconnect,
    /// Keep it and leave out messages until there is room. Replies are never left out.
    DropNewest,
}

/// How a server behaves.
///
/// ```
/// use polywire_server::{Server, ServerOptions};
///
/// let options = ServerOptions { json: true, ..ServerOptions::default() };
/// let server = Server::with_options(options);
/// ```
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Accept JSON as well as binary. Default `false`, as published.
    pub json: bool,
    /// Tell null, undefined and missing apart. Default `false`, as published.
    pub strict_null_checks: bool,
    /// How long an API may take before its caller gets `Server Timeout`; the
    /// handler goes on. `None` for no limit. Default 30 s.
    pub api_timeout: Option<Duration>,
    /// Tell callers the text of an internal error (`innerErr`). Default: only
    /// in builds with debug assertions, as published servers do outside of
    /// production.
    pub return_inner_error: bool,
    /// Write requests, responses and messages into the log, at level debug.
    /// Default `false`: they may hold secrets.
    pub log_bodies: bool,
    /// What the `ObjectId` types stand for, and types of the application.
    pub types: CompileOptions,
    /// Accept strings and integers that end before their length says, as
    /// published servers do. Default `false`.
    pub lenient_binary: bool,
    /// The value of `Access-Control-Allow-Origin`; `None` for no CORS headers.
    /// Default `*`.
    pub cors: Option<String>,
    /// The value of `Access-Control-Max-Age`, in seconds. Default 3600.
    pub cors_max_age: Option<u32>,
    /// Where JSON calls over HTTP live. Default `/`.
    pub json_host_path: String,
    /// The status of answers to JSON that cannot be read. Default 200, as published.
    pub invalid_input_status: InvalidInputStatus,
    /// The path that accepts WebSocket connections; `None` for any. Default `None`.
    pub websocket_path: Option<String>,
    /// Negotiate permessage-deflate with clients that offer it. Default `false`.
    pub compression: bool,
    /// Close a WebSocket connection that sent no heartbeat for this long.
    /// Default `None`: no watch.
    pub heartbeat_wait: Option<Duration>,
    /// Take a client's address from `X-Forwarded-For`. Switch on only behind a
    /// proxy that sets it. Default `false`.
    pub trust_forwarded_for: bool,
    /// How long an idle HTTP connection is kept. Default 5 s, as Node keeps it.
    pub keep_alive: Duration,
    /// What to do with slow readers. Default [`SlowReader::Disconnect`].
    pub slow_reader: SlowReader,
    /// The limits.
    pub limits: Limits,
    /// Serve HTTPS and WSS with this configuration instead of plain text.
    pub tls: Option<polywire_net::tls::ServerTls>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            json: false,
            strict_null_checks: false,
            api_timeout: Some(Duration::from_secs(30)),
            return_inner_error: cfg!(debug_assertions),
            log_bodies: false,
            types: CompileOptions::default(),
            lenient_binary: false,
            cors: Some("*".to_owned()),
            cors_max_age: Some(3600),
            json_host_path: "/".to_owned(),
            invalid_input_status: InvalidInputStatus::Ok,
            websocket_path: None,
            compression: false,
            heartbeat_wait: None,
            trust_forwarded_for: false,
            keep_alive: Duration::from_secs(5),
            slow_reader: SlowReader::default(),
            limits: Limits::default(),
            tls: None,
        }
    }
}
