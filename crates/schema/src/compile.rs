//! Compiling a [`TypeSet`] into a [`Program`].
//!
//! Depends on the type model and [`resolve`](crate::resolve). Invariants: every
//! schema id of the set becomes a root, whatever it holds; a type that cannot
//! be resolved becomes a [`Node::Invalid`]; each named type is compiled once.

use std::{
    collections::{HashMap, VecDeque},
    fmt::{self, Write as _},
    hash::{DefaultHasher, Hasher as _},
    sync::Arc,
};

use crate::{
    CustomType, Flat, IndexSignature, IndexSlot, Interface, InterfaceNode, MAX_TYPE_DEPTH, MappedNode, Mapping, Member,
    MemberSlot, Members, Node, NodeId, Nullness, ObjectIdClass, Program, PropertySlot, SchemaError, Slot, Type,
    TypeSet,
    custom::object_id_type,
    link::{Links, link},
    program::BaseSlot,
    resolve::Resolver,
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
        let mut compiler = Compiler::new(types, options);
        for id in types.keys().chain(options.custom.keys()) {
            let slot = compiler.root(id);
            compiler.program.roots.insert(id.as_str().into(), slot);
        }
        compiler.finish().0
    }

    /// Compiles one type of its own, which may refer to the set, and returns its entry point too.
    #[must_use]
    pub fn compile_type(ty: &Type, types: &TypeSet, options: &CompileOptions) -> (Self, Slot) {
        let mut compiler = Compiler::new(types, options);
        let mut slot = compiler.slot(ty);
        let (program, links) = compiler.finish();
        links.fill(&mut slot);
        (program, slot)
    }
}

struct Compiler<'a> {
    types: &'a TypeSet,
    options: &'a CompileOptions,
    resolver: Resolver<'a>,
    program: Program,
    /// Nodes by schema id, also those that wait in the queue: recursion ends here.
    references: HashMap<String, NodeId>,
    /// The same for types written in place, by fingerprint: each is compiled once.
    inline: HashMap<u64, Vec<(Type, NodeId)>>,
    /// Reserved nodes and what to compile into them.
    queue: VecDeque<(NodeId, Type)>,
    depth: usize,
    /// What was followed to the unions that mapped types are being distributed
    /// over, up to the next property: followed again there, they have no end.
    distributing: Vec<Type>,
}

/// How many nodes a program may have: mapped types of unions of mapped types of
/// unions… can stand for endlessly many types.
const MAX_NODES: usize = 1 << 20;

impl<'a> Compiler<'a> {
    fn new(types: &'a TypeSet, options: &'a CompileOptions) -> Self {
        Self {
            types,
            options,
            resolver: Resolver::new(types),
            program: Program::default(),
            references: HashMap::new(),
            inline: HashMap::new(),
            queue: VecDeque::new(),
            depth: 0,
            distributing: Vec::new(),
        }
    }

    fn finish(mut self) -> (Program, Links) {
        while let Some((id, ty)) = self.queue.pop_front() {
            self.compile_into(id, &ty);
        }
        let links = link(&mut self.program);
        (self.program, links)
    }

    /// A root is looked at as what it holds, not as a reference to it.
    fn root(&mut self, id: &str) -> Slot {
        let node = self.reference(id);
        match self.types.get(id) {
            Some(ty) if !self.options.custom.contains_key(id) => slot_of(node, ty),
            _ => slot_of(node, &Type::Reference(id.to_owned())),
        }
    }

    fn slot(&mut self, ty: &Type) -> Slot {
        slot_of(self.node(ty), ty)
    }

    /// The type of a property or element.
    fn part(&mut self, ty: &Type) -> Slot {
        let distributing = std::mem::take(&mut self.distributing);
        let slot = self.slot(ty);
        self.distributing = distributing;
        slot
    }

    fn reserve(&mut self) -> NodeId {
        // A proto of 2³² types does not fit any memory.
        let id = NodeId(u32::try_from(self.program.nodes.len()).expect("fewer than 2^32 types"));
        self.program.nodes.push(Node::Any);
        id
    }

    fn node(&mut self, ty: &Type) -> NodeId {
        if let Type::Reference(id) = ty {
            return self.reference(id);
        }
        let key = fingerprint(ty);
        let known = self.inline.get(&key).and_then(|types| types.iter().find(|(known, _)| known == ty));
        if let Some((_, node)) = known {
            return *node;
        }
        let own = self.reserve();
        self.remember(key, ty, own);
        let Type::IndexedAccess { index, object } = ty else {
            self.compile_into(own, ty);
            return own;
        };
        let node = self.stand_for(own, self.resolver.indexed_access(index, object));
        self.remember(key, ty, node);
        node
    }

    fn remember(&mut self, key: u64, ty: &Type, node: NodeId) {
        let types = self.inline.entry(key).or_default();
        types.retain(|(known, _)| known != ty);
        types.push((ty.clone(), node));
    }

    fn reference(&mut self, id: &str) -> NodeId {
        if let Some(node) = self.references.get(id) {
            return *node;
        }
        let own = self.reserve();
        self.references.insert(id.to_owned(), own);
        if let Some(custom) = self.custom(id) {
            self.program.nodes[own.index()] = Node::Custom(custom);
            return own;
        }
        let node = self.stand_for(own, self.resolver.named(id).cloned());
        self.references.insert(id.to_owned(), node);
        node
    }

    /// The node of what a reference or indexed access stands for: that of yet
    /// another one, or its own, which is compiled later.
    fn stand_for(&mut self, own: NodeId, target: Result<Type, SchemaError>) -> NodeId {
        let target = match target {
            Ok(target @ (Type::Reference(_) | Type::IndexedAccess { .. })) => target,
            Ok(target) => {
                self.queue.push_back((own, target));
                return own;
            }
            Err(error) => {
                self.program.nodes[own.index()] = Node::Invalid(error);
                return own;
            }
        };
        // What types that stand for each other find here.
        self.program.nodes[own.index()] = Node::Invalid(SchemaError::TooDeep(target.kind().to_owned()));
        if self.depth == MAX_TYPE_DEPTH {
            return own;
        }
        self.depth += 1;
        let node = self.node(&target);
        self.depth -= 1;
        node
    }

    fn custom(&self, schema_id: &str) -> Option<Arc<dyn CustomType>> {
        match self.options.custom.get(schema_id) {
            Some(custom) => Some(Arc::clone(custom)),
            None => object_id_type(schema_id, self.options.object_id),
        }
    }

    fn compile_into(&mut self, id: NodeId, ty: &Type) {
        let node = if self.depth == MAX_TYPE_DEPTH || self.program.nodes.len() > MAX_NODES {
            Node::Invalid(SchemaError::TooDeep(ty.kind().to_owned()))
        } else {
            self.depth += 1;
            let node = self.compile(ty).unwrap_or_else(Node::Invalid);
            self.depth -= 1;
            node
        };
        if matches!(ty, Type::Overwrite { .. }) {
            self.program.overwrites.insert(id);
        }
        self.program.nodes[id.index()] = node;
    }

    fn compile(&mut self, ty: &Type) -> Result<Node, SchemaError> {
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
            Type::Array(element) => Node::Array(self.part(element)),
            Type::Tuple { elements, optional_from } => Node::Tuple {
                elements: elements.iter().map(|element| self.part(element)).collect(),
                optional_from: optional_from.unwrap_or(elements.len()),
            },
            Type::Interface(interface) => self.interface(interface),
            Type::Union(members) => Node::Union(self.members(members)),
            Type::Intersection(members) => Node::Intersection(self.members(members)),
            Type::NonNullable(target) => Node::NonNullable(self.slot(target)),
            Type::Keyof(target) => return self.compile(&self.resolver.keyof(target)?),
            Type::Pick { target, keys } => self.mapped(ty, target, Mapping::Pick(names(keys)))?,
            Type::Omit { target, keys } => self.mapped(ty, target, Mapping::Omit(names(keys)))?,
            Type::Partial(target) => self.mapped(ty, target, Mapping::Partial)?,
            Type::Overwrite { target, overwrite } => {
                let overwrite = Mapping::Overwrite(self.node(overwrite));
                self.mapped(ty, target, overwrite)?
            }
            // `node` follows these; what is compiled here is what they stand for.
            Type::Reference(_) | Type::IndexedAccess { .. } => {
                Node::Invalid(SchemaError::TooDeep(ty.kind().to_owned()))
            }
        })
    }

    fn members(&mut self, members: &[Member]) -> Box<Members> {
        let slots = members.iter().map(|member| MemberSlot { id: member.id, slot: self.slot(&member.ty) }).collect();
        Box::new(Members::new(slots))
    }

    fn interface(&mut self, interface: &Interface) -> Node {
        let bases = interface.extends.iter().map(|base| BaseSlot { id: base.id, node: self.node(&base.ty) }).collect();
        let properties = interface
            .properties
            .iter()
            // JavaScript cannot set a property of this name: peers never see it.
            .filter(|property| property.name != "__proto__")
            .map(|property| PropertySlot {
                name: property.name.as_str().into(),
                id: property.id,
                slot: self.part(&property.ty),
                optional: property.optional,
            })
            .collect();
        let index = interface.index.as_ref().map(|index| self.index(index));
        Node::Interface(Box::new(InterfaceNode { bases, properties, index, flat: Flat::default() }))
    }

    fn index(&mut self, index: &IndexSignature) -> IndexSlot {
        IndexSlot { key: index.key, slot: self.part(&index.ty) }
    }

    fn mapped(&mut self, ty: &Type, target: &Type, mapping: Mapping) -> Result<Node, SchemaError> {
        let (distributed, followed) = self.resolver.distribute(ty)?;
        // A mapped type of a union is the union of the mapped members (reference §2.1).
        if let Some(distributed) = distributed {
            if followed.iter().any(|ty| self.distributing.contains(ty)) {
                return Err(SchemaError::TooDeep(ty.kind().to_owned()));
            }
            let outer = self.distributing.len();
            self.distributing.extend(followed);
            let node = self.compile(&distributed);
            self.distributing.truncate(outer);
            return node;
        }
        let target = self.node(target);
        Ok(Node::Mapped(Box::new(MappedNode { mapping, target, flat: Flat::default() })))
    }
}

fn names(keys: &[String]) -> Vec<Arc<str>> {
    keys.iter().map(|key| key.as_str().into()).collect()
}

/// Linking fills in what needs all nodes.
fn slot_of(node: NodeId, ty: &Type) -> Slot {
    Slot {
        node,
        written: written(ty),
        resolved: Nullness::default(),
        any: matches!(ty, Type::Any),
        codable: codable(ty),
    }
}

/// What a type can be as it is written: references are not followed (reference §5.8).
fn written(ty: &Type) -> Nullness {
    match ty {
        Type::Literal(literal) => Nullness::of_literal(literal),
        Type::Union(members) => {
            members.iter().fold(Nullness::default(), |nullness, member| nullness.or(written(&member.ty)))
        }
        _ => Nullness::default(),
    }
}

/// As [`written`], where `any` can be every literal.
fn codable(ty: &Type) -> Nullness {
    match ty {
        Type::Any => Nullness { null: true, undefined: true },
        Type::Union(members) => {
            members.iter().fold(Nullness::default(), |nullness, member| nullness.or(codable(&member.ty)))
        }
        other => written(other),
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
