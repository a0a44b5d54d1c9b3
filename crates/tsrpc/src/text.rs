//! Text frames: `["<name>",<body>,<sn>]` and what is inside.
//!
//! Depends on JSON text only. Invariant: [`split`] only guesses. A caller that
//! finds the body to be one JSON value that fills the slice knows that the
//! guess was right; anyone else asks [`parse`], which reads the whole frame.

mod parse;
mod write;

pub use parse::{Parsed, parse};
pub(crate) use parse::{js_string, value};
pub(crate) use write::write_error;

/// A text frame cut at its seams, nothing of it checked but the name's quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split<'a> {
    /// The name, as it stands between the quotes.
    pub name: &'a [u8],
    /// What stands where the body belongs: never empty, possibly more than one value.
    pub body: &'a [u8],
    /// The serial number, where one of 1 to 15 digits ends the frame.
    pub sn: Option<u64>,
}

/// Digits that a double holds exactly, whatever they are: what comes in is what goes out.
const EXACT_DIGITS: usize = 15;

/// Cuts a frame written as `JSON.stringify` writes it, without looking into the body. Hot.
///
/// `None` where the frame has another form, which does not mean that it is wrong.
#[must_use]
pub fn split(frame: &[u8]) -> Option<Split<'_>> {
    let [b'[', b'"', rest @ .., b']'] = frame else { return None };
    let quote = rest.iter().position(|byte| *byte == b'"')?;
    let (name, rest) = rest.split_at(quote);
    let [b'"', b',', rest @ ..] = rest else { return None };
    let digits = rest.iter().rev().take(EXACT_DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
    let (before, number) = rest.split_at(rest.len() - digits);
    if let ([body @ .., b','], Some(sn)) = (before, exact_number(number))
        && !body.is_empty()
    {
        return Some(Split { name, body, sn: Some(sn) });
    }
    if rest.is_empty() { None } else { Some(Split { name, body: rest, sn: None }) }
}

/// The number that digits stand for, if JSON writes it so and a double holds it exactly.
fn exact_number(digits: &[u8]) -> Option<u64> {
    match digits {
        [] => None,
        [b'0'] => Some(0),
        [b'0', ..] => None,
        _ if digits.len() > EXACT_DIGITS => None,
        _ => Some(digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canonical_frame_is_cut_without_reading_its_body() {
        type Expected = Option<(&'static str, &'static str, Option<u64>)>;
        #[rustfmt::skip]
        let cases: &[(&str, Expected)] = &[
            (r#"["Add",{"a":1},7]"#,            Some(("Add", r#"{"a":1}"#, Some(7)))),
            (r#"["Add",{"a":1},0]"#,            Some(("Add", r#"{"a":1}"#, Some(0)))),
            (r#"["a/B",[1,2],123456789012345]"#, Some(("a/B", "[1,2]", Some(123_456_789_012_345)))),
            (r#"["Chat",{"c":"x,5"}]"#,         Some(("Chat", r#"{"c":"x,5"}"#, None))),
            (r#"["Chat",[1,2]]"#,               Some(("Chat", "[1,2]", None))),
            (r#"["Chat",5]"#,                   Some(("Chat", "5", None))),
            (r#"["Chat",5,6]"#,                 Some(("Chat", "5", Some(6)))),
            // Cut wrongly, which whoever reads the body notices.
            (r#"["Add",{},"abc"]"#,             Some(("Add", r#"{},"abc""#, None))),
            (r#"["Add",{},1,2]"#,               Some(("Add", "{},1", Some(2)))),
            (r#"["Add",{},-1]"#,                Some(("Add", "{},-1", None))),
            (r#"["Add",{},01]"#,                Some(("Add", "{},01", None))),
            (r#"["Add",{},1234567890123456]"#,  Some(("Add", "{},1234567890123456", None))),
            (r#"["A\"d",{},1]"#,                None),
            // Not in the form that JSON.stringify gives.
            (r#"["Add"]"#,                      None),
            (r#"["Add",]"#,                     None),
            (r#"["Add" ,{},1]"#,                None),
            (r#" ["Add",{},1]"#,                None),
            (r#"[1,{},1]"#,                     None),
            (r#"{"a":1}"#,                      None),
            (r#"["]"#,                          None),
            ("[]",                              None),
            ("",                                None),
        ];
        for (frame, expected) in cases {
            let expected = expected.map(|(name, body, sn)| Split { name: name.as_bytes(), body: body.as_bytes(), sn });
            assert_eq!(split(frame.as_bytes()), expected, "{frame}");
        }
    }
}
