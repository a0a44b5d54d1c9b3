//! Whether an HTTP connection makes progress, seen without reading a clock:
//! the server asks now and then, and compares with the last answer.
//!
//! Holds always: a peer cannot feign progress by sending a head byte by byte.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::time::timeout;

use crate::Stream;

/// Shared by the parts of one connection, all of which run in one task.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// A request is being handled or answered.
    busy: AtomicBool,
    /// Bytes have come since the last request began or ended.
    heard: AtomicBool,
    /// Counts requests that began or ended, and writes that the peer took.
    progress: AtomicU32,
}

/// What a connection has been doing since it was asked last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// Something useful.
    Progress,
    /// It waits for the next request.
    Idle,
    /// It waits for its first request, or for the rest of a head.
    Stalled,
}

impl Activity {
    /// A request begins; it ends when the answer's body is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.busy.store(true, Relaxed);
        self.step();
        Busy(Arc::clone(self))
    }

    /// Whether nothing has been asked or answered yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.progress.load(Relaxed) == 0
    }

    /// `last` is the count at the last question, kept by the asker.
    pub(super) fn since(&self, last: &mut u32) -> Doing {
        let now = self.progress.load(Relaxed);
        let before = std::mem::replace(last, now);
        if self.busy.load(Relaxed) || before != now {
            return Doing::Progress;
        }
        if now == 0 || self.heard.load(Relaxed) {
            return Doing::Stalled;
        }
        Doing::Idle
    }

    fn step(&self) {
        self.heard.store(false, Relaxed);
        self.count();
    }

    fn count(&self) {
        // Only one task counts.
        self.progress.store(self.progress.load(Relaxed).wrapping_add(1), Relaxed);
    }
}

/// A request that is being handled or answered.
#[derive(Debug)]
pub(super) struct Busy(Arc<Activity>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.store(false, Relaxed);
        self.0.step();
    }
}

pin_project! {
    /// The body of an answer; the request ends with it.
    pub(super) struct AnswerBody<B> {
        #[pin]
        body: B,
        busy: Busy,
    }
}

impl<B> AnswerBody<B> {
    pub(super) fn new(body: B, busy: Busy) -> Self {
        Self { body, busy }
    }
}

impl<B: Body> Body for AnswerBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The stream under hyper, with an eye on what passes.
#[derive(Debug)]
pub(super) struct Watched {
    stream: Stream,
    activity: Arc<Activity>,
    /// The peer takes no more at the moment, so hyper may hold bytes for it.
    blocked: bool,
    /// The peer sends nothing more.
    ended: bool,
}

/// How long a peer is heard out whose connection this side ends.
const LINGER: Duration = Duration::from_secs(1);

impl Watched {
    pub(super) fn new(stream: Stream, activity: &Arc<Activity>) -> Self {
        Self { stream, activity: Arc::clone(activity), blocked: false, ended: false }
    }

    /// The stream again, or `None` where hyper holds bytes that were not sent.
    pub(super) fn into_stream(self) -> Option<Stream> {
        (!self.blocked).then_some(self.stream)
    }

    /// Ends the connection, and for a short while drops what the peer still
    /// sends: closing a socket with unread bytes resets it, and the reset may
    /// overtake the last answer (RFC 9112 §9.6).
    pub(super) async fn linger(mut self) {
        if self.ended {
            return;
        }
        let drain = async {
            self.stream.shutdown().await?;
            let mut bytes = [0; 8 << 10];
            while self.stream.read(&mut bytes).await? > 0 {}
            Ok::<_, io::Error>(())
        };
        // Boxed: few connections end so. Whatever goes wrong now, the connection ends.
        let _ = Box::pin(timeout(LINGER, drain)).await;
    }

    fn wrote(&mut self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.blocked = result.is_pending();
        if !self.blocked {
            self.activity.count();
        }
        result
    }
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        if result.is_ready() {
            self.activity.heard.store(true, Relaxed);
            self.ended = buf.filled().len() == before;
        }
        result
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.wrote(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.wrote(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_and_taken_writes_are_progress() {
        let activity = Arc::new(Activity::default());
        let mut last = 0;
        assert_eq!(activity.since(&mut last), Doing::Stalled, "no request yet");

        let busy = activity.begin();
        assert_eq!(activity.since(&mut last), Doing::Progress);
        assert_eq!(activity.since(&mut last), Doing::Progress, "still being answered");
        drop(busy);
        assert_eq!(activity.since(&mut last), Doing::Progress, "just ended");
        assert_eq!(activity.since(&mut last), Doing::Idle);

        activity.heard.store(true, Relaxed);
        assert_eq!(activity.since(&mut last), Doing::Stalled, "half a head");
        assert_eq!(activity.since(&mut last), Doing::Stalled);

        activity.count();
        assert_eq!(activity.since(&mut last), Doing::Progress, "the peer took bytes");
    }
}
