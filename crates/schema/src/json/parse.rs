//! `JSON.parse`.
//!
//! Depends on the value modules. Accepts what V8 accepts, and on refusal finds
//! the same fault at the same place: the order of checks is V8's.

use crate::{
    JsString, Object, Value,
    json::{JsonError, json_plain_len},
};

/// Reads one value that takes the whole text.
pub(super) fn parse(text: &str, max_depth: usize) -> Result<Value, JsonError> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: 0, depth: 0, max_depth };
    let value = parser.value()?;
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.at_position(JsonError::TrailingText)),
    }
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    max_depth: usize,
}

/// What an object may go on with; V8 words its errors by that.
#[derive(Clone, Copy)]
enum Expected {
    /// Just behind the opening brace.
    NameOrBrace,
    /// Behind a comma.
    Name,
}

impl<'a> Parser<'a> {
    fn value(&mut self) -> Result<Value, JsonError> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            _ => Err(self.unexpected()),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, JsonError>) -> Result<Value, JsonError> {
        if self.depth == self.max_depth {
            return Err(JsonError::TooDeep(self.max_depth));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Value, JsonError> {
        let mut object = Object::new();
        if self.skip(b'}') {
            return Ok(object.into());
        }
        self.property(&mut object, Expected::NameOrBrace)?;
        while self.skip(b',') {
            self.property(&mut object, Expected::Name)?;
        }
        if !self.skip(b'}') {
            return Err(self.at_position(JsonError::ExpectedCommaOrBrace));
        }
        Ok(object.into())
    }

    /// A name and its value. Values recurse through here: the stack holds little of it meanwhile.
    fn property(&mut self, object: &mut Object, expected: Expected) -> Result<(), JsonError> {
        let name = self.name(expected)?;
        let value = self.value()?;
        object.set(name, value);
        Ok(())
    }

    /// A name and the colon behind it.
    fn name(&mut self, expected: Expected) -> Result<String, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(match expected {
                Expected::NameOrBrace => self.at_position(JsonError::ExpectedNameOrBrace),
                Expected::Name => self.at_position(JsonError::ExpectedName),
            });
        }
        let name = self.string()?;
        if !self.skip(b':') {
            return Err(match expected {
                Expected::NameOrBrace => self.at_position(JsonError::ExpectedColon),
                Expected::Name => self.unexpected(),
            });
        }
        Ok(name.into_string_lossy())
    }

    fn array(&mut self) -> Result<Value, JsonError> {
        let mut elements = Vec::new();
        if self.skip(b']') {
            return Ok(elements.into());
        }
        loop {
            elements.push(self.value()?);
            if !self.skip(b',') {
                break;
            }
        }
        if !self.skip(b']') {
            return Err(self.at_position(JsonError::ExpectedCommaOrBracket));
        }
        Ok(elements.into())
    }

    fn literal(&mut self, literal: &str, value: Value) -> Result<Value, JsonError> {
        let rest = &self.bytes[self.at..];
        let common = rest.iter().zip(literal.as_bytes()).take_while(|(found, expected)| found == expected).count();
        self.at += common;
        if common == literal.len() { Ok(value) } else { Err(self.unexpected()) }
    }

    fn number(&mut self) -> Result<f64, JsonError> {
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        match self.byte() {
            Some(b'0') => {
                self.at += 1;
                if matches!(self.byte(), Some(b'0'..=b'9')) {
                    return Err(self.at_position(JsonError::UnexpectedNumber));
                }
            }
            _ => self.digits(JsonError::LoneMinus)?,
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits(JsonError::UnterminatedFraction)?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits(JsonError::MissingExponent)?;
        }
        // The grammar of JSON numbers is part of what Rust reads, correctly rounded.
        Ok(self.text[start..self.at].parse().expect("a JSON number"))
    }

    /// One digit or more.
    fn digits(&mut self, missing: fn(usize) -> JsonError) -> Result<(), JsonError> {
        let count = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.at_position(missing));
        }
        self.at += count;
        Ok(())
    }

    /// A string; its opening quote is next.
    fn string(&mut self) -> Result<JsString, JsonError> {
        self.at += 1;
        let run = self.plain_run();
        if self.byte() == Some(b'"') {
            self.at += 1;
            return Ok(run.into());
        }
        let mut text = Builder::Utf8(run.to_owned());
        loop {
            match self.byte() {
                None => return Err(self.at_position(JsonError::UnterminatedString)),
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut text)?,
                Some(_) => return Err(self.at_position(JsonError::ControlCharacter)),
            }
            text.push_str(self.plain_run());
        }
        self.at += 1;
        Ok(text.finish())
    }

    /// Up to the next quote, backslash or control character.
    fn plain_run(&mut self) -> &'a str {
        let start = self.at;
        self.at += json_plain_len(&self.bytes[start..]);
        &self.text[start..self.at]
    }

    fn escape(&mut self, text: &mut Builder) -> Result<(), JsonError> {
        self.at += 1;
        let char = match self.byte() {
            None => return Err(JsonError::UnexpectedEnd),
            Some(char @ (b'"' | b'\\' | b'/')) => char,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => return self.unicode_escape(text),
            // Beyond Latin-1, V8 says no more than that it did not expect the character.
            Some(0xc4..) => return Err(self.unexpected()),
            Some(_) => return Err(self.at_position(JsonError::BadEscape)),
        };
        self.at += 1;
        text.push(char::from(char));
        Ok(())
    }

    fn unicode_escape(&mut self, text: &mut Builder) -> Result<(), JsonError> {
        let unit = self.hex_unit()?;
        if let Some(char) = char::from_u32(unit.into()) {
            text.push(char);
            return Ok(());
        }
        // Half of a pair: only the other half right behind it makes a character.
        if unit < 0xdc00 && self.bytes[self.at..].starts_with(b"\\u") {
            self.at += 1;
            let next = self.hex_unit()?;
            match char::decode_utf16([unit, next]).next() {
                Some(Ok(char)) => text.push(char),
                _ => {
                    text.push_unit(unit);
                    // The second may itself be the first half of a pair.
                    self.at -= 6;
                }
            }
            return Ok(());
        }
        text.push_unit(unit);
        Ok(())
    }

    /// `uXXXX`.
    fn hex_unit(&mut self) -> Result<u16, JsonError> {
        let mut unit = 0;
        for _ in 0..4 {
            self.at += 1;
            let digit = self.byte().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return Err(self.at_position(JsonError::BadUnicodeEscape)) };
            // Four hex digits fit 16 bits.
            unit = unit << 4 | digit as u16;
        }
        self.at += 1;
        Ok(unit)
    }

    /// The next byte, white space included.
    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next byte behind white space.
    fn peek(&mut self) -> Option<u8> {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.byte()
    }

    fn skip(&mut self, expected: u8) -> bool {
        let found = self.peek() == Some(expected);
        if found {
            self.at += 1;
        }
        found
    }

    fn at_position(&self, error: fn(usize) -> JsonError) -> JsonError {
        error(self.position())
    }

    fn position(&self) -> usize {
        self.text[..self.at].encode_utf16().count()
    }

    /// What V8 says about a token that it can make nothing of.
    fn unexpected(&self) -> JsonError {
        match self.byte() {
            None => return JsonError::UnexpectedEnd,
            Some(b'-' | b'0'..=b'9') => return self.at_position(JsonError::UnexpectedNumber),
            Some(b'"') => return self.at_position(JsonError::UnexpectedString),
            Some(_) => {}
        }
        const NO_VALUES: [&str; 4] = ["undefined", "NaN", "Infinity", "[object Object]"];
        if let Some(text) = NO_VALUES.into_iter().find(|text| *text == self.text) {
            return JsonError::NotAValue(text);
        }
        let units: Vec<u16> = self.text.encode_utf16().collect();
        let position = self.position();
        JsonError::UnexpectedToken {
            token: JsString::from_utf16(&units[position..=position]),
            excerpt: excerpt(&units, position),
        }
    }
}

/// The text around a position in quotes, cut to ten units on each side unless it is short.
fn excerpt(units: &[u16], position: usize) -> JsString {
    const CONTEXT: usize = 10;
    let len = units.len();
    let range = if len <= 2 * CONTEXT {
        0..len
    } else {
        let end = if position >= CONTEXT && position + CONTEXT >= len { len } else { position + CONTEXT };
        position.saturating_sub(CONTEXT)..end
    };
    let dots = |cut: bool| if cut { "..." } else { "" };
    let (before, after) = (len > 2 * CONTEXT && position >= CONTEXT, range.end < len);
    let mut out: Vec<u16> = format!("{}\"", dots(before)).encode_utf16().collect();
    out.extend_from_slice(&units[range]);
    out.extend(format!("\"{}", dots(after)).encode_utf16());
    JsString::from_utf16(&out)
}

/// A string being read: UTF-8 until a lone surrogate comes.
enum Builder {
    Utf8(String),
    Utf16(Vec<u16>),
}

impl Builder {
    fn push_str(&mut self, run: &str) {
        match self {
            Self::Utf8(text) => text.push_str(run),
            Self::Utf16(units) => units.extend(run.encode_utf16()),
        }
    }

    fn push(&mut self, char: char) {
        self.push_str(char.encode_utf8(&mut [0; 4]));
    }

    fn push_unit(&mut self, unit: u16) {
        if let Self::Utf8(text) = self {
            *self = Self::Utf16(text.encode_utf16().collect());
        }
        if let Self::Utf16(units) = self {
            units.push(unit);
        }
    }

    fn finish(self) -> JsString {
        match self {
            Self::Utf8(text) => text.into(),
            Self::Utf16(units) => JsString::from_utf16(&units),
        }
    }
}
