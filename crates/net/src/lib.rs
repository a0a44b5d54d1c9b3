//! Transports: WebSocket frames, HTTP, TLS, byte streams, and their limits.
//!
//! May depend on tokio, hyper and rustls, and on no other crate of polywire:
//! nothing here knows what the bytes mean. [`ws`] is a core without I/O inside
//! this crate and sees neither a runtime nor a clock.

pub mod ws;
