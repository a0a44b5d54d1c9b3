//! The two passes of a check: what they keep of a refusal.
//!
//! Depends on errors and the program only.

use std::sync::Arc;

use crate::{Members, ValidationError, ValidationErrorKind as Kind, Value, text::stringify, union_error};

/// What a pass does where a value is refused.
pub(crate) trait Mode {
    /// What is known of a refusal.
    type Error: Clone;
    /// Whether checks have to come in the published order, so that the first error is the published one.
    const EXPLAINS: bool;

    /// Refuses a value.
    fn refuse(&mut self, kind: impl FnOnce(&mut Texts) -> Kind) -> Self::Error;
    /// Refuses a value that no member of a union accepts; `found` is the name of its type.
    fn refuse_union(&mut self, value: &Value, found: &'static str, errors: Vec<Self::Error>) -> Self::Error;
    /// The same refusal, seen from the object or array around the value.
    fn within(error: Self::Error, segment: impl FnOnce() -> String) -> Self::Error;
    /// Whether no other member of a union needs to be tried.
    fn is_final(error: &Self::Error) -> bool;
    /// The members of a union to try, by position.
    fn members<'a>(members: &'a Members, value: &Value) -> impl Iterator<Item = usize> + use<'a, Self>;
}

/// The fast pass: says whether.
pub(crate) struct Accept;

impl Mode for Accept {
    type Error = ();
    const EXPLAINS: bool = false;

    fn refuse(&mut self, _: impl FnOnce(&mut Texts) -> Kind) {}

    fn refuse_union(&mut self, _: &Value, _: &'static str, _: Vec<()>) {}

    fn within((): (), _: impl FnOnce() -> String) {}

    fn is_final((): &()) -> bool {
        false
    }

    fn members<'a>(members: &'a Members, value: &Value) -> impl Iterator<Item = usize> + use<'a> {
        members.candidates(value)
    }
}

/// The slow pass: says why not.
#[derive(Default)]
pub(crate) struct Explain {
    texts: Texts,
}

impl Mode for Explain {
    type Error = Box<ValidationError>;
    const EXPLAINS: bool = true;

    fn refuse(&mut self, kind: impl FnOnce(&mut Texts) -> Kind) -> Self::Error {
        Box::new(ValidationError::new(kind(&mut self.texts)))
    }

    fn refuse_union(&mut self, value: &Value, found: &'static str, errors: Vec<Self::Error>) -> Self::Error {
        let errors = errors.into_iter().map(|error| *error).collect();
        Box::new(union_error::choose(found, || self.texts.of(value), errors))
    }

    fn within(mut error: Self::Error, segment: impl FnOnce() -> String) -> Self::Error {
        error.path.insert(0, segment());
        error
    }

    fn is_final(error: &Self::Error) -> bool {
        matches!(error.kind, Kind::Schema(_) | Kind::TooDeep)
    }

    fn members<'a>(members: &'a Members, _: &Value) -> impl Iterator<Item = usize> + use<'a> {
        0..members.len()
    }
}

/// How many bytes the texts of one check may have together. Each level of unions can
/// print all that is further down; what more than this is printed, nobody will read.
const MAX_TEXTS: usize = 4 << 20;

/// Values as texts. That of the last object or array is kept: each literal of a
/// union prints the same value.
#[derive(Default)]
pub(crate) struct Texts {
    last: Option<(usize, Arc<str>)>,
    /// The length of all.
    bytes: usize,
}

impl Texts {
    pub(crate) fn of(&mut self, value: &Value) -> Arc<str> {
        // Addresses tell these apart: objects and arrays live as long as the check.
        let address = std::ptr::from_ref(value).addr();
        if let Some((last, text)) = &self.last
            && *last == address
        {
            return Arc::clone(text);
        }
        if self.bytes >= MAX_TEXTS {
            return "…".into();
        }
        let text: Arc<str> = stringify(value).into();
        self.bytes += text.len();
        if matches!(value, Value::Object(_) | Value::Array(_)) {
            self.last = Some((address, Arc::clone(&text)));
        }
        text
    }
}
