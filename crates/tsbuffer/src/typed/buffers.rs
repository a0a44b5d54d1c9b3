//! `ArrayBuffer` and the typed arrays.

use bytes::Bytes;
use polywire_schema::{
    ArrayBuffer, BigInt64Array, BigUint64Array, BufferKind, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Uint8Array, Uint16Array, Uint32Array,
};

use super::{Codec, Depth, JsonReader, Kinds, Refused};
use crate::{
    binary::{BinaryReader, LengthType, write_bytes, write_varint},
    json::write_base64,
};

macro_rules! byte_buffers {
    ($($buffer:ty as $kind:ident),*) => {$(
        impl Codec for $buffer {
            const LENGTH_TYPE: LengthType = LengthType::LengthDelimited;
            const KINDS: Kinds = Kinds::OBJECT;
            const JSON_KINDS: Kinds = Kinds::STRING;

            #[inline]
            fn encode_binary(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                write_bytes(out, self);
                Ok(())
            }

            #[inline]
            fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
                Ok(Bytes::copy_from_slice(input.read_bytes()?).into())
            }

            #[inline]
            fn encode_json(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                write_base64(out, self);
                Ok(())
            }

            #[inline]
            fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
                input.buffer(BufferKind::$kind).map(Self::from)
            }
        }
    )*};
}

byte_buffers!(Bytes as Uint8Array, Uint8Array as Uint8Array, ArrayBuffer as ArrayBuffer);

macro_rules! typed_arrays {
    ($($array:ident: $form:ident),*) => {$(
        impl Codec for $array {
            const LENGTH_TYPE: LengthType = LengthType::LengthDelimited;
            const KINDS: Kinds = Kinds::OBJECT;
            const JSON_KINDS: Kinds = Kinds::STRING;

            fn encode_binary(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                Form::$form.check()?;
                write_varint(out, size_of_val(self.as_slice()) as u64);
                self.write_memory(out);
                Ok(())
            }

            fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
                Form::$form.check()?;
                Self::from_memory(input.read_bytes()?).ok_or(Refused)
            }

            fn encode_json(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                let mut memory = Vec::new();
                self.write_memory(&mut memory);
                write_base64(out, &memory);
                Ok(())
            }

            fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
                Self::from_memory(&input.buffer(BufferKind::$array)?).ok_or(Refused)
            }
        }
    )*};
}

/// Whether an array has a binary form.
enum Form {
    Memory,
    /// Published peers know none.
    None,
}

impl Form {
    fn check(self) -> Result<(), Refused> {
        match self {
            Self::Memory => Ok(()),
            Self::None => Err(Refused),
        }
    }
}

typed_arrays!(
    Int8Array: Memory,
    Int16Array: Memory,
    Int32Array: Memory,
    BigInt64Array: None,
    Uint16Array: Memory,
    Uint32Array: Memory,
    BigUint64Array: None,
    Float32Array: Memory,
    Float64Array: Memory
);
