//! Calls that are under way, and how they are aborted: one by its handle, some
//! by their key, all.
//!
//! Knows nothing of transports. Invariant: a call stands in the table from its
//! making until its future ends or is dropped.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use futures_util::TryFutureExt;
use polywire_runtime::Dynamic;
use polywire_schema::Value;
use polywire_tsrpc::ApiError;
use tokio::sync::oneshot;

/// A call that is under way. A future of its response.
///
/// Nothing is sent before it is polled first. Dropping it withdraws the call:
/// over HTTP the server sees the connection close; over WebSocket it is not
/// told, and its answer is ignored.
#[must_use = "a call is made only while it is awaited"]
pub struct Running<T> {
    future: Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send>>,
    abort: AbortHandle,
}

impl<T: Send + 'static> Running<T> {
    pub(crate) fn new(
        aborts: &Arc<Aborts>,
        key: Option<String>,
        call: impl Future<Output = Result<T, ApiError>> + Send + 'static,
    ) -> Self {
        let (abort, cancelled) = aborts.register(key);
        let registered = Registered(abort.clone());
        let future = Box::pin(async move {
            let _registered = registered;
            tokio::select! {
                biased;
                Ok(()) = cancelled => Err(ApiError::cancelled()),
                result = call => result,
            }
        });
        Self { future, abort }
    }

    /// A handle to abort it from elsewhere.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        self.abort.clone()
    }
}

impl Running<Dynamic> {
    pub(crate) fn into_value(self) -> Running<Value> {
        let Self { future, abort } = self;
        Running { future: Box::pin(future.map_ok(|Dynamic(value)| value)), abort }
    }
}

impl<T> Future for Running<T> {
    type Output = Result<T, ApiError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.future.as_mut().poll(cx)
    }
}

impl<T> fmt::Debug for Running<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("abort", &self.abort).finish_non_exhaustive()
    }
}

/// Aborts one call, from anywhere. Cheap to clone; holding it keeps nothing alive.
#[derive(Clone)]
pub struct AbortHandle {
    id: u64,
    aborts: Arc<Aborts>,
}

impl AbortHandle {
    /// Aborts the call: it ends with the error `Request cancelled`, code
    /// `CANCELLED`. Returns whether it was still under way.
    pub fn abort(&self) -> bool {
        self.aborts.take(self.id).is_some_and(|cancel| cancel.send(()).is_ok())
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AbortHandle").field(&self.id).finish()
    }
}

/// The calls of a client that can be aborted.
#[derive(Default)]
pub(crate) struct Aborts {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    next: u64,
    running: HashMap<u64, Abortable>,
}

struct Abortable {
    key: Option<String>,
    cancel: oneshot::Sender<()>,
}

/// Takes a call out of the table when it ends.
struct Registered(AbortHandle);

impl Drop for Registered {
    fn drop(&mut self) {
        self.0.aborts.take(self.0.id);
    }
}

impl Aborts {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(self: &Arc<Self>, key: Option<String>) -> (AbortHandle, oneshot::Receiver<()>) {
        let (cancel, cancelled) = oneshot::channel();
        let mut table = self.table();
        let id = table.next;
        table.next += 1;
        table.running.insert(id, Abortable { key, cancel });
        (AbortHandle { id, aborts: Arc::clone(self) }, cancelled)
    }

    fn take(&self, id: u64) -> Option<oneshot::Sender<()>> {
        self.table().running.remove(&id).map(|call| call.cancel)
    }

    /// Aborts every call with this key; returns how many.
    pub(crate) fn abort_key(&self, key: &str) -> usize {
        self.abort_if(|call| call.key.as_deref() == Some(key))
    }

    /// Aborts every call; returns how many.
    pub(crate) fn abort_all(&self) -> usize {
        self.abort_if(|_| true)
    }

    fn abort_if(&self, wanted: impl Fn(&Abortable) -> bool) -> usize {
        let aborted: Vec<_> = self.table().running.extract_if(|_, call| wanted(call)).collect();
        // Sent without the lock: it wakes those who wait.
        aborted.into_iter().filter_map(|(_, call)| call.cancel.send(()).ok()).count()
    }
}
