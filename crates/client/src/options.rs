//! What a client can be told (reference §13.1), with the published defaults.
//!
//! Depends on the layers below only.

use std::time::Duration;

use http::HeaderMap;
use polywire_net::tls::ClientTls;
use polywire_schema::{CompileOptions, ValidateOptions};
use polywire_tsbuffer::TsBufferOptions;
use polywire_tsrpc::HeartbeatOptions;

/// The limits of a client. Each bounds something that a server can grow.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Longest message of a WebSocket connection, in bytes. Default 16 MiB.
    pub frame: usize,
    /// Longest body of an HTTP answer, in bytes. Default 10 MiB.
    pub body: usize,
    /// Calls that wait for their answers. Default 100,000.
    pub calls_in_flight: usize,
    /// Bytes that wait to be written. Default 64 MiB.
    pub outbound: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { frame: 16 << 20, body: 10 << 20, calls_in_flight: 100_000, outbound: 64 << 20 }
    }
}

/// How a lost WebSocket connection is opened again: with growing pauses, each
/// cut by up to a half at random, so that not all clients come back at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconnect {
    /// Pause before the first attempt; doubled after each that fails. Default 0.5 s.
    pub first: Duration,
    /// The longest pause. Default 30 s.
    pub longest: Duration,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self { first: Duration::from_millis(500), longest: Duration::from_secs(30) }
    }
}

/// How a client behaves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// Write JSON instead of binary. Default `false`, as published.
    pub json: bool,
    /// Tell null, undefined and missing apart. Default `false`, as published.
    pub strict_null_checks: bool,
    /// How long a call may take. `None` for no limit. Default 15 s.
    pub timeout: Option<Duration>,
    /// How long opening a connection may take. Default 10 s.
    pub connect_timeout: Duration,
    /// Keep a WebSocket connection under watch. Default `None`.
    pub heartbeat: Option<HeartbeatOptions>,
    /// Open a lost WebSocket connection again. Default `None`.
    pub reconnect: Option<Reconnect>,
    /// Offer permessage-deflate. Default `false`.
    pub compression: bool,
    /// Whom to trust over TLS. Default: whom the system trusts.
    pub tls: Option<ClientTls>,
    /// More headers of every HTTP request and of the WebSocket's handshake. Default none.
    pub headers: HeaderMap,
    /// What the `ObjectId` types stand for, and types of the application.
    pub types: CompileOptions,
    /// The limits.
    pub limits: Limits,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            json: false,
            strict_null_checks: false,
            timeout: Some(Duration::from_secs(15)),
            connect_timeout: Duration::from_secs(10),
            heartbeat: None,
            reconnect: None,
            compression: false,
            tls: None,
            headers: HeaderMap::new(),
            types: CompileOptions::default(),
            limits: Limits::default(),
        }
    }
}

impl ClientOptions {
    pub(crate) fn buffer_options(&self) -> TsBufferOptions {
        let checks = ValidateOptions { strict_null_checks: self.strict_null_checks, ..ValidateOptions::default() };
        TsBufferOptions { checks, ..TsBufferOptions::default() }
    }
}
