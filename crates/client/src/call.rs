//! One call, on whatever transport: hooks, encoding, the answer, aborting.
//!
//! Depends on codecs and flows; the transport is a function. Invariant: the
//! future of a call always ends; one that is dropped withdraws the call.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use polywire_runtime::{DynamicCodec, ValueCodec};
use polywire_schema::{Api, Value};
use polywire_tsbuffer::{DecodeError, EncodeError, typed::Codec};
use polywire_tsrpc::{ApiError, Body, DataType, Service};
use tokio::sync::oneshot;

use crate::{
    Calling,
    builder::Core,
    flows::{ApiReturn, log_failure},
};

/// How one call is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// How long to wait for the answer, instead of the client's own timeout.
    pub timeout: Option<Duration>,
    /// A key to abort several calls by.
    pub abort_key: Option<String>,
}

/// Writes a request.
pub(crate) type Encode = Box<dyn FnOnce(DataType, &mut Vec<u8>) -> Result<(), EncodeError> + Send>;
/// Reads a response.
pub(crate) type Decode<T> = dyn Fn(Body<'_>) -> Result<T, DecodeError> + Send + Sync;

/// Everything that a call needs to know about its types.
pub(crate) struct Spec<T> {
    encode: Encode,
    /// The dynamic form of the request, for hooks.
    value: Box<dyn Fn() -> Value + Send + Sync>,
    request: DynamicCodec,
    decode: Arc<Decode<T>>,
    to_value: Box<dyn Fn(&T) -> Value + Send + Sync>,
    from_value: Box<dyn Fn(Value) -> Result<T, String> + Send + Sync>,
}

impl<T> Spec<T> {
    /// A call with Rust types.
    pub(crate) fn typed<A>(core: &Core, service: &Service, request: A) -> Self
    where
        A: Api<Response = T> + Codec,
        T: Codec + Sync,
    {
        let codecs = core.api_codecs::<A>(service);
        let request = Arc::new(request);
        let dynamic = codecs.request.dynamic().clone();
        let (encode, value) = (Arc::clone(&codecs), Arc::clone(&codecs));
        let (decode, to_value, from_value) =
            (Arc::clone(&codecs.response), Arc::clone(&codecs.response), Arc::clone(&codecs.response));
        let for_value = Arc::clone(&request);
        Self {
            encode: Box::new(move |data_type, out| encode.request.encode(&request, data_type, out)),
            value: Box::new(move || value.request.to_value(&for_value)),
            request: dynamic,
            decode: Arc::new(move |body| decode.decode(body)),
            to_value: Box::new(move |response| to_value.to_value(response)),
            from_value: Box::new(move |value| from_value.from_value(value)),
        }
    }
}

impl Spec<Value> {
    /// A call with dynamic values.
    pub(crate) fn dynamic(core: &Core, service: &Service, request: Value) -> Self {
        let codec = core.contract.dynamic(service.input());
        let response = core.contract.dynamic(service.response().unwrap_or(service.input()));
        let request = Arc::new(request);
        let (encode, for_value) = (codec.clone(), Arc::clone(&request));
        Self {
            encode: Box::new(move |data_type, out| encode.encode_value(&request, data_type, out)),
            value: Box::new(move || Value::clone(&for_value)),
            request: codec,
            decode: Arc::new(move |body| response.decode_value(body)),
            to_value: Box::new(Value::clone),
            from_value: Box::new(Ok),
        }
    }
}

/// Makes a call by `exchange`, with the hooks around it.
pub(crate) async fn make<T, E, Fut>(
    core: Arc<Core>,
    service: Arc<Service>,
    spec: Spec<T>,
    options: CallOptions,
    exchange: E,
) -> Result<T, ApiError>
where
    T: Send,
    E: FnOnce(Arc<Core>, Arc<Service>, Encode, Arc<Decode<T>>, CallOptions) -> Fut,
    Fut: Future<Output = Result<T, ApiError>>,
{
    let flows = &core.flows;
    let Spec { encode, value, request, decode, to_value, from_value } = spec;
    let mut result = None;
    let mut encode = encode;
    let mut options = options;
    if flows.pre_call_api.is_active() {
        let calling = Calling { api: Arc::clone(&service.name), request: value(), options, reply: None };
        let calling = stopped(flows.pre_call_api.run(calling).await)?;
        options = calling.options;
        match calling.reply {
            Some(reply) => result = Some(reply.and_then(|value| from_value(value).map_err(ApiError::invalid_request))),
            None => {
                let changed = calling.request;
                encode = Box::new(move |data_type, out| request.encode_value(&changed, data_type, out));
            }
        }
    }
    let result = match result {
        Some(result) => result,
        None => exchange(Arc::clone(&core), Arc::clone(&service), encode, decode, options).await,
    };
    if !flows.pre_api_return.is_active() && !flows.post_api_return.is_active() {
        return result;
    }
    let returned = ApiReturn { api: Arc::clone(&service.name), result: result.map(|response| to_value(&response)) };
    let returned = stopped(flows.pre_api_return.run(returned).await)?;
    let result = match &returned.result {
        Ok(value) => from_value(value.clone()).map_err(ApiError::invalid_request),
        Err(error) => Err(error.clone()),
    };
    if let Err(error) = flows.post_api_return.run(returned).await {
        log_failure("post_api_return", &*error);
    }
    result
}

/// A flow that was stopped by a hook ends the call: published clients never settle it.
fn stopped<T>(result: Result<Option<T>, polywire_runtime::BoxError>) -> Result<T, ApiError> {
    match result {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(ApiError::cancelled()),
        Err(error) => Err(match error.downcast::<ApiError>() {
            Ok(error) => *error,
            Err(error) => ApiError::new(error.to_string()).kind(polywire_tsrpc::ErrorKind::Client),
        }),
    }
}

/// A call that is under way. A future of its response.
///
/// Dropping it withdraws the call; the server is not told, and its answer is ignored.
#[must_use = "a call is made only while it is awaited"]
pub struct Running<T> {
    future: Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send>>,
    abort: Abort,
}

/// Aborts one call.
#[derive(Debug, Clone)]
pub struct Abort {
    id: u64,
    aborts: Arc<Aborts>,
}

impl Abort {
    /// Aborts the call: it ends with the error `Request cancelled`. Returns whether it still ran.
    pub fn abort(&self) -> bool {
        self.aborts.take(self.id).is_some_and(|cancel| cancel.send(()).is_ok())
    }
}

impl<T: Send + 'static> Running<T> {
    pub(crate) fn new(
        core: &Arc<Core>,
        key: Option<String>,
        call: impl Future<Output = Result<T, ApiError>> + Send + 'static,
    ) -> Self {
        let (abort, mut cancelled) = core.aborts.register(key);
        let registered = Registered(abort.clone());
        let future = Box::pin(async move {
            let _registered = registered;
            tokio::select! {
                biased;
                Ok(()) = &mut cancelled => Err(ApiError::cancelled()),
                result = call => result,
            }
        });
        Self { future, abort }
    }

    /// A call that fails before it is made.
    pub(crate) fn failed(core: &Arc<Core>, error: ApiError) -> Self {
        Self::new(core, None, std::future::ready(Err(error)))
    }

    /// A handle to abort it from elsewhere.
    #[must_use]
    pub fn abort_handle(&self) -> Abort {
        self.abort.clone()
    }
}

impl<T> Future for Running<T> {
    type Output = Result<T, ApiError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.future.as_mut().poll(cx)
    }
}

/// The calls that can be aborted.
#[derive(Debug, Default)]
pub(crate) struct Aborts {
    calls: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    running: HashMap<u64, (Option<String>, oneshot::Sender<()>)>,
}

/// Takes a call out of the table when it ends.
struct Registered(Abort);

impl Drop for Registered {
    fn drop(&mut self) {
        self.0.aborts.take(self.0.id);
    }
}

impl Aborts {
    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(self: &Arc<Self>, key: Option<String>) -> (Abort, oneshot::Receiver<()>) {
        let (cancel, cancelled) = oneshot::channel();
        let mut table = self.table();
        let id = table.next;
        table.next += 1;
        table.running.insert(id, (key, cancel));
        (Abort { id, aborts: Arc::clone(self) }, cancelled)
    }

    fn take(&self, id: u64) -> Option<oneshot::Sender<()>> {
        self.table().running.remove(&id).map(|(_, cancel)| cancel)
    }

    /// Aborts every call that `wanted` picks by its key; returns how many.
    pub(crate) fn abort(&self, wanted: impl Fn(Option<&str>) -> bool) -> usize {
        let cancelled: Vec<_> = self.table().running.extract_if(|_, (key, _)| wanted(key.as_deref())).collect();
        cancelled.into_iter().filter_map(|(_, (_, cancel))| cancel.send(()).ok()).count()
    }
}
