use super::*;
use crate::{
    Object, Registry, Type,
    derive::{Field, object},
};

thread_local! {
    static READ: Cell<u64> = const { Cell::new(0) };
}

/// What a derive makes of `enum Doubtful { First { next, number }, Second { next }, Leaf(bool) }`.
#[derive(Debug, PartialEq)]
enum Doubtful {
    First { next: Box<Self>, number: u8 },
    Second { next: Box<Self> },
    Leaf(bool),
}

impl Schema for Doubtful {
    fn describe(_: &mut Registry) -> Type {
        Type::Any
    }

    fn to_value(&self) -> Value {
        let object = match self {
            Self::First { next, number } => {
                Object::from_iter([("next", next.to_value()), ("number", number.to_value())])
            }
            Self::Second { next } => Object::from_iter([("next", next.to_value())]),
            Self::Leaf(leaf) => return leaf.to_value(),
        };
        Value::Object(object)
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        untagged(
            value,
            &[
                |value| {
                    let mut object = object(value)?;
                    let next = Field::take(&mut object, "next")?;
                    Ok(Self::First { next, number: u8::take(&mut object, "number")? })
                },
                |value| Field::take(&mut object(value)?, "next").map(|next| Self::Second { next }),
                |value| {
                    READ.set(READ.get() + 1);
                    bool::from_value(value).map(Self::Leaf)
                },
            ],
        )
    }
}

/// Each level is refused by the first variant, after all that is inside has been read.
fn nested(levels: usize, leaf: Value) -> Value {
    (0..levels).fold(leaf, |inner, _| Object::from_iter([("next", inner), ("number", Value::from(256))]).into())
}

/// Reads a value and says how often a leaf was tried.
fn reads<T: Schema>(read: fn(Value) -> Result<T, Mismatch>, value: Value) -> (Result<T, Mismatch>, u64) {
    READ.set(0);
    let result = read(value);
    (result, READ.get())
}

#[test]
fn each_level_that_is_doubtful_doubles_the_ways() {
    for levels in [0, 1, 5, 10] {
        let (read, tries) = reads(Doubtful::from_value, nested(levels, Value::Bool(true)));
        let expected = (0..levels).fold(Doubtful::Leaf(true), |inner, _| Doubtful::Second { next: Box::new(inner) });
        assert_eq!(read, Ok(expected));
        assert!(tries >= 1 << levels, "{levels} levels: {tries}");
    }
}

#[test]
fn what_is_tried_is_bounded_by_the_size_of_all_that_was_sent() {
    let bound = |value: &Value| PATIENCE + 3 * EFFORT * value.size();
    for (length, levels) in [(1, 500), (1_000, 30), (10_000, 12), (30_000, 8)] {
        for leaf in [Value::Bool(true), Value::from("x")] {
            let value = Value::Array(vec![nested(levels, leaf); length]);
            let bound = bound(&value);
            let (_, tries) = reads(from_untrusted::<Vec<Doubtful>>, value);
            assert!(tries < bound, "{length} of {levels} levels: {tries} of {bound}");
        }
    }
    let (read, _) = reads(from_untrusted::<Doubtful>, nested(500, Value::Bool(true)));
    let mut refused = read.unwrap_err();
    refused.path.clear();
    assert_eq!(refused.to_string(), "Too many variants have to be tried.");
}

#[test]
fn the_next_value_has_all_its_tries_again() {
    for _ in 0..3 {
        assert!(from_untrusted::<Doubtful>(nested(100, Value::Null)).is_err());
        assert!(Doubtful::from_value(nested(100, Value::Null)).is_err());
        assert!(from_untrusted::<Vec<Doubtful>>(vec![nested(5, Value::Bool(true)); 9].into()).is_ok());
        assert_eq!(BUDGET.get().map(|budget| budget.left), None);
    }
}
