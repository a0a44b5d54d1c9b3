//! The flows of a client and what their hooks see (reference §13.1).
//!
//! Depends on values only. Invariant: nothing here runs where no hook is registered.

use std::{error::Error, sync::Arc};

use polywire_runtime::{BoxError, Flow};
use polywire_schema::Value;
use polywire_tsrpc::{ApiError, DataType};

use crate::CallOptions;

/// A call before it is made.
#[derive(Debug)]
pub struct Calling {
    /// The name of the API.
    pub api: Arc<str>,
    /// The request. A hook may change it.
    pub request: Value,
    /// How the call is made.
    pub options: CallOptions,
    /// The answer, if a hook gives it: nothing is sent then. This is how calls are mocked.
    pub reply: Option<Result<Value, ApiError>>,
}

/// The answer of a call before the caller gets it.
#[derive(Debug)]
pub struct ApiReturn {
    /// The name of the API.
    pub api: Arc<str>,
    /// The answer. A hook may change it.
    pub result: Result<Value, ApiError>,
}

/// A message that is about to be sent, or was.
#[derive(Debug)]
pub struct OutgoingMessage {
    /// The name of the message.
    pub name: Arc<str>,
    /// The message. A hook before sending may change it.
    pub message: Value,
}

/// A message that was received.
#[derive(Debug)]
pub struct IncomingMessage {
    /// The name of the message.
    pub name: Arc<str>,
    /// The message. A hook before the handlers may change it.
    pub message: Value,
}

/// A frame or body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Text: JSON.
    Text(String),
    /// Bytes: TSBuffer.
    Buffer(Vec<u8>),
}

impl Data {
    /// As JavaScript reads text: what is no UTF-8 becomes U+FFFD.
    pub(crate) fn new(data_type: DataType, bytes: Vec<u8>) -> Self {
        match data_type {
            DataType::Buffer => Self::Buffer(bytes),
            DataType::Text => Self::Text(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }

    /// The bytes of either kind.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Buffer(bytes) => bytes,
        }
    }
}

/// Data on its way to or from the server. A hook may change it.
#[derive(Debug)]
pub struct SocketData {
    /// The data.
    pub data: Data,
    /// The number of the call that it belongs to, where it is the request of one.
    pub sn: Option<u64>,
}

/// Binary data, as the deprecated buffer hooks see it.
#[derive(Debug)]
pub struct BufferData {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// As in [`SocketData`].
    pub sn: Option<u64>,
}

/// A connection that is about to be opened.
#[derive(Debug)]
pub struct Connecting {
    /// The URL. A hook may change it.
    pub url: String,
    /// What connecting comes to, if a hook says so: nothing is opened then.
    pub reply: Option<Result<(), BoxError>>,
}

/// A connection that has ended.
#[derive(Debug)]
pub struct Disconnected {
    /// The reason of the close frame, or what went wrong.
    pub reason: Option<String>,
    /// Whether this side asked for it.
    pub is_manual: bool,
}

/// The flows of a client. Names and order are the published ones.
///
/// A hook that stops a call, by `None` or by failing, makes it end with the
/// error `Request cancelled` or its own. (Published clients never settle it.)
#[derive(Debug, Default)]
pub struct Flows {
    /// Before a call is made. May answer it.
    pub pre_call_api: Flow<Calling>,
    /// Before the caller gets the answer.
    pub pre_api_return: Flow<ApiReturn>,
    /// Once the answer is final. The caller does not wait for it.
    pub post_api_return: Flow<ApiReturn>,
    /// Before a message is sent.
    pub pre_send_msg: Flow<OutgoingMessage>,
    /// After a message was sent. The sender does not wait for it.
    pub post_send_msg: Flow<OutgoingMessage>,
    /// Before the handlers of a message that was received. Stopping cancels them.
    pub pre_recv_msg: Flow<IncomingMessage>,
    /// After the handlers of a message.
    pub post_recv_msg: Flow<IncomingMessage>,
    /// Before data is sent.
    pub pre_send_data: Flow<SocketData>,
    /// Before binary data is sent (deprecated: `pre_send_data` sees it too).
    pub pre_send_buffer: Flow<BufferData>,
    /// Before received data is read. Stopping drops it.
    pub pre_recv_data: Flow<SocketData>,
    /// Before received binary data is read (deprecated: `pre_recv_data` sees it too).
    pub pre_recv_buffer: Flow<BufferData>,
    /// Before a connection is opened. Stopping makes it fail.
    pub pre_connect: Flow<Connecting>,
    /// After a connection was opened, before `connect` returns.
    pub post_connect: Flow<()>,
    /// After a connection has ended that had been open.
    pub post_disconnect: Flow<Disconnected>,
}

impl Flows {
    pub(crate) fn sends_active(&self) -> bool {
        self.pre_send_data.is_active() || self.pre_send_buffer.is_active()
    }

    pub(crate) fn receives_active(&self) -> bool {
        self.pre_recv_data.is_active() || self.pre_recv_buffer.is_active()
    }

    /// Runs the hooks of sending; an error where one stopped it.
    pub(crate) async fn send(&self, data: Data, sn: Option<u64>) -> Result<Data, ApiError> {
        through(&self.pre_send_data, &self.pre_send_buffer, data, sn).await.ok_or_else(ApiError::cancelled)
    }

    /// Runs the hooks of receiving; `None` where one dropped the data.
    pub(crate) async fn receive(&self, data: Data) -> Option<Data> {
        through(&self.pre_recv_data, &self.pre_recv_buffer, data, None).await
    }
}

async fn through(any: &Flow<SocketData>, buffers: &Flow<BufferData>, data: Data, sn: Option<u64>) -> Option<Data> {
    let failed = |error: BoxError| log_failure("a data flow", &*error);
    let SocketData { data, sn } = any.run(SocketData { data, sn }).await.map_err(failed).ok()??;
    let Data::Buffer(bytes) = data else { return Some(data) };
    let BufferData { bytes, .. } = buffers.run(BufferData { bytes, sn }).await.map_err(failed).ok()??;
    Some(Data::Buffer(bytes))
}

/// A hook failed where nobody waits for its result.
pub(crate) fn log_failure(flow: &str, error: &(dyn Error + Send + Sync)) {
    tracing::error!(flow, %error, "Uncaught FlowError");
}
