//! Bounding the work of a walk over a value.
//!
//! Depends on the program only. Unions within unions try the same part of a
//! value once for each way that leads there, which can double with each level.
//! A walk that takes long therefore begins to remember what it found out about
//! parts inside of unions.

use std::collections::HashMap;

use crate::{NodeId, Value, declared::Allowed, place::Place};

/// How many nodes are visited before answers are remembered: about a
/// millisecond of work, more than nearly every real value needs.
const PATIENCE: u64 = 100_000;

/// What a walk has done, and what it remembers.
pub(crate) struct Effort<T> {
    visits: u64,
    known: HashMap<Key, T>,
}

/// A question: this type, this value, among these unions.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Key {
    node: NodeId,
    address: usize,
    unions: Box<[NodeId]>,
}

impl<T> Default for Effort<T> {
    fn default() -> Self {
        Self { visits: 0, known: HashMap::new() }
    }
}

impl<T: Clone> Effort<T> {
    /// Counts the visit of a node.
    pub(crate) fn step(&mut self) {
        self.visits += 1;
    }

    /// The key of an answer that is worth remembering.
    ///
    /// Values are told apart by their addresses, which stay theirs during a walk.
    pub(crate) fn key(&self, node: NodeId, value: &Value, place: Place<'_>) -> Option<Key> {
        let may_come_again = place.in_union && matches!(value, Value::Object(_) | Value::Array(_));
        if self.visits < PATIENCE || !may_come_again {
            return None;
        }
        let unions = place.around.into_iter().flat_map(Allowed::by).collect();
        Some(Key { node, address: std::ptr::from_ref(value).addr(), unions })
    }

    pub(crate) fn known(&self, key: Option<&Key>) -> Option<T> {
        self.known.get(key?).cloned()
    }

    pub(crate) fn remember(&mut self, key: Option<Key>, answer: &T) {
        if let Some(key) = key {
            self.known.insert(key, answer.clone());
        }
    }
}
