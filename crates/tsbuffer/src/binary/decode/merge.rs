//! Putting together what several parts of a message say of one value (reference §5.5–5.7).
//!
//! Depends on values only. Published decoders assign property by property, the
//! later part wins. Three things are different here, so that nothing that was
//! written is lost (reference §15, known bugs B10):
//! - members of an intersection that describe the same nested object each in
//!   part are merged all the way down;
//! - a null that a part puts where it was not told anything does not erase what
//!   another part was told;
//! - a date, buffer or id stays what it is beside parts that see some object in
//!   it, or that know it as JSON.

use polywire_schema::{Object, Value};

/// How far down two parts are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The properties of the value; the later part wins.
    Shallow,
    /// The properties of properties too.
    Deep,
}

/// Adds what another member says of a value.
pub(super) fn merge(value: &mut Value, more: Value, depth: Depth) {
    match (value, more) {
        (Value::Object(object), Value::Object(more)) => assign(object, more, depth),
        (Value::Array(elements), Value::Array(more)) => merge_arrays(elements, more, depth),
        (value, more) if is_special(value) && is_object(&more) => {}
        (value, more) if is_object(value) && is_object(&more) && !is_special(&more) => {}
        (value, more) => *value = more,
    }
}

/// Adds the properties that another part knows.
pub(super) fn assign(object: &mut Object, more: Object, depth: Depth) {
    for (key, more) in more {
        match object.get_mut(&key) {
            Some(value) => merge_property(value, more, depth),
            None => object.set(key, more),
        }
    }
}

fn merge_arrays(elements: &mut Vec<Value>, more: Vec<Value>, depth: Depth) {
    for (at, more) in more.into_iter().enumerate() {
        match elements.get_mut(at) {
            Some(element) => merge_property(element, more, depth),
            None => elements.push(more),
        }
    }
}

fn merge_property(value: &mut Value, more: Value, depth: Depth) {
    match (&*value, &more) {
        (Value::Undefined | Value::Null, _) => *value = more,
        (_, Value::Null) => {}
        (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) if depth == Depth::Deep => {
            merge(value, more, depth);
        }
        (special, Value::Object(_) | Value::String(_)) if depth == Depth::Deep && is_special(special) => {}
        _ => *value = more,
    }
}

/// An object with a form of its own.
fn is_special(value: &Value) -> bool {
    matches!(value, Value::Date(_) | Value::Buffer(..) | Value::ObjectId(_))
}

fn is_object(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Array(_)) || is_special(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::Object(entries.into_iter().collect())
    }

    #[track_caller]
    fn check(parts: [Value; 2], depth: Depth, expected: &Value) {
        let [mut value, more] = parts;
        merge(&mut value, more, depth);
        assert_eq!(&value, expected);
    }

    #[test]
    fn the_later_part_wins_property_by_property() {
        let parts = || [object([("a", 1.into()), ("b", 1.into())]), object([("b", 2.into()), ("c", 2.into())])];
        check(parts(), Depth::Shallow, &object([("a", 1.into()), ("b", 2.into()), ("c", 2.into())]));
        check([1.into(), object([])], Depth::Shallow, &object([]));
        check([object([]), Value::Null], Depth::Shallow, &Value::Null);
        check([Value::Date(1.0), Value::Date(2.0)], Depth::Shallow, &Value::Date(1.0));
    }

    #[test]
    fn a_date_stays_a_date_beside_members_that_see_an_object_or_json() {
        check([Value::Date(1.0), object([])], Depth::Shallow, &Value::Date(1.0));
        check([object([]), Value::Date(1.0)], Depth::Shallow, &Value::Date(1.0));
        let parts = || [object([("d", Value::Date(1.0))]), object([("d", "1970-01-01T00:00:00.001Z".into())])];
        let [typed, json] = parts();
        check(parts(), Depth::Deep, &typed);
        check([json.clone(), typed.clone()], Depth::Deep, &typed);
        check(parts(), Depth::Shallow, &json);
    }

    #[test]
    fn only_intersections_merge_nested_objects() {
        let parts = || ["a", "b"].map(|key| object([("x", vec![object([(key, 1.into())])].into())]));
        check(parts(), Depth::Deep, &object([("x", vec![object([("a", 1.into()), ("b", 1.into())])].into())]));
        let [_, later] = parts();
        check(parts(), Depth::Shallow, &later);
    }

    #[test]
    fn null_does_not_erase_what_was_written() {
        let parts =
            || [object([("a", 1.into()), ("b", Value::Undefined)]), object([("a", Value::Null), ("b", Value::Null)])];
        for depth in [Depth::Shallow, Depth::Deep] {
            check(parts(), depth, &object([("a", 1.into()), ("b", Value::Null)]));
        }
    }
}
