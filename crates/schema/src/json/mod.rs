//! JSON text as JavaScript reads and writes it: `JSON.parse` and `JSON.stringify`.
//!
//! Depends on the value modules, numbers and dates. Invariants: what is written
//! here is read back to the same value, as far as JSON has a form for it; errors
//! of reading carry the text and position that Node 20 gives.

mod error;
mod parse;
mod plain;
mod write;

use crate::Value;

pub use error::{JsonError, StringifyError};
pub use plain::json_plain_len;
pub use write::write_json_string;

/// How deep arrays and objects may nest in a JSON text, unless said otherwise.
pub const MAX_JSON_DEPTH: usize = 512;

impl Value {
    /// `JSON.parse(text)` with nesting up to [`MAX_JSON_DEPTH`].
    ///
    /// Bytes that are not UTF-8 are read as U+FFFD, as Node reads a request body.
    /// Numbers are rounded to the nearest double; of duplicate keys the last value
    /// wins at the place of the first; `__proto__` is a key like any other; lone
    /// surrogates survive in strings and become U+FFFD in keys.
    ///
    /// # Errors
    /// Where the text is no JSON, as Node 20 words it; [`JsonError::TooDeep`].
    ///
    /// ```
    /// use polywire_schema::Value;
    ///
    /// let value = Value::parse_json(r#"{"b":[1,null],"1":"x"}"#)?;
    /// assert_eq!(value.to_json()?.as_deref(), Some(r#"{"1":"x","b":[1,null]}"#));
    ///
    /// let error = Value::parse_json("hello").unwrap_err();
    /// assert_eq!(error.to_string(), r#"Unexpected token 'h', "hello" is not valid JSON"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse_json(text: impl AsRef<[u8]>) -> Result<Self, JsonError> {
        Self::parse_json_within(text, MAX_JSON_DEPTH)
    }

    /// [`parse_json`](Self::parse_json) with another limit of nesting.
    ///
    /// # Errors
    /// As [`parse_json`](Self::parse_json).
    pub fn parse_json_within(text: impl AsRef<[u8]>, max_depth: usize) -> Result<Self, JsonError> {
        match std::str::from_utf8(text.as_ref()) {
            Ok(text) => parse::parse(text, max_depth),
            Err(_) => parse::parse(&String::from_utf8_lossy(text.as_ref()), max_depth),
        }
    }

    /// `JSON.stringify(value)`; `None` for `undefined`, which has no JSON form.
    ///
    /// # Errors
    /// A bigint, or nesting beyond [`MAX_JSON_DEPTH`].
    pub fn to_json(&self) -> Result<Option<String>, StringifyError> {
        let mut out = Vec::new();
        let written = self.write_json(&mut out)?;
        // Only UTF-8 is ever written.
        Ok(written.then(|| String::from_utf8(out).expect("JSON text is UTF-8")))
    }

    /// Appends `JSON.stringify(value)`; nothing, and `false`, for `undefined`.
    ///
    /// # Errors
    /// As [`to_json`](Self::to_json); what was appended until then stays.
    pub fn write_json(&self, out: &mut Vec<u8>) -> Result<bool, StringifyError> {
        self.write_json_within(out, MAX_JSON_DEPTH)
    }

    /// [`write_json`](Self::write_json) with another limit of nesting.
    ///
    /// # Errors
    /// As [`write_json`](Self::write_json).
    pub fn write_json_within(&self, out: &mut Vec<u8>, max_depth: usize) -> Result<bool, StringifyError> {
        write::write(out, self, max_depth)
    }
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
