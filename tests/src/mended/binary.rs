//! What the binary codec does other than the published one.

use std::{collections::HashSet, sync::Arc};

use polywire_schema::{Flat, Mapping, Node, NodeId, Program, Slot, ValidateOptions, ValidationError, Value};
use polywire_tsbuffer::{DecodeError, EncodeError, TsBuffer};

use super::validation::{self, OBJECT_PROTOTYPE, declares_inherited};
use crate::notation::{Keys, same};

/// A type and the codec under test, which reads as leniently as the published one.
#[derive(Debug)]
pub struct Case<'a> {
    /// The codec.
    pub tsbuffer: &'a TsBuffer,
    /// The type.
    pub slot: Slot,
    /// How values are checked.
    pub options: ValidateOptions,
}

impl Case<'_> {
    /// What the validation rules say of a value, which is checked as encoding and decoding check it.
    fn validation_rule(
        &self,
        value: &Value,
        excess_property_checks: bool,
        published: &validation::Published,
        ours: &Result<(), ValidationError>,
    ) -> Option<&'static str> {
        let options = ValidateOptions { excess_property_checks, ..self.options };
        let case = validation::Case { options, ..self.checked(value) };
        validation::rule(&case, published, &ours.clone().map(|()| None))
    }

    fn checked(&self, value: &Value) -> validation::Case {
        let program = Arc::clone(self.tsbuffer.program());
        validation::Case { program, slot: self.slot, value: value.clone(), options: self.options }
    }

    /// Whether a property may be left out for what its type admits by its name only.
    fn is_wider(&self, value: &Value) -> bool {
        validation::wider_slots(&self.checked(value)).next().is_some()
    }
}

/// What the published package answered.
#[derive(Debug)]
pub enum Published<T> {
    /// Success.
    Success(T),
    /// A refusal with its text.
    Refused {
        /// The text; that of the validator where the published package loses it.
        text: String,
        /// What was decoded, where that was not valid.
        unvalidated: Option<Value>,
    },
    /// An exception.
    Threw(String),
}

/// The rule that admits what we encode.
#[must_use]
pub fn encoded(
    case: &Case<'_>,
    value: &Value,
    published: &Published<Vec<u8>>,
    ours: &Result<Vec<u8>, EncodeError>,
) -> Option<&'static str> {
    match (published, ours) {
        (Published::Success(theirs), Ok(ours))
            if !loses(case, value, ours) || !loses_more(case, ours, theirs) || repeats_ids(case) =>
        {
            bytes(case, value)
        }
        // The text is the engine's, or the bytes are those of another value.
        (
            Published::Success(_) | Published::Refused { .. },
            Err(EncodeError::Mismatch { .. } | EncodeError::NotAnEnumMember(_) | EncodeError::NoMember),
        ) => contradicts_base(case).then_some("a value that a base declares otherwise is refused"),
        (Published::Refused { text, .. }, Ok(ours)) if text.ends_with("Received undefined") => {
            // An index signature comes by the method `format` of each date.
            (contains_date(value) && !loses(case, value, ours)).then_some("a date has no entries of an index signature")
        }
        _ => None,
    }
    .or_else(|| {
        let published = match published {
            Published::Success(_) => validation::Published::Success(None),
            Published::Refused { text, .. } => validation::Published::Refused(text.clone()),
            Published::Threw(text) => validation::Published::Threw(text.clone()),
        };
        // What fails later is valid.
        let ours = match ours {
            Err(EncodeError::Invalid(error)) => Err((**error).clone()),
            _ => Ok(()),
        };
        case.validation_rule(value, false, &published, &ours)
    })
}

pub(super) fn contains_date(value: &Value) -> bool {
    match value {
        Value::Date(_) => true,
        Value::Object(object) => object.iter().any(|(_, value)| contains_date(value)),
        Value::Array(elements) => elements.iter().any(contains_date),
        _ => false,
    }
}

/// "Bytes stay identical unless the published bytes lose data": by what they lose it.
fn bytes(case: &Case<'_>, value: &Value) -> Option<&'static str> {
    let program = case.tsbuffer.program();
    let nodes: Vec<&Node> = reachable(program, case.slot.node).into_iter().map(|id| program.node(id)).collect();
    let any = |is_meant: &dyn Fn(&Node) -> bool| nodes.iter().any(|node| is_meant(node));
    let is_mapped = |id: NodeId| matches!(program.node(id), Node::Mapped(_));
    let is_filter = |node: &Node| match node {
        Node::Mapped(mapped) => matches!(mapped.mapping, Mapping::Pick(_) | Mapping::Omit(_)),
        _ => false,
    };
    if mentions(value, &OBJECT_PROTOTYPE) || any(&declares_inherited) {
        return Some("names of Object.prototype are names like others");
    }
    if any(&|node| match node {
        Node::Interface(interface) => interface.bases.iter().any(|base| is_mapped(base.node)),
        _ => false,
    }) {
        return Some("an interface writes what it inherits from a mapped type");
    }
    if case.is_wider(value) {
        // So that more members of a union match.
        return Some(BY_NAME);
    }
    if any(&|node| match node {
        Node::Mapped(mapped) => match mapped.mapping {
            Mapping::Overwrite(overwrite) => leads_to(program, overwrite, &is_filter),
            _ => false,
        },
        _ => false,
    }) {
        return Some("Overwrite writes the fields that a Pick or Omit on its overwriting side leaves to the target");
    }
    let is_union = |node: &Node| matches!(node, Node::Union(_));
    (any(&is_union) && any(&is_filter)).then_some("what a member of a union omits, another member still writes")
}

/// Whether a mapped type or one that it is made of is as meant.
fn leads_to(program: &Program, id: NodeId, is_meant: &dyn Fn(&Node) -> bool) -> bool {
    match program.node(id) {
        node if is_meant(node) => true,
        Node::Mapped(mapped) => leads_to(program, mapped.target, is_meant),
        _ => false,
    }
}

/// Whether two properties of an interface have one id, so that no bytes give the value back.
fn repeats_ids(case: &Case<'_>) -> bool {
    let program = case.tsbuffer.program();
    reachable(program, case.slot.node).iter().any(|id| match program.node(*id) {
        Node::Interface(interface) => {
            let ids: HashSet<u32> = interface.properties.iter().map(|property| property.id).collect();
            ids.len() < interface.properties.len()
        }
        _ => false,
    })
}

/// Whether bytes do not give a value back: they cannot be read, or something is missing.
fn loses(case: &Case<'_>, value: &Value, bytes: &[u8]) -> bool {
    let read = case.tsbuffer.decode_unchecked(case.slot, bytes);
    match (read, case.tsbuffer.prune(case.slot, value)) {
        (Ok(read), Ok(pruned)) => !covers(&read, &pruned),
        _ => true,
    }
}

/// Whether our bytes lose something that the published bytes keep.
fn loses_more(case: &Case<'_>, ours: &[u8], theirs: &[u8]) -> bool {
    let read = |bytes| case.tsbuffer.decode_unchecked(case.slot, bytes);
    match (read(ours), read(theirs)) {
        (Ok(ours), Ok(theirs)) => !covers(&ours, &theirs),
        (ours, _) => ours.is_err(),
    }
}

/// Whether a value holds all of another; null and missing are the same.
fn covers(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (_, Value::Null | Value::Undefined) => true,
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| covers(whole.get(key).unwrap_or(&Value::Undefined), part))
        }
        (Value::Array(whole), Value::Array(part)) => {
            part.iter().enumerate().all(|(at, part)| covers(whole.get(at).unwrap_or(&Value::Undefined), part))
        }
        // What is `any` on the way comes back as JSON has it.
        (special, json) | (json, special) if is_special(special) && is_json_of_special(json) => true,
        (Value::Null, Value::Number(number)) => !number.is_finite(),
        (Value::Number(whole), Value::Number(part)) => whole == part || whole.is_nan() && part.is_nan(),
        (Value::String(whole), Value::String(part)) => whole.to_string_lossy() == part.to_string_lossy(),
        // An invalid date is written as 0; one before 1970 is read as invalid.
        (Value::Date(whole), Value::Date(part)) if part.is_nan() => *whole <= 0.0 || whole.is_nan(),
        (whole, part) => same(whole, part, Keys::AnyOrder),
    }
}

fn is_special(value: &Value) -> bool {
    matches!(value, Value::Date(_) | Value::Buffer(..) | Value::ObjectId(_))
}

fn is_json_of_special(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Object(_) | Value::Null)
}

fn mentions(value: &Value, names: &[&str]) -> bool {
    match value {
        Value::Object(object) => object.iter().any(|(key, value)| names.contains(&key) || mentions(value, names)),
        Value::Array(elements) => elements.iter().any(|value| mentions(value, names)),
        _ => false,
    }
}

/// Whether an interface declares a property otherwise than one of its bases.
fn contradicts_base(case: &Case<'_>) -> bool {
    let program = case.tsbuffer.program();
    reachable(program, case.slot.node).iter().any(|id| match program.node(*id) {
        Node::Interface(interface) => interface.bases.iter().any(|base| {
            let flat = program.flat(base.node);
            flat.is_some_and(|base| {
                // An index signature takes every key, whatever the interface says of it.
                base.index.is_some()
                    || base.properties.values().any(|property| {
                        let own = interface.flat.properties.get(&property.name);
                        own.is_some_and(|own| own.slot.node != property.slot.node)
                    })
            })
        }),
        _ => false,
    })
}

/// The rule that admits what we decode from some bytes, leniently.
#[must_use]
pub fn decoded(
    case: &Case<'_>,
    bytes: &[u8],
    published: &Published<Value>,
    ours: &Result<Value, DecodeError>,
) -> Option<&'static str> {
    let theirs = match published {
        Published::Success(value) | Published::Refused { unvalidated: Some(value), .. } => value,
        _ => return None,
    };
    // What was read, whether it is valid or not.
    let read = case.tsbuffer.decode_unchecked(case.slot, bytes).ok()?;
    // Of properties with one id, which of them was read is as good as any.
    if !same(theirs, &read, Keys::SameOrder) && !repeats_ids(case) {
        let mut rule = None;
        return Parts::of(case).explain(theirs, &read, &mut rule).then_some(rule)?;
    }
    let published = match published {
        Published::Refused { text, .. } if is_excess(case, text) => {
            return Some("what members describe together is no excess");
        }
        Published::Refused { text, .. } => validation::Published::Refused(text.clone()),
        _ => validation::Published::Success(Some(theirs.clone())),
    };
    let ours = match ours {
        Ok(_) => Ok(()),
        Err(DecodeError::Invalid(error)) => Err((**error).clone()),
        Err(_) => return None,
    };
    case.validation_rule(theirs, case.options.excess_property_checks, &published, &ours)
}

fn is_excess(case: &Case<'_>, text: &str) -> bool {
    let texts = ["Excess property `", "elements but schema allows only"];
    case.options.excess_property_checks && texts.iter().any(|excess| text.contains(excess))
}

const BY_NAME: &str = "what a type admits by its name may be left out";
const MERGED: &str = "members of an intersection are merged all the way down";

/// What several types of one value there are in a type.
#[derive(Debug, Default)]
struct Parts {
    union: bool,
    intersection: bool,
    bases: bool,
    inherited_names: bool,
    nullable_by_name: bool,
}

impl Parts {
    fn of(case: &Case<'_>) -> Self {
        let program = case.tsbuffer.program();
        let nullable_by_name = case.is_wider(&Value::Undefined);
        let mut parts = Self { nullable_by_name, ..Self::default() };
        for id in reachable(program, case.slot.node) {
            let node = program.node(id);
            match node {
                Node::Union(_) => parts.union = true,
                Node::Intersection(_) => parts.intersection = true,
                Node::Interface(interface) => parts.bases |= !interface.bases.is_empty(),
                _ => {}
            }
            parts.inherited_names |= declares_inherited(node);
        }
        parts
    }

    /// Whether every difference of two values is one that we mean; notes a rule.
    fn explain(&self, published: &Value, ours: &Value, rule: &mut Option<&'static str>) -> bool {
        let several = self.union || self.intersection || self.bases;
        let mut found = |why: &'static str| {
            rule.get_or_insert(why);
            true
        };
        match (published, ours) {
            (theirs, ours) if same(theirs, ours, Keys::SameOrder) => true,
            (Value::Date(theirs), Value::Date(ours)) if theirs.is_nan() && *ours < 0.0 => {
                found("dates before 1970 are read as they were written")
            }
            (Value::Undefined, Value::Null) if self.nullable_by_name => found(BY_NAME),
            (Value::Null, _) if several => found("a part that was not told does not erase what another was"),
            (theirs, ours)
                if is_special(ours)
                    && (is_json_of_special(theirs) || is_special(theirs))
                    && (self.union || self.intersection) =>
            {
                found("a date, buffer or id stays what it is beside members that see an object")
            }
            (Value::Object(theirs), Value::Object(ours)) => {
                let in_order = theirs
                    .keys()
                    .filter(|key| ours.contains_key(key))
                    .eq(ours.keys().filter(|key| theirs.contains_key(key)));
                let more = ours.iter().filter(|(key, _)| !theirs.contains_key(key));
                let (nulls, more): (Vec<_>, Vec<_>) = more.partition(|(_, value)| value.is_nullish());
                if !nulls.is_empty() {
                    if !self.nullable_by_name && !self.intersection {
                        return false;
                    }
                    found(BY_NAME);
                }
                let inherited = more.iter().all(|(key, _)| OBJECT_PROTOTYPE.contains(key));
                if !in_order || !inherited {
                    if !self.intersection {
                        return false;
                    }
                    found(MERGED);
                } else if !more.is_empty() {
                    found("names of Object.prototype are names like others");
                }
                theirs.iter().all(|(key, theirs)| ours.get(key).is_some_and(|ours| self.explain(theirs, ours, rule)))
            }
            (Value::Array(theirs), Value::Array(ours)) => {
                theirs.len() == ours.len()
                    && theirs.iter().zip(ours).all(|(theirs, ours)| self.explain(theirs, ours, rule))
            }
            _ => false,
        }
    }
}

/// Every node that a node leads to.
fn reachable(program: &Program, root: NodeId) -> Vec<NodeId> {
    let mut found = vec![root];
    let mut at = 0;
    while at < found.len() {
        let mut leads_to = Vec::new();
        match program.node(found[at]) {
            Node::Array(slot) | Node::NonNullable(slot) => leads_to.push(slot.node),
            Node::Tuple { elements, .. } => leads_to.extend(elements.iter().map(|slot| slot.node)),
            Node::Interface(interface) => {
                leads_to.extend(interface.bases.iter().map(|base| base.node));
                leads_to.extend(flat_nodes(&interface.flat));
            }
            Node::Mapped(mapped) => {
                leads_to.push(mapped.target);
                if let Mapping::Overwrite(overwrite) = mapped.mapping {
                    leads_to.push(overwrite);
                }
                leads_to.extend(flat_nodes(&mapped.flat));
            }
            Node::Union(members) | Node::Intersection(members) => {
                leads_to.extend(members.iter().map(|member| member.slot.node));
            }
            _ => {}
        }
        for id in leads_to {
            if !found.contains(&id) {
                found.push(id);
            }
        }
        at += 1;
    }
    found
}

fn flat_nodes(flat: &Flat) -> impl Iterator<Item = NodeId> {
    let properties = flat.properties.values().map(|property| property.slot.node);
    properties.chain(flat.index.iter().map(|index| index.slot.node))
}
