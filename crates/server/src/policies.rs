//! What an application may decide in the place of the published rules: who is
//! let in, what becomes of input that cannot be read, and what callers get
//! told of a handler that failed (reference §12.1 `verifyClient`, §12.4
//! `onInputDataError`, §12.5 `onInternalServerError`).
//!
//! Depends on the server's state only. Invariant: the published rule holds
//! where nothing was decided.

use std::{error::Error, net::IpAddr};

use arc_swap::ArcSwapOption;
use http::request::Parts;
use polywire_tsrpc::{ApiError, InputError};

use crate::{CallInfo, Conn, Server};

/// What becomes of a connection whose input cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputVerdict {
    /// As published: a WebSocket is closed with the error as its reason, an
    /// HTTP request is answered with it.
    Refuse,
    /// The WebSocket goes on with the next frame. An HTTP request gets what
    /// [`Conn::respond`] was given, or an empty answer.
    Ignore,
}

type VerifyClient = dyn Fn(&Parts, Option<IpAddr>) -> bool + Send + Sync;
type OnInputError = dyn Fn(&Conn, &InputError) -> InputVerdict + Send + Sync;
type OnInternalError = dyn Fn(&CallInfo, &(dyn Error + Send + Sync + 'static)) -> ApiError + Send + Sync;

/// What was decided.
#[derive(Default)]
pub(crate) struct Policies {
    verify_client: ArcSwapOption<Box<VerifyClient>>,
    on_input_error: ArcSwapOption<Box<OnInputError>>,
    on_internal_error: ArcSwapOption<Box<OnInternalError>>,
}

impl Policies {
    /// Whether this request may become a WebSocket.
    pub(crate) fn admits(&self, head: &Parts, ip: Option<IpAddr>) -> bool {
        self.verify_client.load().as_ref().is_none_or(|verify| verify(head, ip))
    }

    /// Whether the published answer to this input is given.
    pub(crate) fn refuses(&self, conn: &Conn, error: &InputError) -> bool {
        self.on_input_error.load().as_ref().is_none_or(|decide| decide(conn, error) == InputVerdict::Refuse)
    }

    /// What the caller is told, where the application wants to say it.
    pub(crate) fn internal_error(
        &self,
        call: &CallInfo,
        error: &(dyn Error + Send + Sync + 'static),
    ) -> Option<ApiError> {
        self.on_internal_error.load().as_ref().map(|decide| decide(call, error))
    }
}

impl Server {
    /// Decides who may open a WebSocket, by the head of the request and the
    /// address it came from. Whoever may not is answered 401.
    ///
    /// ```
    /// use polywire_server::Server;
    ///
    /// // Pages of other origins than ours stay outside.
    /// let server = Server::new().verify_client(|head, _ip| {
    ///     head.headers.get("origin").is_none_or(|origin| origin == "https://example.com")
    /// });
    /// ```
    #[must_use]
    pub fn verify_client(self, verify: impl Fn(&Parts, Option<IpAddr>) -> bool + Send + Sync + 'static) -> Self {
        self.shared.policies.verify_client.store(Some(std::sync::Arc::new(Box::new(verify))));
        self
    }

    /// Decides what becomes of a connection whose input cannot be read.
    ///
    /// ```
    /// use polywire_server::{InputVerdict, Server};
    ///
    /// let server = Server::new().on_input_error(|conn, error| {
    ///     eprintln!("connection {} sent nonsense: {error}", conn.id());
    ///     InputVerdict::Refuse
    /// });
    /// ```
    #[must_use]
    pub fn on_input_error(self, decide: impl Fn(&Conn, &InputError) -> InputVerdict + Send + Sync + 'static) -> Self {
        self.shared.policies.on_input_error.store(Some(std::sync::Arc::new(Box::new(decide))));
        self
    }

    /// Decides what a caller is told when the handler failed with an error that
    /// is no [`ApiError`], or panicked.
    ///
    /// ```
    /// use polywire_server::{ApiError, Server};
    ///
    /// let server = Server::new()
    ///     .on_internal_error(|_call, _error| ApiError::new("Something went wrong, we are looking at it"));
    /// ```
    #[must_use]
    pub fn on_internal_error(
        self,
        decide: impl Fn(&CallInfo, &(dyn Error + Send + Sync + 'static)) -> ApiError + Send + Sync + 'static,
    ) -> Self {
        self.shared.policies.on_internal_error.store(Some(std::sync::Arc::new(Box::new(decide))));
        self
    }
}
