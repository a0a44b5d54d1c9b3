//! Checking values against a program (reference §6.2).
//!
//! Depends on the program, errors and values. Invariants: the pass that accepts
//! and the pass that explains are the same code, so that they give the same
//! verdict; accepting allocates nothing, but to bring integer-like keys into
//! order and to see a typed array as an object; the work is bounded by the sizes
//! of value and type, also where unions within unions try a part of the value
//! again and again.

use std::{fmt, marker::PhantomData};

use crate::{
    BufferKind, CustomType, EnumMember, EnumValue, Flat, KeyType, Literal, Members, Node, NodeId, Object, Program,
    Scalar, SchemaError, Slot, ValidateOptions, ValidationError, ValidationErrorKind as Kind, Value,
    date_method::FORMAT,
    declared::Allowed,
    effort::{Effort, Names, Recalled},
    is_number_key,
    mode::{Accept, Explain, Mode},
    number_text,
    own_properties::own_properties,
    place::Place,
    presence::Presence,
};

/// How many objects and arrays may stand within each other in a value.
pub const MAX_VALUE_DEPTH: u32 = 512;

impl Program {
    /// Checks a value.
    ///
    /// Hot: every dynamic value that comes in passes here. Of a valid one nothing
    /// is copied; only for one that is not, the reason is looked for.
    ///
    /// # Errors
    /// Says what was expected, what was found and where, in the published words.
    pub fn validate(&self, slot: Slot, value: &Value, options: ValidateOptions) -> Result<(), ValidationError> {
        if self.accepts(slot, value, options) {
            return Ok(());
        }
        // Boxed on the way, so that a deep value costs little stack.
        Check::new(self, options, Explain::default()).node(slot.node, value, Place::default()).map_err(|error| *error)
    }

    /// Whether a value is valid: [`validate`](Self::validate) without the reasons.
    #[must_use]
    pub fn accepts(&self, slot: Slot, value: &Value, options: ValidateOptions) -> bool {
        Check::new(self, options, Accept).node(slot.node, value, Place::default()).is_ok()
    }
}

/// Checks parts of values, and remembers what it took long to find out.
///
/// Whoever walks over a value and asks at each of its unions which member it is
/// would otherwise have the same parts checked once for each level.
pub struct Checker<'p, 'v> {
    check: Check<'p, Accept>,
    /// Answers are remembered by the address of a value, so that values must stay.
    values: PhantomData<&'v Value>,
}

impl Program {
    /// Checks of values and of their parts, all with these options.
    #[must_use]
    pub fn checker<'v>(&self, options: ValidateOptions) -> Checker<'_, 'v> {
        Checker { check: Check::new(self, options, Accept), values: PhantomData }
    }
}

impl<'v> Checker<'_, 'v> {
    /// As [`Program::accepts`].
    pub fn accepts(&mut self, slot: Slot, value: &'v Value) -> bool {
        self.check.node(slot.node, value, Place::in_union()).is_ok()
    }

    /// How much work it has been so far: about one for each type that was asked about a value.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.check.effort.visits()
    }
}

impl fmt::Debug for Checker<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").finish_non_exhaustive()
    }
}

/// A check that is going on.
pub(crate) struct Check<'p, M: Mode> {
    pub(crate) program: &'p Program,
    options: ValidateOptions,
    pub(crate) mode: M,
    effort: Effort<Result<(), M::Error>>,
}

/// Whether a value is valid, as far as a pass keeps the reason.
pub(crate) type Checked<M> = Result<(), <M as Mode>::Error>;

impl<'p, M: Mode> Check<'p, M> {
    pub(crate) fn new(program: &'p Program, options: ValidateOptions, mode: M) -> Self {
        Self { program, options, mode, effort: Effort::default() }
    }

    /// Checks a value against a node.
    ///
    /// Recursion goes through here for each value within a value: what it needs
    /// of the stack is kept small, by leaving everything else to others.
    pub(crate) fn node(&mut self, id: NodeId, value: &Value, place: Place<'_>) -> Checked<M> {
        self.effort.step();
        let program = self.program;
        match program.node(id) {
            Node::Array(element) => self.array(*element, value, place),
            Node::Tuple { elements, optional_from } => self.tuple(elements, *optional_from, value, place),
            Node::Interface(interface) => self.object(&interface.flat, value, place),
            Node::Mapped(mapped) => self.object(&mapped.flat, value, place),
            Node::Union(members) => self.members(id, members, Self::union, value, place),
            Node::Intersection(members) => self.members(id, members, Self::intersection, value, place),
            Node::NonNullable(target) if !value.is_nullish() || target.any => self.node(target.node, value, place),
            other => self.scalar(other, value),
        }
    }

    /// A type that contains no other.
    fn scalar(&mut self, node: &Node, value: &Value) -> Checked<M> {
        match node {
            Node::Any => Ok(()),
            Node::Boolean => self.expect(matches!(value, Value::Bool(_)), "boolean", value),
            Node::Number(scalar) => self.number(*scalar, value),
            Node::String => self.expect(matches!(value, Value::String(_)), "string", value),
            Node::Date => self.expect(matches!(value, Value::Date(_)), "Date", value),
            Node::Buffer(kind) => self.buffer(*kind, value),
            Node::Literal(literal) => self.literal(literal, value),
            Node::Enum(members) => self.enumeration(members, value),
            Node::Object => self.expect(matches!(value.type_name(), "Object" | "Array"), "Object", value),
            Node::NonNullable(_) => self.expect(false, "NonNullable", value),
            Node::Custom(custom) => self.custom(&**custom, value),
            Node::Invalid(error) => self.invalid(error),
            other => unreachable!("a type of other types: {other:?}"),
        }
    }

    fn expect(&mut self, valid: bool, expected: &'static str, value: &Value) -> Checked<M> {
        if valid { Ok(()) } else { Err(self.wrong_type(expected, value)) }
    }

    fn wrong_type(&mut self, expected: &'static str, value: &Value) -> M::Error {
        self.mode.refuse(|_| Kind::WrongType { expected: expected.into(), found: value.type_name() })
    }

    fn custom(&mut self, custom: &dyn CustomType, value: &Value) -> Checked<M> {
        custom.validate(value).map_err(|text| self.mode.refuse(|_| Kind::Custom { text }))
    }

    fn invalid(&mut self, error: &SchemaError) -> Checked<M> {
        Err(self.mode.refuse(|_| Kind::Schema(error.clone())))
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

    fn array(&mut self, element: Slot, value: &Value, place: Place<'_>) -> Checked<M> {
        let Value::Array(elements) = value else { return Err(self.wrong_type("Array", value)) };
        let place = self.within(place)?;
        for (at, value) in elements.iter().enumerate() {
            self.node(element.node, value, place).map_err(|error| M::within(error, || at.to_string()))?;
        }
        Ok(())
    }

    fn tuple(&mut self, slots: &[Slot], optional_from: usize, value: &Value, place: Place<'_>) -> Checked<M> {
        let Value::Array(elements) = value else { return Err(self.wrong_type("Array", value)) };
        if self.options.excess_property_checks && elements.len() > slots.len() {
            let (found, allowed) = (elements.len(), slots.len());
            return Err(self.mode.refuse(|_| Kind::TooManyElements { found, allowed }));
        }
        let place = self.within(place)?.property();
        for (at, slot) in slots.iter().enumerate() {
            match Presence::of(elements.get(at), slot, at >= optional_from, self.options.strict_null_checks) {
                Presence::Given(value) => {
                    self.node(slot.node, value, place).map_err(|error| M::within(error, || at.to_string()))?;
                }
                Presence::Left { .. } => {}
                Presence::Missing => return Err(self.missing(&at.to_string())),
            }
        }
        Ok(())
    }

    fn object(&mut self, flat: &Flat, value: &Value, place: Place<'_>) -> Checked<M> {
        let Some(object) = own_properties(value) else { return Err(self.wrong_type("Object", value)) };
        self.effort.steps(object.len() as u64);
        let inherited = matches!(value, Value::Date(_)).then_some(FORMAT);
        let keys = flat.index.map(|index| index.key).or(place.around.and_then(|around| around.index));
        self.integer_keys(keys, &object, inherited)?;
        let no_excess = self.options.excess_property_checks && keys.is_none();
        if M::EXPLAINS && no_excess {
            self.no_excess(flat, &object, place.around)?;
        }
        let inner = self.within(place)?.property();
        let declared = self.properties(flat, &object, inner)?;
        // Where every key is a declared property there is nothing to look up.
        if !M::EXPLAINS && no_excess && declared < object.len() {
            self.no_excess(flat, &object, place.around)?;
        }
        match flat.index {
            Some(index) => self.indexed(index.slot, &object, inherited, inner),
            None => Ok(()),
        }
    }

    /// Checks the declared properties and says how many of them there are.
    fn properties(&mut self, flat: &Flat, object: &Object, place: Place<'_>) -> Result<usize, M::Error> {
        let (mut declared, mut near) = (0, 0);
        for property in flat.properties.values() {
            let mut value = None;
            if let Some((at, found)) = object.find(&property.name, near) {
                declared += 1;
                near = at + 1;
                value = Some(found);
            }
            match Presence::of(value, &property.slot, property.optional, self.options.strict_null_checks) {
                Presence::Given(value) => self
                    .node(property.slot.node, value, place)
                    .map_err(|error| M::within(error, || property.name.to_string()))?,
                Presence::Left { .. } => {}
                Presence::Missing => return Err(self.missing(&property.name)),
            }
        }
        Ok(declared)
    }

    /// Checks every property against an index signature.
    fn indexed(&mut self, slot: Slot, object: &Object, inherited: Option<&str>, place: Place<'_>) -> Checked<M> {
        for (key, value) in object.iter() {
            self.node(slot.node, value, place).map_err(|error| M::within(error, || key.to_owned()))?;
        }
        match inherited {
            Some(key) => self.method(slot.node).map_err(|error| M::within(error, || key.to_owned())),
            None => Ok(()),
        }
    }

    fn integer_keys(&mut self, keys: Option<KeyType>, object: &Object, inherited: Option<&str>) -> Checked<M> {
        if keys != Some(KeyType::Number) {
            return Ok(());
        }
        match object.keys().chain(inherited).find(|key| !is_number_key(key)) {
            Some(key) => Err(self.mode.refuse(|_| Kind::WrongKey { found: key.to_owned() })),
            None => Ok(()),
        }
    }

    fn missing(&mut self, name: &str) -> M::Error {
        self.mode.refuse(|_| Kind::MissingProperty { name: name.to_owned() })
    }

    fn no_excess(&mut self, flat: &Flat, object: &Object, around: Option<&Allowed<'_>>) -> Checked<M> {
        let is_declared = |key: &str| flat.properties.contains_key(key) || around.is_some_and(|around| around.has(key));
        match object.keys().find(|key| !is_declared(key)) {
            // The published validator takes the empty name for no name, and looks no further.
            None | Some("") => Ok(()),
            Some(key) => Err(self.mode.refuse(|_| Kind::ExcessProperty { name: key.to_owned() })),
        }
    }

    /// Checks the members of a union or intersection, unless the answer is known.
    fn members(
        &mut self,
        id: NodeId,
        members: &Members,
        check: fn(&mut Self, &Members, &Value, Place<'_>) -> Checked<M>,
        value: &Value,
        place: Place<'_>,
    ) -> Checked<M> {
        let key = match self.recall(id, value, place) {
            Recalled::Known(answer) => return answer,
            Recalled::New(key) => key,
        };
        let allowed = Allowed::enter(&members.declared, id, place.around);
        let place = place.member(&allowed).ok_or_else(|| self.mode.refuse(|_| Kind::TooDeep))?;
        let checked = check(self, members, value, place);
        self.effort.remember(key, &checked);
        checked
    }

    /// What is known about the value already, or by what to remember it.
    fn recall(&self, id: NodeId, value: &Value, place: Place<'_>) -> Recalled<Checked<M>> {
        let names = if self.options.excess_property_checks { Names::Matter } else { Names::DoNotMatter };
        self.effort.recall(id, value, place, names)
    }

    fn union(&mut self, members: &Members, value: &Value, place: Place<'_>) -> Checked<M> {
        let mut errors = Vec::new();
        for at in M::members(members, value) {
            match self.node(members[at].slot.node, value, place) {
                Ok(()) => return Ok(()),
                Err(error) if M::is_final(&error) => return Err(error),
                Err(error) => errors.push(error),
            }
        }
        Err(self.mode.refuse_union(value, value.type_name(), errors))
    }

    fn intersection(&mut self, members: &Members, value: &Value, place: Place<'_>) -> Checked<M> {
        members.iter().try_for_each(|member| self.node(member.slot.node, value, place))
    }

    fn within<'a>(&mut self, place: Place<'a>) -> Result<Place<'a>, M::Error> {
        place.within().ok_or_else(|| self.mode.refuse(|_| Kind::TooDeep))
    }
}
