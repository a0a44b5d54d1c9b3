//! The JSON codec over dynamic values (reference §7).
//!
//! Depends on the program, checks and conversion. What goes out has been pruned,
//! what comes in is pruned: no property that a type does not declare passes.

use polywire_schema::{Slot, ValidationError, ValidationErrorKind, Value};

use super::convert::{ConvertError, Converter};
use crate::{DecodeError, EncodeError, TsBuffer};

impl TsBuffer {
    /// The JSON text of a value; `None` for `undefined`, which has none.
    ///
    /// Properties that the type does not declare are left out, dates become ISO texts,
    /// bytes become base64, `ObjectId`s hex digits.
    ///
    /// # Errors
    /// Where the value is not of the type, or holds a bigint.
    ///
    /// ```
    /// # use polywire_schema::{CompileOptions, Program, Value, types_from_json};
    /// # use polywire_tsbuffer::{TsBuffer, TsBufferOptions};
    /// # let types = r#"{"x": {"type": "Array", "elementType": {"type": "Date"}}}"#;
    /// # let types = types_from_json(&Value::parse_json(types)?)?;
    /// # let tsbuffer = TsBuffer::new(Program::compile(&types, &CompileOptions::default()), TsBufferOptions::default());
    /// // `x` is `Date[]`.
    /// let x = tsbuffer.root("x")?;
    /// let value = Value::from(vec![Value::Date(0.0)]);
    /// let text = tsbuffer.encode_json(x, &value)?.expect("it is not undefined");
    /// assert_eq!(text, r#"["1970-01-01T00:00:00.000Z"]"#);
    /// assert_eq!(tsbuffer.decode_json(x, Value::parse_json(text)?)?, value);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode_json(&self, slot: Slot, value: &Value) -> Result<Option<String>, EncodeError> {
        self.json_form(slot, value)?.to_json().map_err(EncodeError::Json)
    }

    /// Appends the JSON text of a value; nothing, and `false`, for `undefined`. On an error nothing.
    ///
    /// # Errors
    /// As [`encode_json`](Self::encode_json).
    pub fn encode_json_into(&self, out: &mut Vec<u8>, slot: Slot, value: &Value) -> Result<bool, EncodeError> {
        let form = self.json_form(slot, value)?;
        let start = out.len();
        let written = form.write_json(out).map_err(EncodeError::Json);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    /// The value of a parsed JSON text; `undefined` where there is none.
    ///
    /// Properties that the type does not declare are dropped. Dates are whatever
    /// `new Date` takes, also a number or (as an invalid date) any text; base64 is read
    /// as leniently as Node does.
    ///
    /// # Errors
    /// Where the value is not of the type.
    pub fn decode_json(&self, slot: Slot, json: Value) -> Result<Value, DecodeError> {
        let mut value = json;
        if self.json_plan().converts(slot.node) {
            let converter = Converter::new(self.program(), self.json_plan(), self.checks_without_excess());
            converter.decode(slot, &value).map_err(|error| *error)?.apply(&mut value);
        }
        self.prune(slot, &value).map_err(DecodeError::of_json)
    }

    /// The value that `JSON.stringify` is to write.
    fn json_form(&self, slot: Slot, value: &Value) -> Result<Value, EncodeError> {
        let mut form = self.prune(slot, value)?;
        if self.json_plan().converts(slot.node) {
            let converter = Converter::new(self.program(), self.json_plan(), self.checks_without_excess());
            converter.encode(slot, &form).apply(&mut form);
        }
        Ok(form)
    }
}

impl DecodeError {
    /// The published package finds broken types before it looks at the value.
    fn of_json(error: ValidationError) -> Self {
        match error.kind {
            ValidationErrorKind::Schema(error) => Self::Schema(Box::new(error)),
            _ => Self::from(error),
        }
    }
}

impl From<ConvertError> for DecodeError {
    fn from(error: ConvertError) -> Self {
        match error {
            ConvertError::Custom(text) => Self::Custom(text),
            ConvertError::UnsupportedArray(kind) => Self::UnsupportedArray(kind),
            ConvertError::ExcessElements(error) => Self::ExcessElements(error),
        }
    }
}

#[cfg(test)]
mod tests;
