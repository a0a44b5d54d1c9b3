//! Rust types as schema types.
//!
//! Depends on the type model and values only. Invariant: a Rust type has one
//! schema id in a [`Registry`], however often and wherever it is used.

use std::{any::TypeId, collections::HashMap};

use crate::{Type, TypeSet, Value};

/// A Rust type that has a schema. Usually derived: `#[derive(Schema)]`.
///
/// Law: `from_value(to_value(x))` is `x`, and `to_value(x)` is valid for the
/// described type unless `x` itself breaks a rule that Rust cannot express.
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

    /// The same mismatch seen from the object or array around it.
    #[must_use]
    pub fn within(mut self, property: impl Into<String>) -> Self {
        self.path.insert(0, property.into());
        self
    }
}

/// Collects the schemas of Rust types.
#[derive(Debug, Default)]
pub struct Registry {
    types: TypeSet,
    ids: HashMap<TypeId, String>,
}

impl Registry {
    /// The collected types.
    #[must_use]
    pub fn into_types(self) -> TypeSet {
        self.types
    }

    /// The types collected so far.
    #[must_use]
    pub fn types(&self) -> &TypeSet {
        &self.types
    }

    /// A named type: described once, referred to from then on (also from inside itself).
    ///
    /// `name` is the wished schema id; where another Rust type has it already, a number is added.
    pub fn named<T: 'static>(&mut self, name: &str, describe: impl FnOnce(&mut Self) -> Type) -> Type {
        let key = TypeId::of::<T>();
        let id = match self.ids.get(&key) {
            Some(id) if self.types.get(id) != Some(&Self::RESERVED) => return Type::Reference(id.clone()),
            Some(id) => id.clone(),
            None => self.reserve(key, name),
        };
        // While it is being described, a use of it is a plain reference.
        self.types.insert(id.clone(), Type::Any);
        let ty = describe(self);
        self.types.insert(id.clone(), ty);
        Type::Reference(id)
    }

    /// Describes a type under a schema id that the protocol prescribes (`PtlSend/ReqSend`).
    ///
    /// Where the type already has an id, this one becomes a reference to it.
    pub fn root<T: crate::Schema>(&mut self, schema_id: &str) {
        let key = TypeId::of::<T>();
        if !self.ids.contains_key(&key) && !self.types.contains_key(schema_id) {
            self.ids.insert(key, schema_id.to_owned());
            self.types.insert(schema_id.to_owned(), Self::RESERVED);
        }
        let ty = T::describe(self);
        if ty != Type::Reference(schema_id.to_owned()) {
            self.ids.remove(&key);
            self.types.insert(schema_id.to_owned(), ty);
        }
    }

    /// What stands at a reserved id until its type is described: no type describes itself so.
    const RESERVED: Type = Type::Union(Vec::new());

    fn reserve(&mut self, key: TypeId, name: &str) -> String {
        let mut id = name.to_owned();
        let mut number = 2;
        while self.types.contains_key(&id) {
            id = format!("{name}_{number}");
            number += 1;
        }
        self.ids.insert(key, id.clone());
        id
    }
}
