//! TSRPC over HTTP, as rules: which request means what, and how answers look (reference §10).
//!
//! Depends on the service map and the sessions' types. Knows no HTTP library:
//! methods, targets and headers are text.

use std::{borrow::Cow, sync::Arc};

use crate::{Body, DataType, ErrorKind, Incoming, InputError, Service, ServiceKind, ServiceMap, Sn, text};

/// `X-Powered-By` of every answer: the version whose behaviour this is.
pub const POWERED_BY: &str = "TSRPC 3.4.21";
/// The content type of answers in JSON. Binary answers have none.
pub const JSON_ANSWER: &str = "application/json; charset=utf-8";
/// The header that says why a connection was closed without an answer.
pub const CLOSE_REASON_HEADER: &str = "X-TSRPC-Close-Reason";

/// The status of answers to JSON that cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InvalidInputStatus {
    /// 200, as published: browser clients accept 200 and 500 only.
    #[default]
    Ok,
    /// 400.
    BadRequest,
}

/// How a server speaks HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpOptions {
    /// Whether JSON is accepted besides binary. Off by default.
    pub json: bool,
    /// The path under which JSON calls are made; `/` by default. Slashes at its ends are added where they are missing.
    pub json_host_path: String,
    /// `Access-Control-Allow-Origin`; `*` by default. Without it `OPTIONS` is a method like any other.
    pub cors: Option<String>,
    /// `Access-Control-Max-Age` in seconds; 3600 by default. Sent with `cors` only.
    pub cors_max_age: Option<u32>,
    /// The status of answers to JSON that cannot be read.
    pub invalid_input: InvalidInputStatus,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            json: false,
            json_host_path: "/".to_owned(),
            cors: Some("*".to_owned()),
            cors_max_age: Some(3600),
            invalid_input: InvalidInputStatus::default(),
        }
    }
}

/// The head of a request, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpRequest<'a> {
    /// The method, in upper case.
    pub method: &'a str,
    /// The target as it stands in the request line: path and query.
    pub target: &'a str,
    /// `Content-Type`.
    pub content_type: Option<&'a str>,
}

/// What a request is.
#[derive(Debug, PartialEq)]
pub enum HttpRoute<'a> {
    /// A preflight: 200 with the headers and nothing else.
    Preflight,
    /// Binary: its body goes to [`decode_buffer`](crate::decode_buffer).
    Buffer,
    /// JSON for this service: its body goes to [`decode_json_body`].
    Json(&'a Arc<Service>),
    /// JSON for no service.
    Invalid(InputError),
}

/// The rules of one server.
#[derive(Debug, Clone)]
pub struct HttpRules {
    json: bool,
    json_host_path: String,
    invalid_input: InvalidInputStatus,
    cors: bool,
    headers: Vec<(&'static str, String)>,
}

impl HttpRules {
    /// The rules that these options make.
    #[must_use]
    pub fn new(options: &HttpOptions) -> Self {
        let mut headers = vec![("X-Powered-By", POWERED_BY.to_owned())];
        if let Some(origin) = &options.cors {
            headers.push(("Access-Control-Allow-Origin", origin.clone()));
            headers.push(("Access-Control-Allow-Headers", "Content-Type,*".to_owned()));
            headers.extend(options.cors_max_age.map(|age| ("Access-Control-Max-Age", age.to_string())));
        }
        let path = &options.json_host_path;
        let (start, end) = (if path.starts_with('/') { "" } else { "/" }, if path.ends_with('/') { "" } else { "/" });
        let json_host_path = if path.is_empty() { "/".to_owned() } else { format!("{start}{path}{end}") };
        Self {
            json: options.json,
            json_host_path,
            invalid_input: options.invalid_input,
            cors: options.cors.is_some(),
            headers,
        }
    }

    /// The headers of every answer of an open server, in order. [`JSON_ANSWER`] comes behind them.
    #[must_use]
    pub fn headers(&self) -> &[(&'static str, String)] {
        &self.headers
    }

    /// What a request's body is written in, which is also what its answer is written in.
    #[must_use]
    pub fn data_type(&self, request: &HttpRequest<'_>) -> DataType {
        let is_json = |value: &str| {
            let wanted = b"application/json";
            value.as_bytes().windows(wanted.len()).any(|part| part.eq_ignore_ascii_case(wanted))
        };
        let text = self.json
            && request.content_type.is_some_and(is_json)
            && request.method == "POST"
            && request.target.starts_with(&self.json_host_path);
        if text { DataType::Text } else { DataType::Buffer }
    }

    /// What a request is.
    #[must_use]
    pub fn route<'a>(&self, request: &HttpRequest<'_>, services: &'a ServiceMap) -> HttpRoute<'a> {
        if self.cors && request.method == "OPTIONS" {
            return HttpRoute::Preflight;
        }
        match self.data_type(request) {
            DataType::Buffer => HttpRoute::Buffer,
            DataType::Text => match self.service(request.target, services) {
                Some(service) => HttpRoute::Json(service),
                None => HttpRoute::Invalid(InputError::UnknownPath(request.target.to_owned())),
            },
        }
    }

    fn service<'a>(&self, target: &str, services: &'a ServiceMap) -> Option<&'a Arc<Service>> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let kind =
            if query.split('&').any(|part| part == "type=msg") { ServiceKind::Message } else { ServiceKind::Api };
        let name = path.get(self.json_host_path.len()..)?;
        let service = services.by_name(kind, name.as_bytes());
        // Names beyond ASCII arrive percent-encoded from every client. (Published servers do not find them.)
        service.or_else(|| services.by_name(kind, &decode_beyond_ascii(name)?))
    }

    /// The status of the answer to a call: `error` is the kind of what it failed with.
    #[must_use]
    pub fn status(&self, data_type: DataType, error: Option<ErrorKind>) -> u16 {
        match (data_type, error) {
            (DataType::Text, Some(kind)) if kind != ErrorKind::Api => 500,
            _ => 200,
        }
    }

    /// The status of the answer to input that cannot be read.
    #[must_use]
    pub fn invalid_input_status(&self, data_type: DataType) -> u16 {
        match (data_type, self.invalid_input) {
            (DataType::Text, InvalidInputStatus::BadRequest) => 400,
            _ => 200,
        }
    }
}

/// The call or message that a JSON body is; where the body does not decode, ask [`decode_json_body_slow`].
#[must_use]
pub fn decode_json_body<'a>(service: &'a Arc<Service>, body: &'a [u8]) -> Incoming<'a> {
    incoming(service, Body::Json(body))
}

/// Reads a JSON body before it is decoded. What it says is final.
#[must_use]
pub fn decode_json_body_slow<'a>(service: &'a Arc<Service>, body: &[u8]) -> Incoming<'a> {
    match text::value(body) {
        Ok(value) => incoming(service, Body::Value(Box::new(value))),
        Err(error) => Incoming::Invalid(InputError::NotJson(error)),
    }
}

fn incoming<'a>(service: &'a Arc<Service>, body: Body<'a>) -> Incoming<'a> {
    match service.kind() {
        ServiceKind::Api => Incoming::Call { service, sn: Sn::None, body },
        ServiceKind::Message => Incoming::Message { service, body },
    }
}

/// Undoes the percent-encoding of bytes beyond ASCII and of nothing else: `%2F` is no slash. None where there is none.
fn decode_beyond_ascii(name: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(name.len());
    let mut found = false;
    let mut rest = name.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match rest {
            [b'%', high, low, ..] => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        match escaped {
            Some(byte @ 0x80..) => {
                decoded.push(byte);
                found = true;
                rest = &rest[3..];
            }
            _ => {
                decoded.push(*first);
                rest = tail;
            }
        }
    }
    found.then_some(decoded)
}

fn hex(digit: u8) -> Option<u8> {
    // A hexadecimal digit is below 16.
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

/// The head of a client's request. The method is always `POST`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRequestHead {
    /// Where it goes.
    pub url: String,
    /// `Content-Type`.
    pub content_type: &'static str,
}

/// The request with which a client calls an API or sends a message.
///
/// Binary requests go to the server's URL as it is configured; JSON requests to
/// the service's name below it, percent-encoded beyond ASCII.
#[must_use]
pub fn client_request(server: &str, data_type: DataType, service: &Service) -> ClientRequestHead {
    match data_type {
        DataType::Buffer => ClientRequestHead { url: server.to_owned(), content_type: "application/octet-stream" },
        DataType::Text => {
            let slash = if server.ends_with('/') { "" } else { "/" };
            let query = if service.kind() == ServiceKind::Message { "?type=msg" } else { "" };
            let name = encode_beyond_ascii(&service.name);
            ClientRequestHead { url: format!("{server}{slash}{name}{query}"), content_type: "application/json" }
        }
    }
}

fn encode_beyond_ascii(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return name.into();
    }
    let encode = |byte: u8| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(encode).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{services, vectors};
    use polywire_schema::Value;

    fn rules(json: bool, json_host_path: &str) -> HttpRules {
        HttpRules::new(&HttpOptions { json, json_host_path: json_host_path.to_owned(), ..HttpOptions::default() })
    }

    #[test]
    fn json_needs_its_content_type_method_and_path() {
        const JSON: Option<&str> = Some("application/json");
        let chat = "/Chat?type=msg";
        #[rustfmt::skip]
        let cases = [
            (true,  "/",       "POST",    "/Add",            JSON,                                    "json Add"),
            (true,  "/",       "POST",    "/Add?x=1",        Some("Application/JSON; charset=utf-8"), "json Add"),
            (true,  "/",       "POST",    chat,              JSON,                                    "json Chat"),
            (true,  "/",       "POST",    "/Chat?a&type=msg", JSON,                                   "json Chat"),
            (true,  "/",       "POST",    "/Chat?type=msg2", JSON,                                    "Invalid URL path: /Chat?type=msg2"),
            (true,  "/",       "POST",    "/user/Login",     JSON,                                    "json user/Login"),
            (true,  "/",       "POST",    "/user%2FLogin",   JSON,                                    "Invalid URL path: /user%2FLogin"),
            (true,  "/",       "POST",    "//Add",           JSON,                                    "Invalid URL path: //Add"),
            (true,  "/",       "POST",    "/Nope",           JSON,                                    "Invalid URL path: /Nope"),
            (true,  "/",       "POST",    "/",               JSON,                                    "Invalid URL path: /"),
            (true,  "api/v1",  "POST",    "/api/v1/Add",     JSON,                                    "json Add"),
            (true,  "/api/v1/", "POST",   "/api/v1/Add",     JSON,                                    "json Add"),
            (true,  "api/v1",  "POST",    "/Add",            JSON,                                    "buffer"),
            (true,  "",        "POST",    "/Add",            JSON,                                    "json Add"),
            (true,  "/",       "PUT",     "/Add",            JSON,                                    "buffer"),
            (true,  "/",       "POST",    "/Add",            Some("text/plain"),                      "buffer"),
            (true,  "/",       "POST",    "/Add",            None,                                    "buffer"),
            (false, "/",       "POST",    "/Add",            JSON,                                    "buffer"),
            (true,  "/",       "GET",     "/",               None,                                    "buffer"),
            (true,  "/",       "OPTIONS", "/Add",            None,                                    "preflight"),
        ];
        let services = services();
        for (json, path, method, target, content_type, expected) in cases {
            let request = HttpRequest { method, target, content_type };
            let found = match rules(json, path).route(&request, services) {
                HttpRoute::Preflight => "preflight".to_owned(),
                HttpRoute::Buffer => "buffer".to_owned(),
                HttpRoute::Json(service) => format!("json {}", service.name),
                HttpRoute::Invalid(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{request:?} at {path}");
        }
        let closed = HttpRules::new(&HttpOptions { cors: None, ..HttpOptions::default() });
        let request = HttpRequest { method: "OPTIONS", target: "/", content_type: None };
        assert_eq!(closed.route(&request, services), HttpRoute::Buffer);
    }

    #[test]
    fn names_beyond_ascii_are_found_however_they_are_written() {
        let proto = crate::ServiceProto::from_json(
            "{services: [{id: 0, name: 'a/中', type: 'msg'}], types: {'a/Msg中/Msg中': {type: 'Any'}}}",
        )
        .unwrap();
        let program = polywire_schema::Program::compile(&proto.types, &Default::default());
        let services = ServiceMap::new(&proto, &program).unwrap();
        let head = client_request("http://h", DataType::Text, services.message("a/中").unwrap());
        assert_eq!(head.url, "http://h/a/%E4%B8%AD?type=msg");
        for target in ["/a/%E4%B8%AD?type=msg", "/a/%e4%b8%ad?type=msg", "/a/中?type=msg"] {
            let request = HttpRequest { method: "POST", target, content_type: Some("application/json") };
            let route = rules(true, "/").route(&request, &services);
            assert!(matches!(route, HttpRoute::Json(_)), "{target}: {route:?}");
        }
    }

    #[test]
    fn only_failures_of_json_calls_have_another_status() {
        let rules = rules(true, "/");
        for (data_type, error, status) in [
            (DataType::Text, None, 200),
            (DataType::Text, Some(ErrorKind::Api), 200),
            (DataType::Text, Some(ErrorKind::Server), 500),
            (DataType::Buffer, Some(ErrorKind::Api), 200),
            (DataType::Buffer, Some(ErrorKind::Server), 200),
        ] {
            assert_eq!(rules.status(data_type, error), status, "{data_type:?} {error:?}");
        }
        assert_eq!(rules.invalid_input_status(DataType::Text), 200);
        let strict = HttpOptions { invalid_input: InvalidInputStatus::BadRequest, ..HttpOptions::default() };
        assert_eq!(HttpRules::new(&strict).invalid_input_status(DataType::Text), 400);
        assert_eq!(HttpRules::new(&strict).invalid_input_status(DataType::Buffer), 200);
    }

    /// Headers that come from the transport and the body.
    const OTHERS: [&str; 2] = ["Content-Type", "Content-Length"];

    #[test]
    fn headers_are_the_recorded_ones_in_their_order() {
        for vector in vectors().get("http").and_then(Value::as_array).unwrap() {
            let server = vector.get("server").and_then(Value::as_str).unwrap();
            let cors = if server.contains("cors:undefined") { None } else { Some("*".to_owned()) };
            let Some(headers) = vector.get("response").and_then(|response| response.get("headers")) else { continue };
            let recorded = headers.as_object().unwrap().iter().filter(|(name, _)| !OTHERS.contains(name));
            let recorded: Vec<_> = recorded.map(|(name, value)| (name, value.as_str().unwrap())).collect();
            let rules = HttpRules::new(&HttpOptions { cors, ..HttpOptions::default() });
            let ours: Vec<_> = rules.headers().iter().map(|(name, value)| (*name, value.as_str())).collect();
            assert_eq!(ours, recorded, "{:?}", vector.get("name"));
        }
    }

    #[test]
    fn client_heads_are_the_recorded_ones() {
        let services = services();
        let (add, chat) = (services.api("Add").unwrap(), services.message("Chat").unwrap());
        let cases = [
            (DataType::Buffer, add, "POST / HTTP/1.1", "Content-Type: application/octet-stream"),
            (DataType::Text, add, "POST /Add HTTP/1.1", "Content-Type: application/json"),
            (DataType::Text, chat, "POST /Chat?type=msg HTTP/1.1", "Content-Type: application/json"),
        ];
        for (data_type, service, line, content_type) in cases {
            let head = client_request("", data_type, service);
            let target = if head.url.is_empty() { "/" } else { &head.url };
            assert_eq!(format!("POST {target} HTTP/1.1"), line);
            assert_eq!(format!("Content-Type: {}", head.content_type), content_type);
        }
        let slash = client_request("http://h/x/", DataType::Text, add).url;
        assert_eq!(slash, "http://h/x/Add");
        assert_eq!(client_request("http://h/x", DataType::Buffer, add).url, "http://h/x");
    }
}
