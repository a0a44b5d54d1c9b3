//! Why a value was refused: what was expected, what was found, where.
//!
//! Depends on the type model only. Invariant: `Display` gives the text that the
//! published validator gives (reference §6.1), character by character.

use std::{borrow::Cow, fmt, sync::Arc};

use crate::{Literal, MAX_VALUE_DEPTH, SchemaError, text::stringify};

/// How many lines about members of unions one text may hold. Unions within
/// unions can multiply them without end; nobody reads, and no peer compares,
/// that many.
const MAX_MEMBER_LINES: usize = 1_000;

/// A value that its type does not admit.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationError {
    /// Property names and indices from the outermost inwards; empty for the value itself.
    pub path: Vec<String>,
    /// What is wrong there.
    pub kind: ValidationErrorKind,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ValidationErrorKind {
    /// A value of another kind.
    WrongType {
        /// The name of the type, or of several with ` | ` in between.
        expected: Cow<'static, str>,
        /// The name of the type of the value.
        found: &'static str,
    },
    /// A number that the scalar type does not hold.
    WrongScalar {
        /// The number, as JavaScript prints it.
        found: String,
        /// `int`, `uint` or `biguint64`.
        expected: &'static str,
    },
    /// More elements than the tuple has.
    TooManyElements {
        /// How many the value has.
        found: usize,
        /// How many the type has.
        allowed: usize,
    },
    /// A string or number that no member of the enum has.
    NoEnumMember {
        /// The value, as JavaScript prints it.
        found: String,
    },
    /// Another value than the literal.
    WrongLiteral {
        /// The literal.
        expected: Literal,
        /// The value, as the published texts print it.
        found: Arc<str>,
    },
    /// A property (or element) that is missing.
    MissingProperty {
        /// Its name (or index).
        name: String,
    },
    /// A property that no type declares.
    ExcessProperty {
        /// Its name.
        name: String,
    },
    /// A key that is no integer where the index signature wants numbers.
    WrongKey {
        /// The key.
        found: String,
    },
    /// A value of the right type that equals none of the literals.
    NoUnionLiteral {
        /// The value, as the published texts print it.
        found: Arc<str>,
        /// The literals and type names.
        expected: Vec<String>,
    },
    /// A value that no member of the union admits.
    NoUnionMember {
        /// What each member says, in schema order.
        members: Arc<[ValidationError]>,
    },
    /// What a custom type says.
    Custom {
        /// Its text.
        text: String,
    },
    /// The type itself is broken; no value is valid. The text has no path.
    Schema(SchemaError),
    /// More than [`MAX_VALUE_DEPTH`] objects and arrays within each other.
    TooDeep,
    /// So many members of unions within each other match that taking them together has no end.
    TooAmbiguous,
}

impl ValidationError {
    /// An error about the value itself.
    #[must_use]
    pub fn new(kind: ValidationErrorKind) -> Self {
        Self { path: Vec::new(), kind }
    }

    /// The same error seen from the object or array around the value.
    #[must_use]
    pub fn within(mut self, segment: impl Into<String>) -> Self {
        self.path.insert(0, segment.into());
        self
    }

    /// Whether two errors have the same text, at less cost than writing both.
    pub(crate) fn has_text_of(&self, other: &Self) -> bool {
        let same_place = self.path == other.path || self.path.join(".") == other.path.join(".");
        if same_place && self.kind.has_text_of(&other.kind) {
            return true;
        }
        // A custom type may choose the words of another kind.
        let is_custom = |error: &Self| matches!(error.kind, ValidationErrorKind::Custom { .. });
        (is_custom(self) || is_custom(other)) && self.to_string() == other.to_string()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, lines: &mut usize) -> fmt::Result {
        if let ValidationErrorKind::Schema(error) = &self.kind {
            return write!(f, "{error}");
        }
        if !self.path.is_empty() {
            write!(f, "Property `{}`: ", self.path.join("."))?;
        }
        self.kind.write(f, lines)
    }
}

impl ValidationErrorKind {
    fn has_text_of(&self, other: &Self) -> bool {
        match (self, other) {
            // What is remembered of a part is shared, at every level: looking into it twice each time
            // would double the work with each.
            (Self::NoUnionMember { members: a }, Self::NoUnionMember { members: b }) => {
                Arc::ptr_eq(a, b) || (a.len() == b.len() && a.iter().zip(&**b).all(|(a, b)| a.has_text_of(b)))
            }
            _ => self == other,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, lines: &mut usize) -> fmt::Result {
        match self {
            Self::WrongType { expected, found } => {
                write!(f, "Expected type to be `{expected}`, actually `{found}`.")
            }
            Self::WrongScalar { found, expected } => write!(f, "`{found}` is not a valid `{expected}`."),
            Self::TooManyElements { found, allowed } => {
                write!(f, "Value has {found} elements but schema allows only {allowed}.")
            }
            Self::NoEnumMember { found } => write!(f, "`{found}` is not a valid enum member."),
            Self::WrongLiteral { expected, found } => {
                write!(f, "Expected to equals `{}`, actually `{found}`", stringify(&expected.to_value()))
            }
            Self::MissingProperty { name } => write!(f, "Missing required property `{name}`."),
            Self::ExcessProperty { name } => write!(f, "Excess property `{name}` should not exists."),
            Self::WrongKey { found } => {
                write!(f, "`{found}` is not a valid key, the key here should be a `number`.")
            }
            Self::NoUnionLiteral { found, expected } => {
                write!(f, "`{found}` is not matched to `{}`", expected.join(" | "))
            }
            Self::NoUnionMember { members } => {
                f.write_str("No union member matched, detail:\n")?;
                for (at, member) in members.iter().enumerate() {
                    let break_before = if at > 0 { "\n" } else { "" };
                    if *lines == 0 {
                        return write!(f, "{break_before}  …");
                    }
                    *lines -= 1;
                    write!(f, "{break_before}  <{at}> ")?;
                    member.write(f, lines)?;
                }
                Ok(())
            }
            Self::Custom { text } => f.write_str(text),
            Self::Schema(error) => write!(f, "{error}"),
            Self::TooDeep => write!(f, "Value is nested too deeply, at most {MAX_VALUE_DEPTH} levels are accepted."),
            Self::TooAmbiguous => f.write_str("Value matches too many members of unions within each other."),
        }
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &mut MAX_MEMBER_LINES.clone())
    }
}

impl std::error::Error for ValidationError {}
