//! Why a text is no JSON, or a value has no JSON form.
//!
//! Depends on [`JsString`] only.

use crate::JsString;

/// Why a text is no JSON. `Display` gives the text of Node 20.
///
/// Positions count UTF-16 units from the start of the text, as JavaScript does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text ends too early.
    #[error("Unexpected end of JSON input")]
    UnexpectedEnd,
    /// A digit or minus where something else belongs.
    #[error("Unexpected number in JSON at position {0}")]
    UnexpectedNumber(usize),
    /// A quote where something else belongs.
    #[error("Unexpected string in JSON at position {0}")]
    UnexpectedString(usize),
    /// The text of a value that JSON does not have: `undefined`, `NaN`, `Infinity`, `[object Object]`.
    #[error("\"{0}\" is not valid JSON")]
    NotAValue(&'static str),
    /// A character that belongs nowhere here.
    #[error("Unexpected token '{}', {} is not valid JSON", token.to_string_lossy(), excerpt.to_string_lossy())]
    UnexpectedToken {
        /// The UTF-16 unit.
        token: JsString,
        /// The text around it in quotes, with `...` where it is cut.
        excerpt: JsString,
    },
    /// No name behind `{`.
    #[error("Expected property name or '}}' in JSON at position {0}")]
    ExpectedNameOrBrace(usize),
    /// No name behind the comma in an object.
    #[error("Expected double-quoted property name in JSON at position {0}")]
    ExpectedName(usize),
    /// No colon behind the first name in an object.
    #[error("Expected ':' after property name in JSON at position {0}")]
    ExpectedColon(usize),
    /// Neither comma nor brace behind a property.
    #[error("Expected ',' or '}}' after property value in JSON at position {0}")]
    ExpectedCommaOrBrace(usize),
    /// Neither comma nor bracket behind an element.
    #[error("Expected ',' or ']' after array element in JSON at position {0}")]
    ExpectedCommaOrBracket(usize),
    /// More behind the value.
    #[error("Unexpected non-whitespace character after JSON at position {0}")]
    TrailingText(usize),
    /// A string without closing quote.
    #[error("Unterminated string in JSON at position {0}")]
    UnterminatedString(usize),
    /// A control character in a string.
    #[error("Bad control character in string literal in JSON at position {0}")]
    ControlCharacter(usize),
    /// An unknown character behind a backslash.
    #[error("Bad escaped character in JSON at position {0}")]
    BadEscape(usize),
    /// `\u` without four hex digits.
    #[error("Bad Unicode escape in JSON at position {0}")]
    BadUnicodeEscape(usize),
    /// A minus without digit.
    #[error("No number after minus sign in JSON at position {0}")]
    LoneMinus(usize),
    /// A decimal point without digit.
    #[error("Unterminated fractional number in JSON at position {0}")]
    UnterminatedFraction(usize),
    /// An exponent without digit.
    #[error("Exponent part is missing a number in JSON at position {0}")]
    MissingExponent(usize),
    /// Arrays and objects nest deeper than allowed. JavaScript has no such limit.
    #[error("JSON is nested deeper than {0} levels")]
    TooDeep(usize),
}

impl JsonError {
    /// The exact message: unlike `Display`, it keeps halves of surrogate pairs
    /// that the excerpt was cut to.
    #[must_use]
    pub fn message(&self) -> JsString {
        let Self::UnexpectedToken { token, excerpt } = self else { return self.to_string().into() };
        let mut units = Vec::new();
        let mut push = |part: &JsString| match part {
            JsString::Utf8(text) => units.extend(text.encode_utf16()),
            JsString::Utf16(part) => units.extend_from_slice(part),
        };
        push(&"Unexpected token '".into());
        push(token);
        push(&"', ".into());
        push(excerpt);
        push(&" is not valid JSON".into());
        JsString::from_utf16(&units)
    }
}

/// Why a value has no JSON form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StringifyError {
    /// JSON has no bigint.
    #[error("Do not know how to serialize a BigInt")]
    BigInt,
    /// Arrays and objects nest deeper than allowed.
    #[error("Value is nested deeper than {0} levels")]
    TooDeep(usize),
}
