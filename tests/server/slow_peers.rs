//! Peers that read late or never, and handlers that take their time: nothing
//! hangs, nothing piles up, and what was held back goes on.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use polywire_schema::Value;
use polywire_server::{Call, Dynamic, Msg, Reply, Server, ServerOptions, SlowReader};
use polywire_tests::raw::Raw;
use tokio::sync::Semaphore;

use crate::support::{PATIENCE, hear, options, proto, say, server, start, text};

const ADD: &str = r#"["Add",{"a":1,"b":2},1]"#;
const SUM: &str = r#"["Add",{"isSucc":true,"res":{"sum":3}},1]"#;

/// Waits for what is about to happen.
async fn until(what: &str, happened: impl Fn() -> bool) {
    let wait = async {
        while !happened() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, wait).await.is_ok(), "not within {PATIENCE:?}: {what}");
}

/// Chat messages that fill all buffers between the server and a peer that does not read.
fn stuff(server: &Server) {
    let content = "x".repeat(1 << 20);
    let chat = [("content", Value::from(content.as_str())), ("time", Value::Date(0.0))];
    let chat = Value::Object(chat.into_iter().collect());
    for _ in 0..7 {
        server.broadcast_named("Chat", &chat).expect("a valid message");
    }
}

#[tokio::test]
async fn an_answer_larger_than_the_sockets_hold_does_not_end_the_reading() {
    let mut options = options();
    options.limits.outbound = 1 << 20;
    let server = server(options);
    let address = start(&server).await;
    let mut raw = text(&address).await;
    let text = "x".repeat(15 << 20);
    for round in 0..3 {
        say(&mut raw, &format!(r#"["Echo",{{"s":"{text}"}},{round}]"#)).await;
        assert!(hear(&mut raw).await.ends_with(&format!("\"}}}},{round}]")), "round {round}");
        say(&mut raw, ADD).await;
        assert_eq!(hear(&mut raw).await, SUM, "round {round}");
    }
    server.stop().await;
}

#[tokio::test]
async fn many_large_answers_at_once_are_no_reason_to_let_a_reading_peer_go() {
    // At once: in one turn of the connection, or when all handlers that wait go on together.
    for waits in [false, true] {
        let (go, gate) = tokio::sync::watch::channel(!waits);
        let mut options = options();
        options.limits.outbound = 1 << 20;
        let server = Server::with_options(options).proto(proto()).api_named("Echo", move |_: Call<Dynamic>| {
            let mut gate = gate.clone();
            async move {
                // Ready at once where the gate is open.
                gate.wait_for(|open| *open).await.expect("the test lives");
                let text = Value::from("x".repeat(100 << 10).as_str());
                Reply::Ok(Dynamic(Value::Object([("s", text)].into_iter().collect())))
            }
        });
        let address = start(&server).await;
        let mut raw = text(&address).await;
        let calls = if waits { 30 } else { 300 };
        let frames: Vec<u8> = (0..calls)
            .flat_map(|sn| polywire_tests::raw::client_frame(1, format!(r#"["Echo",{{}},{sn}]"#).as_bytes()))
            .collect();
        raw.write(&frames).await;
        if waits {
            until("all handlers wait", || server.running_calls() == calls).await;
            go.send_replace(true);
        }
        let mut answered = std::collections::BTreeSet::new();
        while answered.len() < calls {
            let answer = hear(&mut raw).await;
            let sn = answer.rsplit(',').next().and_then(|end| end.trim_end_matches(']').parse::<usize>().ok());
            assert!(answer.starts_with(r#"["Echo",{"isSucc":true"#), "{}", &answer[..answer.len().min(80)]);
            assert!(answered.insert(sn.expect("a serial number")));
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn a_peer_that_never_reads_is_let_go_after_a_close() {
    type End = fn(&Server) -> &'static [u8];
    let closed_by_us: End = |server| {
        server.connections().iter().for_each(|conn| conn.close("enough"));
        b""
    };
    let closed_by_the_peer: End = |_| b"\x03\xe8";
    for end in [closed_by_us, closed_by_the_peer] {
        let server = server(options());
        let address = start(&server).await;
        let mut raw = text(&address).await;
        raw.send_frame(9, b"ready").await;
        assert_eq!(hear(&mut raw).await, "ready");
        stuff(&server);
        let payload = end(&server);
        if !payload.is_empty() {
            raw.send_frame(8, payload).await;
        }
        until("the connection is let go", || server.connection_count() == 0).await;
        drop(raw);
        server.stop().await;
    }
}

/// A server whose handlers of `Chat` wait for a permit, and how many have begun.
fn patient_server(limit: usize) -> (Server, Arc<AtomicUsize>, Arc<Semaphore>) {
    let mut options = options();
    options.limits.calls_in_flight = limit;
    let begun = Arc::new(AtomicUsize::new(0));
    let gate = Arc::new(Semaphore::new(0));
    let (counted, waited) = (Arc::clone(&begun), Arc::clone(&gate));
    let server = Server::with_options(options).proto(proto()).on_message_named("Chat", move |_: Msg<Dynamic>| {
        counted.fetch_add(1, Ordering::SeqCst);
        let gate = Arc::clone(&waited);
        async move { gate.acquire().await.expect("the gate stays").forget() }
    });
    (server, begun, gate)
}

#[tokio::test]
async fn waiting_handlers_of_messages_count_as_work_in_flight_and_the_rest_waits_its_turn() {
    let (server, begun, gate) = patient_server(3);
    let address = start(&server).await;
    let mut raw = text(&address).await;
    let one = polywire_tests::raw::client_frame(1, br#"["Chat",{"content":"x","time":"1970-01-01T00:00:00.000Z"}]"#);
    // All in one write, so that one read of the server holds more than the limit.
    raw.write(&one.repeat(8)).await;
    raw.send_frame(9, b"all").await;
    until("three handlers begin", || begun.load(Ordering::SeqCst) == 3).await;
    for done in 1..=5 {
        gate.add_permits(1);
        until("the next handler begins", || begun.load(Ordering::SeqCst) == 3 + done).await;
    }
    gate.add_permits(3);
    assert_eq!(hear(&mut raw).await, "all");
    assert_eq!(begun.load(Ordering::SeqCst), 8);
    server.stop().await;
}

#[tokio::test]
async fn one_connection_at_its_limit_does_not_hold_up_another() {
    let (server, begun, gate) = patient_server(1);
    let address = start(&server).await;
    let (mut first, mut second): (Raw, Raw) = (text(&address).await, text(&address).await);
    let message = r#"["Chat",{"content":"x","time":"1970-01-01T00:00:00.000Z"}]"#;
    say(&mut first, message).await;
    until("the first begins", || begun.load(Ordering::SeqCst) == 1).await;
    say(&mut second, message).await;
    until("the second begins", || begun.load(Ordering::SeqCst) == 2).await;
    gate.add_permits(2);
    server.stop().await;
}

/// A server whose `Echo` answers with 16 KiB, whatever it is asked, when the gate lets it.
fn generous(policy: SlowReader, gate: Option<Arc<Semaphore>>) -> Server {
    let mut options = ServerOptions { slow_reader: policy, ..options() };
    options.limits.outbound = 1 << 20;
    Server::with_options(options).proto(proto()).api_named("Echo", move |_: Call<Dynamic>| {
        let gate = gate.clone();
        async move {
            if let Some(gate) = gate {
                gate.acquire().await.expect("the gate stays").forget();
            }
            let text = "x".repeat(16 << 10);
            Reply::Ok(Dynamic(Value::Object([("s", Value::from(text.as_str()))].into_iter().collect())))
        }
    })
}

/// Many small calls in one write; every answer must come.
async fn ask_much(raw: &mut Raw, count: usize) {
    let calls: Vec<u8> = (1..=count)
        .flat_map(|sn| polywire_tests::raw::client_frame(1, format!(r#"["Echo",{{}},{sn}]"#).as_bytes()))
        .collect();
    raw.write(&calls).await;
}

async fn hear_all(raw: &mut Raw, count: usize) {
    for sn in 1..=count {
        let answer = hear(raw).await;
        assert!(answer.starts_with(r#"["Echo",{"isSucc":true"#), "answer {sn}: {}", &answer[..answer.len().min(100)]);
    }
}

#[tokio::test]
async fn small_calls_with_large_answers_are_not_taken_for_a_slow_reader() {
    for policy in [SlowReader::Disconnect, SlowReader::DropNewest] {
        let server = generous(policy, None);
        let address = start(&server).await;
        let mut raw = text(&address).await;
        ask_much(&mut raw, 200).await;
        hear_all(&mut raw, 200).await;
        server.stop().await;
    }
}

#[tokio::test]
async fn where_messages_are_left_out_answers_are_not() {
    let gate = Arc::new(Semaphore::new(0));
    let server = generous(SlowReader::DropNewest, Some(Arc::clone(&gate)));
    let address = start(&server).await;
    let mut raw = text(&address).await;
    ask_much(&mut raw, 200).await;
    until("all calls wait", || server.running_calls() == 200).await;
    gate.add_permits(200);
    hear_all(&mut raw, 200).await;
    server.stop().await;
}
