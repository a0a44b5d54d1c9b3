//! Ids that stay the same when a proto changes (reference §4).
//!
//! Depends on the type model. What had an id in the old proto keeps it, what is
//! new gets one above all old ones. Services go by kind and name, properties by
//! name, enum members by value, members of unions and intersections by a hash of
//! their JSON, bases by their JSON. Types written in place inside `NonNullable`
//! and mapped types are not compared, as in the published generator: their ids
//! follow the order in which they are written.

use std::collections::{HashMap, HashSet};

use md5::{Digest, Md5};
use polywire_schema::{EnumValue, IndexSignature, Interface, Member, Type, TypeSet, number_text};
use polywire_tsbuffer::binary::MAX_BASES;

use super::{ServiceDef, ServiceProto};
use crate::ServiceId;

/// What a developer may want to know about the ids that were given. None of it is an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdReport {
    /// Where ids have grown so far beyond the number of things they name that they take more bytes than they would
    /// when numbered anew (which old peers would not understand): schema ids, and `services`.
    pub redundant: Vec<String>,
    /// Interfaces whose bases have used up the nine ids there are: the next one collides with the first property.
    pub exhausted_bases: Vec<String>,
}

impl ServiceProto {
    /// Gives everything its id: the old proto's, or a new one.
    ///
    /// Ids that stand in `self` count for nothing. The version becomes that of the
    /// old proto, one higher if anything differs from it.
    pub fn assign_ids(&mut self, old: Option<&Self>) -> IdReport {
        let mut report = assign_type_ids(&mut self.types, old.map(|old| &old.types));
        let old_ids = old.map(|old| old.services.iter().map(|service| (service_key(service), service.id.0)).collect());
        let (ids, redundant) = assign(self.services.iter().map(service_key), old_ids.unwrap_or_default());
        for (service, id) in self.services.iter_mut().zip(ids) {
            service.id = ServiceId(id);
        }
        if redundant {
            report.redundant.push("services".to_owned());
        }
        self.version = None;
        if let Some(old) = old {
            self.version = if self.same_contract(old) { old.version } else { Some(old.version.unwrap_or(0) + 1) };
        }
        report
    }

    /// Whether services and types are the same, in the same order.
    fn same_contract(&self, old: &Self) -> bool {
        self.services == old.services && self.types.iter().eq(old.types.iter())
    }
}

fn service_key(service: &ServiceDef) -> String {
    format!("{}{}", service.kind, service.name)
}

/// Gives members and properties of a set of types their ids; see [`ServiceProto::assign_ids`].
pub(crate) fn assign_type_ids(types: &mut TypeSet, old: Option<&TypeSet>) -> IdReport {
    let mut report = IdReport::default();
    for (id, ty) in types {
        number(ty);
        let mut numbering = Numbering::default();
        numbering.visit(ty, old.and_then(|old| old.get(id)));
        if numbering.redundant {
            report.redundant.push(id.clone());
        }
        if numbering.exhausted_bases {
            report.exhausted_bases.push(id.clone());
        }
    }
    report
}

/// The published algorithm: the id of the same key in the old list, or that
/// given to the same key before, or the next above all old ones. Says too
/// whether numbering anew would make the ids shorter.
fn assign(keys: impl Iterator<Item = String>, old: Vec<(String, u32)>) -> (Vec<u32>, bool) {
    let mut next = old.iter().map(|(_, id)| id.saturating_add(1)).max().unwrap_or(0);
    let mut given: HashMap<String, u32> = old.into_iter().collect();
    let mut distinct = HashSet::new();
    let ids = keys.map(|key| {
        let id = *given.entry(key.clone()).or_insert_with(|| {
            let id = next;
            next = next.saturating_add(1);
            id
        });
        distinct.insert(key);
        id
    });
    let ids = ids.collect();
    let redundant = [32, 4096].into_iter().any(|limit| next > limit && distinct.len() <= limit as usize);
    (ids, redundant)
}

/// Ids in the order in which things are written, everywhere in a type.
fn number(ty: &mut Type) {
    match ty {
        Type::Enum(members) => members.iter_mut().zip(0..).for_each(|(member, id)| member.id = id),
        Type::Interface(interface) => {
            number_members(&mut interface.extends);
            for (property, id) in interface.properties.iter_mut().zip(0..) {
                property.id = id;
                number(&mut property.ty);
            }
            if let Some(index) = &mut interface.index {
                number(&mut index.ty);
            }
        }
        Type::Union(members) | Type::Intersection(members) => number_members(members),
        Type::Tuple { elements, .. } => elements.iter_mut().for_each(number),
        Type::Array(inner)
        | Type::IndexedAccess { object: inner, .. }
        | Type::Keyof(inner)
        | Type::NonNullable(inner)
        | Type::Partial(inner)
        | Type::Pick { target: inner, .. }
        | Type::Omit { target: inner, .. } => number(inner),
        Type::Overwrite { target, overwrite } => {
            number(target);
            number(overwrite);
        }
        _ => {}
    }
}

fn number_members(members: &mut [Member]) {
    for (member, id) in members.iter_mut().zip(0..) {
        member.id = id;
        number(&mut member.ty);
    }
}

#[derive(Default)]
struct Numbering {
    redundant: bool,
    exhausted_bases: bool,
}

impl Numbering {
    fn assign(&mut self, keys: impl Iterator<Item = String>, old: Vec<(String, u32)>) -> Vec<u32> {
        let (ids, redundant) = assign(keys, old);
        self.redundant |= redundant;
        ids
    }

    /// An old type of another kind counts for nothing.
    fn visit(&mut self, ty: &mut Type, old: Option<&Type>) {
        match ty {
            Type::Enum(members) => {
                // What is `NaN` while it is generated stands as null in the file, and does not count as the same.
                let key = |value: &EnumValue, null: &str| match value {
                    EnumValue::Number(number) => number_text(*number),
                    EnumValue::String(text) => text.clone(),
                    EnumValue::Null => null.to_owned(),
                };
                let old = match old {
                    Some(Type::Enum(old)) => {
                        let null = md5_hex("null");
                        old.iter().map(|member| (key(&member.value, &null), member.id)).collect()
                    }
                    _ => Vec::new(),
                };
                let ids = self.assign(members.iter().map(|member| key(&member.value, "NaN")), old);
                members.iter_mut().zip(ids).for_each(|(member, id)| member.id = id);
            }
            Type::Interface(interface) => {
                let old = match old {
                    Some(Type::Interface(old)) => Some(&**old),
                    _ => None,
                };
                self.visit_interface(interface, old);
            }
            Type::Union(members) => {
                let old = match old {
                    Some(Type::Union(old)) => &**old,
                    _ => &[],
                };
                self.visit_members(members, old);
            }
            Type::Intersection(members) => {
                let old = match old {
                    Some(Type::Intersection(old)) => &**old,
                    _ => &[],
                };
                self.visit_members(members, old);
            }
            Type::Array(element) => {
                let old = match old {
                    Some(Type::Array(old)) => Some(&**old),
                    _ => None,
                };
                self.visit(element, old);
            }
            Type::IndexedAccess { object, .. } => {
                let old = match old {
                    Some(Type::IndexedAccess { object, .. }) => Some(&**object),
                    _ => None,
                };
                self.visit(object, old);
            }
            Type::Tuple { elements, .. } => {
                let old = match old {
                    Some(Type::Tuple { elements, .. }) => &**elements,
                    _ => &[],
                };
                for (at, element) in elements.iter_mut().enumerate() {
                    self.visit(element, old.get(at));
                }
            }
            _ => {}
        }
    }

    fn visit_interface(&mut self, interface: &mut Interface, old: Option<&Interface>) {
        let old_bases = old.map_or(&[][..], |old| &old.extends);
        let old_bases = old_bases.iter().map(|base| (json(&base.ty), base.id)).collect();
        let ids = self.assign(interface.extends.iter().map(|base| json(&base.ty)), old_bases);
        for (base, id) in interface.extends.iter_mut().zip(ids) {
            base.id = id;
            self.exhausted_bases |= id as usize >= MAX_BASES;
        }
        let old_properties = old.map_or(&[][..], |old| &old.properties);
        let old_ids = old_properties.iter().map(|property| (property.name.clone(), property.id)).collect();
        let ids = self.assign(interface.properties.iter().map(|property| property.name.clone()), old_ids);
        for (property, id) in interface.properties.iter_mut().zip(ids) {
            property.id = id;
            let old = old_properties.iter().find(|old| old.name == property.name);
            self.visit(&mut property.ty, old.map(|old| &old.ty));
        }
        if let Some(IndexSignature { ty, .. }) = &mut interface.index {
            let old = old.and_then(|old| old.index.as_ref());
            self.visit(ty, old.map(|old| &*old.ty));
        }
    }

    fn visit_members(&mut self, members: &mut [Member], old: &[Member]) {
        let old_ids = old.iter().map(|member| (hash(&member.ty), member.id)).collect();
        let ids = self.assign(members.iter().map(|member| hash(&member.ty)), old_ids);
        for (member, id) in members.iter_mut().zip(ids) {
            member.id = id;
            let old = old.iter().find(|old| old.id == id);
            self.visit(&mut member.ty, old.map(|old| &old.ty));
        }
    }
}

/// The JSON text of a type, as `JSON.stringify` writes it.
fn json(ty: &Type) -> String {
    // Only nesting can keep a type from having one; then any text that tells types apart will do.
    ty.to_json().to_json().ok().flatten().unwrap_or_else(|| format!("{ty:?}"))
}

/// The key of a union member. Nested ids are part of it: the published generator compares fresh ones with stored ones.
fn hash(ty: &Type) -> String {
    md5_hex(&json(ty))
}

fn md5_hex(text: &str) -> String {
    Md5::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(types: &str, old: &str) -> (String, IdReport) {
        let parse =
            |types: &str| ServiceProto::from_json(&format!("{{services: [], types: {{x: {types}}}}}")).unwrap().types;
        let mut types = parse(types);
        let report = assign_type_ids(&mut types, Some(&parse(old)));
        (json(&types["x"]), report)
    }

    #[test]
    fn properties_go_by_name_and_new_ones_come_above_all_old_ones() {
        let (found, report) = ids(
            "{type: 'Interface', properties: [{id: 0, name: 'd', type: {type: 'Any'}}, {id: 1, name: 'a', type: {type: 'Date'}}]}",
            "{type: 'Interface', properties: [{id: 1, name: 'b', type: {type: 'Any'}}, {id: 0, name: 'a', type: {type: 'Any'}}]}",
        );
        let expected = r#"{"type":"Interface","properties":[{"id":2,"name":"d","type":{"type":"Any"}},{"id":0,"name":"a","type":{"type":"Date"}}]}"#;
        assert_eq!(found, expected);
        assert_eq!(report, IdReport::default());
    }

    #[test]
    fn equal_members_share_an_id() {
        let (found, _) = ids(
            "{type: 'Enum', members: [{id: 0, value: 1}, {id: 1, value: '1'}, {id: 2, value: 2}]}",
            "{type: 'Any'}",
        );
        assert_eq!(found, r#"{"type":"Enum","members":[{"id":0,"value":1},{"id":0,"value":"1"},{"id":1,"value":2}]}"#);
    }

    #[test]
    fn ids_that_have_grown_too_far_are_reported() {
        let old = "{type: 'Interface', extends: [{id: 8, type: {type: 'Reference', target: 'x'}}], properties: [{id: 31, name: 'a', type: {type: 'Any'}}]}";
        let new = |names: &str| {
            format!(
                "{{type: 'Interface', extends: [{{id: 0, type: {{type: 'Reference', target: 'y'}}}}], properties: [{names}]}}"
            )
        };
        let (_, report) = ids(&new("{id: 0, name: 'a', type: {type: 'Any'}}"), old);
        assert_eq!(report, IdReport { redundant: vec![], exhausted_bases: vec!["x".to_owned()] });
        let (_, report) = ids(&new("{id: 0, name: 'b', type: {type: 'Any'}}"), old);
        assert_eq!(report.redundant, ["x"]);
    }
}
