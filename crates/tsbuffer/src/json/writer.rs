//! Writing the primitives of the JSON form.
//!
//! Depends on `polywire-schema` only. What is written is what `JSON.stringify` of
//! the published encoder writes for the same value, byte for byte.

use polywire_schema::{DateTime, ObjectId};

pub use polywire_schema::write_json_string as write_string;

use super::base64;

/// Appends a number; `null` for NaN and the infinities, `0` for −0.
#[inline]
pub fn write_number(out: &mut Vec<u8>, number: f64) {
    if number.is_finite() {
        polywire_schema::write_number(out, number);
    } else {
        out.extend_from_slice(b"null");
    }
}

/// Appends a date as `toJSON` gives it.
#[inline]
pub fn write_date(out: &mut Vec<u8>, date: DateTime) {
    out.push(b'"');
    date.write_iso(out);
    out.push(b'"');
}

/// Appends bytes (the memory of a typed array, or an `ArrayBuffer`) as base64.
pub fn write_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    base64::encode(out, bytes);
    out.push(b'"');
}

/// Appends the 24 hex digits of an `ObjectId`.
pub fn write_object_id(out: &mut Vec<u8>, id: &ObjectId) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    out.extend(id.0.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| DIGITS[usize::from(digit)]));
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn primitives_have_the_published_form() {
        assert_eq!(written(|out| write_number(out, -0.0)), "0");
        assert_eq!(written(|out| write_number(out, 1e21)), "1e+21");
        assert_eq!(written(|out| write_number(out, f64::NAN)), "null");
        assert_eq!(written(|out| write_number(out, f64::NEG_INFINITY)), "null");
        assert_eq!(written(|out| write_date(out, DateTime::UNIX_EPOCH)), r#""1970-01-01T00:00:00.000Z""#);
        assert_eq!(written(|out| write_base64(out, b"")), r#""""#);
        assert_eq!(written(|out| write_base64(out, &[0xff, 0xfe])), r#""//4=""#);
        assert_eq!(written(|out| write_object_id(out, &ObjectId([0xa1; 12]))), r#""a1a1a1a1a1a1a1a1a1a1a1a1""#);
        assert_eq!(written(|out| write_string(out, "a\"\u{1}中")), r#""a\"\u0001中""#);
    }
}
