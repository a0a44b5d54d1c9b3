//! Requests that are legal but rare, or not legal at all, byte for byte.

use polywire_tests::raw::Raw;

use crate::support::{PATIENCE, options, server, start};

const SUM: &str = r#"{"isSucc":true,"res":{"sum":3}}"#;

/// The status of each answer and its body, until the connection ends or `count` have come.
async fn answers(address: &str, request: &[u8], count: usize) -> Vec<String> {
    let mut raw = Raw::connect(address).await;
    raw.write(request).await;
    let mut answers = Vec::new();
    while answers.len() < count {
        match raw.response(PATIENCE).await {
            Some(response) => {
                answers.push(format!("{} {}", response.status, String::from_utf8_lossy(&response.body)));
            }
            None => break,
        }
    }
    answers
}

const JSON: &str = "Host: test\r\nContent-Type: application/json\r\n";
const BODY: &str = r#"{"a":1,"b":2}"#;

#[tokio::test]
async fn targets_in_every_form() {
    let server = server(options());
    let address = start(&server).await;
    let unknown = |path: &str| {
        format!(
            r#"200 {{"isSucc":false,"err":{{"message":"Invalid URL path: {path}","type":"ServerError","code":"INPUT_DATA_ERR"}}}}"#
        )
    };
    let long = format!("/{}", "x".repeat(60_000));
    #[rustfmt::skip]
    let cases = [
        ("/Add",                    format!("200 {SUM}")),
        ("/Add?x=1&y",              format!("200 {SUM}")),
        ("http://other/Add",        format!("200 {SUM}")),
        ("//Add",                   unknown("//Add")),
        ("/Add/",                   unknown("/Add/")),
        ("/./Add",                  unknown("/./Add")),
        ("/%41dd",                  unknown("/%41dd")),
        ("/%ff%fe",                 unknown("/%ff%fe")),
        ("/%",                      unknown("/%")),
        ("/%e4%b",                  unknown("/%e4%b")),
        ("/?type=msg",              unknown("/?type=msg")),
        (long.as_str(),             unknown(&long)),
    ];
    for (target, expected) in cases {
        let request = format!("POST {target} HTTP/1.1\r\n{JSON}Content-Length: {}\r\n\r\n{BODY}", BODY.len());
        assert_eq!(answers(&address, request.as_bytes(), 1).await, [expected], "{target}");
    }
    server.stop().await;
}

#[tokio::test]
async fn framing_that_is_rare_or_wrong() {
    let server = server(options());
    let address = start(&server).await;
    let ok = format!("200 {SUM}");
    let twice = |head: &str| {
        format!("POST /Add HTTP/1.1\r\n{JSON}{head}GET /healthz HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
    };
    #[rustfmt::skip]
    let cases: &[(&str, String, &[&str])] = &[
        ("pipelined", twice(&format!("Content-Length: 13\r\n\r\n{BODY}")), &[&ok, "200 ok\n"]),
        ("chunked", twice(&format!("Transfer-Encoding: chunked\r\n\r\n6;x=y\r\n{}\r\n7\r\n{}\r\n0\r\nT: t\r\n\r\n", &BODY[..6], &BODY[6..])), &[&ok, "200 ok\n"]),
        ("a chunk without a size", twice("Transfer-Encoding: chunked\r\n\r\nx\r\n"), &["400 body ended early"]),
        ("a chunk size beyond 64 bits", twice("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx\r\n"), &["400 body ended early"]),
        ("two lengths", twice(&format!("Content-Length: 13\r\nContent-Length: 14\r\n\r\n{BODY}")), &["400 "]),
        ("a negative length", twice(&format!("Content-Length: -1\r\n\r\n{BODY}")), &["400 "]),
        ("a length with a sign", twice(&format!("Content-Length: +13\r\n\r\n{BODY}")), &["400 "]),
        ("unknown coding", twice(&format!("Transfer-Encoding: chunked, gzip\r\n\r\n{BODY}")), &["400 "]),
        ("chunked in HTTP/1.0", format!("POST /Add HTTP/1.0\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), &["400 "]),
        ("HTTP/1.0", format!("POST /Add HTTP/1.0\r\n{JSON}Content-Length: 13\r\n\r\n{BODY}"), &[&ok]),
        ("a folded header", twice("A: b\r\n c\r\nContent-Length: 0\r\n\r\n"), &["400 "]),
        ("a space before the colon", twice("Content-Length : 13\r\n\r\n"), &["400 "]),
        ("a zero byte in a header", twice("A: b\0c\r\nContent-Length: 0\r\n\r\n"), &["400 "]),
        ("a hundred headers too many", twice(&"A: b\r\n".repeat(200)), &["431 "]),
        ("HTTP/2 prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), &[]),
    ];
    for (name, request, expected) in cases {
        assert_eq!(answers(&address, request.as_bytes(), 3).await, *expected, "{name}");
    }
    let mut raw = Raw::connect(&address).await;
    raw.write(format!("POST /Add HTTP/1.1\r\n{JSON}Expect: 100-continue\r\nContent-Length: 13\r\n\r\n").as_bytes())
        .await;
    assert_eq!(raw.response(PATIENCE).await.expect("go on").status, 100);
    raw.write(BODY.as_bytes()).await;
    assert_eq!(raw.response(PATIENCE).await.expect("an answer").body, SUM.as_bytes());
    server.stop().await;
}

#[tokio::test]
async fn both_kinds_of_length_end_the_connection() {
    let server = server(options());
    let address = start(&server).await;
    let chunked = format!("d\r\n{BODY}\r\n0\r\n\r\n");
    for head in
        ["Content-Length: 13\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 13\r\n"]
    {
        let request = format!(
            "POST /Add HTTP/1.1\r\n{JSON}{head}\r\n{chunked}GET /healthz HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
        );
        // RFC 9112 §6.1: whoever answers such a request closes the connection.
        let found = answers(&address, request.as_bytes(), 3).await;
        assert!(found.len() <= 1, "{head}: {found:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn headers_of_proxies_mean_nothing_unless_they_are_trusted() {
    let (seen, mut sees) = tokio::sync::mpsc::unbounded_channel();
    let server = server(options());
    server.flows().post_connect.push(move |conn: polywire_server::Conn| {
        seen.send(conn.ip()).expect("the test lives");
        async move { conn }
    });
    let address = start(&server).await;
    let request = format!("POST /Add HTTP/1.1\r\n{JSON}X-Forwarded-For: 1.2.3.4\r\nContent-Length: 13\r\n\r\n{BODY}");
    assert_eq!(answers(&address, request.as_bytes(), 1).await, [format!("200 {SUM}")]);
    assert_eq!(sees.recv().await.flatten(), "127.0.0.1".parse().ok());
    server.stop().await;
}

#[tokio::test]
async fn an_upgrade_may_follow_pipelined_requests_and_be_followed_by_frames() {
    let server = server(options());
    let address = start(&server).await;
    let mut raw = Raw::connect(&address).await;
    let call = polywire_tests::raw::client_frame(1, br#"["Add",{"a":1,"b":2},1]"#);
    let get = b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n";
    raw.write(&[&get.repeat(3), polywire_tests::raw::UPGRADE, &call, &call].concat()).await;
    for _ in 0..3 {
        assert_eq!(raw.response(PATIENCE).await.expect("an answer").status, 200);
    }
    assert_eq!(raw.response(PATIENCE).await.expect("an answer").status, 101);
    for _ in 0..2 {
        assert_eq!(crate::support::hear(&mut raw).await, r#"["Add",{"isSucc":true,"res":{"sum":3}},1]"#);
    }
    drop(raw);
    server.stop().await;
}
