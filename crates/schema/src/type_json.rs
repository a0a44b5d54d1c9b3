//! The JSON form of types, as service protos hold it (reference §2).
//!
//! Depends on the type model and values only. Invariants: the keys are written
//! in the order of the published generator, which field-id stability hashes
//! (§4); reading what was written gives the same type.

use std::fmt;

use crate::{
    BufferKind, EnumMember, EnumValue, IndexSignature, Interface, JsString, KeyType, Literal, Member, Object, Property,
    Scalar, Type, TypeSet, Value,
};

/// How deep the JSON form of a type may nest.
pub const MAX_TYPE_DEPTH: usize = 256;

/// What a JSON form holds where a type (or a part of one) was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TypeJsonError {
    /// Member names and indices from the outermost inwards.
    pub path: Vec<String>,
    /// What was expected there.
    pub expected: &'static str,
    /// What was found there.
    pub found: String,
}

impl fmt::Display for TypeJsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path.join("."))?;
        }
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

impl TypeJsonError {
    fn new(expected: &'static str, found: &Value) -> Self {
        let found = match found {
            Value::Undefined => "nothing".to_owned(),
            Value::Number(number) => format!("`{number}`"),
            Value::String(text) => format!("`{}`", text.to_string_lossy()),
            other => other.type_name().to_owned(),
        };
        Self { path: Vec::new(), expected, found }
    }

    fn within(mut self, segment: impl Into<String>) -> Self {
        self.path.insert(0, segment.into());
        self
    }
}

/// Reads named types from `{schemaId: type, …}`.
///
/// # Errors
/// Says what was expected, what was found and where.
pub fn types_from_json(json: &Value) -> Result<TypeSet, TypeJsonError> {
    let types = json.as_object().ok_or_else(|| TypeJsonError::new("an object of types by schema id", json))?;
    types.iter().map(|(id, ty)| Ok((id.to_owned(), Type::from_json(ty).map_err(|error| error.within(id))?))).collect()
}

/// The JSON form of named types, in the order of the set.
#[must_use]
pub fn types_to_json(types: &TypeSet) -> Value {
    types.iter().map(|(id, ty)| (id.as_str(), ty.to_json())).collect::<Object>().into()
}

impl Type {
    /// Reads a type from its JSON form. Unknown members (`comment`, what run-time code added) are ignored.
    ///
    /// ```
    /// use polywire_schema::{Object, Type, Value};
    ///
    /// let json = Value::from(Object::from_iter([("type", Value::from("String"))]));
    /// assert_eq!(Type::from_json(&json), Ok(Type::String));
    /// assert_eq!(
    ///     Type::from_json(&Value::Null).unwrap_err().to_string(),
    ///     "expected a type, found null",
    /// );
    /// ```
    ///
    /// # Errors
    /// Says what was expected, what was found and where; also beyond [`MAX_TYPE_DEPTH`] levels.
    pub fn from_json(json: &Value) -> Result<Self, TypeJsonError> {
        read_type(json, 0)
    }

    /// The JSON form, with the keys in the order of the published generator.
    #[must_use]
    pub fn to_json(&self) -> Value {
        write_type(self)
    }
}

fn read_type(json: &Value, depth: usize) -> Result<Type, TypeJsonError> {
    let object = json.as_object().ok_or_else(|| TypeJsonError::new("a type", json))?;
    if depth == MAX_TYPE_DEPTH {
        let found = "a deeper one".to_owned();
        return Err(TypeJsonError { path: Vec::new(), expected: "a type of at most 256 levels", found });
    }
    let node = Node { object, depth };
    let kind = node.member("type");
    Ok(match kind.as_str().unwrap_or_default() {
        "Any" => Type::Any,
        "Boolean" => Type::Boolean,
        "Number" => Type::Number(node.read("scalarType", read_scalar)?),
        "String" => Type::String,
        "Date" => Type::Date,
        "Buffer" => Type::Buffer(node.read("arrayType", read_buffer_kind)?),
        "Literal" => Type::Literal(node.read("literal", read_literal)?),
        "Enum" => Type::Enum(node.list("members", |at, member| {
            Ok(EnumMember { id: member.id(at)?, value: member.read("value", read_enum_value)? })
        })?),
        "Object" => Type::Object,
        "Array" => Type::Array(node.boxed("elementType")?),
        "Tuple" => Type::Tuple {
            elements: node.types("elementTypes")?,
            optional_from: node.optional("optionalStartIndex", |json| read_count(json, "a position"))?,
        },
        "Interface" => Type::Interface(Box::new(read_interface(&node)?)),
        "Union" => Type::Union(node.members("members")?),
        "Intersection" => Type::Intersection(node.members("members")?),
        "Reference" => Type::Reference(node.read("target", |json| read_text(json, "a schema id"))?),
        "IndexedAccess" => Type::IndexedAccess {
            index: node.read("index", |json| read_text(json, "a property name"))?,
            object: node.boxed("objectType")?,
        },
        "Keyof" => Type::Keyof(node.boxed("target")?),
        "NonNullable" => Type::NonNullable(node.boxed("target")?),
        "Pick" => Type::Pick { target: node.boxed("target")?, keys: node.keys()? },
        "Omit" => Type::Omit { target: node.boxed("target")?, keys: node.keys()? },
        "Partial" => Type::Partial(node.boxed("target")?),
        "Overwrite" => Type::Overwrite { target: node.boxed("target")?, overwrite: node.boxed("overwrite")? },
        _ => return Err(TypeJsonError::new("the name of a kind of type", kind).within("type")),
    })
}

fn read_interface(node: &Node<'_>) -> Result<Interface, TypeJsonError> {
    let properties = node.optional_list("properties", |at, property| {
        Ok(Property {
            id: property.id(at)?,
            name: property.read("name", |json| read_text(json, "a property name"))?,
            ty: property.ty("type")?,
            optional: property.optional("optional", read_flag)?.unwrap_or(false),
        })
    })?;
    let index = node.optional("indexSignature", |json| {
        let object = json.as_object().ok_or_else(|| TypeJsonError::new("an index signature", json))?;
        let signature = Node { object, depth: node.depth };
        Ok(IndexSignature { key: signature.read("keyType", read_key_type)?, ty: signature.boxed("type")? })
    })?;
    Ok(Interface { extends: node.optional_members("extends")?, properties, index })
}

/// A JSON object that is being read, and how deep it stands.
struct Node<'a> {
    object: &'a Object,
    depth: usize,
}

impl<'a> Node<'a> {
    fn member(&self, name: &str) -> &'a Value {
        self.object.get(name).unwrap_or(&Value::Undefined)
    }

    fn read<T>(&self, name: &str, read: impl FnOnce(&Value) -> Result<T, TypeJsonError>) -> Result<T, TypeJsonError> {
        read(self.member(name)).map_err(|error| error.within(name))
    }

    fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Value) -> Result<T, TypeJsonError>,
    ) -> Result<Option<T>, TypeJsonError> {
        if self.member(name).is_undefined() {
            return Ok(None);
        }
        self.read(name, read).map(Some)
    }

    fn ty(&self, name: &str) -> Result<Type, TypeJsonError> {
        self.read(name, |json| read_type(json, self.depth + 1))
    }

    fn boxed(&self, name: &str) -> Result<Box<Type>, TypeJsonError> {
        self.ty(name).map(Box::new)
    }

    fn types(&self, name: &str) -> Result<Vec<Type>, TypeJsonError> {
        self.read(name, |json| each(json, |_, element| read_type(element, self.depth + 1)))
    }

    fn keys(&self) -> Result<Vec<String>, TypeJsonError> {
        self.read("keys", |json| each(json, |_, key| read_text(key, "a property name")))
    }

    /// The id of the `at`th of its siblings: its position where hand-written JSON leaves it out.
    fn id(&self, at: usize) -> Result<u32, TypeJsonError> {
        let given = self.optional("id", |json| {
            let id = read_count(json, "an id")?;
            u32::try_from(id).map_err(|_| TypeJsonError::new("an id below 2^32", json))
        })?;
        Ok(given.unwrap_or(at as u32))
    }

    fn list<T>(
        &self,
        name: &str,
        mut read: impl FnMut(usize, &Node<'_>) -> Result<T, TypeJsonError>,
    ) -> Result<Vec<T>, TypeJsonError> {
        self.read(name, |json| {
            each(json, |at, element| {
                let object = element.as_object().ok_or_else(|| TypeJsonError::new("an object", element))?;
                read(at, &Node { object, depth: self.depth })
            })
        })
    }

    fn optional_list<T>(
        &self,
        name: &str,
        read: impl FnMut(usize, &Node<'_>) -> Result<T, TypeJsonError>,
    ) -> Result<Vec<T>, TypeJsonError> {
        if self.member(name).is_undefined() {
            return Ok(Vec::new());
        }
        self.list(name, read)
    }

    fn members(&self, name: &str) -> Result<Vec<Member>, TypeJsonError> {
        self.list(name, |at, member| Ok(Member { id: member.id(at)?, ty: member.ty("type")? }))
    }

    fn optional_members(&self, name: &str) -> Result<Vec<Member>, TypeJsonError> {
        if self.member(name).is_undefined() {
            return Ok(Vec::new());
        }
        self.members(name)
    }
}

fn each<T>(
    json: &Value,
    mut read: impl FnMut(usize, &Value) -> Result<T, TypeJsonError>,
) -> Result<Vec<T>, TypeJsonError> {
    let elements = json.as_array().ok_or_else(|| TypeJsonError::new("an array", json))?;
    elements
        .iter()
        .enumerate()
        .map(|(at, element)| read(at, element).map_err(|error| error.within(at.to_string())))
        .collect()
}

fn read_text(json: &Value, expected: &'static str) -> Result<String, TypeJsonError> {
    json.as_str().map(str::to_owned).ok_or_else(|| TypeJsonError::new(expected, json))
}

fn read_flag(json: &Value) -> Result<bool, TypeJsonError> {
    json.as_bool().ok_or_else(|| TypeJsonError::new("a boolean", json))
}

fn read_count(json: &Value, expected: &'static str) -> Result<usize, TypeJsonError> {
    let number = json.as_number().filter(|number| number.fract() == 0.0 && (0.0..=4_294_967_295.0).contains(number));
    // Checked above: an integer that fits.
    number.map(|number| number as usize).ok_or_else(|| TypeJsonError::new(expected, json))
}

fn read_scalar(json: &Value) -> Result<Scalar, TypeJsonError> {
    Ok(match json {
        Value::Undefined => Scalar::Double,
        other => match other.as_str() {
            Some("double") => Scalar::ExplicitDouble,
            Some("int") => Scalar::Int,
            Some("uint") => Scalar::Uint,
            Some("bigint") => Scalar::BigInt,
            Some("bigint64") => Scalar::BigInt64,
            Some("biguint64") => Scalar::BigUint64,
            _ => return Err(TypeJsonError::new("the name of a scalar type", json)),
        },
    })
}

fn read_buffer_kind(json: &Value) -> Result<BufferKind, TypeJsonError> {
    if json.is_undefined() {
        return Ok(BufferKind::ArrayBuffer);
    }
    let kind = json.as_str().and_then(BufferKind::from_name);
    kind.ok_or_else(|| TypeJsonError::new("the name of a typed array class", json))
}

fn read_key_type(json: &Value) -> Result<KeyType, TypeJsonError> {
    match json.as_str() {
        Some("String") => Ok(KeyType::String),
        Some("Number") => Ok(KeyType::Number),
        _ => Err(TypeJsonError::new("`String` or `Number`", json)),
    }
}

fn read_literal(json: &Value) -> Result<Literal, TypeJsonError> {
    Ok(match json {
        Value::Undefined => Literal::Undefined,
        Value::Null => Literal::Null,
        Value::Bool(value) => Literal::Bool(*value),
        Value::Number(number) => Literal::Number(*number),
        Value::String(JsString::Utf8(text)) => Literal::String(text.clone()),
        _ => return Err(TypeJsonError::new("a literal", json)),
    })
}

fn read_enum_value(json: &Value) -> Result<EnumValue, TypeJsonError> {
    Ok(match json {
        Value::Null => EnumValue::Null,
        Value::Number(number) => EnumValue::Number(*number),
        Value::String(JsString::Utf8(text)) => EnumValue::String(text.clone()),
        _ => return Err(TypeJsonError::new("a string or a number", json)),
    })
}

fn write_type(ty: &Type) -> Value {
    let mut json = Object::new();
    // Pick and Omit are the only kinds whose name comes last.
    if let Type::Pick { target, keys } | Type::Omit { target, keys } = ty {
        json.set("target", write_type(target));
        json.set("keys", keys.iter().map(|key| key.as_str().into()).collect::<Vec<Value>>().into());
    }
    json.set("type", ty.kind().into());
    match ty {
        Type::Any | Type::Boolean | Type::String | Type::Date | Type::Object => {}
        Type::Pick { .. } | Type::Omit { .. } => {}
        Type::Number(Scalar::Double) => {}
        Type::Number(scalar) => json.set("scalarType", scalar.name().into()),
        Type::Buffer(BufferKind::ArrayBuffer) | Type::Literal(Literal::Undefined) => {}
        Type::Buffer(kind) => json.set("arrayType", kind.name().into()),
        Type::Literal(literal) => json.set("literal", literal.to_value()),
        Type::Enum(members) => json.set("members", write_list(members, write_enum_member)),
        Type::Array(element) => json.set("elementType", write_type(element)),
        Type::Tuple { elements, optional_from } => {
            json.set("elementTypes", write_list(elements, write_type));
            if let Some(position) = optional_from {
                json.set("optionalStartIndex", (*position as f64).into());
            }
        }
        Type::Interface(interface) => write_interface(&mut json, interface),
        Type::Union(members) | Type::Intersection(members) => json.set("members", write_list(members, write_member)),
        Type::Reference(target) => json.set("target", target.as_str().into()),
        Type::IndexedAccess { index, object } => {
            json.set("index", index.as_str().into());
            json.set("objectType", write_type(object));
        }
        Type::Keyof(target) | Type::NonNullable(target) | Type::Partial(target) => {
            json.set("target", write_type(target));
        }
        Type::Overwrite { target, overwrite } => {
            json.set("target", write_type(target));
            json.set("overwrite", write_type(overwrite));
        }
    }
    json.into()
}

fn write_interface(json: &mut Object, interface: &Interface) {
    if !interface.extends.is_empty() {
        json.set("extends", write_list(&interface.extends, write_member));
    }
    if !interface.properties.is_empty() {
        json.set("properties", write_list(&interface.properties, write_property));
    }
    if let Some(index) = &interface.index {
        let key = match index.key {
            KeyType::String => "String",
            KeyType::Number => "Number",
        };
        let signature = Object::from_iter([("keyType", key.into()), ("type", write_type(&index.ty))]);
        json.set("indexSignature", signature.into());
    }
}

fn write_property(property: &Property) -> Value {
    let mut json = Object::from_iter([
        ("id", property.id.into()),
        ("name", property.name.as_str().into()),
        ("type", write_type(&property.ty)),
    ]);
    if property.optional {
        json.set("optional", true.into());
    }
    json.into()
}

fn write_member(member: &Member) -> Value {
    Object::from_iter([("id", member.id.into()), ("type", write_type(&member.ty))]).into()
}

fn write_enum_member(member: &EnumMember) -> Value {
    let value = match &member.value {
        EnumValue::Number(number) => (*number).into(),
        EnumValue::String(text) => text.as_str().into(),
        EnumValue::Null => Value::Null,
    };
    Object::from_iter([("id", member.id.into()), ("value", value)]).into()
}

fn write_list<T>(items: &[T], write: impl Fn(&T) -> Value) -> Value {
    items.iter().map(write).collect::<Vec<Value>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Object::from_iter(entries).into()
    }

    #[test]
    fn refusals_say_what_was_expected_found_and_where() {
        let string = || object([("type", "String".into())]);
        let cases = [
            (Value::Undefined, "expected a type, found nothing"),
            (Value::from(1.0), "expected a type, found `1`"),
            (object([("type", "Text".into())]), "`type`: expected the name of a kind of type, found `Text`"),
            (object([("type", "Array".into())]), "`elementType`: expected a type, found nothing"),
            (
                object([("type", "Number".into()), ("scalarType", "long".into())]),
                "`scalarType`: expected the name of a scalar type, found `long`",
            ),
            (
                object([
                    ("type", "Interface".into()),
                    ("properties", vec![object([("id", 0.5.into()), ("name", "a".into()), ("type", string())])].into()),
                ]),
                "`properties.0.id`: expected an id, found `0.5`",
            ),
            (
                object([("type", "Union".into()), ("members", vec![string()].into())]),
                "`members.0.type`: expected a type, found `String`",
            ),
        ];
        for (json, expected) in cases {
            assert_eq!(Type::from_json(&json).unwrap_err().to_string(), expected, "{json:?}");
        }
    }

    #[test]
    fn nesting_is_limited_to_256_levels() {
        let nested = |levels: usize| {
            (1..levels).fold(object([("type", "Any".into())]), |inner, _| {
                object([("type", "Array".into()), ("elementType", inner)])
            })
        };
        assert!(Type::from_json(&nested(MAX_TYPE_DEPTH)).is_ok());
        let error = Type::from_json(&nested(MAX_TYPE_DEPTH + 1)).unwrap_err();
        assert_eq!(error.path.len(), MAX_TYPE_DEPTH);
        assert!(error.to_string().ends_with("expected a type of at most 256 levels, found a deeper one"));
    }

    #[test]
    fn members_that_are_not_known_and_ids_that_are_left_out_are_accepted() {
        let property =
            object([("name", "a".into()), ("type", object([("type", "Any".into())])), ("comment", "x".into())]);
        let json = object([("type", "Interface".into()), ("properties", vec![property].into()), ("uuid", 3.0.into())]);
        let expected = Property { id: 0, name: "a".to_owned(), ty: Type::Any, optional: false };
        let expected = Interface { properties: vec![expected], ..Interface::default() };
        assert_eq!(Type::from_json(&json), Ok(Type::Interface(Box::new(expected))));
    }
}
