//! The head of an answer that leaves HTTP.

use http::{HeaderName, Response};

/// The head of an answer as it travels, header names in the case that is
/// customary (and that strict old clients look for).
pub(super) fn encode(response: &Response<()>) -> Vec<u8> {
    let status = response.status();
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(status.as_str().as_bytes());
    out.push(b' ');
    out.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
    out.extend_from_slice(b"\r\n");
    for (name, value) in response.headers() {
        put_name(&mut out, name);
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out
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
        assert_eq!(String::from_utf8_lossy(&encode(&response)), expected);
    }
}
