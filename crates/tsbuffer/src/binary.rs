//! The binary form (reference §5).
//!
//! Depends on `polywire-schema` only. The primitives are shared by the codec of
//! dynamic values and by derived codecs.

pub(crate) mod decode;
pub(crate) mod encode;
mod reader;
mod varint;
mod wire;
mod writer;

pub(crate) use reader::MAX_FRAMES;
pub use reader::{BinaryReader, MAX_DEPTH, MAX_ZERO_WIDTH_ELEMENTS, ReadError, Strictness};
pub use varint::{MAX_VARINT_LEN, Varint, integer_bits, unzigzag, zigzag};
pub use wire::{
    FIRST_PROPERTY_BLOCK, LengthType, MAX_BASES, MAX_TUPLE_ELEMENTS, Tag, base_tag, index_tag, member_tag, property_tag,
};
pub use writer::{
    Placeholder, write_bool, write_bytes, write_double, write_length_prefixed, write_str, write_varint, write_zigzag,
};
