//! Whether the types in force are those that a codec was specialised for.
//!
//! Depends on compiled programs only. A service proto may have been written by
//! other hands than the Rust types, or may keep the ids of an older one; what
//! differs takes the dynamic path.

use std::collections::HashSet;

use polywire_schema::{
    CompileOptions, EnumMember, Flat, IndexSlot, InterfaceNode, Mapping, MemberSlot, Node, NodeId, ObjectIdClass,
    Program, PropertySlot, Registry, Scalar, Schema, Slot,
};

/// How far the types in force agree with those of a Rust type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// They are other types: everything takes the dynamic path.
    None,
    /// They differ in ids only: JSON, which has none, takes the fast path.
    ExceptIds,
    /// They are the same: both forms take the fast path.
    Full,
}

impl Agreement {
    /// Compares what a Rust type describes with a type of a program.
    #[must_use]
    pub fn of<T: Schema>(program: &Program, slot: Slot) -> Self {
        let mut types = Registry::default();
        let ty = T::describe(&mut types);
        let (derived, own) = Program::compile_type(&ty, types.types(), &CompileOptions::default());
        let mut comparison = Comparison { derived: &derived, program, assumed: HashSet::new() };
        comparison.nodes(own.node, slot.node)
    }

    fn when(condition: bool) -> Self {
        if condition { Self::Full } else { Self::None }
    }

    fn of_ids(derived: u32, program: u32) -> Self {
        if derived == program { Self::Full } else { Self::ExceptIds }
    }
}

/// A comparison that is going on.
struct Comparison<'p> {
    derived: &'p Program,
    program: &'p Program,
    /// What is being compared or has been: types may contain themselves.
    assumed: HashSet<(NodeId, NodeId)>,
}

impl<'p> Comparison<'p> {
    fn slots(&mut self, derived: Slot, program: Slot) -> Agreement {
        // What is written of null and undefined depends on how the type is written.
        let views = |slot: Slot| (slot.written, slot.resolved, slot.any, slot.codable);
        if views(derived) != views(program) {
            return Agreement::None;
        }
        self.nodes(derived.node, program.node)
    }

    fn nodes(&mut self, derived: NodeId, program: NodeId) -> Agreement {
        if !self.assumed.insert((derived, program)) {
            // What it turns out to be lowers the whole anyway.
            return Agreement::Full;
        }
        match (self.derived.node(derived), self.program.node(program)) {
            (Node::Any, Node::Any)
            | (Node::Boolean, Node::Boolean)
            | (Node::String, Node::String)
            | (Node::Date, Node::Date)
            | (Node::Object, Node::Object) => Agreement::Full,
            (Node::Number(derived), Node::Number(program)) => Agreement::when(scalar(*derived) == scalar(*program)),
            (Node::Buffer(derived), Node::Buffer(program)) => Agreement::when(derived == program),
            (Node::Literal(derived), Node::Literal(program)) => Agreement::when(derived == program),
            (Node::Enum(derived), Node::Enum(program)) => enums(derived, program),
            (Node::Array(derived), Node::Array(program)) => self.slots(*derived, *program),
            (
                Node::Tuple { elements: derived, optional_from: derived_from },
                Node::Tuple { elements: program, optional_from: program_from },
            ) => {
                let same = derived_from == program_from && derived.len() == program.len();
                let pairs = derived.iter().zip(program);
                pairs.fold(Agreement::when(same), |all, (derived, program)| all.min(self.slots(*derived, *program)))
            }
            (Node::Interface(derived), Node::Interface(program)) => self.interfaces(derived, program),
            (Node::Interface(own), Node::Mapped(mapped)) => match (plain(own), self.mapped(program)) {
                (Some(own), Some(properties)) => {
                    // In JSON, the properties are in the order of the mapped type.
                    let same_order = own.iter().map(|property| &property.name).eq(mapped.flat.properties.keys());
                    Agreement::when(same_order).min(self.properties(&own, &properties))
                }
                _ => Agreement::None,
            },
            (Node::Union(derived), Node::Union(program))
            | (Node::Intersection(derived), Node::Intersection(program)) => self.members(derived, program),
            (_, Node::NonNullable(target)) if target.resolved == Default::default() && !target.any => {
                self.nodes(derived, target.node)
            }
            (Node::Custom(derived), Node::Custom(program)) => Agreement::when(
                derived.object_id_class() == Some(ObjectIdClass::Class)
                    && program.object_id_class() == Some(ObjectIdClass::Class),
            ),
            _ => Agreement::None,
        }
    }

    fn interfaces(&mut self, derived: &InterfaceNode, program: &InterfaceNode) -> Agreement {
        let mut all = Agreement::when(derived.bases.len() == program.bases.len());
        for (derived, program) in derived.bases.iter().zip(&program.bases) {
            all = all.min(Agreement::of_ids(derived.id, program.id)).min(self.nodes(derived.node, program.node));
        }
        all = all.min(self.properties(&derived.properties, &program.properties));
        all.min(match (&derived.index, &program.index) {
            (None, None) => Agreement::Full,
            (Some(derived), Some(program)) => self.indices(derived, program),
            _ => Agreement::None,
        })
    }

    fn indices(&mut self, derived: &IndexSlot, program: &IndexSlot) -> Agreement {
        Agreement::when(derived.key == program.key).min(self.slots(derived.slot, program.slot))
    }

    fn properties(&mut self, derived: &[PropertySlot], program: &[PropertySlot]) -> Agreement {
        let mut all = Agreement::when(derived.len() == program.len());
        for (derived, program) in derived.iter().zip(program) {
            let same = derived.name == program.name && derived.optional == program.optional;
            all = all.min(Agreement::when(same)).min(Agreement::of_ids(derived.id, program.id));
            all = all.min(self.slots(derived.slot, program.slot));
        }
        all
    }

    fn members(&mut self, derived: &[MemberSlot], program: &[MemberSlot]) -> Agreement {
        let mut all = Agreement::when(derived.len() == program.len());
        for (derived, program) in derived.iter().zip(program) {
            all = all.min(Agreement::of_ids(derived.id, program.id)).min(self.slots(derived.slot, program.slot));
        }
        all
    }

    /// The properties of a mapped type over an interface without bases: on the wire it is
    /// an interface with these, in this order and with these ids.
    fn mapped(&self, id: NodeId) -> Option<Vec<PropertySlot>> {
        match self.program.node(id) {
            Node::Interface(interface) => plain(interface),
            Node::Mapped(mapped) => {
                let mut properties = self.mapped(mapped.target)?;
                match &mapped.mapping {
                    Mapping::Pick(keys) => properties.retain(|property| keys.contains(&property.name)),
                    Mapping::Omit(keys) => properties.retain(|property| !keys.contains(&property.name)),
                    Mapping::Partial => properties.iter_mut().for_each(|property| property.optional = true),
                    Mapping::Overwrite(_) => return None,
                }
                Some(properties)
            }
            _ => None,
        }
    }
}

/// The properties of an interface that has nothing else, and whose JSON has them in this order.
fn plain(interface: &InterfaceNode) -> Option<Vec<PropertySlot>> {
    let InterfaceNode { bases, properties, index: None, flat: Flat { properties: flat, index: None } } = interface
    else {
        return None;
    };
    let same_order = properties.iter().map(|property| &property.name).eq(flat.keys());
    (bases.is_empty() && same_order).then(|| properties.clone())
}

fn scalar(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::ExplicitDouble => Scalar::Double,
        other => other,
    }
}

fn enums(derived: &[EnumMember], program: &[EnumMember]) -> Agreement {
    let mut all = Agreement::when(derived.len() == program.len());
    for (derived, program) in derived.iter().zip(program) {
        all = all.min(Agreement::when(derived.value == program.value)).min(Agreement::of_ids(derived.id, program.id));
    }
    all
}

#[cfg(test)]
mod tests {
    use polywire_schema::{DateTime, Nullable, ObjectId, Value, types_from_json};

    use super::*;

    /// Compares a Rust type with the type `x` of a set.
    fn check<T: Schema>(types: &str, expected: Agreement) {
        check_with::<T>(types, &CompileOptions::default(), expected);
    }

    fn check_with<T: Schema>(types: &str, options: &CompileOptions, expected: Agreement) {
        let types = types_from_json(&Value::parse_json(types).unwrap()).unwrap();
        let program = Program::compile(&types, options);
        let x = program.root("x").unwrap();
        assert_eq!(Agreement::of::<T>(&program, x), expected, "{types:?}");
    }

    #[test]
    fn kinds_and_scalars_must_be_the_same() {
        check::<String>(r#"{"x": {"type": "String"}}"#, Agreement::Full);
        check::<String>(r#"{"x": {"type": "Date"}}"#, Agreement::None);
        check::<DateTime>(r#"{"x": {"type": "Reference", "target": "y"}, "y": {"type": "Date"}}"#, Agreement::Full);
        check::<f64>(r#"{"x": {"type": "Number", "scalarType": "double"}}"#, Agreement::Full);
        check::<u8>(r#"{"x": {"type": "Number", "scalarType": "int"}}"#, Agreement::None);
        check::<Vec<u32>>(
            r#"{"x": {"type": "Array", "elementType": {"type": "Number", "scalarType": "uint"}}}"#,
            Agreement::Full,
        );
    }

    #[test]
    fn null_must_be_written_the_same_way() {
        let inline = r#"{"type": "Union", "members": [
            {"id": 0, "type": {"type": "String"}}, {"id": 1, "type": {"type": "Literal", "literal": null}}]}"#;
        check::<Vec<Nullable<String>>>(
            &format!(r#"{{"x": {{"type": "Array", "elementType": {inline}}}}}"#),
            Agreement::Full,
        );
        check::<Vec<Nullable<String>>>(
            &format!(
                r#"{{"x": {{"type": "Array", "elementType": {{"type": "Reference", "target": "n"}}}}, "n": {inline}}}"#
            ),
            Agreement::None,
        );
    }

    #[test]
    fn other_ids_leave_json_as_it_is() {
        let union = |id| {
            format!(
                r#"{{"x": {{"type": "Union", "members": [{{"id": {id}, "type": {{"type": "String"}}}},
                    {{"id": 9, "type": {{"type": "Literal", "literal": null}}}}]}}}}"#
            )
        };
        check::<Nullable<String>>(&union(0), Agreement::ExceptIds);
        check::<Nullable<f64>>(&union(0), Agreement::None);
    }

    #[test]
    fn an_object_id_that_is_configured_to_be_a_string_is_another_type() {
        let types = r#"{"x": {"type": "Reference", "target": "?bson/ObjectID"}}"#;
        check::<ObjectId>(types, Agreement::Full);
        let options = CompileOptions { object_id: ObjectIdClass::String, ..CompileOptions::default() };
        check_with::<ObjectId>(types, &options, Agreement::None);
    }
}
