//! Counting what waits on behalf of a connection.
//!
//! Depends on connections only. Invariant: whatever a peer can start that may
//! have to wait is counted here, so that no peer can pile up tasks.

use std::{
    sync::atomic::Ordering,
    task::{Context, Poll, Waker},
};

use polywire_runtime::Task;

use crate::Conn;

/// Counts what waits on behalf of a connection, until it is dropped. Nothing is
/// counted where the connection is short: it has one request at a time.
pub(crate) struct InFlight(Conn);

impl InFlight {
    pub(crate) fn new(conn: Conn) -> Self {
        if let Some(long) = conn.long() {
            long.calls_in_flight.fetch_add(1, Ordering::AcqRel);
        }
        Self(conn)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let Some(long) = self.0.long() else { return };
        let before = long.calls_in_flight.fetch_sub(1, Ordering::AcqRel);
        if before >= self.0.server().options().limits.calls_in_flight {
            // The driver had stopped reading.
            long.out.wake();
        }
    }
}

/// Polls once; what has to wait goes on as a task of its own, counted as in flight.
pub(crate) fn run_in_flight(conn: &Conn, mut task: Task) {
    if task.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(()) {
        return;
    }
    let in_flight = InFlight::new(conn.clone());
    tokio::spawn(async move {
        task.await;
        drop(in_flight);
    });
}
