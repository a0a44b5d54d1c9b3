//! From a frame to the handler it is for.
//!
//! Depends on the session and the handlers. Invariant: what the session's fast
//! path guessed wrong is read again by the slow one, which alone refuses.

use std::{
    convert::Infallible,
    sync::{Arc, Weak},
    task::{Context, Poll, Waker},
    time::Instant,
};

use polywire_runtime::Task;
use polywire_tsbuffer::DecodeError;
use polywire_tsrpc::{
    ApiError, Body, DataType, Frame, HEARTBEAT, Incoming, InputError, ServerSession, Service, ServiceMap,
    SessionOptions, Sn, decode_buffer, decode_slow, decode_text,
};
use tokio::{sync::oneshot, time::sleep_until};

use crate::{
    Conn,
    api::{self, Arrival, Started},
    call::{CallHead, Waiting},
    flows::{Data, RecvData},
    in_flight::{InFlight, run_in_flight},
    messages,
};

/// What a frame led to.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It is being handled.
    Done,
    /// It was a heartbeat, to be answered.
    Heartbeat,
    /// It cannot be read.
    Invalid(InputError),
}

/// Handles a frame of a long connection. Hot.
pub(crate) fn frame(
    conn: &Conn,
    session: &mut ServerSession,
    options: &SessionOptions,
    frame: Frame<'_>,
    now: Instant,
) -> Outcome {
    let server = conn.server();
    // A connection is only made by a server that has been started.
    let Some(contract) = server.assembled() else { return Outcome::Done };
    if frame != Frame::Binary(HEARTBEAT) && server.flows().receives_active() {
        return frame_through_flows(conn, session, options, frame, now);
    }
    let confirmed = session.is_confirmed();
    let incoming = session.decode(frame, &contract.services, options);
    if !confirmed && session.is_confirmed() {
        conn.set_data_type(session.data_type());
    }
    incoming_frame(conn, incoming, frame, &contract.services, now)
}

/// Hands what a frame holds to its handler; reads it again the slow way where the guess was wrong.
fn incoming_frame(
    conn: &Conn,
    incoming: Incoming<'_>,
    frame: Frame<'_>,
    services: &ServiceMap,
    now: Instant,
) -> Outcome {
    let (guessed, error) = match incoming {
        Incoming::Heartbeat => return Outcome::Heartbeat,
        Incoming::Invalid(error) => return Outcome::Invalid(error),
        Incoming::Call { service, sn, body } => {
            let guessed = matches!(body, Body::Json(_));
            match call(conn, service, sn, body, now) {
                Ok(()) => return Outcome::Done,
                Err(error) => (guessed, error),
            }
        }
        Incoming::Message { service, body } => {
            let guessed = matches!(body, Body::Json(_));
            match messages::receive(conn, service, body) {
                Ok(()) => return Outcome::Done,
                Err(error) => (guessed, error),
            }
        }
    };
    match frame {
        Frame::Text(text) if guessed => incoming_frame(conn, decode_slow(text, services), frame, services, now),
        Frame::Text(_) => Outcome::Invalid(InputError::body(DataType::Text, error)),
        Frame::Binary(_) => Outcome::Invalid(InputError::body(DataType::Buffer, error)),
    }
}

/// Starts a call: its handler is polled once where it stands, and goes on as a
/// task of its own if it has to wait. Hot.
///
/// # Errors
/// Where the request breaks its type; nothing has run then.
pub(crate) fn call(
    conn: &Conn,
    service: &Arc<Service>,
    sn: Sn,
    body: Body<'_>,
    now: Instant,
) -> Result<(), DecodeError> {
    let dispatch = conn.server().dispatch();
    let arrival = Arrival { conn, sn, now };
    match dispatch.apis.get(&service.id) {
        Some(api) => run(conn, api.start(arrival, body)?),
        None => {
            conn.server().dynamic_codec(service.input()).decode_value(body)?;
            api::unhandled(arrival, service);
        }
    }
    Ok(())
}

/// Runs a started call.
pub(crate) fn run(conn: &Conn, started: Started) {
    let Started { mut task, head } = started;
    let in_flight = || InFlight::new(conn.clone());
    let deadline = conn.server().options().api_timeout.map(|timeout| head.started + timeout);
    if task.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(()) {
        drop(task);
        if let (Some(detached), Some(deadline)) = (Detached::new(head, in_flight), deadline) {
            tokio::spawn(detached.until(deadline));
        }
        return;
    }
    let in_flight = in_flight();
    tokio::spawn(async move {
        match deadline {
            Some(deadline) => timed(task, &head, deadline).await,
            None => task.await,
        }
        if let (Some(detached), Some(deadline)) = (Detached::new(head, || in_flight), deadline) {
            detached.until(deadline).await;
        }
    });
}

/// Runs a handler; at its deadline the caller gets an error, and the handler goes on.
async fn timed(mut task: Task, head: &Arc<CallHead>, deadline: Instant) {
    tokio::select! {
        biased;
        () = &mut task => return,
        () = sleep_until(deadline.into()) => {}
    }
    head.fail(ApiError::server_timeout());
    task.await;
}

/// A call whose handler has ended and moved it elsewhere, to be answered
/// later. It counts as in flight until then.
struct Detached {
    head: Weak<CallHead>,
    is_answered: oneshot::Receiver<Infallible>,
}

impl Detached {
    /// `None` where the call is answered, or nobody is left to do it.
    fn new(head: Arc<CallHead>, in_flight: impl FnOnce() -> InFlight) -> Option<Self> {
        if head.is_answered() || Arc::strong_count(&head) == 1 {
            return None;
        }
        let (unanswered, is_answered) = oneshot::channel();
        head.wait(Waiting { _in_flight: in_flight(), _unanswered: unanswered });
        Some(Self { head: Arc::downgrade(&head), is_answered })
    }

    /// Answers with an error where nobody does before the deadline.
    async fn until(self, deadline: Instant) {
        tokio::select! {
            _ = self.is_answered => {}
            () = sleep_until(deadline.into()) => {
                if let Some(head) = self.head.upgrade() {
                    head.fail(ApiError::server_timeout());
                }
            }
        }
    }
}

/// The same as [`frame`], where hooks want to see the data first.
fn frame_through_flows(
    conn: &Conn,
    session: &mut ServerSession,
    options: &SessionOptions,
    frame: Frame<'_>,
    now: Instant,
) -> Outcome {
    if matches!(frame, Frame::Text(_)) && !options.json {
        return Outcome::Invalid(InputError::JsonDisabled);
    }
    if !session.is_confirmed() {
        session.set_data_type(match frame {
            Frame::Text(_) => DataType::Text,
            Frame::Binary(_) => DataType::Buffer,
        });
        conn.set_data_type(session.data_type());
    }
    let data = match frame {
        Frame::Text(text) => Data::Text(String::from_utf8_lossy(text).into_owned()),
        Frame::Binary(bytes) => Data::Buffer(bytes.to_vec()),
    };
    let input = RecvData { conn: conn.clone(), data, service: None };
    let through_flows = async move {
        let Some(RecvData { conn, data, .. }) = RecvData::through_flows(input).await else { return };
        let Some(contract) = conn.server().assembled() else { return };
        let outcome = match &data {
            Data::Text(text) => {
                let incoming = decode_text(text.as_bytes(), &contract.services);
                incoming_frame(&conn, incoming, Frame::Text(text.as_bytes()), &contract.services, now)
            }
            Data::Buffer(bytes) => {
                let incoming = decode_buffer(bytes, &contract.services, conn.server().strictness());
                incoming_frame(&conn, incoming, Frame::Binary(bytes), &contract.services, now)
            }
        };
        if let Outcome::Invalid(error) = outcome
            && conn.server().shared.policies.refuses(&conn, &error)
        {
            conn.close(&error.close_reason());
        }
    };
    run_in_flight(conn, Box::pin(through_flows));
    Outcome::Done
}
