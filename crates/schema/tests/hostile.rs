//! Types and values that are made to hurt: endless, huge, circular, ambiguous.
//!
//! Each test ends because the work is bounded, not because something is fast.

mod common;

use common::*;
use polywire_schema::{
    CompileOptions, EnumMember, EnumValue, Literal, MAX_VALUE_DEPTH, Node, Object, Program, Type, TypeSet,
    ValidationErrorKind, Value,
};

/// Arrays within arrays.
fn nested_arrays(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

/// Objects within objects, under one key.
fn nested_objects(levels: usize, key: &str, leaf: Value) -> Value {
    (0..levels).fold(leaf, |inner, _| Value::Object(Object::from_iter([(key, inner)])))
}

/// Drops a value from the outside in: dropping it as it is recurses, which
/// parsers prevent by their limit of nesting.
fn dismantle(mut value: Value) {
    while let Value::Array(mut elements) = value {
        value = elements.pop().unwrap_or_default();
    }
}

#[test]
fn values_nest_512_levels_at_most() {
    let limit = MAX_VALUE_DEPTH as usize;
    let lists = compile_with(&named("L"), [("L", union([NULL, array(named("L"))]))]);
    let chains = compile_with(&named("C"), [("C", object([("c?", named("C"))]))]);
    assert_eq!(lists.validate(&nested_arrays(limit), DEFAULT), Ok(()));
    assert_eq!(chains.validate(&nested_objects(limit, "c", Value::Null), DEFAULT), Ok(()));
    let text = "is nested too deeply, at most 512 levels are accepted.";
    for error in [
        lists.validate(&nested_arrays(limit + 1), DEFAULT).unwrap_err(),
        chains.validate(&nested_objects(limit + 1, "c", Value::Null), DEFAULT).unwrap_err(),
        compile(&Type::Any).prune(&nested_arrays(limit + 1)).unwrap_err(),
    ] {
        assert!(error.to_string().ends_with(text), "{error}");
        assert_eq!(error.kind, ValidationErrorKind::TooDeep);
    }
}

#[test]
fn a_hundred_thousand_levels_are_refused_like_any_wrong_value() {
    let lists = compile_with(&named("L"), [("L", union([NULL, array(named("L"))]))]);
    let value = nested_arrays(100_000);
    assert_eq!(lists.validate(&value, DEFAULT).unwrap_err().kind, ValidationErrorKind::TooDeep);
    assert_eq!(lists.prune(&value).unwrap_err().kind, ValidationErrorKind::TooDeep);
    assert_eq!(compile(&Type::Any).validate(&value, DEFAULT), Ok(()));
    assert_eq!(compile(&Type::Any).prune(&value).unwrap_err().kind, ValidationErrorKind::TooDeep);
    // Texts print values, but not down to the end.
    let error = compile(&text("a")).validate(&value, DEFAULT).unwrap_err();
    assert!(error.to_string().contains("[\"…\"]"));
    dismantle(value);
}

/// A value in which each level matches two members that both lead to the next.
fn ambiguous(members: fn() -> [Type; 2]) -> Compiled {
    compile_with(&named("T"), [("T", union(members()))])
}

#[test]
fn ambiguous_unions_take_time_that_grows_with_the_value_only() {
    // 2 to the power of 400 ways lead to the innermost object.
    let deep = |leaf: &str| nested_objects(400, "c", json(leaf));
    let late = || {
        [
            object([("c?", named("T")), ("a?", Type::String), ("t?", Type::Boolean)]),
            object([("c?", named("T")), ("b?", Type::String), ("t?", Type::Boolean)]),
        ]
    };
    let compiled = ambiguous(late);
    assert_eq!(compiled.validate(&deep(r#"{"a":"x"}"#), DEFAULT), Ok(()));
    assert_eq!(compiled.prune(&deep(r#"{"a":"x","z":1}"#)), Ok(deep(r#"{"a":"x"}"#)));
    let error = compiled.validate(&deep(r#"{"t":1}"#), DEFAULT).unwrap_err();
    assert!(error.to_string().ends_with(".t`: Expected type to be `boolean`, actually `number`."), "{error}");

    // The same where the members disagree about each level, so that each has its own text.
    let disagreeing =
        || [object([("c?", named("T")), ("x", Type::String)]), object([("c?", named("T")), ("y", Type::String)])];
    let error = ambiguous(disagreeing).validate(&deep("{}"), DEFAULT).unwrap_err();
    assert!(error.to_string().len() < 1_000_000);

    let both = compile_with(
        &named("I"),
        [(
            "I",
            intersection([
                object([("c?", named("I")), ("a?", Type::Any)]),
                object([("c?", named("I")), ("b?", Type::Any)]),
            ]),
        )],
    );
    assert_eq!(both.validate(&deep("{}"), DEFAULT), Ok(()));
    assert_eq!(both.prune(&deep(r#"{"z":1}"#)), Ok(deep("{}")));
}

#[test]
fn huge_unions_compile_and_find_their_members() {
    let names: Vec<String> = (0..5_000).map(|at| format!("name{at}")).collect();
    let literals = compile(&Type::Union(members(names.iter().map(|name| text(name)))));
    assert_eq!(literals.validate(&Value::from("name4999"), DEFAULT), Ok(()));
    let error = literals.validate(&Value::from("other"), DEFAULT).unwrap_err();
    assert!(error.to_string().starts_with("`'other'` is not matched to `'name0' | 'name1'"));

    let objects =
        compile(&Type::Union(members(names.iter().map(|name| object([("t", text(name)), ("v", Type::Any)])))));
    let value = Object::from_iter([("t", Value::from("name4999")), ("v", Value::from(1))]).into();
    assert_eq!(objects.validate(&value, DEFAULT), Ok(()));
    let Node::Union(members) = objects.program.node(objects.slot.node) else { panic!("a union") };
    assert_eq!(members.candidates(&value).collect::<Vec<_>>(), [4_999]);
    // Of 5,000 members that each say something else, the text names the first ones.
    let error = objects.validate(&json(r#"{"t":"other"}"#), DEFAULT).unwrap_err().to_string();
    assert!(error.ends_with("\n  …"), "{}", &error[error.len() - 100..]);

    let numbers = (0..5_000).map(|at| EnumMember { id: at, value: EnumValue::Number(at.into()) });
    let enumeration = compile(&union([object([("t", Type::Enum(numbers.collect()))]), object([("t", text("x"))])]));
    assert_eq!(enumeration.validate(&json(r#"{"t":4999}"#), DEFAULT), Ok(()));
}

#[test]
fn types_that_stand_for_themselves_are_errors() {
    let boxed = |ty| Box::new(ty);
    let a = || named("A");
    let circular = [
        a(),
        named("B"),
        union([Type::String, a()]),
        intersection([a(), object([])]),
        Type::NonNullable(boxed(a())),
        extends([a()], []),
        extends([object([("x", Type::Any)]), Type::Partial(boxed(a()))], []),
        Type::Partial(boxed(a())),
        Type::Overwrite { target: boxed(object([])), overwrite: boxed(a()) },
        Type::Keyof(boxed(a())),
        Type::IndexedAccess { index: "x".to_owned(), object: boxed(a()) },
        object([("x", Type::IndexedAccess { index: "x".to_owned(), object: boxed(a()) })]),
    ];
    for ty in circular {
        let shown = format!("{ty:?}");
        let compiled = compile_with(&a(), [("A", ty), ("B", Type::NonNullable(boxed(a())))]);
        let error = compiled.validate(&json(r#"{"x":1}"#), DEFAULT).unwrap_err();
        assert!(matches!(error.kind, ValidationErrorKind::Schema(_)), "{shown}: {error}");
    }
    // These contain themselves in a property, which is no circle.
    let access = Type::IndexedAccess { index: "x".to_owned(), object: boxed(a()) };
    let compiled = compile_with(&a(), [("A", object([("x", object([("y?", access)]))]))]);
    assert_eq!(compiled.validate(&json(r#"{"x":{"y":{"y":{}}}}"#), DEFAULT), Ok(()));
}

#[test]
fn bases_that_multiply_are_flattened_once_each() {
    // 2 to the power of 30 ways lead to the last base.
    let mut types: TypeSet = (0..30)
        .map(|at| {
            let next = named(&format!("T{}", at + 1));
            (format!("T{at}"), extends([next.clone(), Type::Partial(Box::new(next))], []))
        })
        .collect();
    types.insert("T30".to_owned(), object([("x", Type::String)]));
    types.insert("K".to_owned(), Type::Keyof(Box::new(named("T0"))));
    let program = Program::compile(&types, &CompileOptions::default());
    let check = |id: &str, value: &str| program.accepts(program.root(id).unwrap(), &json(value), DEFAULT);
    assert!(check("T0", r#"{"x":"1"}"#) && check("K", "\"x\""));
}

#[test]
fn long_chains_of_types_do_not_exhaust_the_stack() {
    let chain = |link: fn(Type) -> Type| {
        let mut types: TypeSet =
            (0..5_000).map(|at| (format!("T{at}"), link(named(&format!("T{}", at + 1))))).collect();
        types.insert("T5000".to_owned(), object([("x?", Type::Literal(Literal::Null))]));
        let program = Program::compile(&types, &CompileOptions::default());
        program.validate(program.root("T0").unwrap(), &json("{}"), DEFAULT).map_err(|error| error.to_string())
    };
    assert_eq!(chain(|next| object([("x?", next)])), Ok(()));
    // What is checked for the same value again and again is limited.
    for link in [
        |next| next,
        |next| union([Type::String, next]),
        |next| Type::NonNullable(Box::new(next)),
        |next| extends([next], []),
        |next| Type::Partial(Box::new(next)),
    ] {
        let error = chain(link).unwrap_err();
        assert!(error.starts_with("Type is circular or nested too deeply"), "{error}");
    }
}

#[test]
fn mapped_types_that_map_themselves_are_errors() {
    let pick = |target| Type::Pick { target: Box::new(target), keys: vec!["x".to_owned()] };
    let omit = |target| Type::Omit { target: Box::new(target), keys: vec!["y".to_owned()] };
    let x = || object([("x", Type::String)]);
    let types = [("A", union([x(), pick(named("A")), omit(named("A"))]))];
    let compiled = compile_with(&pick(named("A")), types);
    assert!(compiled.program.nodes().len() < 100);
    assert_eq!(compiled.validate(&json(r#"{"x":"1"}"#), DEFAULT), Ok(()));
    // In a property it is no circle.
    let types = [("A", union([object([("x?", pick(named("A")))]), object([("y?", omit(named("A")))])]))];
    let compiled = compile_with(&pick(named("A")), types);
    assert_eq!(compiled.validate(&json(r#"{"x":{"x":{}}}"#), DEFAULT), Ok(()));
}
