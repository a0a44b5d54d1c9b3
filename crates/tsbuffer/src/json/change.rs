//! What converting changes in a value: where dates, bytes and custom types stand.
//!
//! Depends on the value modules only. A change is found out by looking at a value
//! and applied to it afterwards, so that a form which turns out wrong costs no copy.

use std::{rc::Rc, sync::Arc};

use polywire_schema::Value;

/// What becomes of a value. A clone costs nothing: what is found out about a part of a
/// value is kept for each union around it.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// It stays as it is.
    None,
    /// It becomes another.
    Replace(Rc<Value>),
    /// Parts of it change, each named once, in ascending order.
    Within(Rc<Vec<(Step, Change)>>),
}

/// From an array or object to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Element(usize),
    Property(Arc<str>),
}

impl Change {
    pub(super) fn replace(other: impl Into<Value>) -> Self {
        Self::Replace(Rc::new(other.into()))
    }

    /// The change of a value by those of its parts.
    pub(super) fn within(mut parts: Vec<(Step, Self)>) -> Self {
        if parts.is_empty() {
            return Self::None;
        }
        parts.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Self::Within(Rc::new(parts))
    }

    /// Both changes of one value. Where both replace a part the first one wins, as if
    /// it had been applied and left nothing for the second to recognise.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, change) | (change, Self::None) => change,
            (Self::Within(first), Self::Within(second)) if Rc::ptr_eq(&first, &second) => Self::Within(first),
            (Self::Within(first), Self::Within(second)) => {
                Self::Within(Rc::new(merge(Rc::unwrap_or_clone(first), Rc::unwrap_or_clone(second))))
            }
            (first, _) => first,
        }
    }

    /// Whether something changes in a part of the value.
    pub(super) fn reaches(&self, part: &Step) -> bool {
        match self {
            Self::None => false,
            Self::Replace(_) => true,
            Self::Within(parts) => parts.iter().any(|(step, _)| step == part),
        }
    }

    pub(super) fn apply(self, value: &mut Value) {
        match self {
            Self::None => {}
            Self::Replace(other) => *value = Rc::unwrap_or_clone(other),
            Self::Within(parts) => {
                for (step, change) in Rc::unwrap_or_clone(parts) {
                    let part = match (&mut *value, step) {
                        (Value::Array(elements), Step::Element(at)) => elements.get_mut(at),
                        (Value::Object(object), Step::Property(name)) => object.get_mut(&name),
                        _ => None,
                    };
                    if let Some(part) = part {
                        change.apply(part);
                    }
                }
            }
        }
    }
}

fn merge(first: Vec<(Step, Change)>, second: Vec<(Step, Change)>) -> Vec<(Step, Change)> {
    let mut merged = Vec::with_capacity(first.len().max(second.len()));
    let mut second = second.into_iter().peekable();
    for (step, change) in first {
        while let Some(part) = second.next_if(|(other, _)| *other < step) {
            merged.push(part);
        }
        let change = match second.next_if(|(other, _)| *other == step) {
            Some((_, other)) => change.and(other),
            None => change,
        };
        merged.push((step, change));
    }
    merged.extend(second);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_changes_apply_and_the_first_wins() {
        let replace = |value: f64| Change::replace(value);
        let property = |name: &str, change| (Step::Property(name.into()), change);
        let first = Change::within(vec![
            property("d", Change::within(vec![(Step::Element(1), replace(1.0))])),
            property("b", replace(2.0)),
        ]);
        let second = Change::within(vec![
            property("a", replace(3.0)),
            property("b", replace(4.0)),
            property("d", Change::within(vec![(Step::Element(1), replace(5.0)), (Step::Element(2), replace(6.0))])),
            property("e", Change::None),
            property("gone", replace(7.0)),
        ]);
        let mut value = Value::parse_json(r#"{"a":"","b":"","c":"","d":["","",""],"e":""}"#).unwrap();
        first.and(second).apply(&mut value);
        assert_eq!(value.to_json().unwrap().unwrap(), r#"{"a":3,"b":2,"c":"","d":["",1,6],"e":""}"#);
    }
}
