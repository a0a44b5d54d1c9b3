//! Input that nobody sends by accident. Whatever comes, the server answers or
//! closes, and serves the next peer.

use std::time::Duration;

use polywire_tests::raw::{Raw, client_frame};

use crate::support::{buffer, hear, options, post, say, server, start, text};

const ADD: &str = r#"["Add",{"a":1,"b":2},1]"#;
const SUM: &str = r#"["Add",{"isSucc":true,"res":{"sum":3}},1]"#;

/// A call that the server still answers on a new connection.
async fn lives(address: &str) {
    let mut raw = text(address).await;
    say(&mut raw, ADD).await;
    assert_eq!(hear(&mut raw).await, SUM);
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex digits")).collect()
}

/// Every binary frame that the transport vectors send to the server.
fn valid_frames() -> Vec<Vec<u8>> {
    let file = polywire_tests::vectors::load_own("tsrpc-transport-vectors.json");
    let sessions = file["websocket"].as_array().expect("a list").iter().flat_map(|session| session["steps"].as_array());
    let frames = sessions.flatten().filter_map(|step| step["send"]["hex"].as_str().map(unhex));
    let bodies = file["http"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|vector| vector["request"]["bodyHex"].as_str().map(unhex));
    frames.chain(bodies).filter(|frame| frame.len() > 2).collect()
}

#[tokio::test]
async fn every_prefix_and_every_corrupted_byte_of_valid_frames_is_answered_or_refused() {
    let server = server(options());
    start(&server).await;
    for frame in valid_frames() {
        for end in 0..frame.len() {
            server.input_buffer(&frame[..end]).await;
        }
        for at in 0..frame.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut corrupted = frame.clone();
                corrupted[at] ^= change;
                tokio::time::timeout(Duration::from_secs(5), server.input_buffer(&corrupted)).await.expect("an answer");
            }
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn bad_input_closes_the_connection_with_the_published_reason() {
    let server = server(options());
    let address = start(&server).await;
    let deep = format!(r#"["Echo",{{"any":{}}},1]"#, "[".repeat(100_000));
    let deep_closed = format!(r#"["Echo",{{"any":{}{}}},1]"#, "[".repeat(100_000), "]".repeat(100_000));
    #[rustfmt::skip]
    let texts = [
        (r#"["Add",{"a":1,"b":"2"},1]"#,    "close 1000 Property `b`: Expected type to be `number`, actually `string`."),
        (r#"["Add",{"a":1},1]"#,            "close 1000 Missing required property `b`."),
        (r#"["Add",5,1]"#,                  "close 1000 Expected type to be `Object`, actually `number`."),
        (r#"["Nope",{},1]"#,                "close 1000 Invalid api path: Nope"),
        (r#"["Nope",{}]"#,                  "close 1000 Invalid msg path: Nope"),
        (r#"["Echo",{"list":[{"id":"x"}]},1]"#, "close 1000 Property `list.0.id`: Expected type to be `number`, actually `string`."),
        ("",                                "close 1000 Input is not a valid JSON string: Unexpected end of JSON input"),
    ];
    for (frame, close) in texts {
        let mut raw = text(&address).await;
        say(&mut raw, frame).await;
        assert_eq!(hear(&mut raw).await, close, "{frame}");
    }
    for frame in [&deep, &deep_closed] {
        let mut raw = text(&address).await;
        say(&mut raw, frame).await;
        let close = hear(&mut raw).await;
        assert!(close.starts_with("close 1000 "), "{close}");
    }
    let invalid = "close 1000 Invalid request buffer, please check the version of service proto.";
    #[rustfmt::skip]
    let binaries = [
        "00000000",
        // A string of 4 GiB in five bytes.
        "0329002c05ffffffff0f",
        "0229012cffffffff0f",
        // A count of a million in a tiny frame.
        "0229022c05013cc0843d",
        "c0843d",
        // An unknown service.
        "022963",
        "0229632c0100",
    ];
    for hex in binaries {
        let mut raw = buffer(&address).await;
        raw.send_frame(2, &unhex(hex)).await;
        assert_eq!(hear(&mut raw).await, invalid, "{hex}");
    }
    lives(&address).await;
    server.stop().await;
}

#[tokio::test]
async fn text_and_binary_mix_on_one_connection() {
    let server = server(options());
    let address = start(&server).await;
    let mut raw = buffer(&address).await;
    say(&mut raw, ADD).await;
    let (opcode, _) = raw.frame(crate::support::PATIENCE).await.expect("an answer");
    assert_eq!(opcode, 2, "answered in what was negotiated");
    let mut raw = text(&address).await;
    raw.send_frame(2, &unhex("0329012c13022a3ff00000000000002e40000000000000003101")).await;
    assert_eq!(hear(&mut raw).await, SUM);
    server.stop().await;
}

#[tokio::test]
async fn invalid_utf8_is_refused_by_the_websocket_and_replaced_over_http() {
    let server = server(options());
    let address = start(&server).await;
    let mut raw = text(&address).await;
    raw.send_frame(1, b"[\"Add\",{\"a\":\"\xff\"},1]").await;
    let close = hear(&mut raw).await;
    assert!(close.starts_with("close 1007 "), "{close}");
    let mut raw = Raw::connect(&address).await;
    let body = b"{\"s\":\"\xff\"}";
    let head = format!(
        "POST /Echo HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    raw.write(&[head.as_bytes(), body].concat()).await;
    let response = raw.response(crate::support::PATIENCE).await.expect("an answer");
    assert_eq!(String::from_utf8_lossy(&response.body), "{\"isSucc\":true,\"res\":{\"s\":\"\u{fffd}\"}}");
    server.stop().await;
}

#[tokio::test]
async fn a_handler_that_panics_never_answers_or_answers_twice_hurts_nobody() {
    let server = server(options());
    let address = start(&server).await;
    let mut raw = text(&address).await;
    #[rustfmt::skip]
    let cases = [
        ("throw", r#"{"isSucc":false,"err":{"message":"Internal Server Error","type":"ServerError","code":"INTERNAL_ERR","innerErr":"boom"}}"#),
        ("none",  r#"{"isSucc":false,"err":{"message":"Internal Server Error","type":"ServerError","code":"INTERNAL_ERR","innerErr":"The handler of API `Err` ended without an answer"}}"#),
        ("twice", r#"{"isSucc":true,"res":{"ok":true}}"#),
    ];
    for (mode, answer) in cases {
        say(&mut raw, &format!(r#"["Err",{{"mode":"{mode}"}},1]"#)).await;
        assert_eq!(hear(&mut raw).await, format!(r#"["Err",{answer},1]"#));
    }
    say(&mut raw, ADD).await;
    assert_eq!(hear(&mut raw).await, SUM);
    server.stop().await;
}

#[tokio::test]
async fn frames_cut_anywhere_are_put_together() {
    let server = server(options());
    let address = start(&server).await;
    let mut raw = text(&address).await;
    let frame = client_frame(1, ADD.as_bytes());
    for at in 1..frame.len() {
        raw.write(&frame[..at]).await;
        // Gives the server a chance to see the half.
        tokio::task::yield_now().await;
        raw.write(&frame[at..]).await;
        assert_eq!(hear(&mut raw).await, SUM, "cut at {at}");
    }
    server.stop().await;
}

#[tokio::test]
async fn garbage_instead_of_http_is_refused() {
    let server = server(options());
    let address = start(&server).await;
    for garbage in [&b"\x16\x03\x01\x02\x00\x01"[..], b"GET\r\n\r\n", b"\0\0\0\0\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"] {
        let mut raw = Raw::connect(&address).await;
        raw.write(garbage).await;
        raw.write(b"\r\n\r\n").await;
        let response = raw.response(crate::support::PATIENCE).await;
        assert!(response.is_none_or(|response| response.status >= 400), "{garbage:?}");
    }
    assert_eq!(post(&address, "/Add", r#"{"a":1,"b":2}"#).await.expect("an answer").status, 200);
    lives(&address).await;
    server.stop().await;
}
