//! One call of an API, from its request to its answer.
//!
//! Depends on the connection and the codecs. Invariant: a call is answered at
//! most once; a call whose every handle is gone without an answer is answered
//! with an internal error, unless a flow stopped it.

use std::{
    convert::Infallible,
    fmt,
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use polywire_runtime::{BoxError, Panicked, Request, ValueCodec, run_or_spawn};
use polywire_schema::Value;
use polywire_tsrpc::{ApiError, Service, Sn};
use tokio::sync::oneshot;
use tracing::Span;

use crate::{
    Conn, Server,
    answer::{self, Answer},
    in_flight::InFlight,
};

/// What an API answers.
pub type Reply<T> = Result<T, ApiError>;

/// What every handle of a call shares.
pub(crate) struct CallHead {
    pub(crate) conn: Conn,
    pub(crate) service: Arc<Service>,
    pub(crate) sn: Sn,
    pub(crate) started: Instant,
    pub(crate) span: Span,
    answered: AtomicBool,
    /// Kept where the handler has ended without an answer, until there is one.
    waiting: Mutex<Option<Waiting>>,
    /// Something is kept there, or was: others need not lock it.
    waits: AtomicBool,
}

/// What ends with the answer of a call.
pub(crate) struct Waiting {
    /// Counts the call among what waits on its connection.
    pub(crate) _in_flight: InFlight,
    /// Tells whoever watches its deadline.
    pub(crate) _unanswered: oneshot::Sender<Infallible>,
}

impl CallHead {
    pub(crate) fn new(conn: Conn, service: Arc<Service>, sn: Sn, started: Instant) -> Arc<Self> {
        let span = tracing::debug_span!(parent: conn.log(), "call", service = %service.name, sn = %sn);
        conn.server().call_begins();
        let answered = AtomicBool::new(false);
        let (waiting, waits) = (Mutex::default(), AtomicBool::new(false));
        Arc::new(Self { conn, service, sn, started, span, answered, waiting, waits })
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.answered.load(Ordering::Acquire)
    }

    /// Claims the right to answer; `false` where somebody has it already.
    pub(crate) fn claim(&self) -> bool {
        let is_first = !self.answered.swap(true, Ordering::SeqCst);
        // Each of the two writes before it reads what the other wrote, in one order for all (`SeqCst`): at
        // least one of them sees both.
        if is_first && self.waits.load(Ordering::SeqCst) {
            drop(self.waiting().take());
        }
        is_first
    }

    /// Keeps something until the call is answered.
    pub(crate) fn wait(&self, waiting: Waiting) {
        *self.waiting() = Some(waiting);
        self.waits.store(true, Ordering::SeqCst);
        if self.answered.load(Ordering::SeqCst) {
            drop(self.waiting().take());
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Option<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the call without an answer. A short connection is closed: its caller would wait for ever.
    pub(crate) fn abandon(&self) {
        if self.claim() && !self.conn.is_long() {
            self.conn.close("");
        }
    }

    /// Answers with an error, unless the call is answered.
    pub(crate) fn fail(self: &Arc<Self>, error: ApiError) {
        if !self.claim() {
            return;
        }
        let head = Arc::clone(self);
        if self.conn.server().flows().returns_active() {
            run_or_spawn(async move { answer::through_flows(&head, Err(error)).await });
        } else {
            answer::send(&head, Answer::Error(&error));
        }
    }

    /// Answers with the error that a failing handler stands for.
    pub(crate) fn fail_with(self: &Arc<Self>, error: BoxError) {
        match error.downcast::<ApiError>() {
            Ok(error) => self.fail(*error),
            Err(error) => {
                tracing::error!(parent: &self.span, %error, "the handler failed");
                let server = self.conn.server();
                let told = server.shared.policies.internal_error(&CallInfo(Arc::clone(self)), &*error);
                self.fail(told.unwrap_or_else(|| server.internal_error(&error.to_string())));
            }
        }
    }
}

impl Drop for CallHead {
    fn drop(&mut self) {
        if self.claim() {
            let text = format!("The handler of API `{}` ended without an answer", self.service.name);
            tracing::error!(parent: &self.span, "{text}");
            let error = self.conn.server().internal_error(&text);
            answer::send(self, Answer::Error(&error));
        }
        self.conn.server().call_ends();
    }
}

/// A call of an API. Dereferences to the request.
///
/// A handler answers by what it returns, or earlier by [`succeed`](Self::succeed)
/// or [`fail`](Self::fail); only the first answer counts. A call may be moved
/// into a task and answered from there after the handler has returned `()`.
pub struct Call<R: Request> {
    pub(crate) request: R,
    pub(crate) answerer: Answerer<R>,
}

impl<R: Request> Call<R> {
    /// The connection that it came on.
    #[must_use]
    pub fn conn(&self) -> &Conn {
        &self.answerer.head.conn
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> &Server {
        self.conn().server()
    }

    /// The service: its name, id and configuration.
    #[must_use]
    pub fn service(&self) -> &Service {
        &self.answerer.head.service
    }

    /// The caller's number of the call; none over HTTP and in process.
    #[must_use]
    pub fn sn(&self) -> &Sn {
        &self.answerer.head.sn
    }

    /// How long ago its bytes were read.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.answerer.head.started.elapsed()
    }

    /// The `tracing` span of the call; events inside the handler carry it already.
    #[must_use]
    pub fn log(&self) -> &Span {
        &self.answerer.head.span
    }

    /// Whether it has been answered, or has timed out.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.answerer.head.is_answered()
    }

    /// Answers now. What the handler does afterwards, it does after the answer.
    pub fn succeed(&self, response: R::Response) {
        self.answerer.answer(Ok(response));
    }

    /// Answers with an error now.
    pub fn fail(&self, error: impl Into<ApiError>) {
        self.answerer.answer(Err(error.into()));
    }

    /// The request by value.
    #[must_use]
    pub fn into_request(self) -> R {
        self.request
    }
}

impl<R: Request> Deref for Call<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.request
    }
}

impl<R: Request + fmt::Debug> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("service", &self.service().name)
            .field("request", &self.request)
            .field("conn", self.conn())
            .finish_non_exhaustive()
    }
}

/// The answering half of a call.
pub(crate) struct Answerer<R: Request> {
    pub(crate) head: Arc<CallHead>,
    pub(crate) codec: Arc<R::ResponseCodec>,
}

impl<R: Request> Clone for Answerer<R> {
    fn clone(&self) -> Self {
        Self { head: Arc::clone(&self.head), codec: Arc::clone(&self.codec) }
    }
}

impl<R: Request> Answerer<R> {
    /// Answers, unless the call is answered.
    pub(crate) fn answer(&self, reply: Reply<R::Response>) {
        let response = match reply {
            Ok(response) => response,
            Err(error) => return self.head.fail(error),
        };
        if !self.head.claim() {
            return;
        }
        if self.head.conn.server().flows().returns_active() {
            let value = self.codec.to_value(&response);
            let head = Arc::clone(&self.head);
            let codec = self.codec.dynamic().clone();
            return run_or_spawn(async move {
                answer::through_flows_with(&head, Ok(value), Some(&codec)).await;
            });
        }
        let codec = &*self.codec;
        answer::send(
            &self.head,
            Answer::Response {
                encode: &|data_type, out| codec.encode(&response, data_type, out),
                value: &|| codec.dynamic().check(&codec.to_value(&response)),
            },
        );
    }

    /// Answers with what the handler returned.
    pub(crate) fn finish(&self, result: Result<impl IntoReply<R::Response>, Panicked>) {
        match result {
            Ok(reply) => match reply.into_reply() {
                Some(Ok(response)) => self.answer(Ok(response)),
                Some(Err(error)) => self.head.fail_with(error),
                None => {}
            },
            Err(panic) => self.head.fail_with(Box::new(panic)),
        }
    }
}

/// What a handler may return: a [`Reply`], a result with any other error (an
/// internal error for the caller), or `()` if it answers by itself.
#[diagnostic::on_unimplemented(
    message = "a handler of this API cannot return `{Self}`",
    label = "no answer with `{T}`",
    note = "handlers return `Reply<{T}>` or another `Result<{T}, _>`: write `Ok(response)`",
    note = "a handler that answers by `call.succeed` or `call.fail` returns `()`"
)]
pub trait IntoReply<T> {
    /// As a result; `None` where the handler answers by itself.
    fn into_reply(self) -> Option<Result<T, BoxError>>;
}

impl<T, E: Into<BoxError>> IntoReply<T> for Result<T, E> {
    fn into_reply(self) -> Option<Result<T, BoxError>> {
        Some(self.map_err(Into::into))
    }
}

impl<T> IntoReply<T> for () {
    fn into_reply(self) -> Option<Result<T, BoxError>> {
        None
    }
}

/// A call as hooks see it: without its Rust type.
#[derive(Clone)]
pub struct CallInfo(pub(crate) Arc<CallHead>);

impl CallInfo {
    /// The connection that it came on.
    #[must_use]
    pub fn conn(&self) -> &Conn {
        &self.0.conn
    }

    /// The service: its name, id and configuration.
    #[must_use]
    pub fn service(&self) -> &Service {
        &self.0.service
    }

    /// The caller's number of the call.
    #[must_use]
    pub fn sn(&self) -> &Sn {
        &self.0.sn
    }

    /// How long ago its bytes were read.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.started.elapsed()
    }

    /// Whether it has been answered.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.0.is_answered()
    }

    /// Answers with an error.
    pub fn fail(&self, error: impl Into<ApiError>) {
        self.0.fail(error.into());
    }
}

impl fmt::Debug for CallInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallInfo")
            .field("service", &self.0.service.name)
            .field("sn", &self.0.sn)
            .finish_non_exhaustive()
    }
}

/// A request before its handler, as `pre_api_call` hooks see it.
#[derive(Debug)]
pub struct PendingRequest {
    /// The call.
    pub call: CallInfo,
    /// The request. A hook may change it; it is not validated again.
    pub request: Value,
}
