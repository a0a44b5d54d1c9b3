//! From a URL, services and options to a client.
//!
//! Depends on the proto and the two clients.

use std::sync::Arc;

use polywire_runtime::{CodecCache, Contract, RustCodec};
use polywire_schema::{Api, Message, ValidateOptions};
use polywire_tsbuffer::{TsBufferOptions, typed::Codec};
use polywire_tsrpc::{ApiError, DataType, ProtoBuilder, ProtoBuilderError, Service, ServiceMapError, ServiceProto};

use crate::{ClientOptions, Flows, HttpClient, WsClient, call::Aborts, listeners::Listeners};

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
        let Self { url, options, proto, types } = self;
        let proto = match proto {
            Some(proto) => proto,
            None => types.build(None)?.proto,
        };
        let checks = ValidateOptions { strict_null_checks: options.strict_null_checks, ..ValidateOptions::default() };
        let buffer_options = TsBufferOptions { checks, ..TsBufferOptions::default() };
        let contract = Contract::new(proto, &options.types, buffer_options)?;
        Ok(Core {
            url,
            options,
            contract,
            flows: Flows::default(),
            listeners: Listeners::default(),
            aborts: Arc::default(),
            codecs: CodecCache::default(),
        })
    }
}

/// What both clients have.
pub(crate) struct Core {
    pub(crate) url: String,
    pub(crate) options: ClientOptions,
    pub(crate) contract: Contract,
    pub(crate) flows: Flows,
    pub(crate) listeners: Listeners,
    pub(crate) aborts: Arc<Aborts>,
    codecs: CodecCache,
}

impl Core {
    pub(crate) fn data_type(&self) -> DataType {
        if self.options.json { DataType::Text } else { DataType::Buffer }
    }

    /// The codecs of an API of the proto, made at its first use.
    pub(crate) fn api_codecs<A>(&self, service: &Service) -> Arc<ApiCodecs<A>>
    where
        A: Api + Codec,
        A::Response: Codec,
    {
        self.codecs.get_or_make(|| {
            let codec = |slot| (&self.contract.buffer, slot, &*service.name);
            let (buffer, request, name) = codec(service.input());
            let response = service.response().unwrap_or(request);
            ApiCodecs {
                request: Arc::new(RustCodec::new(buffer, request, name)),
                response: Arc::new(RustCodec::new(buffer, response, name)),
            }
        })
    }

    /// The codec of a message of the proto, made at its first use.
    pub(crate) fn message_codec<M: Message + Codec>(&self, service: &Service) -> Arc<MessageCodec<M>> {
        self.codecs.get_or_make(|| MessageCodec(RustCodec::new(&self.contract.buffer, service.input(), &service.name)))
    }

    pub(crate) fn api(&self, name: &str) -> Result<&Arc<Service>, ApiError> {
        self.contract.services.api(name).ok_or_else(|| ApiError::invalid_api_name(name))
    }

    pub(crate) fn message(&self, name: &str) -> Result<&Arc<Service>, ApiError> {
        self.contract.services.message(name).ok_or_else(|| ApiError::invalid_msg_name(name))
    }
}

/// The codecs of one API.
pub(crate) struct ApiCodecs<A: Api> {
    pub(crate) request: Arc<RustCodec<A>>,
    pub(crate) response: Arc<RustCodec<A::Response>>,
}

/// The codec of one message. (A type may be an API and a message.)
pub(crate) struct MessageCodec<M>(pub(crate) RustCodec<M>);
