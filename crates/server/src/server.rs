//! The server: what it serves, and its shared state.
//!
//! Depends on everything else of the crate but the drivers.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use polywire_net::ListenError;
use polywire_runtime::{CodecCache, Contract, DynamicCodec, RustCodec, ValueCodec};
use polywire_schema::{Api, Message, Slot, Value};
use polywire_tsbuffer::{binary::Strictness, typed::Codec};
use polywire_tsrpc::{
    ApiError, ProtoBuilderError, Service, ServiceId, ServiceMapError, ServiceProto, SessionOptions,
    http::{HttpOptions, HttpRules},
};
use tokio::sync::watch;

use crate::{
    Call, Conn, Dynamic, Flows, IntoOutcome, IntoReply, ListenerId, Msg, Pattern, SendError, ServerOptions, SlowReader,
    api::{self, ApiEntry, ErasedApi},
    assemble::{self, ApiPlan, Dispatch, ListenerPlan, Setup},
    conns::Conns,
    messages::{Listener, Outgoing, TypedListener},
};

/// Where a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerStatus {
    /// Not started, or stopped.
    Closed,
    /// Binding its address.
    Opening,
    /// Serving.
    Opened,
    /// Stopping: answers what runs, takes nothing new.
    Closing,
}

/// A server. Cheap to clone; all clones are the same server.
///
/// ```no_run
/// use polywire_server::{ApiError, Call, Dynamic, Server};
/// # use polywire_tsrpc::ServiceProto;
///
/// # async fn run(proto: ServiceProto) -> Result<(), Box<dyn std::error::Error>> {
/// Server::new()
///     .proto(proto)
///     .api_named("Add", |call: Call<Dynamic>| async move {
///         let sum = |key| call.get(key).and_then(|value| value.as_number()).unwrap_or_default();
///         let response = [("sum", (sum("a") + sum("b")).into())];
///         Ok::<_, ApiError>(Dynamic(polywire_schema::Value::Object(response.into_iter().collect())))
///     })
///     .listen("127.0.0.1:3000")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Server {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) http_rules: HttpRules,
    pub(crate) options: ServerOptions,
    pub(crate) flows: Flows,
    pub(crate) conns: Conns,
    setup: Mutex<Setup>,
    contract: OnceLock<Contract>,
    dispatch: ArcSwap<Dispatch>,
    assets: ArcSwap<HashMap<String, Asset>>,
    /// Codecs of the messages that are sent.
    outgoing: CodecCache,
    next_connection: AtomicU64,
    running_calls: AtomicUsize,
    pub(crate) open_connections: AtomicUsize,
    pub(crate) status: watch::Sender<ServerStatus>,
    pub(crate) idle: tokio::sync::Notify,
    /// Accepts connections while the server is open.
    pub(crate) accepting: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

/// A fixed answer to `GET` of one path.
#[derive(Debug, Clone)]
pub(crate) struct Asset {
    pub(crate) content_type: String,
    pub(crate) body: Bytes,
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// A server with the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::with_options(ServerOptions::default())
    }

    /// A server with these options.
    #[must_use]
    pub fn with_options(options: ServerOptions) -> Self {
        let http_rules = HttpRules::new(&HttpOptions {
            json: options.json,
            json_host_path: options.json_host_path.clone(),
            cors: options.cors.clone(),
            cors_max_age: options.cors_max_age,
            invalid_input: options.invalid_input_status,
        });
        let shared = Shared {
            http_rules,
            options,
            flows: Flows::default(),
            conns: Conns::default(),
            setup: Mutex::default(),
            contract: OnceLock::new(),
            dispatch: ArcSwap::default(),
            assets: ArcSwap::default(),
            outgoing: CodecCache::default(),
            next_connection: AtomicU64::new(1),
            running_calls: AtomicUsize::new(0),
            open_connections: AtomicUsize::new(0),
            status: watch::Sender::new(ServerStatus::Closed),
            idle: tokio::sync::Notify::new(),
            accepting: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    fn setup(&self) -> std::sync::MutexGuard<'_, Setup> {
        self.shared.setup.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves the services of this proto and no others. Handlers are matched to them by name.
    ///
    /// Without it, the proto is made of the Rust types that are registered.
    #[must_use]
    pub fn proto(self, proto: ServiceProto) -> Self {
        self.setup().proto = Some(proto);
        self
    }

    /// Keeps the ids of an earlier proto, so that clients of that time still understand
    /// (reference §4). For servers whose proto is made of Rust types.
    #[must_use]
    pub fn compatible_with(self, old: ServiceProto) -> Self {
        self.setup().old = Some(old);
        self
    }

    /// Implements an API; its request type names it. A second handler for it makes the start fail.
    #[must_use]
    pub fn api<A, F, Fut, Out>(self, handler: F) -> Self
    where
        A: Api + Codec,
        A::Response: Codec,
        F: Fn(Call<A>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Out> + Send + 'static,
        Out: IntoReply<A::Response> + Send + 'static,
    {
        self.setup().builder.api::<A>();
        let run = api::run::<A, _, _, _>(handler);
        self.implement(A::NAME.to_owned(), move |contract, service| typed_api::<A>(contract, service, run))
    }

    /// Implements the API of a name in the proto, whose types are known from the proto only.
    #[must_use]
    pub fn api_named<F, Fut, Out>(self, name: &str, handler: F) -> Self
    where
        F: Fn(Call<Dynamic>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Out> + Send + 'static,
        Out: IntoReply<Dynamic> + Send + 'static,
    {
        let run = api::run::<Dynamic, _, _, _>(handler);
        self.implement(name.to_owned(), move |contract, service| {
            let codec = |slot: Slot| Arc::new(contract.dynamic(slot));
            let response = codec(service.response().unwrap_or(service.input()));
            Arc::new(ApiEntry::<Dynamic> {
                service: Arc::clone(service),
                request: codec(service.input()),
                response,
                run,
            })
        })
    }

    fn implement(
        self,
        name: String,
        build: impl FnOnce(&Contract, &Arc<Service>) -> Arc<dyn ErasedApi> + Send + 'static,
    ) -> Self {
        self.setup().apis.push(ApiPlan { name, build: Box::new(build) });
        self
    }

    /// Declares a message that the server sends, so that the proto knows it.
    #[must_use]
    pub fn message<M: Message + Codec>(self) -> Self {
        self.setup().builder.message::<M>();
        self
    }

    /// Declares an API that is implemented elsewhere, so that the proto knows it.
    #[must_use]
    pub fn declare<A>(self) -> Self
    where
        A: Api + Codec,
        A::Response: Codec,
    {
        self.setup().builder.api::<A>();
        self
    }

    /// Handles a message; its type names it. Several handlers run in the order of their registration.
    #[must_use]
    pub fn on_message<M, F, Fut>(self, handler: F) -> Self
    where
        M: Message + Codec,
        F: Fn(Msg<M>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.setup().builder.message::<M>();
        self.add_listener(Pattern::Exact(M::NAME.to_owned()), typed_listener(handler));
        self
    }

    /// Handles the messages of a name or pattern, whose types are known from the proto only.
    #[must_use]
    pub fn on_message_named<F, Fut>(self, pattern: impl Into<Pattern>, handler: F) -> Self
    where
        F: Fn(Msg<Dynamic>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.add_listener(pattern.into(), dynamic_listener(handler));
        self
    }

    /// Adds a message handler now, also while the server runs. Give the id to [`remove_listener`](Self::remove_listener).
    pub fn listen_message<F, Fut>(&self, pattern: impl Into<Pattern>, handler: F) -> ListenerId
    where
        F: Fn(Msg<Dynamic>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.add_listener(pattern.into(), dynamic_listener(handler))
    }

    fn add_listener(&self, pattern: Pattern, build: BuildListener) -> ListenerId {
        let id = ListenerId::next();
        let plan = ListenerPlan { id, pattern, build };
        match self.shared.contract.get() {
            None => self.setup().listeners.push(plan),
            Some(contract) => {
                let entries = assemble::expand(contract, &plan);
                self.shared.dispatch.rcu(|dispatch| {
                    let mut dispatch = Dispatch::clone(dispatch);
                    dispatch.listeners.extend(entries.iter().cloned());
                    dispatch
                });
            }
        }
        id
    }

    /// Removes a message handler. Returns whether it was there.
    pub fn remove_listener(&self, id: ListenerId) -> bool {
        let mut setup = self.setup();
        let planned = setup.listeners.len();
        setup.listeners.retain(|plan| plan.id != id);
        let was_planned = setup.listeners.len() < planned;
        drop(setup);
        let was_active = self.shared.dispatch.load().listeners.iter().any(|(known, ..)| *known == id);
        self.shared.dispatch.rcu(|dispatch| {
            let mut dispatch = Dispatch::clone(dispatch);
            dispatch.listeners.retain(|(known, ..)| *known != id);
            dispatch
        });
        was_planned || was_active
    }

    /// Removes the handler of an API: calls are answered `Unhandled API` from then on.
    pub fn remove_api(&self, name: &str) -> bool {
        let Some(id) = self.shared.contract.get().and_then(|contract| contract.services.api(name)).map(|api| api.id)
        else {
            let mut setup = self.setup();
            let before = setup.apis.len();
            setup.apis.retain(|plan| plan.name != name);
            return setup.apis.len() < before;
        };
        let had = self.shared.dispatch.load().apis.contains_key(&id);
        self.shared.dispatch.rcu(|dispatch| {
            let mut dispatch = Dispatch::clone(dispatch);
            dispatch.apis.remove(&id);
            dispatch
        });
        had
    }

    /// Answers `GET` of this exact path with these bytes, beside the services.
    #[must_use]
    pub fn asset(self, path: &str, content_type: &str, body: impl Into<Bytes>) -> Self {
        let asset = Asset { content_type: content_type.to_owned(), body: body.into() };
        self.shared.assets.rcu(|assets| {
            let mut assets = HashMap::clone(assets);
            assets.insert(path.to_owned(), asset.clone());
            assets
        });
        self
    }

    pub(crate) fn find_asset(&self, path: &str) -> Option<Asset> {
        self.shared.assets.load().get(path).cloned()
    }

    /// The flows: ordered hooks around everything that happens.
    #[must_use]
    pub fn flows(&self) -> &Flows {
        &self.shared.flows
    }

    /// The options it was made with.
    #[must_use]
    pub fn options(&self) -> &ServerOptions {
        &self.shared.options
    }

    /// Where it stands.
    #[must_use]
    pub fn status(&self) -> ServerStatus {
        *self.shared.status.borrow()
    }

    /// The service proto in force. Makes it of what is registered, if the server has not been started.
    ///
    /// # Errors
    /// Where what is registered does not fit together.
    pub fn service_proto(&self) -> Result<&ServiceProto, StartError> {
        Ok(&self.contract()?.proto)
    }

    /// The open WebSocket connections.
    #[must_use]
    pub fn connections(&self) -> Vec<Conn> {
        self.shared.conns.all()
    }

    /// How many WebSocket connections are open.
    #[must_use]
    pub fn connection_count(&self) -> usize {
        self.shared.conns.len()
    }

    /// How many calls run.
    #[must_use]
    pub fn running_calls(&self) -> usize {
        self.shared.running_calls.load(Ordering::Acquire)
    }

    /// Sends a message to a connection.
    ///
    /// # Errors
    /// Where it is not queued; see [`SendError`].
    pub(crate) fn send_message<M: Message + Codec>(&self, conn: &Conn, message: &M) -> Result<(), SendError> {
        self.with_typed(message, |outgoing| outgoing.send_to(conn))?
    }

    pub(crate) fn send_value(&self, conn: &Conn, name: &str, message: &Value) -> Result<(), SendError> {
        self.with_value(name, message, |outgoing| outgoing.send_to(conn))?
    }

    /// Sends a message to every WebSocket connection. Returns to how many it was queued.
    ///
    /// It is encoded once for text and once for binary connections, however many there are.
    ///
    /// # Errors
    /// Where the message breaks its type, or the proto does not know it.
    pub fn broadcast<M: Message + Codec>(&self, message: &M) -> Result<usize, SendError> {
        self.with_typed(message, |outgoing| outgoing.broadcast(|visit| self.shared.conns.each(visit)))?
    }

    /// Sends a message to some connections. Returns to how many it was queued.
    ///
    /// # Errors
    /// As [`broadcast`](Self::broadcast).
    pub fn broadcast_to<'a, M: Message + Codec>(
        &self,
        conns: impl IntoIterator<Item = &'a Conn>,
        message: &M,
    ) -> Result<usize, SendError> {
        self.with_typed(message, |outgoing| outgoing.broadcast(|visit| conns.into_iter().for_each(visit)))?
    }

    /// Sends the message of a name to every WebSocket connection.
    ///
    /// # Errors
    /// As [`broadcast`](Self::broadcast).
    pub fn broadcast_named(&self, name: &str, message: &Value) -> Result<usize, SendError> {
        self.with_value(name, message, |outgoing| outgoing.broadcast(|visit| self.shared.conns.each(visit)))?
    }

    fn with_typed<M: Message + Codec, T>(
        &self,
        message: &M,
        then: impl FnOnce(&Outgoing<'_>) -> T,
    ) -> Result<T, SendError> {
        let contract = self.shared.contract.get().ok_or(SendError::NotStarted)?;
        let service =
            contract.services.message(M::NAME).ok_or_else(|| SendError::UnknownMessage(M::NAME.to_owned()))?;
        let codec = self.message_codec::<M>(contract, service);
        let outgoing = Outgoing {
            service,
            codec: codec.dynamic().clone(),
            encode: &|data_type, out| codec.encode(message, data_type, out).map_err(|error| error.to_string()),
            value: &|| message.to_value(),
        };
        Ok(then(&outgoing))
    }

    fn with_value<T>(
        &self,
        name: &str,
        message: &Value,
        then: impl FnOnce(&Outgoing<'_>) -> T,
    ) -> Result<T, SendError> {
        let contract = self.shared.contract.get().ok_or(SendError::NotStarted)?;
        let service = contract.services.message(name).ok_or_else(|| SendError::UnknownMessage(name.to_owned()))?;
        let codec = contract.dynamic(service.input());
        let outgoing = Outgoing {
            service,
            codec: codec.clone(),
            encode: &|data_type, out| codec.encode_value(message, data_type, out).map_err(|error| error.to_string()),
            value: &|| message.clone(),
        };
        Ok(then(&outgoing))
    }

    /// The codec of a message that is sent. Made at its first use.
    fn message_codec<M: Message + Codec>(&self, contract: &Contract, service: &Arc<Service>) -> Arc<RustCodec<M>> {
        self.shared.outgoing.get_or_make(|| RustCodec::<M>::new(&contract.buffer, service.input(), &service.name))
    }

    pub(crate) fn contract(&self) -> Result<&Contract, StartError> {
        if let Some(contract) = self.shared.contract.get() {
            return Ok(contract);
        }
        let mut setup = self.setup();
        if self.shared.contract.get().is_none() {
            let contract = assemble::assemble(std::mem::take(&mut setup), &self.shared.options, &self.shared.dispatch)?;
            let _ = self.shared.contract.set(contract);
        }
        drop(setup);
        self.shared.contract.get().ok_or(StartError::NotAssembled)
    }

    /// The contract of a server that has been started.
    pub(crate) fn assembled(&self) -> Option<&Contract> {
        self.shared.contract.get()
    }

    /// The dynamic codec of a type of the proto.
    ///
    /// # Panics
    /// Where the server has not been started: whoever has a slot has its contract.
    pub(crate) fn dynamic_codec(&self, slot: Slot) -> DynamicCodec {
        self.shared.contract.get().expect("a slot comes from the contract").dynamic(slot)
    }

    pub(crate) fn dispatch(&self) -> arc_swap::Guard<Arc<Dispatch>> {
        self.shared.dispatch.load()
    }

    pub(crate) fn collect_listeners(&self, service: ServiceId, into: &mut Vec<Arc<dyn Listener>>) {
        let dispatch = self.shared.dispatch.load();
        let own = dispatch.listeners.iter().filter(|(_, known, _)| *known == service);
        into.extend(own.map(|(.., listener)| Arc::clone(listener)));
    }

    pub(crate) fn expand_listener(&self, plan: &ListenerPlan) -> crate::messages::ListenerTable {
        self.shared.contract.get().map(|contract| assemble::expand(contract, plan)).unwrap_or_default()
    }

    pub(crate) fn next_connection_id(&self) -> u64 {
        self.shared.next_connection.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn call_begins(&self) {
        self.shared.running_calls.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn call_ends(&self) {
        if self.shared.running_calls.fetch_sub(1, Ordering::AcqRel) == 1 && self.status() == ServerStatus::Closing {
            self.shared.idle.notify_waiters();
        }
    }

    pub(crate) fn strictness(&self) -> Strictness {
        if self.shared.options.lenient_binary { Strictness::Lenient } else { Strictness::Strict }
    }

    pub(crate) fn session_options(&self) -> SessionOptions {
        SessionOptions { json: self.shared.options.json, strictness: self.strictness() }
    }

    /// The published internal error; `inner` goes along where the options say so.
    pub(crate) fn internal_error(&self, inner: &str) -> ApiError {
        ApiError::internal(self.shared.options.return_inner_error.then_some(inner))
    }

    pub(crate) fn on_slow_reader(&self, conn: &Conn) {
        match self.shared.options.slow_reader {
            SlowReader::Disconnect => {
                tracing::warn!(conn = conn.id(), "the outbound queue is full: disconnecting a slow reader");
                conn.close_with(polywire_net::ws::CloseCode::POLICY, "Too slow to read");
            }
            SlowReader::DropNewest => {
                tracing::debug!(conn = conn.id(), "the outbound queue is full: a message is left out")
            }
        }
    }
}

pub(crate) type BuildListener = Box<dyn Fn(&Contract, &Arc<Service>) -> Arc<dyn Listener> + Send>;

pub(crate) fn typed_listener<M, F, Fut>(handler: F) -> BuildListener
where
    M: Message + Codec,
    F: Fn(Msg<M>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutcome> + Send + 'static,
{
    let handler = Arc::new(handler);
    Box::new(move |contract, service| {
        let codec = RustCodec::<M>::new(&contract.buffer, service.input(), &service.name);
        Arc::new(TypedListener::<M, F> { service: Arc::clone(service), codec, handler: Arc::clone(&handler) })
    })
}

pub(crate) fn dynamic_listener<F, Fut>(handler: F) -> BuildListener
where
    F: Fn(Msg<Dynamic>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutcome> + Send + 'static,
{
    let handler = Arc::new(handler);
    Box::new(move |contract, service| {
        let codec = contract.dynamic(service.input());
        Arc::new(TypedListener::<Dynamic, F> { service: Arc::clone(service), codec, handler: Arc::clone(&handler) })
    })
}

fn typed_api<A>(contract: &Contract, service: &Arc<Service>, run: Arc<api::Run<A>>) -> Arc<dyn ErasedApi>
where
    A: Api + Codec,
    A::Response: Codec,
{
    let request = Arc::new(RustCodec::new(&contract.buffer, service.input(), &service.name));
    let response = RustCodec::new(&contract.buffer, service.response().unwrap_or(service.input()), &service.name);
    Arc::new(ApiEntry::<A> { service: Arc::clone(service), request, response: Arc::new(response), run })
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("status", &self.status())
            .field("connections", &self.connection_count())
            .finish_non_exhaustive()
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// It is running.
    #[error("Server already started")]
    AlreadyStarted,
    /// Two handlers for one API.
    #[error("Already exist handler for API: {0}")]
    DuplicateApi(String),
    /// Handlers for services that the proto does not have.
    #[error("the service proto has no service of these names: {}", .0.join(", "))]
    UnknownServices(Vec<String>),
    /// The proto does not fit together.
    #[error(transparent)]
    Services(#[from] ServiceMapError),
    /// The proto cannot be made of the registered types.
    #[error(transparent)]
    Proto(#[from] ProtoBuilderError),
    /// An earlier attempt to put the proto together failed.
    #[error("an earlier start failed: make a new server")]
    NotAssembled,
    /// The address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
}
