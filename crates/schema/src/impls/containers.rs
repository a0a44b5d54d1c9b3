//! Arrays, pointers and the empty object.

use std::sync::Arc;

use super::levels::level;
use crate::{Interface, Mismatch, Object, Registry, Schema, Type, Value};

impl<T: Schema> Schema for Vec<T> {
    fn describe(types: &mut Registry) -> Type {
        Type::Array(Box::new(T::describe(types)))
    }

    fn to_value(&self) -> Value {
        level(|| Value::Array(self.iter().map(T::to_value).collect()))
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        let Value::Array(elements) = value else { return Err(Mismatch::kind("Array", &value)) };
        elements
            .into_iter()
            .enumerate()
            .map(|(at, element)| T::from_value(element).map_err(|mismatch| mismatch.within(at.to_string())))
            .collect()
    }
}

impl<T: Schema> Schema for Box<T> {
    fn describe(types: &mut Registry) -> Type {
        T::describe(types)
    }

    fn to_value(&self) -> Value {
        level(|| T::to_value(self))
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        T::from_value(value).map(Self::new)
    }
}

impl<T: Schema + Sync> Schema for Arc<T> {
    fn describe(types: &mut Registry) -> Type {
        T::describe(types)
    }

    fn to_value(&self) -> Value {
        level(|| T::to_value(self))
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        T::from_value(value).map(Self::new)
    }
}

/// `{}`: an object without properties.
impl Schema for () {
    fn describe(_: &mut Registry) -> Type {
        Type::Interface(Box::<Interface>::default())
    }

    fn to_value(&self) -> Value {
        Value::Object(Object::new())
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Null | Value::Undefined => Err(Mismatch::kind("Object", &value)),
            _ => Ok(()),
        }
    }
}
