//! Why a value could not be written or read.
//!
//! Depends on the schema's errors and the primitives' ones. `Display` gives the
//! text of the published packages where they have one, also where that is a
//! text of the JavaScript engine that a peer may have seen.

use polywire_schema::{BufferKind, JsonError, Mismatch, SchemaError, StringifyError, ValidationError, number_text};

use crate::binary::{MAX_BASES, MAX_DEPTH, MAX_TUPLE_ELEMENTS, ReadError};

/// A schema id that the program does not have. The caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Cannot find schema\u{ff1a} {0}")]
pub struct UnknownSchema(
    /// The schema id.
    pub String,
);

/// Why a value was not encoded. The caller's fault, or the schema's.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The value is not of the type.
    #[error(transparent)]
    Invalid(Box<ValidationError>),
    /// The schema cannot be resolved.
    #[error(transparent)]
    Schema(Box<SchemaError>),
    /// The value contradicts a base whose property the interface declares otherwise.
    #[error("Expected type to be `{expected}`, actually `{found}`.")]
    Mismatch {
        /// What the base declares.
        expected: &'static str,
        /// What the value holds.
        found: &'static str,
    },
    /// A number type that has no binary form.
    #[error("Scalar type not support : {0}")]
    UnsupportedScalar(&'static str),
    /// A typed array that has no binary form.
    #[error("Cannot read properties of undefined (reading 'BYTES_PER_ELEMENT')")]
    UnsupportedArray(BufferKind),
    /// A value that is no member of its enum.
    #[error("Unexpect enum value: {0}")]
    NotAnEnumMember(String),
    /// A tuple type of more elements than its mask has bits.
    #[error("Elements oversized, maximum supported tuple elements is {MAX_TUPLE_ELEMENTS}, now get {0}")]
    TupleTypeTooLong(usize),
    /// A value with more elements than its tuple type.
    #[error("Cannot read properties of undefined (reading 'type')")]
    TupleTooLong {
        /// How many elements the type has.
        elements: usize,
    },
    /// An interface with more bases than block ids.
    #[error("Max support {MAX_BASES} extends, actual: {0}")]
    TooManyBases(usize),
    /// A base or mapped type of something that is no object type.
    #[error("Expected an object type")]
    NotAnObjectType,
    /// A value that is no member of its union.
    #[error("Non member is satisfied for union type")]
    NoMember,
    /// A value that has no JSON form, where the type is `any` or `object`.
    #[error(transparent)]
    Json(StringifyError),
    /// A custom type without a binary form.
    #[error("Missing encode method for CustomTypeSchema")]
    CustomWithoutEncode,
    /// What a custom type says against the value.
    #[error("{0}")]
    Custom(String),
    /// More nesting than [`MAX_DEPTH`].
    #[error("Nesting exceeds {MAX_DEPTH} levels")]
    TooDeep,
    /// So many members of unions and intersections within each other write the same that
    /// there is no end.
    #[error("Value matches too many members of unions within each other.")]
    TooAmbiguous,
}

/// Why bytes were not decoded. The peer's fault, or the schema's.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes say a value that is not of the type.
    #[error(transparent)]
    Invalid(Box<ValidationError>),
    /// The schema cannot be resolved.
    #[error(transparent)]
    Schema(Box<SchemaError>),
    /// The bytes end too early or are no encoding.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An id that the enum does not have.
    #[error("Invalid enum encoding: unexpected id {}", number_text(*.0 as f64))]
    UnknownEnumId(i64),
    /// A number type that has no binary form.
    #[error("Scalar type not support : {0}")]
    UnsupportedScalar(&'static str),
    /// A typed array that has no binary form.
    #[error("Unsupported arrayType: {}", .0.name())]
    UnsupportedArray(BufferKind),
    /// Bytes that end inside an element of a typed array.
    #[error("byte length of {} should be a multiple of {}", .0.name(), .0.element_size())]
    PartialElement(BufferKind),
    /// A tuple type of more elements than its mask has bits.
    #[error("Elements oversized, maximum supported tuple elements is {MAX_TUPLE_ELEMENTS}, now get {0}")]
    TupleTypeTooLong(usize),
    /// More elements than the tuple type has.
    #[error("Cannot read properties of undefined (reading 'type')")]
    TupleTooLong {
        /// How many elements the type has.
        elements: usize,
    },
    /// A JSON array with more elements than the tuple type has, of which some have a JSON form of
    /// their own. (Of other tuples, what is too much is cut.)
    #[error(transparent)]
    ExcessElements(Box<ValidationError>),
    /// A base or mapped type of something that is no object type.
    #[error("Expected an object type")]
    NotAnObjectType,
    /// A text that is not JSON, where the type is `any` or `object`.
    #[error(transparent)]
    Json(Box<JsonError>),
    /// A custom type without a binary form.
    #[error("Missing decode method for CustomTypeSchema")]
    CustomWithoutDecode,
    /// What a custom type says against the bytes.
    #[error("{0}")]
    Custom(String),
    /// A value of the type that the Rust type, which is narrower, does not have.
    #[error(transparent)]
    Mismatch(Box<Mismatch>),
}

/// At which step decoding failed; published peers tell their applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The bytes or the text could not be understood.
    Decode,
    /// What was understood is not of the type.
    Validate,
}

impl Phase {
    /// The published name: `decode` or `validate`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Validate => "validate",
        }
    }
}

impl DecodeError {
    /// The step that failed.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        match self {
            Self::Invalid(_) | Self::Mismatch(_) => Phase::Validate,
            _ => Phase::Decode,
        }
    }
}

impl From<ValidationError> for EncodeError {
    fn from(error: ValidationError) -> Self {
        Self::Invalid(Box::new(error))
    }
}

impl From<ValidationError> for DecodeError {
    fn from(error: ValidationError) -> Self {
        Self::Invalid(Box::new(error))
    }
}
