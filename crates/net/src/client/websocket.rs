//! Opening a WebSocket.

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::UrlError;
use super::target::{ReachError, Target, parse};
use crate::tls::{ClientTls, TlsError};
use crate::ws::handshake::{BadResponse, Opening};
use crate::ws::{Deflate, DeflateConfig};
use crate::{OpenError, Stream};

/// How to open a WebSocket.
#[derive(Debug, Clone)]
pub struct WebSocketOptions {
    /// Subprotocols to offer, the best one first. Default none.
    pub protocols: Vec<String>,
    /// More headers of the request. Default none.
    pub headers: HeaderMap,
    /// Whom to trust. Default: whom the system trusts.
    pub tls: Option<ClientTls>,
    /// Compression to offer. Default none.
    pub deflate: Option<DeflateConfig>,
    /// How long opening may take, from looking up the name to the server's
    /// answer. Default 10 s.
    pub timeout: Duration,
}

impl Default for WebSocketOptions {
    fn default() -> Self {
        Self {
            protocols: Vec::new(),
            headers: HeaderMap::new(),
            tls: None,
            deflate: None,
            timeout: Duration::from_secs(10),
        }
    }
}

/// An open WebSocket. Its frames are for [`ws::Decoder`](crate::ws::Decoder)
/// and [`ws::Encoder`](crate::ws::Encoder).
#[derive(Debug)]
pub struct WebSocket {
    /// The connection.
    pub stream: Stream,
    /// The subprotocol that the server chose.
    pub protocol: Option<String>,
    /// What was agreed on about compression.
    pub deflate: Option<Deflate>,
    /// What the server sent after its answer already.
    pub read: Bytes,
    /// The head of the server's answer.
    pub head: response::Parts,
}

/// Why a WebSocket could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL leads nowhere.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// A subprotocol or header cannot be sent.
    #[error("the request cannot be sent")]
    Request(#[from] http::Error),
    /// The server cannot be reached.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is nobody to trust.
    #[error(transparent)]
    TlsConfig(#[from] TlsError),
    /// The TLS handshake failed.
    #[error("TLS handshake failed")]
    Tls(#[source] io::Error),
    /// The connection failed before the server had answered.
    #[error("connection failed during the handshake")]
    Io(#[source] io::Error),
    /// The server's answer is no HTTP, or longer than 64 KiB.
    #[error("the server's answer is no HTTP")]
    NoHttp,
    /// The server's answer opens no WebSocket.
    #[error(transparent)]
    Refused(#[from] BadResponse),
    /// It took too long.
    #[error("opening took longer than {0:?}")]
    Timeout(Duration),
}

impl ConnectError {
    /// What the system said, where it is the reason.
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::Open(error) => error.io_error(),
            Self::Tls(error) | Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// Longest head of an answer.
const MAX_HEAD: usize = 64 << 10;

/// Most headers of an answer.
const MAX_HEADERS: usize = 100;

/// Opens a WebSocket at a URL with `ws://` or `wss://`.
///
/// # Errors
/// [`ConnectError`]; nothing is left open then.
pub async fn connect(url: &str, options: &WebSocketOptions) -> Result<WebSocket, ConnectError> {
    // Boxed: what opening needs is larger than what it gives.
    match timeout(options.timeout, Box::pin(open(url, options))).await {
        Ok(result) => result,
        Err(_) => Err(ConnectError::Timeout(options.timeout)),
    }
}

async fn open(url: &str, options: &WebSocketOptions) -> Result<WebSocket, ConnectError> {
    let uri = parse(url)?;
    let target = Target::of(&uri)?;
    let protocols: Vec<_> = options.protocols.iter().map(String::as_str).collect();
    let opening = Opening::new(nonce(), &protocols, options.deflate);
    let mut request = opening.request(&uri)?;
    request.headers_mut().extend(options.headers.clone());

    let mut stream = target.reach(options.tls.as_ref()).await?;
    let (head, read) = exchange(&mut stream, &request).await?;
    let agreed = opening.agree(&head)?;
    Ok(WebSocket { stream, protocol: agreed.protocol, deflate: agreed.deflate, read, head })
}

/// Sends the request and reads the head of the answer, and what came with it.
async fn exchange(stream: &mut Stream, request: &Request<()>) -> Result<(response::Parts, Bytes), ConnectError> {
    stream.write_all(&crate::http::encode_request(request)).await.map_err(ConnectError::Io)?;
    stream.flush().await.map_err(ConnectError::Io)?;

    let mut buf = BytesMut::with_capacity(1024);
    let mut searched = 0;
    let end = loop {
        if let Some(at) = buf[searched..].windows(4).position(|four| four == b"\r\n\r\n") {
            break searched + at + 4;
        }
        if buf.len() >= MAX_HEAD {
            return Err(ConnectError::NoHttp);
        }
        searched = buf.len().saturating_sub(3);
        if stream.read_buf(&mut buf).await.map_err(ConnectError::Io)? == 0 {
            return Err(ConnectError::Io(io::ErrorKind::UnexpectedEof.into()));
        }
    };
    let head = buf.split_to(end);
    let head = parse_head(&head).ok_or(ConnectError::NoHttp)?;
    Ok((head, buf.freeze()))
}

fn parse_head(bytes: &[u8]) -> Option<response::Parts> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Response::new(&mut headers);
    if !parsed.parse(bytes).ok()?.is_complete() {
        return None;
    }
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::from_u16(parsed.code?).ok()?;
    for header in parsed.headers {
        let name = HeaderName::from_bytes(header.name.as_bytes()).ok()?;
        let value = HeaderValue::from_bytes(header.value).ok()?;
        response.headers_mut().append(name, value);
    }
    Some(response.into_parts().0)
}

/// Sixteen bytes that no other connection has, from the operating system's randomness.
fn nonce() -> [u8; 16] {
    let secret = RandomState::new();
    let mut nonce = [0; 16];
    for (number, half) in (0u8..).zip(nonce.chunks_exact_mut(8)) {
        half.copy_from_slice(&secret.hash_one(number).to_ne_bytes());
    }
    nonce
}

impl From<ReachError> for ConnectError {
    fn from(error: ReachError) -> Self {
        match error {
            ReachError::Open(error) => Self::Open(error),
            ReachError::Config(error) => Self::TlsConfig(error),
            ReachError::Tls(error) => Self::Tls(error),
        }
    }
}
