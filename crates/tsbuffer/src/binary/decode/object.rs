//! Reading interfaces and mapped types (reference §5.5, §5.7).
//!
//! Depends on the parent module. Blocks may come in any order, also repeatedly;
//! those that the type does not know are skipped.

use polywire_schema::{InterfaceNode, MappedNode, Mapping, Node, NodeId, Object, Value};

use super::{
    Decoder,
    merge::{Depth, assign},
};
use crate::{
    binary::LengthType,
    error::DecodeError,
    layout::{Block, Fill, InterfaceLayout, Shape},
};

impl Decoder<'_, '_> {
    /// An interface or mapped type.
    pub(super) fn read_object(&mut self, node: NodeId) -> Result<Object, DecodeError> {
        match self.program.node(node) {
            Node::Interface(interface) => self.read_interface(node, interface),
            Node::Mapped(mapped) => self.read_mapped(mapped),
            Node::Invalid(error) => Err(DecodeError::Schema(Box::new(error.clone()))),
            _ => Err(DecodeError::NotAnObjectType),
        }
    }

    fn read_mapped(&mut self, mapped: &MappedNode) -> Result<Object, DecodeError> {
        self.enter_type()?;
        let above = match mapped.mapping {
            Mapping::Overwrite(overwrite) => Some(self.read_object(overwrite)?),
            _ => None,
        };
        let mut object = self.read_object(mapped.target)?;
        self.leave_type();
        match &mapped.mapping {
            Mapping::Pick(keys) => object.retain(|key| keys.iter().any(|kept| &**kept == key)),
            Mapping::Omit(keys) => object.retain(|key| !keys.iter().any(|dropped| &**dropped == key)),
            Mapping::Partial | Mapping::Overwrite(_) => {}
        }
        object.extend(above.into_iter().flatten());
        Ok(object)
    }

    fn read_interface(&mut self, node: NodeId, interface: &InterfaceNode) -> Result<Object, DecodeError> {
        let Shape::Interface(layout) = &self.layout.node(node).shape else {
            unreachable!("the layout of an interface: {:?}", self.layout.node(node).shape)
        };
        self.enter_type()?;
        let mut object = Object::new();
        for _ in 0..self.reader.read_varint()? {
            let tag = self.reader.read_tag()?;
            if tag.id == 0 {
                self.read_index_entry(layout, tag.length_type, &mut object)?;
                continue;
            }
            let Ok(at) = layout.blocks.binary_search_by_key(&tag.id, |(id, _)| *id) else {
                self.reader.skip(tag.length_type)?;
                continue;
            };
            match layout.blocks[at].1 {
                Block::Base(at) => {
                    let base = interface.bases[at].node;
                    if self.layout.node(base).prefixed {
                        self.reader.skip(LengthType::Varint)?;
                    }
                    let part = self.read_object(base)?;
                    assign(&mut object, part, Depth::Shallow);
                }
                Block::Property(at) => {
                    let property = &interface.properties[at];
                    let value = self.read_framed(property.slot.node)?;
                    set(&mut object, &property.name, value);
                }
            }
        }
        self.leave_type();
        self.fill(layout, &mut object);
        Ok(object)
    }

    fn read_index_entry(
        &mut self,
        layout: &InterfaceLayout,
        length_type: LengthType,
        object: &mut Object,
    ) -> Result<(), DecodeError> {
        let Some((index, _)) = &layout.index else {
            self.reader.skip(LengthType::LengthDelimited)?;
            return Ok(self.reader.skip(length_type)?);
        };
        let key = self.reader.read_str()?;
        let value = self.read_framed(index.slot.node)?;
        set(object, &key, value);
        Ok(())
    }

    /// Adds what is never written, or not always, to what was read.
    fn fill(&self, layout: &InterfaceLayout, object: &mut Object) {
        for (name, fill) in &layout.fills {
            if object.contains_key(name) {
                continue;
            }
            match fill {
                Fill::Literal(literal) => object.set(&**name, literal.clone()),
                Fill::Null if !self.strict_null_checks => object.set(&**name, Value::Null),
                Fill::Null => {}
            }
        }
    }
}

/// Sets a property, except the one that would change the prototype of a JavaScript object.
fn set(object: &mut Object, key: &str, value: Value) {
    if key != "__proto__" {
        object.set(key, value);
    }
}
