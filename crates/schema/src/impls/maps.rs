//! Maps as index signatures.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    hash::{BuildHasher, Hash},
    sync::Arc,
};

use indexmap::IndexMap;

use super::{SAFE_INTEGER, levels::level};
use crate::{
    IndexSignature, Interface, KeyType, Mismatch, Object, Registry, Schema, Type, Value,
    derive::{Flatten, Names, Shape},
};

/// What may be the key of a map.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a map",
    label = "no key of a JavaScript object",
    note = "keys are strings (`[key: string]: T`) or integers of at most 64 bits (`[key: number]: T`)"
)]
pub trait MapKey: Sized + Send + 'static {
    /// The kind of index signature.
    const KEY: KeyType;

    /// The key as the name of a property.
    fn to_key(&self) -> Cow<'_, str>;

    /// From the name of a property. `None` where it is no such key.
    fn from_key(key: &str) -> Option<Self>;
}

macro_rules! string_keys {
    ($($string:ty),*) => {$(
        impl MapKey for $string {
            const KEY: KeyType = KeyType::String;

            fn to_key(&self) -> Cow<'_, str> {
                Cow::Borrowed(self)
            }

            fn from_key(key: &str) -> Option<Self> {
                Some(key.into())
            }
        }
    )*};
}

string_keys!(String, Box<str>, Arc<str>);

macro_rules! integer_keys {
    ($($integer:ty),*) => {$(
        impl MapKey for $integer {
            const KEY: KeyType = KeyType::Number;

            fn to_key(&self) -> Cow<'_, str> {
                Cow::Owned(self.to_string())
            }

            /// Only the canonical form of an integer that JavaScript holds exactly.
            fn from_key(key: &str) -> Option<Self> {
                let number: Self = key.parse().ok()?;
                let exact = (number as i128).unsigned_abs() <= SAFE_INTEGER.into();
                (exact && number.to_key() == key).then_some(number)
            }
        }
    )*};
}

integer_keys!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

fn describe<K: MapKey, T: Schema>(types: &mut Registry) -> Type {
    let index = IndexSignature { key: K::KEY, ty: Box::new(T::describe(types)) };
    Type::Interface(Box::new(Interface { index: Some(index), ..Interface::default() }))
}

fn entry<K: MapKey, T: Schema>(key: &str, value: Value) -> Result<(K, T), Mismatch> {
    let parsed = K::from_key(key).ok_or_else(|| Mismatch::new(format!("`{key}` is not a valid key.")))?;
    let value = T::from_value(value).map_err(|mismatch| mismatch.within(key))?;
    Ok((parsed, value))
}

macro_rules! maps {
    ($($map:ident<K: $($bound:ident)+ $(, $hasher:ident)?>),*) => {$(
        /// `{ [key: …]: T }`.
        impl<K, T, $($hasher)?> Schema for $map<K, T, $($hasher)?>
        where
            K: MapKey $(+ $bound)+,
            T: Schema,
            $($hasher: BuildHasher + Default + Send + 'static,)?
        {
            fn describe(types: &mut Registry) -> Type {
                describe::<K, T>(types)
            }

            fn to_value(&self) -> Value {
                level(|| {
                    let entries = self.iter().map(|(key, value)| (key.to_key().into_owned(), value.to_value()));
                    Value::Object(entries.collect())
                })
            }

            fn from_value(value: Value) -> Result<Self, Mismatch> {
                let Value::Object(object) = value else { return Err(Mismatch::kind("Object", &value)) };
                // An entry that holds undefined is as good as none.
                let entries = object.into_iter().filter(|(_, value)| !value.is_undefined());
                entries.map(|(key, value)| entry(&key, value)).collect()
            }
        }

        impl<K, T, $($hasher)?> Flatten for $map<K, T, $($hasher)?>
        where
            K: MapKey $(+ $bound)+,
            T: Schema,
            $($hasher: BuildHasher + Default + Send + 'static,)?
        {
            const SHAPE: Shape = Shape::Index;
            const NAMES: &'static Names = &Names::NONE;

            fn put(&self, object: &mut Object) {
                for (key, value) in self {
                    let key = key.to_key();
                    if !object.contains_key(&key) {
                        object.set(key.into_owned(), value.to_value());
                    }
                }
            }

            fn take(object: &mut Object) -> Result<Self, Mismatch> {
                Self::from_value(Value::Object(std::mem::take(object)))
            }
        }
    )*};
}

maps!(BTreeMap<K: Ord>, HashMap<K: Eq Hash, S>, IndexMap<K: Eq Hash, S>);
