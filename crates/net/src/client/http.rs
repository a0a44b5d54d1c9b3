//! HTTP requests over kept connections.

use std::error::Error as StdError;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::time::timeout;
use tower_service::Service;

use super::UrlError;
use super::target::Target;
use crate::Stream;
use crate::http::{BodyError, BodyLimits, collect};
use crate::tls::ClientTls;

/// How an HTTP client behaves.
#[derive(Debug, Clone)]
pub struct HttpClientOptions {
    /// Whom to trust. Default: whom the system trusts.
    pub tls: Option<ClientTls>,
    /// How long connecting may take, TLS included. Default 10 s.
    pub connect_timeout: Duration,
    /// How long an unused connection is kept. Default 4 s: Node's servers close
    /// theirs after 5 s, and a request must not meet a connection that closes.
    pub idle_timeout: Duration,
    /// Unused connections that are kept for each server. Default 100.
    pub max_idle_per_host: usize,
    /// What the body of an answer may take.
    pub body: BodyLimits,
}

impl Default for HttpClientOptions {
    fn default() -> Self {
        Self {
            tls: None,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(4),
            max_idle_per_host: 100,
            body: BodyLimits::default(),
        }
    }
}

/// Sends requests and keeps the connections. Cheap to clone; clones share them.
#[derive(Debug, Clone)]
pub struct HttpClient {
    client: Client<Connector, Full<Bytes>>,
    body: BodyLimits,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The URL leads nowhere.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// The server cannot be reached.
    #[error("cannot connect")]
    Connect(#[source] legacy::Error),
    /// The connection failed, or the server spoke no HTTP, before the answer was there.
    #[error("no answer")]
    Lost(#[source] legacy::Error),
    /// The body of the answer is too long, too slow, or broken.
    #[error("the body of the answer")]
    Body(#[source] BodyError),
}

impl SendError {
    /// What the system said, where it is the reason.
    pub fn io_error(&self) -> Option<&io::Error> {
        let mut next: Option<&(dyn StdError + 'static)> = Some(self);
        while let Some(error) = next {
            if let Some(error) = error.downcast_ref() {
                return Some(error);
            }
            next = error.source();
        }
        None
    }
}

impl HttpClient {
    /// A client without connections.
    pub fn new(options: &HttpClientOptions) -> Self {
        let connector = Connector { tls: options.tls.clone(), timeout: options.connect_timeout };
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(options.idle_timeout)
            .pool_max_idle_per_host(options.max_idle_per_host)
            .http1_title_case_headers(true)
            .build(connector);
        Self { client, body: options.body.clone() }
    }

    /// Sends a request to its URL (`http://` or `https://`) and reads the whole
    /// answer, whatever its status. Dropping the future ends the request; the
    /// server sees the connection close. There is no deadline for the answer:
    /// give one with `tokio::time::timeout`.
    ///
    /// # Errors
    /// [`SendError`] where there is no answer.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, SendError> {
        Target::of(request.uri())?;
        let answer = self.client.request(request.map(Full::new)).await;
        let answer = answer
            .map_err(|error| if error.is_connect() { SendError::Connect(error) } else { SendError::Lost(error) })?;
        let (head, body) = answer.into_parts();
        let body = collect(body, &self.body).await.map_err(SendError::Body)?;
        Ok(Response::from_parts(head, body))
    }
}

/// Opens the connections of a client.
#[derive(Debug, Clone)]
struct Connector {
    tls: Option<ClientTls>,
    timeout: Duration,
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = Box<dyn StdError + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Self { tls, timeout: limit } = self.clone();
        Box::pin(async move {
            let target = Target::of(&uri)?;
            let stream = timeout(limit, target.reach(tls.as_ref())).await?;
            Ok(TokioIo::new(stream?))
        })
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}
