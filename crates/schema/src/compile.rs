//! Compiling a [`TypeSet`] into a [`Program`].
//!
//! Depends on the type model and [`resolve`](crate::resolve). Invariant: every
//! schema id of the set becomes a root, whatever it holds; a type that cannot
//! be resolved becomes a [`Node::Invalid`].

use std::{
    collections::HashMap,
    fmt::{self, Write as _},
    hash::{DefaultHasher, Hasher as _},
    sync::Arc,
};

use crate::{
    CustomType, Flat, IndexSignature, IndexSlot, Interface, InterfaceNode, Literal, MappedNode, Mapping, Member,
    MemberSlot, Node, NodeId, Nullness, ObjectIdClass, Program, PropertySlot, SchemaError, Slot, Type, TypeSet,
    custom::object_id_type,
    object::array_index,
    program::BaseSlot,
    resolve::{FlatType, Resolver},
};

/// What compiling may be told.
#[derive(Debug, Clone, Default)]
pub struct CompileOptions {
    /// What the four `ObjectId` references stand for.
    pub object_id: ObjectIdClass,
    /// Types of the application by schema id; they take precedence over the set.
    pub custom: HashMap<String, Arc<dyn CustomType>>,
}

impl Program {
    /// Compiles a set of types.
    ///
    /// Never fails: a type that cannot be resolved is reported where a value reaches it.
    #[must_use]
    pub fn compile(types: &TypeSet, options: &CompileOptions) -> Self {
        let mut compiler = Compiler {
            resolver: Resolver::new(types),
            options,
            program: Self::default(),
            references: HashMap::new(),
            inline: HashMap::new(),
            depth: 0,
        };
        for id in types.keys().chain(options.custom.keys()) {
            let slot = compiler.slot(&Type::Reference(id.clone()));
            // Roots are looked at as what they hold, not as a reference to it.
            let ty = types.get(id);
            let slot = ty.map_or(slot, |ty| Slot {
                written: written(ty),
                any: matches!(ty, Type::Any),
                codable: codable(ty),
                ..slot
            });
            compiler.program.roots.insert(id.as_str().into(), slot);
        }
        compiler.finish()
    }

    /// Compiles one type of its own, which may refer to the set, and returns its entry point too.
    #[must_use]
    pub fn compile_type(ty: &Type, types: &TypeSet, options: &CompileOptions) -> (Self, Slot) {
        let mut compiler = Compiler {
            resolver: Resolver::new(types),
            options,
            program: Self::default(),
            references: HashMap::new(),
            inline: HashMap::new(),
            depth: 0,
        };
        let slot = compiler.slot(ty);
        (compiler.finish(), slot)
    }
}

struct Compiler<'a> {
    resolver: Resolver<'a>,
    options: &'a CompileOptions,
    program: Program,
    /// Nodes by schema id, also those still being compiled: recursion ends here.
    references: HashMap<String, NodeId>,
    /// Nodes of types written in place, by fingerprint: a type is compiled once,
    /// however often flattening copies it, and recursion through `Partial<Self>` ends.
    inline: HashMap<u64, Vec<(Type, NodeId)>>,
    depth: u32,
}

impl Compiler<'_> {
    /// Fills in what a resolved slot can be, which a recursive type knows only at the end.
    fn finish(self) -> Program {
        let mut program = self.program;
        let resolved: Vec<Nullness> = (0..program.nodes.len()).map(|at| nullness(&program.nodes, at, 0)).collect();
        let fill = |slot: &mut Slot| slot.resolved = resolved[slot.node.index()];
        for node in &mut program.nodes {
            for_each_slot(node, fill);
        }
        program.roots.values_mut().for_each(fill);
        program
    }

    fn slot(&mut self, ty: &Type) -> Slot {
        let node = self.node(ty);
        Slot {
            node,
            written: written(ty),
            resolved: Nullness::default(),
            any: matches!(ty, Type::Any),
            codable: codable(ty),
        }
    }

    fn reserve(&mut self) -> NodeId {
        // A proto of 2³² types does not fit any memory.
        let id = NodeId(u32::try_from(self.program.nodes.len()).expect("fewer than 2^32 types"));
        self.program.nodes.push(Node::Any);
        id
    }

    fn node(&mut self, ty: &Type) -> NodeId {
        if let Type::Reference(target) = ty {
            if let Some(id) = self.references.get(target) {
                return *id;
            }
            let id = self.reserve();
            self.references.insert(target.clone(), id);
            self.compile_into(id, ty);
            return id;
        }
        let key = fingerprint(ty);
        let known = self.inline.get(&key).and_then(|types| types.iter().find(|(known, _)| known == ty));
        if let Some((_, id)) = known {
            return *id;
        }
        let id = self.reserve();
        self.inline.entry(key).or_default().push((ty.clone(), id));
        self.compile_into(id, ty);
        id
    }

    fn compile_into(&mut self, id: NodeId, ty: &Type) {
        self.depth += 1;
        let node = if self.depth > Resolver::MAX_DEPTH {
            Node::Invalid(SchemaError::TooDeep(ty.kind().to_owned()))
        } else {
            self.compile(id, ty).unwrap_or_else(Node::Invalid)
        };
        self.depth -= 1;
        self.program.nodes[id.index()] = node;
    }

    fn custom(&self, ty: &Type) -> Option<Arc<dyn CustomType>> {
        let Type::Reference(target) = ty else { return None };
        if let Some(custom) = self.options.custom.get(target) {
            return Some(Arc::clone(custom));
        }
        object_id_type(target, self.options.object_id)
    }

    fn compile(&mut self, id: NodeId, ty: &Type) -> Result<Node, SchemaError> {
        let mut ty = std::borrow::Cow::Borrowed(ty);
        // Follow one reference at a time: a custom type may stand at the end of a chain.
        for _ in 0..Resolver::MAX_DEPTH {
            if let Some(custom) = self.custom(&ty) {
                return Ok(Node::Custom(custom));
            }
            match self.resolver.step(&ty)? {
                Some(next) => ty = std::borrow::Cow::Owned(next),
                None => {
                    if matches!(&*ty, Type::Overwrite { .. }) {
                        self.program.overwrites.insert(id);
                    }
                    return self.compile_resolved(&ty);
                }
            }
        }
        Err(SchemaError::TooDeep(ty.kind().to_owned()))
    }

    fn compile_resolved(&mut self, ty: &Type) -> Result<Node, SchemaError> {
        Ok(match ty {
            Type::Any => Node::Any,
            Type::Boolean => Node::Boolean,
            Type::Number(scalar) => Node::Number(*scalar),
            Type::String => Node::String,
            Type::Date => Node::Date,
            Type::Buffer(kind) => Node::Buffer(*kind),
            Type::Literal(literal) => Node::Literal(literal.clone()),
            Type::Enum(members) => Node::Enum(members.clone()),
            Type::Object => Node::Object,
            Type::Array(element) => Node::Array(self.slot(element)),
            Type::Tuple { elements, optional_from } => Node::Tuple {
                elements: elements.iter().map(|element| self.slot(element)).collect(),
                optional_from: optional_from.unwrap_or(elements.len()),
            },
            Type::Interface(interface) => self.interface(ty, interface)?,
            Type::Union(members) => Node::Union(self.members(members)),
            Type::Intersection(members) => Node::Intersection(self.members(members)),
            Type::NonNullable(target) => Node::NonNullable(self.slot(target)),
            Type::Pick { .. } | Type::Omit { .. } | Type::Partial(_) | Type::Overwrite { .. } => self.mapped(ty)?,
            Type::Reference(_) | Type::IndexedAccess { .. } | Type::Keyof(_) => {
                unreachable!("the resolver follows these to something else")
            }
        })
    }

    fn members(&mut self, members: &[Member]) -> Vec<MemberSlot> {
        members.iter().map(|member| MemberSlot { id: member.id, slot: self.slot(&member.ty) }).collect()
    }

    fn interface(&mut self, ty: &Type, interface: &Interface) -> Result<Node, SchemaError> {
        let flat = self.resolver.flatten(ty)?;
        let bases = interface.extends.iter().map(|base| BaseSlot { id: base.id, node: self.node(&base.ty) }).collect();
        let properties = interface
            .properties
            .iter()
            .map(|property| PropertySlot {
                name: property.name.as_str().into(),
                id: property.id,
                slot: self.slot(&property.ty),
                optional: property.optional,
            })
            .collect();
        let index = interface.index.as_ref().map(|index| self.index(index));
        let flat = self.flat(flat);
        Ok(Node::Interface(Box::new(InterfaceNode { bases, properties, index, flat })))
    }

    fn index(&mut self, index: &IndexSignature) -> IndexSlot {
        IndexSlot { key: index.key, slot: self.slot(&index.ty) }
    }

    fn flat(&mut self, flat: FlatType) -> Flat {
        let mut entries: Vec<_> = flat.properties.into_iter().collect();
        // Stable: names that are not array indices keep their order behind the others.
        entries.sort_by_key(|(name, _)| array_index(name).unwrap_or(u32::MAX));
        let properties = entries
            .into_iter()
            .zip(0..)
            .map(|((name, property), id)| {
                let name: Arc<str> = name.as_str().into();
                let slot = self.slot(&property.ty);
                (Arc::clone(&name), PropertySlot { name, id, slot, optional: property.optional })
            })
            .collect();
        Flat { properties, index: flat.index.map(|index| self.index(&index)) }
    }

    fn mapped(&mut self, ty: &Type) -> Result<Node, SchemaError> {
        // A mapped type of a union is the union of the mapped members (reference §2.1).
        if let Some(distributed) = self.resolver.distribute(ty)? {
            return self.compile_resolved(&distributed);
        }
        let flat = self.resolver.flatten(ty)?;
        let names = |keys: &[String]| keys.iter().map(|key| key.as_str().into()).collect();
        let (mapping, target) = match ty {
            Type::Pick { target, keys } => (Mapping::Pick(names(keys)), target),
            Type::Omit { target, keys } => (Mapping::Omit(names(keys)), target),
            Type::Partial(target) => (Mapping::Partial, target),
            Type::Overwrite { target, overwrite } => (Mapping::Overwrite(self.node(overwrite)), target),
            _ => unreachable!("called with a mapped type"),
        };
        let target = self.node(target);
        let flat = self.flat(flat);
        Ok(Node::Mapped(Box::new(MappedNode { mapping, target, flat })))
    }
}

/// Equal types have equal fingerprints; the reverse must be checked.
fn fingerprint(ty: &Type) -> u64 {
    struct Hashed(DefaultHasher);

    impl fmt::Write for Hashed {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }

    let mut hashed = Hashed(DefaultHasher::new());
    // The adapter above accepts everything.
    let _ = write!(hashed, "{ty:?}");
    hashed.0.finish()
}

/// What a type can be as it is written: references are not followed (reference §5.8).
fn written(ty: &Type) -> Nullness {
    match ty {
        Type::Literal(literal) => literal_nullness(literal),
        Type::Union(members) => members.iter().map(|member| written(&member.ty)).fold(Nullness::default(), either),
        _ => Nullness::default(),
    }
}

/// As [`written`], where `any` can be every literal.
fn codable(ty: &Type) -> Nullness {
    match ty {
        Type::Any => Nullness { null: true, undefined: true },
        Type::Union(members) => members.iter().map(|member| codable(&member.ty)).fold(Nullness::default(), either),
        other => written(other),
    }
}

fn literal_nullness(literal: &Literal) -> Nullness {
    Nullness { null: *literal == Literal::Null, undefined: *literal == Literal::Undefined }
}

fn either(a: Nullness, b: Nullness) -> Nullness {
    Nullness { null: a.null || b.null, undefined: a.undefined || b.undefined }
}

/// What a node can be. Unions that contain themselves end at the depth limit.
fn nullness(nodes: &[Node], at: usize, depth: u32) -> Nullness {
    if depth > 16 {
        return Nullness::default();
    }
    match &nodes[at] {
        Node::Literal(literal) => literal_nullness(literal),
        Node::Union(members) => members
            .iter()
            .map(|member| nullness(nodes, member.slot.node.index(), depth + 1))
            .fold(Nullness::default(), either),
        _ => Nullness::default(),
    }
}

fn for_each_slot(node: &mut Node, mut visit: impl FnMut(&mut Slot)) {
    let flat = |flat: &mut Flat, visit: &mut dyn FnMut(&mut Slot)| {
        flat.properties.values_mut().for_each(|property| visit(&mut property.slot));
        flat.index.iter_mut().for_each(|index| visit(&mut index.slot));
    };
    match node {
        Node::Array(slot) | Node::NonNullable(slot) => visit(slot),
        Node::Tuple { elements, .. } => elements.iter_mut().for_each(visit),
        Node::Interface(interface) => {
            interface.properties.iter_mut().for_each(|property| visit(&mut property.slot));
            interface.index.iter_mut().for_each(|index| visit(&mut index.slot));
            flat(&mut interface.flat, &mut visit);
        }
        Node::Mapped(mapped) => flat(&mut mapped.flat, &mut visit),
        Node::Union(members) | Node::Intersection(members) => {
            members.iter_mut().for_each(|member| visit(&mut member.slot));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Property;

    fn interface(properties: Vec<(&str, Type)>) -> Type {
        let properties = properties.into_iter().zip(0..);
        let property = |((name, ty), id): ((&str, Type), u32)| Property { id, name: name.into(), ty, optional: true };
        let properties = properties.map(property).collect();
        Type::Interface(Box::new(Interface { properties, ..Interface::default() }))
    }

    #[test]
    fn types_that_contain_themselves_in_a_mapped_type_compile_to_few_nodes() {
        let partial = || Type::Partial(Box::new(Type::Reference("Tree".into())));
        let types: TypeSet =
            [("Tree".to_owned(), interface(vec![("left", partial()), ("right", partial())]))].into_iter().collect();
        let program = Program::compile(&types, &CompileOptions::default());
        assert_eq!(program.nodes().len(), 2);
    }

    #[test]
    fn nesting_in_place_does_not_multiply_nodes() {
        let nested = (0..100).fold(Type::String, |inner, _| interface(vec![("a", inner)]));
        let (program, _) = Program::compile_type(&nested, &TypeSet::new(), &CompileOptions::default());
        assert_eq!(program.nodes().len(), 101);
    }
}
