//! Reading dates: the ISO forms, then whatever else V8 takes for a date.
//!
//! Depends on the tokens and the draft of a date. A text is read as ISO as far as that goes;
//! what is left goes through the lenient rules: words before the first number are
//! skipped, `(…)` is a comment, a number before `:` belongs to the time, any
//! other number to the day, names of months and zones are known by their first letters.

mod draft;
mod scan;

use self::{
    draft::{Draft, Zone},
    scan::{MAX_DIGITS, Scanner, Token, Word},
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
