//! Objects as JavaScript has them: string keys in JavaScript's order.
//!
//! Depends on [`Value`] only. Invariant: iteration visits integer-like keys
//! first, ascending, then the others in the order they were inserted.

use std::fmt;

use indexmap::IndexMap;

use crate::Value;

/// A plain object: own enumerable properties, keyed by string.
///
/// Setting a key that is already there keeps its place. Lookup is by hash;
/// iteration costs a sort only where an object has integer-like keys.
///
/// ```
/// use polywire_schema::{Object, Value};
///
/// let mut object = Object::new();
/// object.set("b", Value::from(1.0));
/// object.set("10", Value::from(2.0));
/// object.set("2", Value::from(3.0));
/// let keys: Vec<&str> = object.keys().collect();
/// assert_eq!(keys, ["2", "10", "b"]);
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Object {
    map: IndexMap<Box<str>, Value>,
    integer_keys: usize,
}

impl Object {
    /// An empty object.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty object with room for some properties.
    #[must_use]
    pub fn with_capacity(properties: usize) -> Self {
        Self { map: IndexMap::with_capacity(properties), ..Self::default() }
    }

    /// The number of properties.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there is no property.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The value of a property.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.map.get(key)
    }

    /// The value of a property, to change it in place.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.map.get_mut(key)
    }

    /// Whether the property exists (also when it holds [`Value::Undefined`]).
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// Sets a property; a new one comes last (or among the integer-like keys).
    pub fn set(&mut self, key: impl Into<Box<str>>, value: Value) {
        let key = key.into();
        let is_integer = array_index(&key).is_some();
        if self.map.insert(key, value).is_none() && is_integer {
            self.integer_keys += 1;
        }
    }

    /// Takes a property out, keeping the order of the others.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let value = self.map.shift_remove(key)?;
        if array_index(key).is_some() {
            self.integer_keys -= 1;
        }
        Some(value)
    }

    /// Takes out the properties whose key does not pass, keeping the order of the others.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        let integer_keys = &mut self.integer_keys;
        self.map.retain(|key, _| {
            let kept = keep(key);
            if !kept && array_index(key).is_some() {
                *integer_keys -= 1;
            }
            kept
        });
    }

    /// The properties in JavaScript's order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.order().map(|at| {
            // `order` yields positions below `len` only.
            let (key, value) = self.map.get_index(at).expect("a position in the map");
            (&**key, value)
        })
    }

    /// The keys in JavaScript's order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(key, _)| key)
    }

    fn order(&self) -> impl Iterator<Item = usize> + use<> {
        let len = self.map.len();
        if self.integer_keys == 0 {
            return Order::Insertion(0..len);
        }
        let mut integers: Vec<(u32, usize)> = Vec::with_capacity(self.integer_keys);
        let mut others = Vec::with_capacity(len - self.integer_keys);
        for (at, key) in self.map.keys().enumerate() {
            match array_index(key) {
                Some(index) => integers.push((index, at)),
                None => others.push(at),
            }
        }
        integers.sort_unstable();
        let sorted: Vec<usize> = integers.into_iter().map(|(_, at)| at).chain(others).collect();
        Order::Sorted(sorted.into_iter())
    }
}

enum Order {
    Insertion(std::ops::Range<usize>),
    Sorted(std::vec::IntoIter<usize>),
}

impl Iterator for Order {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        match self {
            Self::Insertion(range) => range.next(),
            Self::Sorted(positions) => positions.next(),
        }
    }
}

/// The array index that a key stands for: the canonical decimal form of 0 … 2³² − 2.
#[must_use]
pub fn array_index(key: &str) -> Option<u32> {
    let bytes = key.as_bytes();
    let canonical = match bytes {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 10 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !canonical {
        return None;
    }
    key.parse().ok().filter(|index| *index != u32::MAX)
}

impl IntoIterator for Object {
    type Item = (Box<str>, Value);
    type IntoIter = std::vec::IntoIter<(Box<str>, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        let mut entries: Vec<(Box<str>, Value)> = self.map.into_iter().collect();
        if self.integer_keys > 0 {
            // Stable: keys that are not array indices keep their order behind the others.
            entries.sort_by_key(|(key, _)| array_index(key).unwrap_or(u32::MAX));
        }
        entries.into_iter()
    }
}

impl<K: Into<Box<str>>> FromIterator<(K, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Self {
        let mut object = Self::new();
        object.extend(entries);
        object
    }
}

impl<K: Into<Box<str>>> Extend<(K, Value)> for Object {
    fn extend<I: IntoIterator<Item = (K, Value)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.set(key, value);
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_array_indices_sort_first() {
        let cases = [
            ("0", Some(0)),
            ("7", Some(7)),
            ("4294967294", Some(4_294_967_294)),
            ("4294967295", None),
            ("99999999999", None),
            ("00", None),
            ("01", None),
            ("-1", None),
            ("1.5", None),
            ("", None),
            ("a", None),
        ];
        for (key, expected) in cases {
            assert_eq!(array_index(key), expected, "{key:?}");
        }
    }

    #[test]
    fn setting_again_keeps_the_place_and_removing_keeps_the_order() {
        let mut object: Object = ["b", "1", "a", "0"].map(|key| (key, Value::Null)).into_iter().collect();
        object.set("b", Value::Bool(true));
        assert_eq!(object.keys().collect::<Vec<_>>(), ["0", "1", "b", "a"]);
        object.remove("1");
        object.set("7", Value::Null);
        object.retain(|key| key != "7");
        assert_eq!(object.keys().collect::<Vec<_>>(), ["0", "b", "a"]);
        let owned: Vec<_> = object.into_iter().map(|(key, _)| key).collect();
        assert_eq!(owned, ["0".into(), "b".into(), Box::<str>::from("a")]);
    }
}
