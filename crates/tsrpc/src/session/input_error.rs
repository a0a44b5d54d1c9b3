//! Input that cannot be read, and what the peer is told about it.
//!
//! Depends on the error model. The texts are published (reference §9, §11.2).

use std::borrow::Cow;

use crate::{ApiError, DataType, ServiceKind, framework::INVALID_REQUEST_BUFFER};

/// Why a server cannot read what it was sent. `Display` is the full reason, for logs.
///
/// It is always the peer's fault, or that of a peer and a server with different protos.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A text frame while JSON is disabled.
    #[error("JSON mode is not enabled, please use binary instead.")]
    JsonDisabled,
    /// Text that is not JSON.
    #[error("Input is not a valid JSON string: {0}")]
    NotJson(String),
    /// JSON that is not an array.
    #[error("Invalid request format: unresolved service name.")]
    UnresolvedName,
    /// A name in a text frame that names no service of that kind.
    #[error("Invalid {kind} path: {name}")]
    UnknownName {
        /// A message where the frame has no serial number, an API otherwise.
        kind: ServiceKind,
        /// What stands in the place of the name, as JavaScript prints it.
        name: String,
    },
    /// An HTTP path that names no service.
    #[error("Invalid URL path: {0}")]
    UnknownPath(String),
    /// An id in a binary frame that names no service.
    #[error("Cannot find service ID: {0}")]
    UnknownId(u64),
    /// A binary frame that is no `ServerInputData`.
    #[error("{0}")]
    Envelope(String),
    /// A body that does not fit the type of its service.
    #[error("{text}")]
    Body {
        /// What the frame was written in.
        data_type: DataType,
        /// The codec's text.
        text: String,
    },
}

/// The longest reason of a WebSocket close frame, in bytes.
pub const MAX_CLOSE_REASON: usize = 123;

impl InputError {
    /// A body that does not fit its type: `text` is what the codec says.
    pub fn body(data_type: DataType, text: impl ToString) -> Self {
        Self::Body { data_type, text: text.to_string() }
    }

    /// What the input was written in: the details of binary input are never sent.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        match self {
            Self::UnknownId(_) | Self::Envelope(_) => DataType::Buffer,
            Self::Body { data_type, .. } => *data_type,
            _ => DataType::Text,
        }
    }

    /// What the peer is told: the reason for text, a fixed text for binary input.
    #[must_use]
    pub fn peer_text(&self) -> Cow<'static, str> {
        match self.data_type() {
            DataType::Text => self.to_string().into(),
            DataType::Buffer => INVALID_REQUEST_BUFFER.into(),
        }
    }

    /// The reason of the close frame (code 1000) that answers it on a WebSocket: [`peer_text`](Self::peer_text), cut
    /// to [`MAX_CLOSE_REASON`]. (Published servers send nothing where it would be longer.)
    #[must_use]
    pub fn close_reason(&self) -> Cow<'static, str> {
        match self.peer_text() {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(mut text) => {
                text.truncate(close_reason_len(&text));
                text.into()
            }
        }
    }

    /// The error that answers it over HTTP.
    #[must_use]
    pub fn to_api_error(&self) -> ApiError {
        ApiError::input_data(self.peer_text())
    }
}

/// A reason that a close frame can carry: cut to [`MAX_CLOSE_REASON`] bytes at a character boundary.
#[must_use]
pub fn cut_close_reason(reason: &str) -> &str {
    &reason[..close_reason_len(reason)]
}

fn close_reason_len(reason: &str) -> usize {
    let mut len = reason.len().min(MAX_CLOSE_REASON);
    while !reason.is_char_boundary(len) {
        len -= 1;
    }
    len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_reasons_are_cut_at_a_character_boundary() {
        let cases = [
            ("short".to_owned(), 5),
            ("x".repeat(123), 123),
            ("x".repeat(124), 123),
            ("é".repeat(62), 122),
            ("😀".repeat(40), 120),
        ];
        for (text, len) in cases {
            let error = InputError::body(DataType::Text, &text);
            assert_eq!(error.close_reason().len(), len, "{text}");
            assert!(text.starts_with(&*error.close_reason()));
            assert_eq!(cut_close_reason(&text), error.close_reason());
        }
    }

    #[test]
    fn details_of_binary_input_are_not_sent() {
        let binary = [
            InputError::UnknownId(9),
            InputError::Envelope("Read varint error: index out of range".to_owned()),
            InputError::body(DataType::Buffer, "Missing required property `a`."),
        ];
        for error in binary {
            assert_eq!(error.close_reason(), INVALID_REQUEST_BUFFER);
            assert_eq!(error.to_api_error(), ApiError::input_data(INVALID_REQUEST_BUFFER));
        }
        let text = InputError::UnknownName { kind: ServiceKind::Message, name: "Nope".to_owned() };
        assert_eq!(text.close_reason(), "Invalid msg path: Nope");
    }
}
