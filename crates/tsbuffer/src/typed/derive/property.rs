//! What a codec does as a property of an object or a member of a union.

use super::{Blocks, check_place, ensure};
use crate::{
    binary::{BinaryReader, member_tag, property_tag, write_length_prefixed, write_varint},
    typed::{Codec, Depth, JsonReader, Kinds, Refused},
};

/// A [`Codec`] as a property or a member.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema",
    label = "cannot travel over a wire",
    note = "for a type of your own write `#[derive(Schema)]`",
    note = "`Option<T>` stands for an optional property of a struct or the end of a tuple; elsewhere write `Nullable<T>` (`T | null`)",
    note = "numbers are `f64`, `f32` and the integers up to 64 bits, dates `DateTime`, bytes `Uint8Array`; anything dynamic is `Any`"
)]
pub trait Property: Sized {
    /// How many blocks it takes as a property that is there: literals are not written.
    const BLOCKS: u64;

    // ---- binary --------------------------------------------------------------------------------

    /// Its length, where it has one, and its payload.
    ///
    /// # Errors
    /// As [`Codec::encode_binary`].
    fn write_payload(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused>;

    /// Reads what [`write_payload`](Self::write_payload) writes.
    ///
    /// # Errors
    /// As [`Codec::decode_binary`].
    fn read_payload(input: &mut BinaryReader<'_>) -> Result<Self, Refused>;

    /// Writes a member of a union behind its tag.
    ///
    /// # Errors
    /// As [`Codec::encode_binary`]; for null, which may be another member as well.
    fn write_member<const ID: u32>(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused>;

    /// Reads a member of a union whose tag has been read.
    ///
    /// # Errors
    /// As [`Codec::decode_binary`]; for null.
    fn read_member(input: &mut BinaryReader<'_>) -> Result<Self, Refused>;

    /// Writes a property.
    ///
    /// # Errors
    /// As [`Codec::encode_binary`].
    fn write<const ID: u32>(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused>;

    /// Reads a property if its block is next. Hot: writers keep the order of the schema.
    ///
    /// # Errors
    /// As [`Codec::decode_binary`].
    fn expect<const ID: u32>(
        blocks: &mut Blocks,
        input: &mut BinaryReader<'_>,
        value: &mut Option<Self>,
    ) -> Result<(), Refused>;

    /// Reads a property whose tag has been read. A later one replaces an earlier one.
    ///
    /// # Errors
    /// As [`Codec::decode_binary`]; for literals, which no writer writes.
    fn read(input: &mut BinaryReader<'_>, value: &mut Option<Self>) -> Result<(), Refused>;

    /// A property that must have been read, unless it is a literal.
    ///
    /// # Errors
    /// Where it was not.
    fn required(value: Option<Self>) -> Result<Self, Refused>;

    /// A property that may be missing. Literals never are: readers add them (reference §5.5).
    ///
    /// # Errors
    /// Those of literals.
    fn optional(value: Option<Self>) -> Result<Option<Self>, Refused>;

    // ---- JSON ----------------------------------------------------------------------------------

    /// Writes a property and a comma; `quoted` is its key with quotes and colon.
    ///
    /// # Errors
    /// As [`Codec::encode_json`].
    fn write_json(&self, out: &mut Vec<u8>, quoted: &str, depth: Depth) -> Result<(), Refused>;

    /// Reads a property if it is next, written as `JSON.stringify` writes it.
    ///
    /// # Errors
    /// As [`Codec::decode_json`].
    fn expect_json(input: &mut JsonReader<'_>, quoted: &str, value: &mut Option<Self>) -> Result<(), Refused>;

    /// As [`expect_json`](Self::expect_json), for a property that may be missing.
    ///
    /// # Errors
    /// As [`Codec::decode_json`].
    fn expect_json_optional(input: &mut JsonReader<'_>, quoted: &str, value: &mut Option<Self>) -> Result<(), Refused>;

    /// Reads a property behind its key. A second one of the same key is for the dynamic path.
    ///
    /// # Errors
    /// As [`Codec::decode_json`].
    fn read_json(input: &mut JsonReader<'_>, value: &mut Option<Self>) -> Result<(), Refused>;

    /// As [`read_json`](Self::read_json), for a property that may be missing. Unless null
    /// checks are strict, null is as good as missing where the type cannot be null.
    ///
    /// # Errors
    /// As [`Codec::decode_json`].
    fn read_json_optional(input: &mut JsonReader<'_>, value: &mut Option<Self>) -> Result<(), Refused>;

    /// Writes a member of a union.
    ///
    /// # Errors
    /// As [`Codec::encode_json`]; for null, which may be another member as well.
    fn write_json_member(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused>;

    /// Reads a member of a union.
    ///
    /// # Errors
    /// As [`Codec::decode_json`]; for null.
    fn read_json_member(input: &mut JsonReader<'_>) -> Result<Self, Refused>;

    /// A property that must be there.
    ///
    /// # Errors
    /// Where it is not.
    fn given(value: Option<Self>) -> Result<Self, Refused>;

    /// A property that may be missing; never an error, but like [`optional`](Self::optional).
    ///
    /// # Errors
    /// None.
    fn maybe(value: Option<Self>) -> Result<Option<Self>, Refused>;
}

impl<T: Codec> Property for T {
    const BLOCKS: u64 = !Self::LITERAL as u64;

    #[inline]
    fn write_payload(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        match Self::PREFIXED {
            true => write_length_prefixed(out, |out| self.encode_binary(out, depth)),
            false => self.encode_binary(out, depth),
        }
    }

    #[inline]
    fn read_payload(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        if Self::PREFIXED {
            // What it says does not matter to a reader that knows the type.
            input.read_varint()?;
        }
        Self::decode_binary(input)
    }

    #[inline]
    fn write_member<const ID: u32>(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        ensure(!self.is_nullish())?;
        write_varint(out, const { member_tag(ID, Self::LENGTH_TYPE) });
        self.write_payload(out, depth)
    }

    #[inline]
    fn read_member(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        let value = Self::read_payload(input)?;
        ensure(!value.is_nullish())?;
        Ok(value)
    }

    #[inline]
    fn write<const ID: u32>(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        if Self::LITERAL {
            return Ok(());
        }
        check_place(self)?;
        write_varint(out, const { property_tag(ID, Self::LENGTH_TYPE) });
        self.write_payload(out, depth)
    }

    #[inline]
    fn expect<const ID: u32>(
        blocks: &mut Blocks,
        input: &mut BinaryReader<'_>,
        value: &mut Option<Self>,
    ) -> Result<(), Refused> {
        if !Self::LITERAL && blocks.eat(input, const { property_tag(ID, Self::LENGTH_TYPE) }) {
            return Self::read(input, value);
        }
        Ok(())
    }

    #[inline]
    fn read(input: &mut BinaryReader<'_>, value: &mut Option<Self>) -> Result<(), Refused> {
        ensure(!Self::LITERAL)?;
        let read = Self::read_payload(input)?;
        check_place(&read)?;
        *value = Some(read);
        Ok(())
    }

    #[inline]
    fn required(value: Option<Self>) -> Result<Self, Refused> {
        match value {
            Some(value) => Ok(value),
            None if Self::LITERAL => Self::decode_binary(&mut BinaryReader::new(&[])),
            None => Err(Refused),
        }
    }

    #[inline]
    fn optional(value: Option<Self>) -> Result<Option<Self>, Refused> {
        match value {
            None if Self::LITERAL => Self::decode_binary(&mut BinaryReader::new(&[])).map(Some),
            value => Ok(value),
        }
    }

    #[inline]
    fn write_json(&self, out: &mut Vec<u8>, quoted: &str, depth: Depth) -> Result<(), Refused> {
        check_place(self)?;
        out.extend_from_slice(quoted.as_bytes());
        self.encode_json(out, depth)?;
        out.push(b',');
        Ok(())
    }

    #[inline]
    fn expect_json(input: &mut JsonReader<'_>, quoted: &str, value: &mut Option<Self>) -> Result<(), Refused> {
        if input.take_key(quoted) { Self::read_json(input, value) } else { Ok(()) }
    }

    #[inline]
    fn expect_json_optional(input: &mut JsonReader<'_>, quoted: &str, value: &mut Option<Self>) -> Result<(), Refused> {
        if input.take_key(quoted) { Self::read_json_optional(input, value) } else { Ok(()) }
    }

    #[inline]
    fn read_json(input: &mut JsonReader<'_>, value: &mut Option<Self>) -> Result<(), Refused> {
        ensure(value.is_none())?;
        let read = Self::decode_json(input)?;
        check_place(&read)?;
        *value = Some(read);
        Ok(())
    }

    #[inline]
    fn read_json_optional(input: &mut JsonReader<'_>, value: &mut Option<Self>) -> Result<(), Refused> {
        ensure(value.is_none())?;
        if !Self::JSON_KINDS.overlaps(Kinds::NULLISH) && input.take_null()? {
            return ensure(!input.strict_null_checks());
        }
        Self::read_json(input, value)
    }

    #[inline]
    fn write_json_member(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        ensure(!self.is_nullish())?;
        self.encode_json(out, depth)
    }

    #[inline]
    fn read_json_member(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        let value = Self::decode_json(input)?;
        ensure(!value.is_nullish())?;
        Ok(value)
    }

    #[inline]
    fn given(value: Option<Self>) -> Result<Self, Refused> {
        value.ok_or(Refused)
    }

    #[inline]
    fn maybe(value: Option<Self>) -> Result<Option<Self>, Refused> {
        Ok(value)
    }
}
