//! Random type sets: every kind of reference §2, nested and recursive.
//!
//! Depends on the type model only. A type here is one that the published
//! generator could have written: references lead to something, ids are unique
//! within their type, bases and mapped types are over object types.

use indexmap::IndexSet;
use polywire_schema::{
    BufferKind, EnumMember, EnumValue, IndexSignature, Interface, KeyType, Literal, Member, Property, Scalar, Type,
    TypeSet,
};

use super::Rng;

/// Property names: few, so that bases, members and mapped types meet in them.
const NAMES: [&str; 12] = ["a", "b", "c", "d", "k", "t", "10", "2", "long name", "é中", "A", "x"];

/// Rare, but they happen. Not among them: what objects and typed arrays inherit (`constructor`,
/// `length`), which the published package takes for their own (reference §15); the vectors have those.
const ODD_NAMES: [&str; 2] = ["", "$"];

const OBJECT_IDS: [&str; 4] = ["?mongodb/ObjectId", "?mongodb/ObjectID", "?bson/ObjectId", "?bson/ObjectID"];

/// How deep a type is nested in itself, references aside.
const DEPTH: usize = 4;

/// About how many types a set consists of, those within others counted.
const SIZE: usize = 40;

/// A set of one to five types that may refer to each other; the first is the one to test.
///
/// Some are such as TypeScript would refuse: the published generator does not look.
#[must_use]
pub fn random_types(rng: &mut Rng) -> TypeSet {
    build(rng, Soundness::Any)
}

/// As [`random_types`], but TypeScript would take them: an interface repeats no
/// property of its bases, and an index signature takes all properties beside it.
#[must_use]
pub fn random_sound_types(rng: &mut Rng) -> TypeSet {
    build(rng, Soundness::Sound)
}

#[derive(Clone, Copy, PartialEq)]
enum Soundness {
    Sound,
    Any,
}

fn build(rng: &mut Rng, soundness: Soundness) -> TypeSet {
    let count = rng.within(1..=5);
    let size = rng.within(1..=SIZE);
    let mut builder = Builder { rng, set: TypeSet::new(), objects: Vec::new(), left: 0, unions: 0, soundness };
    // From the last to the first: a type refers to those made before it, and object types also to themselves.
    for at in (0..count).rev() {
        let id = format!("m/T{at}");
        builder.left = size / count + 1;
        let is_object = at > 0 && !builder.rng.one_in(3);
        if is_object {
            builder.objects.push(id.clone());
        }
        let ty = if is_object { builder.interface(1, Some(&id)) } else { builder.any_type(0) };
        builder.set.insert(id, ty);
    }
    builder.set.reverse();
    builder.set
}

/// What a mapped type may be over. One over a union is a union, so it is no base of anything.
#[derive(PartialEq)]
enum Over {
    Object,
    ObjectOrUnion,
}

struct Builder<'r> {
    rng: &'r mut Rng,
    set: TypeSet,
    /// Ids of the interfaces made so far, also of the one being made.
    objects: Vec<String>,
    /// How many types the one being made may still consist of.
    left: usize,
    /// How many unions and intersections the type being made is within.
    unions: usize,
    soundness: Soundness,
}

impl Builder<'_> {
    fn any_type(&mut self, depth: usize) -> Type {
        self.left = self.left.saturating_sub(1);
        if depth >= DEPTH || self.left == 0 || (depth > 0 && self.rng.below(100) < 40) {
            return self.leaf();
        }
        let depth = depth + 1;
        match self.rng.below(100) {
            0..18 => Type::Array(Box::new(self.any_type(depth))),
            18..26 => self.tuple(depth),
            26..48 => self.interface(depth, None),
            48..68 => self.union(depth),
            68..75 => self.intersection(depth),
            75..80 => self.keyed(depth),
            80..84 => Type::NonNullable(Box::new(self.any_type(depth))),
            84..95 => self.mapped(depth, Over::ObjectOrUnion),
            _ => self.reference(),
        }
    }

    fn leaf(&mut self) -> Type {
        match self.rng.below(100) {
            0..10 => Type::Boolean,
            10..22 => Type::Number(Scalar::Double),
            22..24 => Type::Number(Scalar::ExplicitDouble),
            24..32 => Type::Number(Scalar::Int),
            32..40 => Type::Number(Scalar::Uint),
            40..56 => Type::String,
            56..62 => Type::Date,
            62..68 => Type::Buffer(self.buffer_kind()),
            68..78 => Type::Literal(self.literal()),
            78..84 => self.enumeration(),
            84..89 => Type::Any,
            89..91 => Type::Object,
            91..94 => Type::Reference((*self.rng.pick(&OBJECT_IDS)).to_owned()),
            _ => self.reference(),
        }
    }

    fn reference(&mut self) -> Type {
        let known: Vec<String> = self.set.keys().chain(&self.objects).cloned().collect();
        if known.is_empty() { Type::String } else { Type::Reference(self.rng.pick(&known).clone()) }
    }

    /// The kinds that both codecs can write: not the two of big integers.
    fn buffer_kind(&mut self) -> BufferKind {
        loop {
            let kind = *self.rng.pick(&BufferKind::ALL);
            if !matches!(kind, BufferKind::BigInt64Array | BufferKind::BigUint64Array) {
                return kind;
            }
        }
    }

    fn literal(&mut self) -> Literal {
        match self.rng.below(10) {
            0 => Literal::Undefined,
            1 => Literal::Null,
            2 => Literal::Bool(self.rng.one_in(2)),
            3 => Literal::Number(*self.rng.pick(&[0.0, 1.0, -1.5, 1e21])),
            _ => Literal::String((*self.rng.pick(&["a", "b", "it's \"quoted\"", "é"])).to_owned()),
        }
    }

    fn enumeration(&mut self) -> Type {
        let values = [
            EnumValue::Number(0.0),
            EnumValue::Number(1.0),
            EnumValue::Number(-3.0),
            EnumValue::Number(2.5),
            EnumValue::String("x".to_owned()),
            EnumValue::String("y".to_owned()),
        ];
        let count = self.rng.within(1..=5);
        let values = self.rng.some_of(&values, count);
        let ids = self.ids(values.len());
        Type::Enum(ids.into_iter().zip(values).map(|(id, value)| EnumMember { id, value }).collect())
    }

    fn tuple(&mut self, depth: usize) -> Type {
        let elements: Vec<Type> = (0..self.rng.within(0..=4)).map(|_| self.any_type(depth)).collect();
        let optional_from = self.rng.one_in(2).then(|| self.rng.below(elements.len() + 1));
        Type::Tuple { elements, optional_from: optional_from.filter(|from| *from < 4) }
    }

    /// An interface; `own_id` is what it may refer to itself by.
    fn interface(&mut self, depth: usize, own_id: Option<&str>) -> Type {
        self.left = self.left.saturating_sub(1);
        let sound = self.soundness == Soundness::Sound || !self.rng.one_in(4);
        let mut interface = Interface::default();
        let mut names = NAMES.to_vec();
        if self.left > 0 && self.rng.one_in(5) {
            for id in self.ids(2) {
                let base = self.object_type(depth, own_id);
                let taken = self.names(&base);
                let clashes = self.has_index(&base) || taken.iter().any(|name| !names.contains(&name.as_str()));
                if id < 9 && !(sound && clashes) && !self.rng.one_in(3) {
                    names.retain(|name| !sound || !taken.iter().any(|other| other == name));
                    interface.extends.push(Member { id, ty: base });
                }
            }
        }
        let count = self.rng.within(0..=5).min(self.left);
        let mut names = self.rng.some_of(&names, count);
        if self.rng.one_in(60) {
            names.push(*self.rng.pick(&ODD_NAMES));
        }
        let ids = self.ids(names.len());
        for (id, name) in ids.into_iter().zip(names) {
            let optional = self.rng.one_in(3);
            let ty = match own_id {
                // Recursion must be able to end.
                Some(own_id) if optional && self.rng.one_in(4) => Type::Reference(own_id.to_owned()),
                Some(own_id) if self.rng.one_in(12) => Type::Array(Box::new(Type::Reference(own_id.to_owned()))),
                _ => self.any_type(depth),
            };
            interface.properties.push(Property { id, name: name.to_owned(), ty, optional });
        }
        if self.rng.one_in(8) {
            let has_bases = !interface.extends.is_empty();
            let ty = match interface.properties.as_mut_slice() {
                [] if !(sound && has_bases) => self.any_type(depth),
                [first, rest @ ..] if sound && !has_bases && self.rng.one_in(2) => {
                    rest.iter_mut().for_each(|property| property.ty = first.ty.clone());
                    first.ty.clone()
                }
                _ if sound => Type::Any,
                _ => self.any_type(depth),
            };
            // In a union, which named types may come to be in, it would refuse the keys of all other members.
            let may_want_numbers =
                interface.properties.is_empty() && !has_bases && self.unions == 0 && own_id.is_none();
            let number_keys = may_want_numbers && self.rng.one_in(2);
            let key = if number_keys { KeyType::Number } else { KeyType::String };
            interface.index = Some(IndexSignature { key, ty: Box::new(ty) });
        }
        Type::Interface(Box::new(interface))
    }

    /// A type that flattens to an interface, other than `own_id`.
    fn object_type(&mut self, depth: usize, own_id: Option<&str>) -> Type {
        let known: Vec<String> = self
            .objects
            .iter()
            .filter(|id| self.set.contains_key(*id) && Some(id.as_str()) != own_id)
            .cloned()
            .collect();
        match self.rng.below(10) {
            0..6 if !known.is_empty() => Type::Reference(self.rng.pick(&known).clone()),
            0..2 if depth < DEPTH && self.left > 0 => self.mapped(depth + 1, Over::Object),
            _ => self.interface(depth + 1, None),
        }
    }

    fn union(&mut self, depth: usize) -> Type {
        let count = self.rng.within(1..=4);
        self.unions += 1;
        let mut types: Vec<Type> = (0..count)
            .map(|_| match self.rng.below(10) {
                0..3 => self.interface(depth, None),
                3..5 => Type::Literal(self.literal()),
                _ => self.any_type(depth),
            })
            .collect();
        self.unions -= 1;
        if self.rng.one_in(3) {
            types.push(Type::Literal(Literal::Null));
        }
        Type::Union(self.members(types))
    }

    fn intersection(&mut self, depth: usize) -> Type {
        let count = self.rng.within(1..=3);
        self.unions += 1;
        let types = (0..count)
            .map(|_| if self.rng.one_in(6) { self.union(depth) } else { self.object_type(depth, None) })
            .collect();
        self.unions -= 1;
        Type::Intersection(self.members(types))
    }

    fn members(&mut self, types: Vec<Type>) -> Vec<Member> {
        let ids = self.ids(types.len());
        ids.into_iter().zip(types).map(|(id, ty)| Member { id, ty }).collect()
    }

    fn keyed(&mut self, depth: usize) -> Type {
        let object = self.object_type(depth, None);
        let names = self.names(&object);
        if names.is_empty() {
            // Its `keyof` is `never`, which no value has.
            return object;
        }
        if self.rng.one_in(2) {
            return Type::Keyof(Box::new(object));
        }
        Type::IndexedAccess { index: self.rng.pick(&names).clone(), object: Box::new(object) }
    }

    fn mapped(&mut self, depth: usize, over: Over) -> Type {
        self.left = self.left.saturating_sub(1);
        let target = if over == Over::ObjectOrUnion && self.rng.one_in(6) {
            let count = self.rng.within(1..=3);
            self.unions += 1;
            let types = (0..count).map(|_| self.object_type(depth, None)).collect();
            self.unions -= 1;
            Type::Union(self.members(types))
        } else {
            self.object_type(depth, None)
        };
        let names: Vec<String> = self.names(&target);
        let count = self.rng.within(0..=3);
        let mut keys = self.rng.some_of(&names, count);
        if self.rng.one_in(10) {
            keys.push("no such key".to_owned());
        }
        let target = Box::new(target);
        match self.rng.below(4) {
            0 => Type::Pick { target, keys },
            1 => Type::Omit { target, keys },
            2 => Type::Partial(target),
            _ => {
                let overwrite = Box::new(self.object_type(depth, None));
                let sound = self.soundness == Soundness::Sound;
                let has_index = self.has_index(&target) || self.has_index(&overwrite);
                if sound && has_index { Type::Partial(target) } else { Type::Overwrite { target, overwrite } }
            }
        }
    }

    /// Property names of an object type, bases and mapped types included.
    fn names(&self, ty: &Type) -> Vec<String> {
        let mut names = IndexSet::new();
        self.collect_names(ty, &mut names);
        names.into_iter().collect()
    }

    fn collect_names(&self, ty: &Type, names: &mut IndexSet<String>) {
        match ty {
            Type::Interface(interface) => {
                names.extend(interface.properties.iter().map(|property| property.name.clone()));
                interface.extends.iter().for_each(|base| self.collect_names(&base.ty, names));
            }
            Type::Reference(id) => {
                if let Some(ty) = self.set.get(id) {
                    self.collect_names(ty, names);
                }
            }
            Type::Pick { target, keys } => {
                let mut of_target = IndexSet::new();
                self.collect_names(target, &mut of_target);
                names.extend(of_target.into_iter().filter(|name| keys.contains(name)));
            }
            Type::Omit { target, keys } => {
                self.collect_names(target, names);
                names.retain(|name| !keys.contains(name));
            }
            Type::Partial(target) => self.collect_names(target, names),
            Type::Overwrite { target, overwrite } => {
                self.collect_names(target, names);
                self.collect_names(overwrite, names);
            }
            Type::Union(members) | Type::Intersection(members) => {
                members.iter().for_each(|member| self.collect_names(&member.ty, names));
            }
            _ => {}
        }
    }

    /// Whether an object type has an index signature, its own or another's.
    fn has_index(&self, ty: &Type) -> bool {
        match ty {
            Type::Interface(interface) => {
                interface.index.is_some() || interface.extends.iter().any(|base| self.has_index(&base.ty))
            }
            Type::Reference(id) => self.set.get(id).is_some_and(|ty| self.has_index(ty)),
            Type::Pick { target, .. } | Type::Omit { target, .. } | Type::Partial(target) => self.has_index(target),
            Type::Overwrite { target, overwrite } => self.has_index(target) || self.has_index(overwrite),
            Type::Union(members) | Type::Intersection(members) => {
                members.iter().any(|member| self.has_index(&member.ty))
            }
            _ => false,
        }
    }

    /// Different ids: mostly 0, 1, 2…, sometimes as a proto that grew has them.
    fn ids(&mut self, count: usize) -> Vec<u32> {
        let gap = if self.rng.one_in(4) { 9 } else { 1 };
        let mut next = 0;
        let mut ids: Vec<u32> = (0..count)
            .map(|_| {
                let id = next;
                next += u32::try_from(self.rng.within(1..=gap)).expect("a small gap");
                id
            })
            .collect();
        if gap > 1 && self.rng.one_in(2) {
            ids.reverse();
        }
        ids
    }
}
