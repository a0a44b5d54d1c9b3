//! Dates, `ObjectId`, `any`, `object` and `T | null`.

use polywire_schema::{Any, AnyObject, DateTime, Nullable, ObjectId, Value};

use super::{
    Codec, Depth, JsonReader, Kinds, Refused,
    derive::{Property, ensure},
};
use crate::{
    binary::{BinaryReader, LengthType, member_tag, write_bytes, write_length_prefixed, write_str, write_varint},
    json::{write_date, write_object_id},
};

impl Codec for DateTime {
    const LENGTH_TYPE: LengthType = LengthType::Varint;
    const KINDS: Kinds = Kinds::OBJECT;
    const JSON_KINDS: Kinds = Kinds::STRING.or(Kinds::NUMBER);

    /// Times before 1970 are in two's complement.
    #[inline]
    fn encode_binary(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
        write_varint(out, self.unix_millis() as u64);
        Ok(())
    }

    #[inline]
    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        Self::from_unix_millis(input.read_varint()? as i64).ok_or(Refused)
    }

    #[inline]
    fn encode_json(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
        write_date(out, *self);
        Ok(())
    }

    #[inline]
    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        input.date()
    }
}

impl Codec for ObjectId {
    const LENGTH_TYPE: LengthType = LengthType::LengthDelimited;
    const KINDS: Kinds = Kinds::OBJECT;
    /// Its class makes an id of almost anything.
    const JSON_KINDS: Kinds = Kinds::ANY;

    #[inline]
    fn encode_binary(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
        write_bytes(out, &self.0);
        Ok(())
    }

    #[inline]
    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        input.read_bytes()?.try_into().map(Self).map_err(|_| Refused)
    }

    #[inline]
    fn encode_json(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
        write_object_id(out, self);
        Ok(())
    }

    #[inline]
    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        input.object_id()
    }
}

impl Codec for Any {
    const LENGTH_TYPE: LengthType = LengthType::LengthDelimited;
    const KINDS: Kinds = Kinds::ANY;

    #[inline]
    fn is_nullish(&self) -> bool {
        self.0.is_nullish()
    }

    fn encode_binary(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
        if self.0.is_undefined() {
            write_str(out, "undefined");
            return Ok(());
        }
        write_length_prefixed(out, |out| self.0.write_json(out)).map(drop).map_err(|_| Refused)
    }

    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        match input.read_bytes()? {
            b"undefined" => Ok(Self(Value::Undefined)),
            text => Value::parse_json(text).map(Self).map_err(|_| Refused),
        }
    }

    fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        match self.0.write_json_within(out, depth.left()) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Refused),
        }
    }

    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        input.value().map(Self)
    }
}

impl Codec for AnyObject {
    const LENGTH_TYPE: LengthType = LengthType::LengthDelimited;
    const KINDS: Kinds = Kinds::ARRAY.or(Kinds::OBJECT);

    fn encode_binary(&self, out: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
        write_length_prefixed(out, |out| Value::write_json(self, out)).map(drop).map_err(|_| Refused)
    }

    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        Value::parse_json(input.read_bytes()?).ok().and_then(Self::new).ok_or(Refused)
    }

    fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        Value::write_json_within(self, out, depth.left()).map(drop).map_err(|_| Refused)
    }

    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        Self::new(input.value()?).ok_or(Refused)
    }
}

/// The member of the union that is null.
const NULL_TAG: u64 = member_tag(1, LengthType::LengthDelimited);

/// Where the other member can be null as well, the dynamic path decides which is.
const fn is_clear(other: Kinds) -> Result<(), Refused> {
    ensure(!other.overlaps(Kinds::NULLISH))
}

impl<T: Codec> Codec for Nullable<T> {
    const LENGTH_TYPE: LengthType = LengthType::IdBlock;
    const NULL_IN_PLACE: bool = true;
    const KINDS: Kinds = T::KINDS.or(Kinds::NULLISH);
    const JSON_KINDS: Kinds = T::JSON_KINDS.or(Kinds::NULLISH);

    #[inline]
    fn is_nullish(&self) -> bool {
        self.0.as_ref().is_none_or(T::is_nullish)
    }

    fn encode_binary(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        is_clear(T::KINDS)?;
        let depth = depth.deeper()?;
        out.push(1);
        match &self.0 {
            Some(value) => value.write_member::<0>(out, depth),
            None => {
                write_varint(out, NULL_TAG);
                Ok(())
            }
        }
    }

    fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
        is_clear(T::KINDS)?;
        input.nested(|input| {
            if input.read_varint()? != 1 {
                return Err(Refused);
            }
            if input.eat_varint(const { member_tag(0, T::LENGTH_TYPE) }) {
                return T::read_member(input).map(|value| Self(Some(value)));
            }
            if input.eat_varint(NULL_TAG) { Ok(Self::NULL) } else { Err(Refused) }
        })
    }

    fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
        is_clear(T::KINDS)?;
        let depth = depth.deeper()?;
        match &self.0 {
            Some(value) => value.encode_json(out, depth),
            None => {
                out.extend_from_slice(b"null");
                Ok(())
            }
        }
    }

    fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
        is_clear(T::KINDS)?;
        input.nested(|input| match input.take_null()? {
            true => is_clear(T::JSON_KINDS).map(|()| Self::NULL),
            false => T::decode_json(input).map(|value| Self(Some(value))),
        })
    }
}
