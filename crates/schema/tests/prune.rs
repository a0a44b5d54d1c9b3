//! What pruning leaves of a value.

mod common;

use common::*;
use polywire_schema::{BufferKind, KeyType, Type, ValidateOptions, Value};

/// Checks a value and what is left of it, both given as JSON.
fn check<const N: usize>(compiled: &Compiled, cases: [(&str, &str); N]) {
    for (value, expected) in cases {
        let pruned = compiled.prune(&json(value)).unwrap_or_else(|error| panic!("{value}: {error}"));
        assert_eq!(pruned.to_json().unwrap().as_deref(), Some(expected), "{value}");
    }
}

#[test]
fn undeclared_properties_go_and_declared_ones_come_in_their_order() {
    let compiled = compile(&extends([object([("a", Type::String)])], [("b?", object([("c?", Type::Any)]))]));
    check(
        &compiled,
        [
            (r#"{"secret":1,"a":"x","b":{"secret":2,"c":{"d":3}}}"#, r#"{"b":{"c":{"d":3}},"a":"x"}"#),
            (r#"{"a":"x","b":null}"#, r#"{"a":"x"}"#),
        ],
    );
    assert_eq!(compiled.prune(&json("{}")).unwrap_err().to_string(), "Missing required property `a`.");
}

#[test]
fn null_stands_where_only_null_may() {
    let types = || [("N", union([Type::String, NULL]))];
    let ty = object([
        ("a", union([Type::String, NULL])),
        ("b?", union([Type::String, NULL])),
        ("c", union([Type::String, UNDEFINED])),
        ("d", named("N")),
        ("e?", named("N")),
    ]);
    let compiled = compile_with(&ty, types());
    check(
        &compiled,
        [
            ("{}", r#"{"a":null,"d":null}"#),
            (r#"{"a":null,"b":null,"c":null,"d":null,"e":null}"#, r#"{"a":null,"b":null,"d":null}"#),
        ],
    );
    let strict = ValidateOptions { strict_null_checks: true, ..DEFAULT };
    let pruned = compiled.program.prune(compiled.slot, &json(r#"{"a":null,"d":null,"e":null}"#), strict).unwrap();
    assert_eq!(pruned, json(r#"{"a":null,"d":null,"e":null}"#));
}

#[test]
fn tuples_are_cut_and_filled() {
    let compiled = compile(&tuple([Type::String, Type::Any, union([Type::Boolean, NULL])], Some(1)));
    check(&compiled, [(r#"["a",1,true,"secret"]"#, r#"["a",1,true]"#), (r#"["a",null,null]"#, r#"["a",null,null]"#)]);
    let filled = compile(&tuple([Type::String, union([Type::String, NULL])], None));
    check(&filled, [(r#"["a"]"#, r#"["a",null]"#)]);
}

#[test]
fn a_union_keeps_what_its_matching_members_declare() {
    let compiled = compile(&union([object([("a", Type::String)]), object([("b", Type::Boolean)]), Type::String]));
    check(
        &compiled,
        [
            (r#"{"a":"x","b":true,"c":0}"#, r#"{"a":"x","b":true}"#),
            (r#"{"a":"x","b":0}"#, r#"{"a":"x"}"#),
            ("\"s\"", "\"s\""),
        ],
    );
    let intersection = compile(&intersection([object([("a", Type::String)]), object([("b", Type::Boolean)])]));
    check(&intersection, [(r#"{"a":"x","b":true,"c":0}"#, r#"{"a":"x","b":true}"#)]);
    check(&compile(&common::intersection([])), [(r#"{"a":1}"#, "{}")]);
}

#[test]
fn arrays_in_unions_are_pruned_too() {
    let item = || object([("a", Type::String)]);
    let list = compile(&object([("list?", union([array(item()), NULL]))]));
    check(
        &list,
        [(r#"{"list":[{"a":"1","secret":2}]}"#, r#"{"list":[{"a":"1"}]}"#), (r#"{"list":null}"#, r#"{"list":null}"#)],
    );
    let nested = compile(&union([array(array(item())), tuple([item()], None), Type::String]));
    check(
        &nested,
        [(r#"[[{"a":"1","secret":2}]]"#, r#"[[{"a":"1"}]]"#), (r#"[{"a":"1","secret":2},"more"]"#, r#"[{"a":"1"}]"#)],
    );
    // No member that matches takes away what another one declares.
    let lists = compile(&union([array(item()), array(object([("a", Type::String), ("b?", Type::String)]))]));
    check(&lists, [(r#"[{"a":"1","b":"2","secret":3},{"a":"4"}]"#, r#"[{"a":"1","b":"2"},{"a":"4"}]"#)]);
    let both = compile(&intersection([array(item()), array(object([("b", Type::String)]))]));
    check(&both, [(r#"[{"a":"1","b":"2","secret":3}]"#, r#"[{"a":"1","b":"2"}]"#)]);
}

#[test]
fn an_index_signature_brings_back_nothing_of_a_declared_property() {
    let nested = || object([("x", Type::Any)]);
    let compiled = compile(&indexed(KeyType::String, Type::Any, [("a", nested())]));
    check(&compiled, [(r#"{"a":{"x":1,"secret":2},"other":{"y":3}}"#, r#"{"a":{"x":1},"other":{"y":3}}"#)]);
    let of_another_member = union([object([("a", nested())]), indexed(KeyType::String, Type::Boolean, [])]);
    check(&compile(&of_another_member), [(r#"{"a":{"x":1,"secret":2},"q":{"y":3}}"#, r#"{"a":{"x":1},"q":{"y":3}}"#)]);
    let typed = compile(&indexed(KeyType::String, nested(), []));
    check(&typed, [(r#"{"k":{"x":1,"secret":2}}"#, r#"{"k":{"x":1}}"#)]);
}

#[test]
fn objects_of_a_class_stay_unless_an_object_type_takes_them() {
    let bytes = Value::Buffer(BufferKind::Uint8Array, vec![7].into());
    assert_eq!(compile(&Type::Any).prune(&bytes), Ok(bytes.clone()));
    let in_union = compile(&union([object([("0?", Type::Any)]), Type::Buffer(BufferKind::Uint8Array)]));
    assert_eq!(in_union.prune(&bytes), Ok(bytes.clone()));
    assert_eq!(compile(&object([("0?", Type::Any)])).prune(&bytes), Ok(json(r#"{"0":7}"#)));
    assert_eq!(compile(&object([])).prune(&Value::Date(0.0)), Ok(json("{}")));
}

#[test]
fn a_property_that_sets_the_prototype_is_dropped() {
    let value = json(r#"{"__proto__":{"a":1},"b":2}"#);
    assert_eq!(compile(&indexed(KeyType::String, Type::Any, [])).prune(&value), Ok(json(r#"{"b":2}"#)));
}
