//! The client over WebSocket: calls and messages on one connection, both ways.
//!
//! Depends on the link and its driver.

use std::{
    fmt,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use polywire_net::{
    client::{WebSocketOptions, connect},
    ws::{self, CloseCode, Decoder, DeflateConfig},
};
use polywire_runtime::{IntoOutcome, ListenerId, Pattern, Task, ValueCodec};
use polywire_schema::{Api, Message, Value};
use polywire_tsbuffer::typed::Codec;
use polywire_tsrpc::{ApiError, ClientOptions as SessionOptions, DataType, Draft, Sender, Service};
use tokio::sync::watch;

use crate::{
    CallOptions, Connecting, Data, Disconnected, Flows, OutgoingMessage, Running,
    builder::Core,
    call::{Decode, Encode, Spec, make},
    flows::log_failure,
    link::Link,
    listeners::Listeners,
    ws_driver::{Driver, Ended},
};

/// Where a WebSocket client stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WsStatus {
    /// Not connected.
    Closed,
    /// Being connected.
    Opening,
    /// Connected.
    Opened,
}

/// Why a connection was not opened. `Display` begins with the published text.
#[derive(Debug, thiserror::Error)]
#[error("Failed to connect to WebSocket server: {url} ({reason})")]
pub struct ConnectFailed {
    /// The URL.
    pub url: String,
    /// What went wrong.
    pub reason: String,
}

/// A client over WebSocket. Cheap to clone; all clones share the connection.
#[derive(Clone)]
pub struct WsClient {
    shared: Arc<Shared>,
}

struct Shared {
    core: Arc<Core>,
    link: Mutex<Option<Arc<Link>>>,
    status: watch::Sender<WsStatus>,
    connecting: tokio::sync::Mutex<()>,
}

impl WsClient {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        let status = watch::Sender::new(WsStatus::Closed);
        let shared = Shared { core, link: Mutex::default(), status, connecting: tokio::sync::Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Connects, unless it is connected. Concurrent calls share one attempt.
    ///
    /// # Errors
    /// [`ConnectFailed`], with the reason.
    pub async fn connect(&self) -> Result<(), ConnectFailed> {
        let shared = &self.shared;
        let _one = shared.connecting.lock().await;
        if self.is_connected() {
            return Ok(());
        }
        shared.status.send_replace(WsStatus::Opening);
        let result = self.open().await;
        if let Err(error) = &result {
            tracing::debug!(%error, "not connected");
            shared.status.send_replace(WsStatus::Closed);
        }
        result
    }

    async fn open(&self) -> Result<(), ConnectFailed> {
        let core = &self.shared.core;
        let failed = |reason: String| ConnectFailed { url: core.url.clone(), reason };
        let connecting = Connecting { url: core.url.clone() };
        let connecting = match core.flows.pre_connect.run(connecting).await {
            Ok(Some(connecting)) => connecting,
            Ok(None) => return Err(failed("stopped by a hook of pre_connect".to_owned())),
            Err(error) => return Err(failed(error.to_string())),
        };
        let options = &core.options;
        let handshake = WebSocketOptions {
            protocols: vec![core.data_type().subprotocol().to_owned()],
            headers: options.headers.clone(),
            tls: options.tls.clone(),
            deflate: options.compression.then(DeflateConfig::default),
            timeout: options.connect_timeout,
        };
        let socket = connect(&connecting.url, &handshake).await.map_err(|error| failed(error.to_string()))?;
        let limits = ws::Limits { max_message: options.limits.frame, max_frame: options.limits.frame };
        let mut decoder = Decoder::new(ws::Role::Client, limits);
        if let Some(deflate) = &socket.deflate {
            decoder = decoder.with_deflate(deflate);
        }
        let session = SessionOptions {
            data_type: core.data_type(),
            calls_in_flight: options.limits.calls_in_flight,
            heartbeat: options.heartbeat,
        };
        let encoder = ws::Encoder::new(ws::Role::Client, socket.deflate.as_ref());
        let link = Arc::new(Link::new(&session, encoder, options.limits.outbound, Instant::now()));
        *self.link_slot() = Some(Arc::clone(&link));
        self.shared.status.send_replace(WsStatus::Opened);
        let driver = Driver::new(Arc::clone(core), Arc::clone(&link), socket.stream, decoder, socket.read.to_vec());
        tokio::spawn(self.clone().drive(driver, link));
        if let Err(error) = core.flows.post_connect.run(()).await {
            log_failure("post_connect", &*error);
        }
        Ok(())
    }

    async fn drive(self, driver: Driver, link: Arc<Link>) {
        let Ended { reason, is_manual } = driver.await;
        link.end(reason.as_deref().unwrap_or_default());
        *self.link_slot() = None;
        self.shared.status.send_replace(WsStatus::Closed);
        let core = &self.shared.core;
        let disconnected = Disconnected { reason, is_manual };
        if let Err(error) = core.flows.post_disconnect.run(disconnected).await {
            log_failure("post_disconnect", &*error);
        }
        if let (Some(reconnect), false) = (core.options.reconnect.clone(), is_manual) {
            tokio::spawn(self.reconnect(reconnect.first, reconnect.longest));
        }
    }

    /// Tries to connect until it is connected. Boxed, since it drives the next connection.
    fn reconnect(self, first: Duration, longest: Duration) -> Task {
        Box::pin(async move {
            let mut wait = first;
            loop {
                tokio::time::sleep(wait).await;
                // Somebody may have connected by hand, or dropped the last client.
                if self.is_connected() || Arc::strong_count(&self.shared) == 1 || self.connect().await.is_ok() {
                    return;
                }
                wait = (wait * 2).min(longest);
            }
        })
    }

    fn link_slot(&self) -> std::sync::MutexGuard<'_, Option<Arc<Link>>> {
        self.shared.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn link(&self) -> Result<Arc<Link>, ApiError> {
        self.link_slot().clone().ok_or_else(ApiError::not_open)
    }

    /// Closes the connection with code 1000. Returns when it is closed, after 1 s at the latest.
    pub async fn disconnect(&self) {
        self.disconnect_with(1000, "").await;
    }

    /// Closes the connection with a code and a reason of at most 123 bytes (a longer one is cut).
    pub async fn disconnect_with(&self, code: u16, reason: &str) {
        let Some(link) = self.link_slot().clone() else { return };
        link.close(CloseCode(code), reason);
        let mut status = self.shared.status.subscribe();
        // The sender lives in `self`.
        let _ = status.wait_for(|status| *status == WsStatus::Closed).await;
    }

    /// Where it stands.
    #[must_use]
    pub fn status(&self) -> WsStatus {
        *self.shared.status.borrow()
    }

    /// Follows where it stands.
    #[must_use]
    pub fn watch_status(&self) -> watch::Receiver<WsStatus> {
        self.shared.status.subscribe()
    }

    /// Whether it is connected.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.status() == WsStatus::Opened
    }

    /// How long the last heartbeat took.
    #[must_use]
    pub fn latency(&self) -> Option<Duration> {
        let link = self.link().ok()?;
        let state = link.lock();
        state.session.as_ref()?.heartbeat()?.latency()
    }

    /// The flows: ordered hooks around everything that happens.
    #[must_use]
    pub fn flows(&self) -> &Flows {
        &self.shared.core.flows
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
        let core = &self.shared.core;
        match core.api(A::NAME) {
            Ok(service) => self.run(service, Spec::typed(core, service, request), options),
            Err(error) => Running::failed(core, error),
        }
    }

    /// Calls the API of a name.
    pub fn call_named(&self, name: &str, request: Value) -> Running<Value> {
        self.call_named_with(name, request, CallOptions::default())
    }

    /// [`call_named`](Self::call_named), with options.
    pub fn call_named_with(&self, name: &str, request: Value, options: CallOptions) -> Running<Value> {
        let core = &self.shared.core;
        match core.api(name) {
            Ok(service) => self.run(service, Spec::dynamic(core, service, request), options),
            Err(error) => Running::failed(core, error),
        }
    }

    fn run<T: Send + 'static>(&self, service: &Arc<Service>, spec: Spec<T>, options: CallOptions) -> Running<T> {
        let core = &self.shared.core;
        let client = self.clone();
        let exchange = move |core, service, encode, decode, options| async move {
            client.exchange(core, service, encode, decode, options).await
        };
        let key = options.abort_key.clone();
        let call = make(Arc::clone(core), Arc::clone(service), spec, options, exchange);
        Running::new(core, key, call)
    }

    async fn exchange<T: Send + 'static>(
        self,
        core: Arc<Core>,
        service: Arc<Service>,
        encode: Encode,
        decode: Arc<Decode<T>>,
        options: CallOptions,
    ) -> Result<T, ApiError> {
        let link = self.link()?;
        let (sn, reply) = link.start(decode, options.timeout.or(core.options.timeout))?;
        let waiting = Withdraw { link: &link, sn };
        if core.flows.sends_active() {
            let mut payload = Vec::new();
            let data_type = link.data_type();
            let mut draft = Draft::request(&mut payload, data_type, &service, sn);
            encode(data_type, draft.body()).map_err(|error| ApiError::invalid_request(error.to_string()))?;
            draft.finish();
            self.send_payload(&link, payload, Some(sn)).await?;
        } else {
            link.request(&service, sn, encode).map_err(|error| ApiError::invalid_request(error.to_string()))?;
        }
        let result = reply.await.unwrap_or_else(|_| Err(ApiError::lost_connection("")));
        drop(waiting);
        result
    }

    async fn send_payload(&self, link: &Link, payload: Vec<u8>, sn: Option<u64>) -> Result<(), ApiError> {
        let data = match link.data_type() {
            // What our encoders write as text is UTF-8.
            DataType::Text => Data::Text(String::from_utf8(payload).unwrap_or_default()),
            DataType::Buffer => Data::Buffer(payload),
        };
        match self.flows().send(data, sn).await? {
            Data::Text(text) => link.put(ws::Opcode::Text, text.as_bytes()),
            Data::Buffer(bytes) => link.put(ws::Opcode::Binary, &bytes),
        }
    }

    /// Sends a message. Returns when it is handed to the connection.
    ///
    /// # Errors
    /// Where it is not connected, or the message breaks its type.
    pub async fn send<M: Message + Codec + Clone>(&self, message: &M) -> Result<(), ApiError> {
        let service = self.shared.core.message(M::NAME)?;
        let codec = self.shared.core.message_codec::<M>(service);
        let (owned, encode) = (message.clone(), Arc::clone(&codec));
        let encode: Encode = Box::new(move |data_type, out| encode.0.encode(&owned, data_type, out));
        self.send_message(service, encode, || codec.0.to_value(message)).await
    }

    /// Sends the message of a name.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_named(&self, name: &str, message: &Value) -> Result<(), ApiError> {
        let service = self.shared.core.message(name)?;
        let codec = self.shared.core.contract.dynamic(service.input());
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
        let link = self.link()?;
        let core = &self.shared.core;
        let flows = &core.flows;
        let mut encode = encode;
        let mut outgoing = None;
        if flows.pre_send_msg.is_active() || flows.post_send_msg.is_active() {
            let message = OutgoingMessage { name: Arc::clone(&service.name), message: value() };
            let message =
                flows.pre_send_msg.run(message).await.map_err(|error| ApiError::invalid_message(error.to_string()))?;
            let message = message.ok_or_else(ApiError::cancelled)?;
            let (codec, changed) = (core.contract.dynamic(service.input()), message.message.clone());
            encode = Box::new(move |data_type, out| codec.encode_value(&changed, data_type, out));
            outgoing = Some(message);
        }
        if flows.sends_active() {
            let mut payload = Vec::new();
            let data_type = link.data_type();
            let mut draft = Draft::message(&mut payload, data_type, service, Sender::Client);
            encode(data_type, draft.body()).map_err(|error| ApiError::invalid_message(error.to_string()))?;
            draft.finish();
            self.send_payload(&link, payload, None).await?;
        } else {
            link.message(service, encode)?.map_err(|error| ApiError::invalid_message(error.to_string()))?;
        }
        if let Some(outgoing) = outgoing
            && let Err(error) = flows.post_send_msg.run(outgoing).await
        {
            log_failure("post_send_msg", &*error);
        }
        Ok(())
    }

    fn listeners(&self) -> &Listeners {
        &self.shared.core.listeners
    }

    /// Handles a message; its type names it.
    pub fn on_message<M, F, Fut>(&self, handler: F) -> ListenerId
    where
        M: Message + Codec,
        F: Fn(M) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.listeners().add_typed(&self.shared.core.contract, handler)
    }

    /// Handles the messages of a name or pattern.
    pub fn on_message_named<F, Fut>(&self, pattern: impl Into<Pattern>, handler: F) -> ListenerId
    where
        F: Fn(Arc<str>, Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.listeners().add_named(&self.shared.core.contract, &pattern.into(), handler)
    }

    /// Removes a message handler. Returns whether it was there.
    pub fn remove_listener(&self, id: ListenerId) -> bool {
        self.listeners().remove(id)
    }

    /// Removes all message handlers.
    pub fn remove_listeners(&self) {
        self.listeners().clear();
    }

    /// Aborts every call with this key; returns how many.
    pub fn abort_key(&self, key: &str) -> usize {
        self.shared.core.aborts.abort(|known| known == Some(key))
    }

    /// Aborts every call; returns how many.
    pub fn abort_all(&self) -> usize {
        self.shared.core.aborts.abort(|_| true)
    }
}

impl fmt::Debug for WsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let core = &self.shared.core;
        f.debug_struct("WsClient").field("url", &core.url).field("status", &self.status()).finish_non_exhaustive()
    }
}

/// Withdraws a call whose caller has gone.
struct Withdraw<'a> {
    link: &'a Link,
    sn: u64,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.link.withdraw(self.sn);
    }
}
