//! Transport: where published servers leave a peer without an answer.

use polywire_tests::{raw::Response, vectors::Outcome};
use serde_json::Value as Json;

/// "unanswered handler: hangs": answered with an internal error when the handler ends.
pub(crate) fn unanswered_http(got: Option<&Response>) -> Result<Outcome, String> {
    let Some(got) = got else { return Ok(Outcome::AsPublished) };
    let body = String::from_utf8_lossy(&got.body);
    if body.contains("Internal Server Error") && body.contains("INTERNAL_ERR") {
        return Ok(Outcome::Mended("a handler that ends without an answer is an internal error"));
    }
    Err(format!("expected no answer or an internal error, got {} {body:?}", got.status))
}

/// "ws input error: a reason of over 123 bytes is swallowed": closed with the reason cut.
pub(crate) fn unanswered_frame(got: Option<&Json>) -> Result<Outcome, String> {
    let Some(got) = got else { return Ok(Outcome::AsPublished) };
    let reason = got["reason"].as_str().unwrap_or_default();
    if got["close"] == 1000 && (120..=123).contains(&reason.len()) {
        return Ok(Outcome::Mended("a long reason of a close frame is cut to 123 bytes"));
    }
    Err(format!("expected no answer or a close frame with a cut reason, got {got}"))
}
