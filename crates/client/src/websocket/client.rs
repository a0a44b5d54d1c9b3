//! The client over WebSocket as applications see it.
//!
//! Depends on the link, and on what both clients share.

use std::{
    fmt,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::{FutureExt, WeakShared};
use polywire_net::ws::{self, CloseCode};
use polywire_runtime::{Dynamic, IntoOutcome, ListenerId, Pattern, Request};
use polywire_schema::{Api, Message, Value};
use polywire_tsbuffer::typed::Codec;
use polywire_tsrpc::{ApiError, Draft, Sender, Service};
use tokio::sync::watch;

use super::{
    connect::{Attempt, ConnectFailed, open},
    link::Link,
};
use crate::{
    CallOptions, Data, Flows, Running,
    call::call,
    core::{Callee, Core},
    message,
    transport::{Encode, Transport},
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
    /// Being closed by this side.
    Closing,
}

/// A client over WebSocket. Cheap to clone; all clones share the connection,
/// which is closed when the last of them is dropped.
///
/// Any number of calls may be in flight; answers come in any order.
///
/// ```no_run
/// use polywire_client::{Client, ServiceProto};
/// use polywire_schema::Value;
///
/// # async fn run(proto: ServiceProto) -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::builder("ws://127.0.0.1:3000").proto(proto).websocket()?;
/// client.on_message_named("Chat", |_, message: Value| async move {
///     println!("{:?}", message.get("content"));
/// });
/// client.connect().await?;
/// let request = [("content", Value::from("hello"))].into_iter().collect();
/// client.call_named("Send", Value::Object(request)).await?;
/// client.disconnect().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct WsClient {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) core: Arc<Core>,
    pub(super) status: watch::Sender<WsStatus>,
    place: Mutex<Place>,
    attempt: Mutex<Option<WeakShared<Attempt>>>,
    /// One attempt at a time, also where the last one is just being dropped.
    pub(super) connecting: tokio::sync::Mutex<()>,
}

/// What there is at the other end.
#[derive(Default)]
pub(super) struct Place {
    /// The connection, from when it is open until it has ended.
    pub(super) link: Option<Arc<Link>>,
    /// The task that tries to open it again.
    pub(super) reconnecting: Option<tokio::task::AbortHandle>,
}

impl Shared {
    pub(super) fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn attempt(&self) -> MutexGuard<'_, Option<WeakShared<Attempt>>> {
        self.attempt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop_reconnecting(&self) {
        if let Some(task) = self.place().reconnecting.take() {
            task.abort();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(link) = self.place().link.take() {
            link.close(CloseCode::NORMAL, "");
        }
        self.stop_reconnecting();
    }
}

impl From<Arc<Shared>> for WsClient {
    fn from(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

/// Connecting and disconnecting.
impl WsClient {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        let status = watch::Sender::new(WsStatus::Closed);
        let shared = Shared {
            core,
            status,
            place: Mutex::default(),
            attempt: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Connects, unless it is connected. Concurrent calls share one attempt,
    /// which ends when none of them waits for it any more.
    ///
    /// # Errors
    /// [`ConnectFailed`], with the reason.
    pub async fn connect(&self) -> Result<(), ConnectFailed> {
        let attempt = {
            let mut slot = self.shared.attempt();
            match slot.as_ref().and_then(WeakShared::upgrade) {
                Some(attempt) => attempt,
                None if self.is_connected() => return Ok(()),
                None => {
                    let attempt: Attempt = Box::pin(open(Arc::clone(&self.shared)));
                    let attempt = attempt.shared();
                    *slot = attempt.downgrade();
                    attempt
                }
            }
        };
        attempt.await
    }

    /// Closes the connection with code 1000, and ends attempts to connect
    /// again. Returns when it is closed, after about a second at the latest.
    pub async fn disconnect(&self) {
        self.disconnect_with(1000, "").await;
    }

    /// [`disconnect`](Self::disconnect) with a code and a reason of at most 123
    /// bytes (a longer one is cut). A code that may not travel, such as 1005, is not sent.
    pub async fn disconnect_with(&self, code: u16, reason: &str) {
        let link = self.shared.place().link.clone();
        if let Some(link) = link {
            self.shared.status.send_if_modified(|status| {
                let opened = *status == WsStatus::Opened;
                if opened {
                    *status = WsStatus::Closing;
                }
                opened
            });
            link.close(CloseCode(code), reason);
            link.ended().await;
        }
        self.shared.stop_reconnecting();
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

    /// How long the answer to the last heartbeat took; none without heartbeat,
    /// before the first answer, and while not connected.
    #[must_use]
    pub fn latency(&self) -> Option<Duration> {
        let link = self.link().ok()?;
        let state = link.lock();
        state.session.as_ref()?.heartbeat()?.latency()
    }

    fn link(&self) -> Result<Arc<Link>, ApiError> {
        self.shared.place().link.clone().ok_or_else(ApiError::not_open)
    }
}

/// Calls and messages.
impl WsClient {
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
        call(self, self.shared.core.typed_api::<A>(), request, options)
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
        call(self, self.shared.core.named_api(name), Dynamic(request), options).into_value()
    }

    /// Sends a message. Returns when it is handed to the connection.
    ///
    /// # Errors
    /// Where it is not connected, or the message breaks its type.
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

    /// Handles a message; its type names it. Handlers of one message run in the
    /// order in which they were added, and outlive the connection.
    pub fn on_message<M, F, Fut>(&self, handler: F) -> ListenerId
    where
        M: Message + Codec,
        F: Fn(M) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        let core = &self.shared.core;
        core.listeners.add_typed(&core.contract, handler)
    }

    /// Handles the messages of a name or pattern.
    pub fn on_message_named<F, Fut>(&self, pattern: impl Into<Pattern>, handler: F) -> ListenerId
    where
        F: Fn(Arc<str>, Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        let core = &self.shared.core;
        core.listeners.add_named(&core.contract, &pattern.into(), handler)
    }

    /// Removes a message handler. Returns whether it was there.
    pub fn remove_listener(&self, id: ListenerId) -> bool {
        self.shared.core.listeners.remove(id)
    }

    /// Removes all message handlers.
    pub fn remove_listeners(&self) {
        self.shared.core.listeners.clear();
    }

    /// Aborts every call with this key; returns how many.
    pub fn abort_key(&self, key: &str) -> usize {
        self.shared.core.aborts.abort_key(key)
    }

    /// Aborts every call; returns how many.
    pub fn abort_all(&self) -> usize {
        self.shared.core.aborts.abort_all()
    }
}

impl fmt::Debug for WsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let core = &self.shared.core;
        f.debug_struct("WsClient").field("url", &core.url).field("status", &self.status()).finish_non_exhaustive()
    }
}

impl Transport for WsClient {
    fn core(&self) -> &Arc<Core> {
        &self.shared.core
    }

    async fn exchange<A: Request>(
        &self,
        callee: &Callee<A>,
        encode: impl Encode,
        timeout: Option<Duration>,
    ) -> Result<A::Response, ApiError> {
        let core = &self.shared.core;
        let link = self.link()?;
        let Callee { service, codecs } = callee;
        if !core.flows.sends_active() {
            return link.call(service, codecs, timeout, encode)?.await;
        }
        let mut answer = link.admit_unwritten(codecs, timeout)?;
        let data_type = core.data_type();
        let mut payload = Vec::new();
        let mut draft = Draft::request(&mut payload, data_type, service, answer.sn);
        encode(data_type, draft.body()).map_err(|error| ApiError::invalid_request(error.to_string()))?;
        draft.finish();
        let sn = Some(answer.sn);
        tokio::select! {
            biased;
            sent = self.send_through_hooks(&link, payload, sn) => sent?,
            // Time is up, or the connection lost, while the hooks still wait.
            answer = &mut answer => return answer,
        }
        answer.await
    }

    async fn post(&self, service: &Arc<Service>, encode: impl Encode) -> Result<(), ApiError> {
        let core = &self.shared.core;
        let link = self.link()?;
        if !core.flows.sends_active() {
            return link.message(service, encode);
        }
        let data_type = core.data_type();
        let mut payload = Vec::new();
        let mut draft = Draft::message(&mut payload, data_type, service, Sender::Client);
        encode(data_type, draft.body()).map_err(|error| ApiError::invalid_message(error.to_string()))?;
        draft.finish();
        self.send_through_hooks(&link, payload, None).await
    }
}

impl WsClient {
    async fn send_through_hooks(&self, link: &Link, payload: Vec<u8>, sn: Option<u64>) -> Result<(), ApiError> {
        let data = Data::new(self.shared.core.data_type(), payload);
        match self.flows().send(data, sn).await? {
            Data::Text(text) => link.put(ws::Opcode::Text, text.as_bytes()),
            Data::Buffer(bytes) => link.put(ws::Opcode::Binary, &bytes),
        }
    }
}
