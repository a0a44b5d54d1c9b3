//! Rust values that are made to hurt: those that nest deeper than the stack.

use std::sync::Arc;

use indexmap::IndexMap;
use polywire_macros::Schema;
use polywire_schema::{CompileOptions, Program, Registry};
use polywire_tsbuffer::{
    EncodeError, TsBuffer, TsBufferOptions,
    typed::{Agreement, Codec, TypedCodec},
};

#[derive(Schema)]
struct Chain {
    next: Option<Box<Chain>>,
}

#[derive(Schema)]
struct Tree {
    branches: Vec<Tree>,
    named: IndexMap<String, Tree>,
}

#[derive(Schema)]
#[schema(tag = "kind")]
enum Step {
    Last,
    More { next: Box<Step> },
}

/// Told apart by a property, which only the dynamic path does.
#[derive(Schema)]
#[schema(untagged)]
enum Loose {
    Deeper { deeper: Box<Loose> },
    End { end: bool },
}

fn codec<T: Codec>() -> TypedCodec<T> {
    let mut types = Registry::default();
    types.root::<T>("root");
    let program = Program::compile(&types.into_types(), &CompileOptions::default());
    let root = program.root("root").expect("the root");
    TypedCodec::new(Arc::new(TsBuffer::new(program, TsBufferOptions::default())), root)
}

/// A value of so many levels is written in both forms, or refused in both.
#[track_caller]
fn check<T: Codec>(levels: usize, grow: impl Fn(T) -> T, leaf: T, shrink: impl Fn(T) -> Option<T>) {
    let codec = codec::<T>();
    assert_eq!(codec.agreement(), Agreement::Full);
    let value = (0..levels).fold(leaf, |inner, _| grow(inner));
    let binary = codec.encode_binary(&value, &mut Vec::new());
    let json = codec.encode_json(&value, &mut Vec::new());
    if levels < 200 {
        assert_eq!((binary, json), (Ok(()), Ok(())), "{levels} levels");
    } else {
        assert_eq!((binary, json), (Err(EncodeError::TooDeep), Err(EncodeError::TooDeep)), "{levels} levels");
    }
    // As it is, Rust would drop it recursively.
    let mut left = Some(value);
    while let Some(value) = left {
        left = shrink(value);
    }
}

#[test]
fn a_value_that_is_deeper_than_the_stack_is_an_error() {
    for levels in [100, 100_000] {
        let chain = |next| Chain { next: Some(Box::new(next)) };
        check(levels, chain, Chain { next: None }, |chain| chain.next.map(|next| *next));

        let leaf = || Tree { branches: vec![], named: IndexMap::new() };
        let branch = |tree| Tree { branches: vec![tree], named: IndexMap::new() };
        check(levels, branch, leaf(), |mut tree| tree.branches.pop());
        let name = |tree| Tree { branches: vec![], named: [("x".to_owned(), tree)].into() };
        check(levels, name, leaf(), |mut tree| tree.named.pop().map(|(_, tree)| tree));

        let step = |next| Step::More { next: Box::new(next) };
        let next = |step| match step {
            Step::More { next } => Some(*next),
            Step::Last => None,
        };
        check(levels, step, Step::Last, next);

        let deeper = |inner| Loose::Deeper { deeper: Box::new(inner) };
        let inner = |loose| match loose {
            Loose::Deeper { deeper } => Some(*deeper),
            Loose::End { .. } => None,
        };
        check(levels, deeper, Loose::End { end: true }, inner);
    }
}
