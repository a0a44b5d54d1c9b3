//! What each option changes, seen from outside. The options whose effect the
//! transport vectors show (`json`, `json_host_path`, `cors`) are tested by them.

use std::time::Duration;

use polywire_client::Client;
use polywire_server::{Call, Dynamic, InvalidInputStatus, Server, ServerOptions};
use polywire_tests::raw::{PATIENCE, Raw, Response};

use crate::support::{hear, options, post, proto, say, server, start, text};

const ADD: &str = r#"{"a":1,"b":2}"#;

fn changed(change: impl FnOnce(&mut ServerOptions)) -> Server {
    let mut options = options();
    change(&mut options);
    server(options)
}

/// Sends a request without a body, with these header lines.
async fn request(address: &str, line: &str, headers: &[&str]) -> Option<Response> {
    let mut raw = Raw::connect(address).await;
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    raw.write(format!("{line} HTTP/1.1\r\nHost: test\r\n{headers}\r\n").as_bytes()).await;
    raw.response(PATIENCE).await
}

const UPGRADE: [&str; 4] = [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

#[tokio::test]
async fn healthz_and_assets_are_beside_the_services() {
    let server = server(options()).asset("/", "text/html", "<p>hello</p>");
    let address = start(&server).await;
    for (path, status, body) in [("/healthz", 200, "ok\n"), ("/", 200, "<p>hello</p>")] {
        let answer = request(&address, &format!("GET {path}"), &[]).await.expect("an answer");
        assert_eq!((answer.status, &*answer.body), (status, body.as_bytes()), "{path}");
    }
    assert_eq!(post(&address, "/Add", ADD).await.expect("an answer").status, 200);
    server.stop().await;
}

#[tokio::test]
async fn websockets_open_on_the_path_of_the_options_only() {
    let server = changed(|options| options.websocket_path = Some("/ws".to_owned()));
    let address = start(&server).await;
    for (path, status) in [("/ws", 101), ("/ws?token=1", 101), ("/", 404), ("/ws/", 404)] {
        let answer = request(&address, &format!("GET {path}"), &UPGRADE).await.expect("an answer");
        assert_eq!(answer.status, status, "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn the_address_of_a_proxy_is_believed_only_where_the_options_say_so() {
    for (trusts, header, seen) in [
        (false, "X-Forwarded-For: 203.0.113.7", "127.0.0.1"),
        (true, "X-Forwarded-For: 203.0.113.7, 10.0.0.1", "203.0.113.7"),
        (true, "X-Forwarded-For: ::ffff:203.0.113.7", "203.0.113.7"),
        (true, "X-Forwarded-For: nonsense", "127.0.0.1"),
        (true, "X-Other: 1", "127.0.0.1"),
    ] {
        let mut options = options();
        options.trust_forwarded_for = trusts;
        let server = Server::with_options(options).proto(proto()).api_named("Echo", async |call: Call<Dynamic>| {
            call.fail(call.conn().ip().expect("a TCP peer").to_string());
        });
        let address = start(&server).await;
        let headers = [header, "Content-Type: application/json", "Content-Length: 2\r\n\r\n{}"];
        let answer = request(&address, "POST /Echo", &headers).await.expect("an answer");
        let body = String::from_utf8(answer.body).expect("text");
        assert!(body.contains(&format!("{seen:?}")), "{trusts} {header}: {body}");
        server.stop().await;
    }
}

#[tokio::test]
async fn input_that_cannot_be_read_has_the_status_of_the_options() {
    for (chosen, status) in [(InvalidInputStatus::Ok, 200), (InvalidInputStatus::BadRequest, 400)] {
        let server = changed(|options| options.invalid_input_status = chosen);
        let address = start(&server).await;
        assert_eq!(post(&address, "/Add", "{").await.expect("an answer").status, status, "{chosen:?}");
        assert_eq!(post(&address, "/Add", ADD).await.expect("an answer").status, 200, "{chosen:?}");
        server.stop().await;
    }
}

#[tokio::test]
async fn preflights_may_be_kept_for_as_long_as_the_options_say() {
    for (max_age, header) in [(Some(3600), Some("3600")), (Some(5), Some("5")), (None, None)] {
        let server = changed(|options| options.cors_max_age = max_age);
        let address = start(&server).await;
        let answer = request(&address, "OPTIONS /Add", &[]).await.expect("an answer");
        assert_eq!(answer.header("access-control-max-age"), header);
        server.stop().await;
    }
}

#[tokio::test]
async fn an_idle_connection_is_kept_for_as_long_as_the_options_say() {
    let server = changed(|options| {
        options.keep_alive = Duration::from_millis(20);
        // How often is looked.
        options.limits.handshake = Duration::from_millis(20);
    });
    let address = start(&server).await;
    let mut raw = Raw::connect(&address).await;
    raw.write(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n").await;
    assert_eq!(raw.response(PATIENCE).await.expect("an answer").status, 200);
    assert_eq!(hear(&mut raw).await, "end");
    server.stop().await;
}

#[tokio::test]
async fn truncated_binary_is_read_as_published_only_where_the_options_say_so() {
    // Echo (id 2), sn 1, whose string `s` of 5 bytes ends after 2.
    let frame = [0x03, 0x29, 0x02, 0x2c, 0x05, 0x01, 0x2a, 0x05, b'h', b'i', 0x31, 0x01];
    for (lenient, answered) in [(false, false), (true, true)] {
        let server = changed(|options| options.lenient_binary = lenient);
        start(&server).await;
        let answer = server.input_buffer(&frame).await;
        let text = String::from_utf8_lossy(&answer).into_owned();
        assert_eq!(text.contains("hi"), answered, "lenient {lenient}: {text:?}");
        server.stop().await;
    }
}

#[tokio::test]
async fn null_may_stand_for_what_is_left_out_unless_checks_are_strict() {
    let frame = r#"["Echo",{"s":null},1]"#;
    let server = changed(|options| options.strict_null_checks = true);
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, frame).await;
    assert_eq!(hear(&mut raw).await, "close 1000 Property `s`: Expected type to be `string`, actually `null`.");
    server.stop().await;

    let server = changed(|_| {});
    let address = start(&server).await;
    let mut raw = text(&address).await;
    say(&mut raw, frame).await;
    assert_eq!(hear(&mut raw).await, r#"["Echo",{"isSucc":true,"res":{}},1]"#);
    server.stop().await;
}

#[tokio::test]
async fn inner_errors_are_told_only_where_the_options_say_so() {
    for (tells, inner) in [(true, r#","innerErr":"boom""#), (false, "")] {
        let server = changed(|options| options.return_inner_error = tells);
        let address = start(&server).await;
        let answer = post(&address, "/Err", r#"{"mode":"throw"}"#).await.expect("an answer");
        assert_eq!(
            String::from_utf8_lossy(&answer.body),
            format!(
                r#"{{"isSucc":false,"err":{{"message":"Internal Server Error","type":"ServerError","code":"INTERNAL_ERR"{inner}}}}}"#
            )
        );
        server.stop().await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_unix_socket_serves_the_same() {
    let path = std::env::temp_dir().join(format!("polywire-options-{}.sock", std::process::id()));
    let server = changed(|_| {});
    server.start(&format!("unix:{}", path.display())).await.expect("a free path");
    let mut stream = tokio::net::UnixStream::connect(&path).await.expect("the server listens");
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"GET /healthz HTTP/1.0\r\n\r\n").await.expect("a request");
    let mut answer = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.0 200") && answer.ends_with("ok\n"), "{answer}");
    server.stop().await;
    assert!(!path.exists(), "the socket goes with its server");
}

#[tokio::test]
async fn a_client_with_an_earlier_proto_is_understood_by_a_server_that_keeps_its_ids() {
    use polywire::{Api, DateTime, Schema};

    #[derive(Api)]
    #[api(name = "Add", response = Sum)]
    struct Add {
        a: f64,
        b: f64,
        note: Option<String>,
    }
    #[derive(Schema)]
    struct Sum {
        sum: f64,
        time: Option<DateTime>,
    }

    let server = Server::with_options(options()).compatible_with(proto()).api(async |call: Call<Add>| {
        let sum = call.a + call.b + if call.note.is_some() { 1000.0 } else { 0.0 };
        polywire_server::Reply::Ok(Sum { sum, time: None })
    });
    let address = start(&server).await;
    assert_eq!(server.service_proto().expect("a proto").services[0].id.0, 1, "as in the earlier proto");
    let client = Client::builder(format!("http://{address}")).proto(proto()).json(false).http().expect("a client");
    let request = [("a", 1.0.into()), ("b", 2.0.into())].into_iter().collect();
    let response = client.call_named("Add", polywire_schema::Value::Object(request)).await.expect("an answer");
    assert_eq!(response.get("sum").and_then(polywire_schema::Value::as_number), Some(3.0));
    server.stop().await;
}
