//! Where in a value a walk stands.
//!
//! Depends on what unions declare only. Invariant: no walk that moves by these
//! steps goes deeper than the limits, so that walks may recurse.

use crate::{MAX_VALUE_DEPTH, declared::Allowed};

/// How many objects, arrays, unions and intersections may be entered at once: a
/// union at every level and some more. Types may nest unions without the value
/// getting deeper, and the stack has an end (2 MiB, also in unoptimised builds).
const MAX_FRAMES: u32 = 2 * MAX_VALUE_DEPTH + 64;

/// A place in a value, with what leads there.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place<'a> {
    /// What the unions around declare, up to the next property.
    pub(crate) around: Option<&'a Allowed<'a>>,
    /// Whether the place is within a union or intersection, be it beyond a property.
    pub(crate) in_union: bool,
    /// How many objects and arrays lead there.
    pub(crate) depth: u32,
    frames: u32,
}

impl<'a> Place<'a> {
    /// At a value that a union somewhere above asks about.
    pub(crate) fn in_union() -> Self {
        Self { in_union: true, ..Self::default() }
    }

    /// In an object or array here; `None` beyond the limits.
    pub(crate) fn within(self) -> Option<Self> {
        let fits = self.depth < MAX_VALUE_DEPTH && self.frames < MAX_FRAMES;
        fits.then_some(Self { depth: self.depth + 1, frames: self.frames + 1, ..self })
    }

    /// A member of the union or intersection here; `None` beyond the limits.
    pub(crate) fn member<'b>(self, allowed: &'b Allowed<'b>) -> Option<Place<'b>> {
        let frames = self.frames + 1;
        (frames <= MAX_FRAMES).then_some(Place { around: Some(allowed), in_union: true, depth: self.depth, frames })
    }

    /// The value of a property: what unions declare ends here.
    pub(crate) fn property(self) -> Place<'static> {
        Place { around: None, in_union: self.in_union, depth: self.depth, frames: self.frames }
    }
}
