//! The transport vectors, byte for byte against our server: requests and
//! responses with their headers, frames, close codes and reasons.
//!
//! What the published clients send (`clientRequests`) is replayed against our
//! own client.

use std::time::Duration;

use polywire_net::Addr;
use polywire_server::{Server, ServiceProto};
use polywire_tests::{
    raw::{PATIENCE, Raw, Response},
    test_service,
    vectors::{Outcome, load, replay_all},
};
use serde_json::Value as Json;

use crate::mended::transport as mended;

const FILE: &str = "tsrpc-transport-vectors.json";

/// Headers that depend on the moment or on how a connection is kept, not on the answer.
const IGNORED: [&str; 4] = ["date", "connection", "keep-alive", "transfer-encoding"];

/// How long nothing must come where nothing is to come. Longer than the API timeout of the test servers.
const SILENCE: Duration = Duration::from_millis(600);

#[test]
fn http_requests_get_the_published_responses() {
    let Some(file) = load(FILE) else { return };
    replay_all("http", list(&file["http"]), |vector| run(http(&file, vector)));
}

#[test]
fn websocket_sessions_get_the_published_frames() {
    let Some(file) = load(FILE) else { return };
    replay_all("websocket", list(&file["websocket"]), |vector| run(websocket(&file, vector)));
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

fn run(check: impl Future<Output = Result<Outcome, String>>) -> Result<Outcome, String> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(check)
}

async fn start(file: &Json, name: &str) -> (Server, String) {
    let proto = ServiceProto::from_json(&file["serviceProto"].to_string()).expect("the proto of the vectors");
    let server = test_service::server(proto, test_service::options(name));
    let addresses = server.start("127.0.0.1:0").await.expect("a free port");
    let Some(Addr::Tcp(address)) = addresses.first() else { panic!("a TCP address") };
    (server, address.to_string())
}

fn same<T: PartialEq + std::fmt::Debug>(got: T, expected: T, what: &str) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("{what}: got {got:?}, expected {expected:?}")) }
}

fn bytes(json: &Json) -> Option<Vec<u8>> {
    let text = |key: &str| json[key].as_str();
    text("bodyText")
        .or(text("text"))
        .map(|text| text.as_bytes().to_vec())
        .or_else(|| text("bodyHex").or(text("hex")).map(unhex))
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex digits")).collect()
}

async fn http(file: &Json, vector: &Json) -> Result<Outcome, String> {
    let (server, address) = start(file, vector["server"].as_str().unwrap_or_default()).await;
    let request = &vector["request"];
    let text = |key: &str| request[key].as_str().unwrap_or_default();
    let mut head = format!("{} {} HTTP/1.1\r\nHost: {address}\r\n", text("method"), text("path"));
    for (name, value) in request["headers"].as_object().into_iter().flatten() {
        head += &format!("{name}: {}\r\n", value.as_str().unwrap_or_default());
    }
    let body = bytes(request).unwrap_or_default();
    if !body.is_empty() || request.get("bodyHex").or(request.get("bodyText")).is_some() {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    let mut raw = Raw::connect(&address).await;
    raw.write(format!("{head}\r\n").as_bytes()).await;
    raw.write(&body).await;
    let expected = &vector["response"];
    let outcome = if expected.is_null() {
        let got = raw.response(PATIENCE).await;
        mended::unanswered_http(got.as_ref())
    } else {
        let got = raw.response(PATIENCE).await.ok_or("no response")?;
        compare(&got, expected).map(|()| Outcome::AsPublished)
    };
    server.stop().await;
    outcome
}

fn compare(got: &Response, expected: &Json) -> Result<(), String> {
    same(Json::from(got.status), expected["status"].clone(), "status")?;
    let expected_headers: Vec<(String, String)> = expected["headers"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect();
    same(visible(&got.headers), visible(&expected_headers), "headers")?;
    if let Some(body) = bytes(expected) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        same(text(&got.body), text(&body), "body")?;
        same(&got.body, &body, "body")?;
    }
    Ok(())
}

/// The headers that a vector speaks of, in order. Names keep their case: some old peers look for it.
fn visible(headers: &[(String, String)]) -> Vec<(String, String)> {
    headers.iter().filter(|(name, _)| !IGNORED.contains(&name.to_ascii_lowercase().as_str())).cloned().collect()
}

async fn websocket(file: &Json, vector: &Json) -> Result<Outcome, String> {
    let (server, address) = start(file, vector["server"].as_str().unwrap_or_default()).await;
    let outcome = match order(vector) {
        // A vector whose steps name connections: they are opened first, then the server gets its order.
        Some(order) => ordered(&address, vector, &order).await,
        None => session(&address, vector).await,
    };
    server.stop().await;
    outcome
}

async fn session(address: &str, vector: &Json) -> Result<Outcome, String> {
    let mut raw = open(address, vector["offered"].as_str(), Some(vector)).await?;
    let steps = list(&vector["steps"]);
    for step in steps {
        send(&mut raw, &step["send"]).await;
        for expected in list(&step["recv"]) {
            let got = raw.frame(PATIENCE).await;
            same(got.map(describe), Some(expected.clone()), &format!("answer to {}", step["send"]))?;
        }
    }
    if steps.last().is_some_and(|step| list(&step["recv"]).is_empty()) {
        let got = raw.frame(SILENCE).await.map(describe);
        return mended::unanswered_frame(got.as_ref());
    }
    Ok(Outcome::AsPublished)
}

async fn open(address: &str, offered: Option<&str>, expected: Option<&Json>) -> Result<Raw, String> {
    let mut raw = Raw::connect(address).await;
    let response = raw.upgrade(offered.filter(|offered| *offered != "none")).await;
    same(response.status, 101, "status of the handshake")?;
    if let Some(expected) = expected {
        same(response.header("sec-websocket-protocol"), expected["negotiated"].as_str(), "subprotocol")?;
        let extensions = response.header("sec-websocket-extensions").is_some();
        same(Json::from(extensions), expected["extensions"].clone(), "extensions")?;
    }
    Ok(raw)
}

async fn send(raw: &mut Raw, frame: &Json) {
    let payload = bytes(frame).unwrap_or_default();
    let opcode = match frame["opcode"].as_u64() {
        Some(opcode) => opcode as u8,
        None if frame.get("text").is_some() => 1,
        None => 2,
    };
    raw.send_frame(opcode, &payload).await;
}

/// A frame as the vectors write it.
fn describe((opcode, payload): (u8, Vec<u8>)) -> Json {
    let hex: String = payload.iter().map(|byte| format!("{byte:02x}")).collect();
    match opcode {
        1 => serde_json::json!({ "text": String::from_utf8_lossy(&payload) }),
        2 => serde_json::json!({ "hex": hex }),
        8 => {
            let code = payload.get(..2).map_or(1005, |code| u16::from_be_bytes([code[0], code[1]]));
            let reason = payload.get(2..).unwrap_or_default();
            serde_json::json!({ "close": code, "reason": String::from_utf8_lossy(reason) })
        }
        other => serde_json::json!({ "opcode": other, "hex": hex }),
    }
}

/// The order to the server that makes connections receive what they do without sending anything.
fn order(vector: &Json) -> Option<String> {
    let steps = list(&vector["steps"]);
    if !steps.iter().any(|step| step.get("connection").is_some()) {
        return None;
    }
    let received = || steps.iter().flat_map(|step| list(&step["recv"]));
    if received().any(|frame| frame.get("close").is_some()) {
        return Some("!stop".to_owned());
    }
    let message = received().find_map(|frame| serde_json::from_str::<Json>(frame["text"].as_str()?).ok())?;
    Some(format!("!broadcast {}", message[1]["content"].as_str()?))
}

async fn ordered(address: &str, vector: &Json, order: &str) -> Result<Outcome, String> {
    let mut connections = Vec::new();
    for step in list(&vector["steps"]) {
        connections.push((open(address, step["connection"].as_str(), None).await?, step));
    }
    let mut orders = open(address, Some("text"), None).await?;
    let content = serde_json::json!(["Chat", { "content": order, "time": "1970-01-01T00:00:00.000Z" }]);
    orders.send_frame(1, content.to_string().as_bytes()).await;
    for (raw, step) in &mut connections {
        for expected in list(&step["recv"]) {
            let got = raw.frame(PATIENCE).await;
            same(got.map(describe), Some(expected.clone()), &format!("on {}", step["connection"]))?;
        }
    }
    Ok(Outcome::AsPublished)
}
