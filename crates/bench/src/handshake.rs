//! The opening handshake of WebSocket (RFC 6455, section 4), both sides, over whole heads.
//!
//! Does no I/O. Only what the benchmark needs: one subprotocol, no extensions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha1::{Digest as _, Sha1};

use crate::contract::Encoding;

/// What ends a head.
pub(crate) const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The nonce of RFC 6455's example: nothing here needs a fresh one.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// Why a server's answer opens no connection.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// Another status than 101.
    #[error("the server answered `{0}` instead of switching to WebSocket")]
    Status(String),
    /// The proof that the server speaks WebSocket is wrong or missing.
    #[error("the server's `Sec-WebSocket-Accept` is wrong")]
    Accept,
    /// The server chose another subprotocol than the one that was offered.
    #[error("the server did not accept the subprotocol `{0}`")]
    Subprotocol(&'static str),
}

/// A client's request to open a connection.
pub(crate) fn request(encoding: Encoding) -> String {
    format!(
        "GET / HTTP/1.1\r\n\
         Host: localhost\r\n\
         Connection: Upgrade\r\n\
         Upgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: {KEY}\r\n\
         Sec-WebSocket-Protocol: {}\r\n\r\n",
        encoding.subprotocol()
    )
}

/// Checks a server's answer to [`request`].
///
/// # Errors
/// [`Refused`] unless the connection is open and carries the encoding.
pub(crate) fn check_response(head: &str, encoding: Encoding) -> Result<(), Refused> {
    let status = head.lines().next().unwrap_or_default();
    if status.split_ascii_whitespace().nth(1) != Some("101") {
        return Err(Refused::Status(status.to_owned()));
    }
    if header(head, "sec-websocket-accept") != Some(&*accept(KEY)) {
        return Err(Refused::Accept);
    }
    let offered = encoding.subprotocol();
    if header(head, "sec-websocket-protocol") != Some(offered) {
        return Err(Refused::Subprotocol(offered));
    }
    Ok(())
}

/// A server's answer and the encoding that the client asked for; `None` if the head asks for
/// no WebSocket connection.
pub(crate) fn response(head: &str) -> Option<(String, Encoding)> {
    let key = header(head, "sec-websocket-key")?;
    let offered = header(head, "sec-websocket-protocol")?;
    let encoding = Encoding::ALL.into_iter().find(|encoding| encoding.subprotocol() == offered)?;
    let response = format!(
        "HTTP/1.1 101 Switching Protocols\r\n\
         Connection: Upgrade\r\n\
         Upgrade: websocket\r\n\
         Sec-WebSocket-Accept: {}\r\n\
         Sec-WebSocket-Protocol: {offered}\r\n\r\n",
        accept(key)
    );
    Some((response, encoding))
}

fn accept(key: &str) -> String {
    let mut hash = Sha1::new();
    hash.update(key);
    hash.update("258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    BASE64.encode(hash.finalize())
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proof_is_that_of_the_rfc() {
        assert_eq!(accept(KEY), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn both_sides_agree() {
        for encoding in Encoding::ALL {
            let (head, chosen) = response(&request(encoding)).unwrap();
            assert_eq!(chosen, encoding);
            assert_eq!(check_response(&head, encoding), Ok(()));
        }
    }

    #[test]
    fn other_answers_open_nothing() {
        let (good, _) = response(&request(Encoding::Json)).unwrap();
        let check = |head: &str| check_response(head, Encoding::Json);
        let status = "HTTP/1.1 404 Not Found";
        assert_eq!(check(status), Err(Refused::Status(status.to_owned())));
        assert_eq!(check(&good.replace("s3pPL", "s3pPM")), Err(Refused::Accept));
        assert_eq!(check(&good.replace(": text", ": buffer")), Err(Refused::Subprotocol("text")));
        assert_eq!(response("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), None);
    }
}
