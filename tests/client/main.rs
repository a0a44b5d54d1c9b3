//! Our client against the published npm servers, which `tests/interop/server.mjs` starts.
//!
//! A machine without Node or the packages is told so; see `polywire_tests::node`.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use polywire::{BufferKind, prelude::*};
use polywire_client::{Builder, CallOptions, HeartbeatOptions, Running, ServiceProto};
use polywire_tests::{
    node::{LineProcess, Need, available, program},
    raw::PATIENCE,
    vectors::load_own,
};
use serde_json::Value as Json;
use tokio::sync::mpsc;

/// The published servers, as a process.
struct Peer {
    process: LineProcess,
    ready: Json,
    proto: ServiceProto,
}

/// Starts them, unless the machine lacks what they need.
fn peer(test: &str) -> Option<Peer> {
    if !available(Need::Node, test) {
        return None;
    }
    let mut process = LineProcess::start(&mut program("server.mjs"));
    let line = process.read();
    let ready = line.strip_prefix("ready ").and_then(|json| serde_json::from_str(json).ok());
    let ready = ready.unwrap_or_else(|| panic!("not ready but {line}"));
    let proto = load_own("tsrpc-transport-vectors.json")["serviceProto"].to_string();
    let proto = ServiceProto::from_json(&proto).expect("the proto of the vectors");
    Some(Peer { process, ready, proto })
}

#[derive(Debug)]
enum Peered {
    WebSocket(WsClient),
    Http(HttpClient),
}

impl Peered {
    fn call(&self, name: &str, request: Value) -> Running<Value> {
        self.call_with(name, request, CallOptions::default())
    }

    fn call_with(&self, name: &str, request: Value, options: CallOptions) -> Running<Value> {
        match self {
            Self::WebSocket(client) => client.call_named_with(name, request, options),
            Self::Http(client) => client.call_named_with(name, request, options),
        }
    }
}

impl Peer {
    fn builder(&self, wire: &str, json: bool) -> Builder {
        let url = self.ready[wire].as_str().expect("a URL");
        Client::builder(url).proto(self.proto.clone()).json(json)
    }

    async fn connected(&self, json: bool) -> WsClient {
        let client = self.builder("ws", json).websocket().expect("a client");
        client.connect().await.expect("the server listens");
        client
    }

    /// A client of every kind.
    async fn clients(&self) -> Vec<Peered> {
        let mut clients = Vec::new();
        for json in [false, true] {
            clients.push(Peered::WebSocket(self.connected(json).await));
            clients.push(Peered::Http(self.builder("http", json).http().expect("a client")));
        }
        clients
    }
}

fn value<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(entries.into_iter().collect())
}

fn chat(content: &str) -> Value {
    value([("content", content.into()), ("time", Value::Date(0.0))])
}

/// The whole error as JSON, which is what a caller in JavaScript sees.
fn error(result: Result<Value, ApiError>) -> String {
    let error = result.expect_err("a failure").to_value();
    error.to_json().expect("no cycle").expect("an object")
}

async fn soon<T>(event: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, event).await.expect("it comes soon")
}

/// What a client hears: contents of `Chat`.
fn listen(client: &WsClient) -> mpsc::UnboundedReceiver<String> {
    let (tell, told) = mpsc::unbounded_channel();
    client.on_message_named("Chat", move |_, message: Value| {
        let content = message.get("content").and_then(Value::as_str).unwrap_or_default().to_owned();
        // The test may have heard enough.
        let _ = tell.send(content);
        async {}
    });
    told
}

#[tokio::test]
async fn every_api_answers() {
    let Some(peer) = peer("every_api_answers") else { return };
    for client in peer.clients().await {
        let sum = soon(client.call("Add", value([("a", 1.0.into()), ("b", 2.0.into())]))).await;
        assert_eq!(sum, Ok(value([("sum", 3.0.into())])), "{client:?}");

        let list = vec![value([("id", 1.0.into()), ("name", "é\u{1F600}".into())]), value([("id", 2.0.into())])];
        let everything = value([
            ("s", "text".into()),
            ("u", 300.0.into()),
            ("i", (-7.0).into()),
            ("d", Value::Date(1.6e12)),
            ("buf", Value::Buffer(BufferKind::Uint8Array, vec![0u8, 1, 255].into())),
            ("any", value([("x", vec![Value::Null, true.into()].into())])),
            ("list", list.into()),
            ("tag", Value::Null),
        ]);
        assert_eq!(soon(client.call("Echo", everything.clone())).await, Ok(everything), "{client:?}");
        assert_eq!(soon(client.call("Slow", value([("ms", 20.0.into())]))).await, Ok(value([])), "{client:?}");
    }
}

#[tokio::test]
async fn every_error_arrives_whole() {
    let Some(peer) = peer("every_error_arrives_whole") else { return };
    let internal = |inner: &str| {
        format!(
            r#"{{"message":"Internal Server Error","type":"ServerError","code":"INTERNAL_ERR","innerErr":"{inner}"}}"#
        )
    };
    let mode = |mode: &str| ("Err", value([("mode", mode.into())]));
    let login = value([("username", "u".into()), ("password", "p".into())]);
    let cases = [
        (mode("api"), r#"{"message":"bad thing","type":"ApiError"}"#.to_owned()),
        (mode("code"), r#"{"message":"bad thing","type":"ApiError","code":"E_CODE"}"#.to_owned()),
        (mode("intcode"), r#"{"message":"bad thing","type":"ApiError","code":-5}"#.to_owned()),
        (mode("throw"), internal("boom")),
        (
            mode("throwTsrpc"),
            r#"{"message":"tboom","type":"ApiError","code":"T","foo":{"x":1},"d":"1970-01-01T00:00:00.000Z"}"#.to_owned(),
        ),
        (mode("badres"), internal("Property `ok`: Expected type to be `boolean`, actually `string`.")),
        (
            ("Slow", value([("ms", 1000.0.into())])),
            r#"{"message":"Server Timeout","type":"ServerError","code":"SERVER_TIMEOUT"}"#.to_owned(),
        ),
        (
            ("user/Login", login),
            r#"{"message":"Unhandled API: user/Login","type":"ServerError","code":"UNHANDLED_API"}"#.to_owned(),
        ),
        (
            ("Nope", Value::Null),
            r#"{"message":"Invalid api name: Nope","type":"ClientError","code":"INVALID_API_NAME"}"#.to_owned(),
        ),
        (
            ("Add", value([("a", "1".into()), ("b", 2.0.into())])),
            r#"{"message":"Property `a`: Expected type to be `number`, actually `string`.","type":"ClientError","code":"INPUT_DATA_ERR"}"#.to_owned(),
        ),
    ];
    for client in peer.clients().await {
        for ((name, request), expected) in &cases {
            assert_eq!(error(soon(client.call(name, request.clone())).await), *expected, "{name} by {client:?}");
        }
        for mode in ["extra", "twice"] {
            let response = soon(client.call("Err", value([("mode", mode.into())]))).await;
            assert_eq!(response, Ok(value([("ok", true.into())])), "{mode} by {client:?}");
        }
    }
}

#[tokio::test]
async fn a_call_that_is_never_answered_times_out() {
    let Some(peer) = peer("a_call_that_is_never_answered_times_out") else { return };
    for client in peer.clients().await {
        let options = CallOptions { timeout: Some(Duration::from_millis(50)), ..CallOptions::default() };
        let began = Instant::now();
        let late = soon(client.call_with("Err", value([("mode", "none".into())]), options)).await;
        assert_eq!(
            error(late),
            r#"{"message":"Request Timeout","type":"NetworkError","code":"TIMEOUT"}"#,
            "{client:?}"
        );
        assert!(began.elapsed() >= Duration::from_millis(50));
        let sum = soon(client.call("Add", value([("a", 1.0.into()), ("b", 2.0.into())]))).await;
        assert_eq!(sum, Ok(value([("sum", 3.0.into())])), "and life goes on: {client:?}");
    }
}

#[tokio::test]
async fn messages_travel_both_ways() {
    let Some(mut peer) = peer("messages_travel_both_ways") else { return };
    let mut heard = Vec::new();
    let mut clients = Vec::new();
    for json in [false, true] {
        let client = peer.connected(json).await;
        let mut told = listen(&client);
        client.send_named("Chat", &chat("hello")).await.expect("sent");
        assert_eq!(soon(told.recv()).await.as_deref(), Some("got Chat"));
        client.send_named("user/Join", &value([("uid", 7.0.into())])).await.expect("sent");
        assert_eq!(soon(told.recv()).await.as_deref(), Some("got user/Join"));
        heard.push(told);
        clients.push(client);
        let http = peer.builder("http", json).http().expect("a client");
        soon(http.send_named("Chat", &chat("hello"))).await.expect("accepted");
    }
    peer.process.send("!broadcast to all of you");
    for told in &mut heard {
        assert_eq!(soon(told.recv()).await.as_deref(), Some("to all of you"));
    }
    clients[0].send_named("Chat", &chat("!broadcast by one of you")).await.expect("sent");
    for told in &mut heard {
        assert_eq!(soon(told.recv()).await.as_deref(), Some("by one of you"));
    }
}

#[tokio::test]
async fn heartbeats_are_answered() {
    let Some(peer) = peer("heartbeats_are_answered") else { return };
    for json in [false, true] {
        let heartbeat = HeartbeatOptions { interval: Duration::from_millis(5), timeout: PATIENCE };
        let builder = peer.builder("ws", json).options(|options| options.heartbeat = Some(heartbeat));
        let client = builder.websocket().expect("a client");
        client.connect().await.expect("the server listens");
        soon(async {
            while client.latency().is_none() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        // Answered behind the ping, and the connection lives on.
        let sum = soon(client.call_named("Add", value([("a", 1.0.into()), ("b", 2.0.into())]))).await;
        assert_eq!(sum, Ok(value([("sum", 3.0.into())])));
    }
}

#[tokio::test]
async fn the_server_ends_connections_and_calls_say_why() {
    let Some(mut peer) = peer("the_server_ends_connections_and_calls_say_why") else { return };
    let lost = |reason: &str| format!(r#"{{"message":"{reason}","type":"NetworkError","code":"LOST_CONN"}}"#);
    for json in [false, true] {
        for (order, reason) in [
            ("!close 1000 enough", "enough"),
            ("!close 4321 other reasons", "other reasons"),
            ("!close 1000 ", "Lost connection to server"),
        ] {
            let client = peer.connected(json).await;
            let (tell, mut ended) = mpsc::unbounded_channel();
            client.flows().post_disconnect.push(move |end: polywire_client::Disconnected| {
                tell.send((end.reason.clone(), end.is_manual)).expect("the test listens");
                async { end }
            });
            let call = tokio::spawn(client.call_named("Err", value([("mode", "none".into())])));
            tokio::task::yield_now().await;
            client.send_named("Chat", &chat(order)).await.expect("sent");
            assert_eq!(error(soon(call).await.expect("no panic")), lost(reason), "{order}");
            let known = Some(reason.to_owned()).filter(|reason| reason != "Lost connection to server");
            assert_eq!(soon(ended.recv()).await, Some((known, false)), "{order}");
            client.connect().await.expect("connected again");
            soon(client.disconnect()).await;
            assert_eq!(soon(ended.recv()).await.map(|(_, is_manual)| is_manual), Some(true));
        }
    }
    let client = peer.connected(false).await;
    let call = tokio::spawn(client.call_named("Err", value([("mode", "none".into())])));
    soon(client.call_named("Add", value([("a", 1.0.into()), ("b", 2.0.into())]))).await.expect("an answer");
    peer.process.send("!stop");
    assert_eq!(error(soon(call).await.expect("no panic")), lost("Server stopped"));
}
