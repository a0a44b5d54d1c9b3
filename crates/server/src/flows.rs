//! The flows of a server and what their hooks see (reference §12.6).
//!
//! Depends on connections and calls. Invariant: nothing here runs where no hook is registered.

use polywire_net::ws;
use polywire_tsrpc::{DataType, ErrorKind};

use crate::{
    ApiReturn, BoxError, CallInfo, Conn, Flow, PendingRequest,
    conn::Kind,
    messages::{OutgoingMessage, ReceivedMessage},
    outbound::{Appended, Purpose},
    short::ShortReply,
};

/// Data that was received, as `pre_recv_data` hooks see it.
#[derive(Debug)]
pub struct RecvData {
    /// The connection it came on.
    pub conn: Conn,
    /// The bytes: of a frame, or of an HTTP body.
    pub data: Data,
    /// For JSON over HTTP, the service that the path names. Changing it redirects the call.
    pub service: Option<String>,
}

impl RecvData {
    /// Runs the receiving flows; `None` where one stopped it, and nothing is to be answered.
    pub(crate) async fn through_flows(input: Self) -> Option<Self> {
        let server = input.conn.server().clone();
        let flows = server.flows();
        let failed = |error: BoxError| tracing::error!(%error, "a hook of pre_recv_data failed");
        let received = flows.pre_recv_data.run(input).await.map_err(failed).ok()??;
        let Self { conn, data, service } = received;
        let Data::Buffer(bytes) = data else { return Some(Self { conn, data, service }) };
        let input = BufferData { conn, bytes };
        let BufferData { conn, bytes } = flows.pre_recv_buffer.run(input).await.map_err(failed).ok()??;
        Some(Self { conn, data: Data::Buffer(bytes), service })
    }
}

/// A frame or body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Text: JSON.
    Text(String),
    /// Bytes: TSBuffer.
    Buffer(Vec<u8>),
}

/// Data that is about to be sent, as `pre_send_data` hooks see it.
#[derive(Debug)]
pub struct SendData {
    /// The connection it goes to.
    pub conn: Conn,
    /// The bytes: each connection has its own, so that a hook may change them.
    pub data: Data,
}

impl SendData {
    pub(crate) fn new(conn: Conn, data_type: DataType, payload: Vec<u8>) -> Self {
        let data = match data_type {
            // What our encoders write as text is UTF-8.
            DataType::Text => Data::Text(String::from_utf8(payload).unwrap_or_default()),
            DataType::Buffer => Data::Buffer(payload),
        };
        Self { conn, data }
    }

    /// Runs the data flows; `None` where one stopped it.
    pub(crate) async fn through_flows(data: Self) -> Option<Self> {
        let server = data.conn.server().clone();
        let flows = server.flows();
        let stopped = |error: BoxError| {
            tracing::error!(%error, "a hook of pre_send_data failed");
        };
        let data = flows.pre_send_data.run(data).await.map_err(stopped).ok()??;
        match data.data {
            Data::Buffer(bytes) if flows.pre_send_buffer.is_active() => {
                let input = BufferData { conn: data.conn, bytes };
                let BufferData { conn, bytes } = flows.pre_send_buffer.run(input).await.map_err(stopped).ok()??;
                Some(Self { conn, data: Data::Buffer(bytes) })
            }
            _ => Some(data),
        }
    }

    /// Sends it. `error` is the kind of the error that it carries as the answer of a short connection.
    pub(crate) fn deliver(self, purpose: Purpose, error: Option<ErrorKind>) -> Appended {
        let (opcode, bytes) = match self.data {
            Data::Text(text) => (ws::Opcode::Text, text.into_bytes()),
            Data::Buffer(bytes) => (ws::Opcode::Binary, bytes),
        };
        match &self.conn.0.kind {
            Kind::Short(short) => {
                short.reply(ShortReply::Bytes { body: bytes, error });
                Appended::Queued
            }
            Kind::Long(long) => {
                let appended = long.out.append(purpose, opcode, &bytes);
                match (appended, purpose) {
                    (Appended::Full, Purpose::Reply) => self.conn.disconnect_slow_reader(),
                    (Appended::Full, Purpose::Message) => drop(self.conn.slow_reader()),
                    _ => {}
                }
                appended
            }
        }
    }
}

/// Bytes of a binary frame, as the deprecated buffer hooks see them.
#[derive(Debug)]
pub struct BufferData {
    /// The connection.
    pub conn: Conn,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A connection that has ended.
#[derive(Debug)]
pub struct Disconnect {
    /// The connection.
    pub conn: Conn,
    /// The reason of the close frame, if there was one.
    pub reason: Option<String>,
}

/// The flows of a server. Names and order are the published ones.
///
/// ```
/// use polywire_server::{Server, ApiError, PendingRequest};
///
/// let server = Server::new();
/// server.flows().pre_api_call.push(|pending: PendingRequest| async move {
///     if pending.request.get("token").is_none() {
///         pending.call.fail(ApiError::new("Please log in").code("NEED_LOGIN"));
///         return None;
///     }
///     Some(pending)
/// });
/// ```
#[derive(Debug, Default)]
pub struct Flows {
    /// A connection was made: a WebSocket, or an HTTP request. Stopping has no effect.
    pub post_connect: Flow<Conn>,
    /// A connection has ended. Stopping has no effect.
    pub post_disconnect: Flow<Disconnect>,
    /// Data came in. Stopping drops it, and nothing is answered.
    pub pre_recv_data: Flow<RecvData>,
    /// Binary data came in (deprecated: `pre_recv_data` sees it too). Stopping drops it.
    pub pre_recv_buffer: Flow<BufferData>,
    /// Before the handler of an API. Stopping cancels the call: the hook answers, or nobody.
    pub pre_api_call: Flow<PendingRequest>,
    /// After the handler of an API. Stopping has no effect.
    pub post_api_call: Flow<CallInfo>,
    /// Before an answer is sent. Stopping cancels the answer.
    pub pre_api_return: Flow<ApiReturn>,
    /// After an answer was sent. Stopping has no effect.
    pub post_api_return: Flow<ApiReturn>,
    /// Before the handlers of a message. Stopping cancels them.
    pub pre_msg_call: Flow<ReceivedMessage>,
    /// After the handlers of a message. Stopping has no effect.
    pub post_msg_call: Flow<ReceivedMessage>,
    /// Before a message is sent to a connection. Stopping cancels it.
    pub pre_send_msg: Flow<OutgoingMessage>,
    /// After a message was sent to a connection. Stopping has no effect.
    pub post_send_msg: Flow<OutgoingMessage>,
    /// Before data is sent. Stopping cancels it.
    pub pre_send_data: Flow<SendData>,
    /// Before binary data is sent (deprecated: `pre_send_data` sees it too). Stopping cancels it.
    pub pre_send_buffer: Flow<BufferData>,
}

impl Flows {
    pub(crate) fn returns_active(&self) -> bool {
        self.pre_api_return.is_active() || self.post_api_return.is_active()
    }

    pub(crate) fn sends_active(&self) -> bool {
        self.pre_send_data.is_active() || self.pre_send_buffer.is_active()
    }

    pub(crate) fn receives_active(&self) -> bool {
        self.pre_recv_data.is_active() || self.pre_recv_buffer.is_active()
    }

    pub(crate) fn messages_active(&self) -> bool {
        self.pre_send_msg.is_active() || self.post_send_msg.is_active() || self.sends_active()
    }
}
