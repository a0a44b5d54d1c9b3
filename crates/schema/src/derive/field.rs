//! What derived code does with the type of a property.

use super::optional;
use crate::{Mismatch, Object, Registry, Schema, Type, Value};

/// A [`Schema`] as a property. What derived code does with a type are methods of this
/// trait and not functions: then the compiler says once, and at the field, that the
/// type has no schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema",
    label = "cannot travel over a wire",
    note = "for a type of your own write `#[derive(Schema)]`",
    note = "`Option<T>` stands for an optional property of a struct or the end of a tuple; elsewhere write `Nullable<T>` (`T | null`)",
    note = "numbers are `f64`, `f32` and the integers up to 64 bits, dates `DateTime`, bytes `Uint8Array`; anything dynamic is `Any`"
)]
pub trait Field: Sized {
    /// [`Schema::describe`].
    fn type_of(types: &mut Registry) -> Type;

    /// [`Schema::to_value`].
    fn value(&self) -> Value;

    /// [`Schema::from_value`].
    ///
    /// # Errors
    /// As that.
    fn of(value: Value) -> Result<Self, Mismatch>;

    /// Takes a property that must be there.
    ///
    /// # Errors
    /// As [`Schema::from_value`].
    fn take(object: &mut Object, name: &str) -> Result<Self, Mismatch>;

    /// Takes a property that may be missing.
    ///
    /// # Errors
    /// As [`Schema::from_value`].
    fn take_optional(object: &mut Object, name: &str) -> Result<Option<Self>, Mismatch>;

    /// Sets a property.
    fn put(&self, object: &mut Object, name: &str);

    /// Sets a property that may be missing.
    fn put_optional(value: Option<&Self>, object: &mut Object, name: &str);
}

impl<T: Schema> Field for T {
    #[inline]
    fn type_of(types: &mut Registry) -> Type {
        Self::describe(types)
    }

    #[inline]
    fn value(&self) -> Value {
        self.to_value()
    }

    #[inline]
    fn of(value: Value) -> Result<Self, Mismatch> {
        Self::from_value(value)
    }

    fn take(object: &mut Object, name: &str) -> Result<Self, Mismatch> {
        let value = object.get_mut(name).map(std::mem::take).unwrap_or_default();
        Self::from_value(value).map_err(|mismatch| mismatch.within(name))
    }

    fn take_optional(object: &mut Object, name: &str) -> Result<Option<Self>, Mismatch> {
        let value = object.get_mut(name).map(std::mem::take).unwrap_or_default();
        optional(value).map_err(|mismatch| mismatch.within(name))
    }

    fn put(&self, object: &mut Object, name: &str) {
        object.set(name, self.to_value());
    }

    fn put_optional(value: Option<&Self>, object: &mut Object, name: &str) {
        if let Some(value) = value {
            object.set(name, value.to_value());
        }
    }
}
