//! A client of few words: HTTP requests and WebSocket frames as bytes over a
//! socket, with code that shares nothing with the crates under test.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// How long an answer may take that is expected to come.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A response as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Names as they were written, in order.
    pub headers: Vec<(String, String)>,
    /// The body, chunks put together.
    pub body: Vec<u8>,
}

impl Response {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// A connection that is read by whole heads, bodies and frames.
#[derive(Debug)]
pub struct Raw {
    stream: TcpStream,
    read: Vec<u8>,
}

/// A handshake that offers no subprotocol.
pub const UPGRADE: &[u8] = b"GET / HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

impl From<TcpStream> for Raw {
    fn from(stream: TcpStream) -> Self {
        Self { stream, read: Vec::new() }
    }
}

impl Raw {
    /// Connects.
    ///
    /// # Panics
    /// Where nobody listens.
    pub async fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(true).expect("a TCP socket");
        Self { stream, read: Vec::new() }
    }

    /// Writes bytes as they are. A peer that has closed is no error.
    pub async fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    async fn more(&mut self) -> Option<()> {
        let mut bytes = [0; 16 << 10];
        match self.stream.read(&mut bytes).await {
            Ok(0) | Err(_) => None,
            Ok(count) => {
                self.read.extend_from_slice(&bytes[..count]);
                Some(())
            }
        }
    }

    async fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.read.len() < count {
            self.more().await?;
        }
        let rest = self.read.split_off(count);
        Some(std::mem::replace(&mut self.read, rest))
    }

    async fn take_until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.read.windows(end.len()).position(|window| window == end) {
                return self.take(at + end.len()).await;
            }
            self.more().await?;
        }
    }

    /// Reads a response; `None` where the connection ends, or `patience` does.
    pub async fn response(&mut self, patience: Duration) -> Option<Response> {
        timeout(patience, self.read_response()).await.ok()?
    }

    async fn read_response(&mut self) -> Option<Response> {
        let head = String::from_utf8_lossy(&self.take_until(b"\r\n\r\n").await?).into_owned();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        let mut response = Response { status, headers, body: Vec::new() };
        if let Some(length) = response.header("content-length").and_then(|length| length.parse().ok()) {
            response.body = self.take(length).await?;
        } else if response.header("transfer-encoding").is_some() {
            loop {
                let size = self.take_until(b"\r\n").await?;
                let size = usize::from_str_radix(String::from_utf8_lossy(&size).trim(), 16).ok()?;
                let chunk = self.take(size + 2).await?;
                response.body.extend_from_slice(&chunk[..size]);
                if size == 0 {
                    break;
                }
            }
        }
        Some(response)
    }

    /// Shakes hands, offering these subprotocols; returns the server's answer.
    ///
    /// # Panics
    /// Where the server does not answer.
    pub async fn upgrade(&mut self, offered: Option<&str>) -> Response {
        let protocol = offered.map(|offered| format!("Sec-WebSocket-Protocol: {offered}\r\n")).unwrap_or_default();
        let request = format!(
            "GET / HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{protocol}\r\n"
        );
        self.write(request.as_bytes()).await;
        self.response(PATIENCE).await.expect("an answer to the handshake")
    }

    /// Sends a whole frame, masked.
    pub async fn send_frame(&mut self, opcode: u8, payload: &[u8]) {
        self.write(&client_frame(opcode, payload)).await;
    }

    /// Reads a frame; `None` where the connection ends, or `patience` does.
    pub async fn frame(&mut self, patience: Duration) -> Option<(u8, Vec<u8>)> {
        timeout(patience, self.read_frame()).await.ok()?
    }

    async fn read_frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let head = self.take(2).await?;
        let length = match head[1] {
            126 => {
                let bytes = self.take(2).await?;
                usize::from(u16::from_be_bytes([bytes[0], bytes[1]]))
            }
            127 => {
                let bytes = self.take(8).await?;
                usize::try_from(u64::from_be_bytes(bytes.try_into().ok()?)).ok()?
            }
            short => usize::from(short),
        };
        Some((head[0] & 15, self.take(length).await?))
    }
}

/// A whole frame as a client sends it.
#[must_use]
pub fn client_frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    const KEY: [u8; 4] = [0x12, 0x34, 0x56, 0x78];
    let mut frame = vec![0x80 | opcode];
    match payload.len() {
        short @ 0..=125 => frame.push(0x80 | short as u8),
        medium @ 126..=0xffff => {
            frame.push(0x80 | 126);
            frame.extend_from_slice(&(medium as u16).to_be_bytes());
        }
        long => {
            frame.push(0x80 | 127);
            frame.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(&KEY);
    frame.extend(payload.iter().zip(KEY.iter().cycle()).map(|(byte, key)| byte ^ key));
    frame
}
