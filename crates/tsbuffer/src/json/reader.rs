//! Reading JSON text without building values: what specialised codecs pull their fields from.
//!
//! Depends on the value modules of `polywire-schema`. Invariants: what is
//! accepted here is accepted by `JSON.parse`, with the same value; the position
//! stays on a character boundary and never passes the end; arrays and objects
//! nest at most [`MAX_JSON_DEPTH`] deep.

mod number;
mod scan;

use std::borrow::Cow;

use bytes::Bytes;
use polywire_schema::{BufferKind, DateTime, JsString, MAX_JSON_DEPTH, ObjectId, Value, parse_date, parse_object_id};

use super::base64;
use scan::Scanned;

/// The fast path does not take this input. The slow path decides, and explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("refused by the fast path")]
pub struct Refused;

/// What a JSON value begins as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A position in a JSON text.
///
/// Clone it to try one form and come back to the position for another.
///
/// ```
/// use polywire_tsbuffer::json::{JsonReader, Refused};
///
/// let mut reader = JsonReader::new(r#"{"content":"hi","unknown":[1,{}],"size":3}"#);
/// let (mut content, mut size) = (None, None);
/// reader.begin_object()?;
/// while let Some(key) = reader.next_key()? {
///     match key {
///         "content" => content = Some(reader.string()?),
///         "size" => size = Some(reader.integer()?),
///         _ => reader.skip_value()?,
///     }
/// }
/// reader.finish()?;
/// assert_eq!((content.as_deref(), size), (Some("hi"), Some(3)));
/// # Ok::<(), Refused>(())
/// ```
#[derive(Debug, Clone)]
pub struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    depth_left: usize,
    /// Whether the array or object around the position has been opened just before it.
    fresh: bool,
    strict_null_checks: bool,
    /// How many bytes may still be read ahead of their turn.
    ahead_left: usize,
}

/// How often a text may be read ahead in all, on average over its bytes. Types that look
/// ahead and contain themselves would read deep texts once for each level.
const READS_AHEAD: usize = 8;

impl<'a> JsonReader<'a> {
    /// At the start of a text, without strict null checks.
    #[inline]
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth_left: MAX_JSON_DEPTH,
            fresh: false,
            strict_null_checks: false,
            ahead_left: READS_AHEAD * text.len(),
        }
    }

    /// At the start of bytes, which must be UTF-8.
    ///
    /// # Errors
    /// Where they are not: the slow path reads U+FFFD there.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Refused> {
        std::str::from_utf8(bytes).map(Self::new).map_err(|_| Refused)
    }

    /// The same position, with or without strict null checks.
    #[inline]
    #[must_use]
    pub fn with_strict_null_checks(self, strict_null_checks: bool) -> Self {
        Self { strict_null_checks, ..self }
    }

    /// Whether null, undefined and missing are told apart.
    #[inline]
    #[must_use]
    pub fn strict_null_checks(&self) -> bool {
        self.strict_null_checks
    }

    /// What comes next, without taking it.
    ///
    /// # Errors
    /// Where no value begins.
    #[inline]
    pub fn peek(&mut self) -> Result<JsonKind, Refused> {
        match self.peek_byte() {
            Some(b'"') => Ok(JsonKind::String),
            Some(b'{') => Ok(JsonKind::Object),
            Some(b'[') => Ok(JsonKind::Array),
            Some(b'-' | b'0'..=b'9') => Ok(JsonKind::Number),
            Some(b't' | b'f') => Ok(JsonKind::Bool),
            Some(b'n') => Ok(JsonKind::Null),
            _ => Err(Refused),
        }
    }

    /// Opens an object; [`next_key`](Self::next_key) leads through it.
    ///
    /// # Errors
    /// Where none begins, or nesting is too deep.
    #[inline]
    pub fn begin_object(&mut self) -> Result<(), Refused> {
        self.begin(b'{')
    }

    /// Takes the next key of an object, behind which its value has to be read;
    /// `None` closes the object.
    ///
    /// # Errors
    /// Where neither follows, and for keys with escapes.
    #[inline]
    pub fn next_key(&mut self) -> Result<Option<&'a str>, Refused> {
        let mut byte = self.peek_byte();
        if byte == Some(b'}') {
            self.end();
            return Ok(None);
        }
        if !self.fresh {
            if byte != Some(b',') {
                return Err(Refused);
            }
            self.at += 1;
            byte = self.peek_byte();
        }
        self.fresh = false;
        if byte != Some(b'"') {
            return Err(Refused);
        }
        let Scanned { text, escaped: false } = self.scan_string()? else { return Err(Refused) };
        self.expect(b':')?;
        Ok(Some(text))
    }

    /// Takes a key if it comes next, written just so: `"name":`, with the quotes and the
    /// colon, and says whether it did.
    ///
    /// Hot: asking for the keys in the order in which `JSON.stringify` writes them costs a
    /// comparison each. Whatever is left goes through [`next_key`](Self::next_key), which
    /// also closes the object.
    #[inline]
    pub fn take_key(&mut self, quoted: &str) -> bool {
        let bytes = &self.text.as_bytes()[self.at..];
        let rest = if self.fresh { Some(bytes) } else { bytes.strip_prefix(b",") };
        let Some(behind) = rest.and_then(|rest| rest.strip_prefix(quoted.as_bytes())) else { return false };
        self.at = self.text.len() - behind.len();
        self.fresh = false;
        true
    }

    /// Opens an array; [`next_element`](Self::next_element) leads through it.
    ///
    /// # Errors
    /// Where none begins, or nesting is too deep.
    #[inline]
    pub fn begin_array(&mut self) -> Result<(), Refused> {
        self.begin(b'[')
    }

    /// Whether an element follows, which has to be read then; `false` closes the array.
    ///
    /// # Errors
    /// Where neither follows.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, Refused> {
        if self.peek_byte() == Some(b']') {
            self.end();
            return Ok(false);
        }
        if !self.fresh {
            self.expect(b',')?;
        }
        self.fresh = false;
        Ok(true)
    }

    /// Takes a string. Borrowed unless it has escapes.
    ///
    /// # Errors
    /// Where none follows, and for lone surrogates.
    #[inline]
    pub fn string(&mut self) -> Result<Cow<'a, str>, Refused> {
        let start = self.begin_string()?;
        let scanned = self.scan_string()?;
        if !scanned.escaped {
            return Ok(Cow::Borrowed(scanned.text));
        }
        match Value::parse_json(&self.text[start..self.at]) {
            Ok(Value::String(JsString::Utf8(text))) => Ok(Cow::Owned(text)),
            _ => Err(Refused),
        }
    }

    /// Takes a number, rounded to the nearest double.
    ///
    /// # Errors
    /// Where none follows.
    #[inline]
    pub fn number(&mut self) -> Result<f64, Refused> {
        self.skip_space();
        let (number, len) = number::number(&self.text[self.at..]).ok_or(Refused)?;
        self.at += len;
        Ok(number)
    }

    /// Takes a whole number of at most 2⁵³ − 1 either way, in whatever form it is written (`1e3`).
    ///
    /// # Errors
    /// Where none follows: also for fractions and larger numbers.
    #[inline]
    pub fn integer(&mut self) -> Result<i64, Refused> {
        self.skip_space();
        let (integer, len) = number::integer(&self.text[self.at..]).ok_or(Refused)?;
        self.at += len;
        Ok(integer)
    }

    /// Takes `true` or `false`.
    ///
    /// # Errors
    /// Where neither follows.
    #[inline]
    pub fn bool(&mut self) -> Result<bool, Refused> {
        match self.peek_byte() {
            Some(b't') => self.literal("true").map(|()| true),
            _ => self.literal("false").map(|()| false),
        }
    }

    /// Takes `null`.
    ///
    /// # Errors
    /// Where something else follows.
    #[inline]
    pub fn null(&mut self) -> Result<(), Refused> {
        self.skip_space();
        self.literal("null")
    }

    /// Takes `null` if it follows, and says so.
    ///
    /// # Errors
    /// Where something follows that only begins like it.
    #[inline]
    pub fn take_null(&mut self) -> Result<bool, Refused> {
        if self.peek_byte() != Some(b'n') {
            return Ok(false);
        }
        self.literal("null").map(|()| true)
    }

    /// Takes a date: a text that `new Date` reads, or a number of milliseconds.
    ///
    /// # Errors
    /// Where neither follows, and where the date is invalid.
    pub fn date(&mut self) -> Result<DateTime, Refused> {
        let ms = match self.peek()? {
            JsonKind::Number => self.number()?,
            _ => {
                let text = self.string()?;
                match DateTime::parse_iso(text.as_bytes()) {
                    Some(date) => return Ok(date),
                    None => parse_date(&text),
                }
            }
        };
        // Saturating, and what is not a number is no date; a fraction is cut as JavaScript does.
        if ms.is_nan() { Err(Refused) } else { DateTime::from_unix_millis(ms as i64).ok_or(Refused) }
    }

    /// Takes base64 as Node reads it: bytes of whole elements of the kind.
    ///
    /// # Errors
    /// Where no string follows, and for the two kinds of bigints.
    pub fn buffer(&mut self, kind: BufferKind) -> Result<Bytes, Refused> {
        base64::decode_elements(&self.string()?, kind).ok_or(Refused)
    }

    /// Takes an `ObjectId` of 24 hex digits.
    ///
    /// # Errors
    /// Where none follows.
    pub fn object_id(&mut self) -> Result<ObjectId, Refused> {
        parse_object_id(&self.string()?).map(ObjectId).ok_or(Refused)
    }

    /// Takes any value.
    ///
    /// # Errors
    /// Where none follows, or nesting is too deep.
    pub fn value(&mut self) -> Result<Value, Refused> {
        Value::parse_json(self.raw_value()?).map_err(|_| Refused)
    }

    /// Takes any value as its text.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn raw_value(&mut self) -> Result<&'a str, Refused> {
        self.skip_space();
        let start = self.at;
        self.skip_value()?;
        Ok(&self.text[start..self.at])
    }

    /// Passes any value.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn skip_value(&mut self) -> Result<(), Refused> {
        match self.peek()? {
            JsonKind::Null => self.literal("null"),
            JsonKind::Bool => self.bool().map(drop),
            JsonKind::Number => self.number().map(drop),
            JsonKind::String => self.scan_string().map(drop),
            JsonKind::Array => {
                self.begin_array()?;
                while self.next_element()? {
                    self.skip_value()?;
                }
                Ok(())
            }
            JsonKind::Object => self.skip_object(),
        }
    }

    /// Reads from here without moving. What is read ahead is bounded: with each byte of the
    /// text being read ahead eight times on average, it is refused.
    ///
    /// # Errors
    /// Beyond that bound; what `read` returns.
    #[inline]
    pub fn ahead<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Refused>) -> Result<T, Refused> {
        let mut ahead = self.clone();
        let result = read(&mut ahead)?;
        self.ahead_left = ahead.ahead_left.checked_sub(ahead.at - self.at).ok_or(Refused)?;
        Ok(result)
    }

    /// Reads something that counts as a level of nesting although JSON has no bracket for it: a union.
    ///
    /// # Errors
    /// Where nesting is too deep; what `read` returns.
    #[inline]
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Refused>) -> Result<T, Refused> {
        self.depth_left = self.depth_left.checked_sub(1).ok_or(Refused)?;
        let result = read(self);
        self.depth_left += 1;
        result
    }

    /// The end of the text.
    ///
    /// # Errors
    /// Where more than white space follows.
    #[inline]
    pub fn finish(&mut self) -> Result<(), Refused> {
        if self.peek_byte().is_none() { Ok(()) } else { Err(Refused) }
    }

    /// How many bytes of the text have been taken.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
