//! HTTP connections over memory, as bytes: what goes in, what comes out, how it ends.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use polywire_net::Stream;
use polywire_net::http::{Answer, BodyLimits, HttpLimits, ServeError, Served, Switch, collect, serve};
use polywire_net::ws::handshake;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{advance, timeout};

type Outcome = Result<Served, ServeError>;

const SWITCH: &str = "GET /chat HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\
                      Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const SWITCHED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
                        Connection: Upgrade\r\n\
                        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// Answers with what came; `/slow` takes five minutes, `/never` for ever.
async fn echo(request: Request<Incoming>) -> Answer<Full<Bytes>> {
    let (head, body) = request.into_parts();
    if handshake::is_upgrade(&head.headers) {
        let response = handshake::accept(&head, None, None).expect("a handshake").response;
        return Answer::Upgrade(Box::new(Switch { head, response }));
    }
    match head.uri.path() {
        "/hang-up" => return Answer::HangUp,
        "/never" => pending().await,
        "/slow" => tokio::time::sleep(Duration::from_secs(300)).await,
        _ => {}
    }
    let limits = BodyLimits { max_len: 10, ..BodyLimits::default() };
    let (status, body) = match collect(body, &limits).await {
        Ok(body) => (StatusCode::OK, body),
        Err(error) => (error.status(), Bytes::from(error.to_string())),
    };
    let line = format!("{} {} ", head.method, head.uri);
    let response = Response::builder()
        .status(status)
        .header("x-powered-by", "polywire")
        .body(Full::new(Bytes::from([line.as_bytes(), &body].concat())))
        .expect("a response");
    Answer::Response(response)
}

fn start(closing: impl Future<Output = ()> + Send + 'static) -> (Stream, JoinHandle<Outcome>) {
    let (ours, theirs) = Stream::memory(1 << 20);
    let limits = HttpLimits::default();
    (ours, tokio::spawn(serve(theirs, &limits, closing, echo)))
}

async fn read_until(stream: &mut Stream, end: &str) -> String {
    let mut all = Vec::new();
    while !all.ends_with(end.as_bytes()) {
        match stream.read_u8().await {
            Ok(byte) => all.push(byte),
            Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&all)),
        }
    }
    String::from_utf8(all).expect("text")
}

/// The status, and what follows the head.
async fn ask(stream: &mut Stream, request: &str, end: &str) -> (u16, String) {
    stream.write_all(request.as_bytes()).await.expect("room");
    let answer = read_until(stream, end).await;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    (status.expect("a status"), body.expect("a body"))
}

#[tokio::test]
async fn a_connection_answers_request_after_request() {
    let (mut stream, server) = start(pending());
    stream.write_all(b"POST /a%2Fb?c=d HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi").await.expect("room");
    let answer = read_until(&mut stream, "hi").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\nX-Powered-By: polywire\r\n"), "{answer}");
    assert!(answer.contains("\r\nContent-Length: 18\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nPOST /a%2Fb?c=d hi"), "{answer}");

    let chunked = "BREW //x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
    assert_eq!(ask(&mut stream, chunked, "abc").await, (200, "BREW //x abc".into()));
    drop(stream);
    assert!(matches!(server.await, Ok(Ok(Served::Closed))));
}

#[tokio::test]
async fn a_body_is_limited_to_the_byte() {
    for (announced, len, status) in [(true, 10, 200), (true, 11, 413), (false, 10, 200), (false, 11, 413)] {
        let (mut stream, _server) = start(pending());
        let body = "x".repeat(len);
        let request = match announced {
            true => format!("PUT / HTTP/1.1\r\nContent-Length: {len}\r\n\r\n{body}"),
            false => format!("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{len:x}\r\n{body}\r\n0\r\n\r\n"),
        };
        let end = if status == 200 { "xxx" } else { "bytes" };
        assert_eq!(ask(&mut stream, &request, end).await.0, status, "{announced} {len}");
    }
}

#[tokio::test]
async fn a_head_is_limited_to_the_byte() {
    async fn check(len: usize, status: u16) {
        let (mut stream, _server) = start(pending());
        let filler = "x".repeat(len - "GET / HTTP/1.1\r\na: \r\n\r\n".len());
        let request = format!("GET / HTTP/1.1\r\na: {filler}\r\n\r\n");
        let end = if status == 200 { "GET / " } else { "\r\n\r\n" };
        assert_eq!(ask(&mut stream, &request, end).await.0, status, "{len}");
    }
    check(64 << 10, 200).await;
    check((64 << 10) + 1, 431).await;
}

#[tokio::test]
async fn what_is_no_http_is_answered_and_ends_the_connection() {
    let (mut stream, server) = start(pending());
    assert_eq!(ask(&mut stream, "hello\r\n\r\n", "\r\n\r\n").await.0, 400);
    assert!(matches!(server.await, Ok(Err(ServeError::Http(_)))));
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_come_ends_the_connection() {
    for start_of_head in ["", "GET / HTTP/1.1\r\nHost:"] {
        let (mut stream, server) = start(pending());
        stream.write_all(start_of_head.as_bytes()).await.expect("room");
        let result = timeout(Duration::from_secs(21), server).await;
        assert!(matches!(result, Ok(Ok(Err(ServeError::HeadTimeout(_))))), "{result:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_comes_byte_by_byte_ends_the_connection() {
    let (mut stream, server) = start(pending());
    assert_eq!(ask(&mut stream, "GET / HTTP/1.1\r\n\r\n", "GET / ").await.0, 200);
    for _ in 0..21 {
        advance(Duration::from_secs(1)).await;
        if stream.write_all(b"G").await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(matches!(server.await, Ok(Err(ServeError::HeadTimeout(_)))));
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_kept_for_a_while() {
    let (mut stream, server) = start(pending());
    assert_eq!(ask(&mut stream, "GET / HTTP/1.1\r\n\r\n", "GET / ").await.0, 200);
    advance(Duration::from_secs(59)).await;
    assert_eq!(ask(&mut stream, "GET / HTTP/1.1\r\n\r\n", "GET / ").await.0, 200);
    let result = timeout(Duration::from_secs(121), server).await;
    assert!(matches!(result, Ok(Ok(Ok(Served::Closed)))), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_handler_is_waited_for() {
    let (mut stream, _server) = start(pending());
    assert_eq!(ask(&mut stream, "GET /slow HTTP/1.1\r\n\r\n", "GET /slow ").await.0, 200);
}

#[tokio::test]
async fn a_handler_whose_peer_goes_away_is_dropped() {
    struct SetOnDrop(Arc<AtomicBool>);
    impl Drop for SetOnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicBool::new(false));
    let (started, start) = oneshot::channel();
    let (handler_dropped, started) = (Arc::clone(&dropped), std::sync::Mutex::new(Some(started)));
    let (mut stream, theirs) = Stream::memory(1024);
    let limits = HttpLimits::default();
    let server = tokio::spawn(serve(theirs, &limits, pending(), move |_| {
        let guard = SetOnDrop(Arc::clone(&handler_dropped));
        let started = started.lock().expect("no panic").take();
        async move {
            let _guard = guard;
            started.expect("one request").send(()).expect("the test waits");
            pending::<Answer<Full<Bytes>>>().await
        }
    }));
    stream.write_all(b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n").await.expect("room");
    start.await.expect("the handler runs");
    assert!(!dropped.load(Ordering::SeqCst));
    drop(stream);
    assert!(matches!(server.await, Ok(Err(ServeError::Http(_)))));
    assert!(dropped.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_handler_may_hang_up() {
    let (mut stream, server) = start(pending());
    stream.write_all(b"GET /hang-up HTTP/1.1\r\n\r\n").await.expect("room");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("the end");
    assert_eq!(answer, "");
    assert!(matches!(server.await, Ok(Ok(Served::Closed))));
}

#[tokio::test]
async fn an_upgrade_gives_back_the_stream_and_what_was_read() {
    for before in ["", "GET / HTTP/1.1\r\n\r\n"] {
        let (mut stream, server) = start(pending());
        let all = format!("{before}{SWITCH}\r\nalready here");
        stream.write_all(all.as_bytes()).await.expect("room");
        let answer = read_until(&mut stream, "xOo=\r\n\r\n").await;
        assert!(answer.ends_with(SWITCHED), "{answer}");

        let Ok(Ok(Served::Upgraded(mut upgraded))) = server.await else {
            panic!("not upgraded");
        };
        assert_eq!(upgraded.read, "already here");
        assert_eq!(upgraded.head.uri, "/chat");
        stream.write_all(b"later").await.expect("room");
        let mut later = [0; 5];
        upgraded.stream.read_exact(&mut later).await.expect("the stream lives");
        assert_eq!(&later, b"later");
        upgraded.stream.write_all(b"and back").await.expect("room");
        assert_eq!(read_until(&mut stream, "back").await, "and back");
    }
}

#[tokio::test]
async fn an_upgrade_with_a_body_is_refused() {
    for header in ["Content-Length: 2", "Transfer-Encoding: chunked"] {
        let (mut stream, server) = start(pending());
        let all = format!("{SWITCH}{header}\r\n\r\n");
        stream.write_all(all.as_bytes()).await.expect("room");
        assert!(matches!(server.await, Ok(Err(ServeError::UpgradeWithBody))), "{header}");
    }
}

#[tokio::test]
async fn closing_ends_an_idle_connection_at_once() {
    let (close, closing) = oneshot::channel::<()>();
    let (mut stream, server) = start(async move { closing.await.unwrap_or(()) });
    assert_eq!(ask(&mut stream, "GET / HTTP/1.1\r\n\r\n", "GET / ").await.0, 200);
    close.send(()).expect("the server waits");
    assert!(matches!(server.await, Ok(Ok(Served::Closed))));
}

#[tokio::test(start_paused = true)]
async fn closing_lets_the_running_request_be_answered() {
    let (mut stream, server) = start(ready(()));
    assert_eq!(ask(&mut stream, "GET /slow HTTP/1.1\r\n\r\n", "GET /slow ").await.0, 200);
    assert!(matches!(server.await, Ok(Ok(Served::Closed))));
}

#[tokio::test]
async fn the_future_of_a_connection_is_a_pointer() {
    let (_ours, theirs) = Stream::memory(16);
    let served = serve(theirs, &HttpLimits::default(), pending(), echo);
    assert_eq!(size_of_val(&served), size_of::<usize>());
}
