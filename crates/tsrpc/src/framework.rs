//! The errors that the framework itself raises, with the published texts and codes.
//!
//! Depends on [`ApiError`] only. Peers compare these texts: they never change.

use crate::{ApiError, ErrorKind};

/// The codes of the framework's errors.
pub mod codes {
    /// The peer sent what does not fit the protocol, or a client was given such a request.
    pub const INPUT_DATA_ERR: &str = "INPUT_DATA_ERR";
    /// The handler did not answer in time.
    pub const SERVER_TIMEOUT: &str = "SERVER_TIMEOUT";
    /// The API is known but nobody handles it.
    pub const UNHANDLED_API: &str = "UNHANDLED_API";
    /// The handler failed, or answered what its response type refuses.
    pub const INTERNAL_ERR: &str = "INTERNAL_ERR";
    /// An in-process call to an API that does not exist.
    pub const ERR_API_NAME: &str = "ERR_API_NAME";
    /// An in-process connection was closed before it was answered.
    pub const CONN_CLOSED: &str = "CONN_CLOSED";
    /// A client called an API that does not exist.
    pub const INVALID_API_NAME: &str = "INVALID_API_NAME";
    /// A client sent a message that does not exist.
    pub const INVALID_MSG_NAME: &str = "INVALID_MSG_NAME";
    /// A client was given a message that does not fit its type.
    pub const ENCODE_MSG_ERR: &str = "ENCODE_MSG_ERR";
    /// The answer did not come in time.
    pub const TIMEOUT: &str = "TIMEOUT";
    /// The HTTP connection was cut, by the client's own timer too.
    pub const ECONNABORTED: &str = "ECONNABORTED";
    /// A call on a WebSocket that is not open.
    pub const WS_NOT_OPEN: &str = "WS_NOT_OPEN";
    /// The connection was lost while the call waited.
    pub const LOST_CONN: &str = "LOST_CONN";
    /// The bytes could not be handed to the network.
    pub const SEND_BUF_ERR: &str = "SEND_BUF_ERR";
    /// The caller withdrew the call. Ours: published clients leave it pending for ever.
    pub const CANCELLED: &str = "CANCELLED";
}

/// What is answered to binary input that cannot be read, whatever the reason.
pub const INVALID_REQUEST_BUFFER: &str = "Invalid request buffer, please check the version of service proto.";

/// Server side.
impl ApiError {
    /// Input that cannot be read: `text` says why.
    pub fn input_data(text: impl Into<String>) -> Self {
        Self::new(text).kind(ErrorKind::Server).code(codes::INPUT_DATA_ERR)
    }

    /// `Internal Server Error`. `inner` is shown to the peer as `innerErr`: leave it out in production.
    #[must_use]
    pub fn internal(inner: Option<&str>) -> Self {
        let error = Self::new("Internal Server Error").kind(ErrorKind::Server).code(codes::INTERNAL_ERR);
        match inner {
            Some(inner) => error.with("innerErr", inner),
            None => error,
        }
    }

    /// `Server Timeout`: the handler did not answer in time.
    #[must_use]
    pub fn server_timeout() -> Self {
        Self::new("Server Timeout").kind(ErrorKind::Server).code(codes::SERVER_TIMEOUT)
    }

    /// `Unhandled API: <name>`: the API is known but nobody handles it.
    #[must_use]
    pub fn unhandled_api(name: &str) -> Self {
        Self::new(format!("Unhandled API: {name}")).kind(ErrorKind::Server).code(codes::UNHANDLED_API)
    }

    /// `Cannot find service: <name>`: an in-process call to an API that does not exist.
    #[must_use]
    pub fn service_not_found(name: &str) -> Self {
        Self::new(format!("Cannot find service: {name}")).kind(ErrorKind::Server).code(codes::ERR_API_NAME)
    }

    /// `Invalid service name: <name>`: serverless JSON input for an API that does not exist.
    #[must_use]
    pub fn invalid_service_name(name: &str) -> Self {
        Self::input_data(format!("Invalid service name: {name}"))
    }

    /// An in-process connection that was closed, with the reason if there is one.
    #[must_use]
    pub fn conn_closed(reason: Option<&str>) -> Self {
        let message = reason.unwrap_or("Internal Server Error");
        let error = Self::new(message).kind(ErrorKind::Server).code(codes::CONN_CLOSED);
        match reason {
            Some(reason) => error.with("reason", reason),
            None => error,
        }
    }
}

/// Client side.
impl ApiError {
    /// `Invalid api name: <name>`.
    #[must_use]
    pub fn invalid_api_name(name: &str) -> Self {
        Self::new(format!("Invalid api name: {name}")).kind(ErrorKind::Client).code(codes::INVALID_API_NAME)
    }

    /// `Invalid msg name: <name>`.
    #[must_use]
    pub fn invalid_msg_name(name: &str) -> Self {
        Self::new(format!("Invalid msg name: {name}")).kind(ErrorKind::Client).code(codes::INVALID_MSG_NAME)
    }

    /// A request that does not fit its type: `text` says why.
    pub fn invalid_request(text: impl Into<String>) -> Self {
        Self::new(text).kind(ErrorKind::Client).code(codes::INPUT_DATA_ERR)
    }

    /// A message that does not fit its type: `text` says why.
    pub fn invalid_message(text: impl Into<String>) -> Self {
        Self::new(text).kind(ErrorKind::Client).code(codes::ENCODE_MSG_ERR)
    }

    /// `Request Timeout`: the answer did not come in time.
    #[must_use]
    pub fn request_timeout() -> Self {
        Self::new("Request Timeout").kind(ErrorKind::Network).code(codes::TIMEOUT)
    }

    /// `WebSocket is not connected`.
    #[must_use]
    pub fn not_open() -> Self {
        Self::new("WebSocket is not connected").kind(ErrorKind::Client).code(codes::WS_NOT_OPEN)
    }

    /// The connection ended while the call waited. Without a reason: `Lost connection to server`.
    #[must_use]
    pub fn lost_connection(reason: &str) -> Self {
        let message = if reason.is_empty() { "Lost connection to server" } else { reason };
        Self::new(message).kind(ErrorKind::Network).code(codes::LOST_CONN)
    }

    /// `Parse server output error`: the answer over HTTP cannot be read. It has no code.
    #[must_use]
    pub fn unreadable_output() -> Self {
        Self::new("Parse server output error").kind(ErrorKind::Server)
    }

    /// `Request cancelled`: the caller withdrew the call.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new("Request cancelled").kind(ErrorKind::Client).code(codes::CANCELLED)
    }
}
