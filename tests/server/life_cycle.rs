//! Starting, stopping, and what becomes of connections and calls.

use std::time::Duration;

use polywire_schema::Value;
use polywire_server::{ApiError, Call, Dynamic, Server, ServerStatus, StartError};
use polywire_tests::raw::Raw;

use crate::support::{PATIENCE, hear, options, post, proto, say, server, start, text};

fn sum(sum: f64) -> Dynamic {
    Dynamic(Value::Object([("sum", Value::Number(sum))].into_iter().collect()))
}

/// A server whose `Add` waits until it is released, and tells when it has begun.
fn waiting() -> (Server, tokio::sync::watch::Sender<bool>, tokio::sync::mpsc::UnboundedReceiver<()>) {
    let (release, wait) = tokio::sync::watch::channel(false);
    let (begun, begins) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::with_options(options()).proto(proto()).api_named("Add", move |_: Call<Dynamic>| {
        let mut wait = wait.clone();
        let begun = begun.clone();
        async move {
            begun.send(()).expect("the test lives");
            wait.wait_for(|released| *released).await.expect("the test lives");
            Ok::<_, ApiError>(sum(1.0))
        }
    });
    (server, release, begins)
}

#[tokio::test]
async fn a_port_in_use_makes_the_start_fail_and_a_second_start_is_refused() {
    let first = server(options());
    let address = start(&first).await;
    assert!(matches!(first.start("127.0.0.1:0").await, Err(StartError::AlreadyStarted)));
    let second = server(options());
    assert!(matches!(second.start(&address).await, Err(StartError::Listen(_))));
    assert_eq!(second.status(), ServerStatus::Closed);
    first.stop().await;
    // The port is free again.
    second.start(&address).await.expect("the port is free");
    second.stop().await;
}

#[tokio::test]
async fn handlers_for_services_that_the_proto_lacks_are_named() {
    let server = server(options()).api_named("Nope", |_: Call<Dynamic>| async {}).on_message_named("Nix", |_| async {});
    let Err(StartError::UnknownServices(names)) = server.start("127.0.0.1:0").await else { panic!("started") };
    assert_eq!(names, ["Nope", "Nix"]);
}

#[tokio::test]
async fn stop_closes_connections_with_the_published_reason() {
    let server = server(options());
    let address = start(&server).await;
    let mut raw = text(&address).await;
    raw.send_frame(9, b"ready").await;
    assert_eq!(hear(&mut raw).await, "ready");
    let stopping = tokio::spawn({
        let server = server.clone();
        async move { server.stop().await }
    });
    assert_eq!(hear(&mut raw).await, "close 1000 Server stopped");
    raw.send_frame(8, &1000u16.to_be_bytes()).await;
    assert_eq!(hear(&mut raw).await, "end");
    let stopped = stopping.await.expect("stop ends");
    assert_eq!((stopped.calls_cut, stopped.connections_cut), (0, 0));
    assert_eq!(server.status(), ServerStatus::Closed);
}

#[tokio::test]
async fn a_graceful_stop_with_nothing_running_ends_at_once() {
    let server = server(options());
    start(&server).await;
    let stopped = tokio::time::timeout(PATIENCE, server.graceful_stop(None)).await.expect("it ends");
    assert_eq!((stopped.calls_cut, stopped.connections_cut), (0, 0));
}

#[tokio::test]
async fn a_graceful_stop_answers_what_runs_and_takes_nothing_new() {
    let (server, release, mut begins) = waiting();
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, r#"["Add",{"a":1,"b":0},1]"#).await;
    begins.recv().await.expect("the call runs");
    let stopping = tokio::spawn({
        let server = server.clone();
        async move { server.graceful_stop(None).await }
    });
    while server.status() != ServerStatus::Closing {
        tokio::task::yield_now().await;
    }
    // New HTTP requests get 503, new WebSockets 1012, frames are ignored.
    assert_eq!(post(&address, "/Add", "{}").await.expect("an answer").status, 503);
    let mut late = Raw::connect(&address).await;
    // Connected, and silent for a while: what it asks for then is answered all the same.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(late.upgrade(Some("text")).await.status, 101);
    assert_eq!(hear(&mut late).await, "close 1012 ");
    say(&mut raw, r#"["Add",{"a":2,"b":0},2]"#).await;
    release.send_replace(true);
    assert_eq!(hear(&mut raw).await, r#"["Add",{"isSucc":true,"res":{"sum":1}},1]"#);
    assert_eq!(hear(&mut raw).await, "close 1000 Server stopped");
    raw.send_frame(8, &1000u16.to_be_bytes()).await;
    assert_eq!(stopping.await.expect("stop ends").calls_cut, 0);
}

#[tokio::test]
async fn a_client_that_vanishes_in_the_middle_of_a_call_leaves_nothing_behind() {
    let (server, release, mut begins) = waiting();
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, r#"["Add",{"a":1,"b":0},1]"#).await;
    begins.recv().await.expect("the call runs");
    drop(raw);
    while server.connection_count() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.running_calls(), 1, "the handler goes on");
    release.send_replace(true);
    while server.running_calls() > 0 {
        tokio::task::yield_now().await;
    }
    server.stop().await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_answered_and_its_handler_goes_on() {
    let (release, wait) = tokio::sync::watch::channel(false);
    let (done, mut is_done) = tokio::sync::watch::channel(false);
    let limits = polywire_server::ServerOptions { api_timeout: Some(Duration::from_millis(20)), ..options() };
    let server = Server::with_options(limits).proto(proto()).api_named("Add", move |call: Call<Dynamic>| {
        let (mut wait, done) = (wait.clone(), done.clone());
        async move {
            wait.wait_for(|released| *released).await.expect("the test lives");
            assert!(call.is_answered());
            done.send_replace(true);
            Ok::<_, ApiError>(sum(1.0))
        }
    });
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, r#"["Add",{"a":1,"b":0},1]"#).await;
    let error = r#"{"message":"Server Timeout","type":"ServerError","code":"SERVER_TIMEOUT"}"#;
    assert_eq!(hear(&mut raw).await, format!(r#"["Add",{{"isSucc":false,"err":{error}}},1]"#));
    release.send_replace(true);
    is_done.wait_for(|done| *done).await.expect("the handler goes on");
    server.stop().await;
}

#[tokio::test]
async fn a_call_may_be_answered_from_elsewhere_and_times_out_there_too() {
    let (hand_over, mut handed) = tokio::sync::mpsc::unbounded_channel();
    let timeout = polywire_server::ServerOptions { api_timeout: Some(Duration::from_millis(200)), ..options() };
    let server = Server::with_options(timeout).proto(proto()).api_named("Add", move |call: Call<Dynamic>| {
        hand_over.send(call).unwrap_or_else(|_| panic!("the test lives"));
        async {}
    });
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, r#"["Add",{"a":1,"b":0},1]"#).await;
    handed.recv().await.expect("the call").succeed(sum(5.0));
    assert_eq!(hear(&mut raw).await, r#"["Add",{"isSucc":true,"res":{"sum":5}},1]"#);
    say(&mut raw, r#"["Add",{"a":1,"b":0},2]"#).await;
    let kept = handed.recv().await.expect("the call");
    assert!(hear(&mut raw).await.contains("SERVER_TIMEOUT"));
    drop(kept);
    server.stop().await;
}

#[tokio::test]
async fn calls_within_the_process_take_the_same_way() {
    let server = server(options());
    let request = Value::Object([("a", Value::Number(1.0)), ("b", Value::Number(2.0))].into_iter().collect());
    let response = server.call_named("Add", request).await.expect("an answer");
    assert_eq!(response.get("sum"), Some(&Value::Number(3.0)));
    let error = server.call_named("Nope", Value::Null).await.expect_err("no service");
    assert_eq!(error.to_string(), "[TSRPC ServerError]: Cannot find service: Nope");
    assert_eq!(server.input_json("/Add", r#"{"a":1,"b":2}"#).await, r#"{"isSucc":true,"res":{"sum":3}}"#);
    assert_eq!(
        server.input_json("Nope", "{}").await,
        r#"{"isSucc":false,"err":{"message":"Invalid service name: Nope","type":"ServerError","code":"INPUT_DATA_ERR"}}"#
    );
    let invalid = server.input_json("Add", r#"{"a":1,"b":"x"}"#).await;
    assert!(invalid.contains("Property `b`: Expected type to be `number`, actually `string`."), "{invalid}");
    #[rustfmt::skip]
    let bytes = [2, 0x29, 1, 0x2c, 0x13, 2, 0x2a, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0x2e, 0x40, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(server.input_buffer(&bytes[..23]).await[..2], [1, 0x2f], "cut input is an error");
}
