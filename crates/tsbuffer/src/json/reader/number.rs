//! Numbers at the start of a text.
//!
//! Depends on nothing. Invariant: what is accepted is the longest JSON number
//! that the text begins with.

use polywire_schema::SAFE_INTEGER;

/// So many digits always fit a double exactly.
const EXACT_DIGITS: usize = 15;

const POWERS_OF_TEN: [f64; EXACT_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The number that a text begins with and its length in bytes.
#[inline]
pub(super) fn number(text: &str) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let start = usize::from(bytes.first() == Some(&b'-'));
    let (mut mantissa, whole_digits) = digits(bytes, start, 0);
    if whole_digits == 0 || (whole_digits > 1 && bytes[start] == b'0') {
        return None;
    }
    let mut at = start + whole_digits;
    let mut fraction_digits = 0;
    if bytes.get(at) == Some(&b'.') {
        (mantissa, fraction_digits) = digits(bytes, at + 1, mantissa);
        if fraction_digits == 0 {
            return None;
        }
        at += 1 + fraction_digits;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) || whole_digits + fraction_digits > EXACT_DIGITS {
        return slow_number(text, at);
    }
    // Both are exact, so that the quotient is rounded once, and correctly.
    let number = mantissa as f64 / POWERS_OF_TEN[fraction_digits];
    Some((if start == 1 { -number } else { number }, at))
}

/// With an exponent or many digits; `at` is behind the digits.
#[cold]
fn slow_number(text: &str, mut at: usize) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let (_, exponent_digits) = digits(bytes, at, 0);
        if exponent_digits == 0 {
            return None;
        }
        at += exponent_digits;
    }
    text[..at].parse().ok().map(|number| (number, at))
}

/// The whole number that a text begins with and its length in bytes.
#[inline]
pub(super) fn integer(text: &str) -> Option<(i64, usize)> {
    let bytes = text.as_bytes();
    let start = usize::from(bytes.first() == Some(&b'-'));
    let (magnitude, count) = digits(bytes, start, 0);
    let at = start + count;
    let more = matches!(bytes.get(at), Some(b'.' | b'e' | b'E'));
    if count == 0 || count > EXACT_DIGITS || more || (count > 1 && bytes[start] == b'0') {
        return slow_integer(text);
    }
    // Fifteen digits fit.
    let magnitude = magnitude as i64;
    Some((if start == 1 { -magnitude } else { magnitude }, at))
}

#[cold]
fn slow_integer(text: &str) -> Option<(i64, usize)> {
    let (number, len) = number(text)?;
    let is_safe = number.trunc() == number && number.abs() <= SAFE_INTEGER as f64;
    // Exact: a whole number below 2^53.
    is_safe.then_some((number as i64, len))
}

/// Digits appended to a number (which wraps beyond nineteen of them), and how many there are.
#[inline]
fn digits(bytes: &[u8], start: usize, mut number: u64) -> (u64, usize) {
    let mut at = start;
    while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        at += 1;
    }
    (number, at - start)
}
