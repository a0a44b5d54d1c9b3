//! How a peer can break the protocol, and the close code that answers it.

use super::CloseCode;

/// Why the bytes of a peer were refused. The connection cannot go on: send a
/// close frame with [`close_code`](Self::close_code) and end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WsError {
    /// A reserved bit is set that no negotiated extension uses here.
    #[error("reserved bits are set")]
    ReservedBits,
    /// Opcodes 3–7 and 11–15 have no meaning.
    #[error("opcode {0:#x} is reserved")]
    ReservedOpcode(u8),
    /// A client must mask its frames.
    #[error("frame from the client is not masked")]
    Unmasked,
    /// A server must not mask its frames.
    #[error("frame from the server is masked")]
    Masked,
    /// The highest bit of a 64-bit length is set.
    #[error("payload length has its highest bit set")]
    BadLength,
    /// Close, ping and pong carry at most 125 bytes.
    #[error("control frame carries {0} bytes, 125 are allowed")]
    ControlTooLong(u64),
    /// Close, ping and pong are never fragmented.
    #[error("control frame is fragmented")]
    ControlFragmented,
    /// A continuation without a message to continue.
    #[error("continuation frame without a message")]
    NothingToContinue,
    /// A new message inside a fragmented one.
    #[error("message begins before the last one has ended")]
    Interleaved,
    /// The payload of a close frame is empty or begins with a two-byte code.
    #[error("close frame carries half a code")]
    TruncatedCloseCode,
    /// A code that must not travel, or that nobody has defined.
    #[error("close code {0} is not allowed")]
    BadCloseCode(u16),
    /// The reason of a close frame is not UTF-8.
    #[error("close reason is not UTF-8")]
    BadReason,
    /// A text message is not UTF-8.
    #[error("text message is not UTF-8")]
    BadText,
    /// A compressed message is no deflate stream.
    #[error("compressed message cannot be inflated")]
    BadDeflate,
    /// A frame is longer than [`Limits::max_frame`](super::Limits::max_frame).
    #[error("frame of {len} bytes, {max} are allowed")]
    FrameTooLong {
        /// What the frame's header says.
        len: u64,
        /// The limit.
        max: usize,
    },
    /// A message is longer than [`Limits::max_message`](super::Limits::max_message).
    #[error("message of more than {max} bytes")]
    MessageTooLong {
        /// The limit.
        max: usize,
    },
}

impl WsError {
    /// The code to close the connection with (RFC 6455 §7.4.1).
    pub fn close_code(&self) -> CloseCode {
        match self {
            Self::BadText | Self::BadReason | Self::BadDeflate => CloseCode::INVALID_DATA,
            Self::FrameTooLong { .. } | Self::MessageTooLong { .. } => CloseCode::TOO_BIG,
            _ => CloseCode::PROTOCOL,
        }
    }
}
