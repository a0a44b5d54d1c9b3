//! Rust types as schema types: the trait and its one error.
//!
//! Depends on the type model and values only. Everything that implements
//! [`Schema`] outside this crate is derived (`polywire-macros`).

use crate::{Registry, Type, Value};

/// A Rust type that has a schema. Usually derived: `#[derive(Schema)]`.
///
/// Law: `from_value(to_value(x))` is `x`, and `to_value(x)` is valid for the
/// described type unless `x` itself breaks a rule that Rust cannot express.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema",
    label = "cannot travel over a wire",
    note = "for a type of your own write `#[derive(Schema)]`",
    note = "`Option<T>` stands for an optional property of a struct or the end of a tuple; elsewhere write `Nullable<T>` (`T | null`)",
    note = "numbers are `f64`, `f32` and the integers up to 64 bits, dates `DateTime`, bytes `Uint8Array`; anything dynamic is `Any`"
)]
pub trait Schema: Sized + Send + 'static {
    /// The type: inline, or a reference after [`Registry::named`].
    fn describe(types: &mut Registry) -> Type;

    /// The dynamic form.
    fn to_value(&self) -> Value;

    /// From the dynamic form, which is valid for the described type.
    ///
    /// # Errors
    /// Where Rust's type is narrower than the schema (`u8` for `uint`), says what was found.
    fn from_value(value: Value) -> Result<Self, Mismatch>;
}

/// A value that its schema admits but its Rust type does not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Mismatch {
    /// Property names and indices from the outermost inwards.
    pub path: Vec<String>,
    /// What was expected and found.
    pub text: String,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.text);
        }
        write!(f, "Property `{}`: {}", self.path.join("."), self.text)
    }
}

impl Mismatch {
    /// A mismatch here.
    pub fn new(text: impl Into<String>) -> Self {
        Self { path: Vec::new(), text: text.into() }
    }

    /// A value of another kind than the expected one.
    #[must_use]
    pub fn kind(expected: &str, found: &Value) -> Self {
        Self::new(format!("Expected type to be `{expected}`, actually `{}`.", found.type_name()))
    }

    /// The same mismatch seen from the object or array around it.
    #[must_use]
    pub fn within(mut self, property: impl Into<String>) -> Self {
        self.path.insert(0, property.into());
        self
    }
}
