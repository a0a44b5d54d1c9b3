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
