//! What carries calls and messages: the one thing in which the clients differ.
//!
//! Depends on the core of a client only.

use std::{future::Future, sync::Arc, time::Duration};

use polywire_runtime::Request;
use polywire_tsbuffer::EncodeError;
use polywire_tsrpc::{ApiError, DataType, Service};

use crate::core::{Callee, Core};

/// Writes the body of a request or message; nothing on an error.
pub(crate) trait Encode: FnOnce(DataType, &mut Vec<u8>) -> Result<(), EncodeError> + Send {}

impl<F: FnOnce(DataType, &mut Vec<u8>) -> Result<(), EncodeError> + Send> Encode for F {}

/// A way to the server. Cheap to clone.
pub(crate) trait Transport: Clone + Send + Sync + 'static {
    /// What the client consists of beside it.
    fn core(&self) -> &Arc<Core>;

    /// Makes a call. Encodes before it waits for anything; ends after `timeout`
    /// at the latest, and withdraws the call where it is dropped.
    fn exchange<A: Request>(
        &self,
        callee: &Callee<A>,
        encode: impl Encode,
        timeout: Option<Duration>,
    ) -> impl Future<Output = Result<A::Response, ApiError>> + Send;

    /// Hands over a message. Encodes before it waits for anything.
    fn post(&self, service: &Arc<Service>, encode: impl Encode) -> impl Future<Output = Result<(), ApiError>> + Send;
}
