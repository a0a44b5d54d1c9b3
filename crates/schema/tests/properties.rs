//! Laws of types, validation and pruning over arbitrary types, also such as no
//! generator writes: broken, circular, of the wrong kind in every place.

mod common;

use common::{DEFAULT, LOOSE, STRICT};
use polywire_schema::{
    BufferKind, CompileOptions, EnumMember, EnumValue, IndexSignature, Interface, JsString, KeyType, Literal, Member,
    Node, Object, Program, Property, Scalar, Type, TypeSet, ValidateOptions, Value, types_from_json, types_to_json,
};
use proptest::{collection::vec, option, prelude::*};

/// Ids that sets have, one that they may have, one that none has, one of `ObjectId`.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![Just("A"), Just("B"), Just("C"), Just("D"), Just("nope"), Just("?bson/ObjectId")]
        .prop_map(str::to_owned)
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("t"), Just("2"), Just("10"), Just(""), Just("toString"), Just("__proto__")]
        .prop_map(str::to_owned)
}

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        Just(Literal::Undefined),
        Just(Literal::Null),
        any::<bool>().prop_map(Literal::Bool),
        prop_oneof![Just(0.0), Just(1.0), Just(-1.5)].prop_map(Literal::Number),
        name().prop_map(Literal::String),
    ]
}

fn scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        Just(Scalar::Double),
        Just(Scalar::ExplicitDouble),
        Just(Scalar::Int),
        Just(Scalar::Uint),
        Just(Scalar::BigInt),
        Just(Scalar::BigInt64),
        Just(Scalar::BigUint64),
    ]
}

fn buffer_kind() -> impl Strategy<Value = BufferKind> {
    (0..BufferKind::ALL.len()).prop_map(|at| BufferKind::ALL[at])
}

fn enumeration() -> impl Strategy<Value = Type> {
    let value = prop_oneof![
        Just(EnumValue::Null),
        (0..3_u8).prop_map(|number| EnumValue::Number(number.into())),
        name().prop_map(EnumValue::String),
    ];
    let member = (0..4_u32, value).prop_map(|(id, value)| EnumMember { id, value });
    vec(member, 0..4).prop_map(Type::Enum)
}

fn leaf() -> impl Strategy<Value = Type> {
    prop_oneof![
        Just(Type::Any),
        Just(Type::Boolean),
        Just(Type::String),
        Just(Type::Date),
        Just(Type::Object),
        scalar().prop_map(Type::Number),
        buffer_kind().prop_map(Type::Buffer),
        literal().prop_map(Type::Literal),
        enumeration(),
        id().prop_map(Type::Reference),
        id().prop_map(Type::Reference),
        id().prop_map(Type::Reference),
    ]
}

fn ty() -> impl Strategy<Value = Type> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        let member = || (0..12_u32, inner.clone()).prop_map(|(id, ty)| Member { id, ty });
        let property = (0..30_u32, name(), inner.clone(), any::<bool>())
            .prop_map(|(id, name, ty, optional)| Property { id, name, ty, optional });
        let key = prop_oneof![Just(KeyType::String), Just(KeyType::Number)];
        let index = (key, boxed()).prop_map(|(key, ty)| IndexSignature { key, ty });
        let interface = (vec(member(), 0..3), vec(property, 0..4), option::weighted(0.2, index))
            .prop_map(|(extends, properties, index)| Interface { extends, properties, index });
        prop_oneof![
            interface.prop_map(|interface| Type::Interface(Box::new(interface))),
            vec(member(), 0..4).prop_map(Type::Union),
            vec(member(), 0..3).prop_map(Type::Intersection),
            boxed().prop_map(Type::Array),
            (vec(inner.clone(), 0..3), option::of(0..4_usize))
                .prop_map(|(elements, optional_from)| Type::Tuple { elements, optional_from }),
            (name(), boxed()).prop_map(|(index, object)| Type::IndexedAccess { index, object }),
            boxed().prop_map(Type::Keyof),
            boxed().prop_map(Type::NonNullable),
            (boxed(), vec(name(), 0..3)).prop_map(|(target, keys)| Type::Pick { target, keys }),
            (boxed(), vec(name(), 0..3)).prop_map(|(target, keys)| Type::Omit { target, keys }),
            boxed().prop_map(Type::Partial),
            (boxed(), boxed()).prop_map(|(target, overwrite)| Type::Overwrite { target, overwrite }),
        ]
    })
}

fn types() -> impl Strategy<Value = TypeSet> {
    (ty(), ty(), ty(), option::of(ty())).prop_map(|(a, b, c, d)| {
        let types = [("A", Some(a)), ("B", Some(b)), ("C", Some(c)), ("D", d)];
        types.into_iter().filter_map(|(id, ty)| Some((id.to_owned(), ty?))).collect()
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Undefined),
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        prop_oneof![Just(0.0), Just(1.0), Just(-1.5), Just(f64::INFINITY)].prop_map(Value::Number),
        (-2..2_i128).prop_map(Value::BigInt),
        name().prop_map(Value::from),
        Just(Value::from(JsString::from_utf16(&[0xd800]))),
        (buffer_kind(), vec(any::<u8>(), 0..9)).prop_map(|(kind, bytes)| Value::Buffer(kind, bytes.into())),
        Just(Value::Date(0.0)),
        Just(Value::ObjectId([0; 12])),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((name(), inner), 0..4).prop_map(|entries| Value::Object(Object::from_iter(entries))),
        ]
    })
}

fn options() -> impl Strategy<Value = ValidateOptions> {
    prop_oneof![Just(DEFAULT), Just(STRICT), Just(LOOSE)]
}

fn compiled(types: &TypeSet) -> Program {
    Program::compile(types, &CompileOptions::default())
}

proptest! {
    #[test]
    fn the_json_form_reads_back_to_the_same_types(types in types()) {
        prop_assert_eq!(types_from_json(&types_to_json(&types)), Ok(types));
    }

    #[test]
    fn compiling_and_checking_never_panic_and_both_passes_agree(
        types in types(),
        value in value(),
        options in options(),
    ) {
        let program = compiled(&types);
        for id in types.keys() {
            let slot = program.root(id).expect("every id of the set is a root");
            let checked = program.validate(slot, &value, options);
            prop_assert_eq!(program.accepts(slot, &value, options), checked.is_ok());
            let text = checked.map_or_else(|error| error.to_string(), |()| String::new());
            prop_assert!(!text.contains("Invalid("));
        }
    }

    #[test]
    fn compiling_takes_as_many_nodes_as_types_are_written(types in types()) {
        // Resolving copies types, but never multiplies them: at most one copy
        // for each way to wrap a member of a union.
        let written = types_to_json(&types).to_json().expect("types have a JSON form").unwrap_or_default();
        let count = written.matches("\"type\":\"").count();
        prop_assert!(compiled(&types).nodes().len() <= 64 + count * count);
    }

    #[test]
    fn what_is_pruned_is_valid_and_has_nothing_more_to_prune(
        types in types(),
        value in value(),
        options in options(),
    ) {
        let program = compiled(&types);
        // Members of an intersection that declare a property of the same name
        // each keep their own part of it; the published package loses one.
        let intersects = program.nodes().iter().any(|node| matches!(node, Node::Intersection(_)));
        for id in types.keys().filter(|_| !intersects) {
            let slot = program.root(id).expect("every id of the set is a root");
            let Ok(pruned) = program.prune(slot, &value, options) else { continue };
            let loose = ValidateOptions { excess_property_checks: false, ..options };
            prop_assert_eq!(program.validate(slot, &pruned, loose), Ok(()), "{:?}", pruned);
            prop_assert_eq!(program.prune(slot, &pruned, options), Ok(pruned));
        }
    }

    #[test]
    fn pruning_refuses_what_checking_refuses(types in types(), value in value(), options in options()) {
        let program = compiled(&types);
        let loose = ValidateOptions { excess_property_checks: false, ..options };
        for id in types.keys() {
            let slot = program.root(id).expect("every id of the set is a root");
            let pruned = program.prune(slot, &value, options).map(|_| ());
            prop_assert_eq!(pruned, program.validate(slot, &value, loose));
        }
    }

    #[test]
    fn a_value_matches_no_member_that_is_no_candidate(types in types(), value in value(), options in options()) {
        let program = compiled(&types);
        for node in program.nodes() {
            let Node::Union(members) = node else { continue };
            let candidates: Vec<usize> = members.candidates(&value).collect();
            prop_assert!(candidates.is_sorted());
            for (at, member) in members.iter().enumerate().filter(|(at, _)| !candidates.contains(at)) {
                prop_assert!(!program.accepts(member.slot, &value, options), "member {}", at);
            }
        }
    }
}
