//! Whether a property or element is there, and whether it may be missing (reference §6.2).
//!
//! Depends on the program and values only.

use crate::{Nullness, Slot, Value};

/// A property or element, as checks and pruning see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Presence<'v> {
    /// There, to be checked.
    Given(&'v Value),
    /// Missing as it may be, to be checked no further.
    Left {
        /// What pruning keeps of it is null, else nothing.
        as_null: bool,
    },
    /// Missing although it must not.
    Missing,
}

impl<'v> Presence<'v> {
    /// Looks at a value. Unless strict, null is as good as missing.
    ///
    /// The published validator looks at the type as written, so that a type by
    /// name that admits null counts as one that does not. Here a value that
    /// would be missing for that reason is not (reference §15).
    pub(crate) fn of(value: Option<&'v Value>, slot: &Slot, optional: bool, strict: bool) -> Self {
        let is_null = match value {
            None | Some(Value::Undefined) => false,
            Some(Value::Null) if !strict => true,
            Some(value) => return Self::Given(value),
        };
        let may_be_left = |can: Nullness| optional || can.undefined || !strict && can.null;
        let can = if may_be_left(slot.written) { slot.written } else { slot.resolved };
        if !may_be_left(can) {
            return Self::Missing;
        }
        let as_null = can.null && (is_null || !(optional || can.undefined));
        Self::Left { as_null }
    }
}
