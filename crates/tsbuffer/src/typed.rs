//! Codecs specialised for Rust types: the fast path.
//!
//! Depends on the primitives of both forms and on `polywire-schema`. Invariants:
//! what is decoded here, the dynamic path decodes to the same value; what is
//! encoded here are the bytes that the dynamic path writes for `to_value()`.
//! Everything else is [`Refused`], and the dynamic path decides and explains.

mod agreement;
mod buffers;
mod codec;
mod containers;
#[doc(hidden)]
pub mod derive;
mod kinds;
mod maps;
mod scalars;
mod special;
mod tuples;

use polywire_schema::Schema;

use crate::binary::{BinaryReader, LengthType, MAX_DEPTH, ReadError};

pub use crate::json::{JsonReader, Refused};
pub use agreement::Agreement;
pub use codec::TypedCodec;
pub use kinds::Kinds;
pub use tuples::ElementCodec;

/// A Rust type with specialised TSBuffer codecs. Usually derived, together with [`Schema`].
///
/// Law: decoding accepts only what the dynamic path accepts, with the same value;
/// encoding writes only the bytes that the dynamic path writes for
/// [`to_value`](Schema::to_value). Both may refuse anything.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema",
    label = "cannot travel over a wire",
    note = "for a type of your own write `#[derive(Schema)]`",
    note = "`Option<T>` stands for an optional property of a struct or the end of a tuple; elsewhere write `Nullable<T>` (`T | null`)",
    note = "numbers are `f64`, `f32` and the integers up to 64 bits, dates `DateTime`, bytes `Uint8Array`; anything dynamic is `Any`"
)]
pub trait Codec: Schema {
    /// How it is tagged inside interfaces, unions and intersections.
    const LENGTH_TYPE: LengthType;
    /// Whether its byte length stands between tag and payload (arrays, tuples).
    const PREFIXED: bool = false;
    /// Whether it is a single literal: it takes no bytes, and as a property it is not written at all.
    const LITERAL: bool = false;
    /// Whether null may be written where an interface, tuple or map holds it: whether
    /// the type, as written in place, is a union with null.
    const NULL_IN_PLACE: bool = false;
    /// What values can be in JavaScript.
    const KINDS: Kinds;
    /// What values can be in JSON text.
    const JSON_KINDS: Kinds = Self::KINDS;

    /// Whether it is null or undefined.
    #[inline]
    fn is_nullish(&self) -> bool {
        false
    }

    /// Appends the binary payload. After a refusal, `out` may hold a part of it.
    ///
    /// # Errors
    /// Where the dynamic path has to decide.
    fn encode_binary(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused>;

    /// Reads a binary payload.
    ///
    /// # Errors
    /// Where the dynamic path has to decide.
    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused>;

    /// Appends the JSON text. After a refusal, `out` may hold a part of it.
    ///
    /// # Errors
    /// Where the dynamic path has to decide.
    fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused>;

    /// Reads a JSON value.
    ///
    /// # Errors
    /// Where the dynamic path has to decide.
    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused>;
}

/// How deep a value that is being encoded is nested.
///
/// Arrays, tuples, objects, unions and intersections count one level each, as on
/// the dynamic path.
#[derive(Debug, Clone, Copy)]
pub struct Depth(u32);

impl Depth {
    /// Not nested.
    pub const ROOT: Self = Self(0);

    /// One level further down.
    ///
    /// # Errors
    /// At [`MAX_DEPTH`].
    #[inline]
    pub fn deeper(self) -> Result<Self, Refused> {
        if self.0 < MAX_DEPTH { Ok(Self(self.0 + 1)) } else { Err(Refused) }
    }

    /// How many levels are left.
    #[must_use]
    pub(crate) fn left(self) -> usize {
        (MAX_DEPTH - self.0) as usize
    }
}

impl From<ReadError> for Refused {
    fn from(_: ReadError) -> Self {
        Self
    }
}
