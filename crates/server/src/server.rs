//! The server: what it serves, and its shared state.
//!
//! Depends on everything else of the crate but the drivers.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use polywire_net::ListenError;
use polywire_runtime::{CodecCache, Contract, DynamicCodec};
use polywire_schema::Slot;
use polywire_tsbuffer::binary::Strictness;
use polywire_tsrpc::{
    ApiError, ProtoBuilderError, ServiceId, ServiceMapError, ServiceProto, SessionOptions,
    http::{HttpOptions, HttpRules},
};
use tokio::sync::watch;

use crate::{
    Conn, Flows, ServerOptions,
    assemble::{self, Dispatch, ListenerPlan, Setup},
    conns::Conns,
    messages::Listener,
    policies::Policies,
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
    pub(crate) policies: Policies,
    setup: Mutex<Setup>,
    pub(crate) contract: OnceLock<Contract>,
    pub(crate) dispatch: ArcSwap<Dispatch>,
    pub(crate) assets: ArcSwap<HashMap<String, Asset>>,
    /// Codecs of the messages that are sent.
    pub(crate) outgoing: CodecCache,
    next_connection: AtomicU64,
    running_calls: AtomicUsize,
    pub(crate) open_connections: AtomicUsize,
    pub(crate) status: watch::Sender<ServerStatus>,
    pub(crate) idle: tokio::sync::Notify,
    /// Held while a message goes to several connections: all of them see broadcasts in one order.
    pub(crate) broadcasting: Mutex<()>,
    /// Held by the stop that is under way: one at a time.
    pub(crate) stopping: tokio::sync::Mutex<()>,
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
            policies: Policies::default(),
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
            broadcasting: Mutex::default(),
            stopping: tokio::sync::Mutex::default(),
            accepting: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn setup(&self) -> std::sync::MutexGuard<'_, Setup> {
        self.shared.setup.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// It was stopped before it was open.
    #[error("Server was stopped while it started")]
    Stopped,
    /// The address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
}
