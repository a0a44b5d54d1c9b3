//! The opening handshake (RFC 6455 §4) of both sides, on heads that others read and write.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    ALLOW, CONNECTION, HOST, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri, Version, request, response};
use sha1::{Digest, Sha1};

use super::{Deflate, DeflateConfig};

/// What a server appends to the key before hashing it.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Why a request is no handshake that can be accepted. The client's fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRequest {
    /// The method is not GET.
    #[error("a WebSocket handshake is a GET request")]
    Method,
    /// Older than HTTP/1.1, or no `Upgrade: websocket` with `Connection: Upgrade`.
    #[error("the request does not ask for an upgrade to WebSocket")]
    NoUpgrade,
    /// `Sec-WebSocket-Version` is not 13.
    #[error("only version 13 of WebSocket is spoken here")]
    Version,
    /// `Sec-WebSocket-Key` is not 16 bytes in base64.
    #[error("`Sec-WebSocket-Key` is not 16 bytes in base64")]
    Key,
}

impl BadRequest {
    /// An answer that says what is wrong.
    pub fn response(self) -> Response<String> {
        let mut response = Response::new(format!("{self}\n"));
        let headers = response.headers_mut();
        let status = match self {
            Self::Method => {
                headers.insert(ALLOW, HeaderValue::from_static("GET"));
                StatusCode::METHOD_NOT_ALLOWED
            }
            Self::NoUpgrade | Self::Version => {
                headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
                headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
                StatusCode::UPGRADE_REQUIRED
            }
            Self::Key => StatusCode::BAD_REQUEST,
        };
        *response.status_mut() = status;
        response
    }
}

/// Why an answer does not open a WebSocket. The server's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadResponse {
    /// The server answered with something else than 101.
    #[error("the server answered {0} instead of opening a WebSocket")]
    Status(StatusCode),
    /// `Upgrade: websocket` or `Connection: Upgrade` is missing.
    #[error("the server's answer does not switch to WebSocket")]
    NoUpgrade,
    /// `Sec-WebSocket-Accept` does not fit the key.
    #[error("`Sec-WebSocket-Accept` does not fit the request")]
    Accept,
    /// A subprotocol that was not offered.
    #[error("the server chose the subprotocol {0:?}, which was not offered")]
    Protocol(String),
    /// An extension that was not offered, or with parameters that were not.
    #[error("the server chose the extension {0:?}, which was not offered")]
    Extension(String),
}

/// A handshake that a server accepts.
#[derive(Debug)]
pub struct Accepted {
    /// The answer, 101. More headers may be added.
    pub response: Response<()>,
    /// What was agreed on about compression.
    pub deflate: Option<Deflate>,
}

/// Whether a request asks to be upgraded to WebSocket, as far as its headers
/// go: tells it from plain HTTP, [`accept`] says whether it is right.
pub fn is_upgrade(headers: &HeaderMap) -> bool {
    has_token(headers, UPGRADE, "websocket")
}

/// The subprotocols that a client offers, in its order.
pub fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    list(headers, SEC_WEBSOCKET_PROTOCOL)
}

/// Answers a client's handshake. `protocol` is the subprotocol to choose (of
/// those in [`protocols`]); compression is offered back if `deflate` is given
/// and the client wants it.
///
/// # Errors
/// [`BadRequest`] where the request is no handshake; answer with its response.
pub fn accept(
    request: &request::Parts,
    protocol: Option<&HeaderValue>,
    deflate: Option<&DeflateConfig>,
) -> Result<Accepted, BadRequest> {
    let headers = &request.headers;
    if request.method != Method::GET {
        return Err(BadRequest::Method);
    }
    if request.version < Version::HTTP_11 || !is_upgrade(headers) || !has_token(headers, CONNECTION, "upgrade") {
        return Err(BadRequest::NoUpgrade);
    }
    let version = headers.get(SEC_WEBSOCKET_VERSION);
    if version.map(|version| version.as_bytes().trim_ascii()) != Some(b"13") {
        return Err(BadRequest::Version);
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).ok_or(BadRequest::Key)?;
    let key = key.as_bytes().trim_ascii();
    if !STANDARD.decode(key).is_ok_and(|key| key.len() == 16) {
        return Err(BadRequest::Key);
    }

    let mut response = Response::new(());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let answer = response.headers_mut();
    answer.insert(UPGRADE, HeaderValue::from_static("websocket"));
    answer.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    answer.insert(SEC_WEBSOCKET_ACCEPT, accept_key(key));
    if let Some(protocol) = protocol {
        answer.insert(SEC_WEBSOCKET_PROTOCOL, protocol.clone());
    }
    let deflate = deflate.and_then(|config| {
        let offers = headers.get_all(SEC_WEBSOCKET_EXTENSIONS);
        config.answer(offers.iter().filter_map(|offer| offer.to_str().ok()))
    });
    if let Some(value) = deflate.and_then(|deflate| header_value(&deflate.to_string())) {
        answer.insert(SEC_WEBSOCKET_EXTENSIONS, value);
    }
    Ok(Accepted { response, deflate })
}

/// A client's handshake: the request it sends, and what it expects of the answer.
#[derive(Debug, Clone)]
pub struct Opening {
    key: [u8; 24],
    protocols: Vec<String>,
    deflate: Option<DeflateConfig>,
}

/// What the server chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiated {
    /// The subprotocol, one of those offered.
    pub protocol: Option<String>,
    /// What was agreed on about compression.
    pub deflate: Option<Deflate>,
}

impl Opening {
    /// A handshake that offers these subprotocols and, if given, compression.
    /// `nonce` must differ from one connection to the next.
    pub fn new(nonce: [u8; 16], protocols: &[&str], deflate: Option<DeflateConfig>) -> Self {
        let mut key = [0; 24];
        // 16 bytes take 24 characters: there is always room.
        let _ = STANDARD.encode_slice(nonce, &mut key);
        Self { key, protocols: protocols.iter().map(|&protocol| protocol.to_owned()).collect(), deflate }
    }

    /// The request for `uri`, in origin form, with a `Host` header.
    ///
    /// # Errors
    /// Where a subprotocol is no header value, or the URI has no host.
    pub fn request(&self, uri: &Uri) -> http::Result<Request<()>> {
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let host = uri.authority().map_or("", |authority| {
            let all = authority.as_str();
            all.rsplit_once('@').map_or(all, |(_, host)| host)
        });
        let mut request = Request::get(path)
            .header(HOST, host)
            .header(UPGRADE, "websocket")
            .header(CONNECTION, "Upgrade")
            .header(SEC_WEBSOCKET_VERSION, "13")
            .header(SEC_WEBSOCKET_KEY, &self.key[..]);
        if !self.protocols.is_empty() {
            request = request.header(SEC_WEBSOCKET_PROTOCOL, self.protocols.join(", "));
        }
        if let Some(deflate) = &self.deflate {
            request = request.header(SEC_WEBSOCKET_EXTENSIONS, deflate.offer());
        }
        request.body(())
    }

    /// Reads the server's answer.
    ///
    /// # Errors
    /// [`BadResponse`] where it does not open the WebSocket that was asked for.
    pub fn agree(&self, response: &response::Parts) -> Result<Negotiated, BadResponse> {
        let headers = &response.headers;
        if response.status != StatusCode::SWITCHING_PROTOCOLS {
            return Err(BadResponse::Status(response.status));
        }
        if !is_upgrade(headers) || !has_token(headers, CONNECTION, "upgrade") {
            return Err(BadResponse::NoUpgrade);
        }
        if headers.get(SEC_WEBSOCKET_ACCEPT) != Some(&accept_key(&self.key)) {
            return Err(BadResponse::Accept);
        }
        let protocol = headers.get(SEC_WEBSOCKET_PROTOCOL).map(|chosen| {
            let offered = self.protocols.iter().find(|offered| *chosen == ***offered);
            offered.cloned().ok_or_else(|| BadResponse::Protocol(lossy(chosen)))
        });
        let mut extensions = headers.get_all(SEC_WEBSOCKET_EXTENSIONS).iter();
        let deflate = extensions.next().map(|chosen| {
            let offered = self.deflate.as_ref().filter(|_| extensions.next().is_none());
            chosen
                .to_str()
                .ok()
                .and_then(|answer| offered?.agree(answer))
                .ok_or_else(|| BadResponse::Extension(lossy(chosen)))
        });
        Ok(Negotiated { protocol: protocol.transpose()?, deflate: deflate.transpose()? })
    }
}

/// What `Sec-WebSocket-Accept` must be for a key.
fn accept_key(key: &[u8]) -> HeaderValue {
    let hash = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    // Base64 is always a header value.
    header_value(&STANDARD.encode(hash)).unwrap_or(HeaderValue::from_static(""))
}

fn header_value(text: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(text).ok()
}

fn lossy(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// The elements of a comma-separated header, over all lines of it.
fn list(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .filter(|element| !element.is_empty())
}

fn has_token(headers: &HeaderMap, name: HeaderName, token: &str) -> bool {
    list(headers, name).any(|element| element.eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &[(&str, &str)] = &[
        ("host", "server.example.com"),
        ("upgrade", "websocket"),
        ("connection", "Upgrade"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-version", "13"),
    ];

    /// A good request with some headers replaced (or, where empty, left out).
    fn request(changes: &[(&'static str, &str)]) -> request::Parts {
        let mut request = Request::get("/chat").body(()).expect("a request");
        for (name, value) in GOOD {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).expect("a value"));
        }
        for &(name, value) in changes {
            request.headers_mut().remove(name);
            if !value.is_empty() {
                let value = HeaderValue::from_str(value).expect("a value");
                request.headers_mut().append(name, value);
            }
        }
        request.into_parts().0
    }

    #[test]
    fn the_example_of_rfc_6455_is_accepted() {
        let request = request(&[("sec-websocket-protocol", "chat, superchat")]);
        assert_eq!(protocols(&request.headers).collect::<Vec<_>>(), ["chat", "superchat"]);
        let chosen = HeaderValue::from_static("chat");
        let accepted = accept(&request, Some(&chosen), None).expect("a handshake");
        let headers = accepted.response.headers();
        assert_eq!(accepted.response.status(), 101);
        assert_eq!(headers["upgrade"], "websocket");
        assert_eq!(headers["connection"], "Upgrade");
        assert_eq!(headers["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(headers["sec-websocket-protocol"], "chat");
        assert!(!headers.contains_key("sec-websocket-extensions"));
    }

    #[test]
    fn every_rule_of_the_request_is_checked() {
        #[track_caller]
        fn check(changes: &[(&'static str, &str)], refusal: Option<BadRequest>) {
            let result = accept(&request(changes), None, None);
            assert_eq!(result.err(), refusal, "{changes:?}");
        }
        check(&[], None);
        check(&[("upgrade", "WebSocket")], None);
        check(&[("upgrade", "h2c, websocket")], None);
        check(&[("connection", "keep-alive, upgrade")], None);
        check(&[("upgrade", "")], Some(BadRequest::NoUpgrade));
        check(&[("upgrade", "h2c")], Some(BadRequest::NoUpgrade));
        check(&[("connection", "")], Some(BadRequest::NoUpgrade));
        check(&[("connection", "keep-alive")], Some(BadRequest::NoUpgrade));
        check(&[("sec-websocket-version", "")], Some(BadRequest::Version));
        check(&[("sec-websocket-version", "8")], Some(BadRequest::Version));
        check(&[("sec-websocket-key", "")], Some(BadRequest::Key));
        check(&[("sec-websocket-key", "AAAA")], Some(BadRequest::Key));
        check(&[("sec-websocket-key", "************************")], Some(BadRequest::Key));

        let mut post = request(&[]);
        post.method = Method::POST;
        assert_eq!(accept(&post, None, None).err(), Some(BadRequest::Method));
        let mut old = request(&[]);
        old.version = Version::HTTP_10;
        assert_eq!(accept(&old, None, None).err(), Some(BadRequest::NoUpgrade));
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        #[track_caller]
        fn check(refusal: BadRequest, status: u16, header: Option<(&str, &str)>) {
            let response = refusal.response();
            assert_eq!(response.status(), status);
            if let Some((name, value)) = header {
                assert_eq!(response.headers()[name], value);
            }
        }
        check(BadRequest::Method, 405, Some(("allow", "GET")));
        check(BadRequest::NoUpgrade, 426, Some(("upgrade", "websocket")));
        check(BadRequest::Version, 426, Some(("sec-websocket-version", "13")));
        check(BadRequest::Key, 400, None);
    }

    #[test]
    fn compression_is_agreed_on_only_where_both_want_it() {
        let offer = [("sec-websocket-extensions", "permessage-deflate; client_max_window_bits")];
        let config = DeflateConfig::default();
        assert!(accept(&request(&offer), None, None).expect("ok").deflate.is_none());
        assert!(accept(&request(&[]), None, Some(&config)).expect("ok").deflate.is_none());
        let accepted = accept(&request(&offer), None, Some(&config)).expect("ok");
        assert!(accepted.deflate.is_some());
        assert_eq!(accepted.response.headers()["sec-websocket-extensions"], "permessage-deflate");
    }

    fn opening() -> Opening {
        let deflate = DeflateConfig::default();
        Opening::new(*b"the sample nonce", &["text", "buffer"], Some(deflate))
    }

    #[test]
    fn a_server_accepts_what_a_client_sends() {
        let uri = Uri::from_static("ws://user@server.example.com:81/a/b?c=d");
        let request = opening().request(&uri).expect("a request");
        assert_eq!(request.uri(), "/a/b?c=d");
        assert_eq!(request.headers()["host"], "server.example.com:81");
        assert_eq!(request.headers()["sec-websocket-key"], "dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(request.headers()["sec-websocket-protocol"], "text, buffer");

        let config = DeflateConfig::default();
        let chosen = HeaderValue::from_static("buffer");
        let accepted = accept(&request.into_parts().0, Some(&chosen), Some(&config));
        let accepted = accepted.expect("a handshake");
        let agreed = opening().agree(&accepted.response.into_parts().0);
        let expected = Negotiated { protocol: Some("buffer".into()), deflate: accepted.deflate };
        assert_eq!(agreed, Ok(expected));
    }

    #[test]
    fn every_rule_of_the_answer_is_checked() {
        #[track_caller]
        fn check(status: u16, changes: &[(&'static str, &'static str)], expected: Option<BadResponse>) {
            let mut response = Response::builder()
                .status(status)
                .header("upgrade", "websocket")
                .header("connection", "Upgrade")
                .header("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                .body(())
                .expect("a response");
            for &(name, value) in changes {
                response.headers_mut().insert(name, HeaderValue::from_static(value));
            }
            let result = opening().agree(&response.into_parts().0);
            assert_eq!(result.err(), expected, "{changes:?}");
        }
        check(101, &[], None);
        check(101, &[("sec-websocket-protocol", "text")], None);
        check(101, &[("sec-websocket-extensions", "permessage-deflate")], None);
        check(404, &[], Some(BadResponse::Status(StatusCode::NOT_FOUND)));
        check(101, &[("upgrade", "h2c")], Some(BadResponse::NoUpgrade));
        check(101, &[("connection", "close")], Some(BadResponse::NoUpgrade));
        check(101, &[("sec-websocket-accept", "AAAA")], Some(BadResponse::Accept));
        check(101, &[("sec-websocket-protocol", "chat")], Some(BadResponse::Protocol("chat".into())));
        for foreign in ["x-other", "permessage-deflate; other", "permessage-deflate, x-other"] {
            let refusal = BadResponse::Extension(foreign.into());
            check(101, &[("sec-websocket-extensions", foreign)], Some(refusal));
        }
    }
}
