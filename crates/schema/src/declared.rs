//! The property names that any member of a union or intersection declares.
//!
//! Depends on the program only. While a member is checked, what another member
//! declares is no excess property (reference §6.2).

use std::{collections::HashSet, sync::Arc};

use crate::{KeyType, NodeId};

/// What the members of one union or intersection declare, taken together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declared {
    pub(crate) names: HashSet<Arc<str>>,
    /// The index signature among them; one of numbers wins over one of strings.
    pub(crate) index: Option<KeyType>,
}

impl Declared {
    pub(crate) fn add_index(&mut self, key: KeyType) {
        self.index = match (self.index, key) {
            (Some(KeyType::Number), _) | (_, KeyType::Number) => Some(KeyType::Number),
            _ => Some(KeyType::String),
        };
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        self.names.extend(other.names.iter().cloned());
        if let Some(key) = other.index {
            self.add_index(key);
        }
    }
}

/// What is declared around a value: by the union it is a member of, and by the
/// unions around that one up to the next property.
///
/// The published validator hands the list of the outermost union through arrays
/// too, where it *replaces* that of an inner union, which then refuses what its
/// own members declare. Here the inner one is added (reference §15).
#[derive(Clone, Copy)]
pub(crate) struct Allowed<'a> {
    declared: &'a Declared,
    by: NodeId,
    around: Option<&'a Allowed<'a>>,
    /// Which keys are allowed whatever their name.
    pub(crate) index: Option<KeyType>,
}

impl<'a> Allowed<'a> {
    /// Enters a union or intersection.
    pub(crate) fn enter(declared: &'a Declared, by: NodeId, around: Option<&'a Self>) -> Self {
        let Some(outer) = around else { return Self { declared, by, around, index: declared.index } };
        if outer.by().any(|entered| entered == by) {
            // Entered before: recursion through arrays adds nothing.
            return *outer;
        }
        // An inner signature of numbers would refuse keys that the published validator accepts.
        let index = outer.index.or(declared.index.filter(|key| *key == KeyType::String));
        Self { declared, by, around, index }
    }

    /// Whether a union around the value declares the name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.declared.names.contains(name) || self.around.is_some_and(|around| around.has(name))
    }

    /// The unions, from the inside out.
    pub(crate) fn by(&self) -> impl Iterator<Item = NodeId> {
        std::iter::successors(Some(self), |allowed| allowed.around).map(|allowed| allowed.by)
    }
}
