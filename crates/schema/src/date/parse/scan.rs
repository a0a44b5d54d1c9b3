//! The text of a date as tokens.
//!
//! Depends on nothing.

/// Of longer numbers only so many digits count.
pub(super) const MAX_DIGITS: u32 = 9;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token {
    Number {
        value: i32,
        digits: u32,
    },
    Word {
        word: Word,
        len: usize,
    },
    /// One of `: - + . )`.
    Symbol(char),
    Space,
    /// A comment in parentheses, or a character of no meaning.
    Other,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Word {
    Month(i32),
    /// `am`, `pm`: the hours to add.
    Noon(i32),
    /// Hours ahead of UTC.
    Zone(i32),
    TimeSeparator,
    Unknown,
}

impl Token {
    pub(super) fn sign(self) -> Option<i32> {
        match self {
            Self::Symbol('+') => Some(1),
            Self::Symbol('-') => Some(-1),
            _ => None,
        }
    }

    pub(super) fn is_z(self) -> bool {
        matches!(self, Self::Word { word: Word::Zone(0), len: 1 })
    }
}

/// The text as tokens, one ahead.
pub(super) struct Scanner<'a> {
    pub(super) chars: std::iter::Peekable<std::str::Chars<'a>>,
    pub(super) peek: Token,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut scanner = Self { chars: text.chars().peekable(), peek: Token::End };
        scanner.next();
        scanner
    }

    pub(super) fn next(&mut self) -> Token {
        let scanned = self.scan();
        std::mem::replace(&mut self.peek, scanned)
    }

    pub(super) fn skip(&mut self, symbol: char) -> bool {
        let found = self.peek == Token::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }

    /// The next number, if it has so many digits and is admitted.
    pub(super) fn take_number(&mut self, len: u32, admits: impl Fn(i32) -> bool) -> Option<i32> {
        match self.peek {
            Token::Number { value, digits } if digits == len && admits(value) => {
                self.next();
                Some(value)
            }
            _ => None,
        }
    }

    pub(super) fn scan(&mut self) -> Token {
        match self.chars.peek().copied() {
            // V8 takes a NUL for the end.
            None | Some('\0') => Token::End,
            Some('0'..='9') => self.number(),
            Some(symbol @ (':' | '-' | '+' | '.' | ')')) => {
                self.chars.next();
                Token::Symbol(symbol)
            }
            Some(space) if is_space(space) => {
                self.chars.next();
                Token::Space
            }
            Some('A'..) => self.word(),
            Some('(') => self.comment(),
            Some(_) => {
                self.chars.next();
                Token::Other
            }
        }
    }

    pub(super) fn number(&mut self) -> Token {
        let (mut value, mut digits, mut significant) = (0, 0, 0);
        while let Some(digit) = self.chars.peek().and_then(|char| char.to_digit(10)) {
            self.chars.next();
            digits += 1;
            if digit > 0 || significant > 0 {
                significant += 1;
            }
            if significant <= MAX_DIGITS {
                // Nine digits fit.
                value = value * 10 + digit as i32;
            }
        }
        Token::Number { value, digits }
    }

    pub(super) fn word(&mut self) -> Token {
        let mut prefix = ['\0'; 3];
        let mut len = 0;
        while let Some(char) = self.chars.next_if(|char| *char >= 'A' && !is_space(*char)) {
            if let Some(place) = prefix.get_mut(len) {
                *place = char.to_ascii_lowercase();
            }
            len += 1;
        }
        Token::Word { word: Word::known(prefix, len), len }
    }

    pub(super) fn comment(&mut self) -> Token {
        let mut depth = 0_usize;
        while let Some(char) = self.chars.next_if(|char| *char != '\0') {
            match char {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        Token::Other
    }
}

/// White space and line ends of ECMAScript.
fn is_space(char: char) -> bool {
    (char.is_whitespace() && char != '\u{85}') || char == '\u{feff}'
}

impl Word {
    /// Months may go on after their first three letters, all others are given in full.
    pub(super) fn known(prefix: [char; 3], len: usize) -> Self {
        const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
        let text: String = prefix.iter().take(len).collect();
        if let Some(at) = MONTHS.iter().position(|month| *month == text) {
            // Twelve months fit.
            return Self::Month(at as i32 + 1);
        }
        if len > 3 {
            return Self::Unknown;
        }
        match text.as_str() {
            "am" => Self::Noon(0),
            "pm" => Self::Noon(12),
            "z" | "ut" | "utc" | "gmt" => Self::Zone(0),
            "edt" => Self::Zone(-4),
            "cdt" | "est" => Self::Zone(-5),
            "mdt" | "cst" => Self::Zone(-6),
            "pdt" | "mst" => Self::Zone(-7),
            "pst" => Self::Zone(-8),
            "t" => Self::TimeSeparator,
            _ => Self::Unknown,
        }
    }
}
