//! The log lines of calls and messages: published words, in spans of
//! connection and call.
//!
//! Depends on `tracing`. Bodies stand in them only where the options say so,
//! and are turned into text only where the line is wanted.

use polywire_schema::Value;
use polywire_tsrpc::{ApiError, ErrorKind, Service};
use tracing::Level;

use crate::{Conn, call::CallHead};

/// The body as JSON, where bodies are logged.
fn body(conn: &Conn, value: impl FnOnce() -> Value) -> Option<String> {
    if !conn.server().options().log_bodies {
        return None;
    }
    // A value that JSON cannot express is still worth a line.
    Some(value().to_json().ok().flatten().unwrap_or_else(|| "undefined".to_owned()))
}

/// A request was read.
pub(crate) fn request(head: &CallHead, value: impl FnOnce() -> Value) {
    if tracing::enabled!(Level::DEBUG) {
        let req = body(&head.conn, value);
        tracing::debug!(parent: &head.span, req, "[ApiReq]");
    }
}

/// A response is about to be sent.
pub(crate) fn response(head: &CallHead, value: impl FnOnce() -> Value) {
    if tracing::enabled!(Level::DEBUG) {
        let res = body(&head.conn, value);
        let ms = head.started.elapsed().as_secs_f64() * 1000.0;
        tracing::debug!(parent: &head.span, ms, res, "[ApiRes]");
    }
}

/// An error is about to be sent: business errors at level debug, all others at level error.
pub(crate) fn error(head: &CallHead, error: &ApiError) {
    let ms = head.started.elapsed().as_secs_f64() * 1000.0;
    if error.kind == ErrorKind::Api {
        tracing::debug!(parent: &head.span, ms, %error, "[ApiErr]");
    } else {
        tracing::error!(parent: &head.span, ms, %error, "[ApiErr]");
    }
}

/// A message was read.
pub(crate) fn received(conn: &Conn, service: &Service, value: impl FnOnce() -> Value) {
    if tracing::enabled!(Level::DEBUG) {
        let msg = body(conn, value);
        tracing::debug!(parent: conn.log(), service = %service.name, msg, "[RecvMsg]");
    }
}

/// A message is about to be sent to a connection.
pub(crate) fn sent(conn: &Conn, service: &Service, value: impl FnOnce() -> Value) {
    if tracing::enabled!(Level::DEBUG) {
        let msg = body(conn, value);
        tracing::debug!(parent: conn.log(), service = %service.name, msg, "[SendMsg]");
    }
}
