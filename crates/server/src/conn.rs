//! A connection, as handlers and hooks see it.
//!
//! Depends on the outbound queue and the server's shared state. Knows no
//! sockets: the drivers do. Invariant: once the status is
//! [`ConnStatus::Closed`], nothing is queued any more and the connection is in
//! no list of the server.

use std::{
    fmt,
    future::Future,
    net::IpAddr,
    sync::{
        Arc, OnceLock, PoisonError,
        atomic::{AtomicU8, AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use polywire_net::ws::{self, CloseCode};
use polywire_schema::{Message, Value};
use polywire_tsbuffer::typed::Codec;
use polywire_tsrpc::DataType;
use tracing::Span;

use crate::{
    Dynamic, IntoOutcome, ListenerId, Msg, Pattern, Server, SlowReader,
    assemble::ListenerPlan,
    extensions::Extensions,
    messages::Listeners,
    outbound::{Appended, Outbound, Shared},
    register::{BuildListener, dynamic_listener, typed_listener},
    short::{Short, ShortReply},
};

/// Where a connection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnStatus {
    /// Open.
    Open,
    /// A close frame has been sent; the peer's is awaited.
    Closing,
    /// Gone.
    Closed,
}

/// A connection. Cheap to clone; all clones are the same connection.
///
/// A WebSocket connection is *long*: it can be sent messages. An HTTP request
/// and an in-process call are *short*: they are answered once.
#[derive(Clone)]
pub struct Conn(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    id: u64,
    ip: Option<IpAddr>,
    server: Server,
    status: AtomicU8,
    data_type: AtomicU8,
    span: Span,
    extensions: Extensions,
    pub(crate) listeners: OnceLock<Box<Listeners>>,
    request: Option<Box<http::request::Parts>>,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    Long(Long),
    Short(Short),
}

/// What a long connection has.
pub(crate) struct Long {
    pub(crate) out: Outbound,
    /// The close frame that was asked for.
    pub(crate) close: OnceLock<(CloseCode, String)>,
    /// Calls that wait for their handlers.
    pub(crate) calls_in_flight: AtomicUsize,
}

impl Long {
    pub(crate) fn new(outbound_limit: usize, encoder: Option<Box<ws::Encoder>>) -> Self {
        Self {
            out: Outbound::new(outbound_limit, encoder),
            close: OnceLock::new(),
            calls_in_flight: AtomicUsize::new(0),
        }
    }
}

impl Conn {
    pub(crate) fn new(
        server: Server,
        ip: Option<IpAddr>,
        request: Option<Box<http::request::Parts>>,
        data_type: DataType,
        kind: Kind,
    ) -> Self {
        let id = server.next_connection_id();
        let span = tracing::debug_span!("conn", id, ip = ip.map(tracing::field::display));
        Self(Arc::new(Inner {
            id,
            ip,
            server,
            status: AtomicU8::new(ConnStatus::Open as u8),
            data_type: AtomicU8::new(data_type as u8),
            span,
            extensions: Extensions::default(),
            listeners: OnceLock::new(),
            request,
            kind,
        }))
    }

    /// The number of the connection, counted from 1 since the server was made.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// The peer's address. `None` for in-process calls and Unix sockets.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        self.0.ip
    }

    /// The `tracing` span of the connection; those of its calls are inside it.
    #[must_use]
    pub fn log(&self) -> &Span {
        &self.0.span
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.0.server
    }

    /// Whether it can be sent messages: a WebSocket.
    #[must_use]
    pub fn is_long(&self) -> bool {
        matches!(self.0.kind, Kind::Long(_))
    }

    /// Where it stands.
    #[must_use]
    pub fn status(&self) -> ConnStatus {
        match self.0.status.load(Ordering::Acquire) {
            0 => ConnStatus::Open,
            1 => ConnStatus::Closing,
            _ => ConnStatus::Closed,
        }
    }

    pub(crate) fn set_status(&self, status: ConnStatus) {
        self.0.status.fetch_max(status as u8, Ordering::AcqRel);
    }

    /// What is sent to it: text or binary frames.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        if self.0.data_type.load(Ordering::Relaxed) == DataType::Text as u8 { DataType::Text } else { DataType::Buffer }
    }

    /// Changes what is sent to it from now on.
    pub fn set_data_type(&self, data_type: DataType) {
        self.0.data_type.store(data_type as u8, Ordering::Relaxed);
    }

    /// The head of the HTTP request: of the call, or of the WebSocket's upgrade.
    /// `None` for in-process calls.
    #[must_use]
    pub fn request(&self) -> Option<&http::request::Parts> {
        self.0.request.as_deref()
    }

    /// Keeps a value on the connection, one of each type. Returns the one before.
    ///
    /// ```
    /// # use polywire_server::Conn;
    /// struct User { name: String }
    ///
    /// fn log_in(conn: &Conn) {
    ///     conn.set(User { name: "ada".into() });
    ///     assert_eq!(conn.get::<User>().unwrap().name, "ada");
    /// }
    /// ```
    pub fn set<T: Send + Sync + 'static>(&self, value: T) -> Option<Arc<T>> {
        self.0.extensions.set(value)
    }

    /// The value of a type that was kept on the connection.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.extensions.get()
    }

    /// Takes the value of a type from the connection.
    pub fn remove<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.extensions.remove()
    }

    /// Closes the connection with code 1000 and a reason of at most 123 bytes
    /// (a longer one is cut). On a short connection: ends the call without an answer.
    pub fn close(&self, reason: &str) {
        self.close_with(CloseCode::NORMAL, reason);
    }

    /// Closes the connection with a code and a reason.
    ///
    /// What is queued is still written. A peer that does not answer the close
    /// frame within 3 s is cut off.
    pub fn close_with(&self, code: CloseCode, reason: &str) {
        match &self.0.kind {
            Kind::Long(long) => {
                if long.close.set((code, reason.to_owned())).is_ok() {
                    self.set_status(ConnStatus::Closing);
                    long.out.close();
                }
            }
            Kind::Short(short) => {
                short.close(reason);
                self.set_status(ConnStatus::Closed);
            }
        }
    }

    /// Sends a message to the connection.
    ///
    /// # Errors
    /// Where it is not queued; see [`SendError`].
    pub fn send<M: Message + Codec>(&self, message: &M) -> Result<(), SendError> {
        self.0.server.send_message(self, message)
    }

    /// Sends the message of a name to the connection.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_named(&self, name: &str, message: &Value) -> Result<(), SendError> {
        self.0.server.send_value(self, name, message)
    }

    /// Handles a message that comes on this connection, before the server's own handlers.
    pub fn on_message<M, F, Fut>(&self, handler: F) -> ListenerId
    where
        M: Message + Codec,
        F: Fn(Msg<M>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.add_listener(Pattern::Exact(M::NAME.to_owned()), typed_listener(handler))
    }

    /// Handles the messages of a name or pattern that come on this connection.
    pub fn on_message_named<F, Fut>(&self, pattern: impl Into<Pattern>, handler: F) -> ListenerId
    where
        F: Fn(Msg<Dynamic>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.add_listener(pattern.into(), dynamic_listener(handler))
    }

    fn add_listener(&self, pattern: Pattern, build: BuildListener) -> ListenerId {
        let id = ListenerId::next();
        let entries = self.0.server.expand_listener(&ListenerPlan { id, pattern, build });
        self.0.listeners.get_or_init(Box::default).add(entries);
        id
    }

    /// Removes a message handler of this connection. Returns whether it was there.
    pub fn remove_listener(&self, id: ListenerId) -> bool {
        self.0.listeners.get().is_some_and(|listeners| listeners.remove(id))
    }

    /// Removes all message handlers of this connection.
    pub fn remove_listeners(&self) {
        if let Some(listeners) = self.0.listeners.get() {
            listeners.clear();
        }
    }

    /// Answers an HTTP request with a response of the application's own, as a
    /// hook of `pre_recv_data` may for paths that are no services. Returns
    /// whether it will be sent: a request is answered once, and WebSocket
    /// connections and in-process calls are no requests.
    pub fn respond(&self, response: http::Response<Bytes>) -> bool {
        match &self.0.kind {
            Kind::Short(short) if self.0.request.is_some() => short.reply(ShortReply::Custom(response)),
            _ => false,
        }
    }

    /// Adds a header to the answer of an HTTP request.
    pub fn add_response_header(&self, name: http::HeaderName, value: http::HeaderValue) {
        if let Kind::Short(short) = &self.0.kind {
            short.headers.lock().unwrap_or_else(PoisonError::into_inner).append(name, value);
        }
    }

    /// The long half.
    pub(crate) fn long(&self) -> Option<&Long> {
        match &self.0.kind {
            Kind::Long(long) => Some(long),
            Kind::Short(_) => None,
        }
    }

    /// Queues a framed message that others get too.
    pub(crate) fn push_shared(&self, frame: &Shared) -> Result<(), SendError> {
        let Some(long) = self.long() else { return Err(SendError::ShortConnection) };
        match long.out.append_shared(frame) {
            Appended::Queued => Ok(()),
            Appended::Closed => Err(SendError::Closed),
            Appended::Full => Err(self.slow_reader()),
        }
    }

    /// Applies the policy for a connection whose queue is full.
    pub(crate) fn slow_reader(&self) -> SendError {
        match self.server().options().slow_reader {
            SlowReader::Disconnect => self.disconnect_slow_reader(),
            SlowReader::DropNewest => {
                tracing::debug!(conn = self.id(), "the outbound queue is full: a message is left out");
            }
        }
        SendError::QueueFull
    }

    /// Closes a connection that takes nothing: also where messages may be left
    /// out, since a reply may not.
    pub(crate) fn disconnect_slow_reader(&self) {
        tracing::warn!(conn = self.id(), "the outbound queue is full: disconnecting a slow reader");
        self.close_with(CloseCode::POLICY, "Too slow to read");
    }
}

impl fmt::Debug for Conn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_long() { "long" } else { "short" };
        write!(f, "Conn#{} ({kind}, {:?}, {:?})", self.0.id, self.0.ip, self.status())
    }
}

impl PartialEq for Conn {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Conn {}

/// Why a message was not sent to a connection. `Display` gives the published text where there is one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// Only WebSocket connections take messages.
    #[error("Short connection cannot sendMsg")]
    ShortConnection,
    /// The connection is closed.
    #[error("WebSocket is not opened")]
    Closed,
    /// The peer reads more slowly than it is sent to; see [`SlowReader`](crate::SlowReader).
    #[error("The connection's outbound queue is full")]
    QueueFull,
    /// No message of that name is in the service proto.
    #[error("Invalid msg name: {0}")]
    UnknownMessage(String),
    /// The message breaks its schema; the text says where.
    #[error("{0}")]
    Invalid(String),
    /// A hook of `pre_send_msg` stopped it.
    #[error("Canceled by preSendMsgFlow")]
    StoppedByMessageFlow,
    /// A hook of `pre_send_data` stopped it.
    #[error("Canceled by preSendDataFlow")]
    StoppedByDataFlow,
    /// The server has no service proto yet: it has not been started.
    #[error("Server not open")]
    NotStarted,
}
