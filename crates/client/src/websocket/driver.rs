//! Drives one open connection of a client: reads, settles calls, writes.
//!
//! The only place of the client that knows both the socket and the session.

use std::{
    cell::RefCell,
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use polywire_net::{
    Stream,
    ws::{self, CloseCode, Decoder, Event},
};
use polywire_runtime::run_or_spawn;
use polywire_tsbuffer::DecodeError;
use polywire_tsrpc::{
    ApiError, Body, ClientSession, DataType, Frame, HEARTBEAT, HEARTBEAT_TIMEOUT_CODE, HEARTBEAT_TIMEOUT_REASON,
    HeartbeatAction, Received, decode_output_slow,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep_until},
};

use super::link::{Link, Phase, now};
use crate::{Data, core::Core, listeners};

/// Read at once. One buffer of this size a thread, not a connection.
const READ: usize = 64 << 10;

/// Reads handled in one turn before the other tasks of the thread get theirs.
const READS_A_TURN: usize = 16;

/// What a write buffer keeps of its memory when it is empty.
const KEPT_CAPACITY: usize = 64 << 10;

/// How long the server may take to answer a close frame.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// The published reason where it does not.
const CLOSE_UNANSWERED: &str = "Connection closed, but not received ws.onClose event.";

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; READ]);
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    /// The reason of the close frame, or what is published in its place; may be empty.
    pub(super) reason: String,
    pub(super) is_manual: bool,
}

/// The connection as a future: ends when the connection has ended.
pub(super) struct Driver {
    core: Arc<Core>,
    link: Arc<Link>,
    stream: Stream,
    decoder: Decoder,
    /// What the handshake read beyond its own bytes.
    early: Vec<u8>,
    writing: Vec<u8>,
    written: usize,
    timer: Option<(Instant, Pin<Box<Sleep>>)>,
    /// How long the server's close frame is awaited.
    closing_until: Option<Instant>,
    is_manual: bool,
    ended: Option<Ended>,
}

impl Driver {
    pub(super) fn new(core: Arc<Core>, link: Arc<Link>, stream: Stream, decoder: Decoder, early: Vec<u8>) -> Self {
        Self {
            core,
            link,
            stream,
            decoder,
            early,
            writing: Vec::new(),
            written: 0,
            timer: None,
            closing_until: None,
            is_manual: false,
            ended: None,
        }
    }

    fn end(&mut self, reason: &str) {
        self.ended.get_or_insert(Ended { reason: reason.to_owned(), is_manual: self.is_manual });
    }

    /// The connection broke: without a close frame there is no reason.
    fn fail(&mut self, error: &io::Error) {
        tracing::debug!(%error, "the connection broke");
        self.end("");
    }

    /// What is due: time-outs of calls, heartbeat, a close that was asked for.
    pub(super) fn act(&mut self) {
        let now = now();
        let link = Arc::clone(&self.link);
        let mut expired = Vec::new();
        let mut lost = false;
        {
            let mut state = link.lock();
            if let Phase::Asked(code, reason) = state.phase.clone() {
                self.is_manual = true;
                state.put_close(code, &reason);
                self.closing_until = Some(now + CLOSE_WAIT);
            }
            if let Some(session) = &mut state.session {
                let due = session.poll(now);
                expired = due.expired;
                match due.heartbeat {
                    HeartbeatAction::Wait => {}
                    HeartbeatAction::Ping => state.put(ws::Opcode::Binary, HEARTBEAT),
                    HeartbeatAction::Lost => {
                        state.put_close(CloseCode(HEARTBEAT_TIMEOUT_CODE), HEARTBEAT_TIMEOUT_REASON);
                        lost = true;
                    }
                }
            }
        }
        for call in expired {
            call.waiter.settle(Some(ApiError::request_timeout()));
        }
        if lost {
            // The other side is not waited for: it does not answer.
            self.end(HEARTBEAT_TIMEOUT_REASON);
        }
        if self.closing_until.is_some_and(|until| until <= now) {
            self.end(CLOSE_UNANSWERED);
        }
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = self.link.lock().session.as_ref().and_then(ClientSession::next_deadline);
        let Some(deadline) = [deadline, self.closing_until].into_iter().flatten().min() else {
            self.timer = None;
            return Poll::Pending;
        };
        if self.timer.as_ref().is_none_or(|(known, _)| *known != deadline) {
            self.timer = Some((deadline, Box::pin(sleep_until(deadline.into()))));
        }
        match &mut self.timer {
            Some((_, sleep)) => sleep.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.early.is_empty() {
            let mut early = std::mem::take(&mut self.early);
            self.handle(&mut early);
        }
        for _ in 0..READS_A_TURN {
            if self.ended.is_some() {
                return Poll::Ready(Ok(()));
            }
            ready!(SCRATCH.with_borrow_mut(|scratch| {
                let mut buf = ReadBuf::new(scratch);
                ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buf))?;
                match buf.filled_mut() {
                    [] => self.end(""),
                    bytes => self.handle(bytes),
                }
                Poll::Ready(Ok::<_, io::Error>(()))
            }))?;
        }
        // Others first; then we go on.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Decodes and handles every whole frame of one read.
    fn handle(&mut self, mut bytes: &mut [u8]) {
        let now = now();
        let core = Arc::clone(&self.core);
        let link = Arc::clone(&self.link);
        while self.ended.is_none() {
            let event = match self.decoder.decode(&mut bytes) {
                Ok(Some(event)) => event,
                Ok(None) => return,
                Err(error) => {
                    link.lock().put_close(error.close_code(), &error.to_string());
                    return self.end(&error.to_string());
                }
            };
            let frame = match event {
                Event::Text(text) => Frame::Text(text.as_bytes()),
                Event::Binary(bytes) => Frame::Binary(bytes),
                Event::Ping(payload) => {
                    link.put_pong(payload);
                    continue;
                }
                Event::Pong(_) => continue,
                Event::Close { code, reason } => {
                    link.lock().put_close(code, "");
                    let reason = reason.to_owned();
                    return self.end(&reason);
                }
            };
            if frame != Frame::Binary(HEARTBEAT) && core.flows.receives_active() {
                receive_through_flows(&core, &link, frame);
            } else {
                receive(&core, &link, frame, now);
            }
        }
    }

    /// Writes what is queued. Ready when nothing is left.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.written == self.writing.len() {
                self.writing.clear();
                self.writing.shrink_to(KEPT_CAPACITY);
                self.written = 0;
                std::mem::swap(&mut self.link.lock().out, &mut self.writing);
                if self.writing.is_empty() {
                    return Pin::new(&mut self.stream).poll_flush(cx);
                }
            }
            let count = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.writing[self.written..]))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += count;
        }
    }
}

impl Future for Driver {
    type Output = Ended;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        let this = self.get_mut();
        this.link.begin_turn(cx.waker());
        this.act();
        if let Poll::Ready(Err(error)) = this.poll_read(cx) {
            this.fail(&error);
        }
        while this.ended.is_none() && this.poll_timer(cx).is_ready() {
            this.act();
        }
        if let Poll::Ready(Err(error)) = this.poll_write(cx) {
            this.fail(&error);
        }
        // What a dead connection does not take at its end is not waited for.
        this.ended.take().map_or(Poll::Pending, Poll::Ready)
    }
}

/// Handles a frame. A body that was guessed wrong is read again as a whole.
fn receive(core: &Arc<Core>, link: &Link, frame: Frame<'_>, now: Instant) {
    let services = &core.contract.services;
    let received = match link.lock().open() {
        Some(session) => session.receive(now, frame, services),
        // What comes after closing began is ignored, as published.
        None => return,
    };
    if let Err(error) = accept(core, link, received) {
        let again = match frame {
            Frame::Text(text) => decode_output_slow(text, services),
            Frame::Binary(_) => return tracing::error!(%error, "ParseServerOutputError"),
        };
        if let Err(error) = accept(core, link, again) {
            tracing::error!(%error, "ParseServerOutputError");
        }
    }
}

/// Settles a call or hands out a message; an error where the body does not decode.
fn accept(core: &Arc<Core>, link: &Link, received: Received<'_>) -> Result<(), DecodeError> {
    match received {
        Received::Heartbeat => Ok(()),
        Received::Invalid(error) => {
            tracing::error!(%error, "ParseServerOutputError");
            Ok(())
        }
        Received::Message { service, body } => listeners::receive(core, service, body),
        Received::Reply { sn: None, .. } => Ok(()),
        Received::Reply { sn: Some(sn), result, .. } => {
            let mut state = link.lock();
            let Some(session) = state.open() else { return Ok(()) };
            let error = match result {
                Err(error) => Some(error),
                Ok(body) => {
                    // Nobody waits any more: late answers are normal.
                    let Some(waiter) = session.calls().get(sn) else { return Ok(()) };
                    let is_guess = matches!(body, Body::Json(_));
                    match waiter.read(body) {
                        Ok(()) => None,
                        Err(error) if is_guess => return Err(error),
                        Err(error) => {
                            tracing::error!(%error, "ParseServerOutputError");
                            Some(ApiError::unreadable_output())
                        }
                    }
                }
            };
            let waiter = session.calls_mut().take(sn);
            drop(state);
            if let Some(waiter) = waiter {
                waiter.settle(error);
            }
            Ok(())
        }
    }
}

fn receive_through_flows(core: &Arc<Core>, link: &Arc<Link>, frame: Frame<'_>) {
    if link.lock().open().is_none() {
        return;
    }
    let data = match frame {
        Frame::Text(text) => Data::new(DataType::Text, text.to_vec()),
        Frame::Binary(bytes) => Data::Buffer(bytes.to_vec()),
    };
    let (core, link) = (Arc::clone(core), Arc::clone(link));
    run_or_spawn(async move {
        let Some(data) = core.flows.receive(data).await else { return };
        let frame = match &data {
            Data::Text(text) => Frame::Text(text.as_bytes()),
            Data::Buffer(bytes) => Frame::Binary(bytes),
        };
        receive(&core, &link, frame, now());
    });
}
