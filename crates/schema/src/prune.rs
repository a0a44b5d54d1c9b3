//! Copies of values without what their types do not declare (reference §6.3).
//!
//! Depends on the program, values and checks. Invariants: only valid values are
//! copied; a copy is valid again, also with excess property checks on wherever
//! one of the members of each union in it can tell what is declared.

mod plan;

use crate::{
    Flat, IndexSlot, Members, Node, NodeId, Object, Program, Slot, ValidateOptions, ValidationError,
    ValidationErrorKind, Value,
    declared::Allowed,
    effort::{Effort, Names, PATIENCE, Recalled},
    mode::Accept,
    own_properties::own_properties,
    place::Place,
    presence::Presence,
    validate::Check,
};

impl Program {
    /// A copy of a value without the properties and elements that its type does not declare.
    ///
    /// Excess properties are no error here, whatever the options say. Properties
    /// that may be null but not missing are added as null, unless checks are strict.
    ///
    /// Other than the published package this prunes arrays inside of unions too,
    /// and keeps an index signature from bringing back what was pruned from a
    /// declared property (reference §15).
    ///
    /// # Errors
    /// As [`validate`](Self::validate) without excess property checks; also
    /// where an `any` holds more than [`MAX_VALUE_DEPTH`](crate::MAX_VALUE_DEPTH) levels, and
    /// where members of unions within each other match that would copy a value over and over.
    pub fn prune(&self, slot: Slot, value: &Value, options: ValidateOptions) -> Result<Value, ValidationError> {
        let options = ValidateOptions { excess_property_checks: false, ..options };
        self.validate(slot, value, options)?;
        let mut pruner = Pruner {
            program: self,
            strict: options.strict_null_checks,
            check: Check::new(self, options, Accept),
            root: value,
            effort: Effort::default(),
            most: None,
            remembered: 0,
        };
        let pruned = pruner.node(slot.node, value, Place::default());
        pruned.ok_or_else(|| {
            let is_ambiguous = pruner.most.is_some_and(|most| pruner.effort.visits() > most);
            let kind = if is_ambiguous { ValidationErrorKind::TooAmbiguous } else { ValidationErrorKind::TooDeep };
            ValidationError::new(kind)
        })
    }
}

/// How often each value may be copied, on average, where a copy takes long. Members
/// of unions that match together each copy what is in the value.
const MAX_COPIES: u64 = 64;

/// How many values are remembered as parts of what unions left of a value.
const MAX_REMEMBERED: u64 = 1_000_000;

/// A pruning that is going on. Copying fails (with `None`) at too deep and too ambiguous values only.
struct Pruner<'p, 'v> {
    program: &'p Program,
    strict: bool,
    /// Tells which members of unions the value matches.
    check: Check<'p, Accept>,
    root: &'v Value,
    effort: Effort<Option<Value>>,
    /// How many values may be visited; not worked out unless it takes long.
    most: Option<u64>,
    remembered: u64,
}

impl Pruner<'_, '_> {
    fn step(&mut self, visits: u64) -> Option<()> {
        self.effort.steps(visits);
        if self.effort.visits() < PATIENCE {
            return Some(());
        }
        let root = self.root;
        let most = *self.most.get_or_insert_with(|| PATIENCE + MAX_COPIES * root.size());
        (self.effort.visits() <= most).then_some(())
    }

    fn node(&mut self, id: NodeId, value: &Value, place: Place<'_>) -> Option<Value> {
        self.step(1)?;
        let program = self.program;
        match (program.node(id), value) {
            (Node::Array(element), Value::Array(elements)) => self.array(*element, elements, place),
            (Node::Tuple { elements, optional_from }, Value::Array(values)) => {
                self.tuple(elements, *optional_from, values, place)
            }
            (Node::Interface(interface), value) => self.object(&interface.flat, value, place),
            (Node::Mapped(mapped), value) => self.object(&mapped.flat, value, place),
            (Node::Union(_) | Node::Intersection(_), Value::Object(object)) => {
                self.object_of_members(id, (value, object), place)
            }
            (Node::Union(members), Value::Array(_)) => self.array_of_members(id, members, true, value, place),
            (Node::Intersection(members), Value::Array(_)) => self.array_of_members(id, members, false, value, place),
            (Node::NonNullable(target), value) => self.node(target.node, value, place),
            (_, value) => self.copy(value, place),
        }
    }

    fn array(&mut self, element: Slot, elements: &[Value], place: Place<'_>) -> Option<Value> {
        let place = place.within()?;
        let mut pruned = Vec::with_capacity(elements.len());
        for value in elements {
            pruned.push(self.node(element.node, value, place)?);
        }
        Some(Value::Array(pruned))
    }

    fn tuple(&mut self, slots: &[Slot], optional_from: usize, values: &[Value], place: Place<'_>) -> Option<Value> {
        let place = place.within()?.property();
        let mut pruned = vec![Value::Undefined; values.len().min(slots.len())];
        for (at, slot) in slots.iter().enumerate() {
            let value = match Presence::of(values.get(at), slot, at >= optional_from, self.strict) {
                Presence::Given(value) => self.node(slot.node, value, place)?,
                Presence::Left { as_null: true } => Value::Null,
                Presence::Left { as_null: false } | Presence::Missing => continue,
            };
            if pruned.len() <= at {
                pruned.resize(at + 1, Value::Undefined);
            }
            pruned[at] = value;
        }
        Some(Value::Array(pruned))
    }

    fn object(&mut self, flat: &Flat, value: &Value, place: Place<'_>) -> Option<Value> {
        match own_properties(value) {
            Some(object) => {
                self.step(object.len() as u64)?;
                self.properties(flat, &object, place.within()?).map(Value::Object)
            }
            None => self.copy(value, place),
        }
    }

    fn properties(&mut self, flat: &Flat, object: &Object, place: Place<'_>) -> Option<Object> {
        let is_indexed = flat.index.is_some() || place.around.is_some_and(|around| around.index.is_some());
        let place = place.property();
        let mut pruned = Object::with_capacity(object.len().min(flat.properties.len()));
        for property in flat.properties.values() {
            let value = object.get(&property.name);
            match Presence::of(value, &property.slot, property.optional, self.strict) {
                Presence::Given(value) => {
                    pruned.set(&*property.name, self.node(property.slot.node, value, place)?);
                }
                Presence::Left { as_null: true } => pruned.set(&*property.name, Value::Null),
                Presence::Left { as_null: false } | Presence::Missing => {}
            }
        }
        if is_indexed {
            self.other_keys(flat.index, object, &mut pruned, place)?;
        }
        Some(pruned)
    }

    /// Adds the keys that an index signature declares, be it that of another member of a union.
    fn other_keys(
        &mut self,
        index: Option<IndexSlot>,
        object: &Object,
        pruned: &mut Object,
        place: Place<'_>,
    ) -> Option<()> {
        for (key, value) in object.iter() {
            if pruned.contains_key(key) || is_prototype(key) {
                continue;
            }
            let value = match index {
                Some(index) => self.node(index.slot.node, value, place)?,
                None => self.copy(value, place)?,
            };
            pruned.set(key, value);
        }
        Some(())
    }

    /// What the members leave of an array, taken together: those that match, if only they matter.
    fn array_of_members(
        &mut self,
        id: NodeId,
        members: &Members,
        only_matching: bool,
        value: &Value,
        place: Place<'_>,
    ) -> Option<Value> {
        let key = match self.effort.recall(id, value, place, Names::DoNotMatter) {
            Recalled::Known(known) => {
                self.step(known.as_ref().map_or(0, Value::size))?;
                return known;
            }
            Recalled::New(key) => key,
        };
        let allowed = Allowed::enter(&members.declared, id, place.around);
        let place = place.member(&allowed)?;
        let mut pruned: Option<Value> = None;
        for node in self.matching(members, only_matching, value, place) {
            let part = self.node(node, value, place)?;
            merge_into(&mut pruned, part);
        }
        if pruned.is_none() {
            // An intersection of nothing declares nothing.
            pruned = self.copy(value, place);
        }
        if key.is_some() && self.remembered < MAX_REMEMBERED {
            self.remembered += pruned.as_ref().map_or(0, Value::size);
            self.effort.remember(key, &pruned);
        }
        pruned
    }

    /// The members whose type the value is of, or all of them.
    fn matching(&mut self, members: &Members, only_matching: bool, value: &Value, place: Place<'_>) -> Vec<NodeId> {
        // Of a valid value the only candidate matches.
        let is_certain = !only_matching || members.candidates(value).nth(1).is_none();
        let nodes = members.candidates(value).map(|at| members[at].slot.node);
        nodes.filter(|node| is_certain || self.check.node(*node, value, place).is_ok()).collect()
    }

    /// A copy of a value that nothing is pruned from.
    fn copy(&mut self, value: &Value, place: Place<'_>) -> Option<Value> {
        match value {
            Value::Array(elements) => self.copy_array(elements, place.within()?),
            Value::Object(object) => self.copy_object(object, place.within()?),
            other => {
                self.step(other.own_size())?;
                Some(other.clone())
            }
        }
    }

    fn copy_array(&mut self, elements: &[Value], place: Place<'_>) -> Option<Value> {
        let mut copied = Vec::with_capacity(elements.len());
        for element in elements {
            copied.push(self.copy(element, place)?);
        }
        Some(Value::Array(copied))
    }

    fn copy_object(&mut self, object: &Object, place: Place<'_>) -> Option<Value> {
        let mut copied = Object::with_capacity(object.len());
        for (key, value) in object.iter() {
            copied.set(key, self.copy(value, place)?);
        }
        Some(Value::Object(copied))
    }
}

/// A published peer would set the prototype instead of a property.
fn is_prototype(key: &str) -> bool {
    key == "__proto__"
}

fn merge_into(pruned: &mut Option<Value>, part: Value) {
    match pruned {
        Some(pruned) => merge(pruned, part),
        None => *pruned = Some(part),
    }
}

/// Two parts of one value: objects share their properties, the later one wins;
/// arrays are merged element by element, so that none of the members which match
/// an array takes from its elements what another one declares.
fn merge(pruned: &mut Value, part: Value) {
    match (pruned, part) {
        (Value::Object(object), Value::Object(part)) => object.extend(part),
        (Value::Array(elements), Value::Array(part)) => {
            for (at, part) in part.into_iter().enumerate() {
                match elements.get_mut(at) {
                    Some(element) => merge(element, part),
                    None => elements.push(part),
                }
            }
        }
        (pruned, part) => *pruned = part,
    }
}
