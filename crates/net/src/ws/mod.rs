//! WebSocket (RFC 6455, RFC 7692) without I/O: bytes in, events out; payloads in, bytes out.
//!
//! May depend on nothing that reads, writes, sleeps or tells the time. Holds
//! always: whatever a peer sends ends in an event or in a [`WsError`], never in
//! a panic, and never takes more memory than [`Limits`] allow.
//!
//! A connection that is driven by reads decodes in place and answers into one
//! buffer, which goes out with one write when the input is used up:
//!
//! ```
//! use polywire_net::ws::{self, Decoder, Event, Limits, Opcode, Role};
//!
//! fn serve(decoder: &mut Decoder, mut input: &mut [u8], out: &mut Vec<u8>) -> Result<(), ws::WsError> {
//!     while let Some(event) = decoder.decode(&mut input)? {
//!         match event {
//!             Event::Text(text) => ws::put_frame(out, Opcode::Text, text.as_bytes()),
//!             Event::Binary(bytes) => ws::put_frame(out, Opcode::Binary, bytes),
//!             Event::Ping(bytes) => ws::put_frame(out, Opcode::Pong, bytes),
//!             Event::Pong(_) => {}
//!             Event::Close { code, .. } => ws::put_close(out, code, ""),
//!         }
//!     }
//!     Ok(())
//! }
//!
//! let mut decoder = Decoder::new(Role::Server, Limits::default());
//! let mut out = Vec::new();
//! // "Hello" as a client sends it (RFC 6455 §5.7), cut in the middle.
//! let mut frame = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
//! let (first, second) = frame.split_at_mut(7);
//! serve(&mut decoder, first, &mut out)?;
//! assert!(out.is_empty());
//! serve(&mut decoder, second, &mut out)?;
//! assert_eq!(out, [0x81, 5, b'H', b'e', b'l', b'l', b'o']);
//! # Ok::<(), ws::WsError>(())
//! ```

mod close;
mod decode;
mod deflate;
mod encode;
mod encoder;
mod error;
pub mod handshake;
mod header;
mod mask;
mod streams;

pub use close::{CloseCode, MAX_REASON};
pub use decode::{Decoder, Event};
pub use deflate::{Deflate, DeflateConfig};
pub use encode::{FrameStart, abandon_frame, begin_frame, finish_frame, put_close, put_frame};
pub use encoder::Encoder;
pub use error::WsError;
pub use header::{FrameHeader, Opcode, header_for};

/// Which end of the connection this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Expects masked frames, sends them unmasked.
    Server,
    /// Expects unmasked frames, sends them masked.
    Client,
}

/// What one connection may make the decoder hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest message in bytes, all fragments together, after inflation. Default 16 MiB.
    pub max_message: usize,
    /// Longest payload of one frame in bytes, as it travels. Default 16 MiB.
    pub max_frame: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_message: 16 << 20, max_frame: 16 << 20 }
    }
}
