//! Messages: receiving them, sending them to one connection, to some, to all.
//!
//! Depends on connections, codecs and flows. Invariant: a message is encoded
//! at most once per data type, however many connections it goes to, unless a
//! hook changes it on its way.

use std::{
    fmt,
    future::Future,
    ops::Deref,
    panic::AssertUnwindSafe,
    sync::{Arc, PoisonError, RwLock},
};

use futures_util::FutureExt;
use polywire_net::ws;
use polywire_runtime::{
    BoxError, DynamicCodec, IntoOutcome, ListenerId, Payload, Task, ValueCodec, message as panic_message, run_or_spawn,
};
use polywire_schema::Value;
use polywire_tsbuffer::DecodeError;
use polywire_tsrpc::{Body, DataType, Draft, Sender, Service, ServiceId};

use crate::{
    Conn, ConnStatus, SendError, Server,
    answer::opcode,
    flows::SendData,
    in_flight::run_in_flight,
    log,
    outbound::{Appended, Purpose, Shared},
};

/// A message that was received. Dereferences to its payload.
pub struct Msg<M> {
    payload: M,
    conn: Conn,
    service: Arc<Service>,
}

impl<M> Msg<M> {
    /// The connection it came on.
    #[must_use]
    pub fn conn(&self) -> &Conn {
        &self.conn
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> &Server {
        self.conn.server()
    }

    /// The service: its name, id and configuration.
    #[must_use]
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// The payload by value.
    #[must_use]
    pub fn into_inner(self) -> M {
        self.payload
    }
}

impl<M> Deref for Msg<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.payload
    }
}

impl<M: fmt::Debug> fmt::Debug for Msg<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Msg")
            .field("service", &self.service.name)
            .field("payload", &self.payload)
            .finish_non_exhaustive()
    }
}

/// A message handler for one service, without its Rust type.
pub(crate) trait Listener: Send + Sync {
    /// Reads the message and prepares its handler.
    fn deliver(&self, conn: &Conn, body: Body<'_>) -> Result<Task, DecodeError>;
    /// Prepares its handler for a message that has been read.
    fn deliver_value(&self, conn: &Conn, value: Value) -> Result<Task, String>;
}

/// A handler of the application with the codec of its message.
pub(crate) struct TypedListener<M: Payload, F> {
    pub(crate) service: Arc<Service>,
    pub(crate) codec: M::Codec,
    pub(crate) handler: Arc<F>,
}

impl<M, F, Fut> TypedListener<M, F>
where
    M: Payload,
    F: Fn(Msg<M>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutcome> + Send + 'static,
{
    fn task(&self, conn: &Conn, payload: M) -> Task {
        let handler = Arc::clone(&self.handler);
        let service = Arc::clone(&self.service);
        let message = Msg { payload, conn: conn.clone(), service: Arc::clone(&self.service) };
        Box::pin(async move {
            let result = AssertUnwindSafe(async { handler(message).await.into_outcome() }).catch_unwind().await;
            let result = result.unwrap_or_else(|payload| Err(Box::new(panic_message(&*payload))));
            if let Err(error) = result {
                tracing::error!(service = %service.name, %error, "[MsgHandlerError]");
            }
        })
    }
}

impl<M, F, Fut> Listener for TypedListener<M, F>
where
    M: Payload,
    F: Fn(Msg<M>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutcome> + Send + 'static,
{
    fn deliver(&self, conn: &Conn, body: Body<'_>) -> Result<Task, DecodeError> {
        Ok(self.task(conn, self.codec.decode(body)?))
    }

    fn deliver_value(&self, conn: &Conn, value: Value) -> Result<Task, String> {
        Ok(self.task(conn, self.codec.read_value(value)?))
    }
}

/// Handlers by service, in the order in which they were added.
pub(crate) type ListenerTable = Vec<(ListenerId, ServiceId, Arc<dyn Listener>)>;

/// The handlers of one connection.
#[derive(Default)]
pub(crate) struct Listeners {
    table: RwLock<ListenerTable>,
}

impl Listeners {
    pub(crate) fn add(&self, entries: ListenerTable) {
        self.table.write().unwrap_or_else(PoisonError::into_inner).extend(entries);
    }

    pub(crate) fn remove(&self, id: ListenerId) -> bool {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let before = table.len();
        table.retain(|(known, ..)| *known != id);
        table.len() < before
    }

    pub(crate) fn clear(&self) {
        self.table.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn collect(&self, service: ServiceId, into: &mut Vec<Arc<dyn Listener>>) {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        into.extend(table.iter().filter(|(_, known, _)| *known == service).map(|(.., listener)| Arc::clone(listener)));
    }
}

/// A message before or after its handlers, as hooks see it.
#[derive(Debug)]
pub struct ReceivedMessage {
    /// The connection it came on.
    pub conn: Conn,
    /// The name of the message.
    pub name: Arc<str>,
    /// The message. A hook before the handlers may change it.
    pub message: Value,
}

/// A message on its way to one connection, as hooks see it.
#[derive(Debug)]
pub struct OutgoingMessage {
    /// The connection it goes to.
    pub conn: Conn,
    /// The name of the message.
    pub name: Arc<str>,
    /// The message. A hook before sending may change it.
    pub message: Value,
}

/// Hands a message that came in to its handlers.
///
/// # Errors
/// Where the message breaks its type; no handler has run then.
pub(crate) fn receive(conn: &Conn, service: &Arc<Service>, body: Body<'_>) -> Result<(), DecodeError> {
    let server = conn.server();
    let mut listeners = Vec::new();
    if let Some(own) = conn.0.listeners.get() {
        own.collect(service.id, &mut listeners);
    }
    server.collect_listeners(service.id, &mut listeners);
    let flows = server.flows();
    if flows.pre_msg_call.is_active() || flows.post_msg_call.is_active() || listeners.len() != 1 {
        let message = server.dynamic_codec(service.input()).decode_value(body)?;
        log::received(conn, service, || message.clone());
        if listeners.is_empty() {
            tracing::debug!(conn = conn.id(), service = %service.name, "[UNHANDLED_MSG]");
        }
        let received = ReceivedMessage { conn: conn.clone(), name: Arc::clone(&service.name), message };
        run_in_flight(conn, Box::pin(through_flows(received, listeners)));
        return Ok(());
    }
    log::received(conn, service, || {
        server.dynamic_codec(service.input()).decode_value(body.clone()).unwrap_or_default()
    });
    for listener in listeners {
        run_in_flight(conn, listener.deliver(conn, body.clone())?);
    }
    Ok(())
}

async fn through_flows(received: ReceivedMessage, listeners: Vec<Arc<dyn Listener>>) {
    let server = received.conn.server().clone();
    let flows = server.flows();
    let received = match flows.pre_msg_call.run(received).await {
        Ok(Some(received)) => received,
        Ok(None) => return,
        Err(error) => {
            tracing::error!(%error, "a hook of pre_msg_call failed");
            return;
        }
    };
    let mut tasks = futures_util::stream::FuturesOrdered::new();
    for listener in listeners {
        match listener.deliver_value(&received.conn, received.message.clone()) {
            Ok(task) => tasks.push_back(task),
            Err(error) => tracing::error!(service = %received.name, %error, "a message does not fit its handler"),
        }
    }
    while futures_util::StreamExt::next(&mut tasks).await.is_some() {}
    if let Err(error) = flows.post_msg_call.run(received).await {
        tracing::error!(%error, "a hook of post_msg_call failed");
    }
}

/// Writes a message in the form of a data type; the error is its text.
type EncodeMessage<'a> = dyn Fn(DataType, &mut Vec<u8>) -> Result<(), String> + Sync + 'a;

/// A message that is about to be sent, with its codec.
pub(crate) struct Outgoing<'a> {
    pub(crate) service: &'a Arc<Service>,
    pub(crate) codec: DynamicCodec,
    /// Writes the message alone.
    pub(crate) encode: &'a EncodeMessage<'a>,
    /// The dynamic form, for hooks.
    pub(crate) value: &'a (dyn Fn() -> Value + Sync),
}

impl Outgoing<'_> {
    fn payload(&self, data_type: DataType, out: &mut Vec<u8>) -> Result<(), String> {
        let mut draft = Draft::message(out, data_type, self.service, Sender::Server);
        (self.encode)(data_type, draft.body())?;
        draft.finish();
        Ok(())
    }

    fn frame(&self, data_type: DataType, out: &mut Vec<u8>) -> Result<(), String> {
        let frame = ws::begin_frame(out, opcode(data_type));
        self.payload(data_type, out)?;
        ws::finish_frame(out, frame);
        Ok(())
    }

    /// Sends it to one connection.
    pub(crate) fn send_to(&self, conn: &Conn) -> Result<(), SendError> {
        let Some(long) = conn.long() else { return Err(SendError::ShortConnection) };
        if conn.server().flows().messages_active() {
            return self.through_flows(conn);
        }
        log::sent(conn, self.service, self.value);
        let data_type = conn.data_type();
        match long.out.append_frame(Purpose::Message, opcode(data_type), |out| self.payload(data_type, out)) {
            Ok(Appended::Queued) => Ok(()),
            Ok(Appended::Closed) => Err(SendError::Closed),
            Ok(Appended::Full) => Err(conn.slow_reader()),
            Err(text) => Err(SendError::Invalid(text)),
        }
    }

    /// Sends it to every connection that `each` visits; returns to how many.
    ///
    /// Encoded and framed once per data type. Connections that take no more are
    /// passed over. Runs nothing of the application, so that the caller may hold locks.
    pub(crate) fn broadcast(&self, each: impl FnOnce(&mut dyn FnMut(&Conn))) -> Result<usize, SendError> {
        // By data type; what could not be encoded once is not tried for each connection.
        let mut frames: [Option<Result<Shared, String>>; 2] = [None, None];
        let mut sent = 0;
        each(&mut |conn| {
            let data_type = conn.data_type();
            let frame = frames[data_type as usize].get_or_insert_with(|| {
                let mut bytes = Vec::with_capacity(256);
                self.frame(data_type, &mut bytes).map(|()| Shared::new(bytes))
            });
            if let Ok(frame) = frame {
                sent += usize::from(conn.push_shared(frame).is_ok());
            }
        });
        match frames.into_iter().flatten().find_map(Result::err) {
            Some(text) => Err(SendError::Invalid(text)),
            None => Ok(sent),
        }
    }

    /// The same where hooks want to see each message: they may do anything, so no lock may be held.
    pub(crate) fn broadcast_through_flows<'c>(
        &self,
        conns: impl IntoIterator<Item = &'c Conn>,
    ) -> Result<usize, SendError> {
        let mut sent = 0;
        for conn in conns {
            match self.through_flows(conn) {
                Ok(()) => sent += 1,
                Err(error @ SendError::Invalid(_)) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(sent)
    }

    fn through_flows(&self, conn: &Conn) -> Result<(), SendError> {
        if !conn.is_long() {
            return Err(SendError::ShortConnection);
        }
        if conn.status() != ConnStatus::Open {
            return Err(SendError::Closed);
        }
        // What is wrong is said now, not to the hooks.
        self.payload(conn.data_type(), &mut Vec::new()).map_err(SendError::Invalid)?;
        let message =
            OutgoingMessage { conn: conn.clone(), name: Arc::clone(&self.service.name), message: (self.value)() };
        let service = Arc::clone(self.service);
        let codec = self.codec.clone();
        run_or_spawn(async move {
            let conn = message.conn.clone();
            if let Err(error) = send_through_flows(message, &service, &codec).await {
                tracing::debug!(conn = conn.id(), service = %service.name, %error, "[SendMsgErr]");
            }
        });
        Ok(())
    }
}

async fn send_through_flows(
    message: OutgoingMessage,
    service: &Arc<Service>,
    codec: &DynamicCodec,
) -> Result<(), BoxError> {
    let server = message.conn.server().clone();
    let flows = server.flows();
    let Some(message) = flows.pre_send_msg.run(message).await? else {
        return Err(Box::new(SendError::StoppedByMessageFlow));
    };
    // Encoded for this connection alone: a hook may have changed the message, and may change the bytes.
    let data_type = message.conn.data_type();
    let encode = |data_type: DataType, out: &mut Vec<u8>| {
        codec.encode_value(&message.message, data_type, out).map_err(|error| error.to_string())
    };
    let outgoing = Outgoing { service, codec: codec.clone(), encode: &encode, value: &|| Value::Undefined };
    let mut payload = Vec::with_capacity(128);
    outgoing.payload(data_type, &mut payload).map_err(SendError::Invalid)?;
    let data = SendData::new(message.conn.clone(), data_type, payload);
    let Some(data) = SendData::through_flows(data).await else {
        return Err(Box::new(SendError::StoppedByDataFlow));
    };
    match data.deliver(Purpose::Message, None) {
        Appended::Queued => {}
        Appended::Closed => return Err(Box::new(SendError::Closed)),
        Appended::Full => return Err(Box::new(SendError::QueueFull)),
    }
    flows.post_send_msg.run(message).await?;
    Ok(())
}
