//! Running a future that is usually ready at once.
//!
//! Depends on tokio for what is not.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

/// A boxed task.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Polls once; what is not ready then goes on as a task of its own.
///
/// So hooks that do not wait keep the order of what they send, and those that
/// do wait hold nobody up.
pub fn run_or_spawn(future: impl Future<Output = ()> + Send + 'static) {
    let mut future: Task = Box::pin(future);
    if future.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Pending {
        tokio::spawn(future);
    }
}
