//! Tuples, of which the last elements may be optional.

use crate::{
    Mismatch, Registry, Schema, Type, Value,
    derive::{self, optional_from},
};

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

    /// The next of the values of a tuple, which stands at this position.
    ///
    /// # Errors
    /// As [`Schema::from_value`].
    #[doc(hidden)]
    fn next(values: &mut std::vec::IntoIter<Value>, at: usize) -> Result<Self, Mismatch> {
        Self::from_value(values.next().unwrap_or_default()).map_err(|mismatch| mismatch.within(at.to_string()))
    }
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

macro_rules! tuples {
    ($($count:literal: $($name:ident $at:tt),+;)*) => {$(
        impl<$($name: Element),+> Schema for ($($name,)+) {
            fn describe(types: &mut Registry) -> Type {
                derive::tuple_type(vec![$($name::describe(types)),+], const { optional_from(&[$($name::OPTIONAL),+]) })
            }

            fn to_value(&self) -> Value {
                derive::tuple(vec![$(self.$at.to_value()),+], const { optional_from(&[$($name::OPTIONAL),+]) })
            }

            fn from_value(value: Value) -> Result<Self, Mismatch> {
                let mut elements = derive::tuple_elements(value, $count)?;
                Ok(($(<$name as Element>::next(&mut elements, $at)?,)+))
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
