//! The long connections of a server.
//!
//! Depends on [`Conn`] only. Invariant: holds exactly the long connections
//! that have been admitted and have not ended.

use std::sync::{PoisonError, RwLock};

use indexmap::IndexMap;

use crate::Conn;

#[derive(Default)]
pub(crate) struct Conns {
    open: RwLock<IndexMap<u64, Conn, foldhash::fast::FixedState>>,
}

impl Conns {
    pub(crate) fn insert(&self, conn: Conn) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).insert(conn.id(), conn);
    }

    pub(crate) fn remove(&self, id: u64) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).swap_remove(&id);
    }

    pub(crate) fn len(&self) -> usize {
        self.open.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Visits every connection. Nothing in `visit` may open or end one: neither does queueing.
    pub(crate) fn each(&self, mut visit: impl FnMut(&Conn)) {
        self.open.read().unwrap_or_else(PoisonError::into_inner).values().for_each(&mut visit);
    }

    pub(crate) fn all(&self) -> Vec<Conn> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}
