//! What is measured: the rows of the tables.
//!
//! A scenario's name has four words, so that it can be filtered, joined with its peers' rows
//! and taken apart again for a table.

use crate::contract::Encoding;
use crate::load::{ClientKind, Mode};

/// One thing to measure on every subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenario {
    /// Requests at a fixed concurrency.
    Load {
        /// What the server does beside replying.
        mode: Mode,
        /// How many connections, and how many requests in flight.
        shape: Shape,
        /// How values travel.
        encoding: Encoding,
        /// How requests are written.
        client: ClientKind,
    },
    /// Memory of connections that wait.
    Idle {
        /// How many connections.
        connections: usize,
        /// What they offered at the handshake.
        encoding: Encoding,
        /// What they did before they began to wait.
        after: After,
    },
}

/// Connections and the requests in flight on all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Connections.
    pub(crate) clients: usize,
    /// Requests in flight, spread evenly over the connections.
    pub(crate) in_flight: usize,
}

/// What an idle connection has behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Nothing but its handshake.
    Handshake,
    /// One call, which may leave buffers behind.
    Call,
}

impl After {
    const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "after-handshake",
            Self::Call => "after-call",
        }
    }
}

impl Scenario {
    /// Four words: what, how much, encoding, and the kind of client.
    pub(crate) fn name(&self) -> String {
        match *self {
            Self::Load { mode, shape: Shape { clients, in_flight }, encoding, client } => {
                format!("{} {clients}x{in_flight} {} {}", mode.name(), encoding.name(), client.name())
            }
            Self::Idle { connections, encoding, after } => {
                format!("idle-connections {connections} {} {}", encoding.name(), after.name())
            }
        }
    }

    /// How values travel.
    pub(crate) const fn encoding(self) -> Encoding {
        match self {
            Self::Load { encoding, .. } | Self::Idle { encoding, .. } => encoding,
        }
    }

    /// How the server has to be started.
    pub(crate) const fn mode(&self) -> Mode {
        match *self {
            Self::Load { mode, .. } => mode,
            Self::Idle { .. } => Mode::Calls,
        }
    }
}

const fn shape(clients: usize, in_flight: usize) -> Shape {
    Shape { clients, in_flight }
}

/// The published concurrencies of a single client.
const SINGLE: [Shape; 5] = [shape(1, 1), shape(1, 10), shape(1, 50), shape(1, 100), shape(1, 200)];

/// The published fleets, and one whose connections each have as much to do as the largest
/// single client.
const FLEETS: [Shape; 4] = [shape(5, 50), shape(10, 100), shape(20, 200), shape(20, 4000)];

/// Without pipelining a few shapes tell all: the client's system calls decide.
const CALLS_PER_REQUEST: [Shape; 4] = [shape(1, 10), shape(1, 200), shape(20, 200), shape(200, 200)];

const BROADCAST_PER_REQUEST: [Shape; 2] = [shape(1, 200), shape(20, 200)];

const IDLE_CONNECTIONS: usize = 2000;

/// All scenarios of the suite `tsrpc`, in the order of the tables.
pub(crate) fn all() -> Vec<Scenario> {
    let broadcast_pipelined = [&SINGLE[..], &FLEETS].concat();
    let mut all = Vec::new();
    for (mode, pipelined, per_request) in [
        (Mode::Calls, &SINGLE[..], &CALLS_PER_REQUEST[..]),
        (Mode::Broadcast, &broadcast_pipelined, &BROADCAST_PER_REQUEST),
    ] {
        for encoding in Encoding::ALL {
            for (client, shapes) in [(ClientKind::Pipelined, pipelined), (ClientKind::PerRequest, per_request)] {
                all.extend(shapes.iter().map(|&shape| Scenario::Load { mode, shape, encoding, client }));
            }
        }
    }
    for encoding in Encoding::ALL {
        all.extend([After::Handshake, After::Call].map(|after| Scenario::Idle {
            connections: IDLE_CONNECTIONS,
            encoding,
            after,
        }));
    }
    all
}

/// Whether every word of `filter` is a word of the scenario's name.
pub(crate) fn matches(name: &str, filter: &[String]) -> bool {
    filter.iter().all(|wanted| name.split(' ').any(|word| word == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_four_words_and_unique() {
        let mut names: Vec<String> = all().iter().map(Scenario::name).collect();
        assert!(names.iter().all(|name| name.split(' ').count() == 4));
        assert!(names.contains(&"broadcast 20x200 binary pipelined".to_owned()));
        assert!(names.contains(&"idle-connections 2000 json after-call".to_owned()));
        let before = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), before);
    }

    #[test]
    fn filters_match_whole_words() {
        let name = "calls 1x10 json pipelined";
        for (filter, expected) in [
            (vec![], true),
            (vec!["1x10"], true),
            (vec!["json", "calls"], true),
            (vec!["1x1"], false),
            (vec!["json", "binary"], false),
        ] {
            let filter: Vec<String> = filter.into_iter().map(str::to_owned).collect();
            assert_eq!(matches(name, &filter), expected, "{filter:?}");
        }
    }
}
