//! Limits at their edges: n is accepted, n + 1 refused with a clear answer.

use std::time::Duration;

use polywire_server::{Limits, ServerOptions, SlowReader};
use polywire_tests::raw::Raw;

use crate::support::{hear, options, post, say, server, start, text};

fn with_limits(change: impl FnOnce(&mut Limits)) -> ServerOptions {
    let mut options = options();
    change(&mut options.limits);
    options
}

#[tokio::test]
async fn a_frame_of_the_limit_passes_and_one_byte_more_closes_with_1009() {
    let call = r#"["Echo",{"s":"x"},1]"#;
    let server = server(with_limits(|limits| limits.frame = call.len()));
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, call).await;
    assert_eq!(hear(&mut raw).await, r#"["Echo",{"isSucc":true,"res":{"s":"x"}},1]"#);
    say(&mut raw, r#"["Echo",{"s":"xx"},1]"#).await;
    let close = hear(&mut raw).await;
    assert!(close.starts_with("close 1009 "), "{close}");
    server.stop().await;
}

#[tokio::test]
async fn a_body_of_the_limit_passes_and_one_byte_more_is_413() {
    let body = r#"{"a":1,"b":2}"#;
    let server = server(with_limits(|limits| limits.body = body.len()));
    let address = start(&server).await;
    assert_eq!(post(&address, "/Add", body).await.expect("an answer").status, 200);
    assert_eq!(post(&address, "/Add", &format!("{body} ")).await.expect("an answer").status, 413);
    server.stop().await;
}

#[tokio::test]
async fn connections_beyond_the_limit_are_refused() {
    let server = server(with_limits(|limits| limits.connections = 1));
    let address = start(&server).await;
    let first = text(&address).await;
    let mut second = Raw::connect(&address).await;
    second.write(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n").await;
    assert_eq!(hear(&mut second).await, "end");
    drop(first);
    server.stop().await;
}

#[tokio::test]
async fn a_slow_reader_is_disconnected_or_misses_messages_but_never_grows_the_queue() {
    for (policy, stays) in [(SlowReader::Disconnect, false), (SlowReader::DropNewest, true)] {
        let mut options = with_limits(|limits| limits.outbound = 64 << 10);
        options.slow_reader = policy;
        let server = server(options);
        let address = start(&server).await;
        let mut raw = text(&address).await;
        raw.send_frame(9, b"ready").await;
        assert_eq!(hear(&mut raw).await, "ready");
        let content = "x".repeat(16 << 10);
        let chat = [("content", content.as_str().into()), ("time", polywire_schema::Value::Date(0.0))];
        let chat = polywire_schema::Value::Object(chat.into_iter().collect());
        // The peer reads nothing: what the sockets do not take stays in the queue, which is full soon.
        for _ in 0..4096 {
            let sent = server.broadcast_named("Chat", &chat).expect("a valid message");
            if sent == 0 {
                break;
            }
            tokio::task::yield_now().await;
        }
        let conn = server.connections().into_iter().next();
        let is_open = conn.is_some_and(|conn| conn.status() == polywire_server::ConnStatus::Open);
        assert_eq!(is_open, stays, "{policy:?}");
        drop(raw);
        server.stop().await;
    }
}

#[tokio::test]
async fn a_message_that_begins_and_never_ends_closes_the_connection() {
    let server = server(with_limits(|limits| limits.message_time = Duration::from_millis(100)));
    let address = start(&server).await;
    let frame = polywire_tests::raw::client_frame(1, br#"["Add",{"a":1,"b":2},1]"#);
    let first_fragment = [&[0x01], &frame[1..]].concat();
    // Half a header, half a payload, a message without its last fragment.
    for begun in [&frame[..1], &frame[..10], &first_fragment] {
        let mut raw = text(&address).await;
        raw.write(&frame).await;
        assert_eq!(hear(&mut raw).await, r#"["Add",{"isSucc":true,"res":{"sum":3}},1]"#);
        raw.write(begun).await;
        assert_eq!(hear(&mut raw).await, "close 1008 The message took too long");
    }
    server.stop().await;
}

#[tokio::test]
async fn messages_that_take_their_time_one_after_the_other_do_not_add_up() {
    let server = server(with_limits(|limits| limits.message_time = Duration::from_secs(2)));
    let address = start(&server).await;
    let mut raw = text(&address).await;
    let frame = polywire_tests::raw::client_frame(1, br#"["Add",{"a":1,"b":2},1]"#);
    // Each write ends one message and begins the next: the connection is never between messages.
    raw.write(&frame[..10]).await;
    let begun = tokio::time::Instant::now();
    while begun.elapsed() < Duration::from_millis(4500) {
        raw.write(&[&frame[10..], &frame[..10]].concat()).await;
        assert_eq!(hear(&mut raw).await, r#"["Add",{"isSucc":true,"res":{"sum":3}},1]"#);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_408() {
    let server = server(with_limits(|limits| limits.message_time = Duration::from_millis(50)));
    let address = start(&server).await;
    let mut raw = Raw::connect(&address).await;
    raw.write(b"POST /Add HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"a")
        .await;
    assert_eq!(raw.response(crate::support::PATIENCE).await.expect("an answer").status, 408);
    server.stop().await;
}

#[tokio::test]
async fn a_peer_that_writes_all_of_a_refused_body_first_reads_the_refusal() {
    use tokio::io::AsyncWriteExt;

    let server = server(with_limits(|limits| limits.body = 1 << 20));
    let address = start(&server).await;
    let mut stream = tokio::net::TcpStream::connect(&address).await.expect("the server listens");
    let length = 16 << 20;
    let head = format!("POST /Add HTTP/1.1\r\nHost: test\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("room");
    stream.write_all(&vec![b' '; length]).await.expect("the server hears it out");
    let mut raw = Raw::from(stream);
    assert_eq!(raw.response(crate::support::PATIENCE).await.expect("an answer").status, 413);
    server.stop().await;
}
