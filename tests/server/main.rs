//! The server as a peer on a raw socket sees it: order, flows, life cycle,
//! limits, and input that nobody sends by accident.

mod detached;
mod flows;
mod hostile;
mod http_oddities;
mod life_cycle;
mod limits;
mod listeners;
mod logging;
mod options;
mod order;
mod policies;
mod reentrance;
mod slow_peers;
mod stopping;
mod support;
mod vanishing;
mod wires;
