//! The load generator: keeps a fixed number of requests in flight on each of several
//! connections, checks every frame that comes back, and takes the time of every request.
//!
//! One thread, non-blocking sockets. Depends on `frame`, `handshake` and `contract`. Must cost
//! far less than the servers it loads.

mod connection;
mod tally;

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token};

use crate::contract::{Answer, AnswerReader, Encoding, RequestWriter};
use connection::{Connection, Received};
use tally::{Deliveries, Tally};

/// A run is given up when nothing arrives for this long.
const STALL: Duration = Duration::from_secs(10);

/// How a client hands requests to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientKind {
    /// All requests that one read made room for go out in one write.
    Pipelined,
    /// Every request is a write of its own, as the npm package `tsrpc` does it.
    PerRequest,
}

impl ClientKind {
    /// The word in the names of scenarios.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pipelined => "pipelined",
            Self::PerRequest => "per-request",
        }
    }
}

/// What every request brings about beside its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing.
    Calls,
    /// A `Chat` to every connection, the caller's included.
    Broadcast,
}

impl Mode {
    /// The word in the names of scenarios.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Broadcast => "broadcast",
        }
    }
}

/// One run over an open [`Fleet`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Requests in flight on all connections together, spread evenly over them.
    pub(crate) in_flight: usize,
    /// Requests of all connections together.
    pub(crate) requests: usize,
    /// How requests are written.
    pub(crate) client: ClientKind,
    /// What the server does beside replying.
    pub(crate) mode: Mode,
}

/// What became of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// From before the first write to after the last reply and delivery.
    pub(crate) elapsed: Duration,
    /// Of every good reply, in nanoseconds, unsorted.
    pub(crate) latencies: Vec<u64>,
    /// Requests without a good reply, plus deliveries that are missing or too many.
    pub(crate) errors: u64,
    /// The first thing that went wrong, for people.
    pub(crate) problem: Option<String>,
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
enum Stop {
    #[error("nothing arrived for {} s", STALL.as_secs())]
    Stalled,
    #[error("the server closed the connection")]
    Closed,
    #[error(transparent)]
    Frame(#[from] connection::BadFrame),
    #[error(transparent)]
    Answer(#[from] crate::contract::BadAnswer),
    #[error(transparent)]
    Tally(#[from] tally::Violation),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Open connections to one server.
#[derive(Debug)]
pub(crate) struct Fleet {
    poll: Poll,
    connections: Vec<Connection>,
    requests: RequestWriter,
    answers: AnswerReader,
    /// The serial number that the next run begins with, on every connection.
    next_sn: u64,
}

impl Fleet {
    /// Opens `clients` connections.
    ///
    /// # Errors
    /// When the server refuses a connection or its upgrade.
    pub(crate) fn connect(
        address: SocketAddr,
        encoding: Encoding,
        clients: usize,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut connections = Vec::with_capacity(clients);
        for index in 0..clients {
            let mut connection = Connection::open(address, encoding)?;
            let interest = Interest::READABLE | Interest::WRITABLE;
            poll.registry()
                .register(connection.source(), Token(index), interest)?;
            connections.push(connection);
        }
        Ok(Self {
            poll,
            connections,
            requests: RequestWriter::new(encoding),
            answers: AnswerReader::new(encoding),
            next_sn: 1,
        })
    }

    /// Carries out a plan. Never fails: what goes wrong is counted in the outcome.
    pub(crate) fn run(&mut self, plan: &Plan) -> Outcome {
        let deliveries = match plan.mode {
            Mode::Calls => Deliveries::None,
            Mode::Broadcast => Deliveries::ToAll,
        };
        let members = self.connections.len();
        let mut run = Run {
            plan,
            start: Instant::now(),
            tally: Tally::new(members, plan.requests, deliveries, self.next_sn),
            fleet: self,
        };
        let problem = run.carry_out().err().map(|stop| stop.to_string());
        let elapsed = run.start.elapsed();
        let tally = run.tally;
        self.next_sn += plan.requests as u64;
        Outcome {
            elapsed,
            errors: tally.errors(),
            latencies: tally.into_latencies(),
            problem,
        }
    }
}

struct Run<'a> {
    plan: &'a Plan,
    fleet: &'a mut Fleet,
    tally: Tally,
    start: Instant,
}

impl Run<'_> {
    fn carry_out(&mut self) -> Result<(), Stop> {
        let members = self.fleet.connections.len();
        for member in 0..members {
            self.issue(member, share(self.plan.in_flight, member, members))?;
        }
        let mut events = Events::with_capacity(1024);
        while !self.tally.is_complete() {
            match self.fleet.poll.poll(&mut events, Some(STALL)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result?,
            }
            if events.is_empty() {
                return Err(Stop::Stalled);
            }
            for event in &events {
                let Token(member) = event.token();
                if event.is_writable() {
                    self.fleet.connections[member].flush()?;
                }
                if event.is_readable() {
                    self.receive(member)?;
                }
            }
        }
        Ok(())
    }

    fn receive(&mut self, member: usize) -> Result<(), Stop> {
        loop {
            let connection = &mut self.fleet.connections[member];
            let received = connection.receive()?;
            let now = self.now();
            let connection = &mut self.fleet.connections[member];
            let mut replies = 0;
            while let Some(payload) = connection.next_payload()? {
                match self.fleet.answers.read(payload)? {
                    Answer::Reply { sn } => {
                        self.tally.reply(member, sn, now)?;
                        replies += 1;
                    }
                    Answer::Chat => self.tally.chat(member)?,
                }
            }
            self.issue(member, replies)?;
            match received {
                Received::Everything => return Ok(()),
                Received::BufferFull => {}
                Received::End => return Err(Stop::Closed),
            }
        }
    }

    /// Sends up to `count` requests, as far as the plan has any left.
    fn issue(&mut self, member: usize, count: usize) -> io::Result<()> {
        let now = self.now();
        for _ in 0..count {
            let stamp = match self.plan.client {
                ClientKind::Pipelined => now,
                ClientKind::PerRequest => self.now(),
            };
            let Some(sn) = self.tally.issue(member, stamp) else {
                break;
            };
            let connection = &mut self.fleet.connections[member];
            self.fleet.requests.write(connection.outgoing(), sn);
            if self.plan.client == ClientKind::PerRequest {
                connection.flush()?;
            }
        }
        self.fleet.connections[member].flush()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// How many of `in_flight` requests fall to one of several members.
const fn share(in_flight: usize, member: usize, members: usize) -> usize {
    let one_more = member < in_flight % members;
    in_flight / members + if one_more { 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_spread_evenly() {
        for (in_flight, members, expected) in [
            (200, 1, vec![200]),
            (10, 4, vec![3, 3, 2, 2]),
            (2, 4, vec![1, 1, 0, 0]),
        ] {
            let shares: Vec<usize> = (0..members)
                .map(|member| share(in_flight, member, members))
                .collect();
            assert_eq!(shares, expected);
        }
    }
}
