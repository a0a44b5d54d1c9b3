//! What each Rust type is in TypeScript, and that values survive the way there and back.

extern crate self as polywire;
pub use polywire_tsbuffer::__private;

use std::collections::BTreeMap;

use polywire_macros::{Api, Message, Schema};
use polywire_schema::{
    Any, Api as _, DateTime, Message as _, Nullable, ObjectId, Registry, Schema, Type, Value, types_to_json,
};

/// The JSON of a type and of the named ones that it refers to.
fn described<T: Schema>() -> String {
    let mut types = Registry::default();
    let ty = T::describe(&mut types);
    let mut set = types.into_types();
    if !matches!(&ty, Type::Reference(id) if set.contains_key(id)) {
        set.insert("".to_owned(), ty);
    }
    types_to_json(&set).to_json().unwrap().unwrap()
}

fn check<T: Schema>(expected: &str) {
    assert_eq!(described::<T>(), expected, "{}", std::any::type_name::<T>());
}

/// There and back, by way of a JSON text of the value.
fn check_value<T: Schema + PartialEq + std::fmt::Debug>(value: T, json: &str) {
    let dynamic = value.to_value();
    assert_eq!(dynamic.to_json().unwrap().unwrap(), json);
    assert_eq!(T::from_value(dynamic).unwrap(), value);
}

fn check_refused<T: Schema + std::fmt::Debug>(json: &str, expected: &str) {
    let value = Value::parse_json(json).unwrap();
    assert_eq!(T::from_value(value).unwrap_err().to_string(), expected);
}

/// A person.
#[derive(Debug, PartialEq, Schema)]
#[schema(rename_all = "camelCase")]
struct User {
    /// As written on the passport.
    full_name: String,
    age: Option<u8>,
    #[schema(id = 7)]
    nick: Nullable<String>,
    #[schema(rename = "score")]
    points: Option<Nullable<f64>>,
    #[schema(default)]
    tags: Vec<String>,
}

#[test]
fn a_struct_is_an_interface() {
    check::<User>(concat!(
        r#"{"types/User":{"type":"Interface","properties":["#,
        r#"{"id":0,"name":"fullName","type":{"type":"String"}},"#,
        r#"{"id":1,"name":"age","type":{"type":"Number","scalarType":"uint"},"optional":true},"#,
        r#"{"id":7,"name":"nick","type":{"type":"Union","members":[{"id":0,"type":{"type":"String"}},{"id":1,"type":{"type":"Literal","literal":null}}]}},"#,
        r#"{"id":8,"name":"score","type":{"type":"Union","members":[{"id":0,"type":{"type":"Number"}},{"id":1,"type":{"type":"Literal","literal":null}}]},"optional":true},"#,
        r#"{"id":9,"name":"tags","type":{"type":"Array","elementType":{"type":"String"}},"optional":true}]}}"#,
    ));
    let user = || User {
        full_name: "Ann".to_owned(),
        age: None,
        nick: Nullable::NULL,
        points: Some(Nullable::NULL),
        tags: vec!["a".to_owned()],
    };
    check_value(user(), r#"{"fullName":"Ann","nick":null,"score":null,"tags":["a"]}"#);
    check_value(
        User { age: Some(3), points: None, ..user() },
        r#"{"fullName":"Ann","age":3,"nick":null,"tags":["a"]}"#,
    );
    check_refused::<User>(r#"{"fullName":"x","age":256}"#, "Property `age`: `256` is not in the range 0 to 255.");
    check_refused::<User>(
        r#"{"fullName":"x","tags":["a",1]}"#,
        "Property `tags.1`: Expected type to be `string`, actually `number`.",
    );
    let defaulted = User::from_value(Value::parse_json(r#"{"fullName":"x","age":null}"#).unwrap()).unwrap();
    assert_eq!(
        defaulted,
        User { full_name: "x".to_owned(), age: None, nick: Nullable::NULL, points: None, tags: Vec::new() }
    );
}

#[test]
fn doc_comments_are_kept_with_the_schema_id() {
    let mut types = Registry::default();
    User::describe(&mut types);
    let comments = types.comments("types/User").unwrap();
    assert_eq!(comments.text, "A person.");
    assert_eq!(comments.members, [("fullName".to_owned(), "As written on the passport.".to_owned())]);
}

#[derive(Debug, PartialEq, Schema)]
struct Tree {
    value: i32,
    children: Vec<Tree>,
    parent: Option<Box<Tree>>,
}

#[test]
fn a_recursive_struct_refers_to_itself() {
    check::<Tree>(concat!(
        r#"{"types/Tree":{"type":"Interface","properties":["#,
        r#"{"id":0,"name":"value","type":{"type":"Number","scalarType":"int"}},"#,
        r#"{"id":1,"name":"children","type":{"type":"Array","elementType":{"type":"Reference","target":"types/Tree"}}},"#,
        r#"{"id":2,"name":"parent","type":{"type":"Reference","target":"types/Tree"},"optional":true}]}}"#,
    ));
    let leaf = |value| Tree { value, children: Vec::new(), parent: None };
    check_value(
        Tree { value: 1, children: vec![leaf(2)], parent: Some(Box::new(leaf(3))) },
        r#"{"value":1,"children":[{"value":2,"children":[]}],"parent":{"value":3,"children":[]}}"#,
    );
}

#[derive(Debug, PartialEq, Schema)]
#[schema(inline)]
struct UserId(u32);

#[derive(Debug, PartialEq, Schema)]
struct Point(f64, f64, Option<String>);

#[derive(Debug, PartialEq, Schema)]
#[schema(schema_id = "geo/Nothing")]
struct Nothing;

#[derive(Debug, PartialEq, Schema)]
struct Page<T> {
    items: Vec<T>,
    next: Option<T>,
}

#[test]
fn tuple_structs_unit_structs_and_generics() {
    check::<UserId>(r#"{"":{"type":"Number","scalarType":"uint"}}"#);
    check::<Point>(
        r#"{"types/Point":{"type":"Tuple","elementTypes":[{"type":"Number"},{"type":"Number"},{"type":"String"}],"optionalStartIndex":2}}"#,
    );
    check::<Nothing>(r#"{"geo/Nothing":{"type":"Interface"}}"#);
    check::<Page<UserId>>(concat!(
        r#"{"types/Page_uint":{"type":"Interface","properties":["#,
        r#"{"id":0,"name":"items","type":{"type":"Array","elementType":{"type":"Number","scalarType":"uint"}}},"#,
        r#"{"id":1,"name":"next","type":{"type":"Number","scalarType":"uint"},"optional":true}]}}"#,
    ));
    check_value(UserId(7), "7");
    check_value(Point(1.0, 2.5, None), "[1,2.5]");
    check_value(Point(1.0, 2.5, Some("x".to_owned())), r#"[1,2.5,"x"]"#);
    check_value(Nothing, "{}");
    check_value(Page { items: vec![UserId(1)], next: Some(UserId(2)) }, r#"{"items":[1],"next":2}"#);
}

#[derive(Debug, PartialEq, Schema)]
#[schema(rename_all = "kebab-case")]
enum Color {
    DarkRed,
    #[schema(rename = "g")]
    Green,
    #[schema(value = 3)]
    Three,
    #[schema(value = null)]
    None,
}

#[derive(Debug, PartialEq, Schema)]
enum Only {
    #[schema(value = true)]
    Yes,
}

#[derive(Debug, PartialEq, Schema)]
#[repr(i8)]
enum Level {
    Low = -1,
    Mid = 5,
    High,
    #[schema(value = "top", id = 9)]
    Top,
}

#[derive(Debug, PartialEq, Schema)]
#[schema(string, rename_all = "lowercase")]
enum Weekday {
    Monday,
    Tuesday,
}

#[test]
fn enums_without_data_are_literals_or_typescript_enums() {
    check::<Color>(concat!(
        r#"{"types/Color":{"type":"Union","members":[{"id":0,"type":{"type":"Literal","literal":"dark-red"}},"#,
        r#"{"id":1,"type":{"type":"Literal","literal":"g"}},{"id":2,"type":{"type":"Literal","literal":3}},"#,
        r#"{"id":3,"type":{"type":"Literal","literal":null}}]}}"#,
    ));
    check::<Only>(r#"{"types/Only":{"type":"Literal","literal":true}}"#);
    check::<Level>(concat!(
        r#"{"types/Level":{"type":"Enum","members":[{"id":0,"value":-1},{"id":1,"value":5},{"id":2,"value":6},"#,
        r#"{"id":9,"value":"top"}]}}"#,
    ));
    check::<Weekday>(
        r#"{"types/Weekday":{"type":"Enum","members":[{"id":0,"value":"monday"},{"id":1,"value":"tuesday"}]}}"#,
    );
    check_value(Color::DarkRed, r#""dark-red""#);
    check_value(Color::Three, "3");
    check_value(Color::None, "null");
    check_value(Only::Yes, "true");
    check_value(Level::Low, "-1");
    check_value(Level::High, "6");
    check_value(Level::Top, r#""top""#);
    check_value(Weekday::Tuesday, r#""tuesday""#);
    check_refused::<Color>(r#""blue""#, "`blue` is none of the expected values.");
}

#[derive(Debug, PartialEq, Schema)]
#[schema(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum Event {
    Quit,
    Say { said_text: String, volume: Option<u32> },
    Join(User),
}

#[derive(Debug, PartialEq, Schema)]
#[schema(tag = "t", content = "c")]
enum Packed {
    Number(f64),
    Pair(String, bool),
    Empty,
}

#[derive(Debug, PartialEq, Schema)]
#[schema(untagged)]
enum Mixed {
    Text(String),
    Number(f64),
    Pair(u8, u8),
    A {
        a: Option<u8>,
    },
    B {
        b: Option<u8>,
    },
    #[schema(value = null)]
    Null,
}

#[test]
fn enums_with_data_are_unions() {
    check::<Event>(
        &concat!(
            r#"{"types/Event":{"type":"Union","members":["#,
            r#"{"id":0,"type":{"type":"Interface","properties":[{"id":0,"name":"type","type":{"type":"Literal","literal":"quit"}}]}},"#,
            r#"{"id":1,"type":{"type":"Interface","properties":[{"id":0,"name":"type","type":{"type":"Literal","literal":"say"}},"#,
            r#"{"id":1,"name":"saidText","type":{"type":"String"}},{"id":2,"name":"volume","type":{"type":"Number","scalarType":"uint"},"optional":true}]}},"#,
            r#"{"id":2,"type":{"type":"Intersection","members":[{"id":0,"type":{"type":"Interface","properties":[{"id":0,"name":"type","type":{"type":"Literal","literal":"join"}}]}},"#,
            r#"{"id":1,"type":{"type":"Reference","target":"types/User"}}]}}]},"types/User":USER}"#,
        )
        .replace("USER", described::<User>()["{'types/User':".len()..].strip_suffix('}').unwrap()),
    );
    check_value(Event::Quit, r#"{"type":"quit"}"#);
    check_value(
        Event::Say { said_text: "hi".to_owned(), volume: Some(3) },
        r#"{"type":"say","saidText":"hi","volume":3}"#,
    );
    let user = User { full_name: "Ann".to_owned(), age: None, nick: Nullable::NULL, points: None, tags: Vec::new() };
    check_value(Event::Join(user), r#"{"type":"join","fullName":"Ann","nick":null,"tags":[]}"#);
    check_refused::<Event>(r#"{"type":"go"}"#, "Property `type`: `go` is none of the expected values.");

    check_value(Packed::Number(1.5), r#"{"t":"Number","c":1.5}"#);
    check_value(Packed::Pair("a".to_owned(), true), r#"{"t":"Pair","c":["a",true]}"#);
    check_value(Packed::Empty, r#"{"t":"Empty"}"#);
    check_refused::<Packed>(
        r#"{"t":"Pair","c":["a",1]}"#,
        "Property `c.1`: Expected type to be `boolean`, actually `number`.",
    );

    check_value(Mixed::Text("x".to_owned()), r#""x""#);
    check_value(Mixed::Pair(1, 2), "[1,2]");
    check_value(Mixed::Null, "null");
    // Both members take any object, but only one loses nothing of it.
    check_value(Mixed::B { b: Some(1) }, r#"{"b":1}"#);
    check_value(Mixed::A { a: Some(1) }, r#"{"a":1}"#);
}

#[derive(Debug, PartialEq, Schema)]
#[schema(untagged)]
enum Doubtful {
    Wide { inner: Option<Box<Doubtful>>, small: u8 },
    Narrow { inner: Option<Box<Doubtful>> },
}

/// Every level is refused by the first variant after all that is inside has been read.
#[test]
fn variants_that_hold_each_other_are_tried_in_bounded_time() {
    let nested = |levels: usize| {
        let json = format!("{}{{}}{}", r#"{"inner":"#.repeat(levels), r#","small":256}"#.repeat(levels));
        Value::parse_json(json).unwrap()
    };
    let few = Doubtful::from_value(nested(2)).unwrap();
    assert!(matches!(few, Doubtful::Narrow { inner: Some(_) }), "{few:?}");
    assert!(Doubtful::from_value(nested(100)).is_err());
    // The next one has all its attempts again.
    assert_eq!(Doubtful::from_value(nested(2)).unwrap(), few);
}

#[derive(Debug, PartialEq, Schema)]
struct Base {
    id: ObjectId,
    created: DateTime,
}

#[derive(Debug, PartialEq, Schema)]
struct Extended {
    own: bool,
    #[schema(flatten)]
    base: Base,
    #[schema(flatten)]
    more: BTreeMap<String, Any>,
}

#[derive(Debug, PartialEq, Schema)]
struct Joined {
    own: bool,
    #[schema(flatten)]
    event: Box<Event>,
}

#[test]
fn flattening_extends_intersects_or_adds_an_index_signature() {
    check::<Extended>(concat!(
        r#"{"types/Extended":{"type":"Interface","extends":[{"id":0,"type":{"type":"Reference","target":"types/Base"}}],"#,
        r#""properties":[{"id":0,"name":"own","type":{"type":"Boolean"}}],"#,
        r#""indexSignature":{"keyType":"String","type":{"type":"Any"}}},"#,
        r#""types/Base":{"type":"Interface","properties":["#,
        r#"{"id":0,"name":"id","type":{"type":"Reference","target":"?mongodb/ObjectId"}},"#,
        r#"{"id":1,"name":"created","type":{"type":"Date"}}]}}"#,
    ));
    assert!(described::<Joined>().starts_with(concat!(
        r#"{"types/Joined":{"type":"Intersection","members":["#,
        r#"{"id":0,"type":{"type":"Interface","properties":[{"id":0,"name":"own","type":{"type":"Boolean"}}]}},"#,
        r#"{"id":1,"type":{"type":"Reference","target":"types/Event"}}]},"#,
    )));
    let base = Base { id: ObjectId([1; 12]), created: DateTime::UNIX_EPOCH };
    let more = BTreeMap::from([("10".to_owned(), Any::from("x")), ("z".to_owned(), Any::from(1.0))]);
    check_value(
        Extended { own: true, base, more },
        concat!(
            r#"{"10":"x","own":true,"id":"010101010101010101010101","#,
            r#""created":"1970-01-01T00:00:00.000Z","z":1}"#
        ),
    );
    let event = Box::new(Event::Say { said_text: "hi".to_owned(), volume: None });
    check_value(Joined { own: false, event }, r#"{"own":false,"type":"say","saidText":"hi"}"#);
}

#[derive(Debug, PartialEq, Api)]
#[api(response = Vec<Nothing>, name = "user/Login", conf = { "needLogin": true, "roles": ["a", null, -1.5], "x": {} })]
struct Login {
    name: String,
}

#[derive(Debug, PartialEq, Message)]
struct Chat {
    content: String,
}

#[test]
fn services_have_a_name_a_response_and_a_configuration() {
    assert_eq!(Login::NAME, "user/Login");
    assert_eq!(Chat::NAME, "Chat");
    let conf = <Login as polywire_schema::Api>::conf().unwrap();
    assert_eq!(conf.to_json().unwrap().unwrap(), r#"{"needLogin":true,"roles":["a",null,-1.5],"x":{}}"#);
    assert_eq!(<Chat as polywire_schema::Message>::conf(), None);
    let mut types = Registry::default();
    types.root::<Login>("user/PtlLogin/ReqLogin");
    types.root::<<Login as polywire_schema::Api>::Response>("user/PtlLogin/ResLogin");
    let ids: Vec<String> = types.into_types().into_keys().collect();
    assert_eq!(ids, ["user/PtlLogin/ReqLogin", "user/PtlLogin/ResLogin", "geo/Nothing"]);
}
