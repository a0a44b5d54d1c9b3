//! The server's side of the contract, as the floor answers it.

use std::borrow::Cow;
use std::io::Write as _;

use serde::Deserialize;

use super::{CHAT_ID, Encoding, SEND_ID, tag, varint};
use crate::clock::Clock;
use crate::frame;

/// A call of `Send`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    /// What to say to everyone.
    pub(crate) content: Cow<'a, str>,
    /// The serial number that the reply repeats.
    pub(crate) sn: u64,
}

impl<'a> Request<'a> {
    /// Reads the payload of one frame; `None` if it is no call of `Send`.
    pub(crate) fn parse(encoding: Encoding, payload: &'a [u8]) -> Option<Self> {
        match encoding {
            Encoding::Json => parse_json(payload),
            Encoding::Binary => parse_binary(payload),
        }
    }
}

fn parse_json(payload: &[u8]) -> Option<Request<'_>> {
    #[derive(Deserialize)]
    struct Send<'a> {
        #[serde(borrow)]
        content: Cow<'a, str>,
    }
    let (name, Send { content }, sn): (&str, Send<'_>, u64) = serde_json::from_slice(payload).ok()?;
    (name == "Send").then_some(Request { content, sn })
}

fn parse_binary(mut payload: &[u8]) -> Option<Request<'_>> {
    let (mut service, mut body, mut sn) = (None, None, None);
    for _ in 0..varint::read(&mut payload)? {
        match varint::read(&mut payload)? {
            tag::INPUT_SERVICE => service = Some(varint::read(&mut payload)?),
            tag::INPUT_BODY => body = Some(varint::read_bytes(&mut payload)?),
            tag::INPUT_SN => sn = Some(varint::read(&mut payload)?),
            _ => return None,
        }
    }
    let mut body = body?;
    let head = (varint::read(&mut body)?, varint::read(&mut body)?);
    if service != Some(SEND_ID) || head != (1, tag::SEND_CONTENT) {
        return None;
    }
    let content = str::from_utf8(varint::read_bytes(&mut body)?).ok()?;
    Some(Request { content: Cow::Borrowed(content), sn: sn? })
}

/// Encodes replies and broadcasts, framed.
#[derive(Debug)]
pub(crate) struct Service {
    encoding: Encoding,
    clock: Clock,
    body: Vec<u8>,
    payload: Vec<u8>,
}

impl Service {
    /// A service for one connection.
    pub(crate) fn new(encoding: Encoding) -> Self {
        Self { encoding, clock: Clock::new(), body: Vec::new(), payload: Vec::new() }
    }

    /// How this connection's values travel.
    pub(crate) const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Takes the present time for what is written next.
    pub(crate) fn tick(&mut self) {
        self.clock.tick();
    }

    /// Appends the reply to the request `sn`.
    pub(crate) fn write_reply(&mut self, out: &mut Vec<u8>, sn: u64) {
        self.payload.clear();
        match self.encoding {
            Encoding::Json => {
                self.payload.extend_from_slice(br#"["Send",{"isSucc":true,"res":{"time":""#);
                self.payload.extend_from_slice(self.clock.iso());
                // Writing to a vector cannot fail.
                drop(write!(self.payload, "\"}}}},{sn}]"));
            }
            Encoding::Binary => {
                self.body.clear();
                varint::write(&mut self.body, 1);
                varint::write(&mut self.body, tag::REPLY_TIME);
                varint::write(&mut self.body, self.clock.millis());
                varint::write(&mut self.payload, 3);
                self.wrap_body(SEND_ID);
                varint::write(&mut self.payload, tag::OUTPUT_SN);
                varint::write(&mut self.payload, sn);
            }
        }
        frame::write_server_frame(out, self.encoding.opcode(), &self.payload);
    }

    /// Appends the message `Chat`.
    pub(crate) fn write_chat(&mut self, out: &mut Vec<u8>, content: &str) {
        self.payload.clear();
        match self.encoding {
            Encoding::Json => {
                self.payload.extend_from_slice(br#"["Chat",{"content":"#);
                // A string has no way to fail, nor has writing to a vector.
                drop(serde_json::to_writer(&mut self.payload, content));
                self.payload.extend_from_slice(br#","time":""#);
                self.payload.extend_from_slice(self.clock.iso());
                self.payload.extend_from_slice(br#""}]"#);
            }
            Encoding::Binary => {
                self.body.clear();
                varint::write(&mut self.body, 2);
                varint::write(&mut self.body, tag::CHAT_CONTENT);
                varint::write(&mut self.body, content.len() as u64);
                self.body.extend_from_slice(content.as_bytes());
                varint::write(&mut self.body, tag::CHAT_TIME);
                varint::write(&mut self.body, self.clock.millis());
                varint::write(&mut self.payload, 2);
                self.wrap_body(CHAT_ID);
            }
        }
        frame::write_server_frame(out, self.encoding.opcode(), &self.payload);
    }

    fn wrap_body(&mut self, service: u64) {
        varint::write(&mut self.payload, tag::OUTPUT_BODY);
        varint::write(&mut self.payload, self.body.len() as u64);
        self.payload.extend_from_slice(&self.body);
        varint::write(&mut self.payload, tag::OUTPUT_SERVICE);
        varint::write(&mut self.payload, service);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_call_of_send_is_refused() {
        for text in [
            r#"["Chat",{"content":"hi"},1]"#,
            r#"["Send",{},1]"#,
            r#"["Send",{"content":1},1]"#,
            r#"["Send",{"content":"hi"}]"#,
            "",
        ] {
            assert_eq!(Request::parse(Encoding::Json, text.as_bytes()), None, "{text}");
        }
        for bytes in [
            &b"\x03\x29\x00\x2c\x05\x01\x28\x02hi\x31\x01"[..],
            b"\x02\x29\x01\x2c\x05\x01\x28\x02hi",
            b"\x03\x29\x01\x2c\x05\x01\x28\x09hi\x31\x01",
            b"",
        ] {
            assert_eq!(Request::parse(Encoding::Binary, bytes), None, "{bytes:02x?}");
        }
    }

    #[test]
    fn content_is_escaped() {
        let request = Request::parse(Encoding::Json, br#"["Send",{"content":"\"\n"},1]"#).unwrap();
        assert_eq!(request.content, "\"\n");
        let mut out = Vec::new();
        Service::new(Encoding::Json).write_chat(&mut out, &request.content);
        let expected = br#"["Chat",{"content":"\"\n","time":"1970-01-01T00:00:00.000Z"}]"#;
        assert_eq!(&out[2..], expected);
    }
}
