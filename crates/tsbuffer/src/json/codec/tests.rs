use polywire_schema::{CompileOptions, Program, types_from_json};

use super::*;
use crate::{Phase, TsBufferOptions};

/// The codec of the types in `proto`, JSON in which `x` is the type under test.
fn codec(proto: &str) -> (TsBuffer, Slot) {
    let types = types_from_json(&Value::parse_json(proto).expect(proto)).expect(proto);
    let tsbuffer = TsBuffer::new(Program::compile(&types, &CompileOptions::default()), TsBufferOptions::default());
    let slot = tsbuffer.root("x").expect("a type `x`");
    (tsbuffer, slot)
}

fn decoded(proto: &str, json: &str) -> Result<Value, DecodeError> {
    let (tsbuffer, slot) = codec(proto);
    tsbuffer.decode_json(slot, Value::parse_json(json).expect(json))
}

/// Reads `json`, and shows what became of it: `Date(…)`, `Uint8Array(…)` where something was converted.
fn check(proto: &str, json: &str, expected: &str) {
    let found =
        decoded(proto, json).map_or_else(|error| format!("{}: {error}", error.phase().name()), |value| show(&value));
    assert_eq!(found, expected, "{json} as {proto}");
}

fn show(value: &Value) -> String {
    match value {
        Value::Undefined => "undefined".to_owned(),
        Value::Date(ms) => format!("Date({ms})"),
        Value::Buffer(kind, bytes) => format!("{}({:?})", kind.name(), &bytes[..]),
        Value::ObjectId(id) => format!("ObjectId({:x})", id[0]),
        Value::Array(elements) => format!("[{}]", elements.iter().map(show).collect::<Vec<_>>().join(",")),
        Value::Object(object) => {
            format!(
                "{{{}}}",
                object.iter().map(|(key, value)| format!("{key}:{}", show(value))).collect::<Vec<_>>().join(",")
            )
        }
        other => other.to_json().unwrap().unwrap(),
    }
}

const DATE: &str = r#"{"type":"Date"}"#;
const BYTES: &str = r#"{"type":"Buffer","arrayType":"Uint8Array"}"#;
const STRING: &str = r#"{"type":"String"}"#;
const NUMBER: &str = r#"{"type":"Number"}"#;
const OBJECT_ID: &str = r#"{"type":"Reference","target":"?mongodb/ObjectId"}"#;

fn members(kind: &str, members: &[&str]) -> String {
    let members: Vec<_> = members.iter().enumerate().map(|(id, ty)| format!(r#"{{"id":{id},"type":{ty}}}"#)).collect();
    format!(r#"{{"type":"{kind}","members":[{}]}}"#, members.join(","))
}

fn union(of: &[&str]) -> String {
    format!(r#"{{"x":{}}}"#, members("Union", of))
}

/// `{a: …, b?: …}`; names with `?` are optional.
fn object(properties: &[(&str, &str)]) -> String {
    let property = |(id, (name, ty)): (usize, &(&str, &str))| {
        let optional = name.ends_with('?');
        format!(r#"{{"id":{id},"name":"{}","type":{ty},"optional":{optional}}}"#, name.trim_end_matches('?'))
    };
    let properties: Vec<_> = properties.iter().enumerate().map(property).collect();
    format!(r#"{{"type":"Interface","properties":[{}]}}"#, properties.join(","))
}

fn literal(value: &str) -> String {
    format!(r#"{{"type":"Literal","literal":{value}}}"#)
}

#[test]
fn what_looks_like_a_date_is_one_and_other_texts_stay_texts() {
    for proto in [union(&[DATE, STRING]), union(&[STRING, DATE])] {
        check(&proto, r#""1970-01-01T00:00:00.001Z""#, "Date(1)");
        check(&proto, r#""1970-01-01""#, "Date(0)");
        check(&proto, r#""hello""#, r#""hello""#);
        check(&proto, r#""""#, r#""""#);
        check(&proto, "5", "Date(5)");
    }
    // Where nothing else takes the text, it is a date without a time, as published.
    check(&union(&[DATE, NUMBER]), r#""hello""#, "Date(NaN)");
    check(&union(&[DATE, &literal("null")]), "null", "null");
}

#[test]
fn what_is_no_base64_of_an_encoder_stays_a_text() {
    for proto in [union(&[BYTES, STRING]), union(&[STRING, BYTES])] {
        check(&proto, r#""AQID""#, "Uint8Array([1, 2, 3])");
        check(&proto, r#""hello""#, r#""hello""#);
    }
    check(&union(&[BYTES, NUMBER]), r#""AQI""#, "Uint8Array([1, 2])");
    check(&union(&[OBJECT_ID, STRING]), r#""61531914435b997af15dc382""#, "ObjectId(61)");
    check(&union(&[OBJECT_ID, STRING]), r#""hello world!""#, r#""hello world!""#);
    check(&union(&[OBJECT_ID, NUMBER]), r#""hello world!""#, "ObjectId(68)");
}

#[test]
fn a_member_converts_only_what_is_of_it() {
    let tagged = |tag: &str, ty: &str| object(&[("t", &literal(tag)), ("v", ty)]);
    let date_or_text = union(&[&tagged(r#""a""#, DATE), &tagged(r#""b""#, STRING)]);
    check(&date_or_text, r#"{"t":"a","v":"1970-01-01"}"#, r#"{t:"a",v:Date(0)}"#);
    check(&date_or_text, r#"{"t":"b","v":"1970-01-01"}"#, r#"{t:"b",v:"1970-01-01"}"#);
    check(&date_or_text, r#"{"t":"b","v":"hello"}"#, r#"{t:"b",v:"hello"}"#);
    let date_or_bytes = union(&[&tagged(r#""a""#, DATE), &tagged(r#""b""#, BYTES)]);
    check(&date_or_bytes, r#"{"t":"b","v":"2020"}"#, r#"{t:"b",v:Uint8Array([219, 77, 180])}"#);
}

#[test]
fn all_members_that_match_convert() {
    let (date, bytes) = (object(&[("d", DATE)]), object(&[("u", BYTES)]));
    let json = r#"{"d":"1970-01-01","u":"AQ=="}"#;
    check(&union(&[&date, &bytes]), json, "{d:Date(0),u:Uint8Array([1])}");
    check(&union(&[&date, &bytes, r#"{"type":"Any"}"#]), json, "{d:Date(0),u:Uint8Array([1])}");
    check(&format!(r#"{{"x":{}}}"#, members("Intersection", &[&date, &bytes])), json, "{d:Date(0),u:Uint8Array([1])}");
    let maybe = union(&[&object(&[("v", STRING)]), &object(&[("v", DATE)])]);
    check(&maybe, r#"{"v":"1970-01-01"}"#, "{v:Date(0)}");
    check(&maybe, r#"{"v":"hello"}"#, r#"{v:"hello"}"#);
}

#[test]
fn an_intersection_has_what_its_members_make_of_a_value() {
    let intersection = |of: &[&str]| members("Intersection", of);
    let date_or_text = union(&[&intersection(&[DATE, &object(&[])]), STRING]);
    check(&date_or_text, r#""1970-01-01""#, "Date(0)");
    check(&date_or_text, r#""hello""#, r#""hello""#);
    // Nothing is both; the text is.
    check(&union(&[&intersection(&[DATE, STRING]), STRING]), r#""1970-01-01""#, r#""1970-01-01""#);
    let dated = |ty: &str| object(&[("d", ty)]);
    let both = union(&[&intersection(&[&dated(DATE), &dated(STRING)]), &dated(STRING)]);
    check(&both, r#"{"d":"1970-01-01"}"#, r#"{d:"1970-01-01"}"#);
}

#[test]
fn bytes_that_are_no_whole_elements_are_of_another_member() {
    let shorts_or_bytes = union(&[r#"{"type":"Buffer","arrayType":"Int16Array"}"#, r#"{"type":"Buffer"}"#]);
    check(&shorts_or_bytes, r#""AQ==""#, "ArrayBuffer([1])");
    check(&shorts_or_bytes, r#""AQI=""#, "Int16Array([1, 2])");
}

#[test]
fn where_no_member_matches_the_error_is_the_published_one() {
    let tagged = |tag: &str, ty: &str| object(&[("t", &literal(tag)), ("v", ty)]);
    let proto = union(&[&tagged(r#""a""#, DATE), &tagged(r#""b""#, STRING)]);
    check(&proto, r#"{"t":"b","v":5}"#, "validate: Property `v`: Expected type to be `string`, actually `Object`.");
    let needs_an_id = union(&[OBJECT_ID, NUMBER]);
    check(&needs_an_id, "true", "decode: Argument passed in does not match the accepted types");
}

#[test]
fn tuples_are_cut_unless_the_excess_would_have_to_be_converted() {
    let plain = format!(r#"{{"x":{{"type":"Tuple","elementTypes":[{STRING}]}}}}"#);
    let dates = format!(r#"{{"x":{}}}"#, object(&[("l", &format!(r#"{{"type":"Tuple","elementTypes":[{DATE}]}}"#))]));
    check(&plain, r#"["a","b"]"#, r#"["a"]"#);
    check(&dates, r#"{"l":["1970-01-01",null]}"#, "{l:[Date(0)]}");
    check(
        &dates,
        r#"{"l":["1970-01-01","b"]}"#,
        "decode: Property `l`: Value has 2 elements but schema allows only 1.",
    );
}

#[test]
fn keys_of_every_name_are_converted_and_proto_is_dropped() {
    let index = format!(r#"{{"x":{{"type":"Interface","indexSignature":{{"keyType":"String","type":{DATE}}}}}}}"#);
    check(&index, r#"{"constructor":0,"2":1,"a":2,"__proto__":3}"#, "{2:Date(1),constructor:Date(0),a:Date(2)}");
    let overwritten = format!(
        r#"{{"x":{{"type":"Overwrite","target":{},"overwrite":{}}}}}"#,
        object(&[("a", STRING), ("b", DATE)]),
        object(&[("a", BYTES)])
    );
    check(&overwritten, r#"{"a":"AQ==","b":0,"c":1}"#, "{b:Date(0),a:Uint8Array([1])}");
}

#[test]
fn typed_arrays_of_bigints_are_written_but_not_read() {
    let proto = r#"{"x":{"type":"Buffer","arrayType":"BigInt64Array"}}"#;
    check(proto, r#""AQAAAAAAAAA=""#, "decode: Unsupported arrayType: BigInt64Array");
    check(r#"{"x":{"type":"Buffer","arrayType":"Int16Array"}}"#, r#""AQID""#, "Int16Array([1, 2])");
}

#[test]
fn a_broken_type_is_found_while_decoding() {
    let error = decoded(r#"{"x":{"type":"Reference","target":"nope"}}"#, "1").unwrap_err();
    assert_eq!((error.phase(), error.to_string()), (Phase::Decode, "Cannot find reference target: nope".to_owned()));
}

#[test]
fn values_are_written_pruned_and_in_the_order_of_the_type() {
    let (tsbuffer, slot) = codec(&format!(r#"{{"x":{}}}"#, object(&[("b", DATE), ("a", BYTES), ("n?", NUMBER)])));
    let entries = [
        ("a", Value::Buffer(polywire_schema::BufferKind::Uint8Array, vec![1].into())),
        ("z", Value::from(1)),
        ("b", Value::Date(f64::NAN)),
        ("n", Value::Number(f64::NAN)),
    ];
    let value = Value::Object(entries.into_iter().collect());
    let text = r#"{"b":null,"a":"AQ==","n":null}"#;
    assert_eq!(tsbuffer.encode_json(slot, &value).unwrap().as_deref(), Some(text));
    let mut out = b"[".to_vec();
    assert_eq!(tsbuffer.encode_json_into(&mut out, slot, &value), Ok(true));
    assert_eq!(out, format!("[{text}").as_bytes());
    assert!(tsbuffer.encode_json_into(&mut out, slot, &Value::Null).is_err());
    assert_eq!(out.len(), text.len() + 1);
}

#[test]
fn a_bigint_has_no_text() {
    let (tsbuffer, slot) = codec(r#"{"x":{"type":"Array","elementType":{"type":"Number","scalarType":"bigint"}}}"#);
    let mut out = Vec::new();
    let error = tsbuffer.encode_json_into(&mut out, slot, &Value::Array(vec![Value::BigInt(1)])).unwrap_err();
    assert_eq!(error.to_string(), "Do not know how to serialize a BigInt");
    assert!(out.is_empty());
}

/// A list type in which every level is a union of two members that both have the next level.
fn branching() -> String {
    let next = r#"{"type":"Reference","target":"x"}"#;
    union(&[&object(&[("d?", DATE), ("n?", next)]), &object(&[("u?", BYTES), ("n?", next)]), STRING])
}

#[test]
fn unions_within_unions_take_no_more_time_than_they_are_long() {
    // Tried once for each way that leads there, the innermost text would be looked at 2^500 times.
    let nested = |inner: &str| r#"{"n":"#.repeat(500) + inner + &"}".repeat(500);
    let found = decoded(&branching(), &nested(r#"{"d":"1970-01-01","u":"AQ=="}"#)).unwrap();
    assert!(show(&found).contains("{d:Date(0),u:Uint8Array([1])}"));
    assert!(decoded(&branching(), &nested("5")).is_err());
}

#[test]
fn intersections_within_intersections_take_no_more_time_than_they_are_long() {
    let next = r#"{"type":"Reference","target":"x"}"#;
    let same = members("Intersection", &[&object(&[("d?", &object(&[]))]), &object(&[("d?", DATE), ("n?", next)])]);
    let proto = union(&[&same, NUMBER]);
    let nested = |levels: usize| r#"{"d":"1970-01-01","n":"#.repeat(levels) + "{}" + &"}".repeat(levels);
    check(&proto, &nested(2), "{d:Date(0),n:{d:Date(0),n:{}}}");
    // Copied once for each level, a megabyte at the bottom would take minutes.
    let deep = nested(300).replace("{}", &format!(r#"{{"d":"1970-01-01","e":[{}0]}}"#, "0,".repeat(500_000)));
    let _any_outcome = decoded(&proto, &deep);
}

#[test]
fn depth_is_limited_before_the_stack_is() {
    let lists = union(&[DATE, r#"{"type":"Array","elementType":{"type":"Reference","target":"x"}}"#]);
    let nested = |depth: usize| "[".repeat(depth) + "0" + &"]".repeat(depth);
    assert!(decoded(&lists, &nested(512)).is_ok());
    let mut deep = Value::from(0);
    for _ in 0..2000 {
        deep = Value::Array(vec![deep]);
    }
    let (tsbuffer, slot) = codec(&lists);
    assert!(tsbuffer.encode_json(slot, &deep).is_err());
    assert!(tsbuffer.decode_json(slot, deep).is_err());
}
