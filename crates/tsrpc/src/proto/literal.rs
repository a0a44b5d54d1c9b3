//! Reading JavaScript literals: JSON, and what people make of it by hand.
//!
//! Depends on [`Value`] only. Accepts every JSON text, and besides comments,
//! trailing commas, unquoted keys, single quotes, back quotes without
//! substitutions, hexadecimal numbers, `undefined`, `NaN`, `Infinity`, a leading
//! `+`, and parentheses. Never evaluates anything.

use polywire_schema::{JsString, Object, Value};

/// How deep a literal may nest.
const MAX_DEPTH: u32 = 512;

/// Text that is no literal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: expected {expected}")]
pub struct LiteralError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What could have stood there.
    pub expected: &'static str,
}

/// Reads the literal at the start of a text, behind white space and comments;
/// gives what stands behind it too.
pub(crate) fn parse_prefix(text: &str) -> Result<(Value, &str), LiteralError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    match parser.value() {
        Ok(value) => Ok((value, &text[parser.at..])),
        Err(expected) => Err(located(text, parser.at, expected)),
    }
}

/// Reads a text that is one literal.
pub(crate) fn parse(text: &str) -> Result<Value, LiteralError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let result = parser.value().and_then(|value| {
        parser.blank()?;
        if parser.at == text.len() { Ok(value) } else { Err("the end of the text") }
    });
    result.map_err(|expected| located(text, parser.at, expected))
}

fn located(text: &str, at: usize, expected: &'static str) -> LiteralError {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    LiteralError { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1, expected }
}

/// What the parser says when it fails: what it expected where it stands.
type Parsed<T> = Result<T, &'static str>;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Passes over white space and comments.
    fn blank(&mut self) -> Parsed<()> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').len();
            if self.eat("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.rest().starts_with("/*") {
                let end = self.rest()[2..].find("*/").ok_or("a comment that ends")?;
                self.at += end + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Parsed<Value> {
        self.blank()?;
        match self.peek() {
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::array),
            Some('(') => self.nested(Self::parentheses),
            Some('"' | '\'' | '`') => Ok(Value::String(self.string()?)),
            Some('0'..='9' | '.' | '-' | '+') => self.number().map(Value::Number),
            _ => {
                let start = self.at;
                let value = match self.identifier() {
                    Some("null") => Value::Null,
                    Some("true") => Value::Bool(true),
                    Some("false") => Value::Bool(false),
                    Some("undefined") => Value::Undefined,
                    Some("NaN") => Value::Number(f64::NAN),
                    Some("Infinity") => Value::Number(f64::INFINITY),
                    _ => {
                        self.at = start;
                        return Err("a value");
                    }
                };
                Ok(value)
            }
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Parsed<Value>) -> Parsed<Value> {
        if self.depth == MAX_DEPTH {
            return Err("less nesting");
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn parentheses(&mut self) -> Parsed<Value> {
        let value = self.value()?;
        self.blank()?;
        if self.eat(")") { Ok(value) } else { Err("`)`") }
    }

    fn array(&mut self) -> Parsed<Value> {
        let mut elements = Vec::new();
        loop {
            self.blank()?;
            if self.eat("]") {
                return Ok(Value::Array(elements));
            }
            elements.push(self.value()?);
            self.blank()?;
            if !self.eat(",") && self.peek() != Some(']') {
                return Err("`,` or `]`");
            }
        }
    }

    fn object(&mut self) -> Parsed<Value> {
        let mut object = Object::new();
        loop {
            self.blank()?;
            if self.eat("}") {
                return Ok(Value::Object(object));
            }
            let key = self.key()?;
            self.blank()?;
            if !self.eat(":") {
                return Err("`:`");
            }
            object.set(key, self.value()?);
            self.blank()?;
            if !self.eat(",") && self.peek() != Some('}') {
                return Err("`,` or `}`");
            }
        }
    }

    fn key(&mut self) -> Parsed<String> {
        match self.peek() {
            Some('"' | '\'') => Ok(self.string()?.into_string_lossy()),
            Some('0'..='9') => {
                let number = self.number()?;
                // Keys that JavaScript prints in another form than Rust do not occur as names.
                Ok(number.to_string())
            }
            _ => self.identifier().map(str::to_owned).ok_or("a key or `}`"),
        }
    }

    fn identifier(&mut self) -> Option<&'a str> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let rest = self.rest();
        let len = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let identifier = &rest[..len];
        if identifier.is_empty() || identifier.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.at += len;
        Some(identifier)
    }

    fn number(&mut self) -> Parsed<f64> {
        let negative = self.eat("-");
        if !negative {
            self.eat("+");
        }
        let rest = self.rest();
        let magnitude = if let Some(hex) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            let digits = hex.len() - hex.trim_start_matches(|c: char| c.is_ascii_hexdigit()).len();
            if digits == 0 {
                return Err("hexadecimal digits");
            }
            self.at += 2 + digits;
            hex[..digits].chars().fold(0.0, |number, digit| number * 16.0 + f64::from(digit.to_digit(16).unwrap_or(0)))
        } else if rest.starts_with("Infinity") {
            self.at += "Infinity".len();
            f64::INFINITY
        } else {
            let len = decimal_len(rest);
            let number = rest[..len].parse().map_err(|_| "a number")?;
            self.at += len;
            number
        };
        Ok(if negative { -magnitude } else { magnitude })
    }

    fn string(&mut self) -> Parsed<JsString> {
        let quote = self.peek().ok_or("a string")?;
        self.at += quote.len_utf8();
        let mut units: Vec<u16> = Vec::new();
        loop {
            let next = self.peek().ok_or("a string that ends")?;
            if next == quote {
                self.at += next.len_utf8();
                return Ok(JsString::from_utf16(&units));
            }
            if next == '\n' && quote != '`' {
                return Err("a string that ends on its line");
            }
            if quote == '`' && self.rest().starts_with("${") {
                return Err("a string without substitutions");
            }
            self.at += next.len_utf8();
            if next == '\\' {
                self.escape(&mut units)?;
            } else {
                units.extend_from_slice(next.encode_utf16(&mut [0; 2]));
            }
        }
    }

    fn escape(&mut self, units: &mut Vec<u16>) -> Parsed<()> {
        let escaped = self.peek().ok_or("an escape")?;
        self.at += escaped.len_utf8();
        let character = match escaped {
            'b' => '\u{8}',
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            '0' => '\0',
            '\n' => return Ok(()),
            'x' => {
                units.push(self.hex(2)?);
                return Ok(());
            }
            'u' if self.eat("{") => {
                let end = self.rest().find('}').ok_or("`}`")?;
                let code = u32::from_str_radix(&self.rest()[..end], 16).ok().and_then(char::from_u32);
                self.at += end + 1;
                code.ok_or("a code point")?
            }
            'u' => {
                units.push(self.hex(4)?);
                return Ok(());
            }
            other => other,
        };
        units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
        Ok(())
    }

    fn hex(&mut self, digits: usize) -> Parsed<u16> {
        let code = self.rest().get(..digits).filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let code = code.and_then(|hex| u16::from_str_radix(hex, 16).ok()).ok_or("hexadecimal digits")?;
        self.at += digits;
        Ok(code)
    }
}

/// The length of the decimal number at the start of a text.
fn decimal_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut len = digits(0);
    if bytes.get(len) == Some(&b'.') {
        len += 1 + digits(len + 1);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits(len + 1 + sign);
        if exponent > 0 {
            len += 1 + sign + exponent;
        }
    }
    len
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<Value, &str>) {
        let found = parse(text).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{text}");
    }

    fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::Object(entries.into_iter().collect())
    }

    #[test]
    fn json_and_what_people_write_instead_are_read() {
        let expected = object([("a", Value::from(1.0)), ("b", Value::from(vec![Value::Null, Value::from("x\"y")]))]);
        let cases = [
            r#"{"a":1,"b":[null,"x\"y"]}"#,
            "{ a: 1, b: [null, 'x\"y',], }",
            "({\n  // one\n  'a': 0x1, /* two */ b: [ null, `x\"y` ]\n})",
            "\u{feff}{a:+1.0,\"b\":[null,'x\\u0022y']} // end",
        ];
        for text in cases {
            check(text, Ok(expected.clone()));
        }
        check(
            "[-1.5e3, .5, true, undefined]",
            Ok(vec![(-1500.0).into(), 0.5.into(), true.into(), Value::Undefined].into()),
        );
        check("{1:2}", Ok(object([("1", Value::from(2.0))])));
        check(r#""\ud83d\ude00\u{1f600}\x41""#, Ok(Value::from("😀😀A")));
        check(r#""\ud800""#, Ok(Value::String(JsString::from_utf16(&[0xd800]))));
    }

    #[test]
    fn anything_else_is_refused_where_it_stands() {
        let cases = [
            ("", "line 1, column 1: expected a value"),
            ("{a:1}\n  x", "line 2, column 3: expected the end of the text"),
            ("{a:\n  foo()}", "line 2, column 3: expected a value"),
            ("{a 1}", "line 1, column 4: expected `:`"),
            ("[1 2]", "line 1, column 4: expected `,` or `]`"),
            ("[,]", "line 1, column 2: expected a value"),
            ("{a:1", "line 1, column 5: expected `,` or `}`"),
            ("'a\nb'", "line 1, column 3: expected a string that ends on its line"),
            ("\"a", "line 1, column 3: expected a string that ends"),
            ("`${a}`", "line 1, column 2: expected a string without substitutions"),
            ("'\\u12'", "line 1, column 4: expected hexadecimal digits"),
            ("/* a", "line 1, column 1: expected a comment that ends"),
            ("-", "line 1, column 2: expected a number"),
        ];
        for (text, expected) in cases {
            check(text, Err(expected));
        }
        check(&"[".repeat(100_000), Err("line 1, column 513: expected less nesting"));
    }
}
