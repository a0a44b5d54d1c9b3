//! One HTTP connection, from its first request to its end or its upgrade.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{Request, Response, request};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt as _;
use tokio::time::{MissedTickBehavior, interval_at, sleep, timeout};

use super::activity::{Activity, AnswerBody, Doing, Watched};
use super::{HttpLimits, head};
use crate::Stream;

/// What a handler makes of a request.
#[derive(Debug)]
pub enum Answer<B> {
    /// An answer in HTTP; the connection goes on with the next request.
    Response(Response<B>),
    /// Leaves HTTP: the answer is sent, and [`serve`] gives the stream back
    /// together with the request's head. A request with a body is no
    /// candidate; it makes [`serve`] end with [`ServeError::UpgradeWithBody`].
    Upgrade(Box<Switch>),
    /// Ends the connection without an answer.
    HangUp,
}

/// A request for an upgrade and the answer that agrees.
#[derive(Debug)]
pub struct Switch {
    /// The head of the request.
    pub head: request::Parts,
    /// The answer, 101.
    pub response: Response<()>,
}

/// How an HTTP connection ended.
#[derive(Debug)]
pub enum Served {
    /// One of the two sides closed it, all requests answered.
    Closed,
    /// It goes on as something else.
    Upgraded(Box<Upgraded>),
}

/// A connection that has left HTTP.
#[derive(Debug)]
pub struct Upgraded {
    /// The connection. The answer to the request has been sent.
    pub stream: Stream,
    /// The head of the request that asked for it.
    pub head: request::Parts,
    /// What the peer sent after its request already.
    pub read: Bytes,
}

/// Why an HTTP connection ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The peer broke HTTP, or went away in the middle of a request. It has
    /// been told, where it could be.
    #[error("HTTP connection failed")]
    Http(#[source] hyper::Error),
    /// The head of a request took longer than [`HttpLimits::head_timeout`].
    #[error("head of a request took longer than {0:?}")]
    HeadTimeout(Duration),
    /// The peer asked for an upgrade with a body, or without having read the
    /// answers to its earlier requests.
    #[error("an upgrade was asked for in the middle of other data")]
    UpgradeWithBody,
    /// The answer to the upgrade could not be sent.
    #[error("cannot answer the upgrade")]
    Upgrade(#[source] io::Error),
}

/// Serves one connection. When `closing` resolves, the running request is
/// answered and the connection then closed; one that has not said anything yet
/// gets half a second for its first request.
///
/// A handler whose peer goes away before the answer is dropped where it waits.
/// The future is one pointer; all that HTTP needs is freed when it ends.
///
/// # Errors
/// [`ServeError`] where the connection ended in the middle of something.
pub fn serve<C, H, F, B>(
    stream: Stream,
    limits: &HttpLimits,
    closing: C,
    handler: H,
) -> Pin<Box<impl Future<Output = Result<Served, ServeError>> + use<C, H, F, B>>>
where
    C: Future<Output = ()>,
    H: Fn(Request<Incoming>) -> F,
    F: Future<Output = Answer<B>>,
    B: Body + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let limits = limits.clone();
    Box::pin(async move {
        let activity = Arc::new(Activity::default());
        let io = TokioIo::new(Watched::new(stream, &activity));
        let service = service_fn(|request| {
            let busy = activity.begin();
            let answer = handler(request);
            async move {
                match answer.await {
                    Answer::Response(response) => Ok(response.map(|body| AnswerBody::new(body, busy))),
                    Answer::Upgrade(switch) => Err(Leave::upgrade(switch)),
                    Answer::HangUp => Err(Leave::HangUp),
                }
            }
        });
        let connection = http1::Builder::new()
            .title_case_headers(true)
            .max_header_size(limits.max_head)
            .max_buf_size(limits.max_head.max(MIN_BUFFER))
            // Ours costs no timer and no clock reading for each request.
            .header_read_timeout(None)
            .serve_connection(io, service);
        let mut connection = Box::pin(connection);
        let mut closing = pin!(async {
            closing.await;
            if activity.is_fresh() {
                // Its request is on the way, most likely, and is to be told that it comes too late. hyper
                // would close at once instead.
                sleep(FIRST_REQUEST_WAIT).await;
            }
        });
        let mut is_closing = false;
        let mut watch = Watch::new(&activity, &limits);

        let result = loop {
            tokio::select! {
                biased;
                result = connection.as_mut() => break result,
                () = &mut closing, if !is_closing => {
                    is_closing = true;
                    connection.as_mut().graceful_shutdown();
                }
                timeout = watch.cut() => return timeout,
            }
        };
        let parts = Pin::into_inner(connection).into_parts();
        let watched = parts.io.into_inner();
        let leave = result.as_ref().err().and_then(|error| error.source()?.downcast_ref::<Leave>());
        let Some(leave) = leave else {
            if !is_closing {
                watched.linger().await;
            }
            return result.map(|()| Served::Closed).map_err(ServeError::Http);
        };
        let Some(Switch { head, response }) = leave.take().map(|switch| *switch) else {
            return Ok(Served::Closed);
        };
        let stream = watched.into_stream();
        let stream = stream.filter(|_| !has_body(&head)).ok_or(ServeError::UpgradeWithBody)?;
        let stream = send_head(stream, &response, limits.head_timeout).await;
        let stream = stream.map_err(ServeError::Upgrade)?;
        Ok(Served::Upgraded(Box::new(Upgraded { stream, head, read: parts.read_buf })))
    })
}

/// What a connection that was opened just before the end gets for its first request.
const FIRST_REQUEST_WAIT: Duration = Duration::from_millis(500);

/// The smallest read buffer that hyper takes.
const MIN_BUFFER: usize = 8 << 10;

/// Cuts a connection that makes no progress.
struct Watch<'a> {
    activity: &'a Activity,
    limits: &'a HttpLimits,
    ticks: tokio::time::Interval,
    seen: u32,
    idle: Duration,
}

impl<'a> Watch<'a> {
    fn new(activity: &'a Activity, limits: &'a HttpLimits) -> Self {
        let period = limits.head_timeout.max(Duration::from_millis(1));
        let mut ticks = interval_at(tokio::time::Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { activity, limits, ticks, seen: 0, idle: Duration::ZERO }
    }

    /// Resolves when the connection is to be cut. May be cancelled.
    async fn cut(&mut self) -> Result<Served, ServeError> {
        loop {
            self.ticks.tick().await;
            match self.activity.since(&mut self.seen) {
                Doing::Progress => self.idle = Duration::ZERO,
                Doing::Stalled => return Err(ServeError::HeadTimeout(self.limits.head_timeout)),
                Doing::Idle => {
                    self.idle += self.ticks.period();
                    if self.idle >= self.limits.idle_timeout {
                        return Ok(Served::Closed);
                    }
                }
            }
        }
    }
}

/// How a handler tells the loop, through hyper, that HTTP ends here: hyper
/// hands the error out and leaves the stream untouched.
enum Leave {
    Upgrade(Mutex<Option<Box<Switch>>>),
    HangUp,
}

impl Leave {
    fn upgrade(mut switch: Box<Switch>) -> Self {
        // hyper's own road for upgrades, which is not taken.
        switch.head.extensions.remove::<OnUpgrade>();
        Self::Upgrade(Mutex::new(Some(switch)))
    }

    fn take(&self) -> Option<Box<Switch>> {
        match self {
            Self::Upgrade(switch) => switch.lock().unwrap_or_else(PoisonError::into_inner).take(),
            Self::HangUp => None,
        }
    }
}

impl fmt::Debug for Leave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Leave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the handler left HTTP")
    }
}

impl StdError for Leave {}

fn has_body(head: &request::Parts) -> bool {
    let length = head.headers.get(CONTENT_LENGTH);
    length.is_some_and(|length| length != "0") || head.headers.contains_key(TRANSFER_ENCODING)
}

async fn send_head(mut stream: Stream, response: &Response<()>, limit: Duration) -> io::Result<Stream> {
    let head = head::encode_response(response);
    timeout(limit, async {
        stream.write_all(&head).await?;
        stream.flush().await
    })
    .await??;
    Ok(stream)
}
