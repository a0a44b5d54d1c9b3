//! What the members of a union or intersection leave of one object, taken together.
//!
//! Depends on the parent module. Each member says of each property what is to
//! become of it, the later one wins, and only what wins is done. So a property
//! is pruned once, however many members have it, and unions within unions do
//! not multiply the work.

use indexmap::IndexMap;

use super::Pruner;
use crate::{Flat, KeyType, Members, Node, NodeId, Object, Value, declared::Allowed, place::Place, presence::Presence};

/// What becomes of each property, in the order of the pruned object.
#[derive(Default)]
pub(super) struct Plan<'a> {
    properties: IndexMap<&'a str, Task<'a>>,
    /// Unions and intersections that have had their say: types may repeat them without end.
    entered: Vec<(NodeId, Option<KeyType>)>,
}

#[derive(Clone, Copy)]
enum Task<'a> {
    Prune(NodeId, &'a Value, Place<'static>),
    Copy(&'a Value, Place<'static>),
    SetNull,
}

impl<'p> Pruner<'p, '_> {
    /// What the members of a union or intersection leave of an object.
    pub(super) fn object_of_members<'a>(
        &mut self,
        id: NodeId,
        (value, object): (&'a Value, &'a Object),
        place: Place<'_>,
    ) -> Option<Value>
    where
        'p: 'a,
    {
        let mut pruned = Object::new();
        for (key, task) in self.tasks(id, (value, object), place)? {
            pruned.set(key, self.run(task)?);
        }
        Some(Value::Object(pruned))
    }

    fn tasks<'a>(
        &mut self,
        id: NodeId,
        whole: (&'a Value, &'a Object),
        place: Place<'_>,
    ) -> Option<IndexMap<&'a str, Task<'a>>>
    where
        'p: 'a,
    {
        let mut plan = Plan::default();
        self.plan(id, whole, place, &mut plan)?;
        Some(plan.properties)
    }

    fn run(&mut self, task: Task<'_>) -> Option<Value> {
        match task {
            Task::Prune(node, value, place) => self.node(node, value, place),
            Task::Copy(value, place) => self.copy(value, place),
            Task::SetNull => Some(Value::Null),
        }
    }

    fn plan<'a>(
        &mut self,
        id: NodeId,
        whole: (&'a Value, &'a Object),
        place: Place<'_>,
        plan: &mut Plan<'a>,
    ) -> Option<()>
    where
        'p: 'a,
    {
        let program = self.program;
        self.step(1)?;
        match program.node(id) {
            Node::Interface(interface) => self.plan_properties(&interface.flat, whole.1, place, plan),
            Node::Mapped(mapped) => self.plan_properties(&mapped.flat, whole.1, place, plan),
            Node::Union(members) => self.plan_members(id, members, true, whole, place, plan),
            Node::Intersection(members) => self.plan_members(id, members, false, whole, place, plan),
            Node::NonNullable(target) => self.plan(target.node, whole, place, plan),
            _ => {
                let place = place.within()?.property();
                self.step(whole.1.len() as u64)?;
                plan.properties.extend(whole.1.iter().map(|(key, value)| (key, Task::Copy(value, place))));
                Some(())
            }
        }
    }

    fn plan_members<'a>(
        &mut self,
        id: NodeId,
        members: &'p Members,
        only_matching: bool,
        whole: (&'a Value, &'a Object),
        place: Place<'_>,
        plan: &mut Plan<'a>,
    ) -> Option<()>
    where
        'p: 'a,
    {
        let entry = (id, place.around.and_then(|around| around.index));
        if plan.entered.contains(&entry) {
            return Some(());
        }
        plan.entered.push(entry);
        let allowed = Allowed::enter(&members.declared, id, place.around);
        let place = place.member(&allowed)?;
        for node in self.matching(members, only_matching, whole.0, place) {
            self.plan(node, whole, place, plan)?;
        }
        Some(())
    }

    fn plan_properties<'a>(
        &mut self,
        flat: &'p Flat,
        object: &'a Object,
        place: Place<'_>,
        plan: &mut Plan<'a>,
    ) -> Option<()>
    where
        'p: 'a,
    {
        let is_indexed = flat.index.is_some() || place.around.is_some_and(|around| around.index.is_some());
        let place = place.within()?.property();
        self.step(object.len() as u64)?;
        let mut left = Vec::new();
        for property in flat.properties.values() {
            let value = object.get(&property.name);
            let task = match Presence::of(value, &property.slot, property.optional, self.strict) {
                Presence::Given(value) => Task::Prune(property.slot.node, value, place),
                Presence::Left { as_null: true } => Task::SetNull,
                Presence::Left { as_null: false } | Presence::Missing => {
                    left.push(&*property.name);
                    continue;
                }
            };
            plan.properties.insert(&property.name, task);
        }
        if is_indexed {
            for (key, value) in object.iter() {
                let is_planned = flat.properties.contains_key(key) && !left.contains(&key);
                if is_planned || super::is_prototype(key) {
                    continue;
                }
                let task = match flat.index {
                    Some(index) => Task::Prune(index.slot.node, value, place),
                    None => Task::Copy(value, place),
                };
                plan.properties.insert(key, task);
            }
        }
        Some(())
    }
}
