//! Resolving types: references, indexed access, `keyof`, mapped types (reference §2.1).
//!
//! Depends on the type model only. Results are types again; nothing is cached
//! here, so that no resolution changes another.

use std::borrow::Cow;

use indexmap::IndexMap;

use crate::{IndexSignature, Literal, Member, SchemaError, Type, TypeSet};

/// A property after flattening.
#[derive(Debug, Clone)]
pub(crate) struct FlatProperty {
    pub(crate) ty: Type,
    pub(crate) optional: bool,
}

/// An object type after flattening.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlatType {
    pub(crate) properties: IndexMap<String, FlatProperty>,
    pub(crate) index: Option<IndexSignature>,
}

/// Resolves types against a set.
pub(crate) struct Resolver<'a> {
    types: &'a TypeSet,
}

impl<'a> Resolver<'a> {
    /// How many steps a resolution may take, and how deep types may nest.
    pub(crate) const MAX_DEPTH: u32 = 256;

    pub(crate) fn new(types: &'a TypeSet) -> Self {
        Self { types }
    }

    /// One step from a reference, indexed access or `keyof` to what it stands for;
    /// `None` where the type is none of these.
    pub(crate) fn step(&self, ty: &Type) -> Result<Option<Type>, SchemaError> {
        self.step_at(ty, 0)
    }

    fn step_at(&self, ty: &Type, depth: u32) -> Result<Option<Type>, SchemaError> {
        Ok(Some(match ty {
            Type::Reference(id) => {
                self.types.get(id).cloned().ok_or_else(|| SchemaError::MissingReference(id.clone()))?
            }
            Type::IndexedAccess { index, object } => self.indexed_access(index, object, depth)?,
            Type::Keyof(target) => {
                let flat = self.flatten_at(target, depth + 1)?;
                let literal = |name: String| Type::Literal(Literal::String(name));
                Type::Union(
                    flat.properties.into_keys().zip(0..).map(|(name, id)| Member { id, ty: literal(name) }).collect(),
                )
            }
            _ => return Ok(None),
        }))
    }

    fn resolve<'t>(&self, ty: &'t Type, depth: u32) -> Result<Cow<'t, Type>, SchemaError> {
        let mut ty = Cow::Borrowed(ty);
        for step in 0..Self::MAX_DEPTH {
            match self.step_at(&ty, depth + step)? {
                Some(next) => ty = Cow::Owned(next),
                None => return Ok(ty),
            }
        }
        Err(SchemaError::TooDeep(ty.kind().to_owned()))
    }

    fn indexed_access(&self, index: &str, object: &Type, depth: u32) -> Result<Type, SchemaError> {
        let resolved = self.resolve(object, depth + 1)?;
        let flat = self.flatten_at(&resolved, depth + 1).map_err(|error| match error {
            SchemaError::UnsupportedPattern { .. } => SchemaError::NotAnObjectType(resolved.kind()),
            other => other,
        })?;
        if let Some(property) = flat.properties.get(index) {
            let has_undefined = matches!(&property.ty, Type::Union(members)
                if members.iter().any(|member| member.ty == Type::Literal(Literal::Undefined)));
            if !property.optional || has_undefined {
                return Ok(property.ty.clone());
            }
            return Ok(Type::Union(vec![
                Member { id: 0, ty: property.ty.clone() },
                Member { id: 1, ty: Type::Literal(Literal::Undefined) },
            ]));
        }
        match flat.index {
            Some(signature) => Ok(*signature.ty),
            None => Err(SchemaError::NoSuchIndex(index.to_owned())),
        }
    }

    /// An interface or mapped type with everything applied.
    ///
    /// # Errors
    /// [`SchemaError::UnsupportedPattern`] where the type is neither.
    pub(crate) fn flatten(&self, ty: &Type) -> Result<FlatType, SchemaError> {
        self.flatten_at(ty, 0)
    }

    fn flatten_at(&self, ty: &Type, depth: u32) -> Result<FlatType, SchemaError> {
        if depth > Self::MAX_DEPTH {
            return Err(SchemaError::TooDeep(ty.kind().to_owned()));
        }
        let ty = self.resolve(ty, depth)?;
        match &*ty {
            Type::Interface(interface) => {
                let mut flat = FlatType { properties: IndexMap::new(), index: interface.index.clone() };
                for property in &interface.properties {
                    let flat_property = FlatProperty { ty: property.ty.clone(), optional: property.optional };
                    flat.properties.insert(property.name.clone(), flat_property);
                }
                for base in &interface.extends {
                    let base = self.flatten_at(&base.ty, depth + 1)?;
                    for (name, property) in base.properties {
                        flat.properties.entry(name).or_insert(property);
                    }
                    flat.index = flat.index.or(base.index);
                }
                Ok(flat)
            }
            Type::Pick { target, keys } => {
                let mut target = self.flatten_at(target, depth + 1)?;
                let mut flat = FlatType::default();
                for key in keys {
                    if let Some(property) = target.properties.swap_remove(key) {
                        flat.properties.insert(key.clone(), property);
                    } else if let Some(index) = target.index.as_ref().filter(|_| !flat.properties.contains_key(key)) {
                        let property = FlatProperty { ty: (*index.ty).clone(), optional: false };
                        flat.properties.insert(key.clone(), property);
                    }
                }
                Ok(flat)
            }
            Type::Omit { target, keys } => {
                let mut flat = self.flatten_at(target, depth + 1)?;
                flat.properties.retain(|name, _| !keys.contains(name));
                Ok(flat)
            }
            Type::Partial(target) => {
                let mut flat = self.flatten_at(target, depth + 1)?;
                flat.properties.values_mut().for_each(|property| property.optional = true);
                Ok(flat)
            }
            Type::Overwrite { target, overwrite } => {
                let mut flat = self.flatten_at(target, depth + 1)?;
                let overwrite = self.flatten_at(overwrite, depth + 1)?;
                for (name, property) in overwrite.properties {
                    flat.properties.shift_remove(&name);
                    flat.properties.insert(name, property);
                }
                flat.index = overwrite.index.or(flat.index);
                Ok(flat)
            }
            other => Err(SchemaError::UnsupportedPattern { mapping: "Interface", target: other.kind() }),
        }
    }

    /// A mapped type whose innermost target is a union or intersection, as the
    /// union or intersection of its mapped members; `None` where the innermost
    /// target is an interface.
    pub(crate) fn distribute(&self, ty: &Type) -> Result<Option<Type>, SchemaError> {
        let mut chain: Vec<Type> = Vec::new();
        let mut inner = ty.clone();
        loop {
            if chain.len() > Self::MAX_DEPTH as usize {
                return Err(SchemaError::TooDeep(ty.kind().to_owned()));
            }
            let target = match &inner {
                Type::Pick { target, .. } | Type::Omit { target, .. } | Type::Partial(target) => (**target).clone(),
                Type::Overwrite { target, .. } => (**target).clone(),
                Type::Interface(_) => return Ok(None),
                Type::Union(members) => return Ok(Some(Type::Union(wrap_all(members, &chain)))),
                Type::Intersection(members) => return Ok(Some(Type::Intersection(wrap_all(members, &chain)))),
                other => {
                    return Err(SchemaError::UnsupportedPattern { mapping: ty.kind(), target: other.kind() });
                }
            };
            chain.push(inner);
            inner = self.resolve(&target, 0)?.into_owned();
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
