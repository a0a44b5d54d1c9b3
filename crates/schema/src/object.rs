//! Objects as JavaScript has them: string keys in JavaScript's order.
//!
//! Depends on [`Value`] only. Invariant: iteration visits integer-like keys
//! first, ascending, then the others in the order they were inserted.

use std::fmt;

use indexmap::IndexMap;

use crate::Value;

/// Up to how many properties looking a key up compares them one by one: that
/// is faster than hashing a key, and takes no second allocation.
const FEW: usize = 12;

/// A plain object: own enumerable properties, keyed by string.
///
/// Setting a key that is already there keeps its place. Lookup compares the keys
/// of small objects and hashes those of others; iteration costs a sort only
/// where an object has integer-like keys.
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
#[derive(Clone, Default)]
pub struct Object {
    entries: Entries,
    integer_keys: u32,
}

type Entry = (Box<str>, Value);

/// Properties in the order they were inserted.
#[derive(Clone)]
enum Entries {
    /// At most [`FEW`].
    Few(Vec<Entry>),
    Many(Box<IndexMap<Box<str>, Value>>),
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
        let entries = if properties <= FEW {
            Entries::Few(Vec::with_capacity(properties))
        } else {
            Entries::Many(Box::new(IndexMap::with_capacity(properties)))
        };
        Self { entries, integer_keys: 0 }
    }

    /// The number of properties.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.entries {
            Entries::Few(entries) => entries.len(),
            Entries::Many(map) => map.len(),
        }
    }

    /// Whether there is no property.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a property.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.find(key, 0).map(|(_, value)| value)
    }

    /// The value of a property and its position, found at once where it is `near`.
    ///
    /// Who looks up the properties of a type one after another passes the
    /// position behind the last one: values come in the order of their types.
    #[must_use]
    pub fn find(&self, key: &str, near: usize) -> Option<(usize, &Value)> {
        match &self.entries {
            Entries::Few(entries) => {
                let is_near = entries.get(near).is_some_and(|(name, _)| **name == *key);
                let at = if is_near { near } else { position(entries, key)? };
                Some((at, &entries[at].1))
            }
            Entries::Many(map) => map.get_full(key).map(|(at, _, value)| (at, value)),
        }
    }

    /// The value of a property, to change it in place.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        match &mut self.entries {
            Entries::Few(entries) => position(entries, key).map(|at| &mut entries[at].1),
            Entries::Many(map) => map.get_mut(key),
        }
    }

    /// Whether the property exists (also when it holds [`Value::Undefined`]).
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a property; a new one comes last (or among the integer-like keys).
    pub fn set(&mut self, key: impl Into<Box<str>>, value: Value) {
        let key = key.into();
        let is_integer = array_index(&key).is_some();
        let is_new = match &mut self.entries {
            Entries::Few(entries) => match position(entries, &key) {
                Some(at) => {
                    entries[at].1 = value;
                    false
                }
                None if entries.len() < FEW => {
                    entries.push((key, value));
                    true
                }
                None => {
                    let map = entries.drain(..).chain([(key, value)]).collect();
                    self.entries = Entries::Many(Box::new(map));
                    true
                }
            },
            Entries::Many(map) => map.insert(key, value).is_none(),
        };
        self.integer_keys += u32::from(is_new && is_integer);
    }

    /// Takes a property out, keeping the order of the others.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let value = match &mut self.entries {
            Entries::Few(entries) => entries.remove(position(entries, key)?).1,
            Entries::Many(map) => map.shift_remove(key)?,
        };
        self.integer_keys -= u32::from(array_index(key).is_some());
        Some(value)
    }

    /// Takes out the properties whose key does not pass, keeping the order of the others.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        let integer_keys = &mut self.integer_keys;
        let mut keep = |key: &str| {
            let kept = keep(key);
            *integer_keys -= u32::from(!kept && array_index(key).is_some());
            kept
        };
        match &mut self.entries {
            Entries::Few(entries) => entries.retain(|(key, _)| keep(key)),
            Entries::Many(map) => map.retain(|key, _| keep(key)),
        }
    }

    /// The properties in JavaScript's order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.order().map(|at| {
            let (key, value) = match &self.entries {
                Entries::Few(entries) => (&entries[at].0, &entries[at].1),
                // `order` yields positions below `len` only.
                Entries::Many(map) => map.get_index(at).expect("a position in the map"),
            };
            (&**key, value)
        })
    }

    /// The keys in JavaScript's order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(key, _)| key)
    }

    fn order(&self) -> Order {
        let len = self.len();
        if self.integer_keys == 0 {
            return Order::Insertion(0..len);
        }
        let mut order: Vec<usize> = (0..len).collect();
        let rank = |at: &usize| {
            let key = match &self.entries {
                Entries::Few(entries) => Some(&entries[*at].0),
                Entries::Many(map) => map.get_index(*at).map(|(key, _)| key),
            };
            key.and_then(|key| array_index(key)).unwrap_or(u32::MAX)
        };
        // Stable: keys that are not array indices keep their order behind the others.
        order.sort_by_cached_key(rank);
        Order::Sorted(order.into_iter())
    }
}

fn position(entries: &[Entry], key: &str) -> Option<usize> {
    entries.iter().position(|(name, _)| **name == *key)
}

impl Default for Entries {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

/// Equal properties, in whatever order.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self
                .iter()
                .zip(0..)
                .all(|((key, value), at)| other.find(key, at).is_some_and(|(_, other_value)| value == other_value))
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
    type Item = Entry;
    type IntoIter = std::vec::IntoIter<Entry>;

    fn into_iter(self) -> Self::IntoIter {
        let mut entries: Vec<Entry> = match self.entries {
            Entries::Few(entries) => entries,
            Entries::Many(map) => map.into_iter().collect(),
        };
        if self.integer_keys > 0 {
            // Stable: keys that are not array indices keep their order behind the others.
            entries.sort_by_key(|(key, _)| array_index(key).unwrap_or(u32::MAX));
        }
        entries.into_iter()
    }
}

impl<K: Into<Box<str>>> FromIterator<(K, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        let mut object = Self::with_capacity(entries.size_hint().0);
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

    #[test]
    fn objects_with_many_properties_behave_like_small_ones() {
        let key = |at: usize| if at.is_multiple_of(5) { at.to_string() } else { format!("key{at}") };
        for len in [FEW - 1, FEW, FEW + 1, 10 * FEW] {
            let mut object: Object = (0..len).map(|at| (key(at), Value::from(at as u32))).collect();
            object.set(key(1), Value::Null);
            assert_eq!((object.len(), object.get(&key(1)), object.get("no")), (len, Some(&Value::Null), None));
            let (integers, others): (Vec<usize>, Vec<usize>) = (0..len).partition(|at| at.is_multiple_of(5));
            let expected: Vec<String> = integers.iter().chain(&others).map(|at| key(*at)).collect();
            assert_eq!(object.keys().collect::<Vec<_>>(), expected);
            let backwards: Object = object.clone().into_iter().rev().collect();
            assert_eq!(object, backwards);
            object.retain(|key| key.starts_with('k'));
            object.remove(&key(2));
            let expected: Vec<String> = others.iter().filter(|at| **at != 2).map(|at| key(*at)).collect();
            assert_eq!(object.keys().collect::<Vec<_>>(), expected);
            assert_ne!(object, backwards);
        }
    }

    #[test]
    fn a_value_takes_48_bytes() {
        assert_eq!(std::mem::size_of::<Object>(), 32);
        assert_eq!(std::mem::size_of::<Value>(), 48);
    }
}
