//! Repeats every WebSocket message, as a server or as a client: the program that
//! the Autobahn test suite is run against (`tests/autobahn/run`).
//!
//! ```text
//! ws_echo serve 127.0.0.1:9001          accepts connections, with compression
//! ws_echo client ws://127.0.0.1:9002    goes through the cases of a fuzzing server
//! ```

use std::error::Error;
use std::future::pending;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper::body::Incoming;
use polywire_net::client::{WebSocketOptions, connect};
use polywire_net::http::{Answer, HttpLimits, Served, Switch, serve};
use polywire_net::ws::{Decoder, Deflate, DeflateConfig, Encoder, Event, Limits, Opcode, Role, WsError, handshake};
use polywire_net::{Listener, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const USAGE: &str = "usage: ws_echo serve HOST:PORT | ws_echo client URL";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", addr] => listen(addr).await,
        ["client", url] => run_cases(url).await,
        _ => Err(USAGE.into()),
    }
}

async fn listen(addr: &str) -> Result<()> {
    let mut listener = Listener::bind(addr).await?;
    for addr in listener.local_addrs() {
        println!("listening on {addr}");
    }
    loop {
        let incoming = listener.accept().await;
        tokio::spawn(async move {
            if let Err(error) = connection(incoming.establish().await?).await {
                eprintln!("{error}");
            }
            Result::Ok(())
        });
    }
}

async fn connection(stream: Stream) -> Result<()> {
    let served = serve(stream, &HttpLimits::default(), pending(), answer).await?;
    let Served::Upgraded(upgraded) = served else {
        return Ok(());
    };
    let deflate = upgraded.head.extensions.get::<Deflate>().copied();
    echo(upgraded.stream, Role::Server, deflate, &upgraded.read).await?;
    Ok(())
}

async fn answer(request: Request<Incoming>) -> Answer<Full<Bytes>> {
    let (mut head, _) = request.into_parts();
    match handshake::accept(&head, None, Some(&compression())) {
        Ok(accepted) => {
            if let Some(deflate) = accepted.deflate {
                head.extensions.insert(deflate);
            }
            let response = accepted.response;
            Answer::Upgrade(Box::new(Switch { head, response }))
        }
        Err(refusal) => Answer::Response(refusal.response().map(|text| Full::new(text.into()))),
    }
}

/// Every message is compressed, so that the test suite sees it done.
fn compression() -> DeflateConfig {
    DeflateConfig { threshold: 0, ..DeflateConfig::default() }
}

/// Repeats until one side closes: reads once, decodes all that came, writes once.
async fn echo(mut stream: Stream, role: Role, deflate: Option<Deflate>, read: &[u8]) -> io::Result<()> {
    let mut decoder = Decoder::new(role, Limits::default());
    if let Some(deflate) = &deflate {
        decoder = decoder.with_deflate(deflate);
    }
    let mut encoder = Encoder::new(role, deflate.as_ref());
    let mut buf = vec![0; 64 << 10];
    let mut out = Vec::new();
    let mut len = read.len();
    buf[..len].copy_from_slice(read);
    loop {
        let mut input = &mut buf[..len];
        let result = repeat(&mut decoder, &mut encoder, &mut input, &mut out);
        if let Err(error) = result {
            encoder.put_close(&mut out, error.close_code(), "");
        }
        stream.write_all(&out).await?;
        stream.flush().await?;
        out.clear();
        if !matches!(result, Ok(Open::Yes)) {
            break;
        }
        len = stream.read(&mut buf).await?;
        if len == 0 {
            return Ok(());
        }
    }
    // A server closes first; a client waits for it, but not for ever.
    if role == Role::Client {
        let ended = async { while stream.read(&mut buf).await.is_ok_and(|len| len > 0) {} };
        let _ = timeout(Duration::from_secs(1), ended).await;
    }
    stream.shutdown().await
}

/// Whether the connection goes on.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Yes,
    No,
}

fn repeat(
    decoder: &mut Decoder,
    encoder: &mut Encoder,
    input: &mut &mut [u8],
    out: &mut Vec<u8>,
) -> std::result::Result<Open, WsError> {
    while let Some(event) = decoder.decode(input)? {
        match event {
            Event::Text(text) => encoder.put(out, Opcode::Text, text.as_bytes()),
            Event::Binary(bytes) => encoder.put(out, Opcode::Binary, bytes),
            Event::Ping(bytes) => encoder.put(out, Opcode::Pong, bytes),
            Event::Pong(_) => {}
            Event::Close { code, .. } => {
                encoder.put_close(out, code, "");
                return Ok(Open::No);
            }
        }
    }
    Ok(Open::Yes)
}

/// Lets a fuzzing server test this side, case by case.
async fn run_cases(server: &str) -> Result<()> {
    let options = WebSocketOptions { deflate: Some(compression()), ..WebSocketOptions::default() };
    let cases: u32 = first_text(&format!("{server}/getCaseCount")).await?.parse()?;
    for case in 1..=cases {
        let url = format!("{server}/runCase?case={case}&agent=polywire");
        let socket = connect(&url, &options).await?;
        if let Err(error) = echo(socket.stream, Role::Client, socket.deflate, &socket.read).await {
            eprintln!("case {case}: {error}");
        }
    }
    let url = format!("{server}/updateReports?agent=polywire");
    let socket = connect(&url, &WebSocketOptions::default()).await?;
    echo(socket.stream, Role::Client, None, &socket.read).await?;
    println!("{cases} cases");
    Ok(())
}

async fn first_text(url: &str) -> Result<String> {
    let mut socket = connect(url, &WebSocketOptions::default()).await?;
    let mut decoder = Decoder::new(Role::Client, Limits::default());
    let mut piece = socket.read.to_vec();
    loop {
        if let Some(Event::Text(text)) = decoder.decode(&mut piece.as_mut_slice())? {
            return Ok(text.to_owned());
        }
        piece.clear();
        if socket.stream.read_buf(&mut piece).await? == 0 {
            return Err("closed before it said anything".into());
        }
    }
}
