//! Which members of a union a value may match, seen from one literal in it.
//!
//! Depends on the program only. Invariant: every member that a value matches is
//! among its candidates, in schema order; others may be.

use std::{collections::HashMap, slice};

use crate::{EnumValue, Flat, Literal, MemberSlot, Node, PropertySlot, Value};

/// From how many string literals on looking a string up is worth a table.
const MANY_TEXTS: usize = 8;

/// How a union finds its members.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dispatch {
    /// For plain objects: by the value of this property, or by nothing.
    objects: Option<(Option<Box<str>>, Table)>,
    /// For strings: by the string.
    texts: Option<Table>,
}

/// Members by a literal.
#[derive(Debug, Clone, Default)]
struct Table {
    texts: HashMap<Box<str>, Vec<usize>>,
    /// By the bits of the number.
    numbers: HashMap<u64, Vec<usize>>,
    booleans: HashMap<bool, Vec<usize>>,
    /// Where the value is none of these.
    otherwise: Vec<usize>,
}

enum Candidates<'a> {
    All(std::ops::Range<usize>),
    Some(slice::Iter<'a, usize>),
}

impl Iterator for Candidates<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        match self {
            Self::All(range) => range.next(),
            Self::Some(members) => members.next().copied(),
        }
    }
}

impl Dispatch {
    pub(crate) fn new(nodes: &[Node], members: &[MemberSlot]) -> Self {
        let members: Vec<&Node> = members.iter().map(|member| &nodes[member.slot.node.index()]).collect();
        Self { objects: by_property(nodes, &members), texts: by_text(&members) }
    }

    /// The members that the value may match, of `count`.
    pub(crate) fn candidates(&self, value: &Value, count: usize) -> impl Iterator<Item = usize> + use<'_> {
        match (value, &self.objects, &self.texts) {
            (Value::Object(object), Some((name, table)), _) => {
                Candidates::Some(table.get(name.as_deref().and_then(|name| object.get(name))).iter())
            }
            (Value::String(_), _, Some(table)) => Candidates::Some(table.get(Some(value)).iter()),
            _ => Candidates::All(0..count),
        }
    }
}

impl Table {
    /// A table of members that each match some literals only, or (without keys) any value.
    fn new(members: &[(usize, Option<Keys>)]) -> Self {
        let mut table = Self::default();
        let keyed = || members.iter().filter_map(|(at, keys)| keys.as_ref().map(|keys| (*at, keys)));
        for (at, keys) in keyed() {
            for literal in &keys.literals {
                if let Some(matching) = table.entry(literal) {
                    matching.push(at);
                }
            }
        }
        let unkeyed: Vec<usize> = members.iter().filter(|(_, keys)| keys.is_none()).map(|(at, _)| *at).collect();
        table.otherwise = keyed().filter(|(_, keys)| keys.may_be_missing).map(|(at, _)| at).collect();
        let lists = table.texts.values_mut().chain(table.numbers.values_mut()).chain(table.booleans.values_mut());
        for list in lists.chain([&mut table.otherwise]) {
            list.extend(&unkeyed);
            list.sort_unstable();
            list.dedup();
        }
        table
    }

    fn entry(&mut self, literal: &Literal) -> Option<&mut Vec<usize>> {
        match literal {
            Literal::String(text) => Some(self.texts.entry(text.as_str().into()).or_default()),
            Literal::Number(number) => Some(self.numbers.entry(bits(*number)).or_default()),
            Literal::Bool(value) => Some(self.booleans.entry(*value).or_default()),
            Literal::Null | Literal::Undefined => None,
        }
    }

    fn get(&self, value: Option<&Value>) -> &[usize] {
        let found = match value {
            Some(Value::String(text)) => text.as_str().and_then(|text| self.texts.get(text)),
            Some(Value::Number(number)) => self.numbers.get(&bits(*number)),
            Some(Value::Bool(value)) => self.booleans.get(value),
            _ => None,
        };
        found.unwrap_or(&self.otherwise)
    }
}

/// Zero and negative zero are equal.
fn bits(number: f64) -> u64 {
    (number + 0.0).to_bits()
}

/// The only values of a property that a member admits.
struct Keys {
    literals: Vec<Literal>,
    may_be_missing: bool,
}

fn by_property(nodes: &[Node], members: &[&Node]) -> Option<(Option<Box<str>>, Table)> {
    let mut votes: HashMap<&str, usize> = HashMap::new();
    let properties = members.iter().filter_map(|node| flat(node)).flat_map(|flat| flat.properties.values());
    for property in properties {
        if keys(nodes, property).is_some() {
            *votes.entry(&property.name).or_default() += 1;
        }
    }
    // The name that most members agree on; of several, always the same one.
    let best = votes.into_iter().filter(|(_, votes)| *votes > 1).max_by_key(|(name, votes)| (*votes, *name));
    let name = best.map(|(name, _)| name);
    let keyed: Vec<(usize, Option<Keys>)> = members
        .iter()
        .enumerate()
        .filter(|(_, node)| may_be_object(node))
        .map(|(at, node)| {
            let property = flat(node).zip(name).and_then(|(flat, name)| flat.properties.get(name));
            (at, property.and_then(|property| keys(nodes, property)))
        })
        .collect();
    let is_choice = name.is_some() || keyed.len() < members.len();
    is_choice.then(|| (name.map(Box::from), Table::new(&keyed)))
}

fn by_text(members: &[&Node]) -> Option<Table> {
    let texts = members.iter().filter(|node| matches!(node, Node::Literal(Literal::String(_)))).count();
    if texts < MANY_TEXTS {
        return None;
    }
    let keyed: Vec<(usize, Option<Keys>)> = members
        .iter()
        .enumerate()
        .map(|(at, node)| match node {
            Node::Literal(literal) => (at, Some(Keys { literals: vec![literal.clone()], may_be_missing: false })),
            _ => (at, None),
        })
        .collect();
    Some(Table::new(&keyed))
}

fn flat(node: &Node) -> Option<&Flat> {
    match node {
        Node::Interface(interface) => Some(&interface.flat),
        Node::Mapped(mapped) => Some(&mapped.flat),
        _ => None,
    }
}

fn may_be_object(node: &Node) -> bool {
    !matches!(
        node,
        Node::Boolean
            | Node::Number(_)
            | Node::String
            | Node::Date
            | Node::Buffer(_)
            | Node::Literal(_)
            | Node::Enum(_)
            | Node::Array(_)
            | Node::Tuple { .. }
    )
}

/// The literals that a property admits; `None` where it admits others.
fn keys(nodes: &[Node], property: &PropertySlot) -> Option<Keys> {
    let literals = match &nodes[property.slot.node.index()] {
        Node::Literal(literal) => vec![literal.clone()],
        Node::Enum(members) => members
            .iter()
            .filter_map(|member| match &member.value {
                EnumValue::Number(number) => Some(Literal::Number(*number)),
                EnumValue::String(text) => Some(Literal::String(text.clone())),
                EnumValue::Null => None,
            })
            .collect(),
        Node::Union(members) => members
            .iter()
            .map(|member| match &nodes[member.slot.node.index()] {
                Node::Literal(literal) => Some(literal.clone()),
                _ => None,
            })
            .collect::<Option<_>>()?,
        _ => return None,
    };
    let resolved = property.slot.resolved;
    Some(Keys { literals, may_be_missing: property.optional || resolved.null || resolved.undefined })
}
