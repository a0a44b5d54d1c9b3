//! The contract of TSRPC's published benchmark: API `Send` (`{content: string}` →
//! `{time: Date}`) and message `Chat` (`{content: string, time: Date}`), as bytes.
//!
//! Knows nothing of sockets. Written for the benchmark alone, so that what measures polywire
//! shares no code with it.

mod answers;
mod requests;
mod service;
mod varint;

pub(crate) use answers::{Answer, AnswerReader, BadAnswer};
pub(crate) use requests::RequestWriter;
pub(crate) use service::{Request, Service};

use crate::frame::Opcode;

/// How values travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// JSON in text frames.
    Json,
    /// TSBuffer in binary frames.
    Binary,
}

impl Encoding {
    /// Both, in the order of the tables.
    pub(crate) const ALL: [Self; 2] = [Self::Json, Self::Binary];

    /// The word in the names of scenarios.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Binary => "binary",
        }
    }

    /// The WebSocket subprotocol that a client offers for it.
    pub(crate) const fn subprotocol(self) -> &'static str {
        match self {
            Self::Json => "text",
            Self::Binary => "buffer",
        }
    }

    /// The kind of frame that carries it.
    pub(crate) const fn opcode(self) -> Opcode {
        match self {
            Self::Json => Opcode::Text,
            Self::Binary => Opcode::Binary,
        }
    }
}

/// What every request says. With a serial number of four digits the JSON request has 58 bytes.
pub(crate) const CONTENT: &str = "Good morning, is anyone there?";

/// The id of the message `Chat`.
const CHAT_ID: u64 = 0;
/// The id of the API `Send`.
const SEND_ID: u64 = 1;

/// Tags of TSBuffer blocks: `(property id + 10) << 2 | kind of length`.
mod tag {
    const fn tag(property: u64, kind: u64) -> u64 {
        (property + 10) << 2 | kind
    }
    const BYTES: u64 = 0;
    const VARINT: u64 = 1;

    pub(super) const INPUT_SERVICE: u64 = tag(0, VARINT);
    pub(super) const INPUT_BODY: u64 = tag(1, BYTES);
    pub(super) const INPUT_SN: u64 = tag(2, VARINT);

    pub(super) const OUTPUT_BODY: u64 = tag(0, BYTES);
    pub(super) const OUTPUT_SERVICE: u64 = tag(2, VARINT);
    pub(super) const OUTPUT_SN: u64 = tag(3, VARINT);

    pub(super) const SEND_CONTENT: u64 = tag(0, BYTES);
    pub(super) const REPLY_TIME: u64 = tag(0, VARINT);
    pub(super) const CHAT_CONTENT: u64 = tag(0, BYTES);
    pub(super) const CHAT_TIME: u64 = tag(1, VARINT);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Head, apply_mask};

    fn payload(frame: &[u8]) -> Vec<u8> {
        let head = Head::parse(frame).unwrap().unwrap();
        assert_eq!(head.frame_len(), frame.len());
        let mut payload = frame[head.head_len..].to_vec();
        if let Some(mask) = head.mask {
            apply_mask(&mut payload, mask);
        }
        payload
    }

    #[test]
    fn requests_have_the_published_form() {
        let write = |encoding| {
            let mut frame = Vec::new();
            RequestWriter::new(encoding).write(&mut frame, 1234);
            payload(&frame)
        };
        let json = write(Encoding::Json);
        assert_eq!(json, br#"["Send",{"content":"Good morning, is anyone there?"},1234]"#);
        assert_eq!(json.len(), 58);
        let mut binary = b"\x03\x29\x01\x2c\x21\x01\x28\x1e".to_vec();
        binary.extend_from_slice(CONTENT.as_bytes());
        binary.extend_from_slice(b"\x31\xd2\x09");
        assert_eq!(write(Encoding::Binary), binary);
    }

    #[test]
    fn what_the_service_writes_the_load_generator_accepts() {
        for encoding in Encoding::ALL {
            for sn in [1, 127, 128, 10_000, u64::from(u32::MAX)] {
                let mut frame = Vec::new();
                RequestWriter::new(encoding).write(&mut frame, sn);
                let request_bytes = payload(&frame);
                let request = Request::parse(encoding, &request_bytes).unwrap();
                assert_eq!((&*request.content, request.sn), (CONTENT, sn));

                let mut service = Service::new(encoding);
                let reader = AnswerReader::new(encoding);
                service.tick();
                let mut frame = Vec::new();
                service.write_reply(&mut frame, sn);
                assert_eq!(reader.read(&payload(&frame)), Ok(Answer::Reply { sn }));
                let mut frame = Vec::new();
                service.write_chat(&mut frame, &request.content);
                assert_eq!(reader.read(&payload(&frame)), Ok(Answer::Chat));
            }
        }
    }
}
