//! One open WebSocket connection as both its users and its driver see it.
//!
//! Knows the session and frames, no sockets. Invariants: every call in the
//! session is settled exactly once; nothing follows a close frame; whatever a
//! user does after the driver's turn began wakes the driver for another.

use std::{
    cell::Cell,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use polywire_net::ws::{self, CloseCode};
use polywire_runtime::{Request, ValueCodec};
use polywire_tsbuffer::DecodeError;
use polywire_tsrpc::{
    ApiError, Body, CallOptions, ClientOptions, ClientSession, DataType, Draft, ErrorKind, Sender, Service, codes,
};
use tokio::sync::{oneshot, watch};

use crate::{core::ApiCodecs, transport::Encode};

/// The clock of the timers, which tests can stop.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// What waits for the answer of a call.
pub(super) trait Waiter: Send {
    /// Reads the response and keeps it.
    fn read(&self, body: Body<'_>) -> Result<(), DecodeError>;
    /// Hands over the response that was read, or the error.
    fn settle(self: Box<Self>, error: Option<ApiError>);
}

struct Waiting<A: Request> {
    codecs: Arc<ApiCodecs<A>>,
    response: Cell<Option<A::Response>>,
    sender: oneshot::Sender<Result<A::Response, ApiError>>,
}

impl<A: Request> Waiter for Waiting<A> {
    fn read(&self, body: Body<'_>) -> Result<(), DecodeError> {
        self.response.set(Some(self.codecs.response.decode(body)?));
        Ok(())
    }

    fn settle(self: Box<Self>, error: Option<ApiError>) {
        let result = match (error, self.response.into_inner()) {
            (None, Some(response)) => Ok(response),
            (error, _) => Err(error.unwrap_or_else(ApiError::unreadable_output)),
        };
        // The caller may have gone: then nobody needs the answer.
        let _ = self.sender.send(result);
    }
}

/// The answer of a call in flight. Dropping it withdraws the call.
pub(super) struct Answer<T> {
    link: Arc<Link>,
    pub(super) sn: u64,
    /// `None` once it is there.
    receiver: Option<oneshot::Receiver<Result<T, ApiError>>>,
}

impl<T> Future for Answer<T> {
    type Output = Result<T, ApiError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(receiver) = &mut self.receiver else { return Poll::Pending };
        let answer = Pin::new(receiver).poll(cx).map(|answer| answer.unwrap_or_else(|_| Err(lost())));
        if answer.is_ready() {
            self.receiver = None;
        }
        answer
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        if self.receiver.is_some()
            && let Some(session) = &mut self.link.lock().session
        {
            // Its answer will find nobody.
            session.calls_mut().take(self.sn);
        }
    }
}

fn lost() -> ApiError {
    ApiError::lost_connection("")
}

type Session = ClientSession<Box<dyn Waiter>>;

/// The connection.
pub(super) struct Link {
    state: Mutex<State>,
    limit: usize,
    data_type: DataType,
    ended: watch::Sender<bool>,
}

/// How far the closing of a connection is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not closing.
    Open,
    /// This side wants to close; the driver has not seen it yet.
    Asked(CloseCode, String),
    /// The close frame is written: nothing follows it, and nothing that comes matters.
    Closing,
}

pub(super) struct State {
    /// `None` once the connection has ended.
    pub(super) session: Option<Session>,
    pub(super) out: Vec<u8>,
    pub(super) phase: Phase,
    encoder: ws::Encoder,
    /// Wakes the driver once.
    waker: Option<Waker>,
}

impl State {
    /// The session, unless the connection closes.
    pub(super) fn open(&mut self) -> Option<&mut Session> {
        self.session.as_mut().filter(|_| self.phase == Phase::Open)
    }

    /// Appends a frame, unless the close frame is written.
    pub(super) fn put(&mut self, opcode: ws::Opcode, payload: &[u8]) {
        if self.phase != Phase::Closing {
            self.encoder.put(&mut self.out, opcode, payload);
        }
    }

    /// Appends the close frame; nothing follows it.
    pub(super) fn put_close(&mut self, code: CloseCode, reason: &str) {
        if self.phase != Phase::Closing {
            self.encoder.put_close(&mut self.out, code, reason);
            self.phase = Phase::Closing;
        }
    }
}

/// Where the answer of a call arrives.
type Arriving<T> = oneshot::Receiver<Result<T, ApiError>>;

impl Link {
    pub(super) fn new(options: &ClientOptions, encoder: ws::Encoder, limit: usize) -> Self {
        let state = State {
            session: Some(ClientSession::new(options, now())),
            out: Vec::new(),
            phase: Phase::Open,
            encoder,
            waker: None,
        };
        Self { state: Mutex::new(state), limit, data_type: options.data_type, ended: watch::Sender::new(false) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a turn of the driver: what users do from now on wakes it again.
    pub(super) fn begin_turn(&self, waker: &Waker) {
        let mut state = self.lock();
        if !state.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            state.waker = Some(waker.clone());
        }
    }

    fn release(mut state: MutexGuard<'_, State>) {
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn admit<'a>(&self, state: &'a mut State) -> Result<&'a mut Session, ApiError> {
        if state.out.len() >= self.limit {
            let text = "Too many bytes wait to be sent to the server";
            return Err(ApiError::new(text).kind(ErrorKind::Client).code(codes::SEND_BUF_ERR));
        }
        state.open().ok_or_else(ApiError::not_open)
    }

    /// Makes a call: admits it and writes its frame.
    pub(super) fn call<A: Request>(
        self: &Arc<Self>,
        service: &Service,
        codecs: &Arc<ApiCodecs<A>>,
        timeout: Option<Duration>,
        encode: impl Encode,
    ) -> Result<Answer<A::Response>, ApiError> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let (sn, receiver) = self.admit_call(state, codecs, timeout)?;
        let data_type = self.data_type;
        let written = self.write(state, |out| {
            let mut draft = Draft::request(out, data_type, service, sn);
            encode(data_type, draft.body()).map(|()| draft.finish())
        });
        if let Err(error) = written {
            state.open().and_then(|session| session.calls_mut().take(sn));
            return Err(ApiError::invalid_request(error.to_string()));
        }
        Self::release(guard);
        Ok(Answer { link: Arc::clone(self), sn, receiver: Some(receiver) })
    }

    /// Admits a call whose frame goes through hooks before it is written.
    pub(super) fn admit_unwritten<A: Request>(
        self: &Arc<Self>,
        codecs: &Arc<ApiCodecs<A>>,
        timeout: Option<Duration>,
    ) -> Result<Answer<A::Response>, ApiError> {
        let mut state = self.lock();
        let (sn, receiver) = self.admit_call(&mut state, codecs, timeout)?;
        // The driver has a new deadline to wait for.
        Self::release(state);
        Ok(Answer { link: Arc::clone(self), sn, receiver: Some(receiver) })
    }

    fn admit_call<A: Request>(
        &self,
        state: &mut State,
        codecs: &Arc<ApiCodecs<A>>,
        timeout: Option<Duration>,
    ) -> Result<(u64, Arriving<A::Response>), ApiError> {
        let session = self.admit(state)?;
        let (sender, receiver) = oneshot::channel();
        let waiter = Box::new(Waiting { codecs: Arc::clone(codecs), response: Cell::new(None), sender });
        let sn = session
            .start(now(), CallOptions { timeout, abort_key: None }, waiter)
            .map_err(|error| ApiError::new(error.to_string()).kind(ErrorKind::Client))?;
        Ok((sn, receiver))
    }

    /// Writes the frame of a message.
    pub(super) fn message(&self, service: &Service, encode: impl Encode) -> Result<(), ApiError> {
        let mut guard = self.lock();
        let state = &mut *guard;
        self.admit(state)?;
        let data_type = self.data_type;
        let written = self.write(state, |out| {
            let mut draft = Draft::message(out, data_type, service, Sender::Client);
            encode(data_type, draft.body()).map(|()| draft.finish())
        });
        written.map_err(|error| ApiError::invalid_message(error.to_string()))?;
        Self::release(guard);
        Ok(())
    }

    /// Writes a frame whose payload is ready.
    pub(super) fn put(&self, opcode: ws::Opcode, payload: &[u8]) -> Result<(), ApiError> {
        let mut state = self.lock();
        self.admit(&mut state)?;
        state.put(opcode, payload);
        Self::release(state);
        Ok(())
    }

    /// Answers a ping, unless too much waits already: a server that pings need not read.
    pub(super) fn put_pong(&self, payload: &[u8]) {
        let mut state = self.lock();
        if state.out.len() < self.limit {
            state.put(ws::Opcode::Pong, payload);
        }
    }

    /// Writes a frame in place; nothing on an error.
    fn write<E>(&self, state: &mut State, payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let opcode = match self.data_type {
            DataType::Text => ws::Opcode::Text,
            DataType::Buffer => ws::Opcode::Binary,
        };
        let frame = ws::begin_frame(&mut state.out, opcode);
        match payload(&mut state.out) {
            Ok(()) => state.encoder.finish(&mut state.out, frame),
            Err(error) => {
                ws::abandon_frame(&mut state.out, frame);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Asks the driver to close the connection. The first to ask decides how.
    pub(super) fn close(&self, code: CloseCode, reason: &str) {
        let mut state = self.lock();
        if state.phase == Phase::Open {
            state.phase = Phase::Asked(code, reason.to_owned());
            Self::release(state);
        }
    }

    /// Ends the session: every call that waits fails, and so does every later one.
    pub(super) fn end(&self, reason: &str) {
        let session = self.lock().session.take();
        for call in session.into_iter().flat_map(ClientSession::close) {
            call.waiter.settle(Some(ApiError::lost_connection(reason)));
        }
        self.ended.send_replace(true);
    }

    /// Waits until the session has ended.
    pub(super) async fn ended(&self) {
        // The sender lives in `self`.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }
}
