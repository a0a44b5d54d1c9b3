//! Checking values against a program (reference §6.2).
//!
//! Depends on the program, errors and values. Invariants: the pass that accepts
//! and the pass that explains are the same code, so that they give the same
//! verdict; accepting allocates nothing; the work is bounded by the sizes of
//! value and type, also where unions within unions try a part of the value
//! again and again.

use crate::{
    BufferKind, EnumMember, EnumValue, Flat, KeyType, Literal, Members, Node, NodeId, Object, Program, Scalar, Slot,
    ValidateOptions, ValidationError, ValidationErrorKind as Kind, Value,
    date_method::FORMAT,
    declared::Allowed,
    effort::Effort,
    js_text::number_text,
    mode::{Accept, Explain, Mode},
    own_properties::own_properties,
    presence::Presence,
};

/// How many objects and arrays may stand within each other in a value.
pub const MAX_VALUE_DEPTH: u32 = 512;

/// How many objects, arrays, unions and intersections may be entered at once:
/// types may nest unions without the value getting deeper, and the stack has an end.
const MAX_FRAMES: u32 = 4 * MAX_VALUE_DEPTH;

impl Program {
    /// Checks a value.
    ///
    /// A valid value costs no allocation; this is the hot path of dynamic services.
    ///
    /// # Errors
    /// Says what was expected, what was found and where, in the published words.
    pub fn validate(&self, slot: Slot, value: &Value, options: ValidateOptions) -> Result<(), ValidationError> {
        if self.accepts(slot, value, options) {
            return Ok(());
        }
        Check::new(self, options, Explain::default()).node(slot.node, value, None)
    }

    /// Whether a value is valid: [`validate`](Self::validate) without the reasons.
    #[must_use]
    pub fn accepts(&self, slot: Slot, value: &Value, options: ValidateOptions) -> bool {
        Check::new(self, options, Accept).node(slot.node, value, None).is_ok()
    }
}

/// A check that is going on.
pub(crate) struct Check<'p, M: Mode> {
    pub(crate) program: &'p Program,
    options: ValidateOptions,
    pub(crate) mode: M,
    depth: u32,
    frames: u32,
    effort: Effort<Result<(), M::Error>>,
}

/// Whether a value is valid, as far as a pass keeps the reason.
pub(crate) type Checked<M> = Result<(), <M as Mode>::Error>;

impl<'p, M: Mode> Check<'p, M> {
    pub(crate) fn new(program: &'p Program, options: ValidateOptions, mode: M) -> Self {
        Self { program, options, mode, depth: 0, frames: 0, effort: Effort::default() }
    }

    /// Checks a value against a node. `around` is what unions around the value declare.
    pub(crate) fn node(&mut self, id: NodeId, value: &Value, around: Option<&Allowed<'_>>) -> Checked<M> {
        self.effort.step();
        let program = self.program;
        match program.node(id) {
            Node::Any => Ok(()),
            Node::Boolean => self.expect(matches!(value, Value::Bool(_)), "boolean", value),
            Node::Number(scalar) => self.number(*scalar, value),
            Node::String => self.expect(matches!(value, Value::String(_)), "string", value),
            Node::Date => self.expect(matches!(value, Value::Date(_)), "Date", value),
            Node::Buffer(kind) => self.buffer(*kind, value),
            Node::Literal(literal) => self.literal(literal, value),
            Node::Enum(members) => self.enumeration(members, value),
            Node::Object => self.expect(matches!(value.type_name(), "Object" | "Array"), "Object", value),
            Node::Array(element) => self.array(*element, value, around),
            Node::Tuple { elements, optional_from } => self.tuple(elements, *optional_from, value),
            Node::Interface(interface) => self.object(&interface.flat, value, around),
            Node::Mapped(mapped) => self.object(&mapped.flat, value, around),
            Node::Union(members) => {
                let allowed = Allowed::enter(&members.declared, id, around);
                self.member_of(id, value, &allowed, |check| check.union(members, value, &allowed))
            }
            Node::Intersection(members) => {
                let allowed = Allowed::enter(&members.declared, id, around);
                self.member_of(id, value, &allowed, |check| {
                    members.iter().try_for_each(|member| check.node(member.slot.node, value, Some(&allowed)))
                })
            }
            Node::NonNullable(target) if value.is_nullish() && !target.any => {
                Err(self.wrong_type("NonNullable", value))
            }
            Node::NonNullable(target) => self.node(target.node, value, around),
            Node::Custom(custom) => custom.validate(value).map_err(|text| self.mode.refuse(|_| Kind::Custom { text })),
            Node::Invalid(error) => Err(self.mode.refuse(|_| Kind::Schema(error.clone()))),
        }
    }

    fn expect(&mut self, valid: bool, expected: &'static str, value: &Value) -> Checked<M> {
        if valid { Ok(()) } else { Err(self.wrong_type(expected, value)) }
    }

    fn wrong_type(&mut self, expected: &'static str, value: &Value) -> M::Error {
        self.mode.refuse(|_| Kind::WrongType { expected: expected.into(), found: value.type_name() })
    }

    fn number(&mut self, scalar: Scalar, value: &Value) -> Checked<M> {
        let (name, is_big) = (scalar.name(), scalar.is_big());
        match value {
            Value::Number(number) if !is_big => {
                // Infinite and NaN have a fraction that is no zero.
                let valid = match scalar {
                    Scalar::Int => number.fract() == 0.0,
                    Scalar::Uint => number.fract() == 0.0 && *number >= 0.0,
                    _ => true,
                };
                if valid {
                    return Ok(());
                }
                Err(self.mode.refuse(|_| Kind::WrongScalar { found: number_text(*number), expected: name }))
            }
            Value::BigInt(number) if is_big => {
                if scalar != Scalar::BigUint64 || *number >= 0 {
                    return Ok(());
                }
                Err(self.mode.refuse(|_| Kind::WrongScalar { found: number.to_string(), expected: name }))
            }
            other => Err(self.wrong_type(if is_big { "bigint" } else { "number" }, other)),
        }
    }

    fn buffer(&mut self, kind: BufferKind, value: &Value) -> Checked<M> {
        let found = match value {
            Value::Buffer(found, _) if *found == kind => return Ok(()),
            // Where both are objects the published text names the classes.
            Value::Buffer(found, _) => found.name(),
            Value::Date(_) => "Date",
            Value::ObjectId(_) => "ObjectId",
            other => other.type_name(),
        };
        Err(self.mode.refuse(|_| Kind::WrongType { expected: kind.name().into(), found }))
    }

    fn literal(&mut self, literal: &Literal, value: &Value) -> Checked<M> {
        let valid = match (literal, value) {
            (Literal::Null | Literal::Undefined, _) if !self.options.strict_null_checks => value.is_nullish(),
            (Literal::Null, Value::Null) | (Literal::Undefined, Value::Undefined) => true,
            (Literal::Bool(expected), Value::Bool(found)) => expected == found,
            (Literal::Number(expected), Value::Number(found)) => expected == found,
            (Literal::String(expected), Value::String(found)) => *found == **expected,
            _ => false,
        };
        if valid {
            return Ok(());
        }
        Err(self.mode.refuse(|texts| Kind::WrongLiteral { expected: literal.clone(), found: texts.of(value) }))
    }

    fn enumeration(&mut self, members: &[EnumMember], value: &Value) -> Checked<M> {
        let is_member = |member: &EnumMember| match (&member.value, value) {
            (EnumValue::Number(expected), Value::Number(found)) => expected == found,
            (EnumValue::String(expected), Value::String(found)) => *found == **expected,
            _ => false,
        };
        let found = || match value {
            Value::Number(number) => Some(number_text(*number)),
            Value::String(text) => Some(text.to_string_lossy().into_owned()),
            _ => None,
        };
        if members.iter().any(is_member) {
            return Ok(());
        }
        Err(self.mode.refuse(|_| match found() {
            Some(found) => Kind::NoEnumMember { found },
            None => Kind::WrongType { expected: "string | number".into(), found: value.type_name() },
        }))
    }

    fn array(&mut self, element: Slot, value: &Value, around: Option<&Allowed<'_>>) -> Checked<M> {
        let Value::Array(elements) = value else { return Err(self.wrong_type("Array", value)) };
        self.nested(|check| {
            for (at, value) in elements.iter().enumerate() {
                check.node(element.node, value, around).map_err(|error| M::within(error, || at.to_string()))?;
            }
            Ok(())
        })
    }

    fn tuple(&mut self, slots: &[Slot], optional_from: usize, value: &Value) -> Checked<M> {
        let Value::Array(elements) = value else { return Err(self.wrong_type("Array", value)) };
        if self.options.excess_property_checks && elements.len() > slots.len() {
            let (found, allowed) = (elements.len(), slots.len());
            return Err(self.mode.refuse(|_| Kind::TooManyElements { found, allowed }));
        }
        let strict = self.options.strict_null_checks;
        self.nested(|check| {
            for (at, slot) in slots.iter().enumerate() {
                match Presence::of(elements.get(at), slot, at >= optional_from, strict) {
                    Presence::Given(value) => {
                        check.node(slot.node, value, None).map_err(|error| M::within(error, || at.to_string()))?
                    }
                    Presence::Left { .. } => {}
                    Presence::Missing => {
                        return Err(check.mode.refuse(|_| Kind::MissingProperty { name: at.to_string() }));
                    }
                }
            }
            Ok(())
        })
    }

    fn object(&mut self, flat: &Flat, value: &Value, around: Option<&Allowed<'_>>) -> Checked<M> {
        let Some(object) = own_properties(value) else { return Err(self.wrong_type("Object", value)) };
        let inherited = matches!(value, Value::Date(_)).then_some(FORMAT);
        self.nested(|check| check.properties(flat, &object, inherited, around))
    }

    fn properties(
        &mut self,
        flat: &Flat,
        object: &Object,
        inherited: Option<&str>,
        around: Option<&Allowed<'_>>,
    ) -> Checked<M> {
        let keys = flat.index.map(|index| index.key).or(around.and_then(|around| around.index));
        if keys == Some(KeyType::Number)
            && let Some(key) = object.keys().chain(inherited).find(|key| !is_integer(key))
        {
            return Err(self.mode.refuse(|_| Kind::WrongKey { found: key.to_owned() }));
        }
        let no_excess = self.options.excess_property_checks && keys.is_none();
        if M::EXPLAINS && no_excess {
            self.no_excess(flat, object, around)?;
        }
        let mut declared = 0;
        for property in flat.properties.values() {
            let value = object.get(&property.name);
            declared += usize::from(value.is_some());
            match Presence::of(value, &property.slot, property.optional, self.options.strict_null_checks) {
                Presence::Given(value) => self
                    .node(property.slot.node, value, None)
                    .map_err(|error| M::within(error, || property.name.to_string()))?,
                Presence::Left { .. } => {}
                Presence::Missing => {
                    return Err(self.mode.refuse(|_| Kind::MissingProperty { name: property.name.to_string() }));
                }
            }
        }
        // Where every key is a declared property there is nothing to look up.
        if !M::EXPLAINS && no_excess && declared < object.len() {
            self.no_excess(flat, object, around)?;
        }
        if let Some(index) = flat.index {
            for (key, value) in object.iter() {
                self.node(index.slot.node, value, None).map_err(|error| M::within(error, || key.to_owned()))?;
            }
            if let Some(key) = inherited {
                self.method(index.slot.node).map_err(|error| M::within(error, || key.to_owned()))?;
            }
        }
        Ok(())
    }

    fn no_excess(&mut self, flat: &Flat, object: &Object, around: Option<&Allowed<'_>>) -> Checked<M> {
        let is_declared = |key: &str| flat.properties.contains_key(key) || around.is_some_and(|around| around.has(key));
        match object.keys().find(|key| !is_declared(key)) {
            // The published validator takes the empty name for no name, and looks no further.
            None | Some("") => Ok(()),
            Some(key) => Err(self.mode.refuse(|_| Kind::ExcessProperty { name: key.to_owned() })),
        }
    }

    fn union(&mut self, members: &Members, value: &Value, allowed: &Allowed<'_>) -> Checked<M> {
        let mut errors = Vec::new();
        for at in M::members(members, value) {
            match self.node(members[at].slot.node, value, Some(allowed)) {
                Ok(()) => return Ok(()),
                Err(error) if M::is_final(&error) => return Err(error),
                Err(error) => errors.push(error),
            }
        }
        Err(self.mode.refuse_union(value, value.type_name(), errors))
    }

    /// Enters an object or array.
    fn nested(&mut self, check: impl FnOnce(&mut Self) -> Checked<M>) -> Checked<M> {
        if self.depth == MAX_VALUE_DEPTH || self.frames == MAX_FRAMES {
            return Err(self.mode.refuse(|_| Kind::TooDeep));
        }
        self.depth += 1;
        self.frames += 1;
        let checked = check(self);
        self.frames -= 1;
        self.depth -= 1;
        checked
    }

    /// Enters a union or intersection, unless the answer is known.
    fn member_of(
        &mut self,
        id: NodeId,
        value: &Value,
        allowed: &Allowed<'_>,
        check: impl FnOnce(&mut Self) -> Checked<M>,
    ) -> Checked<M> {
        if self.frames == MAX_FRAMES {
            return Err(self.mode.refuse(|_| Kind::TooDeep));
        }
        let key = self.effort.key(id, value, allowed);
        if let Some(known) = key.as_ref().and_then(|key| self.effort.known(key)) {
            return known.clone();
        }
        self.frames += 1;
        self.effort.enter_union();
        let checked = check(self);
        self.effort.leave_union();
        self.frames -= 1;
        if let Some(key) = key {
            self.effort.remember(key, checked.clone());
        }
        checked
    }
}

/// Whether JavaScript would print the integer that it reads from a key as that key.
pub(crate) fn is_integer(key: &str) -> bool {
    let digits = key.strip_prefix('-').unwrap_or(key);
    let is_canonical = match digits.as_bytes() {
        [b'0'] => digits == key,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    // Up to 15 digits every integer has a double of its own.
    is_canonical && (digits.len() <= 15 || key.parse().is_ok_and(|number: f64| number_text(number) == key))
}
