//! What derived code is made of. Applications derive; they do not call this.
//!
//! Depends on the type model and [`Schema`] only. Everything here keeps the
//! code that a derive writes small: decisions are taken once, here.

use crate::{EnumValue, Interface, Literal, Member, Mismatch, Object, Property, Registry, Schema, Type, Value};

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

    /// Adds it to an object type.
    fn join(object: &mut ObjectType, types: &mut Registry) {
        let ty = Self::describe(types);
        object.flatten(ty, Self::SHAPE);
    }

    /// Adds it to an object type as a member of an intersection (`A & B`), even where it could be a base.
    fn intersect(object: &mut ObjectType, types: &mut Registry) {
        let ty = Self::describe(types);
        object.flatten(ty, if let Shape::Index = Self::SHAPE { Shape::Index } else { Shape::Members });
    }
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

/// Refuses to compile a flattened type that does not go with what stands before it: the
/// own properties and the types flattened before.
///
/// # Panics
/// At compile time, with what to do about it.
pub const fn check_flattened(
    own: &'static [&'static str],
    before: &[(Shape, &'static Names)],
    shape: Shape,
    names: &'static Names,
) {
    let own = Names { own, inner: &[] };
    assert!(!own.overlaps(names), "the flattened type has a property of the same name as one here; `rename` one");
    let mut bases = matches!(shape, Shape::Interface) as usize;
    let mut at = 0;
    while at < before.len() {
        let (other_shape, other) = before[at];
        assert!(!other.overlaps(names), "two flattened types have a property of the same name; `rename` one");
        let is_index = matches!(shape, Shape::Index);
        match other_shape {
            Shape::Index if is_index => panic!("an object has one index signature; flatten one map only"),
            Shape::Index => panic!("a flattened map takes all properties that are left; make it the last field"),
            Shape::Interface => bases += 1,
            Shape::Members => {}
        }
        at += 1;
    }
    assert!(bases <= 9, "TSBuffer allows nine bases; flatten some of these types into one of the others");
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

    /// Adds a flattened type: as a base, as a member of an intersection, or as the index signature.
    fn flatten(&mut self, ty: Type, shape: Shape) {
        match shape {
            Shape::Interface => {
                self.has_interface = true;
                self.interface.extends.push(Member { id: next_id(self.interface.extends.len()), ty });
            }
            Shape::Members => self.members.push(ty),
            Shape::Index => self.index(ty),
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

/// A [`Schema`] as a property. What derived code does with a type are methods of this
/// trait and not functions: then the compiler says once, and at the field, that the
/// type has no schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema",
    label = "cannot travel over a wire",
    note = "for a type of your own write `#[derive(Schema)]`",
    note = "`Option<T>` stands for an optional property of a struct or the end of a tuple; elsewhere write `Nullable<T>` (`T | null`)",
    note = "numbers are `f64`, `f32` and the integers up to 64 bits; anything dynamic is `Any`"
)]
pub trait Field: Sized {
    /// [`Schema::describe`].
    fn type_of(types: &mut Registry) -> Type;

    /// [`Schema::to_value`].
    fn value(&self) -> Value;

    /// [`Schema::from_value`].
    ///
    /// # Errors
    /// As that.
    fn of(value: Value) -> Result<Self, Mismatch>;

    /// Takes a property that must be there.
    ///
    /// # Errors
    /// As [`Schema::from_value`].
    fn take(object: &mut Object, name: &str) -> Result<Self, Mismatch>;

    /// Takes a property that may be missing.
    ///
    /// # Errors
    /// As [`Schema::from_value`].
    fn take_optional(object: &mut Object, name: &str) -> Result<Option<Self>, Mismatch>;

    /// Sets a property.
    fn put(&self, object: &mut Object, name: &str);

    /// Sets a property that may be missing.
    fn put_optional(value: Option<&Self>, object: &mut Object, name: &str);
}

impl<T: Schema> Field for T {
    #[inline]
    fn type_of(types: &mut Registry) -> Type {
        Self::describe(types)
    }

    #[inline]
    fn value(&self) -> Value {
        self.to_value()
    }

    #[inline]
    fn of(value: Value) -> Result<Self, Mismatch> {
        Self::from_value(value)
    }

    fn take(object: &mut Object, name: &str) -> Result<Self, Mismatch> {
        let value = object.get_mut(name).map(std::mem::take).unwrap_or_default();
        Self::from_value(value).map_err(|mismatch| mismatch.within(name))
    }

    fn take_optional(object: &mut Object, name: &str) -> Result<Option<Self>, Mismatch> {
        let value = object.get_mut(name).map(std::mem::take).unwrap_or_default();
        optional(value).map_err(|mismatch| mismatch.within(name))
    }

    fn put(&self, object: &mut Object, name: &str) {
        object.set(name, self.to_value());
    }

    fn put_optional(value: Option<&Self>, object: &mut Object, name: &str) {
        if let Some(value) = value {
            object.set(name, value.to_value());
        }
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

/// Refuses to compile a tuple with an optional element before a required one.
///
/// # Panics
/// As [`optional_from`].
pub const fn check_tuple(optional: &[bool]) {
    let _ = optional_from(optional);
}

/// The type of a tuple.
#[must_use]
pub fn tuple_type(elements: Vec<Type>, optional_from: usize) -> Type {
    let optional_from = (optional_from < elements.len()).then_some(optional_from);
    Type::Tuple { elements, optional_from }
}
