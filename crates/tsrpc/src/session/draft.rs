//! Writing a frame around a body whose length nobody knows yet.
//!
//! Depends on the envelopes. Invariant: a draft that is not finished leaves
//! the buffer as it was.

use polywire_schema::write_integer;
use polywire_tsbuffer::binary::{Placeholder, write_varint};

use crate::{
    ApiError, DataType, Service, Sn,
    envelope::{tag, write_error_block},
    text::write_error,
};

/// A frame or HTTP body that is being written at the end of a buffer.
///
/// The body is written in place between begin and [`finish`](Self::finish):
/// nothing is copied (binary bodies of 128 bytes and more are moved by one to
/// nine bytes) and nothing allocated beyond the growth of the buffer. A draft
/// that is dropped unfinished takes back what it wrote, so an encoder can just
/// return its error.
///
/// ```
/// use polywire_schema::Program;
/// use polywire_tsrpc::{DataType, Draft, ServiceMap, ServiceProto, Sn};
///
/// let proto = ServiceProto::from_json(
///     "{services: [{id: 1, name: 'Add', type: 'api'}],
///       types: {'PtlAdd/ReqAdd': {type: 'Interface'}, 'PtlAdd/ResAdd': {type: 'Interface'}}}",
/// )?;
/// let services = ServiceMap::new(&proto, &Program::compile(&proto.types, &Default::default()))?;
/// let add = services.api("Add").expect("an API of the proto");
///
/// let mut out = Vec::new();
/// let mut reply = Draft::reply(&mut out, DataType::Text, add, &Sn::Number(7));
/// reply.body().extend_from_slice(b"{}");
/// reply.finish();
/// assert_eq!(out, br#"["Add",{"isSucc":true,"res":{}},7]"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Draft<'a> {
    out: &'a mut Vec<u8>,
    /// Where the frame begins.
    start: usize,
    /// Where the body begins.
    body: usize,
    /// What is to follow the body; none once it has been written.
    end: Option<End<'a>>,
}

#[derive(Debug)]
enum End<'a> {
    /// `}`, and what closes the frame of a reply.
    TextReply(&'a Sn),
    /// `]`.
    TextMessage,
    /// `,<sn>]`.
    TextRequest(u64),
    /// Nothing.
    Bare,
    /// The length of the body, the service id and serial number of an output.
    Output(Placeholder, Address),
    /// The length of the body and the serial number of an input.
    Input(Placeholder, Option<u64>),
}

/// Whom a binary output is for.
#[derive(Debug, Clone, Copy)]
struct Address {
    service: Option<u32>,
    sn: Option<u64>,
}

impl<'a> Draft<'a> {
    /// Begins a server's answer. Write the response into [`body`](Self::body). Hot.
    ///
    /// Without a serial number (HTTP) the text form is the bare `{"isSucc":true,"res":…}`.
    pub fn reply(out: &'a mut Vec<u8>, data_type: DataType, service: &Service, sn: &'a Sn) -> Self {
        let start = out.len();
        let end = match data_type {
            DataType::Text => {
                begin_text_reply(out, service, sn);
                out.extend_from_slice(SUCCESS);
                End::TextReply(sn)
            }
            DataType::Buffer => begin_output(out, Address::of(service, sn)),
        };
        Self::new(out, start, end)
    }

    /// Begins a message to a peer over a long connection, from either side. Hot.
    pub fn message(out: &'a mut Vec<u8>, data_type: DataType, service: &Service, sender: Sender) -> Self {
        let start = out.len();
        let end = match (data_type, sender) {
            (DataType::Text, _) => {
                out.extend_from_slice(&service.text_head);
                End::TextMessage
            }
            (DataType::Buffer, Sender::Server) => begin_output(out, Address { service: Some(service.id.0), sn: None }),
            (DataType::Buffer, Sender::Client) => return Self::input(out, service, None),
        };
        Self::new(out, start, end)
    }

    /// Begins a client's call over a long connection. Hot.
    pub fn request(out: &'a mut Vec<u8>, data_type: DataType, service: &Service, sn: u64) -> Self {
        match data_type {
            DataType::Text => {
                let start = out.len();
                out.extend_from_slice(&service.text_head);
                Self::new(out, start, End::TextRequest(sn))
            }
            DataType::Buffer => Self::input(out, service, Some(sn)),
        }
    }

    /// Begins the body of a client's HTTP request, a call or a message.
    pub fn http_request(out: &'a mut Vec<u8>, data_type: DataType, service: &Service) -> Self {
        match data_type {
            DataType::Text => {
                let start = out.len();
                Self::new(out, start, End::Bare)
            }
            DataType::Buffer => Self::input(out, service, None),
        }
    }

    fn input(out: &'a mut Vec<u8>, service: &Service, sn: Option<u64>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[2 + u8::from(sn.is_some()), tag::INPUT_SERVICE]);
        write_varint(out, service.id.0.into());
        out.push(tag::INPUT_BODY);
        let length = Placeholder::reserve(out);
        Self::new(out, start, End::Input(length, sn))
    }

    fn new(out: &'a mut Vec<u8>, start: usize, end: End<'a>) -> Self {
        let body = out.len();
        Self { out, start, body, end: Some(end) }
    }

    /// Where the body goes: append to it, and leave alone what is there.
    ///
    /// A text body that stays empty stands for `undefined`, as `JSON.stringify` treats it.
    pub fn body(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Writes what follows the body. Hot.
    pub fn finish(mut self) {
        let Some(end) = self.end.take() else { return };
        let out = &mut *self.out;
        match end {
            End::TextReply(sn) => {
                if out.len() == self.body {
                    out.truncate(self.body - RES.len());
                }
                out.push(b'}');
                end_text_reply(out, sn);
            }
            End::TextMessage => {
                write_if_empty(out, self.body, b"null");
                out.push(b']');
            }
            End::TextRequest(sn) => {
                write_if_empty(out, self.body, b"null");
                out.push(b',');
                write_sn(out, sn);
                out.push(b']');
            }
            End::Bare => {}
            End::Output(length, address) => {
                length.fill_length(out);
                address.write(out);
            }
            End::Input(length, sn) => {
                length.fill_length(out);
                if let Some(sn) = sn {
                    out.push(tag::INPUT_SN);
                    write_varint(out, sn);
                }
            }
        }
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if self.end.is_some() {
            self.out.truncate(self.start);
        }
    }
}

/// Which end of the connection sends: binary messages differ in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// The server.
    Server,
    /// The client.
    Client,
}

/// Writes the answer that a call failed.
pub fn write_error_reply(out: &mut Vec<u8>, data_type: DataType, service: &Service, sn: &Sn, error: &ApiError) {
    match data_type {
        DataType::Text => {
            begin_text_reply(out, service, sn);
            write_error(out, error);
            end_text_reply(out, sn);
        }
        DataType::Buffer => {
            let address = Address::of(service, sn);
            out.push(address.blocks() + 1);
            write_error_block(out, error);
            address.write(out);
        }
    }
}

/// Writes an error that belongs to no service: the answer to input that could not be read, over HTTP.
pub fn write_bare_error(out: &mut Vec<u8>, data_type: DataType, error: &ApiError) {
    match data_type {
        DataType::Text => write_error(out, error),
        DataType::Buffer => {
            out.push(1);
            write_error_block(out, error);
        }
    }
}

const SUCCESS: &[u8] = br#"{"isSucc":true,"res":"#;
/// The end of [`SUCCESS`], which goes where the response is `undefined`.
const RES: &[u8] = br#","res":"#;

impl Address {
    fn of(service: &Service, sn: &Sn) -> Self {
        Self { service: sn.is_some().then_some(service.id.0), sn: sn.number() }
    }

    /// How many blocks it takes.
    fn blocks(self) -> u8 {
        u8::from(self.service.is_some()) + u8::from(self.sn.is_some())
    }

    fn write(self, out: &mut Vec<u8>) {
        if let Some(service) = self.service {
            out.push(tag::OUTPUT_SERVICE);
            write_varint(out, service.into());
        }
        if let Some(sn) = self.sn {
            out.push(tag::OUTPUT_SN);
            write_varint(out, sn);
        }
    }
}

fn begin_output<'a>(out: &mut Vec<u8>, address: Address) -> End<'a> {
    out.extend_from_slice(&[address.blocks() + 1, tag::OUTPUT_BODY]);
    End::Output(Placeholder::reserve(out), address)
}

fn begin_text_reply(out: &mut Vec<u8>, service: &Service, sn: &Sn) {
    if !matches!(sn, Sn::None | Sn::Null) {
        out.extend_from_slice(&service.text_head);
    }
}

fn end_text_reply(out: &mut Vec<u8>, sn: &Sn) {
    match sn {
        Sn::None | Sn::Null => return,
        Sn::Number(sn) => {
            out.push(b',');
            write_sn(out, *sn);
        }
        Sn::Json(text) => {
            out.push(b',');
            out.extend_from_slice(text.as_bytes());
        }
    }
    out.push(b']');
}

fn write_if_empty(out: &mut Vec<u8>, body: usize, text: &[u8]) {
    if out.len() == body {
        out.extend_from_slice(text);
    }
}

fn write_sn(out: &mut Vec<u8>, sn: u64) {
    match i64::try_from(sn) {
        Ok(sn) => write_integer(out, sn),
        // Beyond what any JavaScript peer counts to.
        Err(_) => out.extend_from_slice(sn.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, testing::services};

    /// What a draft writes into a buffer that is not empty.
    fn written(draft: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = b"before".to_vec();
        draft(&mut out);
        assert!(out.starts_with(b"before"));
        out.split_off(6)
    }

    fn reply(data_type: DataType, sn: &Sn, body: &[u8]) -> Vec<u8> {
        let services = services();
        written(|out| {
            let mut draft = Draft::reply(out, data_type, services.api("Err").unwrap(), sn);
            draft.body().extend_from_slice(body);
            draft.finish();
        })
    }

    fn check(found: &[u8], expected: &[u8], what: impl std::fmt::Debug) {
        let (found, expected) = (found.escape_ascii().to_string(), expected.escape_ascii().to_string());
        assert_eq!(found, expected, "{what:?}");
    }

    #[test]
    fn a_reply_carries_back_what_the_call_came_with() {
        let json = Sn::Json(r#""abc""#.into());
        let cases: [(Sn, &str, &[u8]); 5] = [
            (Sn::None, r#"{"isSucc":true,"res":{"ok":true}}"#, b"\x01\x28\x02xy"),
            (Sn::Null, r#"{"isSucc":true,"res":{"ok":true}}"#, b"\x02\x28\x02xy\x31\x03"),
            (Sn::Number(0), r#"["Err",{"isSucc":true,"res":{"ok":true}},0]"#, b"\x03\x28\x02xy\x31\x03\x35\x00"),
            (
                Sn::Number(300),
                r#"["Err",{"isSucc":true,"res":{"ok":true}},300]"#,
                b"\x03\x28\x02xy\x31\x03\x35\xac\x02",
            ),
            (json, r#"["Err",{"isSucc":true,"res":{"ok":true}},"abc"]"#, b"\x02\x28\x02xy\x31\x03"),
        ];
        for (sn, text, binary) in cases {
            check(&reply(DataType::Text, &sn, br#"{"ok":true}"#), text.as_bytes(), &sn);
            check(&reply(DataType::Buffer, &sn, b"xy"), binary, &sn);
        }
    }

    #[test]
    fn a_body_of_any_length_gets_its_length_in_front() {
        for len in [0, 1, 127, 128, 16_383, 16_384, 100_000] {
            let body = vec![b'x'; len];
            let out = reply(DataType::Buffer, &Sn::Number(1), &body);
            let output = crate::parse_output(&out, Default::default()).unwrap();
            assert_eq!(output.body, Some(&*body), "{len}");
            assert_eq!((output.service_id, output.sn), (Some(3), Some(1)), "{len}");
        }
    }

    #[test]
    fn an_empty_text_body_stands_for_undefined() {
        let services = services();
        check(&reply(DataType::Text, &Sn::Number(1), b""), br#"["Err",{"isSucc":true},1]"#, "reply");
        check(&reply(DataType::Text, &Sn::None, b""), br#"{"isSucc":true}"#, "bare reply");
        let message = services.message("Chat").unwrap();
        let out = written(|out| Draft::message(out, DataType::Text, message, Sender::Server).finish());
        check(&out, br#"["Chat",null]"#, "message");
        let out = written(|out| Draft::request(out, DataType::Text, services.api("Add").unwrap(), 1).finish());
        check(&out, br#"["Add",null,1]"#, "request");
    }

    #[test]
    fn an_unfinished_draft_takes_back_what_it_wrote() {
        let services = services();
        let add = services.api("Add").unwrap();
        for data_type in [DataType::Text, DataType::Buffer] {
            let out = written(|out| {
                let mut draft = Draft::reply(out, data_type, add, &Sn::Number(1));
                draft.body().extend_from_slice(b"half of it");
            });
            check(&out, b"", data_type);
        }
    }

    #[test]
    fn messages_and_requests_have_the_published_bytes() {
        let services = services();
        let (chat, add) = (services.message("Chat").unwrap(), services.api("Add").unwrap());
        let message = |data_type, sender| {
            written(|out| {
                let mut draft = Draft::message(out, data_type, chat, sender);
                draft.body().extend_from_slice(b"{}");
                draft.finish();
            })
        };
        let request = |data_type| {
            written(|out| {
                let mut draft = Draft::request(out, data_type, add, 200);
                draft.body().extend_from_slice(b"{}");
                draft.finish();
            })
        };
        let http = |data_type| {
            written(|out| {
                let mut draft = Draft::http_request(out, data_type, add);
                draft.body().extend_from_slice(b"{}");
                draft.finish();
            })
        };
        check(&message(DataType::Text, Sender::Server), br#"["Chat",{}]"#, "server message");
        check(&message(DataType::Text, Sender::Client), br#"["Chat",{}]"#, "client message");
        check(&message(DataType::Buffer, Sender::Server), b"\x02\x28\x02{}\x31\x00", "server message");
        check(&message(DataType::Buffer, Sender::Client), b"\x02\x29\x00\x2c\x02{}", "client message");
        check(&request(DataType::Text), br#"["Add",{},200]"#, "request");
        check(&request(DataType::Buffer), b"\x03\x29\x01\x2c\x02{}\x31\xc8\x01", "request");
        check(&http(DataType::Text), b"{}", "HTTP request");
        check(&http(DataType::Buffer), b"\x02\x29\x01\x2c\x02{}", "HTTP request");
    }

    #[test]
    fn an_error_is_addressed_as_a_reply_is() {
        let services = services();
        let error = ApiError::new("no").kind(ErrorKind::Server);
        let write = |data_type, sn: &Sn| {
            written(|out| write_error_reply(out, data_type, services.api("Err").unwrap(), sn, &error))
        };
        let text = br#"{"isSucc":false,"err":{"message":"no","type":"ServerError"}}"#;
        let block = b"\x2f\x02\x28\x02no\x2d\x01";
        check(&write(DataType::Text, &Sn::None), text, "text");
        check(&write(DataType::Text, &Sn::Number(4)), &[br#"["Err","#, &text[..], b",4]"].concat(), "text, sn");
        check(&write(DataType::Buffer, &Sn::None), &[b"\x01", &block[..]].concat(), "binary");
        check(
            &write(DataType::Buffer, &Sn::Number(4)),
            &[b"\x03", &block[..], b"\x31\x03\x35\x04"].concat(),
            "binary, sn",
        );
        check(&written(|out| write_bare_error(out, DataType::Text, &error)), text, "bare text");
        check(&written(|out| write_bare_error(out, DataType::Buffer, &error)), &[b"\x01", &block[..]].concat(), "bare");
    }
}
