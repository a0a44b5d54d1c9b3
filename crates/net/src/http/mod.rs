//! HTTP/1.1 for servers: thin over hyper, with the limits and deadlines that
//! a server on the open network needs, and a way out of HTTP for WebSockets.
//!
//! May depend on hyper and tokio. Holds always: a connection that makes no
//! progress is cut, a body never exceeds its limit, and after an upgrade
//! nothing of HTTP is left in memory.

mod activity;
mod body;
mod head;
mod serve;

use std::time::Duration;

pub(crate) use head::encode_request;

pub use body::{BodyError, collect};
pub use serve::{Answer, ServeError, Served, Switch, Upgraded, serve};

/// What one HTTP connection may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLimits {
    /// Longest head of a request in bytes. A longer one is answered 431.
    /// Default 64 KiB.
    pub max_head: usize,
    /// How long the head of a request may take. Measured coarsely: a connection
    /// is cut between once and twice this time. Default 10 s.
    pub head_timeout: Duration,
    /// How long a connection is kept between two requests, as coarsely.
    /// Default 60 s.
    pub idle_timeout: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self { max_head: 64 << 10, head_timeout: Duration::from_secs(10), idle_timeout: Duration::from_secs(60) }
    }
}

/// What the body of one request may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyLimits {
    /// Longest body in bytes. Default 10 MiB.
    pub max_len: usize,
    /// How long the whole body may take. Default 60 s.
    pub timeout: Duration,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self { max_len: 10 << 20, timeout: Duration::from_secs(60) }
    }
}
