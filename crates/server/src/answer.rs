//! From a result to the bytes of an answer, on whatever connection it came.
//!
//! Depends on the connection, the envelopes and the flows. Invariant: a
//! response that breaks its type becomes an internal error; nothing is sent
//! half.

use std::sync::Arc;

use polywire_net::ws;
use polywire_runtime::{DynamicCodec, run_or_spawn};
use polywire_schema::Value;
use polywire_tsbuffer::EncodeError;
use polywire_tsrpc::{ApiError, DataType, Draft, write_error_reply};

use crate::{
    Conn, Reply,
    call::{CallHead, CallInfo},
    conn::Kind,
    flows::SendData,
    log,
    outbound::{Appended, Purpose},
    short::{Format, ShortReply},
};

/// Writes a response in the form of a data type.
type EncodeResponse<'a> = dyn Fn(DataType, &mut Vec<u8>) -> Result<(), EncodeError> + 'a;

/// What is to be sent.
pub(crate) enum Answer<'a> {
    Error(&'a ApiError),
    Response {
        /// Writes the response alone, without its envelope.
        encode: &'a EncodeResponse<'a>,
        /// The response for an in-process caller.
        value: &'a dyn Fn() -> Result<Value, String>,
    },
}

/// Sends the answer of a call. The call must have been claimed.
pub(crate) fn send(head: &CallHead, answer: Answer<'_>) {
    let conn = &head.conn;
    let server = conn.server();
    match &answer {
        Answer::Error(error) => log::error(head, error),
        Answer::Response { value, .. } => log::response(head, || value().unwrap_or_default()),
    }
    if let Kind::Short(short) = &conn.0.kind
        && short.format == Format::Native
    {
        let result = match &answer {
            Answer::Error(error) => Err((*error).clone()),
            Answer::Response { value, .. } => value().map_err(|text| server.internal_error(&text)),
        };
        short.reply(ShortReply::Native(result));
        return;
    }
    if server.flows().sends_active() {
        return send_through_flows(head, &answer);
    }
    let data_type = conn.data_type();
    match &conn.0.kind {
        Kind::Long(long) => {
            match long.out.append_frame(Purpose::Reply, opcode(data_type), |out| write(head, data_type, &answer, out)) {
                Err(error) => send_encode_error(head, &error),
                Ok(Appended::Full) => conn.disconnect_slow_reader(),
                Ok(_) => {}
            }
        }
        Kind::Short(short) => {
            let mut body = Vec::with_capacity(128);
            if let Err(error) = write(head, data_type, &answer, &mut body) {
                return send_encode_error(head, &error);
            }
            let error = match answer {
                Answer::Error(error) => Some(error.kind),
                Answer::Response { .. } => None,
            };
            short.reply(ShortReply::Bytes { body, error });
        }
    }
}

/// The opcode of frames of a data type.
pub(crate) fn opcode(data_type: DataType) -> ws::Opcode {
    match data_type {
        DataType::Text => ws::Opcode::Text,
        DataType::Buffer => ws::Opcode::Binary,
    }
}

/// Writes the payload of an answer.
fn write(head: &CallHead, data_type: DataType, answer: &Answer<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    match answer {
        Answer::Error(error) => write_error_reply(out, data_type, &head.service, &head.sn, error),
        Answer::Response { encode, .. } => {
            let mut draft = Draft::reply(out, data_type, &head.service, &head.sn);
            encode(data_type, draft.body())?;
            draft.finish();
        }
    }
    Ok(())
}

/// The response breaks its type: the caller gets an internal error instead.
fn send_encode_error(head: &CallHead, error: &EncodeError) {
    let text = error.to_string();
    tracing::error!(parent: &head.span, conn = head.conn.id(), error = %text, "[ApiErr] the response breaks its type");
    send(head, Answer::Error(&head.conn.server().internal_error(&text)));
}

/// The same, where hooks want to see the bytes.
fn send_through_flows(head: &CallHead, answer: &Answer<'_>) {
    let data_type = head.conn.data_type();
    let mut payload = Vec::with_capacity(128);
    let mut kind = match answer {
        Answer::Error(error) => Some(error.kind),
        Answer::Response { .. } => None,
    };
    if let Err(error) = write(head, data_type, answer, &mut payload) {
        payload.clear();
        let error = head.conn.server().internal_error(&error.to_string());
        kind = Some(error.kind);
        // An error is plain data: writing it cannot fail.
        let _ = write(head, data_type, &Answer::Error(&error), &mut payload);
    }
    let conn = head.conn.clone();
    run_or_spawn(async move {
        let data = SendData::new(conn, data_type, payload);
        if let Some(data) = SendData::through_flows(data).await {
            data.deliver(Purpose::Reply, kind);
        }
    });
}

/// Runs the return flows around an error.
pub(crate) async fn through_flows(head: &Arc<CallHead>, result: Reply<Value>) {
    through_flows_with(head, result, None).await;
}

/// Runs the return flows around an answer. The call must have been claimed.
///
/// A hook that fails is answered for by an internal error, which runs no flow
/// again.
pub(crate) async fn through_flows_with(head: &Arc<CallHead>, result: Reply<Value>, codec: Option<&DynamicCodec>) {
    let server = head.conn.server();
    let flows = server.flows();
    let input = ApiReturn { call: CallInfo(Arc::clone(head)), result };
    let returned = match flows.pre_api_return.run(input).await {
        Ok(Some(returned)) => returned,
        Ok(None) => {
            tracing::debug!(parent: &head.span, "[preApiReturnFlow] Canceled");
            return;
        }
        Err(error) => {
            let error = match error.downcast::<ApiError>() {
                Ok(error) => *error,
                Err(error) => {
                    tracing::error!(parent: &head.span, %error, "[ApiErr] a hook of pre_api_return failed");
                    server.internal_error(&error.to_string())
                }
            };
            ApiReturn { call: CallInfo(Arc::clone(head)), result: Err(error) }
        }
    };
    match (&returned.result, codec) {
        (Ok(value), Some(codec)) => send(
            head,
            Answer::Response {
                encode: &|data_type, out| codec.encode_value(value, data_type, out),
                value: &|| codec.check(value),
            },
        ),
        (Ok(_), None) => send(head, Answer::Error(&server.internal_error("A hook made a response of an error"))),
        (Err(error), _) => send(head, Answer::Error(error)),
    }
    if flows.post_api_return.is_active()
        && let Err(error) = flows.post_api_return.run(returned).await
    {
        tracing::error!(parent: &head.span, %error, "a hook of post_api_return failed");
    }
}

/// An answer, as `pre_api_return` and `post_api_return` hooks see it.
#[derive(Debug)]
pub struct ApiReturn {
    /// The call.
    pub call: CallInfo,
    /// The answer. A hook may change a response or an error, and may make an error of a response.
    pub result: Reply<Value>,
}

impl ApiReturn {
    /// The connection.
    #[must_use]
    pub fn conn(&self) -> &Conn {
        self.call.conn()
    }
}
