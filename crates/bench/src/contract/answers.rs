//! What servers send, and whether it is right.
//!
//! Invariant: an answer is accepted only if every field of the contract is there and has the
//! right type, `Chat` with the very content that was sent.

use serde_json::Value;

use super::{CHAT_ID, CONTENT, Encoding, SEND_ID, tag, varint};
use crate::clock::{ISO_LEN, is_iso_date};

/// A right frame from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The success of the request with this serial number.
    Reply {
        /// The serial number of the request.
        sn: u64,
    },
    /// A broadcast of what was sent.
    Chat,
}

/// A frame that breaks the contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server sent neither a good reply nor a `Chat`: {0}")]
pub(crate) struct BadAnswer(String);

/// The latest time that a JavaScript `Date` can hold, in milliseconds.
const LATEST_DATE: u64 = 8_640_000_000_000_000;

const JSON_REPLY: &[u8] = br#"["Send",{"isSucc":true,"res":{"time":""#;

/// Checks the frames of one encoding.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    encoding: Encoding,
    json_chat: Vec<u8>,
}

impl AnswerReader {
    /// A reader for one encoding.
    pub(crate) fn new(encoding: Encoding) -> Self {
        Self { encoding, json_chat: format!(r#"["Chat",{{"content":"{CONTENT}","time":""#).into_bytes() }
    }

    /// Reads the payload of one frame.
    ///
    /// # Errors
    /// [`BadAnswer`] with the payload, for people.
    pub(crate) fn read(&self, payload: &[u8]) -> Result<Answer, BadAnswer> {
        let answer = match self.encoding {
            Encoding::Json => self.json_as_published(payload).or_else(|| json(payload)),
            Encoding::Binary => binary(payload),
        };
        answer.ok_or_else(|| BadAnswer(payload.escape_ascii().to_string()))
    }

    /// The bytes that TSRPC writes. Hot: costs the load generator a fraction of a JSON parser.
    fn json_as_published(&self, payload: &[u8]) -> Option<Answer> {
        let date_then = |rest: &[u8], then: &[u8]| -> Option<usize> {
            let (date, rest) = rest.split_at_checked(ISO_LEN)?;
            (is_iso_date(date) && rest.starts_with(then)).then_some(ISO_LEN + then.len())
        };
        if let Some(rest) = payload.strip_prefix(JSON_REPLY) {
            let digits = rest[date_then(rest, br#""}},"#)?..].strip_suffix(b"]")?;
            return Some(Answer::Reply { sn: decimal(digits)? });
        }
        let rest = payload.strip_prefix(&*self.json_chat)?;
        let end = date_then(rest, br#""}]"#)?;
        (end == rest.len()).then_some(Answer::Chat)
    }
}

/// Any JSON of the same meaning: other key orders, white space, escapes.
fn json(payload: &[u8]) -> Option<Answer> {
    let frame: Vec<Value> = serde_json::from_slice(payload).ok()?;
    let has_date = |value: &Value| value["time"].as_str().is_some_and(|time| is_iso_date(time.as_bytes()));
    match &*frame {
        [name, reply, sn] if name == "Send" => {
            let succeeded = reply["isSucc"] == true && has_date(&reply["res"]);
            let sn = sn.as_u64()?;
            succeeded.then_some(Answer::Reply { sn })
        }
        [name, chat] if name == "Chat" => (chat["content"] == CONTENT && has_date(chat)).then_some(Answer::Chat),
        _ => None,
    }
}

fn binary(mut payload: &[u8]) -> Option<Answer> {
    let (mut body, mut service, mut sn) = (None, None, None);
    for _ in 0..varint::read(&mut payload)? {
        match varint::read(&mut payload)? {
            tag::OUTPUT_BODY => body = Some(varint::read_bytes(&mut payload)?),
            tag::OUTPUT_SERVICE => service = Some(varint::read(&mut payload)?),
            tag::OUTPUT_SN => sn = Some(varint::read(&mut payload)?),
            _ => return None,
        }
    }
    if !payload.is_empty() {
        return None;
    }
    match (service?, sn) {
        (SEND_ID, Some(sn)) => is_reply(body?).then_some(Answer::Reply { sn }),
        (CHAT_ID, None) => is_chat(body?).then_some(Answer::Chat),
        _ => None,
    }
}

fn is_reply(mut body: &[u8]) -> bool {
    let head = (varint::read(&mut body), varint::read(&mut body));
    let time = varint::read(&mut body);
    head == (Some(1), Some(tag::REPLY_TIME)) && is_date(time) && body.is_empty()
}

fn is_chat(mut body: &[u8]) -> bool {
    let (mut content, mut time) = (None, None);
    for _ in 0..varint::read(&mut body).unwrap_or(0) {
        match varint::read(&mut body) {
            Some(tag::CHAT_CONTENT) => content = varint::read_bytes(&mut body),
            Some(tag::CHAT_TIME) => time = varint::read(&mut body),
            _ => return false,
        }
    }
    content == Some(CONTENT.as_bytes()) && is_date(time) && body.is_empty()
}

fn is_date(millis: Option<u64>) -> bool {
    millis.is_some_and(|millis| millis <= LATEST_DATE)
}

fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "2026-01-02T03:04:05.678Z";

    fn check_json(text: &str, expected: Option<Answer>) {
        let text = text.replace("DATE", DATE).replace("CONTENT", CONTENT);
        let answer = AnswerReader::new(Encoding::Json).read(text.as_bytes());
        assert_eq!(answer.ok(), expected, "{text}");
    }

    #[test]
    fn json_is_read_by_its_meaning() {
        let reply = Some(Answer::Reply { sn: 17 });
        check_json(r#"["Send",{"isSucc":true,"res":{"time":"DATE"}},17]"#, reply);
        check_json(r#"[ "Send", {"res": {"time": "DATE"}, "isSucc": true}, 17 ]"#, reply);
        let chat = Some(Answer::Chat);
        check_json(r#"["Chat",{"content":"CONTENT","time":"DATE"}]"#, chat);
        check_json(r#"["Chat",{"time":"DATE","content":"CONTENT"}]"#, chat);
    }

    #[test]
    fn json_that_breaks_the_contract_is_refused() {
        for text in [
            r#"["Send",{"isSucc":false,"err":{"message":"no","type":"ApiError"}},17]"#,
            r#"["Send",{"isSucc":true,"res":{"time":"yesterday"}},17]"#,
            r#"["Send",{"isSucc":true,"res":{}},17]"#,
            r#"["Send",{"isSucc":true,"res":{"time":"DATE"}}]"#,
            r#"["Send",{"isSucc":true,"res":{"time":"DATE"}},-1]"#,
            r#"["Send",{"isSucc":true,"res":{"time":"DATE"}},17"#,
            r#"["Chat",{"content":"something else","time":"DATE"}]"#,
            r#"["Chat",{"content":"CONTENT"}]"#,
            r#"["Chat",{"content":"CONTENT","time":"DATE"}]["Chat"]"#,
            r#"["Chat",{"content":"CONTENT","time":"DATE"},3]"#,
            "",
        ] {
            check_json(text, None);
        }
    }

    fn check_binary(bytes: &[u8], expected: Option<Answer>) {
        let answer = AnswerReader::new(Encoding::Binary).read(bytes);
        assert_eq!(answer.ok(), expected, "{bytes:02x?}");
    }

    #[test]
    fn binary_is_read_by_its_meaning() {
        let body = b"\x01\x29\xe4\xc8\xf3\xc4\xb7\x33";
        let reply = [b"\x03\x28\x08", &body[..], b"\x31\x01\x35\x11"].concat();
        check_binary(&reply, Some(Answer::Reply { sn: 17 }));
        let chat = [b"\x02\x28\x28\x02\x28\x1e", CONTENT.as_bytes(), b"\x2d\xe4\xc8\xf3\xc4\xb7\x33\x31\x00"].concat();
        check_binary(&chat, Some(Answer::Chat));
        for end in 0..reply.len() {
            check_binary(&reply[..end], None);
        }
        for end in 0..chat.len() {
            check_binary(&chat[..end], None);
        }
    }

    #[test]
    fn binary_that_breaks_the_contract_is_refused() {
        let error = b"\x03\x2f\x02\x28\x09bad thing\x2d\x03\x31\x01\x35\x02";
        for bytes in [
            &error[..],
            b"\x02\x28\x03\x01\x29\x00\x31\x01",
            b"\x03\x28\x03\x01\x29\x00\x31\x05\x35\x11",
            b"\x03\x28\x03\x01\x28\x00\x31\x01\x35\x11",
            b"\x03\x28\x04\x01\x29\x00\x00\x31\x01\x35\x11",
            b"\x02\x28\x07\x02\x28\x02hi\x2d\x00\x31\x00",
            b"\x00",
            b"",
        ] {
            check_binary(bytes, None);
        }
    }
}
