//! Strings as JavaScript has them: sequences of UTF-16 units that need not be well formed.
//!
//! Depends on nothing. Invariant: [`JsString::Utf16`] holds at least one lone
//! surrogate, so that two equal strings always have the same representation.

use std::fmt;

/// A JavaScript string.
///
/// Practically every string is well formed and kept as UTF-8. Only a string
/// with a lone surrogate (half of a pair) is kept as UTF-16 units.
///
/// ```
/// use polywire_schema::JsString;
///
/// assert_eq!(JsString::from("hi").as_str(), Some("hi"));
/// assert_eq!(JsString::from_utf16(&[0xd800]).as_str(), None);
/// assert_eq!(JsString::from_utf16(&[0xd800]).to_string_lossy(), "\u{fffd}");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum JsString {
    /// A well-formed string.
    Utf8(String),
    /// A string with at least one lone surrogate, as UTF-16 units.
    Utf16(Box<[u16]>),
}

impl JsString {
    /// A string of UTF-16 units, which may hold lone surrogates.
    #[must_use]
    pub fn from_utf16(units: &[u16]) -> Self {
        match String::from_utf16(units) {
            Ok(text) => Self::Utf8(text),
            Err(_) => Self::Utf16(units.into()),
        }
    }

    /// The text, unless it holds a lone surrogate.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Utf8(text) => Some(text),
            Self::Utf16(_) => None,
        }
    }

    /// The text, each lone surrogate replaced by U+FFFD, as Node writes it to UTF-8.
    #[must_use]
    pub fn to_string_lossy(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Utf8(text) => text.into(),
            Self::Utf16(units) => String::from_utf16_lossy(units).into(),
        }
    }

    /// The text by value; see [`to_string_lossy`](Self::to_string_lossy).
    #[must_use]
    pub fn into_string_lossy(self) -> String {
        match self {
            Self::Utf8(text) => text,
            Self::Utf16(units) => String::from_utf16_lossy(&units),
        }
    }
}

impl From<&str> for JsString {
    fn from(text: &str) -> Self {
        Self::Utf8(text.to_owned())
    }
}

impl From<String> for JsString {
    fn from(text: String) -> Self {
        Self::Utf8(text)
    }
}

impl PartialEq<str> for JsString {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl fmt::Debug for JsString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8(text) => fmt::Debug::fmt(text, f),
            Self::Utf16(units) => write!(f, "utf16{units:x?}"),
        }
    }
}
