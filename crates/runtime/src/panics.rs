//! Keeping a panic of the application inside the call where it happened.
//!
//! Depends on nothing of the server.

use std::{any::Any, future::Future, panic::AssertUnwindSafe};

use futures_util::FutureExt;

use crate::BoxError;

/// A panic of a handler or hook, with its message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Panicked(pub String);

/// Runs a fallible future of the application; a panic becomes an error.
///
/// The application's state may be half changed after a panic, as after one in
/// a task of its own: the future is dropped and never polled again.
///
/// # Errors
/// That of the future, or [`Panicked`].
pub async fn catch<T>(future: impl Future<Output = Result<T, BoxError>>) -> Result<T, BoxError> {
    match AssertUnwindSafe(future).catch_unwind().await {
        Ok(result) => result,
        Err(payload) => Err(Box::new(message(&*payload))),
    }
}

/// The message of a panic.
#[must_use]
pub fn message(payload: &(dyn Any + Send)) -> Panicked {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "panicked".to_owned());
    Panicked(text)
}
