//! One flow: an ordered list of asynchronous hooks.
//!
//! Depends on nothing of the server. Invariant: a flow without hooks costs one load.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// Any error of an application.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

type HookFuture<T> = Pin<Box<dyn Future<Output = Result<Option<T>, BoxError>> + Send>>;
type Hook<T> = Arc<dyn Fn(T) -> HookFuture<T> + Send + Sync>;

/// What a hook may return: the value to go on with, `None` to stop, or an error.
pub trait IntoFlow<T> {
    /// As a result.
    ///
    /// # Errors
    /// The error that the hook returned.
    fn into_flow(self) -> Result<Option<T>, BoxError>;
}

impl<T> IntoFlow<T> for T {
    fn into_flow(self) -> Result<Option<T>, BoxError> {
        Ok(Some(self))
    }
}

impl<T> IntoFlow<T> for Option<T> {
    fn into_flow(self) -> Result<Option<T>, BoxError> {
        Ok(self)
    }
}

impl<T, E: Into<BoxError>> IntoFlow<T> for Result<T, E> {
    fn into_flow(self) -> Result<Option<T>, BoxError> {
        self.map(Some).map_err(Into::into)
    }
}

impl<T, E: Into<BoxError>> IntoFlow<T> for Result<Option<T>, E> {
    fn into_flow(self) -> Result<Option<T>, BoxError> {
        self.map_err(Into::into)
    }
}

/// Names one hook of a flow, to remove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookId(u64);

/// An ordered list of hooks, each receiving what the one before returned.
///
/// A hook that returns `None` stops the flow. What that means is said at each
/// flow of the server or client. A hook that returns an error or panics
/// stops it too.
pub struct Flow<T> {
    hooks: RwLock<Vec<(HookId, Hook<T>)>>,
    active: AtomicBool,
    next: AtomicU64,
}

impl<T> Default for Flow<T> {
    fn default() -> Self {
        Self { hooks: RwLock::default(), active: AtomicBool::new(false), next: AtomicU64::new(0) }
    }
}

impl<T> fmt::Debug for Flow<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow").field("active", &self.is_active()).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Flow<T> {
    /// Adds a hook behind the others.
    pub fn push<F, Fut>(&self, hook: F) -> HookId
    where
        F: Fn(T) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoFlow<T>> + Send + 'static,
    {
        let id = HookId(self.next.fetch_add(1, Ordering::Relaxed));
        let hook: Hook<T> = Arc::new(move |input| {
            let future = hook(input);
            Box::pin(async move { future.await.into_flow() })
        });
        let mut hooks = self.hooks.write().unwrap_or_else(PoisonError::into_inner);
        hooks.push((id, hook));
        self.active.store(true, Ordering::Release);
        id
    }

    /// Removes a hook. Returns whether it was there.
    pub fn remove(&self, id: HookId) -> bool {
        let mut hooks = self.hooks.write().unwrap_or_else(PoisonError::into_inner);
        let before = hooks.len();
        hooks.retain(|(known, _)| *known != id);
        self.active.store(!hooks.is_empty(), Ordering::Release);
        hooks.len() < before
    }

    /// Runs the hooks in order.
    ///
    /// # Errors
    /// That of the hook that failed.
    pub async fn run(&self, input: T) -> Result<Option<T>, BoxError> {
        let hooks: Vec<Hook<T>> = {
            let hooks = self.hooks.read().unwrap_or_else(PoisonError::into_inner);
            hooks.iter().map(|(_, hook)| Arc::clone(hook)).collect()
        };
        let mut value = input;
        for hook in hooks {
            match crate::panics::catch(async move { hook(value).await }).await? {
                Some(next) => value = next,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }
}

impl<T> Flow<T> {
    /// Whether any hook is registered.
    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire)
    }
}
