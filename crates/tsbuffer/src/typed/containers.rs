//! Arrays, pointers and the empty object.

use std::sync::Arc;

use super::{
    Codec, Depth, JsonReader, Kinds, Refused,
    derive::{ensure, skip_properties},
};
use crate::binary::{BinaryReader, LengthType, write_varint};

impl<T: Codec> Codec for Vec<T> {
    const LENGTH_TYPE: LengthType = LengthType::LengthDelimited;
    const PREFIXED: bool = true;
    const KINDS: Kinds = Kinds::ARRAY;

    fn encode_binary(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        let depth = depth.deeper()?;
        write_varint(out, self.len() as u64);
        self.iter().try_for_each(|element| element.encode_binary(out, depth))
    }

    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        input.nested(|input| {
            let count = if T::LITERAL { input.read_zero_width_count()?.into() } else { input.read_count()? };
            let mut elements = Self::with_capacity(input.capacity_for::<T>(count));
            for _ in 0..count {
                elements.push(T::decode_binary(input)?);
            }
            Ok(elements)
        })
    }

    fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        let depth = depth.deeper()?;
        out.push(b'[');
        for (at, element) in self.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            element.encode_json(out, depth)?;
        }
        out.push(b']');
        Ok(())
    }

    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        let mut elements = Self::new();
        input.begin_array()?;
        while input.next_element()? {
            elements.push(T::decode_json(input)?);
        }
        Ok(elements)
    }
}

macro_rules! pointers {
    ($($pointer:ident $(+ $sync:ident)?),*) => {$(
        impl<T: Codec $(+ $sync)?> Codec for $pointer<T> {
            const LENGTH_TYPE: LengthType = T::LENGTH_TYPE;
            const PREFIXED: bool = T::PREFIXED;
            const LITERAL: bool = T::LITERAL;
            const NULL_IN_PLACE: bool = T::NULL_IN_PLACE;
            const KINDS: Kinds = T::KINDS;
            const JSON_KINDS: Kinds = T::JSON_KINDS;

            #[inline]
            fn is_nullish(&self) -> bool {
                T::is_nullish(self)
            }

            #[inline]
            fn encode_binary(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
                T::encode_binary(self, out, depth)
            }

            #[inline]
            fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
                T::decode_binary(input).map(Self::new)
            }

            #[inline]
            fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
                T::encode_json(self, out, depth)
            }

            #[inline]
            fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
                T::decode_json(input).map(Self::new)
            }
        }
    )*};
}

pointers!(Box, Arc + Sync);

impl Codec for () {
    const LENGTH_TYPE: LengthType = LengthType::IdBlock;
    const KINDS: Kinds = Kinds::OBJECT;

    #[inline]
    fn encode_binary(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        out.push(0);
        depth.deeper().map(drop)
    }

    #[inline]
    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        input.nested(|input| ensure(input.eat_varint(0)))
    }

    #[inline]
    fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        out.extend_from_slice(b"{}");
        depth.deeper().map(drop)
    }

    #[inline]
    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        input.begin_object()?;
        skip_properties(input)
    }
}
