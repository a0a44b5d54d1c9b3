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
    pub(crate) fn connect(address: SocketAddr, encoding: Encoding, clients: usize) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut connections = Vec::with_capacity(clients);
        for index in 0..clients {
            let mut connection = Connection::open(address, encoding)?;
            let interest = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(connection.source(), Token(index), interest)?;
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
        Outcome { elapsed, errors: tally.errors(), latencies: tally.into_latencies(), problem }
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
                    self.receive(member, event.is_read_closed())?;
                }
            }
        }
        Ok(())
    }

    /// Reads until the socket is empty. The end of the stream may be reported together with
    /// the last bytes and never again, so a closed one is read to its end.
    fn receive(&mut self, member: usize, closed: bool) -> Result<(), Stop> {
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
                Received::Everything if !closed => return Ok(()),
                Received::Everything | Received::BufferFull => {}
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
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::contract::Service;
    use crate::{floor, handshake, process};

    /// Serves the floor on a thread of its own until the tests end.
    fn floor(mode: Mode) -> SocketAddr {
        let address = process::free_address().unwrap();
        let (ready, is_ready) = mpsc::channel();
        thread::spawn(move || floor::serve(address, mode, || ready.send(()).unwrap()));
        is_ready.recv().unwrap();
        address
    }

    /// A server that accepts one connection, reads something, writes `frames` and leaves.
    fn one_shot(frames: Vec<u8>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).unwrap();
            let head = String::from_utf8_lossy(&bytes[..read]);
            let (response, _) = handshake::response(&head).unwrap();
            stream.write_all(response.as_bytes()).unwrap();
            assert_ne!(stream.read(&mut bytes).unwrap(), 0);
            stream.write_all(&frames).unwrap();
        });
        address
    }

    const PLAN: Plan = Plan { in_flight: 7, requests: 100, client: ClientKind::Pipelined, mode: Mode::Calls };

    #[test]
    fn the_floor_keeps_the_contract() {
        for mode in [Mode::Calls, Mode::Broadcast] {
            let address = floor(mode);
            for encoding in Encoding::ALL {
                for client in [ClientKind::Pipelined, ClientKind::PerRequest] {
                    let mut fleet = Fleet::connect(address, encoding, 3).unwrap();
                    let plan = Plan { client, mode, ..PLAN };
                    for _ in 0..2 {
                        let outcome = fleet.run(&plan);
                        assert_eq!(outcome.problem, None, "{mode:?} {encoding:?} {client:?}");
                        assert_eq!((outcome.errors, outcome.latencies.len()), (0, 100));
                    }
                }
            }
        }
    }

    #[test]
    fn broadcasts_that_nobody_asked_for_spoil_the_run() {
        let address = floor(Mode::Broadcast);
        let mut fleet = Fleet::connect(address, Encoding::Binary, 1).unwrap();
        let outcome = fleet.run(&PLAN);
        assert!(outcome.errors > 0);
        let problem = outcome.problem.unwrap();
        assert!(problem.contains("too many"), "{problem}");
    }

    #[test]
    fn a_server_that_leaves_early_owes_what_is_missing() {
        let mut frames = Vec::new();
        for sn in [1, 2] {
            Service::new(Encoding::Json).write_reply(&mut frames, sn);
        }
        let mut fleet = Fleet::connect(one_shot(frames), Encoding::Json, 1).unwrap();
        let plan = Plan { requests: 5, in_flight: 5, ..PLAN };
        let outcome = fleet.run(&plan);
        assert_eq!(outcome.errors, 3);
        assert_eq!(outcome.latencies.len(), 2);
        assert!(outcome.problem.is_some());
    }

    #[test]
    fn requests_are_spread_evenly() {
        for (in_flight, members, expected) in [(200, 1, vec![200]), (10, 4, vec![3, 3, 2, 2]), (2, 4, vec![1, 1, 0, 0])]
        {
            let shares: Vec<usize> = (0..members).map(|member| share(in_flight, member, members)).collect();
            assert_eq!(shares, expected);
        }
    }
}
