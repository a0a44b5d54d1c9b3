//! The shapes and property names of types that are flattened, known at compile time.

/// How a type joins the struct that it is flattened into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Named properties: `interface Outer extends Base`. TypeScript shows inheritance so.
    Interface,
    /// A union or intersection, which no interface can extend: `{ … } & Base`.
    Members,
    /// A map: the index signature of the outer interface.
    Index,
}

/// The names of the properties of a type: its own, and those of what is flattened into it.
#[derive(Debug)]
pub struct Names {
    /// Own names.
    pub own: &'static [&'static str],
    /// The flattened types.
    pub inner: &'static [&'static Names],
}

impl Names {
    /// No names.
    pub const NONE: Self = Self { own: &[], inner: &[] };

    /// Whether a name is among them.
    #[must_use]
    pub const fn contains(&self, name: &str) -> bool {
        let mut at = 0;
        while at < self.own.len() {
            if same(self.own[at].as_bytes(), name.as_bytes()) {
                return true;
            }
            at += 1;
        }
        at = 0;
        while at < self.inner.len() {
            if self.inner[at].contains(name) {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Whether both have some name.
    #[must_use]
    pub const fn overlaps(&self, other: &Self) -> bool {
        let mut at = 0;
        while at < self.own.len() {
            if other.contains(self.own[at]) {
                return true;
            }
            at += 1;
        }
        at = 0;
        while at < self.inner.len() {
            if self.inner[at].overlaps(other) {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Whether any two of several have some name.
    #[must_use]
    pub const fn any_overlap(several: &[&Self]) -> bool {
        let mut at = 0;
        while at < several.len() {
            let mut other = at + 1;
            while other < several.len() {
                if several[at].overlaps(several[other]) {
                    return true;
                }
                other += 1;
            }
            at += 1;
        }
        false
    }
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// The shape of a struct into which these are flattened.
#[must_use]
pub const fn shape_with(flattened: &[Shape]) -> Shape {
    let mut at = 0;
    while at < flattened.len() {
        if matches!(flattened[at], Shape::Members) {
            return Shape::Members;
        }
        at += 1;
    }
    Shape::Interface
}

/// Refuses to compile a flattened type that does not go with what stands before it: the
/// own properties and the types flattened before.
///
/// # Panics
/// At compile time, with what to do about it.
pub const fn check_flattened(
    own: &'static [&'static str],
    before: &[(Shape, &'static Names)],
    shape: Shape,
    names: &'static Names,
) {
    let own = Names { own, inner: &[] };
    assert!(!own.overlaps(names), "the flattened type has a property of the same name as one here; `rename` one");
    let mut bases = matches!(shape, Shape::Interface) as usize;
    let mut at = 0;
    while at < before.len() {
        let (other_shape, other) = before[at];
        assert!(!other.overlaps(names), "two flattened types have a property of the same name; `rename` one");
        let is_index = matches!(shape, Shape::Index);
        match other_shape {
            Shape::Index if is_index => panic!("an object has one index signature; flatten one map only"),
            Shape::Index => panic!("a flattened map takes all properties that are left; make it the last field"),
            Shape::Interface => bases += 1,
            Shape::Members => {}
        }
        at += 1;
    }
    assert!(bases <= 9, "TSBuffer allows nine bases; flatten some of these types into one of the others");
}
