//! Transports: WebSocket frames, HTTP, TLS, byte streams, and their limits.
//!
//! May depend on tokio, hyper and rustls, and on no other crate of polywire:
//! nothing here knows what the bytes mean. [`ws`] is a core without I/O inside
//! this crate and sees neither a runtime nor a clock.

pub mod client;
pub mod http;
mod listen;
mod open;
mod stream;
pub mod tls;
pub mod ws;

pub use listen::{Addr, DEFAULT_HANDSHAKE_TIMEOUT, EstablishError, Incoming, ListenError, ListenOptions, Listener};
pub use open::OpenError;
pub use stream::{Peer, Stream};
