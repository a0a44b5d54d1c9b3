//! A registered API: from the bytes of a request to the handler's future.
//!
//! Depends on calls, codecs and flows. Invariant: a request that breaks its
//! type reaches no handler and no hook.

use std::{any::Any, future::Future, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use futures_util::FutureExt;
use polywire_runtime::{Request, Task, ValueCodec, message as panic_message};
use polywire_schema::Value;
use polywire_tsbuffer::DecodeError;
use polywire_tsrpc::{ApiError, Body, Service, Sn};
use tracing::Instrument;

use crate::{
    Call, CallInfo, Conn, IntoReply, PendingRequest,
    call::{Answerer, CallHead},
    log,
};

/// A call whose request has been read; polling the task runs its handler.
pub(crate) struct Started {
    pub(crate) task: Task,
    pub(crate) head: Arc<CallHead>,
}

/// What a call comes with besides its request.
pub(crate) struct Arrival<'a> {
    pub(crate) conn: &'a Conn,
    pub(crate) sn: Sn,
    pub(crate) now: Instant,
}

/// An API without its Rust type.
pub(crate) trait ErasedApi: Any + Send + Sync {
    /// Reads the request and prepares its handler.
    fn start(&self, arrival: Arrival<'_>, body: Body<'_>) -> Result<Started, DecodeError>;
    /// Prepares its handler for a request that has been read.
    fn start_value(&self, arrival: Arrival<'_>, request: Value) -> Result<Started, String>;
}

/// The implementation of an API with the codecs of its types.
pub(crate) struct ApiEntry<R: Request> {
    pub(crate) service: Arc<Service>,
    pub(crate) request: Arc<R::RequestCodec>,
    pub(crate) response: Arc<R::ResponseCodec>,
    pub(crate) run: Arc<Run<R>>,
}

/// Makes the future that runs the handler and answers.
pub(crate) type Run<R> = dyn Fn(Call<R>) -> Task + Send + Sync;

/// Wraps a handler of the application.
pub(crate) fn run<R, F, Fut, Out>(handler: F) -> Arc<Run<R>>
where
    R: Request,
    F: Fn(Call<R>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Out: IntoReply<R::Response> + Send + 'static,
{
    let handler = Arc::new(handler);
    Arc::new(move |call: Call<R>| {
        let handler = Arc::clone(&handler);
        let answerer = call.answerer.clone();
        let span = answerer.head.span.clone();
        let task = async move {
            let result = AssertUnwindSafe(async { handler(call).await }).catch_unwind().await;
            answerer.finish(result.map_err(|payload| panic_message(&*payload)));
            let server = answerer.head.conn.server();
            if server.flows().post_api_call.is_active() {
                let info = CallInfo(Arc::clone(&answerer.head));
                if let Err(error) = server.flows().post_api_call.run(info).await {
                    // Answered for, if the handler has not answered.
                    answerer.head.fail_with(error);
                }
            }
        };
        Box::pin(task.instrument(span))
    })
}

impl<R: Request> ApiEntry<R> {
    /// Prepares the handler of a typed request.
    pub(crate) fn start_typed(&self, arrival: Arrival<'_>, request: R) -> Started {
        let head = CallHead::new(arrival.conn.clone(), Arc::clone(&self.service), arrival.sn, arrival.now);
        let answerer = Answerer { head: Arc::clone(&head), codec: Arc::clone(&self.response) };
        log::request(&head, || self.request.to_value(&request));
        if head.conn.server().flows().pre_api_call.is_active() {
            let task = through_flows(Arc::clone(&self.run), Arc::clone(&self.request), request, answerer);
            return Started { task: Box::pin(task), head };
        }
        Started { task: (self.run)(Call { request, answerer }), head }
    }
}

impl<R: Request> ErasedApi for ApiEntry<R> {
    fn start(&self, arrival: Arrival<'_>, body: Body<'_>) -> Result<Started, DecodeError> {
        let request = self.request.decode(body)?;
        Ok(self.start_typed(arrival, request))
    }

    fn start_value(&self, arrival: Arrival<'_>, request: Value) -> Result<Started, String> {
        let request = self.request.read_value(request)?;
        Ok(self.start_typed(arrival, request))
    }
}

async fn through_flows<R: Request>(run: Arc<Run<R>>, codec: Arc<R::RequestCodec>, request: R, answerer: Answerer<R>) {
    let head = Arc::clone(&answerer.head);
    let server = head.conn.server();
    let pending = PendingRequest { call: CallInfo(Arc::clone(&head)), request: codec.to_value(&request) };
    match server.flows().pre_api_call.run(pending).await {
        Ok(Some(pending)) => match codec.read_value(pending.request) {
            Ok(request) => run(Call { request, answerer }).await,
            Err(text) => {
                head.fail(server.internal_error(&format!("A hook of pre_api_call made the request invalid: {text}")))
            }
        },
        // Stopped: whoever stopped it has answered, or nobody is to.
        Ok(None) => head.abandon(),
        Err(error) => head.fail_with(error),
    }
}

/// What answers an API that nobody implements.
pub(crate) fn unhandled(arrival: Arrival<'_>, service: &Arc<Service>) {
    let head = CallHead::new(arrival.conn.clone(), Arc::clone(service), arrival.sn, arrival.now);
    head.fail(ApiError::unhandled_api(&service.name));
}
