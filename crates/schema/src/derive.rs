//! What derived code is made of. Applications derive; they do not call this.
//!
//! Depends on the type model and [`Schema`] only. Everything here keeps the
//! code that a derive writes small: decisions are taken once, here.

use crate::{
    Element, EnumValue, Interface, Literal, Member, Mismatch, Object, Property, Registry, Schema, Type, Value,
};

/// How a type joins the struct that it is flattened into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Named properties: `interface Outer extends Base`. TypeScript shows inheritance so.
    Interface,
    /// A union or intersection, which no interface can extend: `{ … } & Base`.
    Members,
    /// A map: the index signature of the outer interface.
    Index,
}

/// The names of the properties of a type: its own, and those of what is flattened into it.
#[derive(Debug)]
pub struct Names {
    /// Own names.
    pub own: &'static [&'static str],
    /// The flattened types.
    pub inner: &'static [&'static Names],
}

impl Names {
    /// No names.
    pub const NONE: Self = Self { own: &[], inner: &[] };

    /// Whether a name is among them.
    #[must_use]
    pub const fn contains(&self, name: &str) -> bool {
        let mut at = 0;
        while at < self.own.len() {
            if same(self.own[at].as_bytes(), name.as_bytes()) {
                return true;
            }
            at += 1;
        }
        at = 0;
        while at < self.inner.len() {
            if self.inner[at].contains(name) {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Whether both have some name.
    #[must_use]
    pub const fn overlaps(&self, other: &Self) -> bool {
        let mut at = 0;
        while at < self.own.len() {
            if other.contains(self.own[at]) {
                return true;
            }
            at += 1;
        }
        at = 0;
        while at < self.inner.len() {
            if self.inner[at].overlaps(other) {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Whether any two of several have some name.
    #[must_use]
    pub const fn any_overlap(several: &[&Self]) -> bool {
        let mut at = 0;
        while at < several.len() {
            let mut other = at + 1;
            while other < several.len() {
                if several[at].overlaps(several[other]) {
                    return true;
                }
                other += 1;
            }
            at += 1;
        }
        false
    }
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// A type whose properties can stand among those of another.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be flattened",
    label = "has no properties of its own",
    note = "what is flattened is a struct with named fields, a tagged enum, or a map, and derives `Schema`"
)]
pub trait Flatten: Schema {
    /// How it joins.
    const SHAPE: Shape;
    /// The names of its properties.
    const NAMES: &'static Names;

    /// Sets its properties.
    fn put(&self, object: &mut Object);

    /// Takes its properties out, leaving undefined in their place.
    ///
    /// # Errors
    /// As [`Schema::from_value`].
    fn take(object: &mut Object) -> Result<Self, Mismatch>;
}

impl<T: Flatten> Flatten for Box<T> {
    const SHAPE: Shape = T::SHAPE;
    const NAMES: &'static Names = T::NAMES;

    fn put(&self, object: &mut Object) {
        T::put(self, object);
    }

    fn take(object: &mut Object) -> Result<Self, Mismatch> {
        T::take(object).map(Self::new)
    }
}

/// The shape of a struct into which these are flattened.
#[must_use]
pub const fn shape_with(flattened: &[Shape]) -> Shape {
    let mut at = 0;
    while at < flattened.len() {
        if matches!(flattened[at], Shape::Members) {
            return Shape::Members;
        }
        at += 1;
    }
    Shape::Interface
}

/// Refuses to compile what no object type can say.
pub const fn check_flattened(own: &'static Names, flattened: &[(Shape, &'static Names)]) {
    let mut indices = 0;
    let mut bases = 0;
    let mut at = 0;
    while at < flattened.len() {
        assert!(indices == 0 || matches!(flattened[at].0, Shape::Index), "a flattened map must be the last field");
        match flattened[at].0 {
            Shape::Index => indices += 1,
            Shape::Interface => bases += 1,
            Shape::Members => {}
        }
        assert!(!own.overlaps(flattened[at].1), "a flattened type has a property of the same name as a field here");
        let mut other = at + 1;
        while other < flattened.len() {
            assert!(
                !flattened[at].1.overlaps(flattened[other].1),
                "two flattened types have a property of the same name"
            );
            other += 1;
        }
        at += 1;
    }
    assert!(indices <= 1, "only one map can be flattened: an object has one index signature");
    assert!(bases <= 9, "at most nine structs can be flattened into one (the limit of TSBuffer)");
}

/// An object type under construction.
#[derive(Debug, Default)]
pub struct ObjectType {
    interface: Interface,
    members: Vec<Type>,
    has_interface: bool,
}

impl ObjectType {
    /// Adds a property.
    pub fn property(&mut self, id: u32, name: &str, ty: Type, optional: bool) {
        self.has_interface = true;
        self.interface.properties.push(Property { id, name: name.to_owned(), ty, optional });
    }

    /// Adds what a flattened type has.
    pub fn flatten<T: Flatten>(&mut self, types: &mut Registry) {
        let ty = T::describe(types);
        match T::SHAPE {
            Shape::Interface => {
                self.has_interface = true;
                self.interface.extends.push(Member { id: next_id(self.interface.extends.len()), ty });
            }
            Shape::Members => self.members.push(ty),
            Shape::Index => self.index(ty),
        }
    }

    /// Adds a flattened type as a member of an intersection (`A & B`), even where it could be a base.
    pub fn intersect<T: Flatten>(&mut self, types: &mut Registry) {
        let ty = T::describe(types);
        match T::SHAPE {
            Shape::Index => self.index(ty),
            Shape::Interface | Shape::Members => self.members.push(ty),
        }
    }

    fn index(&mut self, ty: Type) {
        // Maps are described in place, as an interface that has only an index signature.
        if let Type::Interface(map) = ty {
            self.has_interface = true;
            self.interface.index = map.index;
        }
    }

    /// The type: an interface, or an intersection where something cannot be a base. The
    /// struct's own interface is the first member, if there is anything in it.
    #[must_use]
    pub fn finish(self) -> Type {
        let Self { interface, mut members, has_interface } = self;
        if members.is_empty() {
            return Type::Interface(Box::new(interface));
        }
        if has_interface {
            members.insert(0, Type::Interface(Box::new(interface)));
        }
        Type::Intersection(numbered(members))
    }
}

fn next_id(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Members with the ids 0, 1, 2, …
#[must_use]
pub fn numbered(types: Vec<Type>) -> Vec<Member> {
    types.into_iter().zip(0..).map(|(ty, id)| Member { id, ty }).collect()
}

/// The object inside a value.
///
/// # Errors
/// Where it is none.
pub fn object(value: Value) -> Result<Object, Mismatch> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(Mismatch::kind("Object", &other)),
    }
}

/// Takes a property that must be there.
///
/// # Errors
/// As [`Schema::from_value`].
pub fn take<T: Schema>(object: &mut Object, name: &str) -> Result<T, Mismatch> {
    let value = object.get_mut(name).map(std::mem::take).unwrap_or_default();
    T::from_value(value).map_err(|mismatch| mismatch.within(name))
}

/// Takes a property that may be missing.
///
/// # Errors
/// As [`Schema::from_value`].
pub fn take_optional<T: Schema>(object: &mut Object, name: &str) -> Result<Option<T>, Mismatch> {
    let value = object.get_mut(name).map(std::mem::take).unwrap_or_default();
    optional(value).map_err(|mismatch| mismatch.within(name))
}

/// Sets a property that may be missing.
pub fn put_optional<T: Schema>(object: &mut Object, name: &str, value: Option<&T>) {
    if let Some(value) = value {
        object.set(name, value.to_value());
    }
}

/// A value that may be missing. Null is as good as missing unless the type can be null.
pub(crate) fn optional<T: Schema>(value: Value) -> Result<Option<T>, Mismatch> {
    match value {
        Value::Undefined => Ok(None),
        Value::Null => Ok(T::from_value(Value::Null).ok()),
        value => T::from_value(value).map(Some),
    }
}

/// A literal that can be written at compile time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lit {
    /// `undefined`.
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    String(&'static str),
}

impl Lit {
    /// As a type.
    #[must_use]
    pub fn to_type(self) -> Type {
        Type::Literal(match self {
            Self::Undefined => Literal::Undefined,
            Self::Null => Literal::Null,
            Self::Bool(value) => Literal::Bool(value),
            Self::Number(number) => Literal::Number(number),
            Self::String(text) => Literal::String(text.to_owned()),
        })
    }

    /// As a value.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self {
            Self::Undefined => Value::Undefined,
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Number(number) => Value::Number(number),
            Self::String(text) => Value::from(text),
        }
    }

    /// As the value of a member of an enum, which is a number or a string.
    #[must_use]
    pub fn to_enum_value(self) -> EnumValue {
        match self {
            Self::Number(number) => EnumValue::Number(number),
            Self::String(text) => EnumValue::String(text.to_owned()),
            Self::Undefined | Self::Null | Self::Bool(_) => EnumValue::Null,
        }
    }

    /// Whether a value is this literal; null and undefined are not told apart.
    #[must_use]
    pub fn is(self, value: &Value) -> bool {
        match self {
            Self::Undefined | Self::Null => value.is_nullish(),
            Self::Bool(expected) => value.as_bool() == Some(expected),
            Self::Number(expected) => value.as_number() == Some(expected),
            Self::String(expected) => value.as_str() == Some(expected),
        }
    }

    /// The position of the literal that a value is.
    ///
    /// # Errors
    /// Where it is none of them.
    pub fn find(literals: &[Self], value: &Value) -> Result<usize, Mismatch> {
        let found = literals.iter().position(|literal| literal.is(value));
        found.ok_or_else(|| match value {
            Value::String(text) => {
                Mismatch::new(format!("`{}` is none of the expected values.", text.to_string_lossy()))
            }
            Value::Number(number) => Mismatch::new(format!("`{number}` is none of the expected values.")),
            other => Mismatch::new(format!("A value of type `{}` is none of the expected values.", other.type_name())),
        })
    }
}

/// How one variant takes a value.
pub type TakeVariant<T> = fn(Value) -> Result<T, Mismatch>;

/// The first variant that takes a value wholly, else the first that takes it.
///
/// An object may be valid for several members of a union, of which an earlier one
/// knows only some of its properties; nothing of it shall be lost.
///
/// # Errors
/// The refusal of the first variant, where none takes it.
pub fn untagged<T: Schema>(value: Value, variants: &[TakeVariant<T>]) -> Result<T, Mismatch> {
    let whole_matters = matches!(value, Value::Object(_) | Value::Array(_));
    let mut partly = None;
    let mut refusal = None;
    for variant in variants {
        match variant(value.clone()) {
            Ok(taken) if !whole_matters || taken.to_value() == value => return Ok(taken),
            Ok(taken) => partly = partly.or(Some(taken)),
            Err(mismatch) => refusal = refusal.or(Some(mismatch)),
        }
    }
    partly.ok_or_else(|| refusal.unwrap_or_else(|| Mismatch::new("There is no variant.")))
}

/// Takes a type that needs to see its properties together out of a larger object.
///
/// # Errors
/// As [`Schema::from_value`].
pub fn take_part<T: Flatten>(object: &mut Object) -> Result<T, Mismatch> {
    let part = |(key, value): (&str, &Value)| {
        (T::NAMES.contains(key) && !value.is_undefined()).then(|| (key.to_owned(), value.clone()))
    };
    let part: Object = object.iter().filter_map(part).collect();
    let keys: Vec<String> = part.keys().map(str::to_owned).collect();
    let taken = T::from_value(Value::Object(part))?;
    for key in keys {
        if let Some(value) = object.get_mut(&key) {
            *value = Value::Undefined;
        }
    }
    Ok(taken)
}

/// Sets the properties that a value has.
pub fn put_all(object: &mut Object, value: Value) {
    if let Value::Object(properties) = value {
        object.extend(properties);
    }
}

/// A tuple as a value: missing elements at the end are left out, those before are undefined.
#[must_use]
pub fn tuple(mut elements: Vec<Value>, optional_from: usize) -> Value {
    let given = elements.iter().rposition(|element| !element.is_undefined()).map_or(0, |last| last + 1);
    elements.truncate(given.max(optional_from));
    Value::Array(elements)
}

/// The elements of a tuple of at most this many.
///
/// # Errors
/// Where the value is no array, or has more.
pub fn tuple_elements(value: Value, most: usize) -> Result<std::vec::IntoIter<Value>, Mismatch> {
    let Value::Array(elements) = value else { return Err(Mismatch::kind("Array", &value)) };
    if elements.len() > most {
        let text = format!("Value has {} elements but schema allows only {most}.", elements.len());
        return Err(Mismatch::new(text));
    }
    Ok(elements.into_iter())
}

/// The next element of a tuple.
///
/// # Errors
/// As [`Schema::from_value`].
pub fn next_element<T: Element>(elements: &mut std::vec::IntoIter<Value>, at: usize) -> Result<T, Mismatch> {
    T::from_value(elements.next().unwrap_or_default()).map_err(|mismatch| mismatch.within(at.to_string()))
}

/// Where the optional elements of a tuple begin; the length where there are none.
///
/// # Panics
/// At compile time, where an optional element stands before a required one.
#[must_use]
pub const fn optional_from(optional: &[bool]) -> usize {
    let mut from = optional.len();
    while from > 0 && optional[from - 1] {
        from -= 1;
    }
    let mut at = 0;
    while at < from {
        assert!(!optional[at], "an optional element (`Option`) of a tuple must not stand before a required one");
        at += 1;
    }
    from
}

/// The type of a tuple.
#[must_use]
pub fn tuple_type(elements: Vec<Type>, optional_from: usize) -> Type {
    let optional_from = (optional_from < elements.len()).then_some(optional_from);
    Type::Tuple { elements, optional_from }
}
