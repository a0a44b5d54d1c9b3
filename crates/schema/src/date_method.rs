//! The property that every `Date` has in the published package.
//!
//! One of its libraries adds a method `format` to `Date.prototype`, and an index
//! signature looks at inherited properties too. So a `Date` is refused where an
//! index signature declares what its values are. That is as it should be, and
//! peers see the text; it is kept.

use crate::{
    Node, NodeId, ValidationErrorKind as Kind, Value,
    mode::Mode,
    validate::{Check, Checked},
};

/// The name of the method.
pub(crate) const FORMAT: &str = "format";

impl<M: Mode> Check<'_, M> {
    /// Checks the method against the type of an index signature.
    pub(crate) fn method(&mut self, id: NodeId) -> Checked<M> {
        let expected = match self.program.node(id) {
            Node::Any => return Ok(()),
            Node::NonNullable(target) => return self.method(target.node),
            Node::Intersection(members) => return members.iter().try_for_each(|member| self.method(member.slot.node)),
            Node::Union(members) => {
                let mut errors = Vec::new();
                for member in members.iter() {
                    match self.method(member.slot.node) {
                        Ok(()) => return Ok(()),
                        Err(error) => errors.push(error),
                    }
                }
                return Err(self.mode.refuse_union(&Value::Undefined, "function", errors));
            }
            Node::Literal(literal) => {
                // `JSON.stringify` has no text for a function.
                let kind = |_: &mut _| Kind::WrongLiteral { expected: literal.clone(), found: "undefined".into() };
                return Err(self.mode.refuse(kind));
            }
            Node::Custom(custom) => {
                let refused = custom.validate(&Value::Undefined);
                return refused.map_err(|text| self.mode.refuse(|_| Kind::Custom { text }));
            }
            Node::Invalid(error) => return Err(self.mode.refuse(|_| Kind::Schema(error.clone()))),
            Node::Boolean => "boolean",
            Node::Number(scalar) if scalar.is_big() => "bigint",
            Node::Number(_) => "number",
            Node::String => "string",
            Node::Date => "Date",
            Node::Buffer(kind) => kind.name(),
            Node::Enum(_) => "string | number",
            Node::Array(_) | Node::Tuple { .. } => "Array",
            Node::Object | Node::Interface(_) | Node::Mapped(_) => "Object",
        };
        Err(self.mode.refuse(|_| Kind::WrongType { expected: expected.into(), found: "function" }))
    }
}
