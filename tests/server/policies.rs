//! What an application decides in the place of the published rules.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use polywire_server::{ApiError, InputVerdict};
use polywire_tests::raw::Raw;

use crate::support::{hear, options, post, say, server, start, text};

const ADD: &str = r#"["Add",{"a":1,"b":2},1]"#;
const SUM: &str = r#"["Add",{"isSucc":true,"res":{"sum":3}},1]"#;

#[tokio::test]
async fn whoever_is_not_let_in_is_answered_401() {
    let server = server(options())
        .verify_client(|head, ip| head.uri.query() == Some("let-me-in") && ip.is_some_and(|ip| ip.is_loopback()));
    let address = start(&server).await;
    for (path, status) in [("/?let-me-in", 101), ("/", 401)] {
        let mut raw = Raw::connect(&address).await;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        raw.write(request.as_bytes()).await;
        let answer = raw.response(polywire_tests::raw::PATIENCE).await.expect("an answer");
        assert_eq!(answer.status, status, "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn bad_input_may_be_ignored() {
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let server = server(options()).on_input_error(move |conn, error| {
        counted.fetch_add(1, Ordering::SeqCst);
        if !conn.is_long() {
            let text = error.to_string().into();
            let response = http::Response::builder().status(422).body(text).expect("a response");
            conn.respond(response);
        }
        InputVerdict::Ignore
    });
    let address = start(&server).await;
    let mut raw = text(&address).await;
    for nonsense in ["", "{", r#"["Nope",{},1]"#, r#"["Add",{"a":1},1]"#] {
        say(&mut raw, nonsense).await;
    }
    say(&mut raw, ADD).await;
    assert_eq!(hear(&mut raw).await, SUM);
    assert_eq!(seen.load(Ordering::SeqCst), 4);

    let answer = post(&address, "/Add", r#"{"a":1}"#).await.expect("an answer");
    assert_eq!((answer.status, &*answer.body), (422, &b"Missing required property `b`."[..]));
    server.stop().await;
}

#[tokio::test]
async fn what_callers_are_told_of_a_failed_handler_may_be_decided() {
    let server = server(options()).on_internal_error(|call, error| {
        ApiError::new(format!("{} is out of order", call.service().name)).code("SORRY").with("text", error.to_string())
    });
    let address = start(&server).await;
    let answer = post(&address, "/Err", r#"{"mode":"throw"}"#).await.expect("an answer");
    let body = String::from_utf8(answer.body).expect("text");
    assert_eq!(
        body,
        r#"{"isSucc":false,"err":{"message":"Err is out of order","type":"ApiError","code":"SORRY","text":"boom"}}"#
    );
    // An error that the handler means for the caller is the handler's own.
    let answer = post(&address, "/Err", r#"{"mode":"api"}"#).await.expect("an answer");
    assert!(String::from_utf8_lossy(&answer.body).contains("bad thing"));
    server.stop().await;
}
