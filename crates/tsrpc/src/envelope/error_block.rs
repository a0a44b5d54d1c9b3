//! Errors in binary: `TsrpcErrorData { 0 message: string, 1 type: TsrpcErrorType,
//! 2 code?: string(0) | int(1), [key: string]: any }`.

use polywire_schema::{Value, number_text};
use polywire_tsbuffer::binary::{BinaryReader, Placeholder, write_str, write_zigzag};

use super::{Block, EnvelopeError, read_block, skip_block, tag};
use crate::{ApiError, ErrorCode, ErrorKind};

const MESSAGE: u8 = 0x28;
const KIND: u8 = 0x2d;
/// The code, a union of one member.
const CODE: [u8; 2] = [0x33, 1];
const CODE_STRING: u8 = 0x00;
const CODE_INT: u8 = 0x05;
/// An entry of the index signature: its key, and its value as JSON text.
const ENTRY: u8 = 0x00;

/// Writes the error property of an output.
///
/// A field that JSON has no form for is left out.
pub(crate) fn write_error_block(out: &mut Vec<u8>, error: &ApiError) {
    out.push(tag::OUTPUT_ERROR);
    let count = Placeholder::reserve(out);
    out.push(MESSAGE);
    write_str(out, &error.message);
    out.extend_from_slice(&[KIND, error.kind.id()]);
    let mut blocks = 2;
    if let Some(code) = &error.code {
        out.extend_from_slice(&CODE);
        match code {
            ErrorCode::Str(code) => {
                out.push(CODE_STRING);
                write_str(out, code);
            }
            ErrorCode::Int(code) => {
                out.push(CODE_INT);
                write_zigzag(out, *code);
            }
            ErrorCode::Number(code) => {
                out.push(CODE_STRING);
                write_str(out, &number_text(*code));
            }
        }
        blocks += 1;
    }
    for (key, value) in error.data() {
        if write_entry(out, key, value) {
            blocks += 1;
        }
    }
    count.fill(out, blocks);
}

fn write_entry(out: &mut Vec<u8>, key: &str, value: &Value) -> bool {
    let start = out.len();
    out.push(ENTRY);
    write_str(out, key);
    let length = Placeholder::reserve(out);
    match value.write_json(out) {
        Ok(true) => {
            length.fill_length(out);
            true
        }
        Ok(false) | Err(_) => {
            out.truncate(start);
            false
        }
    }
}

/// Reads the error property of an output.
pub(super) fn read_error(reader: &mut BinaryReader<'_>) -> Result<ApiError, EnvelopeError> {
    let mut error = ApiError::default();
    let (mut has_message, mut has_kind) = (false, false);
    for _ in 0..reader.read_varint()? {
        match read_block(reader)? {
            Block::Entry(_) => {
                let key = reader.read_str()?.into_owned();
                error.set(key, read_any(reader)?);
            }
            Block::Property(0, _) => {
                error.message = reader.read_str()?.into_owned();
                has_message = true;
            }
            Block::Property(1, _) => {
                let id = reader.read_varint()?;
                error.kind = ErrorKind::from_id(id).ok_or(EnvelopeError::UnknownErrorKind(id))?;
                has_kind = true;
            }
            Block::Property(2, _) => error.code = read_code(reader)?,
            other => skip_block(reader, &other)?,
        }
    }
    match (has_message, has_kind) {
        (true, true) => Ok(error),
        (false, _) => Err(EnvelopeError::Missing("message")),
        (true, false) => Err(EnvelopeError::Missing("type")),
    }
}

/// A union of which the last member counts.
fn read_code(reader: &mut BinaryReader<'_>) -> Result<Option<ErrorCode>, EnvelopeError> {
    let mut code = None;
    for _ in 0..reader.read_varint()? {
        let tag = reader.read_tag()?;
        match tag.id {
            0 => code = Some(ErrorCode::Str(reader.read_str()?.into_owned())),
            1 => code = Some(ErrorCode::Int(reader.read_zigzag()?)),
            _ => reader.skip(tag.length_type)?,
        }
    }
    Ok(code)
}

/// A value of type `any`: JSON text, or `undefined`.
fn read_any(reader: &mut BinaryReader<'_>) -> Result<Value, EnvelopeError> {
    let text = reader.read_str()?;
    if text == "undefined" {
        return Ok(Value::Undefined);
    }
    Value::parse_json(&*text).map_err(|error| EnvelopeError::NotJson(error.to_string()))
}
