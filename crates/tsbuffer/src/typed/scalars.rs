//! Booleans, numbers and strings.

use std::sync::Arc;

use polywire_schema::{JsString, SAFE_INTEGER, write_integer};

use super::{Codec, Depth, JsonReader, Kinds, Refused};
use crate::{
    binary::{BinaryReader, LengthType, write_bool, write_double, write_str, write_varint, write_zigzag},
    json::{write_number, write_string},
};

impl Codec for bool {
    const LENGTH_TYPE: LengthType = LengthType::Varint;
    const KINDS: Kinds = Kinds::BOOLEAN;

    #[inline]
    fn encode_binary(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
        write_bool(out, *self);
        Ok(())
    }

    #[inline]
    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        Ok(input.read_bool()?)
    }

    #[inline]
    fn encode_json(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
        Ok(())
    }

    #[inline]
    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        input.bool()
    }
}

macro_rules! floats {
    ($($float:ty),*) => {$(
        impl Codec for $float {
            const LENGTH_TYPE: LengthType = LengthType::Bit64;
            const KINDS: Kinds = Kinds::NUMBER;

            #[inline]
            fn encode_binary(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                write_double(out, (*self).into());
                Ok(())
            }

            #[inline]
            fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
                Ok(input.read_double()? as Self)
            }

            #[inline]
            fn encode_json(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                write_number(out, (*self).into());
                Ok(())
            }

            #[inline]
            fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
                input.number().map(|number| number as Self)
            }
        }
    )*};
}

floats!(f64, f32);

/// Within what JavaScript holds exactly. Always, for the integers up to 32 bits.
#[inline]
fn safe_signed(number: i64) -> Result<i64, Refused> {
    if number.unsigned_abs() <= SAFE_INTEGER { Ok(number) } else { Err(Refused) }
}

macro_rules! integers {
    ($write:expr, $read:expr, $wire:ty: $($integer:ty),*) => {$(
        impl Codec for $integer {
            const LENGTH_TYPE: LengthType = LengthType::Varint;
            const KINDS: Kinds = Kinds::NUMBER;

            #[inline]
            fn encode_binary(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                let number = safe_signed(i64::try_from(*self).map_err(|_| Refused)?)?;
                $write(out, number as $wire);
                Ok(())
            }

            #[inline]
            fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
                let number: $wire = $read(input)?;
                let number = safe_signed(i64::try_from(number).map_err(|_| Refused)?)?;
                Self::try_from(number).map_err(|_| Refused)
            }

            #[inline]
            fn encode_json(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                write_integer(out, safe_signed(i64::try_from(*self).map_err(|_| Refused)?)?);
                Ok(())
            }

            #[inline]
            fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
                Self::try_from(input.integer()?).map_err(|_| Refused)
            }
        }
    )*};
}

integers!(write_zigzag, BinaryReader::read_zigzag, i64: i8, i16, i32, i64, isize);
integers!(write_varint, BinaryReader::read_varint, u64: u8, u16, u32, u64, usize);

/// Where it is not UTF-8, the dynamic path puts U+FFFD.
#[inline]
fn read_text<'a>(input: &mut BinaryReader<'a>) -> Result<&'a str, Refused> {
    std::str::from_utf8(input.read_bytes()?).map_err(|_| Refused)
}

macro_rules! strings {
    ($($string:ty),*) => {$(
        impl Codec for $string {
            const LENGTH_TYPE: LengthType = LengthType::LengthDelimited;
            const KINDS: Kinds = Kinds::STRING;

            #[inline]
            fn encode_binary(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                write_str(out, self);
                Ok(())
            }

            #[inline]
            fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
                read_text(input).map(Self::from)
            }

            #[inline]
            fn encode_json(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                write_string(out, self);
                Ok(())
            }

            #[inline]
            fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
                input.string().map(Self::from)
            }
        }
    )*};
}

strings!(String, Box<str>, Arc<str>);

/// Strings with lone surrogates take the dynamic path.
impl Codec for JsString {
    const LENGTH_TYPE: LengthType = LengthType::LengthDelimited;
    const KINDS: Kinds = Kinds::STRING;

    fn encode_binary(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
        write_str(out, self.as_str().ok_or(Refused)?);
        Ok(())
    }

    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        read_text(input).map(Self::from)
    }

    fn encode_json(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
        write_string(out, self.as_str().ok_or(Refused)?);
        Ok(())
    }

    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        input.string().map(|text| Self::from(text.into_owned()))
    }
}
