//! Unions and intersections within each other, and values that match more than
//! one way at every level: 2 to the power of the depth ways lead to a leaf.
//!
//! Counted is how often a leaf is looked at, whichever way the value goes.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use polywire_schema::{
    CompileOptions, CustomType, IndexSignature, Interface, KeyType, Member, Program, Property, Type, TypeSet, Value,
};
use polywire_tsbuffer::{EncodeError, TsBuffer, TsBufferOptions};

/// A number that knows how often it has been looked at.
#[derive(Debug, Default)]
struct Counted(AtomicU64);

impl Counted {
    fn look(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl CustomType for Counted {
    fn validate(&self, value: &Value) -> Result<(), String> {
        self.look();
        if matches!(value, Value::Number(_)) { Ok(()) } else { Err("no number".to_owned()) }
    }

    fn encode(&self, _: &Value) -> Option<Result<Vec<u8>, String>> {
        self.look();
        Some(Ok(vec![7]))
    }

    fn decode(&self, _: &[u8]) -> Option<Result<Value, String>> {
        self.look();
        Some(Ok(Value::from(7)))
    }

    fn decode_json(&self, value: &Value) -> Option<Result<Value, String>> {
        self.look();
        Some(Ok(value.clone()))
    }
}

fn members(types: Vec<Type>) -> Vec<Member> {
    types.into_iter().zip(0..).map(|(ty, id)| Member { id, ty }).collect()
}

fn named(id: &str) -> Type {
    Type::Reference(id.to_owned())
}

fn array(element: Type) -> Type {
    Type::Array(Box::new(element))
}

/// An object type; all properties but `required` are optional.
fn object(properties: Vec<(&str, Type)>) -> Type {
    let property = |((name, ty), id): ((&str, Type), u32)| Property {
        id,
        name: name.to_owned(),
        ty,
        optional: name != "required",
    };
    let properties = properties.into_iter().zip(0..).map(property).collect();
    Type::Interface(Box::new(Interface { properties, ..Interface::default() }))
}

fn indexed(ty: Type) -> Type {
    let index = Some(IndexSignature { key: KeyType::String, ty: Box::new(ty) });
    Type::Interface(Box::new(Interface { index, ..Interface::default() }))
}

/// What a node `x` may be, with `leaf` as the leaf: each says which values it is for.
fn types(leaf: fn() -> Type) -> Vec<(&'static str, Shape, Type)> {
    let x = || named("x");
    let union = |types| Type::Union(members(types));
    let intersection = |types| Type::Intersection(members(types));
    let with = |more: &'static str, ty| object(vec![("c", x()), ("n", leaf()), (more, ty)]);
    let date = || with("d", Type::Date);
    vec![
        ("two members that match", Shape::Objects, union(vec![with("a", Type::Boolean), with("b", Type::String)])),
        ("two members with dates", Shape::Objects, union(vec![date(), with("d", Type::String), with("e", Type::Date)])),
        ("a member that fails late", Shape::Objects, union(vec![with("required", Type::Boolean), date()])),
        ("two members that fail", Shape::Objects, union(vec![with("required", Type::Date), with("required", leaf())])),
        ("an intersection", Shape::Objects, intersection(vec![date(), with("e", Type::Date)])),
        (
            "unions in an intersection",
            Shape::Objects,
            intersection(vec![union(vec![date(), with("a", leaf())]), union(vec![with("b", leaf()), date()])]),
        ),
        ("index signatures", Shape::Objects, union(vec![leaf(), indexed(x()), indexed(union(vec![x(), leaf()]))])),
        ("two kinds of arrays", Shape::Arrays, union(vec![leaf(), array(x()), array(union(vec![x(), Type::Date]))])),
        (
            "an array and a tuple",
            Shape::Arrays,
            union(vec![leaf(), array(x()), Type::Tuple { elements: vec![x(), x()], optional_from: Some(0) }]),
        ),
    ]
}

#[derive(Clone, Copy)]
enum Shape {
    Objects,
    Arrays,
}

impl Shape {
    fn nested(self, levels: usize) -> Value {
        (0..levels).fold(Value::from(1), |inner, level| match self {
            Self::Arrays => Value::Array(vec![inner]),
            // The innermost number is a leaf.
            Self::Objects if level == 0 => Value::Object([("n", inner)].into_iter().collect()),
            Self::Objects => Value::Object([("c", inner), ("n", Value::from(1))].into_iter().collect()),
        })
    }
}

/// Does everything with the value that a peer can make us do.
fn do_all(types: &TypeSet, leaf: Option<Arc<Counted>>, value: &Value) {
    let custom = leaf.map(|leaf| ("leaf".to_owned(), leaf as Arc<dyn CustomType>)).into_iter().collect();
    let program = Program::compile(types, &CompileOptions { custom, ..CompileOptions::default() });
    let root = program.root("root").expect("the root");
    let tsbuffer = TsBuffer::new(program, TsBufferOptions::default());
    let _ = tsbuffer.validate(root, value);
    let _ = tsbuffer.prune(root, value);
    let _ = tsbuffer.encode_json(root, value);
    let _ = tsbuffer.decode_json(root, value.clone());
    if let Ok(bytes) = tsbuffer.encode(root, value) {
        let _ = tsbuffer.decode(root, &bytes);
    }
}

#[test]
fn ambiguous_values_are_looked_at_a_bounded_number_of_times() {
    let before = peak_memory();
    let leaf = || Type::Reference("leaf".to_owned());
    for (name, shape, ty) in types(leaf) {
        let few = || vec![shape.nested(3); 10_000];
        let deep = || shape.nested(200);
        let values = [
            vec![deep()],
            vec![shape.nested(16); 1_000],
            vec![deep(); 20],
            // What is deep comes when much has been done already.
            few().into_iter().chain([deep()]).collect(),
        ];
        for elements in values {
            let value = Value::Array(elements);
            let counted = Arc::new(Counted::default());
            let types = [("root".to_owned(), array(named("x"))), ("x".to_owned(), ty.clone())].into_iter().collect();
            do_all(&types, Some(Arc::clone(&counted)), &value);
            let (looks, size) = (counted.0.load(Ordering::Relaxed), value.size());
            assert!(looks < 2_000_000 + 200 * size, "{name}: {looks} looks at {size} values");
        }
    }
    let grown = peak_memory().zip(before).map(|(after, before)| after.saturating_sub(before));
    assert!(grown.is_none_or(|grown| grown < 1 << 30), "memory grew by {grown:?} bytes");
}

/// As deep as values may be, with a union at every level, on the stack of a worker
/// thread: in unoptimised builds too, of which this takes most.
#[test]
fn deep_unions_fit_the_stack() {
    for (name, shape, ty) in types(|| Type::Date) {
        let types: TypeSet = [("root".to_owned(), named("x")), ("x".to_owned(), ty)].into_iter().collect();
        let work = move || [510, 520].into_iter().for_each(|levels| do_all(&types, None, &shape.nested(levels)));
        let thread = thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
        assert!(thread.join().is_ok(), "{name}");
    }
}

/// The published form holds an object in an intersection once for each member, and so on within.
#[test]
fn what_would_be_written_without_end_is_refused() {
    let member = |more| object(vec![("c", named("x")), ("n", Type::Any), (more, Type::Any)]);
    let types: TypeSet =
        [("x".to_owned(), Type::Intersection(members(vec![member("a"), member("b")])))].into_iter().collect();
    let program = Program::compile(&types, &CompileOptions::default());
    let x = program.root("x").expect("the root");
    let tsbuffer = TsBuffer::new(program, TsBufferOptions::default());
    let few = tsbuffer.encode(x, &Shape::Objects.nested(10)).expect("a thousand copies");
    assert_eq!(tsbuffer.decode(x, &few), Ok(Shape::Objects.nested(10)));
    assert_eq!(tsbuffer.encode(x, &Shape::Objects.nested(100)), Err(EncodeError::TooAmbiguous));
}

/// All unions around a value keep something about it: that must not be a copy each.
#[test]
fn what_is_remembered_about_a_value_takes_memory_for_it_once() {
    let before = peak_memory();
    let x = || named("x");
    let dates = || ("d", array(Type::Union(members(vec![Type::Date, Type::String]))));
    let union = vec![
        object(vec![("c", x()), dates()]),
        object(vec![("c", x()), dates(), ("e", Type::Date)]),
        array(x()),
        Type::Literal(polywire_schema::Literal::String("x".to_owned())),
    ];
    let types: TypeSet =
        [("root".to_owned(), array(x())), ("x".to_owned(), Type::Union(members(union)))].into_iter().collect();
    let text = |leaf: Value| Value::Object([("d", Value::Array(vec![leaf; 100_000]))].into_iter().collect());
    for leaf in [Value::from("2020-01-01T00:00:00.000Z"), Value::from(true)] {
        for wrap in [(|inner| Value::Object([("c", inner)].into_iter().collect())) as fn(Value) -> Value, |inner| {
            Value::Array(vec![inner])
        }] {
            let deep = (0..400).fold(text(leaf.clone()), |inner, _| wrap(inner));
            let filler = vec![Value::Object(polywire_schema::Object::new()); 100_000];
            do_all(&types, None, &Value::Array(filler.into_iter().chain([deep]).collect()));
        }
    }
    let grown = peak_memory().zip(before).map(|(after, before)| after.saturating_sub(before));
    assert!(grown.is_none_or(|grown| grown < 1 << 30), "memory grew by {grown:?} bytes");
}

/// The most memory that the process has had, in bytes; `None` where the system does not tell.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
