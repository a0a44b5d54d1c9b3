//! The client's end of a connection: frames in, answers and messages out.
//!
//! Depends on the envelopes and the service map. Which call an answer belongs
//! to is a matter of [`PendingCalls`](crate::PendingCalls); bodies are left to the codecs of their types.

use std::sync::Arc;

use polywire_schema::{Object, Value};
use polywire_tsbuffer::binary::Strictness;

use crate::{
    ApiError, Body, DataType, Frame, HEARTBEAT, OutputError, Service, ServiceKind, ServiceMap,
    envelope::{self, ServerOutput},
    text,
};

/// What a client received.
#[derive(Debug, PartialEq)]
pub enum Received<'a> {
    /// The answer to a call.
    Reply {
        /// The API.
        service: &'a Arc<Service>,
        /// The serial number of the call. Without one that this client can have given, nobody waits for the answer.
        sn: Option<u64>,
        /// The response, or why there is none.
        result: Result<Body<'a>, ApiError>,
    },
    /// A message.
    Message {
        /// The message's service.
        service: &'a Arc<Service>,
        /// The message.
        body: Body<'a>,
    },
    /// The answer to a ping.
    Heartbeat,
    /// What cannot be read: logged and dropped.
    Invalid(OutputError),
}

/// Reads a frame of a long connection. Hot.
///
/// A body that is [`Body::Json`] is a guess, as on the server: where it does not
/// decode as one value with nothing left over, ask [`decode_output_slow`].
pub fn decode_output<'a>(frame: Frame<'a>, services: &'a ServiceMap) -> Received<'a> {
    match frame {
        Frame::Binary(HEARTBEAT) => Received::Heartbeat,
        Frame::Binary(bytes) => decode_binary(bytes, services).unwrap_or_else(Received::Invalid),
        Frame::Text(text) => match guess(text, services) {
            Some(received) => received,
            None => decode_output_slow(text, services),
        },
    }
}

/// Reads a text frame of a long connection as a whole. What it says is final.
pub fn decode_output_slow<'a>(text: &[u8], services: &'a ServiceMap) -> Received<'a> {
    decode_whole(text, services).unwrap_or_else(Received::Invalid)
}

fn decode_binary<'a>(bytes: &'a [u8], services: &'a ServiceMap) -> Result<Received<'a>, OutputError> {
    let output = parse_binary(bytes)?;
    let id = output.service_id.ok_or(OutputError::MissingServiceId)?;
    let service = services.by_id(id).ok_or(OutputError::UnknownId(id))?;
    Ok(match service.kind() {
        ServiceKind::Api => Received::Reply { service, sn: output.sn, result: reply_of(output)? },
        ServiceKind::Message => {
            Received::Message { service, body: Body::Binary(output.body.ok_or(OutputError::EmptyMessage)?) }
        }
    })
}

fn parse_binary(bytes: &[u8]) -> Result<ServerOutput<'_>, OutputError> {
    envelope::parse_output(bytes, Strictness::Strict).map_err(|error| OutputError::Envelope(error.to_string()))
}

fn reply_of(output: ServerOutput<'_>) -> Result<Result<Body<'_>, ApiError>, OutputError> {
    match output.error {
        Some(error) => Ok(Err(error)),
        None => Ok(Ok(Body::Binary(output.body.ok_or(OutputError::EmptyResponse)?))),
    }
}

/// What published servers write before and behind a response.
const SUCCESS: (&[u8], &[u8]) = (br#"{"isSucc":true,"res":"#, b"}");

fn guess<'a>(frame: &'a [u8], services: &'a ServiceMap) -> Option<Received<'a>> {
    let split = text::split(frame)?;
    match split.sn {
        Some(sn @ 1..) => {
            let service = services.by_text_name(ServiceKind::Api, split.name)?;
            let response = split.body.strip_prefix(SUCCESS.0)?.strip_suffix(SUCCESS.1)?;
            Some(Received::Reply { service, sn: Some(sn), result: Ok(Body::Json(response)) })
        }
        Some(0) => None,
        None => {
            let service = services.by_text_name(ServiceKind::Message, split.name)?;
            Some(Received::Message { service, body: Body::Json(split.body) })
        }
    }
}

fn decode_whole<'a>(frame: &[u8], services: &'a ServiceMap) -> Result<Received<'a>, OutputError> {
    let Value::Array(elements) = text::value(frame).map_err(OutputError::NotJson)? else {
        return Err(OutputError::Format);
    };
    let mut elements = elements.into_iter();
    let mut next = || elements.next().unwrap_or_default();
    let (name, body, sn) = (next(), next(), next());
    // As published: what JavaScript takes for false makes it a message.
    let kind = if is_truthy(&sn) { ServiceKind::Api } else { ServiceKind::Message };
    let name = text::js_string(&name);
    let Some(service) = services.by_name(kind, name.as_bytes()) else {
        return Err(OutputError::UnknownName(name));
    };
    match kind {
        ServiceKind::Api => {
            let sn = sn.as_number().filter(|sn| sn.fract() == 0.0 && *sn > 0.0 && *sn < 2f64.powi(53));
            Ok(Received::Reply { service, sn: sn.map(|sn| sn as u64), result: api_return(body)? })
        }
        ServiceKind::Message => Ok(Received::Message { service, body: Body::Value(Box::new(body)) }),
    }
}

/// Reads the body of an HTTP answer to a call.
///
/// A success in JSON is a guess, as in [`decode_output`]; see [`decode_http_reply_slow`].
///
/// # Errors
/// Where it cannot be read; the caller gets [`ApiError::unreadable_output`].
pub fn decode_http_reply(data_type: DataType, body: &[u8]) -> Result<Result<Body<'_>, ApiError>, OutputError> {
    match data_type {
        DataType::Buffer => reply_of(parse_binary(body)?),
        DataType::Text => match body.strip_prefix(SUCCESS.0).and_then(|rest| rest.strip_suffix(SUCCESS.1)) {
            Some(response) => Ok(Ok(Body::Json(response))),
            None => decode_http_reply_slow(body),
        },
    }
}

/// Reads the JSON body of an HTTP answer as a whole. What it says is final.
///
/// # Errors
/// As [`decode_http_reply`].
pub fn decode_http_reply_slow(body: &[u8]) -> Result<Result<Body<'static>, ApiError>, OutputError> {
    api_return(text::value(body).map_err(OutputError::NotJson)?)
}

/// `{"isSucc":true,"res":…}` or `{"isSucc":false,"err":{…}}`.
fn api_return(value: Value) -> Result<Result<Body<'static>, ApiError>, OutputError> {
    let Value::Object(mut object) = value else { return Err(OutputError::Format) };
    if flag(&object, "isSucc") {
        // Without `res` the response is `undefined`, which only the type of the response can refuse.
        return Ok(Ok(Body::Value(Box::new(object.remove("res").unwrap_or_default()))));
    }
    if flag(&object, "err") {
        return Ok(Err(ApiError::from_value(object.remove("err").unwrap_or_default())));
    }
    Err(OutputError::Format)
}

fn flag(object: &Object, key: &str) -> bool {
    object.get(key).is_some_and(is_truthy)
}

/// What JavaScript takes for true.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Undefined | Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => *number != 0.0 && !number.is_nan(),
        Value::BigInt(number) => *number != 0,
        Value::String(text) => text.as_str() != Some(""),
        _ => true,
    }
}
