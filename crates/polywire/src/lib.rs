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
//! # What handlers share
//!
//! Closures around the handlers keep it; what belongs to one connection, such as
//! its user, is kept there by [`Conn::set`].
//!
//! ```no_run
//! use std::sync::{Arc, Mutex, PoisonError};
//!
//! use polywire::prelude::*;
//!
//! #[derive(Api)]
//! #[api(response = AddReply)]
//! struct Add {
//!     title: String,
//! }
//!
//! #[derive(Schema)]
//! struct AddReply {
//!     count: u32,
//! }
//!
//! #[derive(Default)]
//! struct Board {
//!     titles: Mutex<Vec<String>>,
//! }
//!
//! async fn add(board: Arc<Board>, call: Call<Add>) -> Reply<AddReply> {
//!     if call.title.is_empty() {
//!         return Err(ApiError::new("A title is needed").code("NO_TITLE"));
//!     }
//!     let mut titles = board.titles.lock().unwrap_or_else(PoisonError::into_inner);
//!     titles.push(call.title.clone());
//!     Ok(AddReply { count: titles.len() as u32 })
//! }
//!
//! # async fn run() -> polywire::Result<()> {
//! let board = Arc::new(Board::default());
//! Server::new().api(move |call| add(Arc::clone(&board), call)).listen("127.0.0.1:3000").await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Types
//!
//! What is derived is the type that TypeScript programs see:
//!
//! | Rust | TypeScript |
//! |---|---|
//! | `bool`, `String`, `f64`, `f32` | `boolean`, `string`, `number`, `number` |
//! | `u8` to `u64`, `usize`; `i8` to `i64`, `isize` | `uint`; `int` (at most 53 bits) |
//! | [`DateTime`] | `Date` |
//! | `Vec<T>`, `(A, B)` | `T[]`, `[A, B]` (a `Vec<u8>` is `uint[]`) |
//! | [`Uint8Array`], [`Float64Array`] and so on, [`ArrayBuffer`] | the class of that name |
//! | `HashMap<K, T>`, `BTreeMap<K, T>` | `{ [key: string]: T }`, or `number` for integer keys |
//! | a struct | an interface |
//! | a field that is an `Option<T>` | `name?: T` |
//! | [`Nullable<T>`](Nullable) | `T \| null` |
//! | an enum without data | a union of literals: `"Low"`, `"High"`; with `#[schema(numeric)]` or `string` a TypeScript enum |
//! | an enum with data | a union of interfaces, told apart by `#[schema(tag = "…")]`; or `untagged` |
//! | [`ObjectId`] | MongoDB's class, or a string by option |
//! | [`Any`], `()` | `any`, `{}` |
//!
//! Names are written as they stand in Rust; `#[schema(rename_all = "camelCase")]`
//! changes all of a type, `rename` one. The derives list [all attributes](macro@Schema).
//!
//! # Clients
//!
//! TypeScript programs use the `serviceProto.ts` that
//! [`Server::service_proto`] and [`ServiceProto::to_standalone_module`] write.
//! For Rust, the same types make the client; see [`client`]:
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
//! # The log
//!
//! Failed handlers, refused responses and the like go to `tracing`. A program that
//! has no subscriber prints none of it: `tracing_subscriber::fmt::init()`, of the
//! crate `tracing-subscriber`, is enough to see it.
//!
//! This crate has no logic of its own: it names what applications use.

mod error;

pub use error::Error;
pub use polywire_client as client;
pub use polywire_client::{CallOptions, Client, HttpClient, WsClient};
pub use polywire_macros::{Api, Message, Schema};
pub use polywire_schema as schema;
pub use polywire_schema::{
    Any, ArrayBuffer, BigInt64Array, BigUint64Array, BufferKind, DateTime, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, JsString, Nullable, Object, ObjectId, Type, TypeSet, Uint8Array, Uint16Array, Uint32Array,
    Value,
};
pub use polywire_schema::{Api, Message, Schema};
pub use polywire_server as server;
pub use polywire_server::{
    ApiError, Call, Conn, DataType, Dynamic, ErrorCode, ErrorKind, Limits, Msg, Pattern, Reply, SendError, Server,
    ServerOptions, ServiceProto, StartError,
};
pub use polywire_tsbuffer as tsbuffer;
pub use polywire_tsrpc as tsrpc;

/// The result of a program's `main`: any error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

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
