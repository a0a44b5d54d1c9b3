//! Tuples, of which the last elements may be optional.

use crate::{Mismatch, Registry, Schema, Type, Value};

/// An element of a tuple: a type with a schema, or an `Option` of one at the end.
pub trait Element: Sized + Send + 'static {
    /// Whether it may be missing.
    const OPTIONAL: bool;

    /// See [`Schema::describe`].
    fn describe(types: &mut Registry) -> Type;

    /// See [`Schema::to_value`]; undefined where it is missing.
    fn to_value(&self) -> Value;

    /// See [`Schema::from_value`].
    ///
    /// # Errors
    /// As [`Schema::from_value`].
    fn from_value(value: Value) -> Result<Self, Mismatch>;
}

impl<T: Schema> Element for T {
    const OPTIONAL: bool = false;

    fn describe(types: &mut Registry) -> Type {
        T::describe(types)
    }

    fn to_value(&self) -> Value {
        T::to_value(self)
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        T::from_value(value)
    }
}

impl<T: Schema> Element for Option<T> {
    const OPTIONAL: bool = true;

    fn describe(types: &mut Registry) -> Type {
        T::describe(types)
    }

    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Undefined, T::to_value)
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        crate::derive::optional(value)
    }
}

/// Where the optional elements begin; the length where there are none.
pub(crate) const fn optional_from(optional: &[bool]) -> usize {
    let mut from = optional.len();
    while from > 0 && optional[from - 1] {
        from -= 1;
    }
    let mut at = 0;
    while at < from {
        assert!(!optional[at], "an optional element (`Option`) of a tuple must not stand before a required one");
        at += 1;
    }
    from
}

macro_rules! tuples {
    ($($count:literal: $($name:ident $at:tt),+;)*) => {$(
        impl<$($name: Element),+> Schema for ($($name,)+) {
            fn describe(types: &mut Registry) -> Type {
                let optional_from = const { optional_from(&[$($name::OPTIONAL),+]) };
                Type::Tuple {
                    elements: vec![$($name::describe(types)),+],
                    optional_from: (optional_from < $count).then_some(optional_from),
                }
            }

            fn to_value(&self) -> Value {
                let mut elements = vec![$(self.$at.to_value()),+];
                let given = elements.iter().rposition(|element| !element.is_undefined()).map_or(0, |last| last + 1);
                elements.truncate(given.max(const { optional_from(&[$($name::OPTIONAL),+]) }));
                Value::Array(elements)
            }

            fn from_value(value: Value) -> Result<Self, Mismatch> {
                let Value::Array(elements) = value else { return Err(Mismatch::kind("Array", &value)) };
                if elements.len() > $count {
                    let text = format!("Value has {} elements but schema allows only {}.", elements.len(), $count);
                    return Err(Mismatch::new(text));
                }
                let mut elements = elements.into_iter();
                Ok(($(
                    $name::from_value(elements.next().unwrap_or_default())
                        .map_err(|mismatch| mismatch.within(stringify!($at)))?,
                )+))
            }
        }
    )*};
}

tuples! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
    7: A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
    9: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8;
    10: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9;
    11: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10;
    12: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11;
}
