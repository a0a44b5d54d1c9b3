//! One open WebSocket connection as both its users and its driver see it.
//!
//! Knows the session and frames, no sockets. Invariant: every call in the
//! session is settled exactly once; nothing follows a close frame.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
    time::{Duration, Instant},
};

use polywire_net::ws::{self, CloseCode};
use polywire_tsbuffer::{DecodeError, EncodeError};
use polywire_tsrpc::{ApiError, Body, CallOptions, ClientOptions, ClientSession, DataType, Draft, Sender, Service};
use tokio::sync::oneshot;

use crate::call::{Decode, Encode};

/// What waits for the answer of a call.
pub(crate) trait Waiter: Send {
    /// Reads the response and keeps it.
    fn read(&self, body: Body<'_>) -> Result<(), DecodeError>;
    /// Hands over the response that was read, or the error.
    fn settle(self: Box<Self>, error: Option<ApiError>);
}

struct Waiting<T> {
    decode: Arc<Decode<T>>,
    response: Mutex<Option<T>>,
    sender: oneshot::Sender<Result<T, ApiError>>,
}

impl<T: Send> Waiter for Waiting<T> {
    fn read(&self, body: Body<'_>) -> Result<(), DecodeError> {
        let response = (self.decode)(body)?;
        *self.response.lock().unwrap_or_else(PoisonError::into_inner) = Some(response);
        Ok(())
    }

    fn settle(self: Box<Self>, error: Option<ApiError>) {
        let response = self.response.into_inner().unwrap_or_else(PoisonError::into_inner);
        let result = match (error, response) {
            (None, Some(response)) => Ok(response),
            (error, _) => Err(error.unwrap_or_else(ApiError::unreadable_output)),
        };
        // The caller may have gone: then nobody needs the answer.
        let _ = self.sender.send(result);
    }
}

/// The connection.
pub(crate) struct Link {
    state: Mutex<State>,
    limit: usize,
    data_type: DataType,
}

pub(crate) struct State {
    /// `None` once the connection has ended.
    pub(crate) session: Option<ClientSession<Box<dyn Waiter>>>,
    pub(crate) out: Vec<u8>,
    encoder: ws::Encoder,
    /// The close frame that was asked for.
    pub(crate) close: Option<(CloseCode, String)>,
    /// Nothing more is written.
    pub(crate) closing: bool,
    /// The driver runs or has been woken.
    pub(crate) awake: bool,
    pub(crate) waker: Option<Waker>,
}

impl State {
    fn take_waker(&mut self) -> Option<Waker> {
        if std::mem::replace(&mut self.awake, true) { None } else { self.waker.clone() }
    }

    /// Appends a frame, unless the connection closes.
    pub(crate) fn put(&mut self, opcode: ws::Opcode, payload: &[u8]) {
        if !self.closing {
            self.encoder.put(&mut self.out, opcode, payload);
        }
    }

    /// Appends the close frame; nothing follows it.
    pub(crate) fn put_close(&mut self, code: CloseCode, reason: &str) {
        if !self.closing {
            self.encoder.put_close(&mut self.out, code, reason);
            self.closing = true;
        }
    }
}

impl Link {
    pub(crate) fn new(options: &ClientOptions, encoder: ws::Encoder, limit: usize, now: Instant) -> Self {
        let state = State {
            session: Some(ClientSession::new(options, now)),
            out: Vec::new(),
            encoder,
            close: None,
            closing: false,
            awake: true,
            waker: None,
        };
        Self { state: Mutex::new(state), limit, data_type: options.data_type }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn data_type(&self) -> DataType {
        self.data_type
    }

    fn opcode(&self) -> ws::Opcode {
        match self.data_type {
            DataType::Text => ws::Opcode::Text,
            DataType::Buffer => ws::Opcode::Binary,
        }
    }

    fn release(mut state: MutexGuard<'_, State>) {
        let waker = state.take_waker();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn admit<'a>(&self, state: &'a mut State) -> Result<&'a mut ClientSession<Box<dyn Waiter>>, ApiError> {
        if state.closing || state.close.is_some() {
            return Err(ApiError::not_open());
        }
        if state.out.len() >= self.limit {
            return Err(
                ApiError::new("Too many bytes wait to be sent to the server").kind(polywire_tsrpc::ErrorKind::Client)
            );
        }
        state.session.as_mut().ok_or_else(ApiError::not_open)
    }

    /// Admits a call without writing it.
    pub(crate) fn start<T: Send + 'static>(
        &self,
        decode: Arc<Decode<T>>,
        timeout: Option<Duration>,
    ) -> Result<(u64, oneshot::Receiver<Result<T, ApiError>>), ApiError> {
        let (sender, receiver) = oneshot::channel();
        let waiter = Box::new(Waiting { decode, response: Mutex::new(None), sender });
        let mut state = self.lock();
        let session = self.admit(&mut state)?;
        let options = CallOptions { timeout, abort_key: None };
        let sn = session
            .start(Instant::now(), options, waiter)
            .map_err(|error| ApiError::new(error.to_string()).kind(polywire_tsrpc::ErrorKind::Client))?;
        // The driver has a new deadline to wait for.
        Self::release(state);
        Ok((sn, receiver))
    }

    /// Writes the frame of a call that was admitted.
    pub(crate) fn request(&self, service: &Service, sn: u64, encode: Encode) -> Result<(), EncodeError> {
        let data_type = self.data_type;
        self.frame(|out| {
            let mut draft = Draft::request(out, data_type, service, sn);
            encode(data_type, draft.body())?;
            draft.finish();
            Ok(())
        })
    }

    /// Writes the frame of a message.
    pub(crate) fn message(&self, service: &Service, encode: Encode) -> Result<Result<(), EncodeError>, ApiError> {
        self.admit(&mut self.lock())?;
        let data_type = self.data_type;
        Ok(self.frame(|out| {
            let mut draft = Draft::message(out, data_type, service, Sender::Client);
            encode(data_type, draft.body())?;
            draft.finish();
            Ok(())
        }))
    }

    /// Writes a frame whose payload is ready.
    pub(crate) fn put(&self, opcode: ws::Opcode, payload: &[u8]) -> Result<(), ApiError> {
        let mut state = self.lock();
        self.admit(&mut state)?;
        state.put(opcode, payload);
        Self::release(state);
        Ok(())
    }

    fn frame(&self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let frame = ws::begin_frame(&mut state.out, self.opcode());
        if let Err(error) = write(&mut state.out) {
            ws::abandon_frame(&mut state.out, frame);
            return Err(error);
        }
        state.encoder.finish(&mut state.out, frame);
        Self::release(guard);
        Ok(())
    }

    /// Withdraws a call: its answer will find nobody.
    pub(crate) fn withdraw(&self, sn: u64) {
        if let Some(session) = &mut self.lock().session {
            session.calls_mut().take(sn);
        }
    }

    /// Asks the driver to close the connection.
    pub(crate) fn close(&self, code: CloseCode, reason: &str) {
        let mut state = self.lock();
        state.close.get_or_insert_with(|| (code, reason.to_owned()));
        Self::release(state);
    }

    /// Ends the session: every call that waits fails.
    pub(crate) fn end(&self, reason: &str) {
        let session = self.lock().session.take();
        for call in session.into_iter().flat_map(ClientSession::close) {
            call.waiter.settle(Some(ApiError::lost_connection(reason)));
        }
    }
}
