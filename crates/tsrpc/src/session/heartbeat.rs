//! The client's side of the heartbeat: pings, latency, and noticing a dead connection.
//!
//! Depends on nothing; time is an argument.

use std::time::{Duration, Instant};

/// The code with which a client closes a connection that does not answer pings.
pub const HEARTBEAT_TIMEOUT_CODE: u16 = 3000;
/// The reason that goes with [`HEARTBEAT_TIMEOUT_CODE`].
pub const HEARTBEAT_TIMEOUT_REASON: &str = "Heartbeat timeout";

/// How a client keeps its connection under watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeartbeatOptions {
    /// From an answer to the next ping.
    pub interval: Duration,
    /// How long to wait for an answer.
    pub timeout: Duration,
}

/// What [`Heartbeat::poll`] asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeartbeatAction {
    /// Nothing before [`Heartbeat::next_deadline`].
    Wait,
    /// Send a binary frame [`HEARTBEAT`](crate::HEARTBEAT) now.
    Ping,
    /// The connection is dead: close it with [`HEARTBEAT_TIMEOUT_CODE`] and do not wait for the other side.
    Lost,
}

/// The heartbeat of one open connection.
#[derive(Debug, Clone)]
pub struct Heartbeat {
    options: HeartbeatOptions,
    state: State,
    latency: Option<Duration>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// The next ping is due at a moment.
    Idle {
        ping_at: Instant,
    },
    /// A ping went out at a moment and is not answered yet.
    Waiting {
        since: Instant,
    },
    Lost,
}

impl Heartbeat {
    /// The heartbeat of a connection opened `now`: the first ping is due at once.
    #[must_use]
    pub fn new(options: HeartbeatOptions, now: Instant) -> Self {
        Self { options, state: State::Idle { ping_at: now }, latency: None }
    }

    /// What to do at this moment.
    pub fn poll(&mut self, now: Instant) -> HeartbeatAction {
        match self.state {
            State::Idle { ping_at } if ping_at <= now => {
                self.state = State::Waiting { since: now };
                HeartbeatAction::Ping
            }
            State::Waiting { since } if since + self.options.timeout <= now => {
                self.state = State::Lost;
                HeartbeatAction::Lost
            }
            _ => HeartbeatAction::Wait,
        }
    }

    /// A heartbeat frame came; without a ping on its way it means nothing.
    pub fn pong(&mut self, now: Instant) {
        if let State::Waiting { since } = self.state {
            self.latency = Some(now.saturating_duration_since(since));
            self.state = State::Idle { ping_at: now + self.options.interval };
        }
    }

    /// How long the last answer took.
    #[must_use]
    pub fn latency(&self) -> Option<Duration> {
        self.latency
    }

    /// When to [`poll`](Self::poll) next; none once the connection is lost.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        match self.state {
            State::Idle { ping_at } => Some(ping_at),
            State::Waiting { since } => Some(since + self.options.timeout),
            State::Lost => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_at_once_then_after_each_answer_and_gives_up_without_one() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let options = HeartbeatOptions { interval: Duration::from_millis(100), timeout: Duration::from_millis(30) };
        let mut heartbeat = Heartbeat::new(options, start);
        assert_eq!(heartbeat.next_deadline(), Some(start));
        assert_eq!(heartbeat.poll(start), HeartbeatAction::Ping);
        assert_eq!(heartbeat.poll(at(29)), HeartbeatAction::Wait);
        assert_eq!(heartbeat.next_deadline(), Some(at(30)));
        heartbeat.pong(at(29));
        heartbeat.pong(at(29));
        assert_eq!(heartbeat.latency(), Some(Duration::from_millis(29)));
        assert_eq!(heartbeat.next_deadline(), Some(at(129)));
        assert_eq!(heartbeat.poll(at(128)), HeartbeatAction::Wait);
        assert_eq!(heartbeat.poll(at(200)), HeartbeatAction::Ping);
        assert_eq!(heartbeat.poll(at(230)), HeartbeatAction::Lost);
        heartbeat.pong(at(231));
        assert_eq!(heartbeat.next_deadline(), None);
        assert_eq!(heartbeat.poll(at(999)), HeartbeatAction::Wait);
    }
}
