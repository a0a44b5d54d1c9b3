//! Reading dynamic values (reference §5.3–5.8).
//!
//! Depends on the program, its layout and the primitives. What is read follows
//! the type only as far as the bytes say: whether it is valid is for the caller
//! to check. Memory and time are proportional to the input; nesting is bounded
//! by the reader.

mod merge;
mod object;

use bytes::Bytes;
use polywire_schema::{BufferKind, EnumMember, MemberSlot, Node, NodeId, Program, Scalar, Slot, Value};

use self::merge::{Depth, merge};
use super::{BinaryReader, LengthType, MAX_FRAMES, MAX_TUPLE_ELEMENTS, ReadError};
use crate::{
    error::DecodeError,
    layout::{Layout, MembersLayout, Shape},
};

/// Boxed on the way, so that a deep value costs little stack.
type Failed = Box<DecodeError>;

impl From<ReadError> for Failed {
    fn from(error: ReadError) -> Self {
        Self::new(error.into())
    }
}

/// Reads values of the types of one program.
#[derive(Debug)]
pub(crate) struct Decoder<'p, 'i> {
    program: &'p Program,
    layout: &'p Layout,
    strict_null_checks: bool,
    reader: BinaryReader<'i>,
    frames: u32,
    /// What the reader reads, where binary values may share it.
    shared: Option<&'i Bytes>,
}

impl<'p, 'i> Decoder<'p, 'i> {
    pub(crate) fn new(
        program: &'p Program,
        layout: &'p Layout,
        strict_null_checks: bool,
        reader: BinaryReader<'i>,
        shared: Option<&'i Bytes>,
    ) -> Self {
        Self { program, layout, strict_null_checks, reader, frames: 0, shared }
    }

    /// The payload of a type.
    ///
    /// Recursion goes through here for each value within a value: what it needs
    /// of the stack is kept small, by leaving everything else to others.
    pub(crate) fn read(&mut self, node: NodeId) -> Result<Value, Failed> {
        match self.program.node(node) {
            Node::Interface(_) | Node::Mapped(_) => self.read_object_value(node),
            Node::Union(members) => self.read_members(node, members, Depth::Shallow),
            Node::Intersection(members) => self.read_members(node, members, Depth::Deep),
            Node::Array(element) => self.read_array(element.node),
            Node::Tuple { elements, .. } => self.read_tuple(node, elements),
            Node::NonNullable(target) => self.read_non_nullable(target.node),
            other => self.read_scalar(other),
        }
    }

    /// A type that contains no other.
    fn read_scalar(&mut self, node: &Node) -> Result<Value, Failed> {
        Ok(match node {
            Node::Boolean => Value::Bool(self.reader.read_bool()?),
            Node::Number(scalar) => Value::Number(self.read_number(*scalar)?),
            Node::String => Value::from(self.reader.read_str()?.into_owned()),
            Node::Date => Value::Date(date(self.reader.read_varint()?)),
            Node::Enum(members) => self.read_enum(members)?,
            Node::Literal(literal) => literal.to_value(),
            Node::Buffer(kind) => self.read_buffer(*kind)?,
            Node::Any | Node::Object => self.read_json()?,
            Node::Custom(custom) => {
                let bytes = self.reader.read_bytes()?;
                let value = custom.decode(bytes).ok_or(DecodeError::CustomWithoutDecode)?;
                value.map_err(DecodeError::Custom)?
            }
            Node::Invalid(error) => return Err(DecodeError::Schema(Box::new(error.clone())).into()),
            other => unreachable!("a type of other types: {other:?}"),
        })
    }

    fn read_non_nullable(&mut self, target: NodeId) -> Result<Value, Failed> {
        self.enter_type()?;
        let value = self.read(target);
        self.leave_type();
        value
    }

    fn read_object_value(&mut self, node: NodeId) -> Result<Value, Failed> {
        self.reader.enter()?;
        let object = self.read_object(node);
        self.reader.leave();
        object.map(Value::Object)
    }

    fn read_number(&mut self, scalar: Scalar) -> Result<f64, Failed> {
        Ok(match scalar {
            Scalar::Double | Scalar::ExplicitDouble => self.reader.read_double()?,
            Scalar::Int => self.reader.read_zigzag()? as f64,
            Scalar::Uint => self.reader.read_varint()? as f64,
            Scalar::BigInt => return Err(DecodeError::UnsupportedScalar("bigint").into()),
            Scalar::BigInt64 => return Err(DecodeError::UnsupportedScalar("bigint64").into()),
            Scalar::BigUint64 => return Err(DecodeError::UnsupportedScalar("biguint64").into()),
        })
    }

    fn read_enum(&mut self, members: &[EnumMember]) -> Result<Value, Failed> {
        let id = self.reader.read_varint()?;
        let member = members.iter().find(|member| u64::from(member.id) == id);
        // As a signed number it stands in the published text.
        let member = member.ok_or(DecodeError::UnknownEnumId(id as i64))?;
        Ok(member.value.to_value())
    }

    fn read_json(&mut self) -> Result<Value, Failed> {
        let text = self.reader.read_bytes()?;
        if text == b"undefined" {
            return Ok(Value::Undefined);
        }
        Value::parse_json(text).map_err(|error| DecodeError::Json(Box::new(error)).into())
    }

    fn read_buffer(&mut self, kind: BufferKind) -> Result<Value, Failed> {
        let bytes = self.reader.read_bytes()?;
        if matches!(kind, BufferKind::BigInt64Array | BufferKind::BigUint64Array) {
            return Err(DecodeError::UnsupportedArray(kind).into());
        }
        // Published readers make a view where the payload is aligned, and a view ends
        // at its last whole element; where it is not, they copy, and a copy must fit.
        let (size, start) = (kind.element_size(), self.reader.position() - bytes.len());
        let partial = bytes.len() % size;
        if partial != 0 && start % size != 0 {
            return Err(DecodeError::PartialElement(kind).into());
        }
        let bytes = &bytes[..bytes.len() - partial];
        let bytes = self.shared.map_or_else(|| Bytes::copy_from_slice(bytes), |shared| shared.slice_ref(bytes));
        Ok(Value::Buffer(kind, bytes))
    }

    fn read_array(&mut self, element: NodeId) -> Result<Value, Failed> {
        if self.layout.node(element).is_zero_width {
            return self.read_zero_width(element);
        }
        self.reader.enter()?;
        self.enter_type()?;
        let count = self.reader.read_count()?;
        let mut elements = Vec::with_capacity(self.reader.capacity_for::<Value>(count));
        for _ in 0..count {
            elements.push(self.read(element)?);
        }
        self.leave_type();
        self.reader.leave();
        Ok(Value::Array(elements))
    }

    fn read_zero_width(&mut self, element: NodeId) -> Result<Value, Failed> {
        let count = self.reader.read_zero_width_count()?;
        let value = self.read(element)?;
        Ok(Value::Array(vec![value; count as usize]))
    }

    fn read_tuple(&mut self, node: NodeId, elements: &[Slot]) -> Result<Value, Failed> {
        if elements.len() > MAX_TUPLE_ELEMENTS {
            return Err(DecodeError::TupleTypeTooLong(elements.len()).into());
        }
        self.reader.enter()?;
        self.enter_type()?;
        let mask = self.reader.read_varint()?;
        let length = u64::BITS - mask.leading_zeros();
        let mut values = Vec::with_capacity(length as usize);
        for at in 0..length {
            let value = if mask >> at & 1 == 1 {
                let element = elements.get(at as usize);
                let element = element.ok_or(DecodeError::TupleTooLong { elements: elements.len() })?;
                self.read(element.node)?
            } else {
                Value::Undefined
            };
            values.push(value);
        }
        if let Shape::Tuple(nulls) = &self.layout.node(node).shape
            && !values.is_empty()
            && !self.strict_null_checks
        {
            fill_nulls(&mut values, nulls);
        }
        self.leave_type();
        self.reader.leave();
        Ok(Value::Array(values))
    }

    fn read_members(&mut self, node: NodeId, members: &[MemberSlot], depth: Depth) -> Result<Value, Failed> {
        let layout = self.layout.node(node);
        let Shape::Members(shape) = &layout.shape else { unreachable!("the layout of a union: {:?}", layout.shape) };
        self.enter_type()?;
        let mut value = Value::Undefined;
        for _ in 0..self.reader.read_varint()? {
            self.read_member(shape, members, depth, &mut value)?;
        }
        self.leave_type();
        let is_null =
            value.is_undefined() && !self.strict_null_checks && layout.codable.null && !layout.codable.undefined;
        Ok(if is_null { Value::Null } else { value })
    }

    /// Adds what the next member says of a value.
    fn read_member(
        &mut self,
        shape: &MembersLayout,
        members: &[MemberSlot],
        depth: Depth,
        value: &mut Value,
    ) -> Result<(), Failed> {
        let tag = self.reader.read_tag()?;
        let Ok(at) = shape.by_id.binary_search_by_key(&tag.id, |(id, _)| *id) else {
            return Ok(self.reader.skip(tag.length_type)?);
        };
        let (_, member) = shape.by_id[at];
        let more = self.read_framed(members[member].slot.node)?;
        merge(value, more, depth);
        Ok(())
    }

    /// A payload behind its tag, and behind its length where it has one. What the tag
    /// and the length say about its end does not matter to a reader that knows the type.
    fn read_framed(&mut self, node: NodeId) -> Result<Value, Failed> {
        if self.layout.node(node).prefixed {
            self.reader.skip(LengthType::Varint)?;
        }
        self.read(node)
    }

    /// Enters a type: another of the same value, or of a value within it. An error ends
    /// the reading, so that what was entered then need not be left.
    fn enter_type(&mut self) -> Result<(), ReadError> {
        if self.frames == MAX_FRAMES {
            return Err(ReadError::TooDeep);
        }
        self.frames += 1;
        Ok(())
    }

    fn leave_type(&mut self) {
        self.frames -= 1;
    }
}

/// Milliseconds since 1970. What exceeds the range of dates is a negative number
/// in two's complement (reference §15); the published reader makes it invalid.
fn date(varint: u64) -> f64 {
    const MAX_TIME: f64 = 8.64e15;
    let time = varint as f64;
    if time <= MAX_TIME {
        return time;
    }
    let time = varint as i64 as f64;
    if time.abs() <= MAX_TIME { time } else { f64::NAN }
}

/// Puts null where it was not written; this can make the tuple longer.
fn fill_nulls(values: &mut Vec<Value>, nulls: &[bool]) {
    for (at, _) in nulls.iter().enumerate().filter(|(_, is_null)| **is_null) {
        match values.get_mut(at) {
            Some(value) if value.is_undefined() => *value = Value::Null,
            Some(_) => {}
            None => {
                values.resize(at, Value::Undefined);
                values.push(Value::Null);
            }
        }
    }
}
