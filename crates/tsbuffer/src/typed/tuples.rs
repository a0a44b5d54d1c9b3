//! Tuples, of which the last elements may be missing.

use polywire_schema::Element;

use super::{
    Codec, Depth, JsonReader, Kinds, Refused,
    derive::{check_place, ensure},
};
use crate::binary::{BinaryReader, LengthType, write_varint};

/// An element of a tuple with its codecs: any [`Codec`], or an `Option` of one at the end.
pub trait ElementCodec: Element {
    /// Whether there is something to write.
    ///
    /// # Errors
    /// Where null may not stand there.
    fn is_present(&self) -> Result<bool, Refused>;

    /// Appends the payload of an element that is present.
    ///
    /// # Errors
    /// As [`Codec::encode_binary`].
    fn encode_binary(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused>;

    /// Reads the payload of an element that is present.
    ///
    /// # Errors
    /// As [`Codec::decode_binary`].
    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused>;

    /// Appends the JSON text of an element that is present.
    ///
    /// # Errors
    /// As [`Codec::encode_json`].
    fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused>;

    /// Reads a JSON value.
    ///
    /// # Errors
    /// As [`Codec::decode_json`].
    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused>;

    /// What stands for an element that is missing.
    ///
    /// # Errors
    /// Where there must be one.
    fn missing() -> Result<Self, Refused>;

    /// Its bit in the mask of its tuple.
    ///
    /// # Errors
    /// As [`is_present`](Self::is_present).
    #[doc(hidden)]
    #[inline]
    fn bit(&self, at: u32) -> Result<u64, Refused> {
        self.is_present().map(|present| u64::from(present) << at)
    }

    /// Writes the payload, if it is there.
    ///
    /// # Errors
    /// As [`encode_binary`](Self::encode_binary).
    #[doc(hidden)]
    #[inline]
    fn write(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        if self.is_present()? { self.encode_binary(out, depth) } else { Ok(()) }
    }

    /// Reads the element at a bit of the mask, if it is set.
    ///
    /// # Errors
    /// As [`decode_binary`](Self::decode_binary) and [`missing`](Self::missing).
    #[doc(hidden)]
    #[inline]
    fn read(input: &mut BinaryReader<'_>, mask: u64, at: u32) -> Result<Self, Refused> {
        if mask >> at & 1 == 1 { Self::decode_binary(input) } else { Self::missing() }
    }

    /// Writes the next element of a JSON array.
    ///
    /// # Errors
    /// As [`encode_json`](Self::encode_json).
    #[doc(hidden)]
    #[inline]
    fn write_json(&self, tuple: &mut JsonTupleWriter, out: &mut Vec<u8>) -> Result<(), Refused> {
        if !self.is_present()? {
            tuple.missing += 1;
            return Ok(());
        }
        for _ in 0..std::mem::take(&mut tuple.missing) {
            out.extend_from_slice(b"null,");
        }
        self.encode_json(out, tuple.depth)?;
        out.push(b',');
        Ok(())
    }

    /// Reads the next element of a JSON array.
    ///
    /// # Errors
    /// As [`decode_json`](Self::decode_json) and [`missing`](Self::missing).
    #[doc(hidden)]
    #[inline]
    fn read_json(tuple: &mut JsonTupleReader, input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        tuple.is_open = tuple.is_open && input.next_element()?;
        if tuple.is_open { Self::decode_json(input) } else { Self::missing() }
    }
}

impl<T: Codec> ElementCodec for T {
    #[inline]
    fn is_present(&self) -> Result<bool, Refused> {
        check_place(self).map(|()| true)
    }

    #[inline]
    fn encode_binary(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        T::encode_binary(self, out, depth)
    }

    #[inline]
    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        let value = T::decode_binary(input)?;
        check_place(&value)?;
        Ok(value)
    }

    #[inline]
    fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        T::encode_json(self, out, depth)
    }

    #[inline]
    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        let value = T::decode_json(input)?;
        check_place(&value)?;
        Ok(value)
    }

    fn missing() -> Result<Self, Refused> {
        Err(Refused)
    }
}

impl<T: Codec> ElementCodec for Option<T> {
    #[inline]
    fn is_present(&self) -> Result<bool, Refused> {
        self.as_ref().map_or(Ok(false), ElementCodec::is_present)
    }

    #[inline]
    fn encode_binary(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        self.as_ref().map_or(Ok(()), |value| T::encode_binary(value, out, depth))
    }

    #[inline]
    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        <T as ElementCodec>::decode_binary(input).map(Some)
    }

    #[inline]
    fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        self.as_ref().map_or(Ok(()), |value| T::encode_json(value, out, depth))
    }

    #[inline]
    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        if !T::JSON_KINDS.overlaps(Kinds::NULLISH) && input.take_null()? {
            ensure(!input.strict_null_checks())?;
            return Ok(None);
        }
        <T as ElementCodec>::decode_json(input).map(Some)
    }

    fn missing() -> Result<Self, Refused> {
        Ok(None)
    }
}

/// Whether the mask of a tuple has no bit beyond its elements.
#[must_use]
#[inline]
pub const fn fits(mask: u64, elements: u32) -> bool {
    elements >= u64::BITS || mask >> elements == 0
}

/// Writes the elements of a tuple as a JSON array: missing ones at the end are left out,
/// those before are null.
#[derive(Debug)]
pub struct JsonTupleWriter {
    missing: usize,
    depth: Depth,
}

impl JsonTupleWriter {
    /// Opens the array.
    ///
    /// # Errors
    /// Where nesting is too deep.
    #[inline]
    pub fn begin(out: &mut Vec<u8>, depth: Depth) -> Result<Self, Refused> {
        out.push(b'[');
        Ok(Self { missing: 0, depth: depth.deeper()? })
    }

    /// Closes the array.
    #[inline]
    pub fn end(self, out: &mut Vec<u8>) {
        match out.last_mut() {
            Some(last @ b',') => *last = b']',
            _ => out.push(b']'),
        }
    }
}

/// Reads the elements of a tuple from a JSON array.
#[derive(Debug)]
pub struct JsonTupleReader {
    is_open: bool,
}

impl JsonTupleReader {
    /// Opens the array.
    ///
    /// # Errors
    /// Where there is none.
    #[inline]
    pub fn begin(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        input.begin_array()?;
        Ok(Self { is_open: true })
    }

    /// Closes the array.
    ///
    /// # Errors
    /// Where there are more elements.
    #[inline]
    pub fn end(self, input: &mut JsonReader<'_>) -> Result<(), Refused> {
        ensure(!(self.is_open && input.next_element()?))
    }
}

macro_rules! tuples {
    ($($count:literal: $($name:ident $at:tt),+;)*) => {$(
        impl<$($name: ElementCodec),+> Codec for ($($name,)+) {
            const LENGTH_TYPE: LengthType = LengthType::LengthDelimited;
            const PREFIXED: bool = true;
            const KINDS: Kinds = Kinds::ARRAY;

            fn encode_binary(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
                let depth = depth.deeper()?;
                write_varint(out, $(ElementCodec::bit(&self.$at, $at)?)|+);
                $(ElementCodec::write(&self.$at, out, depth)?;)+
                Ok(())
            }

            fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
                input.nested(|input| {
                    let mask = input.read_varint()?;
                    ensure(fits(mask, $count))?;
                    Ok(($(<$name as ElementCodec>::read(input, mask, $at)?,)+))
                })
            }

            fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
                let mut tuple = JsonTupleWriter::begin(out, depth)?;
                $(ElementCodec::write_json(&self.$at, &mut tuple, out)?;)+
                tuple.end(out);
                Ok(())
            }

            fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
                let mut tuple = JsonTupleReader::begin(input)?;
                let elements = ($(<$name as ElementCodec>::read_json(&mut tuple, input)?,)+);
                tuple.end(input)?;
                Ok(elements)
            }
        }
    )*};
}

tuples! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
    7: A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
    9: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8;
    10: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9;
    11: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10;
    12: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11;
}
