//! Bounding the work of a walk over a value.
//!
//! Depends on the program only. Unions within unions try the same part of a
//! value once for each way that leads there, which can double with each level.
//! A walk that takes long therefore begins to remember what it found out about
//! parts inside of unions.

use std::collections::HashMap;

use crate::{KeyType, NodeId, Value, declared::Allowed, place::Place};

/// How many nodes are visited before answers are remembered: about a
/// millisecond of work, more than nearly every real value needs.
pub(crate) const PATIENCE: u64 = 100_000;

/// What a walk has done, and what it remembers.
pub(crate) struct Effort<T> {
    visits: u64,
    known: HashMap<Key, T>,
}

/// A question: this type, this value, among unions that allow this much.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Key {
    node: NodeId,
    address: usize,
    index: Option<KeyType>,
    unions: Box<[NodeId]>,
}

/// What a walk knows about a question.
pub(crate) enum Recalled<T> {
    /// The answer.
    Known(T),
    /// Nothing; with a key where the answer shall be remembered.
    New(Option<Box<Key>>),
}

/// Whether it matters what other members of the unions around declare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Matter,
    DoNotMatter,
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

    /// Counts work that is as much as so many visits.
    pub(crate) fn steps(&mut self, visits: u64) {
        self.visits += visits;
    }

    /// How many nodes have been visited.
    pub(crate) fn visits(&self) -> u64 {
        self.visits
    }

    /// What is known already, or the key of an answer that is worth remembering.
    pub(crate) fn recall(&self, node: NodeId, value: &Value, place: Place<'_>, names: Names) -> Recalled<T> {
        let key = self.key(node, value, place, names);
        match key.as_ref().and_then(|key| self.known.get(key)) {
            Some(known) => Recalled::Known(known.clone()),
            None => Recalled::New(key.map(Box::new)),
        }
    }

    /// Values are told apart by their addresses, which stay theirs during a walk.
    fn key(&self, node: NodeId, value: &Value, place: Place<'_>, names: Names) -> Option<Key> {
        let may_come_again = place.in_union && matches!(value, Value::Object(_) | Value::Array(_) | Value::Buffer(..));
        if self.visits < PATIENCE || !may_come_again {
            return None;
        }
        let mut unions = Vec::new();
        if names == Names::Matter {
            unions.extend(place.around.into_iter().flat_map(Allowed::by));
            // In whatever order they were entered, together they declare the same.
            unions.sort_unstable_by_key(|node| node.index());
        }
        let index = place.around.and_then(|around| around.index);
        Some(Key { node, address: std::ptr::from_ref(value).addr(), index, unions: unions.into() })
    }

    pub(crate) fn remember(&mut self, key: Option<Box<Key>>, answer: &T) {
        if let Some(key) = key {
            self.known.insert(*key, answer.clone());
        }
    }
}
