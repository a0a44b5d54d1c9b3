//! What `validate` and `prune` do other than the published validator.

use std::sync::Arc;

use super::binary::contains_date;
use crate::notation::{Keys, same};
use polywire_schema::{
    Flat, Literal, Mapping, Node, NodeId, Program, SchemaError, Slot, ValidateOptions, ValidationError,
    ValidationErrorKind, Value,
};

/// A type and a value, and how the one is checked for the other.
#[derive(Debug, Clone)]
pub struct Case {
    /// The compiled types.
    pub program: Arc<Program>,
    /// The type.
    pub slot: Slot,
    /// The value.
    pub value: Value,
    /// How it is checked.
    pub options: ValidateOptions,
}

/// What the published package made of it.
#[derive(Debug)]
pub enum Published {
    /// Success; pruning has an output.
    Success(Option<Value>),
    /// A refusal with its text.
    Refused(String),
    /// An exception with its text.
    Threw(String),
}

impl Published {
    /// Whether ours is the same, the order of keys included.
    #[must_use]
    pub fn agrees(&self, ours: &Result<Option<Value>, ValidationError>) -> bool {
        match (self, ours) {
            (Self::Success(Some(published)), Ok(Some(ours))) => same(published, ours, Keys::SameOrder),
            (Self::Success(None), Ok(None)) => true,
            (Self::Refused(published), Err(ours)) => *published == ours.to_string(),
            _ => false,
        }
    }
}

/// The rule that admits what we make of a validation vector.
#[must_use]
pub fn rule(case: &Case, published: &Published, ours: &Result<Option<Value>, ValidationError>) -> Option<&'static str> {
    match (published, ours) {
        (Published::Threw(text), _) if text == "No notation for a function" => {
            let inherited = declared_prototype_names(case).next();
            let names = inherited.map(|_| "names of Object.prototype are names like others");
            // An index signature comes by the method `format` of each date.
            names.or(contains_date(&case.value).then_some("a date has no entries of an index signature"))
        }
        (Published::Threw(text), ours) => thrown(case, text, ours.as_ref().err()),
        (Published::Refused(text), ours) => {
            let error = ours.as_ref().err();
            nullable_by_name(case, text, error)
                .or_else(|| declared_by_inner_union(case, text, error))
                .or_else(|| prototype_names(case, text, error))
        }
        (Published::Success(_), Err(error)) => forgotten_partial(case, error).or_else(|| inherited_value(case, error)),
        (Published::Success(Some(published)), Ok(Some(ours))) => {
            let again = case.program.prune(case.slot, published, case.options);
            if again.is_ok_and(|again| same(&again, ours, Keys::AnyOrder)) {
                return Some(PRUNED);
            }
            let names: Vec<&str> = declared_prototype_names(case).collect();
            let (published, ours) = (without(published, &names), without(ours, &names));
            if same(&published, &ours, Keys::SameOrder) {
                return Some("names of Object.prototype are names like others");
            }
            pruned_properly(case, &published, &ours)
                .or_else(|| kept_by_inner_union(case, &published, &ours))
                .or_else(|| {
                    // Where a name makes the published package refuse a member of a union, that keeps less.
                    let keeps_more = differences(&ours, &published, &[], &mut Vec::new(), Extra::No);
                    (!names.is_empty() && keeps_more).then_some("names of Object.prototype are names like others")
                })
                .or_else(|| {
                    // A member of a union that matches after all keeps more, and sets the order.
                    let keeps_more = || differences(&ours, &published, &[], &mut Vec::new(), Extra::No);
                    let is_wider = wider_slots(case).next().is_some();
                    (is_wider && keeps_more()).then_some("what a type admits by its name may be left out")
                })
        }
        _ => None,
    }
}

/// "missing reference: throws → return an error", and likewise for every other
/// exception: what is no answer in the published package is one here. Within a
/// union the answer may be that another member accepts the value.
fn thrown(case: &Case, text: &str, ours: Option<&ValidationError>) -> Option<&'static str> {
    if let Some(ValidationErrorKind::Schema(error)) = ours.map(|error| &error.kind) {
        if error.to_string() == text {
            return Some("a broken type is an error with the published text, not an exception");
        }
        if matches!(error, SchemaError::NotAnInterface(_) | SchemaError::TooDeep(_)) {
            return Some("a type that cannot be flattened is an error, not an exception");
        }
    }
    if text == "Do not know how to serialize a BigInt" && contains_bigint(&case.value) {
        return Some("a bigint is printed, not thrown at");
    }
    let is_empty = |node: &Node| matches!(node, Node::Union(members) if members.is_empty());
    if text == "Cannot read properties of undefined (reading 'errMsg')" && case.program.nodes().iter().any(is_empty) {
        return Some("a union without members refuses, it does not crash");
    }
    // The published package follows a name to an interface, but not to a mapped
    // type, where it flattens one (`keyof`, `Overwrite`, `T['k']`).
    let mapped = ["Pick", "Omit", "Partial", "Overwrite"];
    let is_mapped = text.strip_prefix("Cannot flatten non interface type: ").is_some_and(|kind| mapped.contains(&kind));
    is_mapped.then_some("a mapped type may be flattened by its name too")
}

/// "`type N = string|null` referenced in a required property: null rejected → dereference".
fn nullable_by_name(case: &Case, text: &str, ours: Option<&ValidationError>) -> Option<&'static str> {
    wider_slots(case)
        .any(|name| says_more_often(text, ours, &format!("Missing required property `{name}`.")))
        .then_some("what a type admits by its name may be left out")
}

/// The names of required properties and elements that admit null or undefined by a name only.
pub(super) fn wider_slots(case: &Case) -> impl Iterator<Item = String> {
    let is_wider =
        |slot: &Slot| slot.resolved.null && !slot.written.null || slot.resolved.undefined && !slot.written.undefined;
    case.program.nodes().iter().flat_map(move |node| -> Vec<String> {
        if let Node::Tuple { elements, .. } = node {
            return (0..elements.len()).filter(|at| is_wider(&elements[*at])).map(|at| at.to_string()).collect();
        }
        let properties = flat(node).into_iter().flat_map(|flat| flat.properties.values());
        let wider = properties.filter(|property| !property.optional && is_wider(&property.slot));
        wider.map(|property| property.name.to_string()).collect()
    })
}

/// "union allowed-property list leaking through arrays → recompute per union".
fn declared_by_inner_union(case: &Case, text: &str, ours: Option<&ValidationError>) -> Option<&'static str> {
    let is_meant = |name: &str| says_more_often(text, ours, &format!("Excess property `{name}` should not exists."));
    let mut inner = Vec::new();
    for union in members_nodes(case) {
        unions_within(case, union, false, &mut inner);
    }
    // An index signature declares every name.
    let allows_all = |node: &NodeId| has_index(case, *node) && says_more_often(text, ours, "Excess property `");
    let found = inner.iter().any(|node| allows_all(node) || declared(case, *node).iter().any(|name| is_meant(name)));
    found.then_some(OF_INNER_UNION)
}

const OF_INNER_UNION: &str = "a union inside of an array declares what its own members declare";

/// The same for pruning: what an index signature of the inner union allows is kept.
fn kept_by_inner_union(case: &Case, published: &Value, ours: &Value) -> Option<&'static str> {
    let mut inner = Vec::new();
    for union in members_nodes(case) {
        unions_within(case, union, false, &mut inner);
    }
    let keeps_more = || differences(ours, published, &[], &mut Vec::new(), Extra::No);
    (inner.iter().any(|node| has_index(case, *node)) && keeps_more()).then_some(OF_INNER_UNION)
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
    let ours = ours.map_or(String::new(), |error| error.to_string());
    // What the value inherits is not its own.
    let is_inherited = |name: &str| ours.contains(&format!("Missing required property `{name}`."));
    let is_own = |name: &str| ours.matches(name).count() > text.matches(name).count();
    // What a type inherits of such a name is no property of it in the published package.
    let is_excess = |name: &str| text.contains(&format!("Excess property `{name}`"));
    let is_function = text.contains("actually `function`");
    declared_prototype_names(case)
        .any(|name| {
            is_function
                || is_excess(name)
                || text.matches(name).count() > ours.matches(name).count()
                || is_inherited(name)
                || is_own(name)
        })
        .then_some("names of Object.prototype are names like others")
        .or_else(|| {
            let unnamed = text.contains("actually `undefined`.") && !ours.contains("actually `undefined`.");
            (unnamed && has_key(&case.value, "constructor")).then_some("a key `constructor` does not hide the class")
        })
}

fn has_key(value: &Value, wanted: &str) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(|value| has_key(value, wanted)),
        Value::Object(object) => object.iter().any(|(key, value)| key == wanted || has_key(value, wanted)),
        _ => false,
    }
}

/// The other way round: what a value inherits from Object.prototype is not its own, and
/// what a type inherits of such a name is checked.
fn inherited_value(case: &Case, error: &ValidationError) -> Option<&'static str> {
    let text = error.to_string();
    declared_prototype_names(case)
        .any(|name| text.contains(&format!("`{name}`")) || text.contains(&format!("{name}`: ")))
        .then_some("names of Object.prototype are names like others")
}

fn without(value: &Value, names: &[&str]) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(|element| without(element, names)).collect::<Vec<_>>().into(),
        Value::Object(object) => {
            let entries = object.iter().filter(|(key, _)| !names.contains(key));
            Value::Object(entries.map(|(key, value)| (key, without(value, names))).collect())
        }
        other => other.clone(),
    }
}

/// Names that every JavaScript object inherits.
pub(super) const OBJECT_PROTOTYPE: [&str; 11] = [
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

fn declared_prototype_names(case: &Case) -> impl Iterator<Item = &'static str> {
    OBJECT_PROTOTYPE.into_iter().filter(move |name| case.program.nodes().iter().any(|node| declares(node, name)))
}

/// Whether an object type, or the `keyof` of one, has a property of that name.
fn declares(node: &Node, name: &str) -> bool {
    match node {
        Node::Literal(Literal::String(literal)) => literal == name,
        node => flat(node).is_some_and(|flat| flat.properties.contains_key(name)),
    }
}

/// Whether an object type declares a property of such a name.
pub(super) fn declares_inherited(node: &Node) -> bool {
    OBJECT_PROTOTYPE.iter().any(|name| declares(node, name))
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
    let array_in_union = members_nodes(case).any(|node| has_arrays(case, node));
    let mixed = nodes.iter().filter_map(flat).any(|flat| flat.index.is_some() && !flat.properties.is_empty())
        || members_nodes(case).any(|node| has_index(case, node) && !declared(case, node).is_empty());
    if !array_in_union && !mixed {
        return None;
    }
    let strictly = ValidateOptions { excess_property_checks: true, ..case.options };
    let is_valid = |value: &Value| case.program.accepts(case.slot, value, strictly);
    let mut dropped = Vec::new();
    // An index signature may have taken away what the declared property keeps.
    let extra = if mixed { Extra::Yes } else { Extra::No };
    let nothing_else_differs = differences(published, ours, &[], &mut dropped, extra);
    let nothing_undeclared_stays = is_valid(ours);
    // A union allows what any of its members declares, but keeps only what those declare that match.
    let is_of_union = |key: &str| members_nodes(case).any(|node| declared(case, node).contains(&key));
    let only_undeclared_goes = dropped.iter().all(|dropped| {
        let mut with_it = ours.clone();
        dropped.put_into(&mut with_it);
        !is_valid(&with_it) || is_of_union(&dropped.key)
    });
    (nothing_else_differs && nothing_undeclared_stays && only_undeclared_goes).then_some(PRUNED)
}

const PRUNED: &str = "prune reaches arrays in unions and declared properties beside index signatures";

/// Unions and intersections.
fn members_nodes(case: &Case) -> impl Iterator<Item = NodeId> {
    case.program.ids().filter(|id| matches!(case.program.node(*id), Node::Union(_) | Node::Intersection(_)))
}

fn has_arrays(case: &Case, node: NodeId) -> bool {
    match case.program.node(node) {
        Node::Array(_) | Node::Tuple { .. } => true,
        Node::NonNullable(slot) => has_arrays(case, slot.node),
        Node::Union(members) | Node::Intersection(members) => {
            members.iter().any(|member| has_arrays(case, member.slot.node))
        }
        _ => false,
    }
}

fn has_index(case: &Case, node: NodeId) -> bool {
    match case.program.node(node) {
        Node::Union(members) | Node::Intersection(members) => {
            members.iter().any(|member| has_index(case, member.slot.node))
        }
        node => flat(node).is_some_and(|flat| flat.index.is_some()),
    }
}

/// A property that one output leaves out.
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

/// Whether the second of two outputs may hold properties that the first does not.
#[derive(Clone, Copy, PartialEq)]
enum Extra {
    Yes,
    No,
}

/// Collects the properties of `whole` that `part` leaves out. Says whether
/// nothing else differs: but for nulls filled in or left out, elements beyond a
/// tuple, and objects of a class of which the properties are taken.
fn differences(whole: &Value, part: &Value, path: &[String], dropped: &mut Vec<Dropped>, extra: Extra) -> bool {
    let within = |step: String, whole: &Value, part: &Value, dropped: &mut Vec<Dropped>| {
        differences(whole, part, &[path, &[step]].concat(), dropped, extra)
    };
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            let mut agree =
                extra == Extra::Yes || part.iter().all(|(key, value)| whole.contains_key(key) || value.is_nullish());
            for (key, value) in whole.iter() {
                match part.get(key) {
                    Some(part) => agree &= within(key.to_owned(), value, part, dropped),
                    None if value.is_nullish() => {}
                    None => {
                        let (path, key) = (path.to_vec(), key.to_owned());
                        dropped.push(Dropped { path, key, value: value.clone() });
                    }
                }
            }
            agree
        }
        (Value::Array(whole), Value::Array(part)) => {
            part.len() <= whole.len()
                && (0..part.len()).all(|at| within(at.to_string(), &whole[at], &part[at], dropped))
        }
        (Value::Buffer(..) | Value::Date(_) | Value::ObjectId(_), Value::Object(_)) => true,
        (whole, part) => whole.is_nullish() && part.is_nullish() || same(whole, part, Keys::SameOrder),
    }
}

/// Whether the published text complains in these words more often than ours.
fn says_more_often(published: &str, ours: Option<&ValidationError>, words: &str) -> bool {
    let ours = ours.map_or(0, |error| error.to_string().matches(words).count());
    published.matches(words).count() > ours
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
