//! Peers that go away in every phase, politely or not: nothing of them is left.

use std::time::Duration;

use polywire_tests::raw::{Raw, UPGRADE, client_frame};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::support::{PATIENCE, hear, options, say, server, start, text};

/// How a connection goes.
#[derive(Debug, Clone, Copy)]
enum Leave {
    /// Nothing more is sent.
    HalfClose,
    /// The socket is closed.
    Close,
    /// The socket is reset.
    Reset,
}

async fn leave(mut stream: TcpStream, how: Leave) -> Option<TcpStream> {
    match how {
        Leave::HalfClose => {
            // A server that has ended the connection makes this fail, which is as good.
            let _ = stream.shutdown().await;
            return Some(stream);
        }
        Leave::Close => {}
        Leave::Reset => stream.set_zero_linger().expect("a TCP socket"),
    }
    None
}

#[tokio::test]
async fn whatever_they_were_in_the_middle_of() {
    let server = server(options());
    let address = start(&server).await;
    let post =
        b"POST /Slow HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{\"ms\":9}";
    let frames = [client_frame(1, br#"["Slow",{"ms":9},1]"#), client_frame(9, b"ping"), client_frame(8, b"")].concat();
    let session = [UPGRADE, &frames].concat();
    for how in [Leave::HalfClose, Leave::Close, Leave::Reset] {
        let mut halves = Vec::new();
        for bytes in [&post[..], &session] {
            for end in (0..=bytes.len()).step_by(3) {
                let mut stream = TcpStream::connect(&address).await.expect("the server listens");
                stream.write_all(&bytes[..end]).await.expect("room");
                // Some go before the server looks, some after.
                if end % 2 == 0 {
                    tokio::task::yield_now().await;
                }
                halves.extend(leave(stream, how).await);
            }
        }
        let gone = async {
            while server.connection_count() > 0 || server.running_calls() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, gone).await.is_ok(), "{how:?}");
    }
    let mut raw = text(&address).await;
    say(&mut raw, r#"["Add",{"a":1,"b":2},1]"#).await;
    assert_eq!(hear(&mut raw).await, r#"["Add",{"isSucc":true,"res":{"sum":3}},1]"#);
    drop(raw);
    let stopped = tokio::time::timeout(PATIENCE, server.stop()).await.expect("it ends");
    assert_eq!((stopped.calls_cut, stopped.connections_cut), (0, 0));
}

#[tokio::test]
async fn while_everyone_is_told_something() {
    let server = server(options());
    let address = start(&server).await;
    let mut stays = text(&address).await;
    for round in 0..20 {
        let mut others = Vec::new();
        for _ in 0..10 {
            others.push(text(&address).await);
        }
        for (at, raw) in others.into_iter().enumerate() {
            if at % 2 == 0 {
                let mut raw: Raw = raw;
                say(
                    &mut raw,
                    &format!(r#"["Chat",{{"content":"!broadcast {round}.{at}","time":"1970-01-01T00:00:00.000Z"}}]"#),
                )
                .await;
            }
        }
        for at in (0..10).step_by(2) {
            let expected = format!(r#"["Chat",{{"content":"{round}.{at}","time":"1970-01-01T00:00:00.000Z"}}]"#);
            assert_eq!(hear(&mut stays).await, expected);
        }
    }
    drop(stays);
    server.stop().await;
}
