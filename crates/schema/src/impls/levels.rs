//! Bounding how deep a Rust value is followed on the way to its dynamic form.
//!
//! Depends on values and [`Schema`] only. Rust values may be deeper than the stack:
//! a list of 100,000 boxes, each in the one before. Whatever recursive type it is,
//! every level passes a pointer or a container, and those count.

use std::cell::Cell;

use crate::{MAX_VALUE_DEPTH, Schema, Value};

/// A Rust value whose pointers and containers are nested more than [`MAX_VALUE_DEPTH`] levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Value is nested too deeply, at most {MAX_VALUE_DEPTH} levels are accepted.")]
pub struct TooDeep;

thread_local! {
    /// Where somebody counts: how many levels may still be entered, below zero once it was one too many.
    static LEFT: Cell<Option<i64>> = const { Cell::new(None) };
}

/// The dynamic form of a value that may be as deep as it likes. [`Schema::to_value`]
/// itself goes down to the end, or to that of the stack.
///
/// # Errors
/// Beyond [`MAX_VALUE_DEPTH`] pointers, lists and maps within each other.
pub fn to_value_if_shallow<T: Schema>(value: &T) -> Result<Value, TooDeep> {
    /// Ends the counting, also where a value panics.
    struct Restore(Option<i64>);

    impl Drop for Restore {
        fn drop(&mut self) {
            LEFT.set(self.0);
        }
    }

    let _restore = Restore(LEFT.replace(Some(MAX_VALUE_DEPTH.into())));
    let value = value.to_value();
    if LEFT.get().is_some_and(|left| left < 0) { Err(TooDeep) } else { Ok(value) }
}

/// The value of what a pointer or container holds; nothing where that is too deep.
pub(super) fn level(inner: impl FnOnce() -> Value) -> Value {
    let Some(left) = LEFT.get() else { return inner() };
    if left <= 0 {
        // It stays so: nothing more is gone through.
        LEFT.set(Some(-1));
        return Value::Undefined;
    }
    LEFT.set(Some(left - 1));
    let value = inner();
    LEFT.set(LEFT.get().map(|left| if left < 0 { left } else { left + 1 }));
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mismatch, Object, Registry, Type};

    /// `struct List { next: Option<Box<List>> }`, or with another pointer.
    struct List<P>(Option<P>);

    impl<P: Schema> Schema for List<P> {
        fn describe(_: &mut Registry) -> Type {
            Type::Any
        }

        fn to_value(&self) -> Value {
            Value::Object(self.0.iter().map(|next| ("next", next.to_value())).collect::<Object>())
        }

        fn from_value(_: Value) -> Result<Self, Mismatch> {
            Ok(Self(None))
        }
    }

    struct Boxed(List<Box<Self>>);
    struct Listed(List<Vec<Self>>);

    macro_rules! transparent {
        ($ty:ident) => {
            impl Schema for $ty {
                fn describe(_: &mut Registry) -> Type {
                    Type::Any
                }

                fn to_value(&self) -> Value {
                    self.0.to_value()
                }

                fn from_value(value: Value) -> Result<Self, Mismatch> {
                    List::from_value(value).map(Self)
                }
            }
        };
    }

    transparent!(Boxed);
    transparent!(Listed);

    fn boxed(levels: usize) -> Boxed {
        (0..levels).fold(Boxed(List(None)), |inner, _| Boxed(List(Some(Box::new(inner)))))
    }

    fn listed(levels: usize) -> Listed {
        (0..levels).fold(Listed(List(None)), |inner, _| Listed(List(Some(vec![inner]))))
    }

    #[test]
    fn a_value_that_is_deeper_than_the_stack_is_an_error() {
        let limit = MAX_VALUE_DEPTH as usize;
        for levels in [0, 1, limit - 1, limit] {
            assert_eq!(to_value_if_shallow(&boxed(levels)), Ok(boxed(levels).to_value()), "{levels}");
            assert_eq!(to_value_if_shallow(&listed(levels)), Ok(listed(levels).to_value()), "{levels}");
        }
        for levels in [limit + 1, 100_000] {
            let (mut boxed, mut listed) = (boxed(levels), listed(levels));
            assert_eq!(to_value_if_shallow(&boxed), Err(TooDeep), "{levels}");
            assert_eq!(to_value_if_shallow(&listed), Err(TooDeep), "{levels}");
            // Rust's own dropping would recurse.
            while let Some(inner) = boxed.0.0.take() {
                boxed = *inner;
            }
            while let Some(inner) = listed.0.0.take().and_then(|mut list| list.pop()) {
                listed = inner;
            }
        }
    }

    #[test]
    fn siblings_do_not_add_up() {
        let siblings: Vec<Boxed> = (0..2_000).map(|_| boxed(3)).collect();
        assert!(to_value_if_shallow(&siblings).is_ok());
    }
}
