//! Maps: objects that have only an index signature.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    hash::{BuildHasher, Hash},
};

use indexmap::IndexMap;
use polywire_schema::{MapKey, array_index};

use super::{
    Codec, Depth, JsonReader, Kinds, Refused,
    derive::{Record, check_place, close_object, ensure, is_plain_key},
};
use crate::{
    binary::{BinaryReader, LengthType, Placeholder, index_tag, write_str, write_varint},
    json::write_string,
};

/// The entries in JavaScript's order: keys like array indices first, ascending.
fn in_order<'m, K: MapKey, T>(
    entries: impl ExactSizeIterator<Item = (&'m K, &'m T)>,
) -> Result<Vec<(Cow<'m, str>, &'m T)>, Refused> {
    let mut ordered = Vec::with_capacity(entries.len());
    let mut indices = 0;
    for (key, value) in entries {
        let key = key.to_key();
        ensure(is_plain_key(&key))?;
        indices += usize::from(array_index(&key).is_some());
        ordered.push((key, value));
    }
    if indices > 0 {
        // Stable: the other keys stay in their order behind them.
        ordered.sort_by_key(|(key, _)| array_index(key).unwrap_or(u32::MAX));
    }
    Ok(ordered)
}

fn encode_binary<'m, K: MapKey, T: Codec>(
    entries: impl ExactSizeIterator<Item = (&'m K, &'m T)>,
    out: &mut Vec<u8>,
    depth: Depth,
) -> Result<(), Refused> {
    ensure(!T::LITERAL)?;
    let depth = depth.deeper()?;
    let entries = in_order(entries)?;
    write_varint(out, entries.len() as u64);
    for (key, value) in entries {
        check_place(value)?;
        write_varint(out, const { index_tag(T::LENGTH_TYPE) });
        let key_at = out.len();
        write_str(out, &key);
        if T::PREFIXED {
            // The length of a value counts its key as well.
            let key_len = out.len() - key_at;
            let length = Placeholder::reserve(out);
            let value_at = out.len();
            value.encode_binary(out, depth)?;
            let len = out.len() - value_at + key_len;
            length.fill(out, len as u64);
        } else {
            value.encode_binary(out, depth)?;
        }
    }
    Ok(())
}

fn encode_json<'m, K: MapKey, T: Codec>(
    entries: impl ExactSizeIterator<Item = (&'m K, &'m T)>,
    out: &mut Vec<u8>,
    depth: Depth,
) -> Result<(), Refused> {
    let depth = depth.deeper()?;
    out.push(b'{');
    for (key, value) in in_order(entries)? {
        check_place(value)?;
        write_string(out, &key);
        out.push(b':');
        value.encode_json(out, depth)?;
        out.push(b',');
    }
    close_object(out);
    Ok(())
}

/// Makes sure that entries come in JavaScript's order, for maps that keep an order.
#[derive(Default)]
struct Order {
    last_index: Option<u32>,
    is_past_indices: bool,
}

impl Order {
    fn check(&mut self, key: &str) -> Result<(), Refused> {
        ensure(is_plain_key(key))?;
        let Some(index) = array_index(key) else {
            self.is_past_indices = true;
            return Ok(());
        };
        ensure(!self.is_past_indices && self.last_index.is_none_or(|last| last < index))?;
        self.last_index = Some(index);
        Ok(())
    }
}

fn decode_binary<K: MapKey, T: Codec>(
    input: &mut BinaryReader<'_>,
    mut insert: impl FnMut(K, T),
) -> Result<(), Refused> {
    ensure(!T::LITERAL)?;
    input.nested(|input| {
        let mut order = Order::default();
        for _ in 0..input.read_varint()? {
            ensure(input.eat_varint(const { index_tag(T::LENGTH_TYPE) }))?;
            let key = std::str::from_utf8(input.read_bytes()?).map_err(|_| Refused)?;
            order.check(key)?;
            if T::PREFIXED {
                input.read_varint()?;
            }
            let value = T::decode_binary(input)?;
            check_place(&value)?;
            insert(K::from_key(key).ok_or(Refused)?, value);
        }
        Ok(())
    })
}

fn decode_json<K: MapKey, T: Codec>(input: &mut JsonReader<'_>, mut insert: impl FnMut(K, T)) -> Result<(), Refused> {
    let mut order = Order::default();
    input.begin_object()?;
    while let Some(key) = input.next_key()? {
        order.check(key)?;
        let value = T::decode_json(input)?;
        check_place(&value)?;
        insert(K::from_key(key).ok_or(Refused)?, value);
    }
    Ok(())
}

macro_rules! maps {
    ($($map:ident<K: $($bound:ident)+ $(, $hasher:ident)?>),*) => {$(
        impl<K, T, $($hasher)?> Codec for $map<K, T, $($hasher)?>
        where
            K: MapKey $(+ $bound)+,
            T: Codec,
            $($hasher: BuildHasher + Default + Send + 'static,)?
        {
            const LENGTH_TYPE: LengthType = LengthType::IdBlock;
            const KINDS: Kinds = Kinds::OBJECT;

            fn encode_binary(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
                encode_binary(self.iter(), out, depth)
            }

            fn decode_binary(input: &mut BinaryReader<'_>) -> Result<Self, Refused> {
                let mut map = Self::default();
                decode_binary(input, |key, value| {
                    map.insert(key, value);
                })?;
                Ok(map)
            }

            fn encode_json(&self, out: &mut Vec<u8>, depth: Depth) -> Result<(), Refused> {
                encode_json(self.iter(), out, depth)
            }

            fn decode_json(input: &mut JsonReader<'_>) -> Result<Self, Refused> {
                let mut map = Self::default();
                decode_json(input, |key, value| {
                    map.insert(key, value);
                })?;
                Ok(map)
            }
        }

        /// Flattened, a map is an index signature beside properties: for the dynamic path.
        impl<K, T, $($hasher)?> Record for $map<K, T, $($hasher)?>
        where
            K: MapKey $(+ $bound)+,
            T: Codec,
            $($hasher: BuildHasher + Default + Send + 'static,)?
        {
            const FAST: bool = false;

            fn blocks(&self) -> u64 {
                0
            }

            fn write_blocks(&self, _: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                Err(Refused)
            }

            fn write_properties(&self, _: &mut Vec<u8>, _: Depth) -> Result<(), Refused> {
                Err(Refused)
            }
        }
    )*};
}

maps!(BTreeMap<K: Ord>, HashMap<K: Eq Hash, S>, IndexMap<K: Eq Hash, S>);
