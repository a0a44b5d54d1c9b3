//! Output of a server that a client cannot read.
//!
//! Depends on nothing. The texts are published (reference §9): clients log them
//! behind `ParseServerOutputError: `; over HTTP the caller gets
//! [`ApiError::unreadable_output`](crate::ApiError::unreadable_output), on a long connection the frame is dropped.

/// Why a client cannot read what the server sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A binary frame that is no `ServerOutputData`.
    #[error("{0}")]
    Envelope(String),
    /// A binary frame of a long connection that does not say which service it is for.
    #[error("Missing 'serviceId' in ServerOutput")]
    MissingServiceId,
    /// A binary frame for a service that the client does not know.
    #[error("Invalid service ID: {0} (from ServerOutput)")]
    UnknownId(u64),
    /// A binary message without a body.
    #[error("Empty msg buffer (from ServerOutput)")]
    EmptyMessage,
    /// A binary answer with neither response nor error.
    #[error("Empty API res buffer (from ServerOutput)")]
    EmptyResponse,
    /// Text that is not JSON.
    #[error("Invalid input JSON: {0}")]
    NotJson(String),
    /// JSON of another form than the protocol's.
    #[error("Invalid server output format")]
    Format,
    /// A text frame for a service that the client does not know.
    #[error("Invalid service name: {0} (from ServerOutputData)")]
    UnknownName(String),
    /// A body that does not fit the type of its service.
    #[error("{0}")]
    Body(String),
}
