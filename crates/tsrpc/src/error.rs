//! The error that travels: what an API answers instead of a response.
//!
//! Depends on [`Value`] only. Invariant: `message`, `type` and `code` never
//! stand among the further fields, whatever a peer or a caller puts there.

use std::fmt;

use polywire_schema::{Object, Value};

/// Whose fault an [`ApiError`] is. On the wire: its [`name`](Self::name), or its [`id`](Self::id).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The connection failed: lost, refused, timed out.
    Network,
    /// The server failed, or could not read what it was sent.
    Server,
    /// The client failed, or could not send what it was given.
    Client,
    /// The call was understood and refused: a business error.
    #[default]
    Api,
}

impl ErrorKind {
    const ALL: [Self; 4] = [Self::Network, Self::Server, Self::Client, Self::Api];

    /// The name on the wire: `NetworkError`, `ServerError`, `ClientError` or `ApiError`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Network => "NetworkError",
            Self::Server => "ServerError",
            Self::Client => "ClientError",
            Self::Api => "ApiError",
        }
    }

    /// The kind of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The id in binary frames, 0 to 3.
    #[must_use]
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// The kind of an id.
    #[must_use]
    pub fn from_id(id: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(id).ok()?).copied()
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a program can tell errors apart by.
#[derive(Debug, Clone, PartialEq)]
pub enum ErrorCode {
    /// A name, such as `"INPUT_DATA_ERR"`.
    Str(String),
    /// An integer. JavaScript peers see it exactly up to 2^53.
    Int(i64),
    /// A number that is no integer, as only a JSON peer can send it.
    ///
    /// The binary form has no place for it: there it is sent as a string, where
    /// published servers fail to answer at all.
    Number(f64),
}

impl ErrorCode {
    /// The name, unless it is a number.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(code) => Some(code),
            _ => None,
        }
    }

    /// The code that a dynamic value stands for; none where it is neither string nor number.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(code) => Some(Self::Str(code.to_string_lossy().into_owned())),
            Value::Number(number) => Some(Self::from(*number)),
            _ => None,
        }
    }

    /// The dynamic value.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Str(code) => Value::from(code.as_str()),
            // As a JavaScript peer sees it.
            Self::Int(code) => Value::Number(*code as f64),
            Self::Number(code) => Value::Number(*code),
        }
    }
}

impl PartialEq<str> for ErrorCode {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for ErrorCode {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl From<&str> for ErrorCode {
    fn from(code: &str) -> Self {
        Self::Str(code.to_owned())
    }
}

impl From<String> for ErrorCode {
    fn from(code: String) -> Self {
        Self::Str(code)
    }
}

impl From<i32> for ErrorCode {
    fn from(code: i32) -> Self {
        Self::Int(code.into())
    }
}

impl From<i64> for ErrorCode {
    fn from(code: i64) -> Self {
        Self::Int(code)
    }
}

impl From<f64> for ErrorCode {
    fn from(code: f64) -> Self {
        let integer = code as i64;
        // 2^63 saturates to 2^63 - 1, whose double is 2^63 again: it is no i64.
        if integer as f64 == code && integer != i64::MAX { Self::Int(integer) } else { Self::Number(code) }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Str(code) => f.write_str(code),
            Self::Int(code) => write!(f, "{code}"),
            Self::Number(code) => write!(f, "{code}"),
        }
    }
}

/// Why a call failed, as both sides see it. `Display` is `[TSRPC <type>]: <message>`.
///
/// ```
/// use polywire_tsrpc::{ApiError, ErrorKind};
///
/// let error = ApiError::new("Not enough credit").code("CREDIT").with("missing", 12.0);
/// assert_eq!(error.kind, ErrorKind::Api);
/// assert_eq!(error.to_string(), "[TSRPC ApiError]: Not enough credit");
/// assert_eq!(error.get("missing").and_then(|value| value.as_number()), Some(12.0));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApiError {
    /// What happened, for people.
    pub message: String,
    /// Whose fault it is; `type` on the wire.
    pub kind: ErrorKind,
    /// What happened, for programs.
    pub code: Option<ErrorCode>,
    // Boxed: most errors have none, and a `Result` of it stays small.
    data: Option<Box<Object>>,
}

impl ApiError {
    /// A business error: kind [`ErrorKind::Api`], no code.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// The same error with a code.
    #[must_use]
    pub fn code(mut self, code: impl Into<ErrorCode>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// The same error of another kind.
    #[must_use]
    pub fn kind(mut self, kind: ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// The same error with a further field; see [`set`](Self::set).
    #[must_use]
    pub fn with(mut self, key: impl Into<Box<str>>, value: impl Into<Value>) -> Self {
        self.set(key, value);
        self
    }

    /// Sets a further field. A peer sees its JSON form: dates as strings, `undefined` not at all.
    ///
    /// The keys `message`, `type` and `code` set those fields, where the value
    /// can be one, and are ignored otherwise.
    pub fn set(&mut self, key: impl Into<Box<str>>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        match &*key {
            "message" => {
                if let Value::String(message) = value {
                    self.message = message.into_string_lossy();
                }
            }
            "type" => {
                if let Some(kind) = value.as_str().and_then(ErrorKind::from_name) {
                    self.kind = kind;
                }
            }
            "code" => {
                if let Some(code) = ErrorCode::from_value(&value) {
                    self.code = Some(code);
                }
            }
            // Would change the prototype of the peer's object.
            "__proto__" => {}
            _ => self.data.get_or_insert_default().set(key, value),
        }
    }

    /// A further field.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.data.as_ref()?.get(key)
    }

    /// The further fields, in JavaScript's order.
    pub fn data(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.data.iter().flat_map(|data| data.iter())
    }

    /// Whether the code is this name.
    #[must_use]
    pub fn has_code(&self, code: &str) -> bool {
        self.code.as_ref().is_some_and(|own| own == code)
    }

    /// The error as an object: integer-like keys, `message`, `type`, `code`, then the others as they were set.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut object = Object::new();
        object.set("message", Value::from(self.message.as_str()));
        object.set("type", Value::from(self.kind.name()));
        if let Some(code) = &self.code {
            object.set("code", code.to_value());
        }
        object.extend(self.data().map(|(key, value)| (key, value.clone())));
        Value::Object(object)
    }

    /// The error that a peer's object describes.
    ///
    /// Never fails: a missing or strange field gets its default, as published
    /// clients hand on whatever they receive.
    #[must_use]
    pub fn from_value(value: Value) -> Self {
        let Value::Object(object) = value else {
            return Self::default();
        };
        let mut error = Self::default();
        for (key, value) in object {
            error.set(key, value);
        }
        error
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[TSRPC {}]: {}", self.kind, self.message)
    }
}

impl std::error::Error for ApiError {}

impl From<&str> for ApiError {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

impl From<String> for ApiError {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_fields_never_stand_among_the_others() {
        let error = ApiError::new("first")
            .with("message", "second")
            .with("type", "ServerError")
            .with("code", 7)
            .with("__proto__", "x")
            .with("extra", true);
        assert_eq!(error.to_string(), "[TSRPC ServerError]: second");
        assert_eq!(error.code, Some(ErrorCode::Int(7)));
        assert_eq!(error.data().map(|(key, _)| key).collect::<Vec<_>>(), ["extra"]);
        let unchanged = error.clone().with("message", 1).with("type", "Unknown").with("code", Value::Null);
        assert_eq!(unchanged, error);
    }

    #[test]
    fn any_object_of_a_peer_is_an_error() {
        let parse = |text: &str| ApiError::from_value(Value::parse_json(text).unwrap());
        let error = parse(r#"{"message":"m","type":"NetworkError","code":"C","x":[1]}"#);
        assert_eq!(error, ApiError::new("m").kind(ErrorKind::Network).code("C").with("x", vec![Value::Number(1.0)]));
        assert_eq!(
            error.to_value().to_json().unwrap().unwrap(),
            r#"{"message":"m","type":"NetworkError","code":"C","x":[1]}"#
        );
        for text in ["{}", "null", "[]", "5", r#"{"message":null,"type":5,"code":{}}"#] {
            assert_eq!(parse(text), ApiError::default(), "{text}");
        }
    }

    #[test]
    fn numeric_codes_are_integers_where_they_can_be() {
        let cases = [
            (5.0, ErrorCode::Int(5)),
            (-0.0, ErrorCode::Int(0)),
            (9_007_199_254_740_992.0, ErrorCode::Int(9_007_199_254_740_992)),
            (-9_223_372_036_854_775_808.0, ErrorCode::Int(i64::MIN)),
            (9_223_372_036_854_775_808.0, ErrorCode::Number(9_223_372_036_854_775_808.0)),
            (1.5, ErrorCode::Number(1.5)),
            (f64::INFINITY, ErrorCode::Number(f64::INFINITY)),
        ];
        for (number, code) in cases {
            assert_eq!(ErrorCode::from(number), code, "{number}");
        }
        assert!(matches!(ErrorCode::from(f64::NAN), ErrorCode::Number(_)));
    }

    #[test]
    fn kinds_have_the_published_names_and_ids() {
        for (id, name) in ["NetworkError", "ServerError", "ClientError", "ApiError"].into_iter().enumerate() {
            let kind = ErrorKind::from_name(name).unwrap();
            assert_eq!(kind.name(), name);
            assert_eq!(usize::from(kind.id()), id);
            assert_eq!(ErrorKind::from_id(id as u64), Some(kind));
        }
        assert_eq!(ErrorKind::from_name("Other"), None);
        assert_eq!(ErrorKind::from_id(4), None);
        assert_eq!(ErrorKind::from_id(u64::MAX), None);
    }
}
