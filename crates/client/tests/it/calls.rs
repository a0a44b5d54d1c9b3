//! Calls by every kind of client.

use std::time::Duration;

use polywire::prelude::*;
use polywire_client::{CallOptions, Client};

use crate::service::{Add, Fail, Never, Sum, described, start, value};

#[tokio::test]
async fn typed_and_dynamic_calls_are_answered() {
    let service = start(ServerOptions::default()).await;
    for client in service.clients().await {
        assert_eq!(client.call(Add { a: 1.0, b: 2.5 }).await, Ok(Sum { sum: 3.5 }), "{client:?}");
        // What the type does not declare is left out, as published.
        let request = value([("a", 1.0.into()), ("b", 2.0.into()), ("more", true.into())]);
        assert_eq!(client.call_named("Add", request).await, Ok(value([("sum", 3.0.into())])), "{client:?}");
    }
}

#[tokio::test]
async fn many_calls_are_in_flight_at_once() {
    let service = start(ServerOptions::default()).await;
    for client in service.clients().await {
        let calls: Vec<_> =
            (0..50).map(|number| tokio::spawn(client.call(Add { a: f64::from(number), b: 1.0 }))).collect();
        for (number, call) in (0..50).zip(calls) {
            assert_eq!(call.await.expect("no panic"), Ok(Sum { sum: f64::from(number) + 1.0 }));
        }
    }
}

#[tokio::test]
async fn failures_say_whose_fault_it_is() {
    let service = start(ServerOptions { return_inner_error: true, ..ServerOptions::default() }).await;
    for client in service.clients().await {
        let fail = |how: &str| client.call(Fail { how: how.to_owned() });
        let business = fail("business").await.expect_err("a failure");
        assert_eq!(business, ApiError::new("Not enough credit").code("CREDIT").with("missing", 12.0), "{client:?}");
        let panic = fail("panic").await.expect_err("a failure");
        assert_eq!(described::<()>(Err(panic.clone())), "[ServerError] Internal Server Error / INTERNAL_ERR");
        assert_eq!(panic.get("innerErr").and_then(Value::as_str), Some("boom"));
        let wrong = client.call_named("Add", value([("a", "1".into()), ("b", 2.0.into())])).await;
        let text = "Property `a`: Expected type to be `number`, actually `string`.";
        assert_eq!(described(wrong), format!("[ClientError] {text} / INPUT_DATA_ERR"));
        let unknown = client.call_named("Nope", Value::Null).await;
        assert_eq!(described(unknown), "[ClientError] Invalid api name: Nope / INVALID_API_NAME");
    }
}

#[tokio::test]
async fn calls_that_are_never_answered_time_out_or_are_aborted() {
    let service = start(ServerOptions::default()).await;
    for client in service.clients().await {
        let options = CallOptions { timeout: Some(Duration::from_millis(20)), ..CallOptions::default() };
        let late = client.call_with(Never {}, options).await;
        assert_eq!(described(late), "[NetworkError] Request Timeout / TIMEOUT", "{client:?}");
        let call = client.call(Never {});
        assert_eq!(client.abort_all(), 1);
        assert_eq!(described(call.await), "[ClientError] Request cancelled / CANCELLED");
        assert_eq!(client.call(Add { a: 1.0, b: 2.0 }).await, Ok(Sum { sum: 3.0 }), "and life goes on");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_network_error() {
    let service = start(ServerOptions::default()).await;
    let client = service.http(true).http().expect("a client");
    service.stop().await;
    let refused = client.call(Add { a: 1.0, b: 2.0 }).await;
    let text = described(refused);
    assert!(text.starts_with("[NetworkError] ") && text.ends_with(" / ECONNREFUSED"), "{text}");

    let proto = service.server.service_proto().expect("a proto").clone();
    let nowhere = Client::builder("nowhere").proto(proto).http().expect("a client");
    let text = described(nowhere.call(Add { a: 1.0, b: 2.0 }).await);
    assert!(text.contains("nowhere"), "{text}");
}
