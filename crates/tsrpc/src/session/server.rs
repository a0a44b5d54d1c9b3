//! The server's end of a connection: frames in, calls and messages out.
//!
//! Depends on the envelopes and the service map. It decides which service a
//! frame is for and where its body stands; the body itself is left to the codec
//! of its type.

use std::sync::Arc;

use polywire_schema::Value;
use polywire_tsbuffer::binary::Strictness;

use crate::{
    DataType, InputError, Negotiation, Service, ServiceKind, ServiceMap, Sn, envelope, negotiate,
    text::{self, Parsed},
};

/// A frame of a long connection, without what its transport puts around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Text. UTF-8 is for the transport to check; what is not, is refused here too.
    Text(&'a [u8]),
    /// Bytes.
    Binary(&'a [u8]),
}

/// A heartbeat, in either direction and whatever the data type: a binary frame of this one byte.
pub const HEARTBEAT: &[u8] = &[0];

/// A body that waits to be decoded as the type of its service.
#[derive(Debug, Clone, PartialEq)]
pub enum Body<'a> {
    /// TSBuffer.
    Binary(&'a [u8]),
    /// JSON text, **cut out by guess**.
    ///
    /// It is right if it decodes as one value and nothing is left over. If not,
    /// the whole frame has to be read again with [`decode_slow`], which gives
    /// the same frame as [`Body::Value`], or the error.
    Json(&'a [u8]),
    /// JSON that has been parsed, or `undefined` where the frame has no body.
    Value(Box<Value>),
}

/// What a server received.
#[derive(Debug, PartialEq)]
pub enum Incoming<'a> {
    /// A call, to be answered.
    Call {
        /// The API.
        service: &'a Arc<Service>,
        /// What the answer has to carry.
        sn: Sn,
        /// The request.
        body: Body<'a>,
    },
    /// A message.
    Message {
        /// The message's service.
        service: &'a Arc<Service>,
        /// The message.
        body: Body<'a>,
    },
    /// A ping, to be answered with a binary frame [`HEARTBEAT`] before anything else.
    Heartbeat,
    /// What cannot be read. As published, it ends a long connection; see [`InputError::close_reason`].
    Invalid(InputError),
}

/// What a session is told about its server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionOptions {
    /// Whether JSON is accepted besides binary.
    pub json: bool,
    /// What becomes of binary frames that end too early.
    pub strictness: Strictness,
}

/// The state of one long connection: what it is written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSession {
    data_type: DataType,
    confirmed: bool,
}

impl ServerSession {
    /// A session for a connection that offered these subprotocols (`Sec-WebSocket-Protocol`).
    ///
    /// What the handshake has to answer is [`negotiate`]'s business.
    #[must_use]
    pub fn new(offered: Option<&str>, options: &SessionOptions) -> Self {
        let Negotiation { data_type, confirmed, .. } = negotiate(offered, options.json);
        Self { data_type, confirmed }
    }

    /// What the server writes on this connection. Frames that come in are read by their own kind.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// Chooses what the server writes from now on; the client's first frame no longer does.
    pub fn set_data_type(&mut self, data_type: DataType) {
        self.data_type = data_type;
        self.confirmed = true;
    }

    /// Whether the data type is settled.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.confirmed
    }

    /// Reads a frame. Hot: allocates nothing for what published clients send.
    pub fn decode<'a>(&mut self, frame: Frame<'a>, services: &'a ServiceMap, options: &SessionOptions) -> Incoming<'a> {
        match frame {
            Frame::Binary(HEARTBEAT) => Incoming::Heartbeat,
            Frame::Binary(bytes) => {
                self.confirm(DataType::Buffer);
                decode_buffer(bytes, services, options.strictness)
            }
            Frame::Text(_) if !options.json => {
                self.confirm(DataType::Buffer);
                Incoming::Invalid(InputError::JsonDisabled)
            }
            Frame::Text(text) => {
                self.confirm(DataType::Text);
                decode_text(text, services)
            }
        }
    }

    fn confirm(&mut self, data_type: DataType) {
        if !self.confirmed {
            self.set_data_type(data_type);
        }
    }
}

/// Reads a binary frame or HTTP body. Hot.
pub fn decode_buffer<'a>(bytes: &'a [u8], services: &'a ServiceMap, strictness: Strictness) -> Incoming<'a> {
    let input = match envelope::parse_input(bytes, strictness) {
        Ok(input) => input,
        Err(error) => return Incoming::Invalid(InputError::Envelope(error.to_string())),
    };
    let Some(service) = services.by_id(input.service_id) else {
        return Incoming::Invalid(InputError::UnknownId(input.service_id));
    };
    let body = Body::Binary(input.body);
    match service.kind() {
        ServiceKind::Api => Incoming::Call { service, sn: input.sn.into(), body },
        ServiceKind::Message => Incoming::Message { service, body },
    }
}

/// Reads a text frame; the body may be a guess, see [`Body::Json`]. Hot.
pub fn decode_text<'a>(frame: &'a [u8], services: &'a ServiceMap) -> Incoming<'a> {
    if let Some(split) = text::split(frame) {
        let body = Body::Json(split.body);
        match split.sn {
            Some(sn) => {
                if let Some(service) = services.by_text_name(ServiceKind::Api, split.name) {
                    return Incoming::Call { service, sn: Sn::Number(sn), body };
                }
            }
            None => {
                if let Some(service) = services.by_text_name(ServiceKind::Message, split.name) {
                    return Incoming::Message { service, body };
                }
            }
        }
    }
    decode_slow(frame, services)
}

/// Reads a text frame as a whole. What it says is final.
pub fn decode_slow<'a>(frame: &[u8], services: &'a ServiceMap) -> Incoming<'a> {
    let Parsed { name, body, sn } = match text::parse(frame) {
        Ok(parsed) => parsed,
        Err(error) => return Incoming::Invalid(error),
    };
    let kind = if sn.is_some() { ServiceKind::Api } else { ServiceKind::Message };
    let Some(service) = services.by_name(kind, name.as_bytes()) else {
        return Incoming::Invalid(InputError::UnknownName { kind, name });
    };
    let body = Body::Value(Box::new(body));
    match kind {
        ServiceKind::Api => Incoming::Call { service, sn, body },
        ServiceKind::Message => Incoming::Message { service, body },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{hex, services};

    /// What a frame is, in short.
    fn brief(incoming: &Incoming<'_>) -> String {
        let body = |body: &Body<'_>| match body {
            Body::Binary(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            Body::Json(text) => String::from_utf8_lossy(text).into_owned(),
            Body::Value(value) => format!("={}", value.to_json().unwrap().unwrap_or("undefined".to_owned())),
        };
        match incoming {
            Incoming::Call { service, sn, body: call } => format!("call {} #{sn} {}", service.name, body(call)),
            Incoming::Message { service, body: message } => format!("message {} {}", service.name, body(message)),
            Incoming::Heartbeat => "heartbeat".to_owned(),
            Incoming::Invalid(error) => format!("invalid: {error}"),
        }
    }

    const WITH_JSON: SessionOptions = SessionOptions { json: true, strictness: Strictness::Strict };

    #[test]
    fn frames_are_calls_messages_heartbeats_or_invalid() {
        let text = |text: &'static str| (text, Frame::Text(text.as_bytes()));
        let cases = [
            (text(r#"["Add",{"a":1},7]"#), r#"call Add #7 {"a":1}"#),
            (text(r#"["Add",{"a":1}, 7]"#), r#"call Add #7 ={"a":1}"#),
            (text(r#"["Add",{"a":1},"abc"]"#), r#"call Add #"abc" ={"a":1}"#),
            (text(r#"["Add",{"a":1},null]"#), r#"call Add #null ={"a":1}"#),
            (text(r#"["\u0041dd",{"a":1},7]"#), r#"call Add #7 ={"a":1}"#),
            (text(r#"[["Add"],{"a":1},7]"#), r#"call Add #7 ={"a":1}"#),
            (text(r#"["user/Login",1,0]"#), "call user/Login #0 1"),
            (text(r#"["Chat",{"content":"x"}]"#), r#"message Chat {"content":"x"}"#),
            (text(r#"["Chat"]"#), "message Chat =undefined"),
            // As published: the name of a message with a serial number is that of no API.
            (text(r#"["Chat",{},1]"#), "invalid: Invalid api path: Chat"),
            (text(r#"["Add",{"a":1}]"#), "invalid: Invalid msg path: Add"),
            (text(r#"["Nope",{},1]"#), "invalid: Invalid api path: Nope"),
            (text(r#"["Nope",{}]"#), "invalid: Invalid msg path: Nope"),
            (text("[]"), "invalid: Invalid msg path: undefined"),
            (text(r#"{"a":1}"#), "invalid: Invalid request format: unresolved service name."),
            (
                text("hello"),
                r#"invalid: Input is not a valid JSON string: Unexpected token 'h', "hello" is not valid JSON"#,
            ),
            (("00", Frame::Binary(&[0])), "heartbeat"),
            (("0000", Frame::Binary(&[0, 0])), "invalid: Missing required property `serviceId`."),
            (("empty", Frame::Binary(&[])), "invalid: Read varint error: index out of range"),
            (("unknown id", Frame::Binary(&[2, 0x29, 0x63, 0x2c, 0])), "invalid: Cannot find service ID: 99"),
            (("message with sn", Frame::Binary(&[3, 0x29, 0, 0x2c, 1, 7, 0x31, 5])), "message Chat 07"),
            (("call without sn", Frame::Binary(&[2, 0x29, 1, 0x2c, 1, 7])), "call Add #undefined 07"),
        ];
        let services = services();
        for ((name, frame), expected) in cases {
            let mut session = ServerSession::new(None, &WITH_JSON);
            assert_eq!(brief(&session.decode(frame, services, &WITH_JSON)), expected, "{name}");
        }
    }

    #[test]
    fn the_first_frame_settles_what_nobody_chose() {
        use DataType::{Buffer, Text};
        let without_json = SessionOptions { json: false, ..WITH_JSON };
        let call = hex("0229012c00");
        let (ping, binary, text) = (Frame::Binary(HEARTBEAT), Frame::Binary(&call), Frame::Text(b"[]"));
        #[rustfmt::skip]
        let cases: &[(_, _, &[_])] = &[
            (None,                 WITH_JSON,    &[(ping, Text), (text, Text), (binary, Text)]),
            (None,                 WITH_JSON,    &[(ping, Text), (binary, Buffer), (text, Buffer)]),
            (None,                 without_json, &[(ping, Buffer), (text, Buffer), (binary, Buffer)]),
            (Some("text"),         WITH_JSON,    &[(binary, Text), (text, Text)]),
            (Some("text"),         without_json, &[(binary, Text), (text, Text)]),
            (Some("buffer"),       WITH_JSON,    &[(text, Buffer), (binary, Buffer)]),
            (Some("buffer, text"), WITH_JSON,    &[(binary, Text)]),
        ];
        let services = services();
        for (offered, options, frames) in cases {
            let mut session = ServerSession::new(*offered, options);
            for (at, (frame, expected)) in frames.iter().enumerate() {
                session.decode(*frame, services, options);
                assert_eq!(session.data_type(), *expected, "{offered:?} {options:?}, frame {at}");
            }
        }
        let mut session = ServerSession::new(None, &without_json);
        let disabled = session.decode(text, services, &without_json);
        assert_eq!(disabled, Incoming::Invalid(InputError::JsonDisabled));
        session.set_data_type(Text);
        session.decode(binary, services, &without_json);
        assert_eq!(session.data_type(), Text);
    }

    /// Text frames that are nearly, or not at all, as clients write them.
    fn frames() -> impl Strategy<Value = String> {
        let name = prop_oneof![Just(r#""Add""#), Just(r#""Chat""#), Just(r#""A\u0064d""#), Just("5"), Just(r#""""#)];
        let value = prop_oneof![
            Just("{}"),
            Just(r#"{"a":[1,2]}"#),
            Just("[3]"),
            Just("1"),
            Just("-1"),
            Just("01"),
            Just("12345678901234567"),
            Just(r#""x,1""#),
            Just("null"),
            Just(""),
            Just(" 7 "),
            Just("1]"),
            Just("{"),
        ];
        let end = prop_oneof![8 => Just("]"), 1 => Just(""), 1 => Just("] ")];
        (name, prop::collection::vec(value, 0..4), end).prop_map(|(name, values, end)| {
            let values: String = values.iter().map(|value| format!(",{value}")).collect();
            format!("[{name}{values}{end}")
        })
    }

    #[test]
    fn cut_and_corrupted_frames_are_refused_or_read_but_never_panic() {
        let binary = hex("0329012c13022a3ff00000000000002e40000000000000003101");
        let text = br#"["Add",{"a":1,"b":"\u00e9"},12]"#;
        let mut session = ServerSession::new(None, &WITH_JSON);
        let mut feed = |bytes: &[u8]| {
            for frame in [Frame::Binary(bytes), Frame::Text(bytes)] {
                let _ = session.decode(frame, services(), &WITH_JSON);
            }
        };
        for frame in [&*binary, text] {
            for at in 0..frame.len() {
                feed(&frame[..at]);
                for byte in 0..=u8::MAX {
                    let mut corrupted = frame.to_vec();
                    corrupted[at] = byte;
                    feed(&corrupted);
                }
            }
        }
    }

    #[test]
    fn nesting_is_refused_before_the_stack_ends() {
        let deep = format!(r#"["Add",{},1]"#, "[".repeat(100_000) + &"]".repeat(100_000) + " ");
        let slow = brief(&decode_slow(deep.as_bytes(), services()));
        assert_eq!(slow, "invalid: Input is not a valid JSON string: JSON is nested deeper than 512 levels");
        let unclosed = "[".repeat(1_000_000);
        let refused = brief(&decode_text(unclosed.as_bytes(), services()));
        assert_eq!(refused, slow);
        let deep = [vec![1], [0x37, 1].repeat(100_000)].concat();
        let refused = brief(&decode_buffer(&deep, services(), Strictness::Strict));
        assert_eq!(refused, "invalid: Nesting exceeds 512 levels");
    }

    proptest! {
        #[test]
        fn no_frame_makes_it_panic(bytes: Vec<u8>, is_text: bool) {
            let frame = if is_text { Frame::Text(&bytes) } else { Frame::Binary(&bytes) };
            let mut session = ServerSession::new(None, &WITH_JSON);
            let _ = session.decode(frame, services(), &WITH_JSON);
            let _ = crate::decode_output(frame, services());
        }

        #[test]
        fn a_body_that_is_one_value_was_cut_out_right(frame in frames()) {
            let services = services();
            let guess = decode_text(frame.as_bytes(), services);
            let mut slow = brief(&decode_slow(frame.as_bytes(), services));
            if let Incoming::Call { body: Body::Json(body), .. } | Incoming::Message { body: Body::Json(body), .. } = &guess {
                // Otherwise whoever decodes the body notices.
                if let Ok(value) = Value::parse_json(body) {
                    let value = value.to_json().unwrap().unwrap();
                    let text = String::from_utf8_lossy(body);
                    slow = slow.replace(&format!("={value}"), &text);
                    prop_assert_eq!(brief(&guess), slow);
                }
            } else {
                prop_assert_eq!(brief(&guess), slow);
            }
        }
    }
}
