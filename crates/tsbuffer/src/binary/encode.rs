//! Writing dynamic values (reference §5.3–5.8).
//!
//! Depends on the program, its layout and the primitives. Expects a value that
//! is valid for its type; one that is not is an error or, at worst, bytes that
//! do not decode to it, but never a panic.

mod object;
mod skip;

use polywire_schema::{
    BufferKind, Checker, EnumMember, EnumValue, MemberSlot, Members, Node, NodeId, Program, Scalar, Slot,
    ValidateOptions, Value,
};

use self::skip::{Skip, Writers};
use super::{
    MAX_DEPTH, MAX_FRAMES, MAX_TUPLE_ELEMENTS, Placeholder, integer_bits, write_bool, write_bytes, write_double,
    write_length_prefixed, write_str, write_varint, write_zigzag,
};
use crate::{
    error::EncodeError,
    layout::{Frame, Layout, MembersLayout, Shape},
};

/// Boxed on the way, so that a deep value costs little stack.
type Failed = Box<EncodeError>;

static UNDEFINED: Value = Value::Undefined;

/// How often a value may be written, on average, where much is written. Members of
/// intersections, and of unions that match an array, each write what is inside: within
/// each other they double it with every level.
const MAX_COPIES: u64 = 32;

/// How much may be written in any case.
const PATIENCE: u64 = 100_000;

/// Writes values of the types of one program.
#[derive(Debug)]
pub(crate) struct Encoder<'p, 'v> {
    program: &'p Program,
    layout: &'p Layout,
    /// Tells which members of a union take part; excess checks are off.
    checker: Checker<'p, 'v>,
    strict_null_checks: bool,
    root: &'v Value,
    /// How much has been written, as [`Value::size`] measures.
    written: u64,
    /// How much may be written; not worked out unless it is much.
    most: Option<u64>,
    depth: u32,
    frames: u32,
    /// Sets that are not used at the moment.
    #[expect(clippy::vec_box, reason = "they are lent to frames of the stack, which stay small")]
    spare: Vec<Box<Skip>>,
}

impl<'p, 'v> Encoder<'p, 'v> {
    /// For a value of which all that is written is a part.
    pub(crate) fn new(program: &'p Program, layout: &'p Layout, strict_null_checks: bool, root: &'v Value) -> Self {
        let checks = ValidateOptions { excess_property_checks: false, strict_null_checks };
        let checker = program.checker(checks);
        Self {
            program,
            layout,
            checker,
            strict_null_checks,
            root,
            written: 0,
            most: None,
            depth: 0,
            frames: 0,
            spare: Vec::new(),
        }
    }

    /// Appends the payload of a value.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>, node: NodeId, value: &'v Value) -> Result<(), Failed> {
        self.write_sharing(out, node, value, None)
    }

    /// Appends the payload of a value. What `skip` holds has been written by others
    /// that describe the same value, and what is written here joins it.
    ///
    /// Recursion goes through here for each value within a value: what it needs
    /// of the stack is kept small, by leaving everything else to others.
    fn write_sharing(
        &mut self,
        out: &mut Vec<u8>,
        node: NodeId,
        value: &'v Value,
        skip: Option<&mut Skip>,
    ) -> Result<(), Failed> {
        self.written += value.own_size();
        match self.program.node(node) {
            Node::Interface(_) | Node::Mapped(_) => self.write_object(out, node, value, skip),
            Node::Union(members) => self.write_union(out, node, members, value, skip),
            Node::Intersection(members) => self.write_intersection(out, node, members, value, skip),
            Node::Array(element) => self.write_array(out, element.node, value),
            Node::Tuple { elements, .. } => self.write_tuple(out, elements, value),
            Node::NonNullable(target) => self.write_non_nullable(out, target.node, value, skip),
            other => write_scalar(out, other, value),
        }
    }

    fn write_non_nullable(
        &mut self,
        out: &mut Vec<u8>,
        target: NodeId,
        value: &'v Value,
        skip: Option<&mut Skip>,
    ) -> Result<(), Failed> {
        self.enter_type()?;
        let written = self.write_sharing(out, target, value, skip);
        self.leave_type();
        written
    }

    fn write_array(&mut self, out: &mut Vec<u8>, element: NodeId, value: &'v Value) -> Result<(), Failed> {
        let Value::Array(elements) = value else { return Err(mismatch("Array", value)) };
        self.enter_value()?;
        write_varint(out, elements.len() as u64);
        for value in elements {
            self.write_sharing(out, element, value, None)?;
        }
        self.leave_value();
        Ok(())
    }

    fn write_tuple(&mut self, out: &mut Vec<u8>, elements: &[Slot], value: &'v Value) -> Result<(), Failed> {
        let Value::Array(values) = value else { return Err(mismatch("Array", value)) };
        if elements.len() > MAX_TUPLE_ELEMENTS {
            return Err(EncodeError::TupleTypeTooLong(elements.len()).into());
        }
        // Encoding checks values without excess checks: a tuple may be too long.
        let (values, excess) = values.split_at(values.len().min(elements.len()));
        if excess.iter().any(|value| !value.is_undefined()) {
            return Err(EncodeError::TupleTooLong { elements: elements.len() }.into());
        }
        let present = |(slot, value): (&Slot, &Value)| !self.is_absent(value, slot.codable.null);
        let bits = elements.iter().zip(values).map(present).enumerate();
        let mask = bits.fold(0u64, |mask, (at, present)| mask | u64::from(present) << at);
        self.enter_value()?;
        write_varint(out, mask);
        for (at, (slot, value)) in elements.iter().zip(values).enumerate() {
            if mask >> at & 1 == 1 {
                self.write_sharing(out, slot.node, value, None)?;
            }
        }
        self.leave_value();
        Ok(())
    }

    fn write_union(
        &mut self,
        out: &mut Vec<u8>,
        node: NodeId,
        members: &Members,
        value: &'v Value,
        skip: Option<&mut Skip>,
    ) -> Result<(), Failed> {
        let layout = self.layout.node(node);
        let value = if self.is_absent(value, layout.codable.null) { &UNDEFINED } else { value };
        self.check_written()?;
        self.enter_type()?;
        let mut own: Option<Box<Skip>> = None;
        let skip = skip.unwrap_or_else(|| own.insert(self.new_skip(Writers::Several)));
        let count = Placeholder::reserve(out);
        let mut written = 0;
        let frames = &self.members_layout(node).frames;
        for at in members.candidates(value) {
            written += self.write_if_member(out, &frames[at], members[at].slot, value, skip)?;
            // Only objects can be described by several members at once.
            if written == 1 && !is_object(value) {
                break;
            }
        }
        if written == 0 {
            return Err(EncodeError::NoMember.into());
        }
        count.fill(out, written);
        self.spare.extend(own);
        self.leave_type();
        Ok(())
    }

    /// One where the value is of the member, nothing where it is not.
    fn write_if_member(
        &mut self,
        out: &mut Vec<u8>,
        frame: &Frame,
        slot: Slot,
        value: &'v Value,
        skip: &mut Skip,
    ) -> Result<u64, Failed> {
        if !self.checker.accepts(slot, value) {
            return Ok(0);
        }
        self.write_framed(out, frame, slot.node, value, Some(skip))?;
        Ok(1)
    }

    fn write_intersection(
        &mut self,
        out: &mut Vec<u8>,
        node: NodeId,
        members: &[MemberSlot],
        value: &'v Value,
        skip: Option<&mut Skip>,
    ) -> Result<(), Failed> {
        let inherited = skip.map(|skip| &*skip);
        self.check_written()?;
        self.enter_type()?;
        write_varint(out, members.len() as u64);
        for (member, frame) in members.iter().zip(&self.members_layout(node).frames) {
            // Each member has a copy of its own.
            let mut skip = inherited.map(|skip| Box::new(skip.clone()));
            self.write_framed(out, frame, member.slot.node, value, skip.as_deref_mut())?;
            self.spare.extend(skip);
        }
        self.leave_type();
        Ok(())
    }

    /// A payload behind its tag and, where it has one, its length.
    fn write_framed(
        &mut self,
        out: &mut Vec<u8>,
        frame: &Frame,
        node: NodeId,
        value: &'v Value,
        skip: Option<&mut Skip>,
    ) -> Result<(), Failed> {
        out.extend_from_slice(frame.tag.as_bytes());
        if frame.prefixed {
            write_length_prefixed(out, |out| self.write_sharing(out, node, value, skip))
        } else {
            self.write_sharing(out, node, value, skip)
        }
    }

    fn members_layout(&self, node: NodeId) -> &'p MembersLayout {
        match &self.layout.node(node).shape {
            Shape::Members(members) => members,
            other => unreachable!("the layout of a union or intersection is {other:?}"),
        }
    }

    /// Whether a value counts as undefined, where null does unless the type can be null (reference §5.8).
    fn is_absent(&self, value: &Value, can_be_null: bool) -> bool {
        match value {
            Value::Undefined => true,
            Value::Null => !self.strict_null_checks && !can_be_null,
            _ => false,
        }
    }

    fn new_skip(&mut self, writers: Writers) -> Box<Skip> {
        let mut skip = self.spare.pop().unwrap_or_default();
        skip.reset(writers);
        skip
    }

    /// Enters a value of its own: an array or object. An error ends the writing,
    /// so that what was entered then need not be left.
    fn enter_value(&mut self) -> Result<(), Failed> {
        if self.depth == MAX_DEPTH {
            return Err(EncodeError::TooDeep.into());
        }
        self.depth += 1;
        self.enter_type()
    }

    fn leave_value(&mut self) {
        self.leave_type();
        self.depth -= 1;
    }

    /// Refuses to go on where parts of the value are written again and again.
    fn check_written(&mut self) -> Result<(), Failed> {
        if self.written <= PATIENCE {
            return Ok(());
        }
        let root = self.root;
        let most = *self.most.get_or_insert_with(|| PATIENCE + MAX_COPIES * root.size());
        if self.written <= most { Ok(()) } else { Err(EncodeError::TooAmbiguous.into()) }
    }

    /// Enters another type of the same value.
    fn enter_type(&mut self) -> Result<(), Failed> {
        if self.frames == MAX_FRAMES {
            return Err(EncodeError::TooDeep.into());
        }
        self.frames += 1;
        Ok(())
    }

    fn leave_type(&mut self) {
        self.frames -= 1;
    }
}

/// A value of a type that contains no other.
fn write_scalar(out: &mut Vec<u8>, node: &Node, value: &Value) -> Result<(), Failed> {
    match (node, value) {
        (Node::Boolean, Value::Bool(value)) => write_bool(out, *value),
        (Node::Number(scalar), value) => return write_number(out, *scalar, value),
        (Node::String, Value::String(text)) => write_str(out, &text.to_string_lossy()),
        (Node::Date, Value::Date(time)) => write_varint(out, integer_bits(*time)),
        (Node::Enum(members), value) => write_varint(out, enum_id(members, value)?.into()),
        (Node::Literal(_), _) => {}
        (Node::Buffer(_), Value::Buffer(kind, bytes)) => return write_buffer(out, *kind, bytes),
        (Node::Any, Value::Undefined) => write_str(out, "undefined"),
        (Node::Any | Node::Object, value) => return write_json(out, value),
        (Node::Custom(custom), value) => match custom.encode(value) {
            Some(bytes) => write_bytes(out, &bytes.map_err(EncodeError::Custom)?),
            None => return Err(EncodeError::CustomWithoutEncode.into()),
        },
        (Node::Invalid(error), _) => return Err(EncodeError::Schema(Box::new(error.clone())).into()),
        (Node::Boolean, value) => return Err(mismatch("boolean", value)),
        (Node::String, value) => return Err(mismatch("string", value)),
        (Node::Date, value) => return Err(mismatch("Date", value)),
        (Node::Buffer(kind), value) => return Err(mismatch(kind.name(), value)),
        (other, _) => unreachable!("a type of other types: {other:?}"),
    }
    Ok(())
}

/// What `typeof` calls an object; null is one.
fn is_object(value: &Value) -> bool {
    !matches!(value, Value::Undefined | Value::Bool(_) | Value::Number(_) | Value::BigInt(_) | Value::String(_))
}

fn mismatch(expected: &'static str, value: &Value) -> Failed {
    EncodeError::Mismatch { expected, found: value.type_name() }.into()
}

fn write_number(out: &mut Vec<u8>, scalar: Scalar, value: &Value) -> Result<(), Failed> {
    let number = || value.as_number().ok_or_else(|| mismatch("number", value));
    match scalar {
        Scalar::Double | Scalar::ExplicitDouble => write_double(out, number()?),
        Scalar::Int => write_zigzag(out, integer_bits(number()?) as i64),
        Scalar::Uint => write_varint(out, integer_bits(number()?)),
        Scalar::BigInt => return Err(EncodeError::UnsupportedScalar("bigint").into()),
        Scalar::BigInt64 => return Err(EncodeError::UnsupportedScalar("bigint64").into()),
        Scalar::BigUint64 => return Err(EncodeError::UnsupportedScalar("biguint64").into()),
    }
    Ok(())
}

fn write_buffer(out: &mut Vec<u8>, kind: BufferKind, bytes: &[u8]) -> Result<(), Failed> {
    if matches!(kind, BufferKind::BigInt64Array | BufferKind::BigUint64Array) {
        return Err(EncodeError::UnsupportedArray(kind).into());
    }
    write_bytes(out, bytes);
    Ok(())
}

fn enum_id(members: &[EnumMember], value: &Value) -> Result<u32, Failed> {
    let is_value = |member: &&EnumMember| match (&member.value, value) {
        (EnumValue::Number(member), Value::Number(value)) => member == value,
        (EnumValue::String(member), Value::String(value)) => value.as_str() == Some(member),
        _ => false,
    };
    let member = members.iter().find(is_value);
    member.map(|member| member.id).ok_or_else(|| EncodeError::NotAnEnumMember(value.type_name().to_owned()).into())
}

fn write_json(out: &mut Vec<u8>, value: &Value) -> Result<(), Failed> {
    write_length_prefixed(out, |out| value.write_json(out)).map(drop).map_err(|error| EncodeError::Json(error).into())
}
