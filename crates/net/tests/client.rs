//! Both clients against servers of this machine.

use std::future::pending;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use polywire_net::client::{
    ConnectError, HttpClient, HttpClientOptions, SendError, UrlError, WebSocketOptions, connect,
};
use polywire_net::http::{Answer, BodyError, BodyLimits, HttpLimits, Served, Switch, collect, serve};
use polywire_net::tls::{ClientTls, ServerTls};
use polywire_net::ws::handshake::{self, BadResponse};
use polywire_net::ws::{Decoder, DeflateConfig, Encoder, Event, Limits, Opcode, Role};
use polywire_net::{Addr, Listener, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Answers requests with their bodies, WebSockets with what they
/// say, choosing the last subprotocol offered. Counts its connections.
struct Server {
    port: u16,
    connections: Arc<AtomicUsize>,
    tls: ClientTls,
}

async fn start(encrypted: bool) -> Server {
    let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("one");
    let (chain, key) = (certificate.cert.pem(), certificate.signing_key.serialize_pem());
    let mut listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    if encrypted {
        listener = listener.with_tls(&ServerTls::from_pem(chain.as_bytes(), key.as_bytes()).expect("usable"));
    }
    let Some(Addr::Tcp(addr)) = listener.local_addrs().pop() else {
        panic!("no TCP address");
    };
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        loop {
            let incoming = listener.accept().await;
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let Ok(stream) = incoming.establish().await else {
                    return;
                };
                let served = serve(stream, &HttpLimits::default(), pending(), answer).await;
                if let Ok(Served::Upgraded(upgraded)) = served {
                    echo(upgraded.stream, &upgraded.head.headers).await;
                }
            });
        }
    });
    let tls = ClientTls::from_pem(chain.as_bytes()).expect("usable");
    Server { port: addr.port(), connections, tls }
}

async fn answer(request: Request<Incoming>) -> Answer<Full<Bytes>> {
    let (head, body) = request.into_parts();
    if handshake::is_upgrade(&head.headers) {
        let protocol = handshake::protocols(&head.headers).last();
        let protocol = protocol.map(|protocol| HeaderValue::from_str(protocol).expect("one"));
        let accepted = handshake::accept(&head, protocol.as_ref(), Some(&DeflateConfig::default()));
        let response = accepted.expect("a handshake").response;
        return Answer::Upgrade(Box::new(Switch { head, response }));
    }
    let body = collect(body, &BodyLimits::default()).await.expect("a body");
    let response = Response::builder().status(500).header("x-method", head.method.as_str());
    Answer::Response(response.body(Full::new(body)).expect("a response"))
}

/// Says the header `x-hello`, then repeats.
async fn echo(mut stream: Stream, headers: &HeaderMap) {
    let config = DeflateConfig { threshold: 1, ..DeflateConfig::default() };
    let offers = headers.get("sec-websocket-extensions").map(|offers| offers.to_str().expect("text"));
    let deflate = config.answer(offers);
    let mut encoder = Encoder::new(Role::Server, deflate.as_ref());
    let mut decoder = Decoder::new(Role::Server, Limits::default());
    if let Some(deflate) = &deflate {
        decoder = decoder.with_deflate(deflate);
    }
    let mut out = Vec::new();
    if let Some(hello) = headers.get("x-hello") {
        encoder.put(&mut out, Opcode::Text, hello.as_bytes());
    }
    let mut buf = [0; 1000];
    loop {
        stream.write_all(&out).await.expect("open");
        stream.flush().await.expect("open");
        out.clear();
        let read = stream.read(&mut buf).await.expect("open");
        if read == 0 {
            return;
        }
        let mut input = &mut buf[..read];
        while let Some(event) = decoder.decode(&mut input).expect("legal") {
            if let Event::Text(text) = event {
                encoder.put(&mut out, Opcode::Text, text.as_bytes());
            }
        }
    }
}

#[tokio::test]
async fn a_websocket_opens_and_talks() {
    for encrypted in [false, true] {
        for deflate in [None, Some(DeflateConfig { threshold: 1, ..DeflateConfig::default() })] {
            let server = start(encrypted).await;
            let mut headers = HeaderMap::new();
            headers.insert("x-hello", HeaderValue::from_static("hello, hello, hello"));
            let options = WebSocketOptions {
                protocols: vec!["text".into(), "buffer".into()],
                headers,
                tls: Some(server.tls.clone()),
                deflate,
                ..WebSocketOptions::default()
            };
            let scheme = if encrypted { "wss" } else { "ws" };
            let url = format!("{scheme}://localhost:{}/chat?room=1", server.port);
            let mut socket = connect(&url, &options).await.expect("a WebSocket");
            assert_eq!(socket.protocol.as_deref(), Some("buffer"));
            assert_eq!(socket.deflate.is_some(), deflate.is_some());
            assert_eq!(socket.stream.is_tls(), encrypted);
            assert_eq!(socket.head.status, 101);

            let mut encoder = Encoder::new(Role::Client, socket.deflate.as_ref());
            let mut decoder = Decoder::new(Role::Client, Limits::default());
            if let Some(deflate) = &socket.deflate {
                decoder = decoder.with_deflate(deflate);
            }
            let mut out = Vec::new();
            encoder.put(&mut out, Opcode::Text, b"and again");
            socket.stream.write_all(&out).await.expect("open");
            socket.stream.flush().await.expect("open");

            let mut heard = Vec::new();
            let mut piece = socket.read.to_vec();
            while heard.len() < 2 {
                let mut input = piece.as_mut_slice();
                while let Some(event) = decoder.decode(&mut input).expect("legal") {
                    match event {
                        Event::Text(text) => heard.push(text.to_owned()),
                        other => panic!("{other:?}"),
                    }
                }
                piece.clear();
                if heard.len() < 2 {
                    socket.stream.read_buf(&mut piece).await.expect("open");
                }
            }
            assert_eq!(heard, ["hello, hello, hello", "and again"]);
        }
    }
}

/// A server that reads a request's head and then says this.
async fn scripted(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("a head"));
        }
        stream.write_all(answer.as_bytes()).await.expect("open");
    });
    format!("ws://127.0.0.1:{port}")
}

#[tokio::test]
async fn what_opens_no_websocket_is_told() {
    async fn check(answer: &'static str, is_expected: fn(&ConnectError) -> bool) {
        let url = scripted(answer).await;
        let error = connect(&url, &WebSocketOptions::default()).await.expect_err("refused");
        assert!(is_expected(&error), "{answer:?}: {error:?}");
    }
    use ConnectError::{Io, NoHttp, Refused};
    check("", |error| matches!(error, Io(_))).await;
    check("HTTP/1.1 101 Switch", |error| matches!(error, Io(_))).await;
    check("SSH-2.0-OpenSSH\r\n\r\n", |error| matches!(error, NoHttp)).await;
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        |error| matches!(error, Refused(BadResponse::Status(status)) if *status == 200),
    )
    .await;
    check("HTTP/1.1 101 Switching Protocols\r\n\r\n", |error| matches!(error, Refused(BadResponse::NoUpgrade))).await;
}

#[tokio::test]
async fn an_answer_without_an_end_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("ws://{}", listener.local_addr().expect("bound"));
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a client");
        while stream.write_all(&[b'x'; 1000]).await.is_ok() {}
    });
    let error = connect(&url, &WebSocketOptions::default()).await.expect_err("no answer");
    assert!(matches!(error, ConnectError::NoHttp), "{error:?}");
}

#[tokio::test]
async fn opening_has_a_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("ws://{}", listener.local_addr().expect("bound"));
    let options = WebSocketOptions { timeout: Duration::from_millis(20), ..Default::default() };
    let error = connect(&url, &options).await.expect_err("nobody answers");
    assert!(matches!(error, ConnectError::Timeout(_)), "{error:?}");
}

/// A port on which nobody listens.
async fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    listener.local_addr().expect("bound").port()
}

#[tokio::test]
async fn what_cannot_be_reached_is_told() {
    let options = WebSocketOptions::default();
    let url = format!("ws://127.0.0.1:{}", closed_port().await);
    let error = connect(&url, &options).await.expect_err("nobody listens");
    let reason = error.io_error().map(std::io::Error::kind);
    assert_eq!(reason, Some(ErrorKind::ConnectionRefused), "{error:?}");

    let error = connect("ftp://localhost", &options).await.expect_err("no scheme of ours");
    assert!(matches!(error, ConnectError::Url(UrlError::Scheme(_))), "{error:?}");

    let server = start(false).await;
    let options = WebSocketOptions { tls: Some(server.tls), ..Default::default() };
    let url = format!("wss://localhost:{}", server.port);
    let error = connect(&url, &options).await.expect_err("no TLS there");
    assert!(matches!(error, ConnectError::Tls(_)), "{error:?}");
}

fn post(url: String, body: &'static str) -> Request<Bytes> {
    Request::post(url).body(Bytes::from_static(body.as_bytes())).expect("a request")
}

#[tokio::test]
async fn requests_share_a_connection() {
    for encrypted in [false, true] {
        let server = start(encrypted).await;
        let tls = Some(server.tls.clone());
        let client = HttpClient::new(&HttpClientOptions { tls, ..Default::default() });
        let scheme = if encrypted { "https" } else { "http" };
        for body in ["", "one", "two"] {
            let url = format!("{scheme}://localhost:{}/path", server.port);
            let response = client.send(post(url, body)).await.expect("an answer");
            assert_eq!(response.status(), 500, "whatever the status");
            assert_eq!(response.headers()["x-method"], "POST");
            assert_eq!(response.body(), body);
        }
        assert_eq!(server.connections.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_dropped_request_closes_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    let client = HttpClient::new(&HttpClientOptions::default());
    let request = tokio::spawn(async move { client.send(post(url, "body")).await });
    let (mut stream, _) = listener.accept().await.expect("a client");
    let mut all = Vec::new();
    while !all.ends_with(b"body") {
        all.push(stream.read_u8().await.expect("a request"));
    }
    request.abort();
    assert_eq!(stream.read(&mut [0; 10]).await.expect("the end"), 0);
}

#[tokio::test]
async fn requests_without_an_answer_are_told() {
    let client = HttpClient::new(&HttpClientOptions {
        body: BodyLimits { max_len: 3, ..Default::default() },
        ..Default::default()
    });
    let url = format!("http://127.0.0.1:{}/", closed_port().await);
    let error = client.send(post(url, "")).await.expect_err("nobody listens");
    assert!(matches!(error, SendError::Connect(_)), "{error:?}");
    let reason = error.io_error().map(std::io::Error::kind);
    assert_eq!(reason, Some(ErrorKind::ConnectionRefused), "{error:?}");

    let url = scripted("HTTP/1.1 200 OK\r\nContent-Le").await.replace("ws:", "http:");
    let error = client.send(post(url, "")).await.expect_err("half a head");
    assert!(matches!(error, SendError::Lost(_)), "{error:?}");

    let url = scripted("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlong").await.replace("ws:", "http:");
    let error = client.send(post(url, "")).await.expect_err("too long");
    assert!(matches!(error, SendError::Body(BodyError::TooLong { max: 3 })), "{error:?}");

    let error = client.send(post("/relative".into(), "")).await.expect_err("no URL");
    assert!(matches!(error, SendError::Url(_)), "{error:?}");
}
