//! Untagged enums: which variant a value is.

use std::cell::Cell;

use crate::{Mismatch, Schema, Value};

/// How one variant takes a value.
pub type TakeVariant<T> = fn(Value) -> Result<T, Mismatch>;

/// How many values within a value are looked at for each that is in it.
///
/// Variants that hold the enum itself try what is inside once each, which can double
/// with every level; a type that is told apart by its kinds or properties needs few.
const EFFORT: u64 = 32;

/// What is looked at in any case: some milliseconds of work.
const PATIENCE: u64 = 100_000;

thread_local! {
    /// How many values may still be looked at for the outermost enum that is being read.
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Ends the outermost enum, also where a variant panics.
struct Outermost;

impl Outermost {
    fn begin(values: u64) -> Option<Self> {
        if LEFT.get().is_some() {
            return None;
        }
        LEFT.set(Some(EFFORT.saturating_mul(values).saturating_add(PATIENCE)));
        Some(Self)
    }
}

impl Drop for Outermost {
    fn drop(&mut self) {
        LEFT.set(None);
    }
}

fn spend(values: u64) -> Result<(), Mismatch> {
    let left = LEFT.get().unwrap_or(0).checked_sub(values);
    LEFT.set(Some(left.unwrap_or(0)));
    left.map(drop).ok_or_else(|| Mismatch::new("Too many variants have to be tried."))
}

/// How many values there are in a value, itself included.
fn count(value: &Value) -> u64 {
    1 + match value {
        Value::Array(elements) => elements.iter().map(count).sum(),
        Value::Object(object) => object.iter().map(|(_, value)| count(value)).sum(),
        _ => 0,
    }
}

/// The first variant that takes a value wholly, else the first that takes it.
///
/// An object may be valid for several members of a union, of which an earlier one
/// knows only some of its properties; nothing of it shall be lost.
///
/// # Errors
/// The refusal of the first variant, where none takes it or too many were tried.
pub fn untagged<T: Schema>(value: Value, variants: &[TakeVariant<T>]) -> Result<T, Mismatch> {
    let values = count(&value);
    let outermost = Outermost::begin(values);
    let taken = take(value, values, variants);
    drop(outermost);
    taken
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
