//! Types whose properties stand among those of others, and the object types that they make.

use super::{Names, Shape};
use crate::{Interface, Member, Mismatch, Object, Property, Registry, Schema, Type, Value};

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

/// Members with the ids 0, 1, 2, …
fn numbered(types: Vec<Type>) -> Vec<Member> {
    types.into_iter().zip(0..).map(|(ty, id)| Member { id, ty }).collect()
}

fn next_id(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
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
