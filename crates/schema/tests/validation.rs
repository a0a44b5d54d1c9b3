//! What is valid, and what is said of what is not. The texts are those of the published package.

mod common;

use common::*;
use polywire_schema::{BufferKind, KeyType, Literal, Node, Scalar, Type, ValidateOptions, Value};

/// Checks values given as JSON; an empty text stands for a valid value.
fn check<const N: usize>(compiled: &Compiled, options: ValidateOptions, cases: [(&str, &str); N]) {
    for (value, expected) in cases {
        check_value(compiled, options, &json(value), expected);
    }
}

fn check_value(compiled: &Compiled, options: ValidateOptions, value: &Value, expected: &str) {
    let found = compiled.validate(value, options).map_or_else(|error| error.to_string(), |()| String::new());
    assert_eq!(found, expected, "{value:?}");
    assert_eq!(compiled.program.accepts(compiled.slot, value, options), expected.is_empty(), "{value:?}");
}

#[test]
fn numbers_are_whole_and_positive_where_the_scalar_says_so() {
    let number = |scalar| compile(&Type::Number(scalar));
    check(
        &number(Scalar::Double),
        DEFAULT,
        [("1.5", ""), ("\"1\"", "Expected type to be `number`, actually `string`.")],
    );
    check(&number(Scalar::Int), DEFAULT, [("-1", ""), ("1e300", ""), ("1.5", "`1.5` is not a valid `int`.")]);
    check(&number(Scalar::Uint), DEFAULT, [("0", ""), ("-0", ""), ("-1", "`-1` is not a valid `uint`.")]);
    check_value(&number(Scalar::Int), DEFAULT, &Value::Number(f64::NAN), "`NaN` is not a valid `int`.");
    check_value(&number(Scalar::Uint), DEFAULT, &Value::Number(f64::INFINITY), "`Infinity` is not a valid `uint`.");
    check_value(&number(Scalar::BigUint64), DEFAULT, &Value::BigInt(-1), "`-1` is not a valid `biguint64`.");
    check(&number(Scalar::BigInt), DEFAULT, [("1", "Expected type to be `bigint`, actually `number`.")]);
}

#[test]
fn objects_of_a_class_are_named_by_it_where_another_class_is_expected() {
    let compiled = compile(&Type::Buffer(BufferKind::Uint8Array));
    let text = |found: &str| format!("Expected type to be `Uint8Array`, actually `{found}`.");
    let memory = |kind| Value::Buffer(kind, Vec::new().into());
    check_value(&compiled, DEFAULT, &memory(BufferKind::Uint8Array), "");
    check_value(&compiled, DEFAULT, &memory(BufferKind::ArrayBuffer), &text("ArrayBuffer"));
    check_value(&compiled, DEFAULT, &Value::Date(0.0), &text("Date"));
    check_value(&compiled, DEFAULT, &Value::ObjectId([0; 12]), &text("ObjectId"));
    check(&compiled, DEFAULT, [("{}", &*text("Object")), ("[]", &*text("Array")), ("null", &*text("null"))]);
}

#[test]
fn null_and_undefined_are_the_same_unless_checks_are_strict() {
    for literal in [NULL, UNDEFINED] {
        let compiled = compile(&literal);
        check_value(&compiled, DEFAULT, &Value::Null, "");
        check_value(&compiled, DEFAULT, &Value::Undefined, "");
    }
    check_value(&compile(&NULL), STRICT, &Value::Undefined, "Expected to equals `null`, actually `undefined`");
    check_value(&compile(&UNDEFINED), STRICT, &Value::Null, "Expected to equals `undefined`, actually `null`");
}

#[test]
fn a_property_may_be_missing_where_its_type_admits_nothing() {
    let compiled = compile(&object([
        ("a", Type::String),
        ("b?", Type::String),
        ("c", union([Type::String, NULL])),
        ("d", union([Type::String, UNDEFINED])),
        ("e?", Type::Any),
    ]));
    check(
        &compiled,
        DEFAULT,
        [
            (r#"{"a":"x"}"#, ""),
            (r#"{"a":"x","b":null,"c":null,"d":null,"e":null}"#, ""),
            (r#"{"a":null}"#, "Missing required property `a`."),
        ],
    );
    check(
        &compiled,
        STRICT,
        [
            (r#"{"a":"x"}"#, "Missing required property `c`."),
            (r#"{"a":"x","c":null}"#, ""),
            (r#"{"a":"x","b":null,"c":null}"#, "Property `b`: Expected type to be `string`, actually `null`."),
            (r#"{"a":"x","c":null,"d":null}"#, "Property `d`: Expected type to be `string`, actually `null`."),
            (r#"{"a":"x","c":null,"e":null}"#, ""),
        ],
    );
    // `any` admits everything, but does not count as admitting nothing.
    let any = compile(&object([("a", Type::Any)]));
    check(&any, DEFAULT, [(r#"{"a":null}"#, "Missing required property `a`."), ("{\"a\":0}", "")]);
    check(&any, STRICT, [(r#"{"a":null}"#, ""), ("{}", "Missing required property `a`.")]);
}

#[test]
fn what_a_type_admits_by_its_name_may_be_left_out_too() {
    let types = || [("N", union([Type::String, NULL])), ("M", union([named("N"), Type::Boolean]))];
    let compiled = compile_with(&object([("a", named("N")), ("b", named("M"))]), types());
    check(&compiled, DEFAULT, [(r#"{"a":null}"#, ""), ("{}", "")]);
    check(&compiled, STRICT, [(r#"{"a":null,"b":null}"#, ""), (r#"{"a":null}"#, "Missing required property `b`.")]);
    let tuple = compile_with(&tuple([named("N"), Type::String], None), types());
    check(&tuple, DEFAULT, [(r#"[null,"x"]"#, ""), ("[]", "Missing required property `1`.")]);
}

#[test]
fn excess_properties_are_refused_before_anything_else() {
    let compiled = compile(&object([("a", Type::String)]));
    let excess = "Excess property `z` should not exists.";
    check(
        &compiled,
        DEFAULT,
        [
            (r#"{"a":1,"z":1}"#, excess),
            (r#"{"z":null}"#, excess),
            (r#"{"a":"x","":1}"#, ""),
            (r#"{"a":"x","":1,"z":1}"#, ""),
            (r#"{"a":"x","z":1,"":1}"#, excess),
            (r#"{"a":"x","__proto__":1}"#, "Excess property `__proto__` should not exists."),
        ],
    );
    check(&compiled, LOOSE, [(r#"{"a":"x","z":1}"#, ""), (r#"{"z":1}"#, "Missing required property `a`.")]);
    check(
        &compile(&tuple([Type::String], None)),
        DEFAULT,
        [(r#"["a"]"#, ""), (r#"[1,2]"#, "Value has 2 elements but schema allows only 1.")],
    );
}

#[test]
fn names_of_object_prototype_are_names_like_others() {
    let compiled = compile(&extends([object([("toString?", Type::String)])], [("constructor", Type::String)]));
    check(
        &compiled,
        DEFAULT,
        [
            (r#"{"constructor":"x"}"#, ""),
            (r#"{"constructor":"x","toString":"y"}"#, ""),
            ("{}", "Missing required property `constructor`."),
            (r#"{"constructor":"x","valueOf":1}"#, "Excess property `valueOf` should not exists."),
        ],
    );
}

#[test]
fn the_path_leads_through_properties_and_indices() {
    let compiled = compile(&object([("list", array(tuple([object([("a", Type::Boolean)])], None)))]));
    check(
        &compiled,
        DEFAULT,
        [
            (
                r#"{"list":[[{"a":true}],[{"a":1}]]}"#,
                "Property `list.1.0.a`: Expected type to be `boolean`, actually `number`.",
            ),
            (r#"{"list":[[]]}"#, "Property `list.0`: Missing required property `0`."),
            (r#"{"list":{}}"#, "Property `list`: Expected type to be `Array`, actually `Object`."),
        ],
    );
}

#[test]
fn index_signatures_check_every_key() {
    let ty = indexed(KeyType::String, union([Type::String, Type::Boolean]), [("a", Type::String)]);
    check(
        &compile(&ty),
        DEFAULT,
        [
            (r#"{"a":"x","b":true}"#, ""),
            (r#"{"a":true}"#, "Property `a`: Expected type to be `string`, actually `boolean`."),
            (r#"{"a":"x","b":null}"#, "Property `b`: Expected type to be `string | boolean`, actually `null`."),
        ],
    );
    let numbers = compile(&indexed(KeyType::Number, Type::Any, [("a?", Type::Any)]));
    let key = |key: &str| format!("`{key}` is not a valid key, the key here should be a `number`.");
    check(
        &numbers,
        DEFAULT,
        [
            (r#"{"0":1,"-5":1}"#, ""),
            (r#"{"a":1}"#, &*key("a")),
            (r#"{"05":1}"#, &*key("05")),
            (r#"{"1.5":1}"#, &*key("1.5")),
            (r#"{"":1}"#, &*key("")),
            (r#"{"NaN":1}"#, &*key("NaN")),
        ],
    );
    // A published library gives every date a method.
    check_value(&compile(&indexed(KeyType::String, Type::Any, [])), DEFAULT, &Value::Date(0.0), "");
    check_value(&numbers, DEFAULT, &Value::Date(0.0), &key("format"));
    let strings = compile(&indexed(KeyType::String, Type::String, []));
    let text = "Property `format`: Expected type to be `string`, actually `function`.";
    check_value(&strings, DEFAULT, &Value::Date(0.0), text);
}

#[test]
fn a_typed_array_is_an_object_of_its_elements() {
    let value = Value::Buffer(BufferKind::Int16Array, vec![255, 255, 1, 0].into());
    check_value(&compile(&object([("0", Type::Number(Scalar::Int)), ("1?", Type::Any)])), DEFAULT, &value, "");
    check_value(&compile(&object([])), DEFAULT, &value, "Excess property `0` should not exists.");
    let strings = compile(&indexed(KeyType::Number, Type::Number(Scalar::Uint), []));
    check_value(&strings, DEFAULT, &value, "Property `0`: `-1` is not a valid `uint`.");
}

#[test]
fn mapped_types_apply_to_each_member_of_a_union() {
    let target =
        union([object([("a", Type::String), ("t", text("x"))]), object([("a", Type::Boolean), ("t", text("y"))])]);
    let ty = Type::Pick { target: Box::new(target), keys: vec!["a".to_owned()] };
    check(
        &compile(&ty),
        DEFAULT,
        [
            (r#"{"a":"s"}"#, ""),
            (r#"{"a":true}"#, ""),
            (r#"{"a":true,"t":"y"}"#, "Excess property `t` should not exists."),
        ],
    );
}

#[test]
fn partial_overwrite_changes_no_other_type() {
    let partial = Type::Partial(Box::new(Type::Overwrite {
        target: Box::new(object([("a", Type::String)])),
        overwrite: Box::new(named("O")),
    }));
    let ty = object([("partial", partial), ("whole", named("O"))]);
    let compiled = compile_with(&ty, [("O", object([("b", Type::String)]))]);
    check(
        &compiled,
        DEFAULT,
        [
            (r#"{"partial":{},"whole":{"b":"x"}}"#, ""),
            (r#"{"partial":{},"whole":{}}"#, "Property `whole`: Missing required property `b`."),
        ],
    );
}

#[test]
fn members_of_a_union_may_declare_for_each_other() {
    let a_or_b = || union([object([("a", Type::String)]), object([("b", Type::Boolean)])]);
    let both = r#"{"a":"x","b":true}"#;
    check(
        &compile(&a_or_b()),
        DEFAULT,
        [(both, ""), (r#"{"a":"x","b":0}"#, ""), (r#"{"a":"x","c":0}"#, "Excess property `c` should not exists.")],
    );
    // Also where the union stands in an array that is itself a member.
    check(&compile(&union([array(a_or_b()), NULL])), DEFAULT, [(r#"[{"a":"x","b":true}]"#, "")]);
    // Not beyond a property.
    let nested =
        union([object([("k", object([("a", Type::String)]))]), object([("k", object([("b", Type::String)]))])]);
    check(
        &compile(&nested),
        DEFAULT,
        [(
            r#"{"k":{"a":"1","b":"2"}}"#,
            "No union member matched, detail:\n  <0> Property `k`: Excess property `b` should not exists.\n  <1> Property `k`: Excess property `a` should not exists.",
        )],
    );
    let with_index = union([object([("a", Type::String)]), indexed(KeyType::String, Type::Boolean, [])]);
    check(&compile(&with_index), DEFAULT, [(r#"{"a":"x","q":1}"#, "")]);
    let with_numbers = union([object([("a", Type::String)]), indexed(KeyType::Number, Type::Boolean, [])]);
    check(
        &compile(&with_numbers),
        DEFAULT,
        [(r#"{"a":"x"}"#, "`a` is not a valid key, the key here should be a `number`.")],
    );
    // As published: an inner signature of numbers is not looked at from outside.
    check(&compile(&union([NULL, array(with_numbers)])), DEFAULT, [(r#"[{"a":"x"}]"#, "")]);
}

#[test]
fn a_union_reports_the_error_that_helps_most() {
    let discriminated = compile(&union([
        object([("t", text("a")), ("v", Type::String)]),
        object([("t", text("b")), ("v", Type::Boolean)]),
    ]));
    check(
        &discriminated,
        DEFAULT,
        [
            // All say the same.
            (r#"{"v":1}"#, "Missing required property `t`."),
            ("5", "Expected type to be `Object`, actually `number`."),
            // The only member that is meant.
            (r#"{"t":"b","v":1}"#, "Property `v`: Expected type to be `boolean`, actually `number`."),
            // None is meant.
            (
                r#"{"t":"c","v":1}"#,
                "No union member matched, detail:\n  <0> Property `t`: Expected to equals `'a'`, actually `'c'`\n  <1> Property `t`: Expected to equals `'b'`, actually `'c'`",
            ),
        ],
    );
    let scalars = compile(&union([text("x"), Type::Literal(Literal::Number(1.0)), Type::Date, Type::Boolean, NULL]));
    check(
        &scalars,
        DEFAULT,
        [
            // None of the types.
            ("[]", "Expected type to be `string | number | Date | boolean | null`, actually `Array`."),
            ("{}", "Expected type to be `string | number | Date | boolean | null`, actually `Object`."),
            // One of the types, none of the values.
            ("\"z\"", "`'z'` is not matched to `'x' | 1 | Date | boolean | null`"),
        ],
    );
    let undefined = compile(&union([text("x"), UNDEFINED]));
    check(&undefined, DEFAULT, [("\"z\"", "`'z'` is not matched to `'x' | `")]);
    let objects = compile(&union([object([("a", Type::String)]), NULL, Type::String]));
    check(
        &objects,
        DEFAULT,
        [(
            "{}",
            "No union member matched, detail:\n  <0> Missing required property `a`.\n  <1> Expected to equals `null`, actually `{}`\n  <2> Expected type to be `string`, actually `Object`.",
        )],
    );
    check(&compile(&union([])), DEFAULT, [("1", "No union member matched, detail:\n")]);
}

#[test]
fn an_intersection_reports_its_first_error() {
    let compiled = compile(&intersection([object([("a", Type::String)]), object([("b", Type::Boolean)])]));
    check(
        &compiled,
        DEFAULT,
        [
            (r#"{"a":"x","b":true}"#, ""),
            (r#"{"a":"x"}"#, "Missing required property `b`."),
            ("{}", "Missing required property `a`."),
            (r#"{"a":"x","b":true,"c":0}"#, "Excess property `c` should not exists."),
        ],
    );
}

#[test]
fn non_nullable_refuses_nothing_unless_over_any() {
    let non_nullable = |ty| compile(&Type::NonNullable(Box::new(ty)));
    check(
        &non_nullable(union([Type::String, NULL])),
        DEFAULT,
        [("\"x\"", ""), ("null", "Expected type to be `NonNullable`, actually `null`.")],
    );
    check(&non_nullable(Type::Any), DEFAULT, [("null", "")]);
}

#[test]
fn a_broken_type_is_an_error_where_a_value_reaches_it() {
    let compiled = compile(&object([("a?", named("nope")), ("b?", Type::Keyof(Box::new(Type::String)))]));
    check(
        &compiled,
        DEFAULT,
        [
            ("{}", ""),
            (r#"{"a":1}"#, "Cannot find reference target: nope"),
            (r#"{"b":1}"#, "Cannot flatten non interface type: String"),
        ],
    );
    let tuple = Type::IndexedAccess { index: "0".to_owned(), object: Box::new(named("T")) };
    let compiled = compile_with(&tuple, [("T", tuple_of_strings())]);
    check(&compiled, DEFAULT, [("\"x\"", "Error objectType: Reference")]);
    let pick = Type::Pick { target: Box::new(Type::String), keys: Vec::new() };
    check(&compile(&pick), DEFAULT, [("{}", "Unsupported pattern Pick<String>")]);
    // Of a union with a broken member only values that no other member takes.
    check(
        &compile(&union([Type::String, named("nope")])),
        DEFAULT,
        [("\"x\"", ""), ("1", "Cannot find reference target: nope")],
    );
}

fn tuple_of_strings() -> Type {
    tuple([Type::String, Type::String], None)
}

#[test]
fn a_bigint_in_a_text_is_printed() {
    check_value(&compile(&text("a")), DEFAULT, &Value::BigInt(1), "Expected to equals `'a'`, actually `1n`");
    let compiled = compile(&union([text("a"), NULL]));
    check_value(&compiled, DEFAULT, &Value::BigInt(1), "Expected type to be `string | null`, actually `bigint`.");
}

#[test]
fn many_literals_and_members_are_told_apart_by_their_tables() {
    let letters = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let texts =
        compile(&Type::Union(common::members(letters.map(text).into_iter().chain([Type::Boolean, Type::Date]))));
    check(
        &texts,
        DEFAULT,
        [
            ("\"a\"", ""),
            ("\"j\"", ""),
            ("true", ""),
            (
                "\"k\"",
                "`'k'` is not matched to `'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | boolean | Date`",
            ),
        ],
    );
    let kinds = compile(&union([
        object([("t", text("a")), ("x", Type::String)]),
        object([("t", union([text("b"), text("c")])), ("y", Type::String)]),
        object([("t?", text("d"))]),
        Type::String,
    ]));
    check(
        &kinds,
        LOOSE,
        [(r#"{"t":"a","x":"1"}"#, ""), (r#"{"t":"c","y":"1"}"#, ""), ("{}", ""), (r#"{"t":null}"#, ""), ("\"s\"", "")],
    );
    for (value, candidates) in
        [(r#"{"t":"a"}"#, vec![0]), (r#"{"t":"c"}"#, vec![1]), (r#"{"t":5}"#, vec![2]), ("[]", vec![0, 1, 2, 3])]
    {
        let Node::Union(members) = kinds.program.node(kinds.slot.node) else { panic!("a union") };
        assert_eq!(members.candidates(&json(value)).collect::<Vec<_>>(), candidates, "{value}");
    }
}
