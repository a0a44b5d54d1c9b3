//! The heads of a request and an answer that leave HTTP.

use http::{HeaderMap, HeaderName, Request, Response};

/// The head of a request as it travels.
pub(crate) fn encode_request(request: &Request<()>) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    out.extend_from_slice(request.method().as_str().as_bytes());
    out.push(b' ');
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    out.extend_from_slice(target.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
    put_headers(&mut out, request.headers());
    out
}

/// The head of an answer as it travels.
pub(super) fn encode_response(response: &Response<()>) -> Vec<u8> {
    let status = response.status();
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(status.as_str().as_bytes());
    out.push(b' ');
    out.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
    out.extend_from_slice(b"\r\n");
    put_headers(&mut out, response.headers());
    out
}

/// Header names get the case that is customary, and that strict old peers look for.
fn put_headers(out: &mut Vec<u8>, headers: &HeaderMap) {
    for (name, value) in headers {
        put_name(out, name);
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

fn put_name(out: &mut Vec<u8>, name: &HeaderName) {
    let mut name = name.as_str();
    if let Some(rest) = name.strip_prefix("sec-websocket-") {
        out.extend_from_slice(b"Sec-WebSocket-");
        name = rest;
    }
    let mut starts_word = true;
    for byte in name.bytes() {
        out.push(if starts_word { byte.to_ascii_uppercase() } else { byte });
        starts_word = byte == b'-';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_customary_case() {
        let response = Response::builder()
            .status(101)
            .header("upgrade", "websocket")
            .header("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            .header("x-powered-by", "me")
            .body(())
            .expect("a response");
        let expected = "HTTP/1.1 101 Switching Protocols\r\n\
                        Upgrade: websocket\r\n\
                        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\
                        X-Powered-By: me\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&encode_response(&response)), expected);
    }
}
