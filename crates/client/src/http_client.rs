//! The client over HTTP: one request a call, connections kept and shared.
//!
//! Depends on the HTTP client of polywire-net, and on what both clients share.

use std::{error::Error, fmt, future::Future, io, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request as HttpRequest, header::CONTENT_TYPE};
use polywire_net::{
    client::{HttpClient as Connections, HttpClientOptions, SendError},
    http::BodyLimits,
};
use polywire_runtime::{Dynamic, Request, ValueCodec};
use polywire_schema::{Api, Message, Value};
use polywire_tsbuffer::typed::Codec;
use polywire_tsrpc::{
    ApiError, Body, Draft, ErrorKind, Service, decode_http_reply, decode_http_reply_slow, http::client_request,
};
use tokio::time::timeout;

use crate::{
    CallOptions, Data, Flows, Running,
    call::call,
    core::{Callee, Core},
    message,
    transport::{Encode, Transport},
};

/// A client over HTTP. Cheap to clone; all clones share the connections.
///
/// ```no_run
/// use polywire_client::{Client, ServiceProto};
/// use polywire_schema::Value;
///
/// # async fn run(proto: ServiceProto) -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::builder("http://127.0.0.1:3000").proto(proto).json(true).http()?;
/// let request = [("content", Value::from("hello"))].into_iter().collect();
/// let response = client.call_named("Send", Value::Object(request)).await?;
/// println!("{:?}", response.get("time"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HttpClient {
    core: Arc<Core>,
    connections: Connections,
}

impl HttpClient {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        let options = HttpClientOptions {
            tls: core.options.tls.clone(),
            connect_timeout: core.options.connect_timeout,
            body: BodyLimits { max_len: core.options.limits.body, ..BodyLimits::default() },
            ..HttpClientOptions::default()
        };
        let connections = Connections::new(&options);
        Self { core, connections }
    }

    /// The flows: ordered hooks around everything that happens. Those of
    /// connections and of messages that arrive never run.
    #[must_use]
    pub fn flows(&self) -> &Flows {
        &self.core.flows
    }

    /// Calls an API. The type of the request names it and its response.
    ///
    /// # Errors
    /// What the API answers, or why there is no answer.
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
        call(self, self.core.typed_api::<A>(), request, options)
    }

    /// Calls the API of a name.
    ///
    /// # Errors
    /// As [`call`](Self::call); `Invalid api name` where the proto does not know it.
    pub fn call_named(&self, name: &str, request: Value) -> Running<Value> {
        self.call_named_with(name, request, CallOptions::default())
    }

    /// [`call_named`](Self::call_named), with options.
    pub fn call_named_with(&self, name: &str, request: Value, options: CallOptions) -> Running<Value> {
        call(self, self.core.named_api(name), Dynamic(request), options).into_value()
    }

    /// Sends a message. Returns when the server has it.
    ///
    /// # Errors
    /// Where the server cannot be reached or refuses it, or the message breaks its type.
    pub async fn send<M: Message + Codec>(&self, message: &M) -> Result<(), ApiError> {
        message::send_typed(self, message).await
    }

    /// Sends the message of a name.
    ///
    /// # Errors
    /// As [`send`](Self::send); `Invalid msg name` where the proto does not know it.
    pub async fn send_named(&self, name: &str, message: &Value) -> Result<(), ApiError> {
        message::send_named(self, name, message).await
    }

    /// Aborts every call with this key; returns how many.
    pub fn abort_key(&self, key: &str) -> usize {
        self.core.aborts.abort_key(key)
    }

    /// Aborts every call; returns how many.
    pub fn abort_all(&self) -> usize {
        self.core.aborts.abort_all()
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("url", &self.core.url).finish_non_exhaustive()
    }
}

impl Transport for HttpClient {
    fn core(&self) -> &Arc<Core> {
        &self.core
    }

    async fn exchange<A: Request>(
        &self,
        callee: &Callee<A>,
        encode: impl Encode,
        timeout: Option<Duration>,
    ) -> Result<A::Response, ApiError> {
        let payload = self.payload(&callee.service, encode).map_err(ApiError::invalid_request)?;
        let answer = within(timeout, self.round_trip(&callee.service, payload)).await?;
        self.read(callee, &answer)
    }

    async fn post(&self, service: &Arc<Service>, encode: impl Encode) -> Result<(), ApiError> {
        let payload = self.payload(service, encode).map_err(ApiError::invalid_message)?;
        let answer = within(self.core.options.timeout, self.round_trip(service, payload)).await?;
        // A message that was accepted is answered with nothing.
        match decode_http_reply(self.core.data_type(), &answer) {
            Ok(Err(refused)) => Err(refused),
            _ => Ok(()),
        }
    }
}

impl HttpClient {
    fn payload(&self, service: &Service, encode: impl Encode) -> Result<Vec<u8>, String> {
        let data_type = self.core.data_type();
        let mut payload = Vec::new();
        let mut draft = Draft::http_request(&mut payload, data_type, service);
        encode(data_type, draft.body()).map_err(|error| error.to_string())?;
        draft.finish();
        Ok(payload)
    }

    /// Sends a body through the hooks and gives back the answer's, whatever its status.
    async fn round_trip(&self, service: &Service, mut payload: Vec<u8>) -> Result<Bytes, ApiError> {
        let data_type = self.core.data_type();
        let flows = &self.core.flows;
        if flows.sends_active() {
            payload = flows.send(Data::new(data_type, payload), None).await?.into_bytes();
        }
        let head = client_request(&self.core.url, data_type, service);
        let mut request = HttpRequest::post(&head.url).header(CONTENT_TYPE, head.content_type);
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.core.options.headers.clone());
        }
        let request =
            request.body(payload.into()).map_err(|error| ApiError::new(error.to_string()).kind(ErrorKind::Client))?;
        let response = self.connections.send(request).await.map_err(|error| network_error(&error))?;
        let answer = response.into_body();
        if !flows.receives_active() {
            return Ok(answer);
        }
        let answer = flows.receive(Data::new(data_type, answer.into())).await.ok_or_else(ApiError::cancelled)?;
        Ok(answer.into_bytes().into())
    }

    /// Reads an answer. A body that was guessed wrong is read again as a whole.
    fn read<A: Request>(&self, callee: &Callee<A>, answer: &[u8]) -> Result<A::Response, ApiError> {
        let codec = &callee.codecs.response;
        let reply = decode_http_reply(self.core.data_type(), answer).map_err(|error| unreadable(&error))??;
        let is_guess = matches!(reply, Body::Json(_));
        match codec.decode(reply) {
            Err(_) if is_guess => {
                let reply = decode_http_reply_slow(answer).map_err(|error| unreadable(&error))??;
                codec.decode(reply).map_err(|error| unreadable(&error))
            }
            result => result.map_err(|error| unreadable(&error)),
        }
    }
}

/// Ends what takes too long. The request is dropped with it: the server sees the connection close.
async fn within<T>(limit: Option<Duration>, work: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    match limit {
        Some(limit) => timeout(limit, work).await.unwrap_or_else(|_| Err(ApiError::request_timeout())),
        None => work.await,
    }
}

fn unreadable(error: &dyn fmt::Display) -> ApiError {
    tracing::error!(%error, "ParseServerOutputError");
    ApiError::unreadable_output()
}

/// What the system says, with its code as Node names it; otherwise the whole chain of reasons.
fn network_error(error: &SendError) -> ApiError {
    let Some(system) = error.io_error() else {
        return ApiError::new(reasons(error)).kind(ErrorKind::Network);
    };
    let error = ApiError::new(system.to_string()).kind(ErrorKind::Network);
    match system.kind() {
        io::ErrorKind::ConnectionRefused => error.code("ECONNREFUSED"),
        io::ErrorKind::ConnectionReset => error.code("ECONNRESET"),
        io::ErrorKind::TimedOut => error.code("ETIMEDOUT"),
        io::ErrorKind::BrokenPipe => error.code("EPIPE"),
        _ => error,
    }
}

fn reasons(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(reason) = next {
        text.push_str(": ");
        text.push_str(&reason.to_string());
        next = reason.source();
    }
    text
}
