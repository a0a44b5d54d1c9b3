//! How WebSocket connections begin and end.

use std::time::Duration;

use polywire::prelude::*;
use polywire_client::{ClientTls, ConnectReason, Connecting, Reconnect, WsStatus};
use tokio::sync::mpsc;

use crate::service::{Add, Fail, Never, Sum, described, start, start_at};

#[tokio::test]
async fn concurrent_attempts_are_one() {
    let service = start(ServerOptions::default()).await;
    let client = service.websocket(false).websocket().expect("a client");
    let early = client.call(Add { a: 1.0, b: 2.0 }).await;
    assert_eq!(described(early), "[ClientError] WebSocket is not connected / WS_NOT_OPEN");
    let (one, other) = tokio::join!(client.connect(), client.connect());
    one.and(other).expect("connected");
    client.connect().await.expect("still connected");
    assert_eq!(client.call(Add { a: 1.0, b: 2.0 }).await, Ok(Sum { sum: 3.0 }));
    assert_eq!(service.server.connection_count(), 1);
    client.disconnect().await;
    assert_eq!(client.status(), WsStatus::Closed);
    client.connect().await.expect("connected again");
    assert_eq!(client.call(Add { a: 1.0, b: 2.0 }).await, Ok(Sum { sum: 3.0 }));
}

#[tokio::test]
async fn an_attempt_that_fails_says_the_published_text_and_why() {
    let service = start(ServerOptions::default()).await;
    let client = service.websocket(false).websocket().expect("a client");
    service.stop().await;
    let failed = client.connect().await.expect_err("nobody listens");
    assert_eq!(failed.to_string(), format!("Failed to connect to WebSocket server: ws://{}", service.address));
    let ConnectReason::Transport(reason) = &*failed.reason else { panic!("{failed:?}") };
    let system = reason.io_error().expect("the system's reason");
    assert_eq!(system.kind(), std::io::ErrorKind::ConnectionRefused);
    assert_eq!(client.status(), WsStatus::Closed);

    let hook = client.flows().pre_connect.push(|_: Connecting| async { None::<Connecting> });
    let failed = client.connect().await.expect_err("stopped");
    assert!(matches!(&*failed.reason, ConnectReason::Stopped));
    client.flows().pre_connect.remove(hook);
    client
        .flows()
        .pre_connect
        .push(|connecting: Connecting| async { Connecting { reply: Some(Ok(())), ..connecting } });
    client.connect().await.expect("a hook says so");
    assert_eq!(client.status(), WsStatus::Closed);
}

#[tokio::test]
async fn an_attempt_that_is_dropped_leaves_the_client_closed() {
    let service = start(ServerOptions::default()).await;
    let client = service.websocket(false).websocket().expect("a client");
    let hook = client.flows().pre_connect.push(|_: Connecting| std::future::pending::<Connecting>());
    let mut status = client.watch_status();
    let attempt = tokio::spawn({
        let client = client.clone();
        async move { client.connect().await }
    });
    status.wait_for(|status| *status == WsStatus::Opening).await.expect("the client lives");
    attempt.abort();
    assert!(attempt.await.is_err());
    assert_eq!(client.status(), WsStatus::Closed);
    client.flows().pre_connect.remove(hook);
    client.connect().await.expect("connected");
}

#[tokio::test]
async fn calls_in_flight_fail_with_the_reason_of_the_server() {
    let service = start(ServerOptions::default()).await;
    for json in [false, true] {
        let client = service.websocket(json).websocket().expect("a client");
        client.connect().await.expect("connected");
        let call = client.call(Fail { how: "close".to_owned() }).await;
        assert_eq!(described(call), "[NetworkError] As you say / LOST_CONN");
    }
    let client = service.websocket(false).websocket().expect("a client");
    client.connect().await.expect("connected");
    let call = tokio::spawn(client.call(Never {}));
    // Answered behind it, so that the call is known to be under way.
    client.call(Add { a: 1.0, b: 2.0 }).await.expect("an answer");
    service.server.stop().await;
    assert_eq!(described(call.await.expect("no panic")), "[NetworkError] Server stopped / LOST_CONN");
}

#[tokio::test]
async fn a_lost_connection_is_opened_again_until_it_is_not_wanted() {
    let service = start(ServerOptions::default()).await;
    let pauses = Reconnect { first: Duration::from_millis(1), longest: Duration::from_millis(5) };
    let builder = service.websocket(false).options(|options| options.reconnect = Some(pauses));
    let client = builder.websocket().expect("a client");
    let (tell, mut ends) = mpsc::unbounded_channel();
    client.flows().post_disconnect.push(move |end: polywire_client::Disconnected| {
        tell.send(end.is_manual).expect("the test listens");
        async { end }
    });
    client.connect().await.expect("connected");
    service.stop().await;
    assert_eq!(ends.recv().await, Some(false));
    let again = start_at(&service.address, ServerOptions::default()).await;
    let mut status = client.watch_status();
    status.wait_for(|status| *status == WsStatus::Opened).await.expect("the client lives");
    assert_eq!(client.call(Add { a: 1.0, b: 2.0 }).await, Ok(Sum { sum: 3.0 }));

    again.stop().await;
    assert_eq!(ends.recv().await, Some(false));
    client.disconnect().await;
    let third = start_at(&service.address, ServerOptions::default()).await;
    let other = third.websocket(false).websocket().expect("a client");
    other.connect().await.expect("connected");
    other.call(Add { a: 1.0, b: 2.0 }).await.expect("an answer");
    assert_eq!(client.status(), WsStatus::Closed);
    assert!(ends.is_empty());
}

#[tokio::test]
async fn tls_is_spoken_with_whom_the_client_trusts() {
    let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("one");
    let (chain, key) = (certificate.cert.pem(), certificate.signing_key.serialize_pem());
    let tls = polywire_net::tls::ServerTls::from_pem(chain.as_bytes(), key.as_bytes()).expect("usable");
    let service = start(ServerOptions { tls: Some(tls), ..ServerOptions::default() }).await;
    let port = service.address.rsplit(':').next().expect("a port");
    let proto = service.server.service_proto().expect("a proto");
    let trust = ClientTls::from_pem(chain.as_bytes()).expect("usable");
    let builder = |scheme: &str| Client::builder(format!("{scheme}://localhost:{port}")).proto(proto.clone());
    let trusting = |scheme: &str| builder(scheme).options(|options| options.tls = Some(trust.clone()));

    let websocket = trusting("wss").websocket().expect("a client");
    websocket.connect().await.expect("trusted");
    assert_eq!(websocket.call(Add { a: 1.0, b: 2.0 }).await, Ok(Sum { sum: 3.0 }));
    let http = trusting("https").http().expect("a client");
    assert_eq!(http.call(Add { a: 1.0, b: 2.0 }).await, Ok(Sum { sum: 3.0 }));

    assert!(builder("wss").websocket().expect("a client").connect().await.is_err());
    let distrusted = builder("https").http().expect("a client").call(Add { a: 1.0, b: 2.0 }).await;
    assert!(described(distrusted).starts_with("[NetworkError] "));
}

#[tokio::test]
async fn compression_is_negotiated_where_both_want_it() {
    let service = start(ServerOptions { compression: true, ..ServerOptions::default() }).await;
    for json in [false, true] {
        let builder = service.websocket(json).options(|options| options.compression = true);
        let client = builder.websocket().expect("a client");
        client.connect().await.expect("connected");
        let call = client.call(Fail { how: "business".to_owned() }).await;
        assert_eq!(described(call), "[ApiError] Not enough credit / CREDIT");
        assert_eq!(client.call(Add { a: 1.0, b: 2.0 }).await, Ok(Sum { sum: 3.0 }));
    }
}
