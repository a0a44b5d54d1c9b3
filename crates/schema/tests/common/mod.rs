//! Short forms of types and values for tests.

#![allow(dead_code, reason = "each test file takes what it needs")]

use polywire_schema::{
    CompileOptions, IndexSignature, Interface, KeyType, Literal, Member, Program, Property, Slot, Type, TypeSet,
    ValidateOptions, ValidationError, Value,
};

/// An object type. A name that ends with `?` is optional.
pub(crate) fn object<const N: usize>(properties: [(&str, Type); N]) -> Type {
    Type::Interface(Box::new(interface(properties)))
}

pub(crate) fn interface<const N: usize>(properties: [(&str, Type); N]) -> Interface {
    let property = |((name, ty), id): ((&str, Type), u32)| {
        let (name, optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
        Property { id, name: name.to_owned(), ty, optional }
    };
    Interface { properties: properties.into_iter().zip(0..).map(property).collect(), ..Interface::default() }
}

/// An object type with an index signature beside its properties.
pub(crate) fn indexed<const N: usize>(key: KeyType, ty: Type, properties: [(&str, Type); N]) -> Type {
    let index = Some(IndexSignature { key, ty: Box::new(ty) });
    Type::Interface(Box::new(Interface { index, ..interface(properties) }))
}

/// An object type with bases.
pub(crate) fn extends<const M: usize, const N: usize>(bases: [Type; M], properties: [(&str, Type); N]) -> Type {
    Type::Interface(Box::new(Interface { extends: members(bases), ..interface(properties) }))
}

pub(crate) fn union<const N: usize>(types: [Type; N]) -> Type {
    Type::Union(members(types))
}

pub(crate) fn intersection<const N: usize>(types: [Type; N]) -> Type {
    Type::Intersection(members(types))
}

pub(crate) fn members(types: impl IntoIterator<Item = Type>) -> Vec<Member> {
    types.into_iter().zip(0..).map(|(ty, id)| Member { id, ty }).collect()
}

pub(crate) fn array(element: Type) -> Type {
    Type::Array(Box::new(element))
}

pub(crate) fn tuple<const N: usize>(elements: [Type; N], optional_from: Option<usize>) -> Type {
    Type::Tuple { elements: elements.into(), optional_from }
}

pub(crate) fn named(id: &str) -> Type {
    Type::Reference(id.to_owned())
}

pub(crate) fn text(literal: &str) -> Type {
    Type::Literal(Literal::String(literal.to_owned()))
}

pub(crate) const NULL: Type = Type::Literal(Literal::Null);
pub(crate) const UNDEFINED: Type = Type::Literal(Literal::Undefined);

pub(crate) const DEFAULT: ValidateOptions = ValidateOptions { excess_property_checks: true, strict_null_checks: false };
pub(crate) const STRICT: ValidateOptions = ValidateOptions { excess_property_checks: true, strict_null_checks: true };
pub(crate) const LOOSE: ValidateOptions = ValidateOptions { excess_property_checks: false, strict_null_checks: false };

pub(crate) fn json(text: &str) -> Value {
    Value::parse_json(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A type, compiled, and where it begins.
pub(crate) struct Compiled {
    pub(crate) program: Program,
    pub(crate) slot: Slot,
}

pub(crate) fn compile(ty: &Type) -> Compiled {
    compile_with(ty, [])
}

/// A type that refers to others.
pub(crate) fn compile_with<const N: usize>(ty: &Type, types: [(&str, Type); N]) -> Compiled {
    let types: TypeSet = types.into_iter().map(|(id, ty)| (id.to_owned(), ty)).collect();
    let (program, slot) = Program::compile_type(ty, &types, &CompileOptions::default());
    Compiled { program, slot }
}

impl Compiled {
    pub(crate) fn validate(&self, value: &Value, options: ValidateOptions) -> Result<(), ValidationError> {
        self.program.validate(self.slot, value, options)
    }

    pub(crate) fn prune(&self, value: &Value) -> Result<Value, ValidationError> {
        self.program.prune(self.slot, value, DEFAULT)
    }
}
