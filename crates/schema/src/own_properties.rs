//! Objects as JavaScript sees them when it lists their keys, also those that are no plain objects.
//!
//! Depends on the value modules only.

use std::borrow::Cow;

use crate::{BufferKind, Object, Value};

/// The own enumerable properties of an object that is no array: a plain object
/// itself, the elements of a typed array, nothing for the others. `None` for
/// what is no such object.
#[must_use]
pub fn own_properties(value: &Value) -> Option<Cow<'_, Object>> {
    match value {
        Value::Object(object) => Some(Cow::Borrowed(object)),
        Value::Buffer(kind, bytes) => Some(Cow::Owned(elements(*kind, bytes))),
        Value::Date(_) | Value::ObjectId(_) => Some(Cow::Owned(Object::new())),
        _ => None,
    }
}

fn elements(kind: BufferKind, bytes: &[u8]) -> Object {
    if kind == BufferKind::ArrayBuffer {
        return Object::new();
    }
    let elements = bytes.chunks_exact(kind.element_size()).enumerate();
    elements.map(|(at, bytes)| (at.to_string(), element(kind, bytes))).collect()
}

/// An element of a typed array by its memory, which is little-endian on every real platform.
fn element(kind: BufferKind, bytes: &[u8]) -> Value {
    let mut memory = [0; 8];
    memory[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(memory);
    // Each cast keeps the low bytes, which are the ones that were read.
    match kind {
        BufferKind::ArrayBuffer | BufferKind::Uint8Array | BufferKind::Uint16Array | BufferKind::Uint32Array => {
            Value::Number(bits as f64)
        }
        BufferKind::Int8Array => Value::from(i32::from(bits as i8)),
        BufferKind::Int16Array => Value::from(i32::from(bits as i16)),
        BufferKind::Int32Array => Value::from(bits as i32),
        BufferKind::Float32Array => Value::Number(f32::from_bits(bits as u32).into()),
        BufferKind::Float64Array => Value::Number(f64::from_bits(bits)),
        BufferKind::BigInt64Array => Value::BigInt((bits as i64).into()),
        BufferKind::BigUint64Array => Value::BigInt(bits.into()),
    }
}
