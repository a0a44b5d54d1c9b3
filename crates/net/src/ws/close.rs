//! Close codes and the payload of close frames (RFC 6455 §5.5.1, §7.4).

use std::fmt;
use std::str;

use super::WsError;

/// Longest reason of a close frame in bytes: a control frame's 125 less the code.
pub const MAX_REASON: usize = 123;

/// Why a connection was closed, as the peer says it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// The purpose of the connection is fulfilled.
    pub const NORMAL: Self = Self(1000);
    /// The server shuts down or the page was left.
    pub const GOING_AWAY: Self = Self(1001);
    /// The peer broke the protocol.
    pub const PROTOCOL: Self = Self(1002);
    /// The peer sent a kind of data that is not accepted.
    pub const UNSUPPORTED: Self = Self(1003);
    /// The close frame had no code. Never travels.
    pub const NO_STATUS: Self = Self(1005);
    /// The connection ended without a close frame. Never travels.
    pub const ABNORMAL: Self = Self(1006);
    /// Data of the wrong form, such as a text that is not UTF-8.
    pub const INVALID_DATA: Self = Self(1007);
    /// The peer broke a rule of the application.
    pub const POLICY: Self = Self(1008);
    /// A message is longer than the limit.
    pub const TOO_BIG: Self = Self(1009);
    /// The server did not negotiate an extension that the client needs.
    pub const MISSING_EXTENSION: Self = Self(1010);
    /// An unexpected condition at the sender.
    pub const INTERNAL: Self = Self(1011);
    /// The service restarts.
    pub const RESTART: Self = Self(1012);
    /// The service is overloaded.
    pub const TRY_LATER: Self = Self(1013);

    /// Whether the code may stand in a close frame: what RFC 6455 and the IANA
    /// registry define for the wire, and 3000–4999, which applications own.
    pub fn may_travel(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}

impl fmt::Display for CloseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for CloseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl From<u16> for CloseCode {
    fn from(code: u16) -> Self {
        Self(code)
    }
}

/// Reads the payload of a close frame.
pub(super) fn parse(payload: &[u8]) -> Result<(CloseCode, &str), WsError> {
    match payload {
        [] => Ok((CloseCode::NO_STATUS, "")),
        [_] => Err(WsError::TruncatedCloseCode),
        [high, low, reason @ ..] => {
            let code = CloseCode(u16::from_be_bytes([*high, *low]));
            if !code.may_travel() {
                return Err(WsError::BadCloseCode(code.0));
            }
            let reason = str::from_utf8(reason).map_err(|_| WsError::BadReason)?;
            Ok((code, reason))
        }
    }
}

/// Appends the payload of a close frame.
pub(super) fn write(out: &mut Vec<u8>, code: CloseCode, reason: &str) {
    if code != CloseCode::NO_STATUS {
        out.extend_from_slice(&code.0.to_be_bytes());
        out.extend_from_slice(cut_reason(reason).as_bytes());
    }
}

/// Cuts a reason to what a close frame can carry, never inside a character.
fn cut_reason(reason: &str) -> &str {
    if reason.len() <= MAX_REASON {
        return reason;
    }
    let end = (0..=MAX_REASON).rev().find(|&at| reason.is_char_boundary(at)).unwrap_or(0);
    &reason[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_may_travel_are_those_of_the_registry_and_of_applications() {
        for code in [1000, 1003, 1007, 1011, 1012, 1014, 3000, 3001, 3999, 4000, 4999] {
            assert!(CloseCode(code).may_travel(), "{code}");
        }
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] {
            assert!(!CloseCode(code).may_travel(), "{code}");
        }
    }

    #[test]
    fn a_reason_is_cut_at_a_character() {
        #[track_caller]
        fn check(reason: &str, kept: usize) {
            assert_eq!(cut_reason(reason), &reason[..kept]);
        }
        check("", 0);
        check(&"x".repeat(123), 123);
        check(&"x".repeat(124), 123);
        check(&"é".repeat(62), 122);
        check(&format!("x{}", "é".repeat(62)), 123);
        check(&"€".repeat(42), 123);
        check(&"😀".repeat(31), 120);
    }
}
