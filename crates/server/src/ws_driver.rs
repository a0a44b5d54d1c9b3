//! Drives one WebSocket connection: reads, decodes in place, dispatches, writes.
//!
//! The only place of the server that knows both the socket and the session.
//! Invariants: all frames of one read are dispatched before anything is
//! written, and then all is written at once; memory of an idle connection is
//! its state alone, since reads go through a buffer of the thread.

use std::{
    cell::RefCell,
    future::Future,
    io::{self, IoSlice},
    pin::Pin,
    sync::atomic::Ordering,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use polywire_net::ws::{self, CloseCode, Decoder, Event};
use polywire_tsrpc::{
    Frame, HEARTBEAT, HEARTBEAT_LOST_CODE, HEARTBEAT_LOST_REASON, ServerSession, SessionOptions, Watchdog,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf},
    time::{Sleep, sleep_until},
};

use crate::{
    Conn, ServerStatus,
    conn::{ConnStatus, Long},
    dispatch::{self, Outcome},
    outbound::{Draining, Outbound, Purpose},
};

/// Read at once. One buffer of this size a thread, not a connection.
const READ: usize = 64 << 10;

/// Reads handled in one turn before the other connections of the thread get theirs.
const READS_A_TURN: usize = 4;

/// How long a peer may take to answer a close frame.
const CLOSE_WAIT: Duration = Duration::from_secs(3);

/// How long a peer that broke the protocol is heard out.
const LINGER: Duration = Duration::from_secs(1);

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; READ]);
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: CloseCode,
    pub(crate) reason: String,
    /// The peer has not been heard out: see [`Driver::linger`].
    pub(crate) unheard: bool,
}

impl Ended {
    fn failed(error: &io::Error) -> Self {
        Self { code: CloseCode::ABNORMAL, reason: error.to_string(), unheard: false }
    }
}

/// The connection as a future: ends when the connection has ended.
pub(crate) struct Driver<S> {
    stream: S,
    conn: Conn,
    decoder: Decoder,
    session: ServerSession,
    options: SessionOptions,
    writing: Draining,
    /// Read but not yet handled: what the handshake read beyond its own bytes,
    /// or what followed the last call that a limit admitted.
    early: Vec<u8>,
    phase: Phase,
    /// Reading stopped at a limit: the socket will not wake us when it has more.
    paused: bool,
    /// The peer did not take our last bytes in time.
    abandoned: bool,
    /// For the heartbeat watch, the answer to a close frame and the last bytes.
    timer: Option<Pin<Box<Sleep>>>,
    watchdog: Option<Watchdog>,
    /// Since when a message is coming that is not complete.
    begun: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Our close frame is queued or sent; the peer's is awaited.
    Closing,
    /// All is said: write what is left, then end.
    Finishing(Ended),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Driver<S> {
    pub(crate) fn new(stream: S, conn: Conn, session: ServerSession, decoder: Decoder, early: Vec<u8>) -> Self {
        let options = conn.server().session_options();
        let watchdog = conn.server().options().heartbeat_wait.map(|wait| Watchdog::new(wait, Instant::now()));
        let mut driver = Self {
            stream,
            conn,
            decoder,
            session,
            options,
            writing: Draining::default(),
            early,
            phase: Phase::Open,
            paused: false,
            abandoned: false,
            timer: None,
            watchdog,
            begun: None,
        };
        driver.arm_watch();
        driver
    }

    fn long(conn: &Conn) -> &Long {
        conn.long().expect("a WebSocket connection is long")
    }

    /// Sets the timer of an open connection, where there is anything to watch.
    fn arm_watch(&mut self) {
        let heartbeat = self.watchdog.as_ref().map(Watchdog::next_deadline);
        let deadlines = [heartbeat, self.message_deadline()];
        self.timer = deadlines.into_iter().flatten().min().map(|deadline| Box::pin(sleep_until(deadline.into())));
    }

    /// When a message that has begun is to be complete.
    fn message_deadline(&self) -> Option<Instant> {
        self.begun.map(|begun| begun + self.conn.server().options().limits.message_time)
    }

    /// Looks at an open connection at a deadline: who has gone silent is let go.
    fn watch(&mut self) {
        let now = Instant::now();
        let waits_for_us = self.paused && self.has_all_calls();
        if let Some(watchdog) = &mut self.watchdog {
            if waits_for_us {
                // Its pings are not read.
                watchdog.ping(now);
            }
            if watchdog.is_lost(now) {
                return self.begin_close(CloseCode(HEARTBEAT_LOST_CODE), HEARTBEAT_LOST_REASON);
            }
        }
        if waits_for_us {
            // So is the rest of its message not.
            self.begun = self.begun.map(|_| now);
        }
        if self.message_deadline().is_some_and(|deadline| deadline <= now) {
            return self.begin_close(CloseCode::POLICY, "The message took too long");
        }
        self.arm_watch();
    }

    /// Queues our close frame and waits for the peer's.
    fn begin_close(&mut self, code: CloseCode, reason: &str) {
        if self.phase != Phase::Open {
            return;
        }
        self.conn.set_status(ConnStatus::Closing);
        // Nothing follows a close frame: the queue takes nothing after it.
        Self::long(&self.conn).out.append_last(|out| ws::put_close(out, code, reason));
        self.phase = Phase::Closing;
        self.arm_close();
    }

    fn finish(&mut self, code: CloseCode, reason: &str) {
        self.end(Ended { code, reason: reason.to_owned(), unheard: false });
    }

    /// All is said. A peer that does not take the last bytes is not waited for long.
    fn end(&mut self, ended: Ended) {
        self.phase = Phase::Finishing(ended);
        self.arm_close();
    }

    fn arm_close(&mut self) {
        self.timer = Some(Box::pin(sleep_until((Instant::now() + CLOSE_WAIT).into())));
    }

    /// Ends the writing half and drops what the peer still sends, for a short
    /// while: closing a socket with unread bytes resets it, and the reset may
    /// overtake our close frame.
    pub(crate) async fn linger(&mut self) {
        let drain = async {
            self.stream.shutdown().await?;
            let mut bytes = [0; 512];
            while self.stream.read(&mut bytes).await? > 0 {}
            Ok::<_, io::Error>(())
        };
        // Whatever goes wrong now, the connection ends.
        let _ = tokio::time::timeout(LINGER, drain).await;
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) {
        while let Some(timer) = &mut self.timer {
            if timer.as_mut().poll(cx).is_pending() {
                return;
            }
            self.timer = None;
            match self.phase {
                Phase::Closing => {
                    self.finish(CloseCode::ABNORMAL, "The close frame was not answered");
                    self.abandoned = true;
                }
                Phase::Finishing(_) => self.abandoned = true,
                Phase::Open => self.watch(),
            }
        }
    }

    /// Reads and dispatches until there is nothing more to read, or the turn is over.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        for _ in 0..READS_A_TURN {
            self.paused = self.is_saturated();
            if self.paused || matches!(self.phase, Phase::Finishing(_)) {
                return Poll::Pending;
            }
            if !self.early.is_empty() {
                let mut early = std::mem::take(&mut self.early);
                self.handle(&mut early);
                continue;
            }
            // After a read that did not fill the buffer, tokio knows without a system call that the socket is empty.
            ready!(SCRATCH.with_borrow_mut(|scratch| {
                let mut buf = ReadBuf::new(scratch);
                ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buf))?;
                match buf.filled_mut() {
                    [] => {
                        let clean = self.phase == Phase::Closing;
                        self.finish(CloseCode::ABNORMAL, if clean { "" } else { "The peer went away" });
                    }
                    bytes => self.handle(bytes),
                }
                Poll::Ready(Ok::<_, io::Error>(()))
            }))?;
        }
        // Others first; then we go on.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Whether reading on would only pile up work for a peer that does not take its answers.
    fn is_saturated(&self) -> bool {
        self.phase == Phase::Open && (self.has_all_calls() || Self::long(&self.conn).out.is_heavy())
    }

    /// Whether as many calls are in flight as may be.
    fn has_all_calls(&self) -> bool {
        let limit = self.conn.server().options().limits.calls_in_flight;
        Self::long(&self.conn).calls_in_flight.load(Ordering::Acquire) >= limit
    }

    /// Decodes and dispatches every whole frame of one read, up to a limit.
    fn handle(&mut self, mut bytes: &mut [u8]) {
        let now = Instant::now();
        let conn = self.conn.clone();
        let server = conn.server();
        while self.phase == Phase::Open || self.phase == Phase::Closing {
            if self.is_saturated() {
                self.early = bytes.to_vec();
                return;
            }
            let event = match self.decoder.decode(&mut bytes) {
                Ok(Some(event)) => event,
                Ok(None) => return self.wait_for_more(now),
                Err(error) => {
                    tracing::debug!(conn = conn.id(), %error, "the peer breaks the WebSocket protocol");
                    let (code, reason) = (error.close_code(), error.to_string());
                    if self.phase == Phase::Open {
                        self.begin_close(code, &reason);
                    }
                    // The rest of its bytes means nothing: our close frame is the last word.
                    return self.end(Ended { code, reason, unheard: true });
                }
            };
            let frame = match event {
                Event::Text(text) => {
                    self.begun = None;
                    Frame::Text(text.as_bytes())
                }
                Event::Binary(bytes) => {
                    self.begun = None;
                    Frame::Binary(bytes)
                }
                Event::Ping(payload) => {
                    if self.phase == Phase::Open {
                        Self::long(&conn).out.append(Purpose::Message, ws::Opcode::Pong, payload);
                    }
                    continue;
                }
                Event::Pong(_) => continue,
                Event::Close { code, reason } => {
                    let reason = reason.to_owned();
                    if self.phase == Phase::Open {
                        // The code is echoed, the reason is not, as the published server does.
                        self.begin_close(code, "");
                    }
                    return self.finish(code, &reason);
                }
            };
            if self.phase != Phase::Open || server.status() != ServerStatus::Opened {
                continue;
            }
            match dispatch::frame(&conn, &mut self.session, &self.options, frame, now) {
                Outcome::Done => {}
                Outcome::Heartbeat => {
                    if let Some(watchdog) = &mut self.watchdog {
                        watchdog.ping(now);
                    }
                    Self::long(&conn).out.append(Purpose::Message, ws::Opcode::Binary, HEARTBEAT);
                }
                Outcome::Invalid(error) => {
                    tracing::debug!(conn = conn.id(), %error, "[InputDataError]");
                    if !server.shared.policies.refuses(&conn, &error) {
                        continue;
                    }
                    self.begin_close(CloseCode::NORMAL, &error.close_reason());
                }
            }
        }
    }

    /// All that came is handled. The rest of a message that has begun is not
    /// waited for without end. A timer that runs already is left as it is, and
    /// looks at the message when it is due: mostly the rest has come by then.
    fn wait_for_more(&mut self, now: Instant) {
        if !self.decoder.is_amid() {
            return;
        }
        self.begun.get_or_insert(now);
        if self.phase == Phase::Open && self.timer.is_none() {
            self.arm_watch();
        }
    }

    /// Writes what is queued. Ready when nothing is left.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let conn = self.conn.clone();
        let out = &Self::long(&conn).out;
        let written = self.poll_write_all(cx, out);
        if written.is_pending() {
            out.rest();
        }
        written
    }

    fn poll_write_all(&mut self, cx: &mut Context<'_>, out: &Outbound) -> Poll<io::Result<()>> {
        loop {
            out.drain(&mut self.writing, cx.waker());
            if self.writing.is_empty() {
                return Pin::new(&mut self.stream).poll_flush(cx);
            }
            let mut slices = [IoSlice::new(&[]); 32];
            let count = self.writing.slices(&mut slices);
            let written = ready!(match &slices[..count] {
                [one] => Pin::new(&mut self.stream).poll_write(cx, one),
                many => Pin::new(&mut self.stream).poll_write_vectored(cx, many),
            })?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.writing.advance(written);
            out.written(written);
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Future for Driver<S> {
    type Output = Ended;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        let this = self.get_mut();
        let conn = this.conn.clone();
        let long = Self::long(&conn);
        long.out.begin_turn();
        this.poll_timer(cx);
        if let Some((code, reason)) = long.close.get() {
            this.begin_close(*code, reason);
        }
        if let Poll::Ready(Err(error)) = this.poll_read(cx) {
            return Poll::Ready(Ended::failed(&error));
        }
        // A handler of this turn may have closed it.
        if let Some((code, reason)) = long.close.get() {
            this.begin_close(*code, reason);
        }
        // A close that began just now has a timer that was not polled yet.
        this.poll_timer(cx);
        let written = match this.poll_write(cx) {
            Poll::Ready(Err(error)) => return Poll::Ready(Ended::failed(&error)),
            written => written.is_ready(),
        };
        if let Phase::Finishing(ended) = &this.phase
            && (written || this.abandoned)
        {
            return Poll::Ready(ended.clone());
        }
        // Writing may have made the room that reading waits for. Asked after the queue was told to wake
        // us, so that a call that ends just now is not missed either.
        let has_room = this.paused && !this.is_saturated();
        // So is whoever closed the connection while we wrote: it found us awake.
        let is_to_close = this.phase == Phase::Open && long.close.get().is_some();
        if has_room || is_to_close {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
