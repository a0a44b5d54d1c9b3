//! Binary frames: what stands around a body.
//!
//! Depends on TSBuffer's primitives. A client sends a `ServerInputData`
//! (service id, body, serial number), a server a `ServerOutputData` (body or
//! error, service id, serial number); see reference §9. Both are read by a fast
//! path that knows the order in which every published peer writes, and by a
//! general one that takes the blocks as they come. The fast path accepts only
//! what the general one reads to the same.

mod error_block;
mod input;
mod output;

use polywire_tsbuffer::binary::{BinaryReader, FIRST_PROPERTY_BLOCK, LengthType, ReadError};

pub(crate) use error_block::write_error_block;
pub use input::{ServerInput, parse_input};
pub use output::{ServerOutput, parse_output};

/// Tags of the blocks that are written: block id and length type.
pub(crate) mod tag {
    /// Input: the service id, a varint.
    pub(crate) const INPUT_SERVICE: u8 = 0x29;
    /// Input: the body, bytes.
    pub(crate) const INPUT_BODY: u8 = 0x2c;
    /// Input: the serial number, a varint.
    pub(crate) const INPUT_SN: u8 = 0x31;
    /// Output: the body, bytes.
    pub(crate) const OUTPUT_BODY: u8 = 0x28;
    /// Output: the error, a block.
    pub(crate) const OUTPUT_ERROR: u8 = 0x2f;
    /// Output: the service id, a varint.
    pub(crate) const OUTPUT_SERVICE: u8 = 0x31;
    /// Output: the serial number, a varint.
    pub(crate) const OUTPUT_SN: u8 = 0x35;
}

/// Why bytes are no envelope. `Display` gives the codec's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The bytes end too early or contradict themselves.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A property that has to be there is not.
    #[error("Missing required property `{0}`.")]
    Missing(&'static str),
    /// An error of a kind that does not exist.
    #[error("Invalid enum encoding: unexpected id {0}")]
    UnknownErrorKind(u64),
    /// A further field of an error that is not JSON.
    #[error("{0}")]
    NotJson(String),
}

/// A block as it stands in an interface.
enum Block {
    /// An entry of the index signature. Its key and value come next.
    Entry(LengthType),
    /// A property by its id.
    Property(u32, LengthType),
    /// What no reader of this crate knows; to be skipped.
    Unknown(LengthType),
}

fn read_block(reader: &mut BinaryReader<'_>) -> Result<Block, ReadError> {
    let tag = reader.read_tag()?;
    Ok(match u32::try_from(tag.id) {
        Ok(0) => Block::Entry(tag.length_type),
        Ok(id) if id >= FIRST_PROPERTY_BLOCK => Block::Property(id - FIRST_PROPERTY_BLOCK, tag.length_type),
        _ => Block::Unknown(tag.length_type),
    })
}

/// Passes over a block of an interface that has no index signature.
fn skip_block(reader: &mut BinaryReader<'_>, block: &Block) -> Result<(), ReadError> {
    match block {
        Block::Entry(length_type) => {
            reader.skip(LengthType::LengthDelimited)?;
            reader.skip(*length_type)
        }
        Block::Property(_, length_type) | Block::Unknown(length_type) => reader.skip(*length_type),
    }
}
