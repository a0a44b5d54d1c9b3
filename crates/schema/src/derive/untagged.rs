//! Untagged enums: which variant a value is.
//!
//! Depends on values and [`Schema`] only. Invariant: the work is proportional to
//! the size of the value that is read as a whole, whatever the enums in it look
//! like. Variants that hold the enum itself try what is inside once each, which
//! doubles with every level; what real types need is far from the bound.

use std::cell::Cell;

use crate::{Mismatch, Schema, Value, effort::PATIENCE};

/// How one variant takes a value.
pub type TakeVariant<T> = fn(Value) -> Result<T, Mismatch>;

/// How often a value may be tried for each variant of the outermost enum around it.
const EFFORT: u64 = 8;

/// What may still be tried for the value that is being read.
#[derive(Debug, Clone, Copy)]
struct Budget {
    left: u64,
    in_enum: bool,
}

thread_local! {
    /// Of the value that is being read as a whole, while there is one.
    static BUDGET: Cell<Option<Budget>> = const { Cell::new(None) };
}

/// Puts back what was there before, also where a variant panics.
struct Restore(Option<Budget>);

impl Drop for Restore {
    fn drop(&mut self) {
        // The enum is left, but what was spent on it stays spent.
        let left = BUDGET.get().map_or(0, |budget| budget.left);
        BUDGET.set(self.0.map(|before| Budget { left, ..before }));
    }
}

/// Reads a value that a peer sent, all of whose enums share one bound.
///
/// Where enums are read without, each that is in no other has a bound of its own:
/// a list of them could take its length times as long.
///
/// # Errors
/// As [`Schema::from_value`].
pub fn from_untrusted<T: Schema>(value: Value) -> Result<T, Mismatch> {
    let before = BUDGET.get();
    let _restore = Restore(before);
    BUDGET.set(Some(before.unwrap_or(Budget { left: PATIENCE, in_enum: false })));
    T::from_value(value)
}

/// The first variant that takes a value wholly, else the first that takes it.
///
/// An object may be valid for several members of a union, of which an earlier one
/// knows only some of its properties; nothing of it shall be lost.
///
/// # Errors
/// The refusal of the first variant, where none takes it or too many were tried.
pub fn untagged<T: Schema>(value: Value, variants: &[TakeVariant<T>]) -> Result<T, Mismatch> {
    let values = value.size();
    let before = BUDGET.get();
    if before.is_some_and(|budget| budget.in_enum) {
        return take(value, values, variants);
    }
    let earned = EFFORT.saturating_mul(variants.len() as u64).saturating_mul(values);
    let left = before.map_or(PATIENCE, |budget| budget.left).saturating_add(earned);
    let _restore = Restore(before);
    BUDGET.set(Some(Budget { left, in_enum: true }));
    take(value, values, variants)
}

fn take<T: Schema>(value: Value, values: u64, variants: &[TakeVariant<T>]) -> Result<T, Mismatch> {
    let whole_matters = matches!(value, Value::Object(_) | Value::Array(_));
    let mut partly = None;
    let mut refusal = None;
    for variant in variants {
        match spend(values).and_then(|()| variant(value.clone())) {
            Ok(taken) if !whole_matters || taken.to_value() == value => return Ok(taken),
            Ok(taken) => partly = partly.or(Some(taken)),
            Err(mismatch) => refusal = refusal.or(Some(mismatch)),
        }
    }
    partly.ok_or_else(|| refusal.unwrap_or_else(|| Mismatch::new("There is no variant.")))
}

fn spend(values: u64) -> Result<(), Mismatch> {
    let Some(budget) = BUDGET.get() else { return Ok(()) };
    let left = budget.left.checked_sub(values);
    BUDGET.set(Some(Budget { left: left.unwrap_or(0), ..budget }));
    left.map(drop).ok_or_else(|| Mismatch::new("Too many variants have to be tried."))
}

#[cfg(test)]
mod tests;
