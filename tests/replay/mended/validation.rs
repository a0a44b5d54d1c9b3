//! What `validate` and `prune` do other than the published validator.

use polywire_schema::{
    Flat, Mapping, Node, NodeId, Nullness, SchemaError, ValidateOptions, ValidationError, ValidationErrorKind, Value,
};
use polywire_tests::notation::{Keys, same};

use crate::validation::{Case, Published};

/// The rule that admits what we make of a validation vector.
pub(crate) fn rule(
    case: &Case,
    published: &Published,
    ours: &Result<Option<Value>, ValidationError>,
) -> Option<&'static str> {
    match (published, ours) {
        (Published::Threw(text), Err(error)) => thrown(case, text, error),
        (Published::Threw(text), Ok(_)) => flattened_by_name(text),
        (Published::Refused(text), ours) => {
            let error = ours.as_ref().err();
            nullable_by_name(case, text, error)
                .or_else(|| declared_by_inner_union(case, text, error))
                .or_else(|| prototype_names(case, text, error))
        }
        (Published::Success(_), Err(error)) => forgotten_partial(case, error).or_else(|| inherited_value(case, error)),
        (Published::Success(Some(published)), Ok(Some(ours))) => pruned_properly(case, published, ours),
        _ => None,
    }
}

/// "missing reference: throws → return an error", and likewise for every other
/// exception: what is no answer in the published package is a refusal here.
fn thrown(case: &Case, text: &str, error: &ValidationError) -> Option<&'static str> {
    if matches!(error.kind, ValidationErrorKind::Schema(_)) && error.to_string() == text {
        return Some("a broken type is an error with the published text, not an exception");
    }
    if matches!(error.kind, ValidationErrorKind::Schema(SchemaError::NotAnInterface(_) | SchemaError::TooDeep(_))) {
        return Some("a type that cannot be flattened is an error, not an exception");
    }
    if text == "Do not know how to serialize a BigInt" && contains_bigint(&case.value) {
        return Some("a bigint is printed, not thrown at");
    }
    let of_nothing = |kind: &ValidationErrorKind| matches!(kind, ValidationErrorKind::NoUnionMember { members } if members.is_empty());
    if text.starts_with("Cannot read properties of undefined") && of_nothing(&error.kind) {
        return Some("a union without members refuses, it does not crash");
    }
    None
}

/// The published package follows a name to an interface only where it flattens
/// one (`keyof`, `Overwrite`, `T['k']`), and has no stack for circular unions.
fn flattened_by_name(text: &str) -> Option<&'static str> {
    let mapped = ["Pick", "Omit", "Partial", "Overwrite"];
    let is_mapped = text.strip_prefix("Cannot flatten non interface type: ").is_some_and(|kind| mapped.contains(&kind));
    is_mapped.then_some("a mapped type may be flattened by its name too")
}

/// "`type N = string|null` referenced in a required property: null rejected → dereference".
fn nullable_by_name(case: &Case, text: &str, ours: Option<&ValidationError>) -> Option<&'static str> {
    let is_meant = |name: &str| {
        let words = format!("Missing required property `{name}`.");
        text.contains(&words) && ours.is_none_or(|error| !error.to_string().contains(&words))
    };
    let is_wider = |written: Nullness, resolved: Nullness| {
        resolved.null && !written.null || resolved.undefined && !written.undefined
    };
    let found = case.program.nodes().iter().any(|node| match node {
        Node::Tuple { elements, .. } => elements
            .iter()
            .enumerate()
            .any(|(at, slot)| is_wider(slot.written, slot.resolved) && is_meant(&at.to_string())),
        node => flat(node).is_some_and(|flat| {
            flat.properties.values().any(|property| {
                !property.optional
                    && is_wider(property.slot.written, property.slot.resolved)
                    && is_meant(&property.name)
            })
        }),
    });
    found.then_some("what a type admits by its name may be left out")
}

/// "union allowed-property list leaking through arrays → recompute per union".
fn declared_by_inner_union(case: &Case, text: &str, ours: Option<&ValidationError>) -> Option<&'static str> {
    let is_meant = |name: &str| {
        let words = format!("Excess property `{name}` should not exists.");
        text.contains(&words) && ours.is_none_or(|error| !error.to_string().contains(&words))
    };
    let found = (0..case.program.nodes().len()).any(|at| match &case.program.nodes()[at] {
        Node::Union(members) | Node::Intersection(members) => {
            let outer = members.iter().map(|member| member.slot.node);
            let mut inner = Vec::new();
            outer.for_each(|node| unions_within(case, node, false, &mut inner));
            inner.iter().any(|node| declared(case, *node).iter().any(|name| is_meant(name)))
        }
        _ => false,
    });
    found.then_some("a union inside of an array declares what its own members declare")
}

/// Unions and intersections behind an array (or `NonNullable`) in a member.
fn unions_within(case: &Case, node: NodeId, behind: bool, found: &mut Vec<NodeId>) {
    match case.program.node(node) {
        Node::Array(slot) | Node::NonNullable(slot) => unions_within(case, slot.node, true, found),
        Node::Union(members) | Node::Intersection(members) => {
            if found.contains(&node) {
                return;
            }
            if behind {
                found.push(node);
            }
            members.iter().for_each(|member| unions_within(case, member.slot.node, behind, found));
        }
        _ => {}
    }
}

fn declared(case: &Case, node: NodeId) -> Vec<&str> {
    match case.program.node(node) {
        Node::Union(members) | Node::Intersection(members) => {
            members.iter().flat_map(|member| declared(case, member.slot.node)).collect()
        }
        node => flat(node).into_iter().flat_map(|flat| flat.properties.keys().map(|name| &**name)).collect(),
    }
}

/// "property names on Object.prototype: dropped": a declared property of such a
/// name is a property like any other, present where the value has one of its own.
fn prototype_names(case: &Case, text: &str, ours: Option<&ValidationError>) -> Option<&'static str> {
    let found = declared_prototype_names(case).any(|name| {
        let published = [
            format!("Excess property `{name}` should not exists."),
            format!("{name}`: Expected type to be"),
            format!("{name}`: Expected to equals"),
        ];
        published
            .iter()
            .any(|words| text.contains(words) && ours.is_none_or(|error| !error.to_string().contains(words)))
    });
    found.then_some("names of Object.prototype are names like others")
}

/// The other way round: what a value inherits from Object.prototype is not its own.
fn inherited_value(case: &Case, error: &ValidationError) -> Option<&'static str> {
    let text = error.to_string();
    declared_prototype_names(case)
        .any(|name| text.contains(&format!("Missing required property `{name}`.")))
        .then_some("names of Object.prototype are names like others")
}

fn declared_prototype_names(case: &Case) -> impl Iterator<Item = &'static str> {
    const NAMES: [&str; 11] = [
        "constructor",
        "toString",
        "toLocaleString",
        "valueOf",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
    ];
    NAMES
        .into_iter()
        .filter(|name| case.program.nodes().iter().filter_map(flat).any(|flat| flat.properties.contains_key(*name)))
}

/// "`Partial<Overwrite<T,O>>` marks the properties of O optional for the life of
/// the process": no check changes another, so they stay required.
fn forgotten_partial(case: &Case, error: &ValidationError) -> Option<&'static str> {
    let text = error.to_string();
    let found = case.program.nodes().iter().any(|node| {
        let Node::Mapped(partial) = node else { return false };
        let Node::Mapped(overwrite) = case.program.node(partial.target) else { return false };
        let Mapping::Overwrite(by) = overwrite.mapping else { return false };
        matches!(partial.mapping, Mapping::Partial)
            && case.program.flat(by).is_some_and(|flat| {
                flat.properties.keys().any(|name| text.contains(&format!("Missing required property `{name}`.")))
            })
    });
    found.then_some("Partial<Overwrite<T, O>> leaves O as it is")
}

/// "prune holes (arrays in unions; index signatures): secrets survive → prune properly".
///
/// What we give is what the published package gives, less what no type declares
/// (and nothing else is missing), with null where a property may be null but
/// not missing.
fn pruned_properly(case: &Case, published: &Value, ours: &Value) -> Option<&'static str> {
    let nodes = case.program.nodes();
    let array_in_union = nodes.iter().any(|node| match node {
        Node::Union(members) | Node::Intersection(members) => {
            members.iter().any(|member| may_be_array(case, member.slot.node, 8))
        }
        _ => false,
    });
    let mixed = nodes.iter().filter_map(flat).any(|flat| flat.index.is_some() && !flat.properties.is_empty());
    if !array_in_union && !mixed {
        return None;
    }
    let strictly = ValidateOptions { excess_property_checks: true, ..case.options };
    let is_valid = |value: &Value| case.program.accepts(case.slot, value, strictly);
    let mut dropped = Vec::new();
    let nothing_else_differs = dropped_from(published, ours, &[], &mut dropped);
    let nothing_undeclared_stays = is_valid(ours);
    let only_undeclared_goes = dropped.iter().all(|dropped| {
        let mut with_it = ours.clone();
        dropped.put_into(&mut with_it);
        !is_valid(&with_it)
    });
    (nothing_else_differs && nothing_undeclared_stays && only_undeclared_goes)
        .then_some("prune reaches arrays in unions and declared properties beside index signatures")
}

fn may_be_array(case: &Case, node: NodeId, fuel: u32) -> bool {
    match case.program.node(node) {
        Node::Array(_) | Node::Tuple { .. } => true,
        Node::NonNullable(slot) if fuel > 0 => may_be_array(case, slot.node, fuel - 1),
        Node::Union(members) | Node::Intersection(members) if fuel > 0 => {
            members.iter().any(|member| may_be_array(case, member.slot.node, fuel - 1))
        }
        _ => false,
    }
}

/// A property that is in the published output and not in ours.
struct Dropped {
    /// Keys and indices that lead to the object.
    path: Vec<String>,
    key: String,
    value: Value,
}

impl Dropped {
    fn put_into(&self, root: &mut Value) {
        let mut at = root;
        for step in &self.path {
            let next = match at {
                Value::Object(object) => object.get_mut(step),
                Value::Array(elements) => step.parse().ok().and_then(|index: usize| elements.get_mut(index)),
                _ => None,
            };
            at = next.expect("a path of both outputs");
        }
        if let Value::Object(object) = at {
            object.set(&*self.key, self.value.clone());
        }
    }
}

/// Collects the properties that `ours` leaves out. Says whether nothing else
/// differs: but for nulls filled in or left out, and elements beyond a tuple.
fn dropped_from(published: &Value, ours: &Value, path: &[String], dropped: &mut Vec<Dropped>) -> bool {
    let within = |step: String, published: &Value, ours: &Value, dropped: &mut Vec<Dropped>| {
        dropped_from(published, ours, &[path, &[step]].concat(), dropped)
    };
    match (published, ours) {
        (Value::Object(theirs), Value::Object(ours)) => {
            let mut agree = ours.iter().all(|(key, value)| theirs.contains_key(key) || value.is_nullish());
            for (key, value) in theirs.iter() {
                match ours.get(key) {
                    Some(ours) => agree &= within(key.to_owned(), value, ours, dropped),
                    None if value.is_nullish() => {}
                    None => {
                        let (path, key) = (path.to_vec(), key.to_owned());
                        dropped.push(Dropped { path, key, value: value.clone() });
                    }
                }
            }
            agree
        }
        (Value::Array(theirs), Value::Array(ours)) => {
            ours.len() <= theirs.len()
                && (0..ours.len()).all(|at| within(at.to_string(), &theirs[at], &ours[at], dropped))
        }
        (theirs, ours) => same(theirs, ours, Keys::SameOrder),
    }
}

fn contains_bigint(value: &Value) -> bool {
    match value {
        Value::BigInt(_) => true,
        Value::Array(elements) => elements.iter().any(contains_bigint),
        Value::Object(object) => object.iter().any(|(_, value)| contains_bigint(value)),
        Value::Buffer(kind, _) => kind.name().starts_with("Big"),
        _ => false,
    }
}

fn flat(node: &Node) -> Option<&Flat> {
    match node {
        Node::Interface(interface) => Some(&interface.flat),
        Node::Mapped(mapped) => Some(&mapped.flat),
        _ => None,
    }
}
