//! Collecting the schemas of Rust types into a [`TypeSet`].
//!
//! Depends on the type model and [`Schema`]. Invariant: a Rust type has one
//! schema id in a [`Registry`], however often and wherever it is used.

use std::{any::TypeId, collections::HashMap};

use indexmap::IndexMap;

use crate::{Scalar, Schema, Type, TypeSet};

/// Collects the schemas of Rust types.
#[derive(Debug, Default)]
pub struct Registry {
    types: TypeSet,
    ids: HashMap<TypeId, String>,
    /// Inline types that are being described, the innermost last.
    inline: Vec<TypeId>,
    comments: IndexMap<String, Comments>,
}

/// What the source says about a type, for documents and generated TypeScript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comments {
    /// About the type itself; empty where nothing is said.
    pub text: String,
    /// About its properties or variants, by their name on the wire.
    pub members: Vec<(String, String)>,
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

    /// The comments on a named type.
    #[must_use]
    pub fn comments(&self, schema_id: &str) -> Option<&Comments> {
        self.comments.get(schema_id)
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

    /// A type written out wherever it is used, unless it contains itself: then it
    /// is [`named`](Self::named) after all.
    pub fn inline<T: 'static>(&mut self, name: &str, describe: impl FnOnce(&mut Self) -> Type) -> Type {
        let key = TypeId::of::<T>();
        match self.ids.get(&key) {
            // An id that a protocol prescribes.
            Some(id) if self.types.get(id) == Some(&Self::RESERVED) => return self.named::<T>(name, describe),
            Some(id) => return Type::Reference(id.clone()),
            None => {}
        }
        if self.inline.contains(&key) {
            let id = self.reserve(key, name);
            self.types.insert(id.clone(), Type::Any);
            return Type::Reference(id);
        }
        self.inline.push(key);
        let ty = describe(self);
        self.inline.pop();
        let Some(id) = self.ids.get(&key) else { return ty };
        self.types.insert(id.clone(), ty);
        Type::Reference(id.clone())
    }

    /// Describes a type under a schema id that the protocol prescribes (`PtlSend/ReqSend`).
    ///
    /// Where the type already has an id, this one becomes a reference to it.
    pub fn root<T: Schema>(&mut self, schema_id: &str) {
        let key = TypeId::of::<T>();
        if !self.ids.contains_key(&key) && !self.types.contains_key(schema_id) {
            self.ids.insert(key, schema_id.to_owned());
            self.types.insert(schema_id.to_owned(), Self::RESERVED);
        }
        let ty = T::describe(self);
        if ty != Type::Reference(schema_id.to_owned()) {
            if self.ids.get(&key).is_some_and(|id| id == schema_id) {
                self.ids.remove(&key);
            }
            self.types.insert(schema_id.to_owned(), ty);
        }
    }

    /// Keeps what the source says about a type that has a schema id; without one, nothing is kept.
    pub fn comment<T: 'static>(&mut self, text: &str, members: &[(&str, &str)]) {
        let Some(id) = self.ids.get(&TypeId::of::<T>()) else { return };
        let members = members.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        self.comments.insert(id.clone(), Comments { text: text.to_owned(), members });
    }

    /// The wished schema id of a generic type with these arguments: `types/Page` of
    /// `User` is `types/Page_User`.
    #[must_use]
    pub fn generic_name(name: &str, arguments: &[Type]) -> String {
        arguments.iter().fold(name.to_owned(), |name, argument| name + "_" + &label(argument))
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

/// A short name that may be part of a TypeScript identifier.
fn label(ty: &Type) -> String {
    match ty {
        Type::Reference(id) => {
            let name = id.rsplit_once('/').map_or(id.as_str(), |(_, name)| name);
            name.replace(|letter: char| !letter.is_alphanumeric() && letter != '_', "_")
        }
        Type::Array(element) => label(element) + "Array",
        Type::Buffer(kind) => kind.name().to_owned(),
        Type::Number(Scalar::Int) => "int".to_owned(),
        Type::Number(Scalar::Uint) => "uint".to_owned(),
        Type::Any | Type::Boolean | Type::Number(_) | Type::String | Type::Object => ty.kind().to_lowercase(),
        other => other.kind().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interface, Mismatch, Property, Value};

    struct Node<const INLINE: bool>;

    impl<const INLINE: bool> Schema for Node<INLINE> {
        fn describe(types: &mut Registry) -> Type {
            let describe = |types: &mut Registry| {
                let child = Property { id: 0, name: "child".to_owned(), ty: Self::describe(types), optional: true };
                Type::Interface(Box::new(Interface { properties: vec![child], ..Interface::default() }))
            };
            match INLINE {
                true => types.inline::<Self>("types/Node", describe),
                false => types.named::<Self>("types/Node", describe),
            }
        }

        fn to_value(&self) -> Value {
            Value::Null
        }

        fn from_value(_: Value) -> Result<Self, Mismatch> {
            Ok(Self)
        }
    }

    fn check<T: Schema>(root: Option<&str>, expected_ids: &[&str], expected_child: &str) {
        let mut types = Registry::default();
        match root {
            Some(id) => types.root::<T>(id),
            None => drop(T::describe(&mut types)),
        }
        T::describe(&mut types);
        let types = types.into_types();
        assert_eq!(types.keys().collect::<Vec<_>>(), expected_ids);
        let Some(Type::Interface(node)) = types.get(expected_child) else { panic!("{types:?}") };
        assert_eq!(node.properties[0].ty, Type::Reference(expected_child.to_owned()));
    }

    #[test]
    fn a_recursive_type_refers_to_itself_by_one_id() {
        check::<Node<false>>(None, &["types/Node"], "types/Node");
        check::<Node<true>>(None, &["types/Node"], "types/Node");
        check::<Node<false>>(Some("PtlX/ReqX"), &["PtlX/ReqX"], "PtlX/ReqX");
        check::<Node<true>>(Some("PtlX/ReqX"), &["PtlX/ReqX"], "PtlX/ReqX");
    }

    #[test]
    fn two_types_that_wish_the_same_id_get_two() {
        let mut types = Registry::default();
        let first = types.named::<u8>("types/Same", |_| Type::String);
        let second = types.named::<u16>("types/Same", |_| Type::Boolean);
        assert_eq!(first, Type::Reference("types/Same".to_owned()));
        assert_eq!(second, Type::Reference("types/Same_2".to_owned()));
    }

    #[test]
    fn generic_names_say_what_the_arguments_are() {
        let user = Type::Reference("types/User".to_owned());
        let cases = [
            (vec![user.clone()], "types/Page_User"),
            (vec![Type::Array(Box::new(user)), Type::Number(Scalar::Uint)], "types/Page_UserArray_uint"),
            (vec![Type::String], "types/Page_string"),
            (vec![Type::Reference("?mongodb/ObjectId".to_owned())], "types/Page_ObjectId"),
        ];
        for (arguments, expected) in cases {
            assert_eq!(Registry::generic_name("types/Page", &arguments), expected);
        }
    }
}
