//! Writing interfaces and mapped types (reference §5.5, §5.7).
//!
//! Depends on the parent module. Blocks are written in schema order; the count
//! in front is filled in afterwards.

use std::borrow::Cow;

use polywire_schema::{
    Flat, InterfaceNode, MappedNode, Mapping, Node, NodeId, Object, PropertySlot, Value, array_index, own_properties,
};

use super::{
    Encoder, Failed, UNDEFINED, mismatch,
    skip::{Filter, Keep, Skip, Writers},
};
use crate::{
    binary::{MAX_BASES, Placeholder, write_length_prefixed, write_str},
    error::EncodeError,
    layout::{Frame, InterfaceLayout, Name, PropertyLayout, Shape, Written},
};

/// What an object type is written with.
struct Scope<'s> {
    skip: &'s mut Skip,
    filter: Option<&'s Filter<'s>>,
    /// What else there is to know for entries of index signatures.
    overwriting: Option<&'s Overwriting<'s>>,
    index: IndexEntries,
}

/// The overwriting side of an `Overwrite`, from the inside out.
///
/// The published encoder copies what it writes there into an object of its own:
/// the declared properties first, then what an index signature takes, which is
/// what the target does not declare.
struct Overwriting<'s> {
    flat: &'s Flat,
    /// What the target declares and this side does not. Sorted.
    left_to_target: &'s [Name],
    outer: Option<&'s Overwriting<'s>>,
}

impl Overwriting<'_> {
    fn leaves(&self, name: Name) -> bool {
        self.left_to_target.binary_search(&name).is_ok() || self.outer.is_some_and(|outer| outer.leaves(name))
    }

    /// Brings properties into the order of the copy. They come in JavaScript's order.
    fn sort(&self, entries: &mut [(&str, &Value)]) {
        if let Some(outer) = self.outer {
            outer.sort(entries);
        }
        entries.sort_by_key(|(key, _)| match array_index(key) {
            Some(index) => (0, index as usize),
            None => self.flat.properties.get_index_of(*key).map_or((2, 0), |at| (1, at)),
        });
    }
}

impl Scope<'_> {
    fn reborrow(&mut self) -> Scope<'_> {
        Scope { skip: self.skip, ..*self }
    }
}

/// Whether entries of index signatures are written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndexEntries {
    Write,
    /// An interface around has a signature of its own.
    LeaveToOuter,
}

/// Whether an object type has written any block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blocks {
    None,
    Some,
}

impl<'p, 'v> Encoder<'p, 'v> {
    /// An interface or mapped type.
    pub(super) fn write_object(
        &mut self,
        out: &mut Vec<u8>,
        node: NodeId,
        value: &'v Value,
        skip: Option<&mut Skip>,
    ) -> Result<(), Failed> {
        match own_properties(value) {
            Some(Cow::Borrowed(object)) => self.write_properties(out, node, object, skip),
            Some(Cow::Owned(object)) => self.detached().write_properties(out, node, &object, skip),
            None => Err(mismatch("Object", value)),
        }
    }

    /// The same place, for values that are made here and do not stay.
    fn detached<'t>(&self) -> Encoder<'p, 't>
    where
        'v: 't,
    {
        let mut encoder = Encoder::new(self.program, self.layout, self.strict_null_checks, self.root);
        (encoder.depth, encoder.frames) = (self.depth, self.frames);
        encoder
    }

    fn write_properties(
        &mut self,
        out: &mut Vec<u8>,
        node: NodeId,
        object: &'v Object,
        skip: Option<&mut Skip>,
    ) -> Result<(), Failed> {
        self.enter_value()?;
        if let (None, Shape::Interface(layout)) = (&skip, &self.layout.node(node).shape)
            && layout.is_plain
        {
            return self.write_plain(out, node, layout, object);
        }
        self.write_shared(out, node, object, skip)
    }

    /// An object that several types may describe.
    fn write_shared(
        &mut self,
        out: &mut Vec<u8>,
        node: NodeId,
        object: &'v Object,
        skip: Option<&mut Skip>,
    ) -> Result<(), Failed> {
        let mut own: Option<Box<Skip>> = None;
        let skip = skip.unwrap_or_else(|| own.insert(self.new_skip(self.writers(node))));
        let scope = Scope { skip, filter: None, overwriting: None, index: IndexEntries::Write };
        self.write_scoped(out, node, object, scope)?;
        self.spare.extend(own);
        self.leave_value();
        Ok(())
    }

    fn writers(&self, node: NodeId) -> Writers {
        match self.program.node(node) {
            Node::Interface(interface) if interface.bases.is_empty() => Writers::One,
            _ => Writers::Several,
        }
    }

    /// An interface of own properties only, which nobody else describes.
    fn write_plain(
        &mut self,
        out: &mut Vec<u8>,
        node: NodeId,
        layout: &InterfaceLayout,
        object: &'v Object,
    ) -> Result<(), Failed> {
        let count = Placeholder::reserve(out);
        let mut blocks = 0;
        for (property, layout) in self.interface(node).properties.iter().zip(&layout.properties) {
            let value = object.get(&property.name).unwrap_or(&UNDEFINED);
            if layout.written != Written::Value || self.is_absent(value, property.slot.codable.null) {
                continue;
            }
            self.write_framed(out, &layout.frame, property.slot.node, value, None)?;
            blocks += 1;
        }
        count.fill(out, blocks);
        self.leave_value();
        Ok(())
    }

    fn write_scoped(
        &mut self,
        out: &mut Vec<u8>,
        node: NodeId,
        object: &'v Object,
        scope: Scope<'_>,
    ) -> Result<Blocks, Failed> {
        match self.program.node(node) {
            Node::Interface(interface) => self.write_interface(out, node, interface, object, scope),
            Node::Mapped(mapped) => self.write_mapped(out, node, mapped, object, scope),
            Node::Invalid(error) => Err(EncodeError::Schema(Box::new(error.clone())).into()),
            _ => Err(EncodeError::NotAnObjectType.into()),
        }
    }

    fn write_mapped(
        &mut self,
        out: &mut Vec<u8>,
        node: NodeId,
        mapped: &'p MappedNode,
        object: &'v Object,
        mut scope: Scope<'_>,
    ) -> Result<Blocks, Failed> {
        let Shape::Mapped(keys) = &self.layout.node(node).shape else {
            return Err(EncodeError::NotAnObjectType.into());
        };
        let filter = |keep| Filter { keys, keep, outer: scope.filter };
        match &mapped.mapping {
            Mapping::Partial => self.descend(out, mapped.target, object, scope),
            Mapping::Pick(_) => {
                let filter = filter(Keep::Named);
                self.descend(out, mapped.target, object, Scope { filter: Some(&filter), ..scope })
            }
            Mapping::Omit(_) => {
                let filter = filter(Keep::Others);
                self.descend(out, mapped.target, object, Scope { filter: Some(&filter), ..scope })
            }
            Mapping::Overwrite(overwrite) => {
                let Some(flat) = self.program.flat(*overwrite) else { return Err(EncodeError::NotAnObjectType.into()) };
                let overwriting = Overwriting { flat, left_to_target: keys, outer: scope.overwriting };
                let side = Scope { overwriting: Some(&overwriting), ..scope.reborrow() };
                let above = self.descend(out, *overwrite, object, side)?;
                let below = self.descend(out, mapped.target, object, scope)?;
                Ok(if above == Blocks::None { below } else { above })
            }
        }
    }

    fn descend(
        &mut self,
        out: &mut Vec<u8>,
        node: NodeId,
        object: &'v Object,
        scope: Scope<'_>,
    ) -> Result<Blocks, Failed> {
        self.enter_type()?;
        let blocks = self.write_scoped(out, node, object, scope)?;
        self.leave_type();
        Ok(blocks)
    }

    fn write_interface(
        &mut self,
        out: &mut Vec<u8>,
        node: NodeId,
        interface: &'p InterfaceNode,
        object: &'v Object,
        mut scope: Scope<'_>,
    ) -> Result<Blocks, Failed> {
        if interface.bases.len() > MAX_BASES {
            return Err(EncodeError::TooManyBases(interface.bases.len()).into());
        }
        let layout = self.interface_layout(node);
        let count = Placeholder::reserve(out);
        let mut blocks = self.write_bases(out, interface, layout, object, scope.reborrow())?;
        blocks += self.write_own(out, interface, layout, object, &mut scope)?;
        if scope.index == IndexEntries::Write {
            blocks += self.write_index_entries(out, layout, object, &mut scope)?;
        }
        count.fill(out, blocks);
        Ok(if blocks == 0 { Blocks::None } else { Blocks::Some })
    }

    /// The number of bases written.
    fn write_bases(
        &mut self,
        out: &mut Vec<u8>,
        interface: &'p InterfaceNode,
        layout: &InterfaceLayout,
        object: &'v Object,
        mut scope: Scope<'_>,
    ) -> Result<u64, Failed> {
        if interface.index.is_some() {
            scope.index = IndexEntries::LeaveToOuter;
        }
        let mut blocks = 0;
        for (base, frame) in interface.bases.iter().zip(&layout.bases) {
            let start = out.len();
            // A base with nothing to say is left out.
            if self.write_base(out, frame, base.node, object, scope.reborrow())? == Blocks::None {
                out.truncate(start);
            } else {
                blocks += 1;
            }
        }
        Ok(blocks)
    }

    /// The number of own properties written.
    fn write_own(
        &mut self,
        out: &mut Vec<u8>,
        interface: &'p InterfaceNode,
        layout: &InterfaceLayout,
        object: &'v Object,
        scope: &mut Scope<'_>,
    ) -> Result<u64, Failed> {
        let mut blocks = 0;
        for (property, layout) in interface.properties.iter().zip(&layout.properties) {
            if let Some(value) = self.next_property(property, layout, object, scope) {
                self.write_framed(out, &layout.frame, property.slot.node, value, None)?;
                blocks += 1;
            }
        }
        Ok(blocks)
    }

    /// The value of a property that is to be written here.
    fn next_property(
        &self,
        property: &PropertySlot,
        layout: &PropertyLayout,
        object: &'v Object,
        scope: &mut Scope<'_>,
    ) -> Option<&'v Value> {
        if scope.filter.is_some_and(|filter| !filter.admits(Some(layout.name))) {
            return None;
        }
        if layout.written != Written::Value {
            scope.skip.insert(layout.name);
            return None;
        }
        let value = object.get(&property.name).unwrap_or(&UNDEFINED);
        let is_new = !self.is_absent(value, property.slot.codable.null) && scope.skip.insert(layout.name);
        is_new.then_some(value)
    }

    /// The number of entries written.
    fn write_index_entries(
        &mut self,
        out: &mut Vec<u8>,
        layout: &InterfaceLayout,
        object: &'v Object,
        scope: &mut Scope<'_>,
    ) -> Result<u64, Failed> {
        let Some((index, frame)) = &layout.index else { return Ok(0) };
        let mut entries: Vec<(&str, &Value)> = Vec::new();
        let mut properties = object.iter();
        let properties: &mut dyn Iterator<Item = (&str, &Value)> = match scope.overwriting {
            None => &mut properties,
            Some(overwriting) => {
                entries.extend(properties);
                overwriting.sort(&mut entries);
                &mut entries.into_iter()
            }
        };
        let mut written = 0;
        for (key, value) in properties {
            if key == "__proto__" || self.is_absent(value, index.slot.codable.null) {
                continue;
            }
            let name = self.layout.names.get(key);
            if scope.filter.is_some_and(|filter| !filter.admits(name)) {
                continue;
            }
            if name.zip(scope.overwriting).is_some_and(|(name, overwriting)| overwriting.leaves(name)) {
                continue;
            }
            let is_new = match name {
                Some(name) => scope.skip.insert(name),
                None => scope.skip.insert_unnamed(key),
            };
            if !is_new {
                continue;
            }
            out.extend_from_slice(frame.tag.as_bytes());
            if frame.prefixed {
                self.write_prefixed_entry(out, key, index.slot.node, value)?;
            } else {
                write_str(out, key);
                self.write(out, index.slot.node, value)?;
            }
            written += 1;
        }
        Ok(written)
    }

    /// The length behind the key counts the key too, as the published encoder has it.
    fn write_prefixed_entry(
        &mut self,
        out: &mut Vec<u8>,
        key: &str,
        node: NodeId,
        value: &'v Value,
    ) -> Result<(), Failed> {
        let start = out.len();
        write_str(out, key);
        let key_length = out.len() - start;
        let length = Placeholder::reserve(out);
        let start = out.len();
        self.write(out, node, value)?;
        let payload_length = out.len() - start;
        length.fill(out, (key_length + payload_length) as u64);
        Ok(())
    }

    fn write_base(
        &mut self,
        out: &mut Vec<u8>,
        frame: &Frame,
        node: NodeId,
        object: &'v Object,
        scope: Scope<'_>,
    ) -> Result<Blocks, Failed> {
        out.extend_from_slice(frame.tag.as_bytes());
        if frame.prefixed {
            write_length_prefixed(out, |out| self.descend(out, node, object, scope))
        } else {
            self.descend(out, node, object, scope)
        }
    }

    fn interface(&self, node: NodeId) -> &'p InterfaceNode {
        match self.program.node(node) {
            Node::Interface(interface) => interface,
            other => unreachable!("an interface layout belongs to {other:?}"),
        }
    }

    fn interface_layout(&self, node: NodeId) -> &'p InterfaceLayout {
        match &self.layout.node(node).shape {
            Shape::Interface(layout) => layout,
            other => unreachable!("the layout of an interface is {other:?}"),
        }
    }
}
