//! Which types of a program have a JSON form that differs from their values.
//!
//! Depends on the program only. Computed once for a program, so that values of
//! other types are passed through without a look at them.

use polywire_schema::{Node, NodeId, Program};

/// For each node, whether a value of it may hold something to convert.
#[derive(Debug)]
pub(crate) struct JsonPlan {
    converts: Box<[bool]>,
}

impl JsonPlan {
    pub(crate) fn new(program: &Program) -> Self {
        let nodes = program.nodes();
        let mut parents: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (parent, node) in nodes.iter().enumerate() {
            for_each_part(node, |part| parents[part.index()].push(parent));
        }
        let mut converts: Box<[bool]> = nodes.iter().map(is_converted).collect();
        let mut found: Vec<usize> = (0..nodes.len()).filter(|at| converts[*at]).collect();
        while let Some(at) = found.pop() {
            for parent in std::mem::take(&mut parents[at]) {
                if !std::mem::replace(&mut converts[parent], true) {
                    found.push(parent);
                }
            }
        }
        Self { converts }
    }

    /// Whether a value of the type may hold a date, bytes or something of a custom type.
    pub(super) fn converts(&self, id: NodeId) -> bool {
        self.converts[id.index()]
    }
}

fn is_converted(node: &Node) -> bool {
    matches!(node, Node::Date | Node::Buffer(_) | Node::Custom(_))
}

/// The types of what stands in a value of a type.
fn for_each_part(node: &Node, mut visit: impl FnMut(NodeId)) {
    let flat = match node {
        Node::Array(slot) | Node::NonNullable(slot) => return visit(slot.node),
        Node::Tuple { elements, .. } => return elements.iter().for_each(|slot| visit(slot.node)),
        Node::Union(members) | Node::Intersection(members) => {
            return members.iter().for_each(|member| visit(member.slot.node));
        }
        Node::Interface(interface) => &interface.flat,
        Node::Mapped(mapped) => &mapped.flat,
        _ => return,
    };
    flat.properties.values().for_each(|property| visit(property.slot.node));
    flat.index.iter().for_each(|index| visit(index.slot.node));
}
