//! A running server and raw connections to it.

use std::time::Duration;

use polywire_net::Addr;
use polywire_server::{Server, ServerOptions, ServiceProto};
use polywire_tests::{raw::Raw, test_service, vectors};

/// How long something may take that is expected to happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Options of the test service with JSON, without an API timeout.
pub(crate) fn options() -> ServerOptions {
    ServerOptions { api_timeout: None, ..test_service::options("json:true") }
}

/// The proto of the test service.
pub(crate) fn proto() -> ServiceProto {
    let file = vectors::load_own("tsrpc-transport-vectors.json");
    ServiceProto::from_json(&file["serviceProto"].to_string()).expect("the proto of the vectors")
}

/// The test service, not started.
pub(crate) fn server(options: ServerOptions) -> Server {
    test_service::server(proto(), options)
}

/// Starts a server on a free port.
pub(crate) async fn start(server: &Server) -> String {
    let addresses = server.start("127.0.0.1:0").await.expect("a free port");
    let Some(Addr::Tcp(address)) = addresses.first() else { panic!("a TCP address") };
    address.to_string()
}

/// A raw WebSocket connection in text mode.
pub(crate) async fn text(address: &str) -> Raw {
    let mut raw = Raw::connect(address).await;
    assert_eq!(raw.upgrade(Some("text")).await.status, 101);
    raw
}

/// A raw WebSocket connection in binary mode.
pub(crate) async fn buffer(address: &str) -> Raw {
    let mut raw = Raw::connect(address).await;
    assert_eq!(raw.upgrade(Some("buffer")).await.status, 101);
    raw
}

/// Sends a text frame.
pub(crate) async fn say(raw: &mut Raw, text: &str) {
    raw.send_frame(1, text.as_bytes()).await;
}

/// The next frame as text; a close frame as `close CODE REASON`, the end of the connection as `end`.
pub(crate) async fn hear(raw: &mut Raw) -> String {
    match raw.frame(PATIENCE).await {
        None => "end".to_owned(),
        Some((8, payload)) => {
            let code = payload.get(..2).map_or(1005, |code| u16::from_be_bytes([code[0], code[1]]));
            format!("close {code} {}", String::from_utf8_lossy(payload.get(2..).unwrap_or_default()))
        }
        Some((_, payload)) => String::from_utf8_lossy(&payload).into_owned(),
    }
}

/// A POST of JSON; returns the response, or `None` where the connection ends.
pub(crate) async fn post(address: &str, path: &str, body: &str) -> Option<polywire_tests::raw::Response> {
    let mut raw = Raw::connect(address).await;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    raw.write(format!("{head}{body}").as_bytes()).await;
    raw.response(PATIENCE).await
}
