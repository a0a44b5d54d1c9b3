//! Between values and their JSON form, by type (reference §7).
//!
//! Depends on the program and the sibling modules. Only dates, bytes and custom
//! types have a form of their own; whether a value is valid is not decided here,
//! except where it decides which members of a union convert a value.
//!
//! The published package lets every member of a union convert, one after another,
//! so that a date in one member makes dates of strings in the others. Here those
//! members convert that the value is of, once they have converted it (reference
//! §15): first if an encoder can have written each of the forms, then by whatever
//! else the published package accepts. Where no member matches, all of them
//! convert, so that the error is the published one.

use std::collections::HashMap;

use polywire_schema::{
    BufferKind, Checker, CustomType, Flat, KeyType, MAX_VALUE_DEPTH, Members, Node, NodeId, Nullness, Object, Program,
    Slot, ValidateOptions, ValidationError, ValidationErrorKind, Value, is_number_key, iso_text, parse_date, time_clip,
};

use super::{
    base64,
    change::{Change, Step},
    plan::JsonPlan,
};

/// Why a value cannot be converted from JSON.
#[derive(Debug)]
pub(super) enum ConvertError {
    /// What a custom type says.
    Custom(String),
    /// A typed array without a JSON form.
    UnsupportedArray(BufferKind),
    /// More elements than the tuple type has.
    ExcessElements(Box<ValidationError>),
}

/// Boxed on the way, so that a deep value costs little stack.
type Failed = Box<ConvertError>;

/// Which way to convert, and what becomes of a value that is not of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Mode {
    /// To JSON. The value is valid.
    Encode,
    /// From JSON. What is not of the type stays as it is.
    Decode,
    /// From JSON, if the value is of the type then.
    MatchLeniently,
    /// From JSON, if the value is of the type then, and an encoder can have written it.
    Match,
}

impl Mode {
    fn matches(self) -> bool {
        matches!(self, Self::Match | Self::MatchLeniently)
    }
}

/// What converting changes in a value. Nothing, not even [`Change::None`], where the
/// mode is one that matches and the value is not of the type.
type Converted = Result<Option<Change>, Failed>;

/// The changes of the parts of an array or object.
type Parts = Vec<(Step, Change)>;

/// Whether a part is of its type.
type Fits = Result<bool, Failed>;

/// How many nodes may be entered within each other: types may nest unions without the
/// value getting deeper, and the stack has an end.
const MAX_FRAMES: u32 = 2 * MAX_VALUE_DEPTH + 64;

/// How much work each part of a value may be on average to copy and check once more, where
/// an intersection has it only when it is converted. That could be done at every level.
const SECOND_LOOKS: u64 = 100;

/// A conversion that is going on.
pub(super) struct Converter<'p, 'v> {
    program: &'p Program,
    plan: &'p JsonPlan,
    /// Excess checks are off.
    checker: Checker<'p, 'v>,
    checks: ValidateOptions,
    frames: u32,
    /// The value that is decoded.
    whole: Option<&'v Value>,
    /// How much work second looks may still be; unknown before the first.
    second_looks_left: Option<u64>,
    /// What unions and intersections made of objects and arrays, by their address: members
    /// with a part in common would convert it once for each way that leads there.
    known: HashMap<(NodeId, usize, Mode), Option<Change>>,
}

impl<'p, 'v> Converter<'p, 'v> {
    pub(super) fn new(program: &'p Program, plan: &'p JsonPlan, checks: ValidateOptions) -> Self {
        let checks = ValidateOptions { excess_property_checks: false, ..checks };
        Self {
            program,
            plan,
            checker: program.checker(checks),
            checks,
            frames: 0,
            whole: None,
            second_looks_left: None,
            known: HashMap::new(),
        }
    }

    /// What becomes of a valid value on the way to JSON.
    pub(super) fn encode(mut self, slot: Slot, value: &'v Value) -> Change {
        // No conversion in this direction fails.
        self.node(slot, value, Mode::Encode).ok().flatten().unwrap_or(Change::None)
    }

    /// What becomes of a value from JSON, be it valid or not.
    pub(super) fn decode(mut self, slot: Slot, value: &'v Value) -> Result<Change, Failed> {
        self.whole = Some(value);
        Ok(self.node(slot, value, Mode::Decode)?.unwrap_or(Change::None))
    }

    fn node(&mut self, slot: Slot, value: &'v Value, mode: Mode) -> Converted {
        if value.is_nullish() || !self.plan.converts(slot.node) {
            return self.unchanged(slot, value, mode);
        }
        if self.frames == MAX_FRAMES {
            // No type has values so deep.
            return Ok((!mode.matches()).then_some(Change::None));
        }
        self.frames += 1;
        let program = self.program;
        let converted = match (program.node(slot.node), value) {
            (Node::NonNullable(target), _) => self.node(*target, value, mode),
            (Node::Array(element), Value::Array(elements)) => self.array(*element, elements, mode),
            (Node::Tuple { elements: slots, optional_from }, Value::Array(elements)) => {
                self.tuple(slots, *optional_from, elements, mode)
            }
            (Node::Interface(interface), Value::Object(object)) => self.object(&interface.flat, object, mode),
            (Node::Mapped(mapped), Value::Object(object)) => self.object(&mapped.flat, object, mode),
            (Node::Union(members) | Node::Intersection(members), _) => self.members(slot.node, members, value, mode),
            (other, _) => self.leaf(other, slot, value, mode),
        };
        self.frames -= 1;
        converted
    }

    /// A type that has no parts, or a value that has none of those.
    fn leaf(&mut self, node: &Node, slot: Slot, value: &'v Value, mode: Mode) -> Converted {
        match node {
            Node::Date => self.date(slot, value, mode),
            Node::Buffer(kind) => self.buffer(*kind, slot, value, mode),
            Node::Custom(custom) => self.custom(&**custom, slot, value, mode),
            _ => self.unchanged(slot, value, mode),
        }
    }

    fn unchanged(&mut self, slot: Slot, value: &'v Value, mode: Mode) -> Converted {
        let is_refused = mode.matches() && !self.checker.accepts(slot, value);
        Ok((!is_refused).then_some(Change::None))
    }

    fn date(&mut self, slot: Slot, value: &'v Value, mode: Mode) -> Converted {
        let ms = match (mode, value) {
            (Mode::Encode, Value::Date(ms)) => {
                let text = iso_text(*ms).map_or(Value::Null, Value::from);
                return Ok(Some(Change::replace(text)));
            }
            (Mode::Encode, _) => return Ok(Some(Change::None)),
            (_, Value::String(text)) => parse_date(&text.to_string_lossy()),
            (_, Value::Number(ms)) => time_clip(*ms),
            _ => return self.unchanged(slot, value, mode),
        };
        let is_refused = mode == Mode::Match && ms.is_nan();
        Ok((!is_refused).then_some(Change::replace(Value::Date(ms))))
    }

    fn buffer(&mut self, kind: BufferKind, slot: Slot, value: &'v Value, mode: Mode) -> Converted {
        let text = match (mode, value) {
            (Mode::Encode, Value::Buffer(_, bytes)) => {
                return Ok(Some(Change::replace(base64::encoded(bytes))));
            }
            (Mode::Encode, _) => return Ok(Some(Change::None)),
            (_, Value::String(text)) => text.to_string_lossy(),
            _ => return self.unchanged(slot, value, mode),
        };
        let bytes = base64::decode_elements(&text, kind);
        match (mode, bytes) {
            (Mode::Decode, None) => Err(ConvertError::UnsupportedArray(kind).into()),
            (_, None) => Ok(None),
            (Mode::Match, Some(bytes)) if base64::encoded(&bytes) != text => Ok(None),
            (_, Some(bytes)) => Ok(Some(Change::replace(Value::Buffer(kind, bytes)))),
        }
    }

    fn custom(&mut self, custom: &dyn CustomType, slot: Slot, value: &'v Value, mode: Mode) -> Converted {
        if mode == Mode::Encode {
            // As published, what is no object is its own form. What the type does not
            // know belongs to another member of a union.
            let is_object = matches!(value.type_name(), "Object" | "Array");
            let form = (is_object && custom.validate(value).is_ok()).then(|| custom.encode_json(value)).flatten();
            return Ok(Some(form.map_or(Change::None, Change::replace)));
        }
        let decoded = match custom.decode_json(value) {
            None => return self.unchanged(slot, value, mode),
            Some(Ok(decoded)) => decoded,
            Some(Err(_)) if mode.matches() => return Ok(None),
            Some(Err(text)) => return Err(ConvertError::Custom(text).into()),
        };
        let is_refused = mode.matches() && custom.validate(&decoded).is_err();
        let is_written = || custom.encode_json(&decoded).is_none_or(|form| form == *value);
        if is_refused || mode == Mode::Match && !is_written() {
            return Ok(None);
        }
        Ok(Some(Change::replace(decoded)))
    }

    fn array(&mut self, slot: Slot, elements: &'v [Value], mode: Mode) -> Converted {
        let mut parts = Vec::new();
        for (at, value) in elements.iter().enumerate() {
            let converted = self.node(slot, value, mode).map_err(|error| error.within(&at.to_string()))?;
            if !add(&mut parts, converted, || Step::Element(at)) {
                return Ok(None);
            }
        }
        Ok(Some(Change::within(parts)))
    }

    fn tuple(&mut self, slots: &[Slot], optional_from: usize, elements: &'v [Value], mode: Mode) -> Converted {
        // The published package fails at elements without a type, unless they are null; those are cut.
        let excess = elements.get(slots.len()..).unwrap_or_default();
        if mode != Mode::Encode && excess.iter().any(|value| *value != Value::Null) {
            let kind = ValidationErrorKind::TooManyElements { found: elements.len(), allowed: slots.len() };
            let error = || ConvertError::ExcessElements(Box::new(ValidationError::new(kind)));
            return if mode.matches() { Ok(None) } else { Err(error().into()) };
        }
        let mut parts = Vec::new();
        for (at, slot) in slots.iter().enumerate() {
            let converted = self.part(*slot, elements.get(at), at >= optional_from, mode);
            let converted = converted.map_err(|error| error.within(&at.to_string()))?;
            if !add(&mut parts, converted, || Step::Element(at)) {
                return Ok(None);
            }
        }
        Ok(Some(Change::within(parts)))
    }

    fn object(&mut self, flat: &Flat, object: &'v Object, mode: Mode) -> Converted {
        if mode.matches() && !self.has_all(flat, object) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        // In the order of the value, in which the published package comes by what it refuses.
        for (key, value) in object.iter() {
            if !self.property(flat, key, value, mode, &mut parts)? {
                return Ok(None);
            }
        }
        Ok(Some(Change::within(parts)))
    }

    /// Whether no property is missing, and every key is one that the type can have.
    fn has_all(&self, flat: &Flat, object: &Object) -> bool {
        let wants_numbers = flat.index.is_some_and(|index| index.key == KeyType::Number);
        let mut properties = flat.properties.values();
        properties.all(|property| {
            object.contains_key(&property.name) || self.may_be_missing(property.slot, property.optional)
        }) && (!wants_numbers || object.keys().all(is_number_key))
    }

    /// Adds the change of a property or an entry of an index signature; false where it is not of its type.
    fn property(&mut self, flat: &Flat, key: &str, value: &'v Value, mode: Mode, parts: &mut Parts) -> Fits {
        let property = flat.properties.get(key);
        let converted = match (property, flat.index) {
            (Some(property), _) => self.part(property.slot, Some(value), property.optional, mode),
            (None, Some(index)) => self.node(index.slot, value, mode),
            (None, None) => return Ok(true),
        };
        let converted = converted.map_err(|error| error.within(key))?;
        if !add(parts, converted, || Step::Property(key.into())) {
            return Ok(false);
        }
        match (property, flat.index) {
            // Declared properties have to be of this type too, but have their own form.
            (Some(_), Some(index)) if mode.matches() => Ok(self.node(index.slot, value, mode)?.is_some()),
            _ => Ok(true),
        }
    }

    /// A property or the element of a tuple (reference §6.2).
    fn part(&mut self, slot: Slot, value: Option<&'v Value>, optional: bool, mode: Mode) -> Converted {
        match value {
            None | Some(Value::Undefined) => {}
            Some(Value::Null) if !self.checks.strict_null_checks => {}
            Some(value) => return self.node(slot, value, mode),
        }
        Ok((!mode.matches() || self.may_be_missing(slot, optional)).then_some(Change::None))
    }

    fn may_be_missing(&self, slot: Slot, optional: bool) -> bool {
        let may_be = |can: Nullness| can.undefined || can.null && !self.checks.strict_null_checks;
        optional || may_be(slot.written) || may_be(slot.resolved)
    }

    /// A union or intersection, unless the answer is known.
    fn members(&mut self, id: NodeId, members: &Members, value: &'v Value, mode: Mode) -> Converted {
        // Values keep their address while they are looked at.
        let key = (id, std::ptr::from_ref(value).addr(), mode);
        let comes_again = matches!(value, Value::Array(_) | Value::Object(_));
        if comes_again && let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let is_union = matches!(self.program.node(id), Node::Union(_));
        let mut all = None;
        if is_union && mode != Mode::Encode {
            all = self.matching(members, value, Mode::Match)?;
            if all.is_none() && mode != Mode::Match {
                all = self.matching(members, value, Mode::MatchLeniently)?;
            }
        }
        if all.is_none() && !(is_union && mode.matches()) {
            all = self.every(members, value, mode)?;
        }
        if comes_again {
            self.known.insert(key, all.clone());
        }
        Ok(all)
    }

    /// What members change that the value is of; nothing where there is none.
    fn matching(&mut self, members: &Members, value: &'v Value, mode: Mode) -> Converted {
        let mut all = None;
        for at in members.candidates(value) {
            all = both(all, self.node(members[at].slot, value, mode)?);
        }
        Ok(all)
    }

    /// What every member changes. In modes that match, all of them have to match the value once
    /// others have converted it: what is a text in JSON is an object for `Date & {}`.
    fn every(&mut self, members: &Members, value: &'v Value, mode: Mode) -> Converted {
        let mut changes = Vec::with_capacity(members.len());
        for member in members.iter() {
            changes.push((member.slot, self.node(member.slot, value, mode)?));
        }
        let all = changes.iter().flat_map(|(_, change)| change.clone()).fold(Change::None, Change::and);
        let is_matched = !mode.matches()
            || changes.iter().all(|(slot, own)| self.stays_matched(*slot, own.as_ref(), &all))
            || !matches!(all, Change::None) && self.accepts_converted(members, value, &all);
        Ok(is_matched.then_some(all))
    }

    /// Whether a member of an intersection has matched, and others have converted nothing that it declares.
    fn stays_matched(&self, slot: Slot, own: Option<&Change>, all: &Change) -> bool {
        match (own, all) {
            (None, _) | (Some(Change::None), Change::Replace(_)) => false,
            (Some(own), Change::Within(parts)) => self.program.flat(slot.node).is_none_or(|flat| {
                let mut declared = parts.iter().filter(|(step, _)| match step {
                    Step::Property(name) => flat.properties.contains_key(name),
                    Step::Element(_) => false,
                });
                declared.all(|(step, _)| own.reaches(step))
            }),
            _ => true,
        }
    }

    /// A second look at a value, as it is once it is converted.
    fn accepts_converted(&mut self, members: &Members, value: &Value, change: &Change) -> bool {
        let left = self.second_looks_left.unwrap_or_else(|| SECOND_LOOKS * self.whole.map_or(0, Value::size));
        let size = value.size();
        if left < size {
            self.second_looks_left = Some(left);
            return false;
        }
        let mut converted = value.clone();
        change.clone().apply(&mut converted);
        let mut checker = self.program.checker(self.checks);
        let is_accepted = members.iter().all(|member| checker.accepts(member.slot, &converted));
        self.second_looks_left = Some(left.saturating_sub(size + checker.steps()));
        is_accepted
    }
}

/// Adds the change of a part, if it changes; false where there is none.
fn add(parts: &mut Parts, converted: Option<Change>, step: impl FnOnce() -> Step) -> bool {
    match converted {
        Some(Change::None) => true,
        Some(change) => {
            parts.push((step(), change));
            true
        }
        None => false,
    }
}

fn both(first: Option<Change>, second: Option<Change>) -> Option<Change> {
    match (first, second) {
        (Some(first), Some(second)) => Some(first.and(second)),
        (first, second) => first.or(second),
    }
}

impl ConvertError {
    fn within(mut self: Box<Self>, segment: &str) -> Box<Self> {
        if let Self::ExcessElements(error) = &mut *self {
            error.path.insert(0, segment.to_owned());
        }
        self
    }
}
