//! What a value can be, as far as that tells the members of a union apart.

use crate::json::JsonKind;

/// A set of kinds of JavaScript values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// `null` and `undefined`, which are not told apart.
    pub const NULLISH: Self = Self(1);
    /// Booleans.
    pub const BOOLEAN: Self = Self(2);
    /// Numbers.
    pub const NUMBER: Self = Self(4);
    /// Strings.
    pub const STRING: Self = Self(8);
    /// Arrays.
    pub const ARRAY: Self = Self(16);
    /// Objects of any class. Also a `Date` or a typed array satisfies an object type
    /// whose properties are all optional.
    pub const OBJECT: Self = Self(32);
    /// Anything.
    pub const ANY: Self = Self(63);

    /// What is in either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether something is in both.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether a JSON value is of one of the kinds.
    #[must_use]
    #[inline]
    pub const fn has_json(self, kind: JsonKind) -> bool {
        self.overlaps(match kind {
            JsonKind::Null => Self::NULLISH,
            JsonKind::Bool => Self::BOOLEAN,
            JsonKind::Number => Self::NUMBER,
            JsonKind::String => Self::STRING,
            JsonKind::Array => Self::ARRAY,
            JsonKind::Object => Self::OBJECT,
        })
    }

    /// What is in any of several.
    #[must_use]
    pub const fn any(several: &[Self]) -> Self {
        let mut all = Self(0);
        let mut at = 0;
        while at < several.len() {
            all = all.or(several[at]);
            at += 1;
        }
        all
    }

    /// Whether nothing is in two of several: a value tells which member of a union it is.
    #[must_use]
    pub const fn are_disjoint(several: &[Self]) -> bool {
        let mut seen = Self(0);
        let mut at = 0;
        while at < several.len() {
            if seen.overlaps(several[at]) {
                return false;
            }
            seen = seen.or(several[at]);
            at += 1;
        }
        true
    }
}
