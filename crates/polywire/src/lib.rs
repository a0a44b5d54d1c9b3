//! Define a typed service once, serve it over every wire.
//!
//! A service is a set of **APIs** (a request and its response) and **messages**
//! (one way, in either direction), defined by Rust types. [`Server`] serves it
//! to TSRPC clients, which need not be changed, over WebSocket and HTTP, in JSON
//! and in binary, on one port. Requests are checked before a handler sees them.
//!
//! ```no_run
//! use polywire::prelude::*;
//!
//! /// Says a line to everyone.
//! #[derive(Api)]
//! #[api(response = SendReply)]
//! struct Send {
//!     content: String,
//! }
//!
//! #[derive(Schema)]
//! struct SendReply {
//!     time: DateTime,
//! }
//!
//! /// A line that someone said.
//! #[derive(Message)]
//! struct Chat {
//!     content: String,
//!     time: DateTime,
//! }
//!
//! async fn send(call: Call<Send>) -> Reply<SendReply> {
//!     let time = DateTime::now();
//!     let line = Chat { content: call.content.clone(), time };
//!     call.server().broadcast(&line).map_err(|error| ApiError::new(error.to_string()))?;
//!     Ok(SendReply { time })
//! }
//!
//! # async fn run() -> polywire::Result<()> {
//! Server::new().api(send).message::<Chat>().listen("127.0.0.1:3000").await?;
//! # Ok(())
//! # }
//! ```
//!
//! The same types make the client; see [`client`]:
//!
//! ```no_run
//! # use polywire::prelude::*;
//! # #[derive(Api)]
//! # #[api(response = SendReply)]
//! # struct Send { content: String }
//! # #[derive(Schema)]
//! # struct SendReply { time: DateTime }
//! # #[derive(Message)]
//! # struct Chat { content: String, time: DateTime }
//! # async fn run() -> polywire::Result<()> {
//! let client = Client::builder("ws://127.0.0.1:3000").api::<Send>().message::<Chat>().websocket()?;
//! client.on_message(|chat: Chat| async move { println!("{}", chat.content) });
//! client.connect().await?;
//! let reply = client.call(Send { content: "hello".to_owned() }).await?;
//! println!("said at {:?}", reply.time);
//! # Ok(())
//! # }
//! ```
//!
//! This crate has no logic of its own: it names what applications use.

pub use polywire_client as client;
pub use polywire_client::{CallOptions, Client, HttpClient, WsClient};
pub use polywire_macros::{Api, Message, Schema};
pub use polywire_schema as schema;
pub use polywire_schema::{Any, BufferKind, DateTime, JsString, Nullable, Object, ObjectId, Type, TypeSet, Value};
pub use polywire_schema::{Api, Message, Schema};
pub use polywire_server as server;
pub use polywire_server::{
    ApiError, Call, Conn, DataType, Dynamic, ErrorCode, ErrorKind, Limits, Msg, Pattern, Reply, SendError, Server,
    ServerOptions, ServiceProto, StartError,
};
pub use polywire_tsbuffer as tsbuffer;
pub use polywire_tsrpc as tsrpc;

/// The result of a program's `main`: any error.
pub type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

/// What most programs use.
pub mod prelude {
    pub use crate::{
        Any, Api, ApiError, Call, Client, Conn, DateTime, Dynamic, HttpClient, Message, Msg, Nullable, ObjectId, Reply,
        Schema, Server, ServerOptions, Value, WsClient,
    };
}

#[doc(hidden)]
pub use polywire_tsbuffer::__private;

/// The programs of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
