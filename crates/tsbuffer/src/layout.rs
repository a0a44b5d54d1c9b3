//! What the binary codec needs to know of each type, worked out once.
//!
//! Depends on the compiled [`Program`] and the primitives. Invariant: nothing
//! that the layout holds needs a lookup by name while a value is written or
//! read, except keys that only the value knows (those of index signatures).

use std::{collections::HashMap, sync::Arc};

use polywire_schema::{
    Flat, IndexSlot, InterfaceNode, Literal, Mapping, MemberSlot, Node, NodeId, Nullness, Program, PropertySlot,
    Scalar, Slot, Value,
};

use crate::binary::{
    FIRST_PROPERTY_BLOCK, LengthType, MAX_BASES, Varint, base_tag, index_tag, member_tag, property_tag,
};

/// A property name of the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(u32);

/// Every property name that the types of a program mention.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<Arc<str>, Name>);

impl Names {
    fn intern(&mut self, name: &Arc<str>) -> Name {
        // Names are fewer than schema nodes can be; those are numbered by 32 bits.
        let next = Name(u32::try_from(self.0.len()).unwrap_or(u32::MAX));
        *self.0.entry(Arc::clone(name)).or_insert(next)
    }

    /// The name of a key that a value holds, if any type mentions it.
    pub(crate) fn get(&self, key: &str) -> Option<Name> {
        self.0.get(key).copied()
    }
}

/// How a payload is framed inside an interface, union or intersection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// The tag, ready to be written.
    pub(crate) tag: Varint,
    /// Whether the byte length stands between the tag and the payload.
    pub(crate) prefixed: bool,
}

/// What a block of an interface holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Block {
    /// A base, by position.
    Base(usize),
    /// An own property, by position.
    Property(usize),
}

/// What stands in for a property that was not read.
#[derive(Debug)]
pub(crate) enum Fill {
    /// A literal: it is never written.
    Literal(Value),
    /// Null, unless null checks are strict.
    Null,
}

/// An own property of an interface.
#[derive(Debug)]
pub(crate) struct PropertyLayout {
    pub(crate) name: Name,
    pub(crate) frame: Frame,
    /// What is written of it.
    pub(crate) written: Written,
}

/// What is written of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// Its value.
    Value,
    /// Nothing: readers know the literal.
    Literal,
}

/// An interface.
#[derive(Debug)]
pub(crate) struct InterfaceLayout {
    pub(crate) bases: Vec<Frame>,
    pub(crate) properties: Vec<PropertyLayout>,
    /// The index signature of the interface or the first base that has one.
    pub(crate) index: Option<(IndexSlot, Frame)>,
    /// What block ids stand for, sorted.
    pub(crate) blocks: Vec<(i32, Block)>,
    /// What to add after reading, in the order of the flattened properties.
    pub(crate) fills: Vec<(Arc<str>, Fill)>,
    /// Whether nothing but distinct own properties can be written, so that no
    /// property can have been written before.
    pub(crate) is_plain: bool,
}

/// The members of a union or intersection.
#[derive(Debug)]
pub(crate) struct MembersLayout {
    pub(crate) frames: Vec<Frame>,
    /// What member ids stand for, by position, sorted.
    pub(crate) by_id: Vec<(i32, usize)>,
}

/// What is particular to the kind of a node.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Nothing.
    Other,
    Interface(Box<InterfaceLayout>),
    /// The keys that `Pick` or `Omit` names; those that `Overwrite` leaves to its target. Sorted.
    Mapped(Vec<Name>),
    Members(MembersLayout),
    /// Which elements are null where they were not read and null checks are not strict.
    Tuple(Vec<bool>),
}

/// A node.
#[derive(Debug)]
pub(crate) struct NodeLayout {
    pub(crate) prefixed: bool,
    /// Whether its payload takes no bytes at all.
    pub(crate) is_zero_width: bool,
    /// Which empty literals the codec takes the type to be, references in it not followed.
    pub(crate) codable: Nullness,
    pub(crate) shape: Shape,
}

/// The wire side of a [`Program`], node by node.
#[derive(Debug)]
pub(crate) struct Layout {
    nodes: Vec<NodeLayout>,
    pub(crate) names: Names,
}

impl Layout {
    /// Works out the layout of a program.
    pub(crate) fn new(program: &Program) -> Self {
        let mut names = Names::default();
        let nodes = (program.ids())
            .map(|id| {
                let (node, wire) = (program.node(id), wire(program, id, 0));
                NodeLayout {
                    prefixed: wire.prefixed,
                    is_zero_width: wire.is_zero_width,
                    codable: codable(node),
                    shape: shape(program, node, &mut names),
                }
            })
            .collect();
        Self { nodes, names }
    }

    pub(crate) fn node(&self, id: NodeId) -> &NodeLayout {
        &self.nodes[id.index()]
    }
}

/// How the payload of a node is skipped by readers that do not know it (reference §5.2).
struct Wire {
    length_type: LengthType,
    prefixed: bool,
    is_zero_width: bool,
}

fn wire(program: &Program, id: NodeId, depth: u32) -> Wire {
    let plain = |length_type| Wire { length_type, prefixed: false, is_zero_width: false };
    let prefixed = Wire { length_type: LengthType::LengthDelimited, prefixed: true, is_zero_width: false };
    match program.node(id) {
        Node::NonNullable(target) if depth < 16 => wire(program, target.node, depth + 1),
        Node::Literal(_) => Wire { is_zero_width: true, ..plain(LengthType::LengthDelimited) },
        Node::Boolean | Node::Enum(_) | Node::Date => plain(LengthType::Varint),
        Node::Number(scalar) => plain(match scalar {
            Scalar::Double | Scalar::ExplicitDouble | Scalar::BigInt64 | Scalar::BigUint64 => LengthType::Bit64,
            Scalar::Int | Scalar::Uint => LengthType::Varint,
            Scalar::BigInt => LengthType::LengthDelimited,
        }),
        Node::Array(_) | Node::Tuple { .. } => prefixed,
        Node::Mapped(_) | Node::Union(_) | Node::Intersection(_) if program.is_overwrite(id) => prefixed,
        Node::Interface(_) | Node::Mapped(_) | Node::Union(_) | Node::Intersection(_) => plain(LengthType::IdBlock),
        _ => plain(LengthType::LengthDelimited),
    }
}

fn codable(node: &Node) -> Nullness {
    match node {
        Node::Any => Nullness { null: true, undefined: true },
        Node::Literal(literal) => {
            Nullness { null: *literal == Literal::Null, undefined: *literal == Literal::Undefined }
        }
        Node::Union(members) => members.iter().fold(Nullness::default(), |all, member| Nullness {
            null: all.null || member.slot.codable.null,
            undefined: all.undefined || member.slot.codable.undefined,
        }),
        _ => Nullness::default(),
    }
}

fn shape(program: &Program, node: &Node, names: &mut Names) -> Shape {
    match node {
        Node::Interface(interface) => Shape::Interface(Box::new(self::interface(program, interface, names))),
        Node::Mapped(mapped) => {
            let mut keys: Vec<Name> = match &mapped.mapping {
                Mapping::Pick(keys) | Mapping::Omit(keys) => keys.iter().map(|key| names.intern(key)).collect(),
                Mapping::Partial => Vec::new(),
                Mapping::Overwrite(overwrite) => {
                    let properties = |id| program.flat(id).into_iter().flat_map(|flat| flat.properties.keys());
                    let overwritten = |key: &&Arc<str>| properties(*overwrite).any(|own| own == *key);
                    properties(mapped.target).filter(|key| !overwritten(key)).map(|key| names.intern(key)).collect()
                }
            };
            keys.sort_unstable();
            Shape::Mapped(keys)
        }
        Node::Union(members) | Node::Intersection(members) => Shape::Members(self::members(program, members)),
        Node::Tuple { elements, optional_from } => {
            let is_null =
                |(at, slot): (usize, &Slot)| at < *optional_from && reads_as_null(slot.codable, slot.resolved);
            Shape::Tuple(elements.iter().enumerate().map(is_null).collect())
        }
        _ => Shape::Other,
    }
}

fn frame(program: &Program, node: NodeId, tag: impl FnOnce(LengthType) -> u64) -> Frame {
    let wire = wire(program, node, 0);
    Frame { tag: Varint::new(tag(wire.length_type)), prefixed: wire.prefixed }
}

fn interface(program: &Program, interface: &InterfaceNode, names: &mut Names) -> InterfaceLayout {
    let bases = interface.bases.iter().map(|base| frame(program, base.node, |wire| base_tag(base.id, wire))).collect();
    let properties: Vec<PropertyLayout> = (interface.properties.iter())
        .map(|property| PropertyLayout {
            name: names.intern(&property.name),
            frame: frame(program, property.slot.node, |wire| property_tag(property.id, wire)),
            written: match program.node(property.slot.node) {
                Node::Literal(_) => Written::Literal,
                _ => Written::Value,
            },
        })
        .collect();
    let index = interface.flat.index.map(|index| (index, frame(program, index.slot.node, index_tag)));
    let mut distinct: Vec<Name> = properties.iter().map(|property| property.name).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let is_plain = interface.bases.is_empty() && index.is_none() && distinct.len() == properties.len();
    InterfaceLayout {
        bases,
        properties,
        index,
        blocks: blocks(interface),
        fills: fills(program, &interface.flat),
        is_plain,
    }
}

fn blocks(interface: &InterfaceNode) -> Vec<(i32, Block)> {
    // A base with a higher id cannot be told from a property.
    let bases = interface.bases.iter().enumerate().filter(|(_, base)| (base.id as usize) < MAX_BASES);
    let bases = bases.map(|(at, base)| (base.id + 1, Block::Base(at)));
    let properties = interface.properties.iter().enumerate();
    let properties =
        properties.map(|(at, property)| (property.id.saturating_add(FIRST_PROPERTY_BLOCK), Block::Property(at)));
    first_by_id(bases.chain(properties))
}

/// Sorted by id; of several with one id, the first.
fn first_by_id<T>(entries: impl Iterator<Item = (u32, T)>) -> Vec<(i32, T)> {
    let mut entries: Vec<_> = entries.filter_map(|(id, entry)| Some((i32::try_from(id).ok()?, entry))).collect();
    entries.sort_by_key(|(id, _)| *id);
    entries.dedup_by_key(|(id, _)| *id);
    entries
}

fn fills(program: &Program, flat: &Flat) -> Vec<(Arc<str>, Fill)> {
    let fill = |property: &PropertySlot| {
        let node = program.node(property.slot.node);
        if let Node::Literal(literal) = node {
            return Some(Fill::Literal(literal.to_value()));
        }
        (!property.optional && reads_as_null(codable(node), property.slot.resolved)).then_some(Fill::Null)
    };
    flat.properties.values().filter_map(|property| Some((Arc::clone(&property.name), fill(property)?))).collect()
}

/// Whether what was not read is null (reference §5.8).
///
/// The published decoder does not follow references in unions. Where it finds no
/// null, a reference may still lead to one (reference §15, `type N = string | null`).
fn reads_as_null(codable: Nullness, resolved: Nullness) -> bool {
    !codable.undefined && (codable.null || resolved.null && !resolved.undefined)
}

fn members(program: &Program, members: &[MemberSlot]) -> MembersLayout {
    let frames =
        (members.iter()).map(|member| frame(program, member.slot.node, |wire| member_tag(member.id, wire))).collect();
    let by_id = first_by_id(members.iter().enumerate().map(|(at, member)| (member.id, at)));
    MembersLayout { frames, by_id }
}
