//! Starting and stopping (reference §12.2).
//!
//! Depends on the server's state and on [`connection`](crate::connection).
//! Invariants: a start that fails leaves nothing bound; a stop ends within its
//! deadline, whatever handlers and peers do.

use std::{
    sync::{MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use polywire_net::{Addr, Listener};
use tokio::{task::JoinHandle, time::timeout_at};

use crate::{Server, ServerStatus, StartError, connection};

/// How long `stop` waits for answers and close frames before it cuts.
const STOP_WAIT: Duration = Duration::from_secs(5);

/// What became of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Calls that ran when the deadline came. Their handlers go on; their callers get no answer.
    pub calls_cut: usize,
    /// Connections that had not closed when the deadline came.
    pub connections_cut: usize,
}

impl Stopped {
    const NOTHING_CUT: Self = Self { calls_cut: 0, connections_cut: 0 };
}

/// A start under way: where it ends early, the server is closed again.
struct Opening<'a>(&'a Server);

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.0.leave(ServerStatus::Opening, ServerStatus::Closed);
    }
}

impl Server {
    /// Serves on this address until the server is stopped.
    ///
    /// `"host:port"` or `"unix:/path"`; port 0 takes a free one (see [`start`](Self::start)).
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub async fn listen(self, address: &str) -> Result<(), StartError> {
        self.start(address).await?;
        self.until(ServerStatus::Closed).await;
        Ok(())
    }

    /// Begins to serve on this address and returns the addresses that are listened on.
    ///
    /// A start that fails or is dropped leaves the server closed.
    ///
    /// # Errors
    /// Where the server runs already, what is registered does not fit
    /// together, the address cannot be listened on, or the server is stopped
    /// meanwhile.
    pub async fn start(&self, address: &str) -> Result<Vec<Addr>, StartError> {
        self.begin_start()?;
        let opening = Opening(self);
        let listener = self.bind(address).await?;
        let addresses = listener.local_addrs();
        // Held until the task is known: a stop takes it as soon as the server is open.
        let mut accepting = self.accepting();
        if !self.leave(ServerStatus::Opening, ServerStatus::Opened) {
            return Err(StartError::Stopped);
        }
        *accepting = Some(tokio::spawn(accept(self.clone(), listener)));
        drop(accepting);
        drop(opening);
        tracing::info!(address, "Server started at {address}.");
        Ok(addresses)
    }

    /// Goes from one status to the next; `false` where somebody else has changed it.
    fn leave(&self, from: ServerStatus, to: ServerStatus) -> bool {
        self.shared.status.send_if_modified(|status| {
            let is_there = *status == from;
            if is_there {
                *status = to;
            }
            is_there
        })
    }

    fn begin_start(&self) -> Result<(), StartError> {
        let started = self.leave(ServerStatus::Closed, ServerStatus::Opening);
        if started { Ok(()) } else { Err(StartError::AlreadyStarted) }
    }

    async fn bind(&self, address: &str) -> Result<Listener, StartError> {
        self.contract()?;
        let listener = Listener::bind(address).await?.with_handshake_timeout(self.options().limits.handshake);
        Ok(match &self.options().tls {
            Some(tls) => listener.with_tls(tls),
            None => listener,
        })
    }

    /// Stops: closes every WebSocket connection with `Server stopped`, lets
    /// running HTTP calls answer for at most 5 s, then cuts. Goes on where the
    /// future is dropped. Of several stops at a time each returns when the
    /// server is closed and its address is free; the first one says what was cut.
    pub async fn stop(&self) -> Stopped {
        let server = self.clone();
        let stopping = tokio::spawn(async move { server.stop_by(Instant::now() + STOP_WAIT).await });
        // Only a runtime that goes down ends the task otherwise, and then nothing is left to cut.
        stopping.await.unwrap_or(Stopped::NOTHING_CUT)
    }

    async fn stop_by(&self, deadline: Instant) -> Stopped {
        let _one = self.shared.stopping.lock().await;
        if self.status() == ServerStatus::Closed {
            return Stopped::NOTHING_CUT;
        }
        self.shared.status.send_replace(ServerStatus::Closing);
        self.shared.conns.all().iter().for_each(|conn| conn.close("Server stopped"));
        let is_idle = self.idle_by(deadline, |server| server.open_connections() == 0).await;
        // Whoever has come since then has said nothing yet.
        let connections_cut = if is_idle { 0 } else { self.open_connections() };
        let stopped = Stopped { calls_cut: self.running_calls(), connections_cut };
        self.shared.status.send_replace(ServerStatus::Closed);
        let accepting = self.accepting().take();
        if let Some(accepting) = accepting {
            // When it has ended, the address is free. It only ends otherwise when the runtime does.
            let _ = accepting.await;
        }
        // Graceful stops need not wait for what was cut.
        self.shared.idle.notify_waiters();
        tracing::info!(?stopped, "Server stopped");
        stopped
    }

    /// Stops gracefully: takes no new connections and calls, waits until the
    /// running calls are answered, for at most `max_wait`, then [`stop`](Self::stop)s.
    ///
    /// A `stop` meanwhile ends the wait. Where the future is dropped, the
    /// server takes nothing new and waits for its `stop`. A handler that waits
    /// for it waits for itself: give it a `max_wait`, or a task of its own.
    pub async fn graceful_stop(&self, max_wait: Option<Duration>) -> Stopped {
        if !self.leave(ServerStatus::Opened, ServerStatus::Closing) && self.status() != ServerStatus::Closing {
            return self.stop().await;
        }
        tracing::info!(running = self.running_calls(), "[GracefulStop] waiting for the running calls");
        // No limit is a year.
        let wait = max_wait.unwrap_or(Duration::from_secs(365 * 24 * 3600));
        let is_closing = |server: &Self| server.status() == ServerStatus::Closing;
        self.idle_by(Instant::now() + wait, |server| server.running_calls() == 0 || !is_closing(server)).await;
        // Stopped by somebody else, and perhaps started again.
        if is_closing(self) { self.stop().await } else { Stopped::NOTHING_CUT }
    }

    /// Waits until the server is idle; `false` where it is not at the deadline.
    async fn idle_by(&self, deadline: Instant, is_idle: impl Fn(&Self) -> bool) -> bool {
        let idle = async {
            loop {
                let notified = self.shared.idle.notified();
                if is_idle(self) {
                    return;
                }
                notified.await;
            }
        };
        timeout_at(deadline.into(), idle).await.is_ok()
    }

    fn accepting(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.shared.accepting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_connections(&self) -> usize {
        self.shared.open_connections.load(std::sync::atomic::Ordering::Acquire)
    }

    /// Waits until the server has come as far as `status` on its way to the end.
    pub(crate) async fn until(&self, status: ServerStatus) {
        let mut statuses = self.shared.status.subscribe();
        let reached = |now: &ServerStatus| *now == status || *now == ServerStatus::Closed;
        // The sender lives in `self`.
        let _ = statuses.wait_for(reached).await;
    }
}

/// Accepts until the server is closed; connections that are left then are dropped.
async fn accept(server: Server, mut listener: Listener) {
    let mut connections = tokio::task::JoinSet::new();
    let closed = server.until(ServerStatus::Closed);
    tokio::pin!(closed);
    loop {
        tokio::select! {
            biased;
            () = &mut closed => break,
            incoming = listener.accept() => {
                connections.spawn(connection::run(server.clone(), incoming));
                // Those that have ended go, also while more come without a pause.
                while connections.try_join_next().is_some() {}
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
