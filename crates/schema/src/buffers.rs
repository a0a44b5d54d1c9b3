//! `ArrayBuffer` and the typed arrays in Rust.
//!
//! Depends on the type model only.

use std::ops::{Deref, DerefMut};

use bytes::Bytes;

use crate::{BufferKind, Mismatch, Registry, Schema, Type, Value};

/// A buffer of the wanted kind, in whole elements.
fn memory(kind: BufferKind, value: Value) -> Result<Bytes, Mismatch> {
    match value {
        Value::Buffer(found, bytes) if found == kind => {
            let size = kind.element_size();
            if bytes.len() % size == 0 {
                return Ok(bytes);
            }
            Err(Mismatch::new(format!("byte length of {} should be a multiple of {size}", kind.name())))
        }
        Value::Buffer(found, _) => {
            Err(Mismatch::new(format!("Expected type to be `{}`, actually `{}`.", kind.name(), found.name())))
        }
        other => Err(Mismatch::kind(kind.name(), &other)),
    }
}

/// Plain bytes are a `Uint8Array`.
impl Schema for Bytes {
    fn describe(_: &mut Registry) -> Type {
        Type::Buffer(BufferKind::Uint8Array)
    }

    fn to_value(&self) -> Value {
        Value::Buffer(BufferKind::Uint8Array, self.clone())
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        memory(BufferKind::Uint8Array, value)
    }
}

macro_rules! byte_buffers {
    ($($name:ident),*) => {$(
        #[doc = concat!("`", stringify!($name), "`: shared bytes; cloning copies nothing.")]
        #[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub Bytes);

        impl<T: Into<Bytes>> From<T> for $name {
            fn from(bytes: T) -> Self {
                Self(bytes.into())
            }
        }

        impl Deref for $name {
            type Target = Bytes;

            fn deref(&self) -> &Bytes {
                &self.0
            }
        }

        impl Schema for $name {
            fn describe(_: &mut Registry) -> Type {
                Type::Buffer(BufferKind::$name)
            }

            fn to_value(&self) -> Value {
                Value::Buffer(BufferKind::$name, self.0.clone())
            }

            fn from_value(value: Value) -> Result<Self, Mismatch> {
                memory(BufferKind::$name, value).map(Self)
            }
        }
    )*};
}

byte_buffers!(ArrayBuffer, Uint8Array);

macro_rules! typed_arrays {
    ($($name:ident of $element:ty),*) => {$(
        #[doc = concat!("`", stringify!($name), "`: little-endian on the wire.")]
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $name(pub Vec<$element>);

        impl $name {
            /// Appends the elements as they stand in memory and on the wire.
            pub fn write_memory(&self, out: &mut Vec<u8>) {
                out.reserve(self.0.len() * size_of::<$element>());
                for element in &self.0 {
                    out.extend_from_slice(&element.to_le_bytes());
                }
            }

            /// From memory; `None` where the last element is cut.
            #[must_use]
            pub fn from_memory(bytes: &[u8]) -> Option<Self> {
                let (elements, []) = bytes.as_chunks() else { return None };
                Some(Self(elements.iter().map(|element| <$element>::from_le_bytes(*element)).collect()))
            }
        }

        impl From<Vec<$element>> for $name {
            fn from(elements: Vec<$element>) -> Self {
                Self(elements)
            }
        }

        impl Deref for $name {
            type Target = Vec<$element>;

            fn deref(&self) -> &Vec<$element> {
                &self.0
            }
        }

        impl DerefMut for $name {
            fn deref_mut(&mut self) -> &mut Vec<$element> {
                &mut self.0
            }
        }

        impl Schema for $name {
            fn describe(_: &mut Registry) -> Type {
                Type::Buffer(BufferKind::$name)
            }

            fn to_value(&self) -> Value {
                let mut memory = Vec::new();
                self.write_memory(&mut memory);
                Value::Buffer(BufferKind::$name, memory.into())
            }

            fn from_value(value: Value) -> Result<Self, Mismatch> {
                let bytes = memory(BufferKind::$name, value)?;
                Self::from_memory(&bytes).ok_or_else(|| Mismatch::new("the last element is cut"))
            }
        }
    )*};
}

typed_arrays!(
    Int8Array of i8,
    Int16Array of i16,
    Int32Array of i32,
    BigInt64Array of i64,
    Uint16Array of u16,
    Uint32Array of u32,
    BigUint64Array of u64,
    Float32Array of f32,
    Float64Array of f64
);
