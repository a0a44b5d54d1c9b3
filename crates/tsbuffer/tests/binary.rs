//! What the binary codec does that no vector of the published package shows:
//! where that loses data, types of the application, shared bytes, limits of types.

use std::sync::Arc;

use bytes::Bytes;
use polywire_schema::{BufferKind, CompileOptions, CustomType, Program, Slot, Value, types_from_json};
use polywire_tsbuffer::{DecodeError, EncodeError, TsBuffer, TsBufferOptions};

/// The codec of some types, of which `x` is the one to use. `A` and `B` are there to be referred to.
fn codec(x: &str) -> (TsBuffer, Slot) {
    let a = r#"{"type":"Interface","properties":[
        {"id":0,"name":"a","type":{"type":"Number"}},
        {"id":1,"name":"b","type":{"type":"Number"}},
        {"id":2,"name":"c","type":{"type":"Number"}}]}"#;
    let b = r#"{"type":"Interface","properties":[
        {"id":0,"name":"a","type":{"type":"String"}},
        {"id":1,"name":"z","type":{"type":"String"}}]}"#;
    let json = Value::parse_json(format!(r#"{{"x":{x},"A":{a},"B":{b}}}"#)).expect("JSON");
    let types = types_from_json(&json).expect("types");
    let mut options = CompileOptions::default();
    options.custom.insert("Reversed".to_owned(), Arc::new(Reversed));
    options.custom.insert("Formless".to_owned(), Arc::new(Formless));
    let tsbuffer = TsBuffer::new(Program::compile(&types, &options), TsBufferOptions::default());
    let slot = tsbuffer.root("x").expect("the type");
    (tsbuffer, slot)
}

fn json(text: &str) -> Value {
    Value::parse_json(text).expect("JSON")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[track_caller]
fn check(ty: &str, value: &str, expected: &str) {
    let (tsbuffer, slot) = codec(ty);
    let bytes = tsbuffer.encode(slot, &json(value)).expect("a valid value");
    assert_eq!(hex(&bytes), expected);
    assert_eq!(tsbuffer.decode(slot, &bytes), Ok(json(value)));
}

#[test]
fn an_interface_writes_what_it_inherits_from_a_mapped_type() {
    let extends = |base: &str| {
        format!(
            r#"{{"type":"Interface","extends":[{{"id":0,"type":{base}}}],
            "properties":[{{"id":0,"name":"d","type":{{"type":"String"}}}}]}}"#
        )
    };
    let a = r#"{"type":"Reference","target":"A"}"#;
    check(
        &extends(&format!(r#"{{"type":"Pick","target":{a},"keys":["a","b"]}}"#)),
        r#"{"a":1,"b":2,"d":"3"}"#,
        "0207022a3ff00000000000002e4000000000000000280133",
    );
    check(
        &extends(&format!(r#"{{"type":"Omit","target":{a},"keys":["c","d"]}}"#)),
        r#"{"a":1,"b":2,"d":"3"}"#,
        "0207022a3ff00000000000002e4000000000000000280133",
    );
    // What the base omits, the interface itself may have; a base with nothing to say is left out.
    check(&extends(&format!(r#"{{"type":"Partial","target":{a}}}"#)), r#"{"d":"3"}"#, "01280133");
    check(
        &extends(&format!(r#"{{"type":"Overwrite","target":{a},"overwrite":{{"type":"Reference","target":"B"}}}}"#)),
        r#"{"a":"x","z":"y","b":1,"c":2,"d":"3"}"#,
        "02041a022801782c0179022e3ff0000000000000324000000000000000280133",
    );
}

#[test]
fn overwrite_keeps_the_fields_that_its_overwriting_side_leaves_out() {
    let overwrite = |kind: &str, key: &str| {
        format!(
            r#"{{"type":"Overwrite","target":{{"type":"Reference","target":"A"}},"overwrite":
            {{"type":"{kind}","target":{{"type":"Reference","target":"B"}},"keys":["{key}"]}}}}"#
        )
    };
    let bytes = "01280178022e3ff0000000000000324000000000000000";
    check(&overwrite("Pick", "a"), r#"{"a":"x","b":1,"c":2}"#, bytes);
    check(&overwrite("Omit", "z"), r#"{"a":"x","b":1,"c":2}"#, bytes);
    check(
        &overwrite("Omit", "a"),
        r#"{"z":"x","a":1,"b":1,"c":2}"#,
        "012c0178032a3ff00000000000002e3ff0000000000000324000000000000000",
    );
}

#[test]
fn what_one_member_of_a_union_omits_another_still_writes() {
    let ty = r#"{"type":"Union","members":[
        {"id":0,"type":{"type":"Omit","target":{"type":"Reference","target":"B"},"keys":["z"]}},
        {"id":1,"type":{"type":"Interface","properties":[{"id":0,"name":"z","type":{"type":"String"}}]}}]}"#;
    check(ty, r#"{"a":"1","z":"2"}"#, "0203012801310701280132");
}

#[test]
fn names_of_object_prototype_are_names_like_others() {
    let property = r#"{"type":"Interface","properties":[
        {"id":0,"name":"constructor","type":{"type":"String"},"optional":true},
        {"id":1,"name":"x","type":{"type":"String"}}]}"#;
    check(property, r#"{"constructor":"c","x":"1"}"#, "022801632c0131");
    check(property, r#"{"x":"1"}"#, "012c0131");
    let index = r#"{"type":"Interface","indexSignature":{"keyType":"String","type":{"type":"String"}}}"#;
    check(index, r#"{"toString":"t","k":"v"}"#, "020008746f537472696e67017400016b0176");
}

#[test]
fn a_key_that_would_be_the_prototype_is_dropped() {
    let (tsbuffer, slot) =
        codec(r#"{"type":"Interface","indexSignature":{"keyType":"String","type":{"type":"String"}}}"#);
    let value = json(r#"{"__proto__":"p","k":"v"}"#);
    assert_eq!(tsbuffer.encode(slot, &value).as_deref().map(hex), Ok("0100016b0176".to_owned()));
    let sent = [&[2, 0, 9], "__proto__".as_bytes(), &[1, b'p', 0, 1, b'k', 1, b'v']].concat();
    assert_eq!(tsbuffer.decode(slot, &sent), Ok(json(r#"{"k":"v"}"#)));
}

#[test]
fn dates_before_1970_come_back() {
    let (tsbuffer, slot) = codec(r#"{"type":"Date"}"#);
    for time in [-1.0, -62_135_596_800_000.0, -8.64e15, 0.0, 8.64e15] {
        let bytes = tsbuffer.encode(slot, &Value::Date(time)).expect("a date");
        assert_eq!(tsbuffer.decode(slot, &bytes), Ok(Value::Date(time)));
    }
    let beyond = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
    let invalid = tsbuffer.decode(slot, &beyond);
    assert!(matches!(invalid, Ok(Value::Date(time)) if time.is_nan()), "{invalid:?}");
}

#[test]
fn members_of_an_intersection_describe_one_nested_object_together() {
    let member = |id: u32, key: &str| {
        format!(
            r#"{{"id":{id},"type":{{"type":"Interface","properties":[{{"id":0,"name":"x","type":
            {{"type":"Interface","properties":[{{"id":0,"name":"{key}","type":{{"type":"String"}}}}]}}}}]}}}}"#
        )
    };
    let ty = format!(r#"{{"type":"Intersection","members":[{},{}]}}"#, member(0, "a"), member(1, "b"));
    check(&ty, r#"{"x":{"a":"1","b":"2"}}"#, "0203012b0128013107012b01280132");
}

#[test]
fn a_part_that_lacks_a_nullable_field_does_not_erase_it() {
    let member = |id: u32, extra: &str| {
        format!(
            r#"{{"id":{id},"type":{{"type":"Interface","properties":[{{"id":0,"name":"x","type":{{"type":"Union","members":[
            {{"id":0,"type":{{"type":"String"}}}},{{"id":1,"type":{{"type":"Literal","literal":null}}}}]}}}}{extra}]}}}}"#
        )
    };
    let y = r#",{"id":1,"name":"y","type":{"type":"Boolean"}}"#;
    let ty = format!(r#"{{"type":"Union","members":[{},{}]}}"#, member(0, ""), member(1, y));
    check(&ty, r#"{"x":"1","y":true}"#, "0203012b0100013107012dff");
}

/// A string, written backwards.
#[derive(Debug)]
struct Reversed;

impl CustomType for Reversed {
    fn validate(&self, value: &Value) -> Result<(), String> {
        value.as_str().map(drop).ok_or_else(|| "not a string".to_owned())
    }

    fn encode(&self, value: &Value) -> Option<Result<Vec<u8>, String>> {
        Some(value.as_str().map(|text| text.bytes().rev().collect()).ok_or_else(|| "not a string".to_owned()))
    }

    fn decode(&self, bytes: &[u8]) -> Option<Result<Value, String>> {
        let text = String::from_utf8(bytes.iter().rev().copied().collect());
        Some(text.map(Value::from).map_err(|_| "not UTF-8".to_owned()))
    }
}

/// Any value, without a binary form.
#[derive(Debug)]
struct Formless;

impl CustomType for Formless {
    fn validate(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn types_of_the_application_write_themselves() {
    check(r#"{"type":"Reference","target":"Reversed"}"#, r#""abc""#, "03636261");
    let (tsbuffer, slot) = codec(r#"{"type":"Reference","target":"Reversed"}"#);
    assert_eq!(tsbuffer.encode(slot, &Value::Null).map_err(|error| error.to_string()), Err("not a string".to_owned()));
    assert_eq!(tsbuffer.decode(slot, &[1, 0xff]), Err(DecodeError::Custom("not UTF-8".to_owned())));
    let (tsbuffer, slot) = codec(r#"{"type":"Reference","target":"Formless"}"#);
    assert_eq!(tsbuffer.encode(slot, &Value::Null), Err(EncodeError::CustomWithoutEncode));
    assert_eq!(tsbuffer.decode(slot, &[0]), Err(DecodeError::CustomWithoutDecode));
}

#[test]
fn a_type_that_cannot_be_resolved_is_an_error() {
    let (tsbuffer, slot) = codec(r#"{"type":"Reference","target":"nope"}"#);
    let text = "Cannot find reference target: nope".to_owned();
    assert_eq!(tsbuffer.encode(slot, &Value::Null).map_err(|error| error.to_string()), Err(text.clone()));
    assert_eq!(tsbuffer.decode(slot, &[0]).map_err(|error| error.to_string()), Err(text));
    assert_eq!(tsbuffer.root("nope").map_err(|error| error.to_string()), Err("Cannot find schema： nope".to_owned()));
}

#[test]
fn binary_values_may_share_what_they_were_read_from() {
    let (tsbuffer, slot) = codec(r#"{"type":"Buffer","arrayType":"Uint8Array"}"#);
    let message = Bytes::from_static(&[3, 1, 2, 3]);
    let read = tsbuffer.decode_shared(slot, &message);
    let Ok(Value::Buffer(BufferKind::Uint8Array, bytes)) = read else { panic!("{read:?}") };
    assert_eq!(bytes.as_ptr(), message[1..].as_ptr());
    assert_eq!(tsbuffer.decode(slot, &message), Ok(Value::Buffer(BufferKind::Uint8Array, bytes)));
}

#[test]
fn nothing_is_left_of_what_could_not_be_written() {
    let (tsbuffer, slot) = codec(r#"{"type":"Array","elementType":{"type":"Any"}}"#);
    let mut out = vec![7];
    let value = Value::from(vec![Value::from(1), Value::BigInt(1)]);
    assert!(tsbuffer.encode_into(&mut out, slot, &value).is_err());
    assert_eq!(out, [7]);
}
