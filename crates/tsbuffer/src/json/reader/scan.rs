//! The scanner: white space, punctuation, and where strings end.
//!
//! Depends on the reader's fields only.

use polywire_schema::json_plain_len;

use super::{JsonReader, Refused};

/// The text between the quotes of a string.
pub(super) struct Scanned<'a> {
    pub(super) text: &'a str,
    pub(super) escaped: bool,
}

impl<'a> JsonReader<'a> {
    #[inline]
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte behind white space.
    #[inline]
    pub(super) fn peek_byte(&mut self) -> Option<u8> {
        match self.byte() {
            Some(byte) if byte <= b' ' => {
                self.skip_space();
                self.byte()
            }
            byte => byte,
        }
    }

    #[inline]
    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
    }

    #[inline]
    pub(super) fn expect(&mut self, expected: u8) -> Result<(), Refused> {
        if self.peek_byte() != Some(expected) {
            return Err(Refused);
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    pub(super) fn literal(&mut self, literal: &str) -> Result<(), Refused> {
        if !self.text.as_bytes()[self.at..].starts_with(literal.as_bytes()) {
            return Err(Refused);
        }
        self.at += literal.len();
        Ok(())
    }

    #[inline]
    pub(super) fn begin(&mut self, bracket: u8) -> Result<(), Refused> {
        self.expect(bracket)?;
        self.depth_left = self.depth_left.checked_sub(1).ok_or(Refused)?;
        self.fresh = true;
        Ok(())
    }

    #[inline]
    pub(super) fn end(&mut self) {
        self.at += 1;
        self.depth_left += 1;
        self.fresh = false;
    }

    /// The position of a string's opening quote, which comes next.
    #[inline]
    pub(super) fn begin_string(&mut self) -> Result<usize, Refused> {
        if self.peek_byte() == Some(b'"') { Ok(self.at) } else { Err(Refused) }
    }

    /// Takes a string, whose opening quote is next, and checks its escapes.
    #[inline]
    pub(super) fn scan_string(&mut self) -> Result<Scanned<'a>, Refused> {
        let start = self.at + 1;
        self.at = start + json_plain_len(&self.text.as_bytes()[start..]);
        let escaped = self.byte() == Some(b'\\');
        if escaped {
            self.skip_escaped()?;
        }
        if self.byte() != Some(b'"') {
            return Err(Refused);
        }
        let text = &self.text[start..self.at];
        self.at += 1;
        Ok(Scanned { text, escaped })
    }

    #[cold]
    fn skip_escaped(&mut self) -> Result<(), Refused> {
        while self.byte() == Some(b'\\') {
            self.at += 1;
            let escape = self.byte().ok_or(Refused)?;
            self.at += 1;
            match escape {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                b'u' => {
                    let digits = self.text.as_bytes()[self.at..].first_chunk::<4>().ok_or(Refused)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return Err(Refused);
                    }
                    self.at += 4;
                }
                _ => return Err(Refused),
            }
            self.at += json_plain_len(&self.text.as_bytes()[self.at..]);
        }
        Ok(())
    }

    pub(super) fn skip_object(&mut self) -> Result<(), Refused> {
        self.begin_object()?;
        loop {
            if self.peek_byte() == Some(b'}') {
                self.end();
                return Ok(());
            }
            if !self.fresh {
                self.expect(b',')?;
            }
            self.fresh = false;
            self.begin_string()?;
            self.scan_string()?;
            self.expect(b':')?;
            self.skip_value()?;
        }
    }
}
