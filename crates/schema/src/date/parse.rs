//! Reading dates: the ISO forms, then whatever else V8 takes for a date.
//!
//! Depends on [`local`](super::local). A text is read as ISO as far as that goes;
//! what is left goes through the lenient rules: words before the first number are
//! skipped, `(…)` is a comment, a number before `:` belongs to the time, any
//! other number to the day, names of months and zones are known by their first letters.

use super::{local::local_to_utc, time_clip};
use crate::{
    DateTime,
    date_time::{MILLIS_PER_DAY, days_from_civil},
};

/// The time of a text in milliseconds, or `NaN`; `None` where it is no date.
pub(super) fn parse(text: &str) -> Option<f64> {
    let mut scanner = Scanner::new(text);
    let mut draft = Draft::default();
    match iso(&mut scanner, &mut draft)? {
        Token::End => {}
        rest => lenient(rest, &mut scanner, &mut draft)?,
    }
    draft.finish()
}

/// Reads an ISO date as far as it goes and returns the token where it stops:
/// [`Token::End`] if it is complete, `None` if the text is no date at all.
fn iso(scanner: &mut Scanner<'_>, draft: &mut Draft) -> Option<Token> {
    if let Some(sign) = scanner.peek.sign() {
        let sign_token = scanner.next();
        match scanner.take_number(6, |_| true) {
            Some(0) if sign < 0 => return Some(sign_token),
            Some(year) => draft.day.add(sign * year),
            None => return Some(sign_token),
        };
    } else if let Some(year) = scanner.take_number(4, |_| true) {
        draft.day.add(year);
    } else {
        return Some(scanner.next());
    }
    for limit in [12, 31] {
        if !scanner.skip('-') {
            break;
        }
        let Some(part) = scanner.take_number(2, |part| (1..=limit).contains(&part)) else {
            return Some(scanner.next());
        };
        draft.day.add(part);
    }
    match scanner.peek {
        Token::End => draft.zone.set_hours(0),
        Token::Word { word: Word::TimeSeparator, .. } => {
            scanner.next();
            iso_time(scanner, draft)?;
        }
        _ => return Some(scanner.next()),
    }
    draft.day.iso = true;
    Some(Token::End)
}

/// After a `T` only ISO is a date.
fn iso_time(scanner: &mut Scanner<'_>, draft: &mut Draft) -> Option<()> {
    let hour = scanner.take_number(2, |hour| hour <= 24)?;
    let sixtieth = |part: i32| part < 60 && (hour < 24 || part == 0);
    draft.time.add(hour);
    scanner.skip(':').then_some(())?;
    draft.time.add(scanner.take_number(2, sixtieth)?);
    if scanner.skip(':') {
        draft.time.add(scanner.take_number(2, sixtieth)?);
        if scanner.skip('.') {
            let Token::Number { value, digits } = scanner.next() else { return None };
            if hour == 24 && value > 0 {
                return None;
            }
            draft.time.add(milliseconds(value, digits));
        }
    }
    if scanner.peek.is_z() {
        scanner.next();
        draft.zone.set_hours(0);
    } else if let Some(sign) = scanner.peek.sign() {
        scanner.next();
        let (hour, minute) = match scanner.take_number(4, |_| true) {
            Some(joined) => (joined / 100, joined % 100),
            None => {
                let hour = scanner.take_number(2, |_| true)?;
                scanner.skip(':').then_some(())?;
                (hour, scanner.take_number(2, |_| true)?)
            }
        };
        if hour > 23 || minute > 59 {
            return None;
        }
        draft.zone = Zone { sign: Some(sign), hour: Some(hour), minute: Some(minute) };
    }
    (scanner.peek == Token::End).then_some(())
}

/// Reads the rest by the lenient rules, starting with a token already taken.
fn lenient(first: Token, scanner: &mut Scanner<'_>, draft: &mut Draft) -> Option<()> {
    let mut has_number = draft.day.len > 0;
    let mut token = first;
    while token != Token::End {
        match token {
            Token::Number { value, .. } => {
                has_number = true;
                lenient_number(value, scanner, draft)?;
            }
            Token::Word { word, .. } => match word {
                Word::Noon(offset) if draft.time.len > 0 => draft.time.noon = Some(offset),
                Word::Month(month) => {
                    draft.day.month = Some(month);
                    scanner.skip('-');
                }
                Word::Zone(hours) if has_number => draft.zone.set_hours(hours),
                // A word of no meaning: only in front of the first number, and not glued to it.
                _ if has_number || matches!(scanner.peek, Token::Number { .. }) => return None,
                _ => {}
            },
            _ => match token.sign() {
                Some(sign) if draft.zone.is_utc() || draft.time.len > 0 => {
                    has_number = true;
                    lenient_offset(sign, scanner, draft)?;
                }
                Some(_) if has_number => return None,
                _ if token == Token::Symbol(')') && has_number => return None,
                _ => {}
            },
        }
        token = scanner.next();
    }
    Some(())
}

fn lenient_number(value: i32, scanner: &mut Scanner<'_>, draft: &mut Draft) -> Option<()> {
    let time = &mut draft.time;
    if scanner.skip(':') {
        if scanner.skip(':') {
            if time.len > 0 {
                return None;
            }
            time.add(value);
            time.add(0);
            return Some(());
        }
        time.add(value).then_some(())?;
        scanner.skip('.');
        return Some(());
    }
    if scanner.skip('.') && time.expects(value) {
        time.add(value);
        let Token::Number { value, digits } = scanner.next() else { return None };
        time.add_last(milliseconds(value, digits));
        return Some(());
    }
    if draft.zone.expects_minute(value) {
        draft.zone.minute = Some(value);
        return Some(());
    }
    if time.expects(value) {
        time.add_last(value);
        let ends = matches!(scanner.peek, Token::End | Token::Space) || scanner.peek.is_z();
        return (ends || scanner.peek.sign().is_some()).then_some(());
    }
    draft.day.add(value).then_some(())?;
    scanner.skip('-');
    Some(())
}

/// An offset from UTC: `+hh`, `+hhmm`, `+hh:` with the minutes to come.
fn lenient_offset(sign: i32, scanner: &mut Scanner<'_>, draft: &mut Draft) -> Option<()> {
    let zone = &mut draft.zone;
    zone.sign = Some(sign);
    let (value, digits) = match scanner.peek {
        Token::Number { value, digits } => {
            scanner.next();
            (value, digits)
        }
        _ => (0, 0),
    };
    (zone.hour, zone.minute) = match digits {
        _ if scanner.peek == Token::Symbol(':') => (Some(value), None),
        1 | 2 => (Some(value), Some(0)),
        3 | 4 => (Some(value / 100), Some(value % 100)),
        _ => return None,
    };
    Some(())
}

/// The first three digits behind the point, as milliseconds.
fn milliseconds(value: i32, digits: u32) -> i32 {
    match digits {
        0..3 => value * 10_i32.pow(3 - digits),
        _ => value / 10_i32.pow(digits.min(MAX_DIGITS) - 3),
    }
}

/// Of longer numbers only so many digits count.
const MAX_DIGITS: u32 = 9;

#[derive(Default)]
struct Draft {
    day: Day,
    time: Time,
    zone: Zone,
}

/// The numbers of the day in the order of the text.
#[derive(Default)]
struct Day {
    numbers: [i32; 3],
    len: usize,
    month: Option<i32>,
    iso: bool,
}

/// Hour, minute, second, millisecond.
#[derive(Default)]
struct Time {
    parts: [i32; 4],
    len: usize,
    /// Hours to add for `am` or `pm`.
    noon: Option<i32>,
}

#[derive(Default)]
struct Zone {
    sign: Option<i32>,
    hour: Option<i32>,
    minute: Option<i32>,
}

impl Draft {
    fn finish(self) -> Option<f64> {
        let (year, month, day) = self.day.finish()?;
        let time = self.time.finish()?;
        // Years beyond are no dates; and below, nothing overflows.
        if !(-1_000_000..=1_000_000).contains(&year) {
            return None;
        }
        let days = days_from_civil(year.into(), month, 1) + i64::from(day - 1);
        let wall = days * MILLIS_PER_DAY + time;
        let ms = match self.zone.offset_seconds()? {
            Some(seconds) => wall - seconds * 1000,
            None if wall.abs() <= DateTime::MAX.unix_millis() + MAX_LOCAL_EXCESS => local_to_utc(wall),
            None => return None,
        };
        Some(time_clip(ms as f64))
    }
}

/// A local time this far beyond the limits is not looked at.
const MAX_LOCAL_EXCESS: i64 = 30 * MILLIS_PER_DAY;

impl Day {
    fn add(&mut self, number: i32) -> bool {
        let Some(place) = self.numbers.get_mut(self.len) else { return false };
        *place = number;
        self.len += 1;
        true
    }

    /// Year, month from 1, and day. What is missing is 1, and a year of 1 is 2001.
    fn finish(self) -> Option<(i32, u32, i32)> {
        if self.len == 0 {
            return None;
        }
        let [a, b, c] = std::array::from_fn(|at| if at < self.len { self.numbers[at] } else { 1 });
        let is_day = |number: i32| (1..=31).contains(&number);
        let (year, month, day) = match self.month {
            None if self.iso || !is_day(a) => (a, b, c),
            None => (c, a, b),
            Some(month) if is_day(a) => (b, month, a),
            Some(month) => (a, month, b),
        };
        let year = match year {
            0..=49 if !self.iso => year + 2000,
            50..=99 if !self.iso => year + 1900,
            _ => year,
        };
        let month = u32::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
        is_day(day).then_some((year, month, day))
    }
}

impl Time {
    fn add(&mut self, part: i32) -> bool {
        let Some(place) = self.parts.get_mut(self.len) else { return false };
        *place = part;
        self.len += 1;
        true
    }

    fn add_last(&mut self, part: i32) {
        self.add(part);
        self.len = self.parts.len();
    }

    fn expects(&self, part: i32) -> bool {
        match self.len {
            1 | 2 => part < 60,
            3 => part < 1000,
            _ => false,
        }
    }

    /// Milliseconds of the day.
    fn finish(self) -> Option<i64> {
        let [mut hour, minute, second, ms] = self.parts;
        if let Some(offset) = self.noon {
            if hour > 12 {
                return None;
            }
            hour = hour % 12 + offset;
        }
        let in_range = hour < 24 && minute < 60 && second < 60 && ms < 1000;
        if !in_range && (hour, minute, second, ms) != (24, 0, 0, 0) {
            return None;
        }
        let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
        Some(seconds * 1000 + i64::from(ms))
    }
}

impl Zone {
    fn set_hours(&mut self, hours: i32) {
        *self = Self { sign: Some(if hours < 0 { -1 } else { 1 }), hour: Some(hours.abs()), minute: Some(0) };
    }

    fn is_utc(&self) -> bool {
        self.hour == Some(0) && self.minute == Some(0)
    }

    fn expects_minute(&self, value: i32) -> bool {
        self.hour.is_some() && self.minute.is_none() && value < 60
    }

    /// Seconds ahead of UTC; inside, `None` for local time; `None` where it is absurd.
    fn offset_seconds(&self) -> Option<Option<i64>> {
        let Some(sign) = self.sign else { return Some(None) };
        // No part is negative; V8 computes in 32 bits, and so what it accepts of absurd offsets is accepted here.
        let part = |part: Option<i32>| part.unwrap_or(0).unsigned_abs();
        let seconds = part(self.hour).wrapping_mul(3600).wrapping_add(part(self.minute).wrapping_mul(60));
        let seconds = i32::try_from(seconds).ok()?;
        Some(Some(i64::from(sign * seconds)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
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
enum Word {
    Month(i32),
    /// `am`, `pm`: the hours to add.
    Noon(i32),
    /// Hours ahead of UTC.
    Zone(i32),
    TimeSeparator,
    Unknown,
}

impl Token {
    fn sign(self) -> Option<i32> {
        match self {
            Self::Symbol('+') => Some(1),
            Self::Symbol('-') => Some(-1),
            _ => None,
        }
    }

    fn is_z(self) -> bool {
        matches!(self, Self::Word { word: Word::Zone(0), len: 1 })
    }
}

/// The text as tokens, one ahead.
struct Scanner<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    peek: Token,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        let mut scanner = Self { chars: text.chars().peekable(), peek: Token::End };
        scanner.next();
        scanner
    }

    fn next(&mut self) -> Token {
        let scanned = self.scan();
        std::mem::replace(&mut self.peek, scanned)
    }

    fn skip(&mut self, symbol: char) -> bool {
        let found = self.peek == Token::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }

    /// The next number, if it has so many digits and is admitted.
    fn take_number(&mut self, len: u32, admits: impl Fn(i32) -> bool) -> Option<i32> {
        match self.peek {
            Token::Number { value, digits } if digits == len && admits(value) => {
                self.next();
                Some(value)
            }
            _ => None,
        }
    }

    fn scan(&mut self) -> Token {
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

    fn number(&mut self) -> Token {
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

    fn word(&mut self) -> Token {
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

    fn comment(&mut self) -> Token {
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
    fn known(prefix: [char; 3], len: usize) -> Self {
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
