//! What a program knows only once all its nodes exist: flattened object types,
//! what a slot can be, what unions declare.
//!
//! Depends on the program only. Invariants: afterwards no node contains itself
//! without a property or an element in between, and no chain of bases or
//! members is longer than [`MAX_CHAIN`], so that whoever walks them may recurse.

use std::sync::Arc;

use crate::{
    Flat, IndexSlot, InterfaceNode, Mapping, Node, NodeId, Nullness, Program, PropertySlot, SchemaError, Slot,
    declared::Declared, dispatch::Dispatch, object::array_index,
};

/// How many bases, targets or members may follow each other without a property in between.
const MAX_CHAIN: u32 = 64;

/// What each node can be, which slots repeat.
pub(crate) struct Links {
    resolved: Vec<Nullness>,
}

impl Links {
    pub(crate) fn fill(&self, slot: &mut Slot) {
        slot.resolved = self.resolved[slot.node.index()];
    }
}

/// Completes a program whose nodes are all compiled.
pub(crate) fn link(program: &mut Program) -> Links {
    for at in post_order(&mut program.nodes, bases) {
        flatten(&mut program.nodes, at);
    }
    let by_members = post_order(&mut program.nodes, members);
    let mut resolved = vec![Nullness::default(); program.nodes.len()];
    for at in by_members {
        resolved[at] = match &program.nodes[at] {
            Node::Literal(literal) => Nullness::of_literal(literal),
            Node::Union(members) => members
                .iter()
                .fold(Nullness::default(), |nullness, member| nullness.or(resolved[member.slot.node.index()])),
            _ => Nullness::default(),
        };
        declare(&mut program.nodes, at);
    }
    let links = Links { resolved };
    for node in &mut program.nodes {
        for_each_slot(node, &mut |slot| links.fill(slot));
    }
    program.roots.values_mut().for_each(|slot| links.fill(slot));
    for at in 0..program.nodes.len() {
        let Node::Union(members) = &program.nodes[at] else { continue };
        let dispatch = Dispatch::new(&program.nodes, members);
        if let Node::Union(members) = &mut program.nodes[at] {
            members.dispatch = dispatch;
        }
    }
    links
}

/// What an object type is made of.
fn bases(node: &Node) -> Vec<NodeId> {
    match node {
        Node::Interface(interface) => interface.bases.iter().map(|base| base.node).collect(),
        Node::Mapped(mapped) => match mapped.mapping {
            Mapping::Overwrite(overwrite) => vec![mapped.target, overwrite],
            _ => vec![mapped.target],
        },
        _ => Vec::new(),
    }
}

/// What is checked for the very value that the node is checked for.
fn members(node: &Node) -> Vec<NodeId> {
    match node {
        Node::Union(members) | Node::Intersection(members) => members.iter().map(|member| member.slot.node).collect(),
        Node::NonNullable(slot) => vec![slot.node],
        _ => Vec::new(),
    }
}

/// Every node behind those that it leads to. A node that leads to itself, or
/// along too long a chain, becomes invalid.
fn post_order(nodes: &mut [Node], successors: fn(&Node) -> Vec<NodeId>) -> Vec<usize> {
    /// Not yet seen, being walked, or done with the length of the longest chain.
    #[derive(Clone, Copy)]
    enum State {
        New,
        Open,
        Done(u32),
    }
    struct Frame {
        at: usize,
        next: std::vec::IntoIter<NodeId>,
        chain: u32,
    }
    let open = |nodes: &[Node], at: usize| Frame { at, next: successors(&nodes[at]).into_iter(), chain: 0 };

    let mut order = Vec::with_capacity(nodes.len());
    let mut states = vec![State::New; nodes.len()];
    let mut stack = Vec::new();
    for start in 0..nodes.len() {
        if matches!(states[start], State::New) {
            states[start] = State::Open;
            stack.push(open(nodes, start));
        }
        while let Some(frame) = stack.last_mut() {
            match frame.next.next() {
                Some(to) => match states[to.index()] {
                    State::New => {
                        states[to.index()] = State::Open;
                        stack.push(open(nodes, to.index()));
                    }
                    State::Open => frame.chain = u32::MAX,
                    State::Done(chain) => frame.chain = frame.chain.max(chain),
                },
                None => {
                    let Frame { at, chain, .. } = *frame;
                    let too_long = chain >= MAX_CHAIN;
                    if too_long {
                        nodes[at] = Node::Invalid(SchemaError::TooDeep(kind(&nodes[at]).to_owned()));
                    }
                    let chain = if too_long { 0 } else { chain + 1 };
                    states[at] = State::Done(chain);
                    order.push(at);
                    stack.pop();
                    if let Some(parent) = stack.last_mut() {
                        parent.chain = parent.chain.max(chain);
                    }
                }
            }
        }
    }
    order
}

/// Flattens an object type whose bases are flattened already.
fn flatten(nodes: &mut [Node], at: usize) {
    let flat = match &nodes[at] {
        Node::Interface(interface) => flat_interface(nodes, interface),
        Node::Mapped(mapped) => flat_mapped(nodes, &mapped.mapping, mapped.target),
        _ => return,
    };
    match (flat, &mut nodes[at]) {
        (Ok(flat), Node::Interface(interface)) => interface.flat = flat,
        (Ok(flat), Node::Mapped(mapped)) => mapped.flat = flat,
        (Ok(_), _) => {}
        (Err(error), node) => *node = Node::Invalid(error),
    }
}

fn flat_interface(nodes: &[Node], interface: &InterfaceNode) -> Result<Flat, SchemaError> {
    let mut flat = Flat { index: interface.index, ..Flat::default() };
    for property in &interface.properties {
        flat.properties.insert(Arc::clone(&property.name), property.clone());
    }
    for base in &interface.bases {
        let base = flat_of(nodes, base.node)?;
        for property in base.properties.values() {
            flat.properties.entry(Arc::clone(&property.name)).or_insert_with(|| property.clone());
        }
        flat.index = flat.index.or(base.index);
    }
    flat.properties.sort_by_key(|name, _| array_index(name).unwrap_or(u32::MAX));
    Ok(numbered(flat))
}

fn flat_mapped(nodes: &[Node], mapping: &Mapping, target: NodeId) -> Result<Flat, SchemaError> {
    let mut flat = flat_of(nodes, target)?.clone();
    match mapping {
        Mapping::Pick(keys) => {
            let target = std::mem::take(&mut flat);
            for key in keys {
                let of_signature = || {
                    let slot = target.index?.slot;
                    Some(PropertySlot { name: Arc::clone(key), id: 0, slot, optional: false })
                };
                if let Some(property) = target.properties.get(key).cloned().or_else(of_signature) {
                    flat.properties.insert(Arc::clone(key), property);
                }
            }
        }
        Mapping::Omit(keys) => flat.properties.retain(|name, _| !keys.contains(name)),
        Mapping::Partial => flat.properties.values_mut().for_each(|property| property.optional = true),
        Mapping::Overwrite(overwrite) => {
            let overwrite = flat_of(nodes, *overwrite)?;
            for property in overwrite.properties.values() {
                flat.properties.shift_remove(&property.name);
                flat.properties.insert(Arc::clone(&property.name), property.clone());
            }
            flat.index = overwrite.index.or(flat.index);
        }
    }
    Ok(numbered(flat))
}

fn flat_of(nodes: &[Node], id: NodeId) -> Result<&Flat, SchemaError> {
    match &nodes[id.index()] {
        Node::Interface(interface) => Ok(&interface.flat),
        Node::Mapped(mapped) => Ok(&mapped.flat),
        Node::Invalid(error) => Err(error.clone()),
        other => Err(SchemaError::NotAnInterface(kind(other))),
    }
}

/// Flattened properties are numbered by position (reference §2.1).
fn numbered(mut flat: Flat) -> Flat {
    for (property, position) in flat.properties.values_mut().zip(0..) {
        property.id = position;
    }
    flat
}

/// Collects what the members of a union or intersection declare, those of its members first.
fn declare(nodes: &mut [Node], at: usize) {
    let mut declared = Declared::default();
    let (Node::Union(members) | Node::Intersection(members)) = &nodes[at] else { return };
    for member in members.iter() {
        match &nodes[member.slot.node.index()] {
            Node::Interface(interface) => add_flat(&mut declared, &interface.flat),
            Node::Mapped(mapped) => add_flat(&mut declared, &mapped.flat),
            Node::Union(inner) | Node::Intersection(inner) => declared.extend(&inner.declared),
            _ => {}
        }
    }
    if let Node::Union(members) | Node::Intersection(members) = &mut nodes[at] {
        members.declared = declared;
    }
}

fn add_flat(declared: &mut Declared, flat: &Flat) {
    declared.names.extend(flat.properties.keys().cloned());
    if let Some(IndexSlot { key, .. }) = flat.index {
        declared.add_index(key);
    }
}

fn for_each_slot(node: &mut Node, visit: &mut dyn FnMut(&mut Slot)) {
    fn each_of_flat(flat: &mut Flat, visit: &mut dyn FnMut(&mut Slot)) {
        flat.properties.values_mut().for_each(|property| visit(&mut property.slot));
        flat.index.iter_mut().for_each(|index| visit(&mut index.slot));
    }
    match node {
        Node::Array(slot) | Node::NonNullable(slot) => visit(slot),
        Node::Tuple { elements, .. } => elements.iter_mut().for_each(visit),
        Node::Interface(interface) => {
            interface.properties.iter_mut().for_each(|property| visit(&mut property.slot));
            interface.index.iter_mut().for_each(|index| visit(&mut index.slot));
            each_of_flat(&mut interface.flat, visit);
        }
        Node::Mapped(mapped) => each_of_flat(&mut mapped.flat, visit),
        Node::Union(members) | Node::Intersection(members) => {
            members.slots_mut().iter_mut().for_each(|member| visit(&mut member.slot));
        }
        _ => {}
    }
}

fn kind(node: &Node) -> &'static str {
    match node {
        Node::Any => "Any",
        Node::Boolean => "Boolean",
        Node::Number(_) => "Number",
        Node::String => "String",
        Node::Date => "Date",
        Node::Buffer(_) => "Buffer",
        Node::Literal(_) => "Literal",
        Node::Enum(_) => "Enum",
        Node::Object => "Object",
        Node::Array(_) => "Array",
        Node::Tuple { .. } => "Tuple",
        Node::Interface(_) => "Interface",
        Node::Mapped(_) => "Mapped",
        Node::Union(_) => "Union",
        Node::Intersection(_) => "Intersection",
        Node::NonNullable(_) => "NonNullable",
        Node::Custom(_) => "Custom",
        Node::Invalid(_) => "Invalid",
    }
}
