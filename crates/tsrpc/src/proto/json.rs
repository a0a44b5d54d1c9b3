//! The JSON form of a proto, and where it stands in a TypeScript module.

use polywire_schema::{Object, TypeJsonError, Value, types_from_json, types_to_json};

use super::{
    LiteralError, ServiceDef, ServiceProto,
    literal::{parse, parse_prefix},
};
use crate::{ServiceId, ServiceKind};

/// Why a text is no proto.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtoError {
    /// A TypeScript module without `export const serviceProto = …`.
    #[error("the module does not contain `export const serviceProto = {{…}}`")]
    NoServiceProto,
    /// Not a literal.
    #[error("the proto is not JSON or a JavaScript literal: {0}")]
    Literal(#[from] LiteralError),
    /// A literal that is no proto.
    #[error("the proto has an invalid `{place}`: expected {expected}")]
    Invalid {
        /// What is invalid, such as `services[3].id`.
        place: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// A type that is none.
    #[error("the proto has an invalid type: {0}")]
    Type(#[from] TypeJsonError),
}

fn invalid(place: impl Into<String>, expected: &'static str) -> ProtoError {
    ProtoError::Invalid { place: place.into(), expected }
}

impl ServiceProto {
    /// Reads a proto from JSON, or from what people make of it: comments, trailing commas, unquoted keys, single quotes.
    ///
    /// # Errors
    /// Says what was expected and where.
    pub fn from_json(text: &str) -> Result<Self, ProtoError> {
        Self::from_value(&parse(text)?)
    }

    /// Reads the generated `serviceProto.ts`: the literal behind `export const serviceProto … =`.
    ///
    /// # Errors
    /// Where there is none; as [`from_json`](Self::from_json). Lines and columns count from the start of the literal.
    pub fn from_module(text: &str) -> Result<Self, ProtoError> {
        let literal = find_literal(text).ok_or(ProtoError::NoServiceProto)?;
        Self::from_value(&parse_prefix(literal)?.0)
    }

    /// Reads a proto from the dynamic value of its JSON form.
    ///
    /// # Errors
    /// Says what was expected and where.
    pub fn from_value(value: &Value) -> Result<Self, ProtoError> {
        let object = value.as_object().ok_or_else(|| invalid("proto", "an object"))?;
        let version = match object.get("version") {
            None | Some(Value::Undefined | Value::Null) => None,
            Some(version) => Some(integer(version).ok_or_else(|| invalid("version", "a non-negative integer"))?),
        };
        let services = match object.get("services").and_then(Value::as_array) {
            Some(services) => services.iter().enumerate().map(|(at, service)| read_service(at, service)).collect(),
            None => Err(invalid("services", "an array")),
        }?;
        let types = types_from_json(object.get("types").unwrap_or(&Value::Undefined))?;
        Ok(Self { version, services, types })
    }

    /// The dynamic value of the JSON form, with the keys in the published order.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut object = Object::new();
        if let Some(version) = self.version {
            object.set("version", Value::Number(version as f64));
        }
        object.set("services", Value::Array(self.services.iter().map(ServiceDef::to_value).collect()));
        object.set("types", types_to_json(&self.types));
        object.into()
    }
}

impl ServiceDef {
    fn to_value(&self) -> Value {
        let mut object = Object::new();
        object.set("id", Value::from(self.id.0));
        object.set("name", Value::from(self.name.as_str()));
        object.set("type", Value::from(self.kind.name()));
        if let Some(conf) = &self.conf {
            object.set("conf", conf.clone());
        }
        object.into()
    }
}

fn read_service(at: usize, value: &Value) -> Result<ServiceDef, ProtoError> {
    let place = |member: &str| format!("services[{at}].{member}");
    let member = |name: &str| value.get(name).unwrap_or(&Value::Undefined);
    let id = integer(member("id")).and_then(|id| u32::try_from(id).ok());
    let kind = match member("type").as_str() {
        Some("api") => Some(ServiceKind::Api),
        Some("msg") => Some(ServiceKind::Message),
        _ => None,
    };
    Ok(ServiceDef {
        id: ServiceId(id.ok_or_else(|| invalid(place("id"), "an integer from 0 to 2^32 - 1"))?),
        name: member("name").as_str().ok_or_else(|| invalid(place("name"), "a string"))?.to_owned(),
        kind: kind.ok_or_else(|| invalid(place("type"), "`api` or `msg`"))?,
        conf: value.get("conf").filter(|conf| !conf.is_undefined()).cloned(),
    })
}

fn integer(value: &Value) -> Option<u64> {
    let number = value.as_number()?;
    (number >= 0.0 && number.fract() == 0.0 && number < 2f64.powi(53)).then_some(number as u64)
}

/// What stands behind the `=` of `export const serviceProto … =`, comments and strings left aside.
fn find_literal(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        rest = match next {
            '/' if rest.starts_with("//") => &rest[rest.find('\n')?..],
            '/' if rest.starts_with("/*") => &rest[2 + rest[2..].find("*/")? + 2..],
            '"' | '\'' | '`' => skip_string(rest, next)?,
            _ if is_identifier_part(next) => match after_declaration(rest) {
                Some(annotation) => return annotation.find('=').map(|equals| &annotation[equals + 1..]),
                None => rest.trim_start_matches(is_identifier_part),
            },
            _ => &rest[next.len_utf8()..],
        };
    }
    None
}

/// What stands behind `export const serviceProto`, if a text starts with it.
fn after_declaration(text: &str) -> Option<&str> {
    let mut rest = text;
    for (at, word) in ["export", "const", "serviceProto"].into_iter().enumerate() {
        let trimmed = rest.trim_start();
        if at > 0 && trimmed.len() == rest.len() {
            return None;
        }
        rest = trimmed.strip_prefix(word)?;
    }
    (!rest.starts_with(is_identifier_part)).then_some(rest)
}

fn is_identifier_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn skip_string(text: &str, quote: char) -> Option<&str> {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return Some(&text[at + 1..]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proto_is_found_in_a_module_that_was_touched_by_hand() {
        let modules = [
            "export const serviceProto: ServiceProto<ServiceType> = {services: [], types: {}};",
            "import x from 'export const serviceProto = 1';\n// export const serviceProto = 2\n/* export const serviceProto = 3 */\n\
             export const serviceProtoX = 4;\nexport  const\n serviceProto={\n \"services\": [], // none\n types: {},\n} as const;\n",
            "const quote = 'it\\'s'; export const serviceProto: any = ({'types': {}, services: []})",
        ];
        for module in modules {
            assert_eq!(ServiceProto::from_module(module), Ok(ServiceProto::default()), "{module}");
        }
        for module in ["", "export const serviceProto", "const serviceProto = {}", "// export const serviceProto = {}"]
        {
            assert_eq!(ServiceProto::from_module(module), Err(ProtoError::NoServiceProto), "{module}");
        }
    }

    #[test]
    fn what_is_no_proto_is_refused_with_its_place() {
        let cases = [
            ("[]", "the proto has an invalid `proto`: expected an object"),
            ("{types: {}}", "the proto has an invalid `services`: expected an array"),
            (
                "{version: -1, services: [], types: {}}",
                "the proto has an invalid `version`: expected a non-negative integer",
            ),
            (
                "{services: [{id: 1.5, name: 'A', type: 'api'}], types: {}}",
                "the proto has an invalid `services[0].id`: expected an integer from 0 to 2^32 - 1",
            ),
            (
                "{services: [{id: 1, type: 'api'}], types: {}}",
                "the proto has an invalid `services[0].name`: expected a string",
            ),
            (
                "{services: [{id: 1, name: 'A', type: 'x'}], types: {}}",
                "the proto has an invalid `services[0].type`: expected `api` or `msg`",
            ),
            ("{services: [], types: {x: 1}}", "the proto has an invalid type: `x`: expected a type, found `1`"),
            (
                "{services: [],\n types: }",
                "the proto is not JSON or a JavaScript literal: line 2, column 9: expected a value",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(ServiceProto::from_json(text).unwrap_err().to_string(), expected);
        }
    }
}
