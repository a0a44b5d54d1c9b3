//! The client over WebSocket: calls and messages on one connection, both ways.
//!
//! Depends on the core of a client and on polywire-net. Holds always: whoever
//! waits for an answer gets one, however the connection ends; the driver owns
//! no client, so that dropping the last client closes the connection.

mod client;
mod connect;
mod driver;
mod link;
mod reconnect;

#[cfg(test)]
mod tests;

pub use client::{WsClient, WsStatus};
pub use connect::{ConnectFailed, ConnectReason};
