//! From a URL, services and options to a client.
//!
//! Depends on the proto and the two clients.

use std::sync::Arc;

use polywire_schema::{Api, Message};
use polywire_tsrpc::{ProtoBuilder, ProtoBuilderError, ServiceMapError, ServiceProto};

use crate::{ClientOptions, HttpClient, WsClient, core::Core};

/// Where clients begin.
///
/// ```no_run
/// use polywire_client::{Client, ServiceProto};
/// use polywire_schema::Value;
///
/// # async fn run(text: &str) -> Result<(), Box<dyn std::error::Error>> {
/// let proto = ServiceProto::from_module(text)?;
/// let client = Client::builder("ws://127.0.0.1:3000").proto(proto).websocket()?;
/// client.connect().await?;
/// let request = [("content", Value::from("hello"))].into_iter().collect();
/// let response = client.call_named("Send", Value::Object(request)).await?;
/// println!("{response:?}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Client;

impl Client {
    /// Begins a client of the server at a URL: `ws://` or `wss://` for
    /// [`Builder::websocket`], `http://` or `https://` for [`Builder::http`].
    #[must_use]
    pub fn builder(url: impl Into<String>) -> Builder {
        Builder { url: url.into(), options: ClientOptions::default(), proto: None, types: ProtoBuilder::new() }
    }
}

/// A client that is being put together.
#[derive(Debug)]
pub struct Builder {
    url: String,
    options: ClientOptions,
    proto: Option<ServiceProto>,
    types: ProtoBuilder,
}

/// Why a client cannot be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The proto does not fit together.
    #[error(transparent)]
    Services(#[from] ServiceMapError),
    /// The proto cannot be made of the Rust types.
    #[error(transparent)]
    Proto(#[from] ProtoBuilderError),
}

impl Builder {
    /// The service proto of the server. Needed where its ids cannot be made of
    /// the Rust types alone: where it was written elsewhere, or has a history.
    #[must_use]
    pub fn proto(mut self, proto: ServiceProto) -> Self {
        self.proto = Some(proto);
        self
    }

    /// Makes the proto of Rust types, of which this is an API. All services of
    /// the server must be named, since they share one space of ids.
    #[must_use]
    pub fn api<A: Api>(mut self) -> Self {
        self.types.api::<A>();
        self
    }

    /// Makes the proto of Rust types, of which this is a message.
    #[must_use]
    pub fn message<M: Message>(mut self) -> Self {
        self.types.message::<M>();
        self
    }

    /// Writes JSON instead of binary.
    #[must_use]
    pub fn json(mut self, json: bool) -> Self {
        self.options.json = json;
        self
    }

    /// Changes the options.
    #[must_use]
    pub fn options(mut self, change: impl FnOnce(&mut ClientOptions)) -> Self {
        change(&mut self.options);
        self
    }

    /// A client over WebSocket, not connected yet.
    ///
    /// # Errors
    /// Where the services do not fit together.
    pub fn websocket(self) -> Result<WsClient, BuildError> {
        Ok(WsClient::new(Arc::new(self.core()?)))
    }

    /// A client over HTTP.
    ///
    /// # Errors
    /// Where the services do not fit together.
    pub fn http(self) -> Result<HttpClient, BuildError> {
        Ok(HttpClient::new(Arc::new(self.core()?)))
    }

    fn core(self) -> Result<Core, BuildError> {
        let proto = match self.proto {
            Some(proto) => proto,
            None => self.types.build(None)?.proto,
        };
        Ok(Core::new(self.url, self.options, proto)?)
    }
}
