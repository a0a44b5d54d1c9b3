//! Fast path first, dynamic path where it refuses.
//!
//! Depends on the sibling modules and [`TsBuffer`].

use std::{fmt, marker::PhantomData, sync::Arc};

use polywire_schema::{Slot, TooDeep, Value, from_untrusted, to_value_if_shallow};

use super::{Agreement, Codec, Depth};
use crate::{
    DecodeError, EncodeError, TsBuffer,
    binary::BinaryReader,
    json::{JsonReader, Refused},
};

/// Encodes and decodes a Rust type by the types that are in force.
///
/// Where these are the ones that the Rust type describes, its specialised codec is
/// tried first. What it refuses, the dynamic path decides and explains, by way of
/// the dynamic form of the value.
///
/// ```
/// use std::sync::Arc;
/// use polywire_schema::{CompileOptions, Program, Value, types_from_json};
/// use polywire_tsbuffer::{TsBuffer, TsBufferOptions, typed::{Agreement, TypedCodec}};
///
/// let types = types_from_json(&Value::parse_json(r#"{"x": {"type": "Array", "elementType": {"type": "String"}}}"#)?)?;
/// let program = Program::compile(&types, &CompileOptions::default());
/// let tsbuffer = Arc::new(TsBuffer::new(program, TsBufferOptions::default()));
/// let x = tsbuffer.root("x")?;
///
/// let codec = TypedCodec::<Vec<String>>::new(tsbuffer, x);
/// assert_eq!(codec.agreement(), Agreement::Full);
/// let mut bytes = Vec::new();
/// codec.encode_binary(&vec!["a".to_owned()], &mut bytes)?;
/// assert_eq!(codec.decode_binary(&bytes)?, ["a"]);
/// let error = codec.decode_json(b"[1]").unwrap_err();
/// assert_eq!(error.to_string(), "Property `0`: Expected type to be `string`, actually `number`.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TypedCodec<T> {
    buffer: Arc<TsBuffer>,
    slot: Slot,
    agreement: Agreement,
    marker: PhantomData<fn() -> T>,
}

impl<T: Codec> TypedCodec<T> {
    /// The codec of a type of a program. Compares it with what `T` describes, which costs
    /// about what compiling it does: make one for each type and keep it.
    #[must_use]
    pub fn new(buffer: Arc<TsBuffer>, slot: Slot) -> Self {
        let agreement = Agreement::of::<T>(buffer.program(), slot);
        Self { buffer, slot, agreement, marker: PhantomData }
    }

    /// How far the types in force are those that `T` describes.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        self.agreement
    }

    /// Appends the binary form; on an error nothing.
    ///
    /// # Errors
    /// As [`TsBuffer::encode`].
    #[inline]
    pub fn encode_binary(&self, value: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if self.agreement == Agreement::Full {
            let start = out.len();
            if value.encode_binary(out, Depth::ROOT).is_ok() {
                return Ok(());
            }
            out.truncate(start);
        }
        self.encode_binary_slowly(value, out)
    }

    /// Reads a binary form. Bytes behind it are ignored, as published peers do.
    ///
    /// # Errors
    /// As [`TsBuffer::decode`]; [`DecodeError::Mismatch`] where Rust's type is narrower.
    #[inline]
    pub fn decode_binary(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        if self.agreement == Agreement::Full
            && let Ok(value) = T::decode_binary(&mut BinaryReader::new(bytes))
        {
            return Ok(value);
        }
        self.decode_binary_slowly(bytes)
    }

    /// Appends the JSON text; nothing for `undefined`, nor on an error.
    ///
    /// # Errors
    /// As [`TsBuffer::encode_json`].
    #[inline]
    pub fn encode_json(&self, value: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if self.agreement >= Agreement::ExceptIds {
            let start = out.len();
            if value.encode_json(out, Depth::ROOT).is_ok() {
                return Ok(());
            }
            out.truncate(start);
        }
        self.encode_json_slowly(value, out)
    }

    /// Reads a JSON text.
    ///
    /// # Errors
    /// Where it is no JSON; as [`TsBuffer::decode_json`]; [`DecodeError::Mismatch`] where
    /// Rust's type is narrower.
    #[inline]
    pub fn decode_json(&self, text: &[u8]) -> Result<T, DecodeError> {
        if self.agreement >= Agreement::ExceptIds
            && let Ok(value) = self.decode_json_fast(text)
        {
            return Ok(value);
        }
        self.decode_json_slowly(text)
    }

    /// From a value that is to be checked: a JSON document that has been parsed already.
    ///
    /// # Errors
    /// As [`decode_json`](Self::decode_json).
    pub fn decode_json_value(&self, json: Value) -> Result<T, DecodeError> {
        from_value(self.buffer.decode_json(self.slot, json)?)
    }

    #[inline]
    fn decode_json_fast(&self, text: &[u8]) -> Result<T, Refused> {
        let strict = self.buffer.checks_without_excess().strict_null_checks;
        let mut reader = JsonReader::from_bytes(text)?.with_strict_null_checks(strict);
        let value = T::decode_json(&mut reader)?;
        reader.finish()?;
        Ok(value)
    }

    #[cold]
    fn encode_binary_slowly(&self, value: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.buffer.encode_into(out, self.slot, &to_value(value)?)
    }

    #[cold]
    fn decode_binary_slowly(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        from_value(self.buffer.decode(self.slot, bytes)?)
    }

    #[cold]
    fn encode_json_slowly(&self, value: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.buffer.encode_json_into(out, self.slot, &to_value(value)?).map(drop)
    }

    #[cold]
    fn decode_json_slowly(&self, text: &[u8]) -> Result<T, DecodeError> {
        let json = Value::parse_json(text).map_err(|error| DecodeError::Json(Box::new(error)))?;
        self.decode_json_value(json)
    }
}

fn to_value<T: Codec>(value: &T) -> Result<Value, EncodeError> {
    to_value_if_shallow(value).map_err(|TooDeep| EncodeError::TooDeep)
}

fn from_value<T: Codec>(value: Value) -> Result<T, DecodeError> {
    from_untrusted(value).map_err(|mismatch| DecodeError::Mismatch(Box::new(mismatch)))
}

impl<T> Clone for TypedCodec<T> {
    fn clone(&self) -> Self {
        let Self { buffer, slot, agreement, marker } = self;
        Self { buffer: Arc::clone(buffer), slot: *slot, agreement: *agreement, marker: *marker }
    }
}

impl<T> fmt::Debug for TypedCodec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedCodec")
            .field("type", &std::any::type_name::<T>())
            .field("agreement", &self.agreement)
            .finish_non_exhaustive()
    }
}
