//! What the published clients sent (`clientRequests` of the transport vectors)
//! against what ours sends for the same calls and messages.
//!
//! What a client did is read back from what it sent, so that vectors need no
//! more than that. Heads are compared in what they say about the content:
//! request line, content type, content length.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use polywire_client::{Client, HeartbeatOptions, ServiceProto};
use polywire_net::ws::{Decoder, Event, Limits, Role};
use polywire_schema::{CompileOptions, Program, Value};
use polywire_tests::{
    notation::from_hex,
    test_service,
    vectors::{Outcome, load, replay_all},
};
use polywire_tsbuffer::{TsBuffer, TsBufferOptions};
use polywire_tsrpc::{HEARTBEAT, Service, ServiceKind, ServiceMap, parse_input};
use serde_json::Value as Json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

#[test]
fn our_client_sends_what_the_published_ones_send() {
    let Some(file) = load("tsrpc-transport-vectors.json") else { return };
    let proto = ServiceProto::from_json(&file["serviceProto"].to_string()).expect("the proto of the vectors");
    let vectors = file["clientRequests"].as_array().map_or(&[][..], Vec::as_slice);
    let contract = Contract::new(proto);
    replay_all("client requests", vectors, |vector| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(contract.check(vector)).map(|()| Outcome::AsPublished)
    });
}

/// Something that a client did.
struct Act {
    kind: ServiceKind,
    name: String,
    value: Value,
}

struct Contract {
    proto: ServiceProto,
    services: ServiceMap,
    buffer: TsBuffer,
}

impl Contract {
    fn new(proto: ServiceProto) -> Self {
        let program = Arc::new(Program::compile(&proto.types, &CompileOptions::default()));
        let services = ServiceMap::new(&proto, &program).expect("services that fit together");
        Self { proto, services, buffer: TsBuffer::new(program, TsBufferOptions::default()) }
    }

    async fn check(&self, vector: &Json) -> Result<(), String> {
        match vector["frames"].as_array() {
            Some(frames) => self.check_frames(frames).await,
            None => self.check_request(vector).await,
        }
    }

    async fn check_request(&self, vector: &Json) -> Result<(), String> {
        let head: Vec<&str> = vector["head"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let target = head.first().and_then(|line| line.split(' ').nth(1)).ok_or("no request line")?;
        let (json, body, act) = match vector["bodyText"].as_str() {
            Some(text) => (true, text.as_bytes().to_vec(), self.of_path(target, text)?),
            None => {
                let body = from_hex(vector["bodyHex"].as_str().ok_or("no body")?);
                (false, body.clone(), self.of_binary(&body)?)
            }
        };
        let server = Recorded::start(&self.proto).await;
        let client = Client::builder(format!("http://{}", server.address)).proto(self.proto.clone()).json(json);
        let client = client.http().map_err(|error| error.to_string())?;
        // What the server answers is another matter.
        match act.kind {
            ServiceKind::Api => drop(client.call_named(&act.name, act.value).await),
            ServiceKind::Message => drop(client.send_named(&act.name, &act.value).await),
        }
        let sent = server.sent();
        let (sent_head, sent_body) = cut(&sent).ok_or("no whole request was sent")?;
        let said = |head: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            head.enumerate()
                .filter(|(at, line)| *at == 0 || is_content(line))
                .map(|(_, line)| line.to_owned())
                .collect()
        };
        let (mut ours, mut theirs) = (said(&mut sent_head.split("\r\n")), said(&mut head.iter().copied()));
        ours[1..].sort();
        theirs[1..].sort();
        same(ours, theirs, "head")?;
        same(sent_body.escape_ascii().to_string(), body.escape_ascii().to_string(), "body")
    }

    async fn check_frames(&self, frames: &[Json]) -> Result<(), String> {
        let expected: Vec<Frame> = frames.iter().map(Frame::of).collect::<Result<_, _>>()?;
        let json = expected.iter().any(|frame| matches!(frame, Frame::Text(_)));
        let pings = expected.contains(&Frame::Binary(HEARTBEAT.to_vec()));
        let server = Recorded::start(&self.proto).await;
        let client = Client::builder(format!("ws://{}", server.address)).proto(self.proto.clone()).json(json);
        // One ping only, however long this takes.
        let hour = Duration::from_secs(3600);
        let heartbeat = pings.then_some(HeartbeatOptions { interval: hour, timeout: hour });
        let client = client.options(|options| options.heartbeat = heartbeat).websocket();
        let client = client.map_err(|error| error.to_string())?;
        client.connect().await.map_err(|error| error.to_string())?;
        for frame in &expected {
            let act = match frame {
                Frame::Binary(bytes) if bytes == HEARTBEAT => continue,
                Frame::Binary(bytes) => self.of_binary(bytes)?,
                Frame::Text(text) => self.of_text(text)?,
            };
            match act.kind {
                ServiceKind::Api => drop(client.call_named(&act.name, act.value).await),
                ServiceKind::Message => {
                    client.send_named(&act.name, &act.value).await.map_err(|error| error.to_string())?;
                }
            }
        }
        client.disconnect().await;
        let sent = server.sent();
        let (_, frames) = cut(&sent).ok_or("no handshake was sent")?;
        same(decode(frames)?, expected, "frames")
    }

    fn act(&self, service: &Service, value: Result<Value, String>) -> Result<Act, String> {
        Ok(Act { kind: service.kind(), name: service.name.to_string(), value: value? })
    }

    fn of_binary(&self, frame: &[u8]) -> Result<Act, String> {
        let input = parse_input(frame, Default::default()).map_err(|error| error.to_string())?;
        let service = self.services.by_id(input.service_id).ok_or("an unknown service")?;
        let value = self.buffer.decode(service.input(), input.body);
        self.act(service, value.map_err(|error| error.to_string()))
    }

    fn of_path(&self, target: &str, body: &str) -> Result<Act, String> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let kind = if query == "type=msg" { ServiceKind::Message } else { ServiceKind::Api };
        let value = Value::parse_json(body.as_bytes()).map_err(|error| error.to_string())?;
        self.of_json(kind, path.trim_start_matches('/'), value)
    }

    fn of_text(&self, frame: &str) -> Result<Act, String> {
        let parsed = Value::parse_json(frame.as_bytes()).map_err(|error| error.to_string())?;
        let parts = parsed.as_array().ok_or("no array")?;
        let kind = if parts.len() == 3 { ServiceKind::Api } else { ServiceKind::Message };
        let name = parts.first().and_then(Value::as_str).ok_or("no name")?;
        self.of_json(kind, name, parts.get(1).cloned().unwrap_or_default())
    }

    fn of_json(&self, kind: ServiceKind, name: &str, json: Value) -> Result<Act, String> {
        let service = self.services.by_name(kind, name.as_bytes()).ok_or("an unknown service")?;
        let value = self.buffer.decode_json(service.input(), json);
        self.act(service, value.map_err(|error| error.to_string()))
    }
}

#[derive(Debug, PartialEq)]
enum Frame {
    Text(String),
    Binary(Vec<u8>),
}

impl Frame {
    fn of(json: &Json) -> Result<Self, String> {
        match (json["text"].as_str(), json["hex"].as_str()) {
            (Some(text), _) => Ok(Self::Text(text.to_owned())),
            (None, Some(hex)) => Ok(Self::Binary(from_hex(hex))),
            _ => Err(format!("{json} is no frame")),
        }
    }
}

/// The frames of a client, without its close frame.
fn decode(bytes: &[u8]) -> Result<Vec<Frame>, String> {
    let mut decoder = Decoder::new(Role::Server, Limits::default());
    let mut bytes = bytes.to_vec();
    let mut rest = &mut bytes[..];
    let mut frames = Vec::new();
    while let Some(event) = decoder.decode(&mut rest).map_err(|error| error.to_string())? {
        match event {
            Event::Text(text) => frames.push(Frame::Text(text.to_owned())),
            Event::Binary(bytes) => frames.push(Frame::Binary(bytes.to_vec())),
            _ => {}
        }
    }
    Ok(frames)
}

/// A head and what follows it.
fn cut(sent: &[u8]) -> Option<(String, &[u8])> {
    let end = sent.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some((String::from_utf8_lossy(&sent[..end]).into_owned(), &sent[end + 4..]))
}

fn is_content(line: &str) -> bool {
    line.starts_with("Content-")
}

fn same<T: PartialEq + std::fmt::Debug>(got: T, expected: T, what: &str) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("{what}: got {got:?}, expected {expected:?}")) }
}

/// Our server of the test service behind a proxy that writes down what its client sends.
struct Recorded {
    address: String,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Recorded {
    async fn start(proto: &ServiceProto) -> Self {
        let server = test_service::server(proto.clone(), test_service::options("json:true"));
        let behind = server.start("127.0.0.1:0").await.expect("a free port");
        let behind = behind.first().expect("an address").to_string();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let recording = Arc::clone(&sent);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&behind).await.expect("the server listens");
                tokio::spawn(record(client, server, Arc::clone(&recording)));
            }
        });
        Self { address, sent }
    }

    fn sent(&self) -> Vec<u8> {
        self.sent.lock().expect("nobody panics").clone()
    }
}

async fn record(client: TcpStream, server: TcpStream, recording: Arc<Mutex<Vec<u8>>>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from_client.read(&mut bytes).await {
        recording.lock().expect("nobody panics").extend_from_slice(&bytes[..count]);
        if to_server.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
