//! One set of types with its codecs: what `new TSBuffer(proto)` is in TypeScript.
//!
//! Depends on the program, its layout and both codecs. Shares nothing mutable:
//! a call never changes what another gives (the published package does, known
//! bugs C4 and C8).

use std::sync::Arc;

use bytes::Bytes;
use polywire_schema::{Program, Slot, ValidateOptions, ValidationError, Value};

use crate::{
    binary::{BinaryReader, Strictness, decode::Decoder, encode::Encoder},
    error::{DecodeError, EncodeError, UnknownSchema},
    json::JsonPlan,
    layout::Layout,
};

/// How values are checked and bytes are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TsBufferOptions {
    /// How values are checked. Excess checks concern [`TsBuffer::validate`] only: what is
    /// encoded or pruned may have more than its type, and what is decoded cannot.
    pub checks: ValidateOptions,
    /// What becomes of binary input that ends too early. Strict by default.
    pub strictness: Strictness,
}

/// Validates, prunes, encodes and decodes values of the types of a program.
///
/// ```
/// use polywire_schema::{CompileOptions, Program, Value, types_from_json};
/// use polywire_tsbuffer::{TsBuffer, TsBufferOptions};
///
/// let types = types_from_json(&Value::parse_json(r#"{"x": {"type": "Array", "elementType": {"type": "String"}}}"#)?)?;
/// let tsbuffer = TsBuffer::new(Program::compile(&types, &CompileOptions::default()), TsBufferOptions::default());
///
/// let x = tsbuffer.root("x")?;
/// let value = Value::from(vec![Value::from("a"), Value::from("bc")]);
/// let bytes = tsbuffer.encode(x, &value)?;
/// assert_eq!(bytes, [2, 1, b'a', 2, b'b', b'c']);
/// assert_eq!(tsbuffer.decode(x, &bytes)?, value);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TsBuffer {
    program: Arc<Program>,
    layout: Arc<Layout>,
    json_plan: Arc<JsonPlan>,
    options: TsBufferOptions,
}

impl TsBuffer {
    /// The codecs of a program.
    #[must_use]
    pub fn new(program: impl Into<Arc<Program>>, options: TsBufferOptions) -> Self {
        let program = program.into();
        let layout = Arc::new(Layout::new(&program));
        let json_plan = Arc::new(JsonPlan::new(&program));
        Self { program, layout, json_plan, options }
    }

    /// The same types with other options.
    #[must_use]
    pub fn with_options(&self, options: TsBufferOptions) -> Self {
        Self { options, ..self.clone() }
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The entry point of a schema id.
    ///
    /// # Errors
    /// Where the program has no such type.
    pub fn root(&self, schema_id: &str) -> Result<Slot, UnknownSchema> {
        self.program.root(schema_id).ok_or_else(|| UnknownSchema(schema_id.to_owned()))
    }

    /// Whether a value is of a type.
    ///
    /// # Errors
    /// The first reason against it, with the published text.
    pub fn validate(&self, slot: Slot, value: &Value) -> Result<(), ValidationError> {
        self.program.validate(slot, value, self.options.checks)
    }

    /// A copy of a value without what its type does not declare.
    ///
    /// # Errors
    /// As [`validate`](Self::validate), but excess properties are no reason.
    pub fn prune(&self, slot: Slot, value: &Value) -> Result<Value, ValidationError> {
        self.program.prune(slot, value, self.checks_without_excess())
    }

    /// The binary form of a value. Properties that the type does not declare are left out.
    ///
    /// # Errors
    /// Where the value is not of the type, or the type has no binary form.
    pub fn encode(&self, slot: Slot, value: &Value) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        self.encode_into(&mut out, slot, value)?;
        Ok(out)
    }

    /// Appends the binary form of a value; on an error nothing.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_into(&self, out: &mut Vec<u8>, slot: Slot, value: &Value) -> Result<(), EncodeError> {
        self.program.validate(slot, value, self.checks_without_excess())?;
        self.encode_unchecked(out, slot, value)
    }

    /// As [`encode_into`](Self::encode_into) for a value that is known to be valid.
    ///
    /// # Errors
    /// Where the value turns out not to be of the type, or the type has no binary form.
    /// Not every invalid value is noticed: some get bytes that do not decode to it.
    pub fn encode_unchecked(&self, out: &mut Vec<u8>, slot: Slot, value: &Value) -> Result<(), EncodeError> {
        let start = out.len();
        let strict = self.options.checks.strict_null_checks;
        let written = Encoder::new(&self.program, &self.layout, strict, value).write(out, slot.node, value);
        if written.is_err() {
            out.truncate(start);
        }
        written.map_err(|error| *error)
    }

    /// The value of a binary form. Bytes behind it are ignored, as published peers do.
    ///
    /// # Errors
    /// Where the bytes are no form of the type, or their value is not valid.
    pub fn decode(&self, slot: Slot, bytes: &[u8]) -> Result<Value, DecodeError> {
        self.decode_with(slot, bytes, None)
    }

    /// As [`decode`](Self::decode); binary values share the bytes instead of copying them.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_shared(&self, slot: Slot, bytes: &Bytes) -> Result<Value, DecodeError> {
        self.decode_with(slot, bytes, Some(bytes))
    }

    /// As [`decode`](Self::decode), without checking the value.
    ///
    /// # Errors
    /// Where the bytes are no form of the type.
    pub fn decode_unchecked(&self, slot: Slot, bytes: &[u8]) -> Result<Value, DecodeError> {
        self.read(slot, bytes, None)
    }

    fn decode_with(&self, slot: Slot, bytes: &[u8], shared: Option<&Bytes>) -> Result<Value, DecodeError> {
        let value = self.read(slot, bytes, shared)?;
        // What is decoded has no property that its type does not declare: checking
        // for excess would only refuse what members describe together (B10, B11).
        self.program.validate(slot, &value, self.checks_without_excess())?;
        Ok(value)
    }

    fn read(&self, slot: Slot, bytes: &[u8], shared: Option<&Bytes>) -> Result<Value, DecodeError> {
        let reader = BinaryReader::with_strictness(bytes, self.options.strictness);
        let strict = self.options.checks.strict_null_checks;
        Decoder::new(&self.program, &self.layout, strict, reader, shared).read(slot.node).map_err(|error| *error)
    }

    pub(crate) fn json_plan(&self) -> &JsonPlan {
        &self.json_plan
    }

    pub(crate) fn checks_without_excess(&self) -> ValidateOptions {
        ValidateOptions { excess_property_checks: false, ..self.options.checks }
    }
}
