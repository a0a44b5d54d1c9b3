//! The answering end of a short connection: an HTTP request or an in-process call.
//!
//! Depends on channels only. Invariant: a short connection is answered at most
//! once; one that is dropped unanswered tells the waiting side so.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Response};
use polywire_schema::Value;
use polywire_tsrpc::{ApiError, ErrorKind};
use tokio::sync::oneshot;

/// What the answer of a short connection looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// An encoded ApiReturn in JSON or an encoded ServerOutputData.
    Bytes,
    /// A native value: an in-process call.
    Native,
}

/// What became of a short connection.
#[derive(Debug)]
pub(crate) enum ShortReply {
    /// An answer in bytes; `error` is its kind where it is an error.
    Bytes { body: Vec<u8>, error: Option<ErrorKind> },
    /// An answer to an in-process call.
    Native(Result<Value, ApiError>),
    /// A message was accepted.
    Accepted,
    /// The application answers by itself.
    Custom(Response<Bytes>),
    /// Closed with a reason and without an answer.
    Closed(String),
}

#[derive(Debug)]
pub(crate) struct Short {
    pub(crate) format: Format,
    reply: Mutex<Option<oneshot::Sender<ShortReply>>>,
    /// Headers that the application adds to the response.
    pub(crate) headers: Mutex<HeaderMap>,
}

impl Short {
    pub(crate) fn new(format: Format) -> (Self, oneshot::Receiver<ShortReply>) {
        let (sender, receiver) = oneshot::channel();
        (Self { format, reply: Mutex::new(Some(sender)), headers: Mutex::default() }, receiver)
    }

    /// Answers; `false` where it has been answered, or nobody waits any more.
    pub(crate) fn reply(&self, reply: ShortReply) -> bool {
        let sender = self.reply.lock().unwrap_or_else(PoisonError::into_inner).take();
        sender.is_some_and(|sender| sender.send(reply).is_ok())
    }

    pub(crate) fn close(&self, reason: &str) {
        self.reply(ShortReply::Closed(reason.to_owned()));
    }
}
