//! What a client receives: frames in, answers and messages out.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{hex, services};

    fn body(body: &Body<'_>) -> String {
        match body {
            Body::Binary(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            Body::Json(text) => String::from_utf8_lossy(text).into_owned(),
            Body::Value(value) => format!("={}", value.to_json().unwrap().unwrap_or("undefined".to_owned())),
        }
    }

    fn result(result: &Result<Body<'_>, ApiError>) -> String {
        match result {
            Ok(response) => body(response),
            Err(error) => format!("{error} {:?}", error.code),
        }
    }

    fn brief(received: &Received<'_>) -> String {
        match received {
            Received::Reply { service, sn, result: reply } => {
                format!("reply {} {sn:?} {}", service.name, result(reply))
            }
            Received::Message { service, body: message } => format!("message {} {}", service.name, body(message)),
            Received::Heartbeat => "heartbeat".to_owned(),
            Received::Invalid(error) => format!("invalid: {error}"),
        }
    }

    #[test]
    fn text_frames_are_replies_or_messages() {
        let cases = [
            (r#"["Add",{"isSucc":true,"res":{"sum":3}},7]"#, r#"reply Add Some(7) {"sum":3}"#),
            (r#"["Add",{"isSucc":true,"res":{"sum":3} },7]"#, r#"reply Add Some(7) {"sum":3} "#),
            (r#"["Add",{"res":{"sum":3},"isSucc":true},7]"#, r#"reply Add Some(7) ={"sum":3}"#),
            (r#"["Add",{"isSucc":true},7]"#, "reply Add Some(7) =undefined"),
            (
                r#"["Err",{"isSucc":false,"err":{"message":"no","type":"ApiError","code":"E"}},1]"#,
                r#"reply Err Some(1) [TSRPC ApiError]: no Some(Str("E"))"#,
            ),
            (r#"["Err",{"isSucc":false,"err":{"message":5}},1]"#, "reply Err Some(1) [TSRPC ApiError]:  None"),
            (r#"["Add",{"isSucc":true,"res":1},"abc"]"#, "reply Add None =1"),
            (r#"["Add",{"isSucc":true,"res":1},1.5]"#, "reply Add None =1"),
            (r#"["Chat",{"content":"x"}]"#, r#"message Chat {"content":"x"}"#),
            // As published: what JavaScript takes for false is no serial number.
            (r#"["Chat",{"content":"x"},0]"#, r#"message Chat ={"content":"x"}"#),
            (r#"[ "Chat",1,""]"#, "message Chat =1"),
            (r#"[ "Chat",1,null]"#, "message Chat =1"),
            // Guessed wrong, which whoever decodes the body notices.
            (r#"["Chat",1,null]"#, "message Chat 1,null"),
            (r#"["Chat"]"#, "message Chat =undefined"),
            (r#"["Add",{"isSucc":false},1]"#, "invalid: Invalid server output format"),
            (r#"["Add",null,1]"#, "invalid: Invalid server output format"),
            (r#"{"isSucc":true}"#, "invalid: Invalid server output format"),
            (r#"["Nope",{},1]"#, "invalid: Invalid service name: Nope (from ServerOutputData)"),
            (r#"["Add",{}]"#, "invalid: Invalid service name: Add (from ServerOutputData)"),
            ("[", "invalid: Invalid input JSON: Unexpected end of JSON input"),
        ];
        for (frame, expected) in cases {
            assert_eq!(brief(&decode_output(Frame::Text(frame.as_bytes()), services())), expected, "{frame}");
        }
    }

    #[test]
    fn binary_frames_are_replies_messages_or_heartbeats() {
        let cases = [
            ("032802aabb31013507", "reply Add Some(7) aabb"),
            ("022802aabb3101", "reply Add None aabb"),
            ("032f0228026e6f2d0331013507", "reply Add Some(7) [TSRPC ApiError]: no None"),
            ("022801ff3100", "message Chat ff"),
            ("00", "heartbeat"),
            ("012800", "invalid: Missing 'serviceId' in ServerOutput"),
            ("0228003163", "invalid: Invalid service ID: 99 (from ServerOutput)"),
            ("013100", "invalid: Empty msg buffer (from ServerOutput)"),
            ("0231013507", "invalid: Empty API res buffer (from ServerOutput)"),
            ("ff", "invalid: Read varint error: index out of range"),
        ];
        for (frame, expected) in cases {
            assert_eq!(brief(&decode_output(Frame::Binary(&hex(frame)), services())), expected, "{frame}");
        }
    }

    #[test]
    fn http_answers_are_bare() {
        let text = |body: &'static str| (DataType::Text, body.as_bytes().to_vec());
        let binary = |digits: &str| (DataType::Buffer, hex(digits));
        let cases = [
            (text(r#"{"isSucc":true,"res":{"sum":3}}"#), r#"{"sum":3}"#),
            (text(r#"{ "isSucc":true,"res":{"sum":3}}"#), r#"={"sum":3}"#),
            (text(r#"{"isSucc":false,"err":{"message":"no"}}"#), "[TSRPC ApiError]: no None"),
            (text("nope"), "Invalid input JSON: Unexpected token 'o', \"nope\" is not valid JSON"),
            (text("[]"), "Invalid server output format"),
            (binary("012802aabb"), "aabb"),
            (binary("012f0228026e6f2d01"), "[TSRPC ServerError]: no None"),
            // The service that answers is known: what the frame says about it does not matter.
            (binary("032802aabb31633500"), "aabb"),
            (binary("00"), "Empty API res buffer (from ServerOutput)"),
            (binary(""), "Read varint error: index out of range"),
        ];
        for ((data_type, answer), expected) in cases {
            let found = match decode_http_reply(data_type, &answer) {
                Ok(reply) => result(&reply),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{}", answer.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn a_body_that_is_one_value_was_cut_out_right(
            name in prop_oneof![Just(r#""Add""#), Just(r#""Chat""#), Just("0")],
            values in prop::collection::vec(prop_oneof![
                Just(r#"{"isSucc":true,"res":1}"#), Just(r#"{"isSucc":true,"res":1},{"a":2}"#), Just(r#"{"isSucc":true,"res":}"#),
                Just("5"), Just("0"), Just("[1]"), Just(r#"{"isSucc":true,"res":1,"x":2}"#), Just(""),
            ], 0..4),
        ) {
            let values: String = values.iter().map(|value| format!(",{value}")).collect();
            let frame = format!("[{name}{values}]");
            let guess = decode_output(Frame::Text(frame.as_bytes()), services());
            let slow = brief(&decode_output_slow(frame.as_bytes(), services()));
            let (Received::Reply { result: Ok(Body::Json(cut)), .. } | Received::Message { body: Body::Json(cut), .. }) = &guess else {
                prop_assert_eq!(brief(&guess), slow);
                return Ok(());
            };
            // Otherwise whoever decodes the body notices.
            if let Ok(value) = Value::parse_json(cut) {
                let value = value.to_json().unwrap().unwrap();
                prop_assert_eq!(brief(&guess), slow.replace(&format!("={value}"), &String::from_utf8_lossy(cut)));
            }
        }
    }
}
