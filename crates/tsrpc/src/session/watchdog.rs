//! The server's side of the heartbeat: closing connections that went silent.
//!
//! Depends on nothing; time is an argument.

use std::time::{Duration, Instant};

/// The code with which a server closes a connection that sent no ping in time.
pub const HEARTBEAT_LOST_CODE: u16 = 3001;
/// The reason that goes with [`HEARTBEAT_LOST_CODE`].
pub const HEARTBEAT_LOST_REASON: &str = "Receive heartbeat timeout";

/// Watches that a client pings.
///
/// As published, it looks once every `wait` and finds the connection lost when
/// the last ping is then older than that: a client that pings every `wait` is
/// safe, and one that stops is closed after one to two waits. Connecting counts
/// as the first ping (published servers close whoever has not pinged at the
/// first look).
#[derive(Debug, Clone)]
pub struct Watchdog {
    wait: Duration,
    last_ping: Instant,
    next_look: Instant,
}

impl Watchdog {
    /// A watchdog over a connection opened `now`; `wait` is at least a millisecond.
    #[must_use]
    pub fn new(wait: Duration, now: Instant) -> Self {
        let wait = wait.max(Duration::from_millis(1));
        Self { wait, last_ping: now, next_look: now + wait }
    }

    /// A ping came.
    pub fn ping(&mut self, now: Instant) {
        self.last_ping = self.last_ping.max(now);
    }

    /// When the connection was last known to be alive.
    #[must_use]
    pub fn last_ping(&self) -> Instant {
        self.last_ping
    }

    /// When [`is_lost`](Self::is_lost) has to be asked next.
    #[must_use]
    pub fn next_deadline(&self) -> Instant {
        self.next_look
    }

    /// Whether the connection is to be closed. Asking before the deadline is harmless, also after missing some.
    pub fn is_lost(&mut self, now: Instant) -> bool {
        while self.next_look <= now {
            if self.next_look.saturating_duration_since(self.last_ping) > self.wait {
                return true;
            }
            self.next_look += self.wait;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pings at the given milliseconds; gives the moment of closing, looking at every deadline up to `end`.
    fn closed_at(pings: &[u64], end: u64) -> Option<u64> {
        let start = Instant::now();
        let mut watchdog = Watchdog::new(Duration::from_millis(1000), start);
        let mut pings = pings.iter().peekable();
        loop {
            let now = watchdog.next_deadline();
            let at = now.duration_since(start).as_millis() as u64;
            if at > end {
                return None;
            }
            while let Some(ping) = pings.next_if(|ping| **ping <= at) {
                watchdog.ping(start + Duration::from_millis(*ping));
            }
            if watchdog.is_lost(now) {
                return Some(at);
            }
        }
    }

    #[test]
    fn a_silent_connection_is_closed_after_one_to_two_waits() {
        let cases: &[(&[u64], Option<u64>)] = &[
            (&[], Some(2000)),
            (&[1], Some(2000)),
            (&[999, 1999], Some(3000)),
            (&[1000], Some(3000)),
            (&[1500], Some(3000)),
            (&[900, 1900, 2900, 3900], None),
            (&[1000, 2000, 3000, 4000], None),
        ];
        for (pings, expected) in cases {
            assert_eq!(closed_at(pings, 4000), *expected, "{pings:?}");
        }
    }

    #[test]
    fn looking_late_is_like_looking_at_each_deadline() {
        let start = Instant::now();
        let mut watchdog = Watchdog::new(Duration::from_millis(10), start);
        watchdog.ping(start + Duration::from_secs(5));
        assert!(!watchdog.is_lost(start + Duration::from_secs(5)));
        assert!(watchdog.next_deadline() > start + Duration::from_secs(5));
        assert!(watchdog.is_lost(start + Duration::from_secs(6)));
    }
}
