//! `any`, `object` and `T | null` in Rust.
//!
//! Depends on the type model only.

use std::ops::{Deref, DerefMut};

use crate::{Member, Mismatch, Object, Registry, Schema, Type, Value};

/// `any`: a dynamic value that is not checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Any(pub Value);

impl<T: Into<Value>> From<T> for Any {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}

impl Deref for Any {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl Schema for Any {
    fn describe(_: &mut Registry) -> Type {
        Type::Any
    }

    fn to_value(&self) -> Value {
        self.0.clone()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        Ok(Self(value))
    }
}

/// `object`: a dynamic object or array that is not checked further.
#[derive(Debug, Clone, PartialEq)]
pub struct AnyObject(Value);

impl AnyObject {
    /// From an object or array; `None` for every other value.
    #[must_use]
    pub fn new(value: Value) -> Option<Self> {
        matches!(value, Value::Object(_) | Value::Array(_)).then_some(Self(value))
    }

    /// The object or array.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.0
    }
}

impl From<Object> for AnyObject {
    fn from(object: Object) -> Self {
        Self(object.into())
    }
}

impl From<Vec<Value>> for AnyObject {
    fn from(elements: Vec<Value>) -> Self {
        Self(elements.into())
    }
}

impl Deref for AnyObject {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl Schema for AnyObject {
    fn describe(_: &mut Registry) -> Type {
        Type::Object
    }

    fn to_value(&self) -> Value {
        self.0.clone()
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        let found = Mismatch::kind("Object", &value);
        Self::new(value).ok_or(found)
    }
}

/// `T | null`: a value that is always there and may be null.
///
/// A property that may be missing is an `Option<T>`; one that may be missing or
/// null is an `Option<Nullable<T>>`. Where `T` itself can be null, that null
/// becomes `Nullable(None)`.
///
/// ```
/// use polywire_schema::Nullable;
///
/// let nickname: Nullable<String> = Nullable::from("Ann".to_owned());
/// assert_eq!(nickname.as_deref(), Some("Ann"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nullable<T>(pub Option<T>);

impl<T> Nullable<T> {
    /// Null.
    pub const NULL: Self = Self(None);
}

impl<T> Default for Nullable<T> {
    fn default() -> Self {
        Self::NULL
    }
}

impl<T> From<T> for Nullable<T> {
    fn from(value: T) -> Self {
        Self(Some(value))
    }
}

impl<T> From<Nullable<T>> for Option<T> {
    fn from(value: Nullable<T>) -> Self {
        value.0
    }
}

impl<T> Deref for Nullable<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

impl<T> DerefMut for Nullable<T> {
    fn deref_mut(&mut self) -> &mut Option<T> {
        &mut self.0
    }
}

impl<T: Schema> Schema for Nullable<T> {
    fn describe(types: &mut Registry) -> Type {
        let null = Type::Literal(crate::Literal::Null);
        Type::Union(vec![Member { id: 0, ty: T::describe(types) }, Member { id: 1, ty: null }])
    }

    fn to_value(&self) -> Value {
        self.0.as_ref().map_or(Value::Null, T::to_value)
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value.is_nullish() {
            true => Ok(Self::NULL),
            false => T::from_value(value).map(Self::from),
        }
    }
}
