//! The scanner: white space, punctuation, and where strings end.
//!
//! Depends on the reader's fields only.

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
        self.at += 1;
        let start = self.at;
        self.skip_plain();
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

    /// To the next quote, backslash or control character, or the end.
    ///
    /// Hot: looks at eight bytes at once.
    #[inline]
    fn skip_plain(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(chunk) = bytes[self.at..].first_chunk() {
            let stops = stops(u64::from_le_bytes(*chunk));
            if stops != 0 {
                self.at += stops.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
        }
        while let Some(b' '..=b'!' | b'#'..=b'[' | b']'..) = self.byte() {
            self.at += 1;
        }
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
            self.skip_plain();
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

/// The high bit of each byte that ends a run of plain characters: quotes, backslashes,
/// control characters. Above the first such byte there may be false ones.
#[inline]
fn stops(chunk: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let quotes = chunk ^ (ONES * b'"' as u64);
    let backslashes = chunk ^ (ONES * b'\\' as u64);
    // A byte below n is one from which subtracting n borrows, if its own high bit is clear.
    let is_zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let is_control = chunk.wrapping_sub(ONES * 0x20) & !chunk;
    (is_zero(quotes) | is_zero(backslashes) | is_control) & HIGH
}
