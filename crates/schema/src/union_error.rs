//! Which of the errors of its members a union reports (reference §6.2).
//!
//! Depends on errors and values only.

use std::{borrow::Cow, sync::Arc};

use crate::{Literal, ValidationError, ValidationErrorKind as Kind, text::stringify};

/// The error of a union that a value of the type `found` does not match, from those of all its members in order.
pub(crate) fn choose(
    found: &'static str,
    text: impl FnOnce() -> Arc<str>,
    mut errors: Vec<ValidationError>,
) -> ValidationError {
    // All say the same.
    if let Some((first, others)) = errors.split_first()
        && others.iter().all(|error| error.has_text_of(first))
    {
        return errors.swap_remove(0);
    }
    // The value is meant for the only member that does not miss by its literal.
    let is_literal = |error: &ValidationError| matches!(error.kind, Kind::WrongLiteral { .. });
    let mut others = (0..errors.len()).filter(|at| !is_literal(&errors[*at]));
    if let (Some(only), None) = (others.next(), others.next()) {
        return errors.swap_remove(only);
    }
    // The value is of none of the types, or equals none of the literals.
    if let Some(expected) = expected_types(&errors).filter(|expected| !expected.is_empty()) {
        if !expected.iter().any(|name| *name == found) {
            return ValidationError::new(Kind::WrongType { expected: expected.join(" | ").into(), found });
        }
        if !matches!(found, "Object" | "Array") {
            return ValidationError::new(Kind::NoUnionLiteral { found: text(), expected: expected_values(&errors) });
        }
    }
    ValidationError::new(Kind::NoUnionMember { members: errors.into() })
}

/// What types the errors expect, each once; `None` where one is about something else.
fn expected_types(errors: &[ValidationError]) -> Option<Vec<Cow<'_, str>>> {
    let mut types = Vec::new();
    for error in errors {
        let name = match &error.kind {
            Kind::WrongType { expected, .. } => Cow::Borrowed(&**expected),
            Kind::WrongLiteral { expected, .. } => expected.to_value().type_name().into(),
            _ => return None,
        };
        if !error.path.is_empty() {
            return None;
        }
        if !types.contains(&name) {
            types.push(name);
        }
    }
    Some(types)
}

/// What types and literals the errors expect, each once.
fn expected_values(errors: &[ValidationError]) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for error in errors {
        let value = match &error.kind {
            Kind::WrongType { expected, .. } => expected.clone().into_owned(),
            // Joining a list, JavaScript prints undefined as nothing.
            Kind::WrongLiteral { expected: Literal::Undefined, .. } => String::new(),
            Kind::WrongLiteral { expected, .. } => stringify(&expected.to_value()),
            _ => continue,
        };
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}
