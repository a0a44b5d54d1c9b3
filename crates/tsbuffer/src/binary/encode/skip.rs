//! Which properties of a value are written already, and which may be written at all.
//!
//! Depends on names only. Several interfaces may describe one value: bases,
//! members, the two sides of `Overwrite`. Each property is written by the first
//! of them (reference §5.5–5.7).

use std::collections::HashSet;

use crate::layout::Name;

/// Up to how many names a scan is faster than hashing.
const FEW: usize = 32;

/// The properties of one value that have been written.
#[derive(Debug, Clone, Default)]
pub(super) struct Skip {
    /// The first names, in place: most values have no more.
    few: [Name; FEW],
    few_len: usize,
    many: HashSet<Name>,
    /// Keys that no type of the program names.
    unnamed: HashSet<Box<str>>,
    writers: Writers,
}

/// How many interfaces write properties of the value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Writers {
    /// One, which comes by each key once.
    One,
    /// Perhaps several.
    #[default]
    Several,
}

impl Skip {
    /// Empties the set for another value.
    pub(super) fn reset(&mut self, writers: Writers) {
        self.few_len = 0;
        self.many.clear();
        self.unnamed.clear();
        self.writers = writers;
    }

    pub(super) fn contains(&self, name: Name) -> bool {
        self.few[..self.few_len].contains(&name) || (!self.many.is_empty() && self.many.contains(&name))
    }

    /// Whether the name was not there yet.
    pub(super) fn insert(&mut self, name: Name) -> bool {
        if self.contains(name) {
            return false;
        }
        if let Some(free) = self.few.get_mut(self.few_len) {
            *free = name;
            self.few_len += 1;
        } else {
            self.many.insert(name);
        }
        true
    }

    /// As [`insert`](Self::insert), for a key that no type of the program names.
    pub(super) fn insert_unnamed(&mut self, key: &str) -> bool {
        self.writers == Writers::One || self.unnamed.insert(key.into())
    }
}

/// What `Pick` and `Omit` around an interface let through, from the inside out.
///
/// The published encoder keeps these in sets that outlive their type, so that
/// the other side of an `Overwrite`, or a later member of a union, loses
/// properties too (reference §15). Here they end with the type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filter<'f> {
    /// Sorted.
    pub(super) keys: &'f [Name],
    pub(super) keep: Keep,
    pub(super) outer: Option<&'f Filter<'f>>,
}

/// Which properties a filter keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Those that it names.
    Named,
    /// Those that it does not name.
    Others,
}

impl Filter<'_> {
    /// Whether a property passes this filter and all around it.
    pub(super) fn admits(&self, name: Option<Name>) -> bool {
        let is_named = name.is_some_and(|name| self.keys.binary_search(&name).is_ok());
        is_named == (self.keep == Keep::Named) && self.outer.is_none_or(|outer| outer.admits(name))
    }
}
