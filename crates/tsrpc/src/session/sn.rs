//! Serial numbers: how an answer finds its call.
//!
//! Depends on nothing.

/// The serial number that a call came with, as its answer carries it back.
///
/// Published clients count 1, 2, …; a text frame may hold any JSON value there,
/// which is echoed as `JSON.stringify` writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Sn {
    /// None: calls over HTTP, messages, and binary calls that cannot be matched.
    #[default]
    None,
    /// JSON's `null`: answered without name and number in text, with the service id alone in binary.
    Null,
    /// A number. Exact: text frames with numbers beyond 15 digits are [`Sn::Json`].
    Number(u64),
    /// Any other JSON value, as text. A binary answer cannot carry it.
    Json(Box<str>),
}

impl Sn {
    /// The number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Number(sn) => Some(*sn),
            _ => None,
        }
    }

    /// Whether the call came with anything in the place of the serial number.
    #[must_use]
    pub fn is_some(&self) -> bool {
        *self != Self::None
    }
}

impl From<u64> for Sn {
    fn from(sn: u64) -> Self {
        Self::Number(sn)
    }
}

impl From<Option<u64>> for Sn {
    fn from(sn: Option<u64>) -> Self {
        sn.map_or(Self::None, Self::Number)
    }
}

impl std::fmt::Display for Sn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("undefined"),
            Self::Null => f.write_str("null"),
            Self::Number(sn) => write!(f, "{sn}"),
            Self::Json(text) => f.write_str(text),
        }
    }
}
