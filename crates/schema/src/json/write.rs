//! `JSON.stringify`.
//!
//! Depends on the value modules, numbers and dates.

use bytes::Bytes;

use crate::{
    BufferKind, JsString, Object, Value,
    date::date_time,
    json::{StringifyError, json_plain_len},
    number::write_number,
    object_id_hex, write_integer,
};

/// Appends a value; `false` where it has no JSON form and nothing was written.
pub(super) fn write(out: &mut Vec<u8>, value: &Value, depth: usize) -> Result<bool, StringifyError> {
    match value {
        Value::Undefined => return Ok(false),
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_finite(out, *number),
        Value::BigInt(_) => return Err(StringifyError::BigInt),
        Value::String(text) => write_js_string(out, text),
        Value::Buffer(kind, bytes) => write_buffer(out, *kind, bytes)?,
        Value::Date(ms) => write_date(out, *ms),
        Value::ObjectId(id) => write_json_string(out, &object_id_hex(id)),
        Value::Array(elements) => write_array(out, elements, deeper(depth)?)?,
        Value::Object(object) => write_object(out, object, deeper(depth)?)?,
    }
    Ok(true)
}

fn deeper(depth: usize) -> Result<usize, StringifyError> {
    depth.checked_sub(1).ok_or(StringifyError::TooDeep(super::MAX_JSON_DEPTH))
}

fn write_array(out: &mut Vec<u8>, elements: &[Value], depth: usize) -> Result<(), StringifyError> {
    out.push(b'[');
    for (at, element) in elements.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        if !write(out, element, depth)? {
            out.extend_from_slice(b"null");
        }
    }
    out.push(b']');
    Ok(())
}

fn write_object(out: &mut Vec<u8>, object: &Object, depth: usize) -> Result<(), StringifyError> {
    let mut separator = b'{';
    for (key, value) in object.iter().filter(|(_, value)| !value.is_undefined()) {
        out.push(separator);
        separator = b',';
        write_json_string(out, key);
        out.push(b':');
        write(out, value, depth)?;
    }
    end_object(out, separator);
    Ok(())
}

fn end_object(out: &mut Vec<u8>, separator: u8) {
    if separator == b'{' {
        out.push(b'{');
    }
    out.push(b'}');
}

fn write_finite(out: &mut Vec<u8>, number: f64) {
    if number.is_finite() {
        write_number(out, number);
    } else {
        out.extend_from_slice(b"null");
    }
}

fn write_date(out: &mut Vec<u8>, ms: f64) {
    let Some(time) = date_time(ms) else { return out.extend_from_slice(b"null") };
    out.push(b'"');
    time.write_iso(out);
    out.push(b'"');
}

/// A typed array is an object of its elements by index; an `ArrayBuffer` has no properties.
fn write_buffer(out: &mut Vec<u8>, kind: BufferKind, bytes: &Bytes) -> Result<(), StringifyError> {
    let mut separator = b'{';
    if kind != BufferKind::ArrayBuffer {
        for (element, index) in bytes.chunks_exact(kind.element_size()).zip(0..) {
            out.extend_from_slice(&[separator, b'"']);
            separator = b',';
            write_integer(out, index);
            out.extend_from_slice(b"\":");
            write_finite(out, number_of(kind, element).ok_or(StringifyError::BigInt)?);
        }
    }
    end_object(out, separator);
    Ok(())
}

/// One little-endian element; `None` for those that are bigints.
fn number_of(kind: BufferKind, element: &[u8]) -> Option<f64> {
    match (kind, element) {
        (BufferKind::Int8Array, &[a]) => Some(i8::from_le_bytes([a]).into()),
        (BufferKind::Uint8Array, &[a]) => Some(a.into()),
        (BufferKind::Int16Array, &[a, b]) => Some(i16::from_le_bytes([a, b]).into()),
        (BufferKind::Uint16Array, &[a, b]) => Some(u16::from_le_bytes([a, b]).into()),
        (BufferKind::Int32Array, &[a, b, c, d]) => Some(i32::from_le_bytes([a, b, c, d]).into()),
        (BufferKind::Uint32Array, &[a, b, c, d]) => Some(u32::from_le_bytes([a, b, c, d]).into()),
        (BufferKind::Float32Array, &[a, b, c, d]) => Some(f32::from_le_bytes([a, b, c, d]).into()),
        (BufferKind::Float64Array, element) => element.try_into().ok().map(f64::from_le_bytes),
        _ => None,
    }
}

fn write_js_string(out: &mut Vec<u8>, text: &JsString) {
    let units = match text {
        JsString::Utf8(text) => return write_json_string(out, text),
        JsString::Utf16(units) => units,
    };
    out.push(b'"');
    for char in char::decode_utf16(units.iter().copied()) {
        match char {
            Ok(char) => write_escaped(out, char.encode_utf8(&mut [0; 4])),
            Err(lone) => push_unicode_escape(out, lone.unpaired_surrogate()),
        }
    }
    out.push(b'"');
}

/// Appends a string in quotes, escaped as `JSON.stringify` does: only quotes, backslashes
/// and control characters.
///
/// Hot: every string of an outgoing JSON text passes here.
pub fn write_json_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    write_escaped(out, text);
    out.push(b'"');
}

fn write_escaped(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    loop {
        let (run, tail) = rest.split_at(json_plain_len(rest));
        out.extend_from_slice(run);
        let Some((first, behind)) = tail.split_first() else { return };
        match *first {
            byte @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            0x08 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            control => push_unicode_escape(out, control.into()),
        }
        rest = behind;
    }
}

fn push_unicode_escape(out: &mut Vec<u8>, unit: u16) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(HEX[usize::from(unit >> shift & 0xf)]);
    }
}
