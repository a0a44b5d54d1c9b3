//! Resolving types to types: indexed access, `keyof`, mapped types of unions (reference §2.1).
//!
//! Depends on the type model only. Invariants: no resolution changes another;
//! each named type is flattened at most once; circular types end in an error,
//! never in a loop.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use indexmap::IndexMap;

use crate::{
    IndexSignature, Interface, Literal, MAX_TYPE_DEPTH, Member, SchemaError, Type, TypeSet, object::array_index,
};

/// A property after flattening.
#[derive(Debug, Clone)]
pub(crate) struct FlatProperty {
    pub(crate) ty: Type,
    pub(crate) optional: bool,
}

/// An object type after flattening: bases and mappings applied, property types as written.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlatType {
    pub(crate) properties: IndexMap<String, FlatProperty>,
    pub(crate) index: Option<IndexSignature>,
}

type Flattened = Result<Rc<FlatType>, SchemaError>;

/// Resolves types against a set.
pub(crate) struct Resolver<'a> {
    types: &'a TypeSet,
    /// Flattened named types. One that is being flattened holds an error, which
    /// is what a type that contains itself sees.
    named: RefCell<HashMap<String, Flattened>>,
    /// The same for indexed accesses.
    accesses: RefCell<Vec<(Type, Flattened)>>,
    depth: Cell<usize>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(types: &'a TypeSet) -> Self {
        Self { types, named: RefCell::default(), accesses: RefCell::default(), depth: Cell::new(0) }
    }

    /// The type of a schema id.
    pub(crate) fn named(&self, id: &str) -> Result<&'a Type, SchemaError> {
        self.types.get(id).ok_or_else(|| SchemaError::MissingReference(id.to_owned()))
    }

    /// The type that `object[index]` stands for, as written there.
    pub(crate) fn indexed_access(&self, index: &str, object: &Type) -> Result<Type, SchemaError> {
        let flat = self.flatten(object).map_err(|error| match error {
            SchemaError::NotAnInterface(_) => SchemaError::NotAnObjectType(object.kind()),
            other => other,
        })?;
        let Some(property) = flat.properties.get(index) else {
            let signature = flat.index.as_ref().ok_or_else(|| SchemaError::NoSuchIndex(index.to_owned()))?;
            return Ok((*signature.ty).clone());
        };
        let undefined = Type::Literal(Literal::Undefined);
        let has_undefined =
            matches!(&property.ty, Type::Union(members) if members.iter().any(|member| member.ty == undefined));
        if !property.optional || has_undefined {
            return Ok(property.ty.clone());
        }
        Ok(Type::Union(vec![Member { id: 0, ty: property.ty.clone() }, Member { id: 1, ty: undefined }]))
    }

    /// The union of the property names of a type.
    pub(crate) fn keyof(&self, target: &Type) -> Result<Type, SchemaError> {
        let flat = self.flatten(target)?;
        let literal = |name: &String| Type::Literal(Literal::String(name.clone()));
        Ok(Type::Union(flat.properties.keys().zip(0..).map(|(name, id)| Member { id, ty: literal(name) }).collect()))
    }

    /// A mapped type whose innermost target is a union or intersection, as the
    /// union or intersection of its mapped members; `None` where the innermost
    /// target is an interface. Also what was followed on the way there.
    pub(crate) fn distribute(&self, ty: &Type) -> Result<(Option<Type>, Vec<Type>), SchemaError> {
        let mut chain: Vec<Type> = Vec::new();
        let mut followed = Vec::new();
        let mut inner = ty.clone();
        loop {
            let target = match &inner {
                Type::Pick { target, .. }
                | Type::Omit { target, .. }
                | Type::Partial(target)
                | Type::Overwrite { target, .. } => (**target).clone(),
                Type::Interface(_) => return Ok((None, followed)),
                Type::Union(members) => return Ok((Some(Type::Union(wrap_all(members, &chain))), followed)),
                Type::Intersection(members) => {
                    return Ok((Some(Type::Intersection(wrap_all(members, &chain))), followed));
                }
                other => {
                    return Err(SchemaError::UnsupportedPattern { mapping: ty.kind(), target: other.kind() });
                }
            };
            if chain.len() == MAX_TYPE_DEPTH {
                return Err(SchemaError::TooDeep(ty.kind().to_owned()));
            }
            chain.push(inner);
            inner = self.follow(target, &mut followed)?;
        }
    }

    /// What a chain of references, indexed accesses and `keyof` ends in.
    fn follow(&self, mut ty: Type, followed: &mut Vec<Type>) -> Result<Type, SchemaError> {
        for _ in 0..MAX_TYPE_DEPTH {
            let next = match &ty {
                Type::Reference(id) => self.named(id)?.clone(),
                Type::IndexedAccess { index, object } => self.indexed_access(index, object)?,
                Type::Keyof(target) => self.keyof(target)?,
                _ => return Ok(ty),
            };
            followed.push(std::mem::replace(&mut ty, next));
        }
        Err(SchemaError::TooDeep(ty.kind().to_owned()))
    }

    fn flatten(&self, ty: &Type) -> Flattened {
        if self.depth.get() == MAX_TYPE_DEPTH {
            return Err(SchemaError::TooDeep(ty.kind().to_owned()));
        }
        self.depth.set(self.depth.get() + 1);
        let flat = self.flatten_one(ty);
        self.depth.set(self.depth.get() - 1);
        flat
    }

    fn flatten_one(&self, ty: &Type) -> Flattened {
        let circular = || Err(SchemaError::TooDeep(ty.kind().to_owned()));
        match ty {
            Type::Reference(id) => {
                if let Some(known) = self.named.borrow().get(id) {
                    return known.clone();
                }
                self.named.borrow_mut().insert(id.clone(), circular());
                let flat = self.named(id).and_then(|target| self.flatten(target));
                self.named.borrow_mut().insert(id.clone(), flat.clone());
                flat
            }
            Type::IndexedAccess { index, object } => {
                if let Some((_, known)) = self.accesses.borrow().iter().find(|(access, _)| access == ty) {
                    return known.clone();
                }
                let at = self.accesses.borrow().len();
                self.accesses.borrow_mut().push((ty.clone(), circular()));
                let flat = self.indexed_access(index, object).and_then(|target| self.flatten(&target));
                self.accesses.borrow_mut()[at].1 = flat.clone();
                flat
            }
            Type::Interface(interface) => self.flatten_interface(interface).map(Rc::new),
            _ => self.flatten_mapped(ty).map(Rc::new),
        }
    }

    fn flatten_interface(&self, interface: &Interface) -> Result<FlatType, SchemaError> {
        let mut flat = FlatType { properties: IndexMap::new(), index: interface.index.clone() };
        for property in &interface.properties {
            let flat_property = FlatProperty { ty: property.ty.clone(), optional: property.optional };
            flat.properties.insert(property.name.clone(), flat_property);
        }
        for base in &interface.extends {
            let base = self.flatten(&base.ty)?;
            for (name, property) in &base.properties {
                flat.properties.entry(name.clone()).or_insert_with(|| property.clone());
            }
            flat.index = flat.index.or_else(|| base.index.clone());
        }
        flat.properties.sort_by_key(|name, _| array_index(name).unwrap_or(u32::MAX));
        Ok(flat)
    }

    fn flatten_mapped(&self, ty: &Type) -> Result<FlatType, SchemaError> {
        match ty {
            Type::Pick { target, keys } => {
                let target = self.flatten(target)?;
                let mut flat = FlatType::default();
                for key in keys {
                    let of_signature = || {
                        let signature = target.index.as_ref()?;
                        Some(FlatProperty { ty: (*signature.ty).clone(), optional: false })
                    };
                    if let Some(property) = target.properties.get(key).cloned().or_else(of_signature) {
                        flat.properties.insert(key.clone(), property);
                    }
                }
                Ok(flat)
            }
            Type::Omit { target, keys } => {
                let mut flat = (*self.flatten(target)?).clone();
                flat.properties.retain(|name, _| !keys.contains(name));
                Ok(flat)
            }
            Type::Partial(target) => {
                let mut flat = (*self.flatten(target)?).clone();
                flat.properties.values_mut().for_each(|property| property.optional = true);
                Ok(flat)
            }
            Type::Overwrite { target, overwrite } => {
                let mut flat = (*self.flatten(target)?).clone();
                let overwrite = self.flatten(overwrite)?;
                for (name, property) in &overwrite.properties {
                    flat.properties.shift_remove(name);
                    flat.properties.insert(name.clone(), property.clone());
                }
                flat.index = overwrite.index.clone().or(flat.index);
                Ok(flat)
            }
            other => Err(SchemaError::NotAnInterface(other.kind())),
        }
    }
}

/// Every member wrapped in the same chain of mapped types, the outermost first.
fn wrap_all(members: &[Member], chain: &[Type]) -> Vec<Member> {
    members
        .iter()
        .map(|member| {
            let wrapped = chain.iter().rev().fold(member.ty.clone(), |inner, mapping| retarget(mapping, inner));
            Member { id: member.id, ty: wrapped }
        })
        .collect()
}

fn retarget(mapping: &Type, inner: Type) -> Type {
    let target = Box::new(inner);
    match mapping {
        Type::Pick { keys, .. } => Type::Pick { target, keys: keys.clone() },
        Type::Omit { keys, .. } => Type::Omit { target, keys: keys.clone() },
        Type::Overwrite { overwrite, .. } => Type::Overwrite { target, overwrite: overwrite.clone() },
        _ => Type::Partial(target),
    }
}
