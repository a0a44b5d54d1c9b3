//! Reading interfaces and mapped types (reference §5.5, §5.7).
//!
//! Depends on the parent module. Blocks may come in any order, also repeatedly;
//! those that the type does not know are skipped.

use polywire_schema::{InterfaceNode, MappedNode, Mapping, Node, NodeId, Object, PropertySlot, Value};

use super::{
    Decoder, Failed,
    merge::{Depth, assign},
};
use crate::{
    binary::LengthType,
    error::DecodeError,
    layout::{Block, Fill, InterfaceLayout, Shape},
};

impl Decoder<'_, '_> {
    /// An interface or mapped type.
    pub(super) fn read_object(&mut self, node: NodeId) -> Result<Object, Failed> {
        match self.program.node(node) {
            Node::Interface(interface) => self.read_interface(node, interface),
            Node::Mapped(mapped) => self.read_mapped(mapped),
            Node::Invalid(error) => Err(DecodeError::Schema(Box::new(error.clone())).into()),
            _ => Err(DecodeError::NotAnObjectType.into()),
        }
    }

    fn read_mapped(&mut self, mapped: &MappedNode) -> Result<Object, Failed> {
        self.enter_type()?;
        let above = match mapped.mapping {
            Mapping::Overwrite(overwrite) => Some(self.read_object(overwrite)?),
            _ => None,
        };
        let object = self.read_object(mapped.target)?;
        self.leave_type();
        Ok(map(mapped, object, above))
    }

    fn read_interface(&mut self, node: NodeId, interface: &InterfaceNode) -> Result<Object, Failed> {
        let Shape::Interface(layout) = &self.layout.node(node).shape else {
            unreachable!("the layout of an interface: {:?}", self.layout.node(node).shape)
        };
        self.enter_type()?;
        let mut object = Object::new();
        for _ in 0..self.reader.read_varint()? {
            self.read_block(interface, layout, &mut object)?;
        }
        self.leave_type();
        self.fill(layout, &mut object);
        Ok(object)
    }

    fn read_block(
        &mut self,
        interface: &InterfaceNode,
        layout: &InterfaceLayout,
        object: &mut Object,
    ) -> Result<(), Failed> {
        let tag = self.reader.read_tag()?;
        if tag.id == 0 {
            return self.read_index_entry(layout, tag.length_type, object);
        }
        let Ok(at) = layout.blocks.binary_search_by_key(&tag.id, |(id, _)| *id) else {
            return Ok(self.reader.skip(tag.length_type)?);
        };
        match layout.blocks[at].1 {
            Block::Base(at) => self.read_base(interface.bases[at].node, object),
            Block::Property(at) => self.read_property(&interface.properties[at], object),
        }
    }

    fn read_base(&mut self, base: NodeId, object: &mut Object) -> Result<(), Failed> {
        if self.layout.node(base).prefixed {
            self.reader.skip(LengthType::Varint)?;
        }
        let part = self.read_object(base)?;
        assign(object, part, Depth::Shallow);
        Ok(())
    }

    fn read_property(&mut self, property: &PropertySlot, object: &mut Object) -> Result<(), Failed> {
        let value = self.read_framed(property.slot.node)?;
        set(object, &property.name, value);
        Ok(())
    }

    fn read_index_entry(
        &mut self,
        layout: &InterfaceLayout,
        length_type: LengthType,
        object: &mut Object,
    ) -> Result<(), Failed> {
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

/// What a mapped type makes of an object of its target, and of one that overwrites it.
fn map(mapped: &MappedNode, mut object: Object, above: Option<Object>) -> Object {
    match &mapped.mapping {
        Mapping::Pick(keys) => object.retain(|key| keys.iter().any(|kept| &**kept == key)),
        Mapping::Omit(keys) => object.retain(|key| !keys.iter().any(|dropped| &**dropped == key)),
        Mapping::Partial | Mapping::Overwrite(_) => {}
    }
    object.extend(above.into_iter().flatten());
    object
}

/// Sets a property, except the one that would change the prototype of a JavaScript object.
fn set(object: &mut Object, key: &str, value: Value) {
    if key != "__proto__" {
        object.set(key, value);
    }
}
