//! Copies of values without what their types do not declare (reference §6.3).
//!
//! Depends on the program, values and checks. Invariants: only valid values are
//! copied; a copy is valid again, also with excess property checks on wherever
//! one of the members of each union in it can tell what is declared.

use crate::{
    Flat, IndexSlot, MAX_VALUE_DEPTH, Members, Node, NodeId, Object, Program, Slot, ValidateOptions, ValidationError,
    ValidationErrorKind, Value, declared::Allowed, effort::Effort, mode::Accept, own_properties::own_properties,
    presence::Presence, validate::Check,
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
    /// where an `any` holds more than [`MAX_VALUE_DEPTH`] levels.
    pub fn prune(&self, slot: Slot, value: &Value, options: ValidateOptions) -> Result<Value, ValidationError> {
        let options = ValidateOptions { excess_property_checks: false, ..options };
        self.validate(slot, value, options)?;
        let mut pruner = Pruner {
            program: self,
            strict: options.strict_null_checks,
            check: Check::new(self, options, Accept),
            depth: 0,
            effort: Effort::default(),
        };
        pruner.node(slot.node, value, None).ok_or_else(|| ValidationError::new(ValidationErrorKind::TooDeep))
    }
}

/// A pruning that is going on. Copying fails (with `None`) at too deep values only.
struct Pruner<'p> {
    program: &'p Program,
    strict: bool,
    /// Tells which members of unions the value matches.
    check: Check<'p, Accept>,
    depth: u32,
    effort: Effort<Option<Value>>,
}

impl Pruner<'_> {
    fn node(&mut self, id: NodeId, value: &Value, around: Option<&Allowed<'_>>) -> Option<Value> {
        self.effort.step();
        let program = self.program;
        match (program.node(id), value) {
            (Node::Array(element), Value::Array(elements)) => {
                let elements = self.nested(|pruner| {
                    elements.iter().map(|value| pruner.node(element.node, value, around)).collect::<Option<Vec<_>>>()
                });
                elements.map(Value::Array)
            }
            (Node::Tuple { elements, optional_from }, Value::Array(values)) => {
                self.nested(|pruner| pruner.tuple(elements, *optional_from, values)).map(Value::Array)
            }
            (Node::Interface(interface), value) => self.object(&interface.flat, value, around),
            (Node::Mapped(mapped), value) => self.object(&mapped.flat, value, around),
            (Node::Union(members), Value::Object(_) | Value::Array(_)) => {
                let allowed = Allowed::enter(&members.declared, id, around);
                self.merged(id, members, value, &allowed, |pruner, slot| {
                    pruner.check.node(slot.node, value, Some(&allowed)).is_ok()
                })
            }
            (Node::Intersection(members), Value::Object(_) | Value::Array(_)) => {
                let allowed = Allowed::enter(&members.declared, id, around);
                self.merged(id, members, value, &allowed, |_, _| true)
            }
            (Node::NonNullable(target), value) => self.node(target.node, value, around),
            (_, value) => copy(value, self.depth),
        }
    }

    fn tuple(&mut self, slots: &[Slot], optional_from: usize, values: &[Value]) -> Option<Vec<Value>> {
        let mut pruned = vec![Value::Undefined; values.len().min(slots.len())];
        for (at, slot) in slots.iter().enumerate() {
            let value = match Presence::of(values.get(at), slot, at >= optional_from, self.strict) {
                Presence::Given(value) => self.node(slot.node, value, None)?,
                Presence::Left { as_null: true } => Value::Null,
                Presence::Left { as_null: false } | Presence::Missing => continue,
            };
            if pruned.len() <= at {
                pruned.resize(at + 1, Value::Undefined);
            }
            pruned[at] = value;
        }
        Some(pruned)
    }

    fn object(&mut self, flat: &Flat, value: &Value, around: Option<&Allowed<'_>>) -> Option<Value> {
        match own_properties(value) {
            Some(object) => self.nested(|pruner| pruner.properties(flat, &object, around)).map(Value::Object),
            None => copy(value, self.depth),
        }
    }

    fn properties(&mut self, flat: &Flat, object: &Object, around: Option<&Allowed<'_>>) -> Option<Object> {
        let mut pruned = Object::with_capacity(object.len().min(flat.properties.len()));
        for property in flat.properties.values() {
            let value = object.get(&property.name);
            match Presence::of(value, &property.slot, property.optional, self.strict) {
                Presence::Given(value) => {
                    pruned.set(&*property.name, self.node(property.slot.node, value, None)?);
                }
                Presence::Left { as_null: true } => pruned.set(&*property.name, Value::Null),
                Presence::Left { as_null: false } | Presence::Missing => {}
            }
        }
        if flat.index.is_some() || around.is_some_and(|around| around.index.is_some()) {
            self.other_keys(flat.index, object, &mut pruned)?;
        }
        Some(pruned)
    }

    /// Adds the keys that an index signature declares, be it that of another member of a union.
    fn other_keys(&mut self, index: Option<IndexSlot>, object: &Object, pruned: &mut Object) -> Option<()> {
        for (key, value) in object.iter() {
            // A published peer would set the prototype instead of a property.
            if pruned.contains_key(key) || key == "__proto__" {
                continue;
            }
            let value = match index {
                Some(index) => self.node(index.slot.node, value, None)?,
                None => copy(value, self.depth)?,
            };
            pruned.set(key, value);
        }
        Some(())
    }

    /// What the members that match leave of an object or array, taken together.
    fn merged(
        &mut self,
        id: NodeId,
        members: &Members,
        value: &Value,
        allowed: &Allowed<'_>,
        matches: impl Fn(&mut Self, Slot) -> bool,
    ) -> Option<Value> {
        let key = self.effort.key(id, value, allowed);
        if let Some(known) = key.as_ref().and_then(|key| self.effort.known(key)) {
            return known.clone();
        }
        self.effort.enter_union();
        let mut pruned: Option<Value> = None;
        for at in members.candidates(value) {
            let slot = members[at].slot;
            if !matches(self, slot) {
                continue;
            }
            let part = self.node(slot.node, value, Some(allowed))?;
            pruned = Some(match pruned {
                Some(pruned) => merge(pruned, part),
                None => part,
            });
        }
        self.effort.leave_union();
        // An intersection of nothing declares nothing.
        let pruned = pruned.or_else(|| copy(value, self.depth));
        if let Some(key) = key {
            self.effort.remember(key, pruned.clone());
        }
        pruned
    }

    fn nested<T>(&mut self, prune: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == MAX_VALUE_DEPTH {
            return None;
        }
        self.depth += 1;
        let pruned = prune(self);
        self.depth -= 1;
        pruned
    }
}

/// Two parts of one value: objects share their properties, the later one wins;
/// arrays are merged element by element, so that none of the members which match
/// an array takes from its elements what another one declares.
fn merge(pruned: Value, part: Value) -> Value {
    match (pruned, part) {
        (Value::Object(mut object), Value::Object(part)) => {
            object.extend(part);
            Value::Object(object)
        }
        (Value::Array(elements), Value::Array(mut part)) => {
            for (at, element) in elements.into_iter().enumerate() {
                match part.get_mut(at) {
                    Some(later) => *later = merge(element, std::mem::take(later)),
                    None => part.push(element),
                }
            }
            Value::Array(part)
        }
        (_, part) => part,
    }
}

/// A copy of a value that nothing is pruned from; `None` below the depth limit.
fn copy(value: &Value, depth: u32) -> Option<Value> {
    Some(match value {
        Value::Array(_) | Value::Object(_) if depth == MAX_VALUE_DEPTH => return None,
        Value::Array(elements) => {
            Value::Array(elements.iter().map(|element| copy(element, depth + 1)).collect::<Option<_>>()?)
        }
        Value::Object(object) => {
            let entries = object.iter().map(|(key, value)| Some((key, copy(value, depth + 1)?)));
            Value::Object(entries.collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}
