//! What handlers of messages are registered by and may return.
//!
//! Depends on nothing of the protocol.

use std::sync::atomic::{AtomicU64, Ordering};

use regex::Regex;

use crate::BoxError;

/// What a message handler may return.
pub trait IntoOutcome {
    /// As a result.
    ///
    /// # Errors
    /// The error that the handler returned; it is logged.
    fn into_outcome(self) -> Result<(), BoxError>;
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: Into<BoxError>> IntoOutcome for Result<(), E> {
    fn into_outcome(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

/// Which messages a handler takes: one by its exact name, or all whose names match.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// The message of this name.
    Exact(String),
    /// Every message whose name matches.
    Matching(Regex),
}

impl Pattern {
    /// Whether it takes the message of this name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == name,
            Self::Matching(regex) => regex.is_match(name),
        }
    }
}

impl From<&str> for Pattern {
    fn from(name: &str) -> Self {
        Self::Exact(name.to_owned())
    }
}

impl From<Regex> for Pattern {
    fn from(regex: Regex) -> Self {
        Self::Matching(regex)
    }
}

/// Names a message handler, to remove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ListenerId(u64);

impl ListenerId {
    /// An id that no other handler of the process has.
    #[must_use]
    pub fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
