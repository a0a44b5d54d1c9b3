//! The client over HTTP: one request a call, connections kept and shared.
//!
//! Depends on the HTTP client of polywire-net.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{Request, header::CONTENT_TYPE};
use polywire_net::{
    client::{HttpClient as Transport, HttpClientOptions, SendError},
    http::BodyLimits,
};
use polywire_runtime::ValueCodec;
use polywire_schema::{Api, Message, Value};
use polywire_tsbuffer::typed::Codec;
use polywire_tsrpc::{
    ApiError, Body, DataType, Draft, ErrorKind, Service, decode_http_reply, decode_http_reply_slow,
    http::client_request,
};
use tokio::time::timeout;

use crate::{
    CallOptions, Data, Flows, OutgoingMessage, Running,
    builder::Core,
    call::{Decode, Encode, Spec, make},
    flows::log_failure,
};

/// A client over HTTP. Cheap to clone; all clones share the connections.
#[derive(Clone)]
pub struct HttpClient {
    core: Arc<Core>,
    transport: Transport,
}

impl HttpClient {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        let options = HttpClientOptions {
            tls: core.options.tls.clone(),
            connect_timeout: core.options.connect_timeout,
            body: BodyLimits { max_len: core.options.limits.body, ..BodyLimits::default() },
            ..HttpClientOptions::default()
        };
        let transport = Transport::new(&options);
        Self { core, transport }
    }

    /// The flows: ordered hooks around everything that happens.
    #[must_use]
    pub fn flows(&self) -> &Flows {
        &self.core.flows
    }

    /// Calls an API. The type of the request names it and its response.
    pub fn call<A>(&self, request: A) -> Running<A::Response>
    where
        A: Api + Codec,
        A::Response: Codec,
    {
        self.call_with(request, CallOptions::default())
    }

    /// [`call`](Self::call), with options.
    pub fn call_with<A>(&self, request: A, options: CallOptions) -> Running<A::Response>
    where
        A: Api + Codec,
        A::Response: Codec,
    {
        match self.core.api(A::NAME) {
            Ok(service) => self.run(service, Spec::typed(&self.core, service, request), options),
            Err(error) => Running::failed(&self.core, error),
        }
    }

    /// Calls the API of a name.
    pub fn call_named(&self, name: &str, request: Value) -> Running<Value> {
        self.call_named_with(name, request, CallOptions::default())
    }

    /// [`call_named`](Self::call_named), with options.
    pub fn call_named_with(&self, name: &str, request: Value, options: CallOptions) -> Running<Value> {
        match self.core.api(name) {
            Ok(service) => self.run(service, Spec::dynamic(&self.core, service, request), options),
            Err(error) => Running::failed(&self.core, error),
        }
    }

    fn run<T: Send + 'static>(&self, service: &Arc<Service>, spec: Spec<T>, options: CallOptions) -> Running<T> {
        let client = self.clone();
        let exchange = move |_, service, encode, decode, options| async move {
            client.exchange(service, encode, decode, options).await
        };
        let key = options.abort_key.clone();
        Running::new(&self.core, key, make(Arc::clone(&self.core), Arc::clone(service), spec, options, exchange))
    }

    async fn exchange<T: Send + 'static>(
        self,
        service: Arc<Service>,
        encode: Encode,
        decode: Arc<Decode<T>>,
        options: CallOptions,
    ) -> Result<T, ApiError> {
        let payload = self.payload(&service, encode).map_err(ApiError::invalid_request)?;
        let answer = self.post(&service, payload, options).await?;
        let data_type = self.core.data_type();
        let body = match &answer {
            Data::Text(text) => text.as_bytes(),
            Data::Buffer(bytes) => bytes,
        };
        let unreadable = |error: &dyn fmt::Display| {
            tracing::error!(%error, "ParseServerOutputError");
            ApiError::unreadable_output()
        };
        let reply = decode_http_reply(data_type, body).map_err(|error| unreadable(&error))??;
        let is_guess = matches!(reply, Body::Json(_));
        match decode(reply) {
            Err(_) if is_guess => {
                let reply = decode_http_reply_slow(body).map_err(|error| unreadable(&error))??;
                decode(reply).map_err(|error| unreadable(&error))
            }
            result => result.map_err(|error| unreadable(&error)),
        }
    }

    fn payload(&self, service: &Service, encode: Encode) -> Result<Vec<u8>, String> {
        let data_type = self.core.data_type();
        let mut payload = Vec::new();
        let mut draft = Draft::http_request(&mut payload, data_type, service);
        encode(data_type, draft.body()).map_err(|error| error.to_string())?;
        draft.finish();
        Ok(payload)
    }

    async fn post(&self, service: &Service, payload: Vec<u8>, options: CallOptions) -> Result<Data, ApiError> {
        let data_type = self.core.data_type();
        let flows = &self.core.flows;
        let mut data = self.data(payload);
        if flows.sends_active() {
            data = flows.send(data, None).await?;
        }
        let body = match data {
            Data::Text(text) => Bytes::from(text),
            Data::Buffer(bytes) => Bytes::from(bytes),
        };
        let head = client_request(&self.core.url, data_type, service);
        let mut request = Request::post(&head.url).header(CONTENT_TYPE, head.content_type);
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.core.options.headers.clone());
        }
        let request = request.body(body).map_err(|error| ApiError::new(error.to_string()).kind(ErrorKind::Client))?;
        let sending = self.transport.send(request);
        let response = match options.timeout.or(self.core.options.timeout) {
            // A timeout drops the request: the server sees the connection close.
            Some(limit) => timeout(limit, sending).await.map_err(|_| ApiError::request_timeout())?,
            None => sending.await,
        };
        let answer = self.data(response.map_err(|error| network_error(&error))?.into_body().into());
        if flows.receives_active() {
            return flows.receive(answer).await.ok_or_else(ApiError::cancelled);
        }
        Ok(answer)
    }

    fn data(&self, bytes: Vec<u8>) -> Data {
        match self.core.data_type() {
            DataType::Text => Data::Text(String::from_utf8_lossy(&bytes).into_owned()),
            DataType::Buffer => Data::Buffer(bytes),
        }
    }

    /// Sends a message. Returns when the server has it.
    ///
    /// # Errors
    /// Where the server cannot be reached, or the message breaks its type.
    pub async fn send<M: Message + Codec + Clone>(&self, message: &M) -> Result<(), ApiError> {
        let service = self.core.message(M::NAME)?;
        let codec = self.core.message_codec::<M>(service);
        let (owned, encode) = (message.clone(), Arc::clone(&codec));
        let encode: Encode = Box::new(move |data_type, out| encode.0.encode(&owned, data_type, out));
        self.send_message(service, encode, || codec.0.to_value(message)).await
    }

    /// Sends the message of a name.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_named(&self, name: &str, message: &Value) -> Result<(), ApiError> {
        let service = self.core.message(name)?;
        let codec = self.core.contract.dynamic(service.input());
        let owned = message.clone();
        let encode: Encode = Box::new(move |data_type, out| codec.encode_value(&owned, data_type, out));
        self.send_message(service, encode, || message.clone()).await
    }

    async fn send_message(
        &self,
        service: &Arc<Service>,
        encode: Encode,
        value: impl Fn() -> Value,
    ) -> Result<(), ApiError> {
        let flows = &self.core.flows;
        let mut encode = encode;
        let mut outgoing = None;
        if flows.pre_send_msg.is_active() || flows.post_send_msg.is_active() {
            let message = OutgoingMessage { name: Arc::clone(&service.name), message: value() };
            let message =
                flows.pre_send_msg.run(message).await.map_err(|error| ApiError::invalid_message(error.to_string()))?;
            let message = message.ok_or_else(ApiError::cancelled)?;
            let (codec, changed) = (self.core.contract.dynamic(service.input()), message.message.clone());
            encode = Box::new(move |data_type, out| codec.encode_value(&changed, data_type, out));
            outgoing = Some(message);
        }
        let payload = self.payload(service, encode).map_err(ApiError::invalid_message)?;
        self.post(service, payload, CallOptions::default()).await?;
        if let Some(outgoing) = outgoing
            && let Err(error) = flows.post_send_msg.run(outgoing).await
        {
            log_failure("post_send_msg", &*error);
        }
        Ok(())
    }

    /// Aborts every call with this key; returns how many.
    pub fn abort_key(&self, key: &str) -> usize {
        self.core.aborts.abort(|known| known == Some(key))
    }

    /// Aborts every call; returns how many.
    pub fn abort_all(&self) -> usize {
        self.core.aborts.abort(|_| true)
    }
}

/// What the system says, with its code as Node names it.
fn network_error(error: &SendError) -> ApiError {
    let text = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
    let api_error = ApiError::new(text).kind(ErrorKind::Network);
    let code = error.io_error().and_then(|error| match error.kind() {
        std::io::ErrorKind::ConnectionRefused => Some("ECONNREFUSED"),
        std::io::ErrorKind::ConnectionReset => Some("ECONNRESET"),
        std::io::ErrorKind::TimedOut => Some("ETIMEDOUT"),
        std::io::ErrorKind::BrokenPipe => Some("EPIPE"),
        _ => None,
    });
    match code {
        Some(code) => api_error.code(code),
        None => api_error,
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("url", &self.core.url).finish_non_exhaustive()
    }
}
