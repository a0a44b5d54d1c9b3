//! The driver and its link against a scripted peer in memory, by a clock that stands still.

use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use polywire_net::{
    Stream,
    ws::{self, CloseCode, Decoder, Event, Opcode, Role},
};
use polywire_schema::Value;
use polywire_tsrpc::{ApiError, HeartbeatOptions, ServiceProto};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{WsClient, WsStatus, connect::start};
use crate::{CallOptions, Client, ClientOptions, Disconnected, SocketData};

const PROTO: &str = "{services: [{id: 0, name: 'Chat', type: 'msg'}, {id: 1, name: 'Add', type: 'api'}],
    types: {
        'MsgChat/MsgChat': {type: 'Interface', properties: [{id: 0, name: 'content', type: {type: 'String'}}]},
        'PtlAdd/ReqAdd': {type: 'Interface', properties: [
            {id: 0, name: 'a', type: {type: 'Number'}}, {id: 1, name: 'b', type: {type: 'Number'}}]},
        'PtlAdd/ResAdd': {type: 'Interface', properties: [{id: 0, name: 'sum', type: {type: 'Number'}}]}}}";

/// What the peer sees.
#[derive(Debug, PartialEq)]
enum Seen {
    Text(String),
    Binary(Vec<u8>),
    Close(u16, String),
    Gone,
}

fn text(text: &str) -> Seen {
    Seen::Text(text.to_owned())
}

/// The server's end of a connection.
struct Peer {
    stream: Stream,
    decoder: Decoder,
    read: Vec<u8>,
}

impl Peer {
    async fn see(&mut self) -> Seen {
        loop {
            let mut read = std::mem::take(&mut self.read);
            let mut bytes = &mut read[..];
            let seen = match self.decoder.decode(&mut bytes).expect("the client keeps the protocol") {
                Some(Event::Text(text)) => Some(Seen::Text(text.to_owned())),
                Some(Event::Binary(bytes)) => Some(Seen::Binary(bytes.to_vec())),
                Some(Event::Close { code, reason }) => Some(Seen::Close(code.0, reason.to_owned())),
                _ => None,
            };
            self.read = bytes.to_vec();
            if let Some(seen) = seen {
                return seen;
            }
            let mut more = [0; 4096];
            match self.stream.read(&mut more).await {
                Ok(0) | Err(_) => return Seen::Gone,
                Ok(count) => self.read.extend_from_slice(&more[..count]),
            }
        }
    }

    async fn say(&mut self, text: &str) {
        self.frame(Opcode::Text, text.as_bytes()).await;
    }

    async fn frame(&mut self, opcode: Opcode, payload: &[u8]) {
        let mut out = Vec::new();
        ws::put_frame(&mut out, opcode, payload);
        self.stream.write_all(&out).await.expect("the client listens");
    }

    async fn close(&mut self, code: u16, reason: &str) {
        let mut out = Vec::new();
        ws::put_close(&mut out, CloseCode(code), reason);
        self.stream.write_all(&out).await.expect("the client listens");
    }
}

/// A JSON client that is connected to a peer.
fn connected(change: impl FnOnce(&mut ClientOptions)) -> (WsClient, Peer) {
    let proto = ServiceProto::from_json(PROTO).expect("a proto");
    let client = Client::builder("ws://peer").proto(proto).json(true).options(change).websocket().expect("a client");
    let (ours, theirs) = Stream::memory(64 << 10);
    start(&client.shared, ours, &[], None);
    let decoder = Decoder::new(Role::Server, ws::Limits::default());
    (client, Peer { stream: theirs, decoder, read: Vec::new() })
}

fn add(a: f64) -> Value {
    Value::Object([("a", Value::Number(a)), ("b", Value::Number(2.0))].into_iter().collect())
}

fn sum(response: Result<Value, ApiError>) -> f64 {
    response.expect("an answer").get("sum").and_then(Value::as_number).expect("a number")
}

/// `message / code` of an error.
fn failure(response: Result<Value, ApiError>) -> String {
    let error = response.expect_err("no answer");
    let code = error.code.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    format!("{} / {code}", error.message)
}

/// How a connection of this client ends.
fn watch_end(client: &WsClient) -> Arc<Mutex<Vec<String>>> {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&ends);
    client.flows().post_disconnect.push(move |end: Disconnected| {
        seen.lock().expect("nobody panics").push(format!("{:?} manual={}", end.reason, end.is_manual));
        async move { end }
    });
    ends
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_fails_and_its_late_answer_finds_nobody() {
    let (client, mut peer) = connected(|_| {});
    let began = tokio::time::Instant::now();
    assert_eq!(failure(client.call_named("Add", add(1.0)).await), "Request Timeout / TIMEOUT");
    assert_eq!(began.elapsed().as_secs(), 15);
    let options = CallOptions { timeout: Some(Duration::from_secs(1)), ..CallOptions::default() };
    assert_eq!(failure(client.call_named_with("Add", add(1.0), options).await), "Request Timeout / TIMEOUT");
    assert_eq!(began.elapsed().as_secs(), 16);

    assert_eq!(peer.see().await, text(r#"["Add",{"a":1,"b":2},1]"#));
    assert_eq!(peer.see().await, text(r#"["Add",{"a":1,"b":2},2]"#));
    peer.say(r#"["Add",{"isSucc":true,"res":{"sum":99}},1]"#).await;
    let call = tokio::spawn(client.call_named("Add", add(3.0)));
    assert_eq!(peer.see().await, text(r#"["Add",{"a":3,"b":2},3]"#));
    peer.say(r#"["Add",{"isSucc":true,"res":{"sum":5}},3]"#).await;
    assert_eq!(sum(call.await.expect("no panic")), 5.0);
}

#[tokio::test(start_paused = true)]
async fn answers_come_in_any_order_and_in_any_form() {
    let cases = [
        (r#"["Add",{"isSucc":true,"res":{"sum":7}},1]"#, "sum 7"),
        (r#" [ "Add" , {"res":{"sum":7},"isSucc":true} , 1 ]"#, "sum 7"),
        // A guess cuts this wrong; the whole frame says what it means.
        (r#"["Add",{"isSucc":true,"res":{"sum":7},"x":{}},1]"#, "sum 7"),
        (r#"["Add",{"isSucc":false,"err":{"message":"no","type":"ApiError","code":5}},1]"#, "no / 5"),
        (r#"["Add",{"isSucc":true,"res":{"sum":"7"}},1]"#, "Parse server output error / -"),
        (r#"["Add",{"isSucc":true},1]"#, "Parse server output error / -"),
    ];
    for (answer, expected) in cases {
        let (client, mut peer) = connected(|_| {});
        let first = tokio::spawn(client.call_named("Add", add(1.0)));
        peer.see().await;
        let second = tokio::spawn(client.call_named("Add", add(2.0)));
        peer.see().await;
        peer.say(r#"["Add",{"isSucc":true,"res":{"sum":4}},2]"#).await;
        assert_eq!(sum(second.await.expect("no panic")), 4.0);
        peer.say("what is no frame").await;
        peer.say(answer).await;
        let found = match first.await.expect("no panic") {
            Ok(response) => format!("sum {}", sum(Ok(response))),
            Err(error) => failure(Err(error)),
        };
        assert_eq!(found, expected, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_fails_when_the_connection_ends() {
    // How the peer ends it; what the calls get; what the hook sees.
    let lost = "Lost connection to server / LOST_CONN";
    let cases = [
        (Some((1000, "Server stopped")), "Server stopped / LOST_CONN", r#"Some("Server stopped") manual=false"#),
        (Some((1012, "")), lost, "None manual=false"),
        (None, lost, "None manual=false"),
    ];
    for (close, error, end) in cases {
        let (client, mut peer) = connected(|_| {});
        let ends = watch_end(&client);
        let calls = [client.call_named("Add", add(1.0)), client.call_named("Add", add(2.0))].map(tokio::spawn);
        peer.see().await;
        peer.see().await;
        match close {
            Some((code, reason)) => {
                peer.close(code, reason).await;
                assert_eq!(peer.see().await, Seen::Close(code, String::new()), "the code is echoed");
                assert_eq!(peer.see().await, Seen::Gone);
            }
            None => drop(peer),
        }
        for call in calls {
            assert_eq!(failure(call.await.expect("no panic")), error);
        }
        assert_eq!(client.status(), WsStatus::Closed);
        assert_eq!(*ends.lock().expect("nobody panics"), [end]);
        let later = client.call_named("Add", add(1.0)).await;
        assert_eq!(failure(later), "WebSocket is not connected / WS_NOT_OPEN");
    }
}

#[tokio::test(start_paused = true)]
async fn heartbeats_measure_the_way_and_notice_a_dead_connection() {
    let ms = Duration::from_millis;
    let heartbeat = HeartbeatOptions { interval: ms(1000), timeout: ms(500) };
    let (client, mut peer) = connected(|options| options.heartbeat = Some(heartbeat));
    let ends = watch_end(&client);
    assert_eq!(peer.see().await, Seen::Binary(vec![0]), "the first goes out at once");
    assert_eq!(client.latency(), None);
    tokio::time::advance(ms(20)).await;
    peer.frame(Opcode::Binary, &[0]).await;
    let answered = tokio::time::Instant::now();
    assert_eq!(peer.see().await, Seen::Binary(vec![0]));
    assert_eq!(client.latency(), Some(ms(20)));
    assert_eq!(answered.elapsed(), ms(1000));

    let call = tokio::spawn(client.call_named("Add", add(1.0)));
    assert_eq!(peer.see().await, text(r#"["Add",{"a":1,"b":2},1]"#));
    assert_eq!(peer.see().await, Seen::Close(3000, "Heartbeat timeout".to_owned()));
    assert_eq!(answered.elapsed(), ms(1500));
    assert_eq!(failure(call.await.expect("no panic")), "Heartbeat timeout / LOST_CONN");
    assert_eq!(*ends.lock().expect("nobody panics"), [r#"Some("Heartbeat timeout") manual=false"#]);
    assert_eq!(client.latency(), None);
}

#[tokio::test(start_paused = true)]
async fn disconnecting_waits_for_the_other_side_but_not_long() {
    let unanswered = "Connection closed, but not received ws.onClose event.";
    for answers in [true, false] {
        let (client, mut peer) = connected(|_| {});
        let ends = watch_end(&client);
        let call = tokio::spawn(client.call_named("Add", add(1.0)));
        peer.see().await;
        let began = tokio::time::Instant::now();
        let closing = client.clone();
        let closing = tokio::spawn(async move { closing.disconnect_with(4001, "enough").await });
        assert_eq!(peer.see().await, Seen::Close(4001, "enough".to_owned()));
        assert_eq!(client.status(), WsStatus::Closing);
        // Nothing follows a close frame, and nothing that comes now matters.
        let late = client.call_named("Add", add(1.0)).await;
        assert_eq!(failure(late), "WebSocket is not connected / WS_NOT_OPEN");
        peer.say(r#"["Add",{"isSucc":true,"res":{"sum":3}},1]"#).await;
        if answers {
            peer.close(4001, "enough").await;
        }
        closing.await.expect("no panic");
        let reason = if answers { "enough" } else { unanswered };
        assert_eq!(began.elapsed(), Duration::from_secs(u64::from(!answers)));
        assert_eq!(failure(call.await.expect("no panic")), format!("{reason} / LOST_CONN"));
        assert_eq!(*ends.lock().expect("nobody panics"), [format!("{:?} manual=true", Some(reason))]);
        assert_eq!(peer.see().await, Seen::Gone);
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_client_takes_the_connection_with_it() {
    let (client, mut peer) = connected(|_| {});
    let other = client.clone();
    drop(client);
    assert!(other.is_connected());
    drop(other);
    assert_eq!(peer.see().await, Seen::Close(1000, String::new()));
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_dropped_or_aborted_are_withdrawn() {
    let in_flight = |client: &WsClient| {
        let link = client.shared.place().link.clone().expect("connected");
        let state = link.lock();
        state.session.as_ref().expect("open").calls().len()
    };
    let (client, mut peer) = connected(|_| {});
    let keyed = |key: &str| CallOptions { abort_key: Some(key.to_owned()), ..CallOptions::default() };
    let handled = client.call_named("Add", add(1.0));
    let handle = handled.abort_handle();
    let handled = tokio::spawn(handled);
    let by_key = tokio::spawn(client.call_named_with("Add", add(2.0), keyed("k")));
    let with_all = tokio::spawn(client.call_named_with("Add", add(3.0), keyed("other")));
    let dropped = tokio::spawn(client.call_named("Add", add(4.0)));
    for _ in 0..4 {
        peer.see().await;
    }
    assert_eq!(in_flight(&client), 4);
    dropped.abort();
    assert!(dropped.await.is_err());
    assert_eq!(in_flight(&client), 3);
    assert!(handle.abort());
    assert!(!handle.abort(), "once is enough");
    assert_eq!(failure(handled.await.expect("no panic")), "Request cancelled / CANCELLED");
    assert_eq!(client.abort_key("k"), 1);
    assert_eq!(client.abort_key("k"), 0);
    assert_eq!(failure(by_key.await.expect("no panic")), "Request cancelled / CANCELLED");
    assert_eq!(client.abort_all(), 1);
    assert_eq!(failure(with_all.await.expect("no panic")), "Request cancelled / CANCELLED");
    assert_eq!(in_flight(&client), 0);
    assert_eq!(client.abort_all(), 0);
    // Before it was polled first.
    let unpolled = client.call_named("Add", add(5.0));
    assert_eq!(client.abort_all(), 1);
    assert_eq!(failure(unpolled.await), "Request cancelled / CANCELLED");
}

#[tokio::test(start_paused = true)]
async fn hooks_that_never_end_do_not_keep_a_call_from_ending() {
    let (client, _peer) = connected(|_| {});
    client.flows().pre_send_data.push(|_: SocketData| pending::<SocketData>());
    let began = tokio::time::Instant::now();
    assert_eq!(failure(client.call_named("Add", add(1.0)).await), "Request Timeout / TIMEOUT");
    assert_eq!(began.elapsed().as_secs(), 15);
}

#[tokio::test(start_paused = true)]
async fn what_breaks_its_type_is_not_sent_and_harms_nothing() {
    let (client, mut peer) = connected(|_| {});
    let refused =
        failure(client.call_named("Add", Value::Object([("a", Value::from("x"))].into_iter().collect())).await);
    assert!(refused.ends_with("/ INPUT_DATA_ERR"), "{refused}");
    let refused = client.send_named("Chat", &Value::Null).await.expect_err("no message");
    assert!(refused.has_code("ENCODE_MSG_ERR"), "{refused}");
    assert_eq!(failure(client.call_named("Nope", Value::Null).await), "Invalid api name: Nope / INVALID_API_NAME");
    let refused = client.send_named("Nope", &Value::Null).await.expect_err("no message");
    assert_eq!(failure(Err(refused)), "Invalid msg name: Nope / INVALID_MSG_NAME");
    let call = tokio::spawn(client.call_named("Add", add(1.0)));
    assert_eq!(peer.see().await, text(r#"["Add",{"a":1,"b":2},2]"#), "a number is used up, nothing else");
    peer.say(r#"["Add",{"isSucc":true,"res":{"sum":3}},2]"#).await;
    assert_eq!(sum(call.await.expect("no panic")), 3.0);
}

#[tokio::test(start_paused = true)]
async fn beyond_its_limits_a_client_refuses() {
    let (client, mut peer) = connected(|options| options.limits.calls_in_flight = 1);
    let first = tokio::spawn(client.call_named("Add", add(1.0)));
    peer.see().await;
    let refused = failure(client.call_named("Add", add(2.0)).await);
    assert_eq!(refused, "1 calls are in flight already, which is the limit; wait for one of them / -");
    peer.say(r#"["Add",{"isSucc":true,"res":{"sum":3}},1]"#).await;
    assert_eq!(sum(first.await.expect("no panic")), 3.0);

    let (client, _peer) = connected(|options| options.limits.outbound = 30);
    let chat = Value::Object([("content", Value::from("0123456789"))].into_iter().collect());
    client.send_named("Chat", &chat).await.expect("there is room");
    let refused = client.send_named("Chat", &chat).await.expect_err("no room");
    assert_eq!(failure(Err(refused)), "Too many bytes wait to be sent to the server / SEND_BUF_ERR");
}

#[test]
fn calls_outlive_the_runtime_that_their_connection_ran_on() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let first = runtime();
    let (client, mut peer) = first.block_on(async { connected(|_| {}) });
    let mut call = client.call_named("Add", add(1.0));
    first.block_on(async {
        tokio::select! {
            biased;
            _ = &mut call => panic!("nobody answered"),
            seen = peer.see() => assert_eq!(seen, text(r#"["Add",{"a":1,"b":2},1]"#)),
        }
    });
    drop(first);
    assert_eq!(client.status(), WsStatus::Closed);
    assert_eq!(failure(runtime().block_on(call)), "Lost connection to server / LOST_CONN");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_pings_and_never_reads_fills_no_memory() {
    let (client, mut peer) = connected(|options| options.limits.outbound = 1 << 10);
    for _ in 0..10_000 {
        peer.frame(Opcode::Ping, &[7; 125]).await;
    }
    let (seen, sees) = tokio::sync::oneshot::channel();
    let seen = Mutex::new(Some(seen));
    client.on_message_named("Chat", move |_, _: Value| {
        seen.lock().expect("nobody panics").take().map(|seen| seen.send(()));
        async {}
    });
    peer.say(r#"["Chat",{"content":"all are read"}]"#).await;
    sees.await.expect("the message is seen");
    let link = client.shared.place().link.clone().expect("connected");
    let waiting = link.lock().out.len();
    assert!(waiting < 2 << 10, "{waiting} bytes wait");
}
