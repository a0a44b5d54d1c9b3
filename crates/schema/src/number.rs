//! Numbers as JavaScript writes them.
//!
//! Depends on nothing of ours. Invariant: reading back what is written here gives
//! the same double, except that `-0` is written as `0`.

/// Up to here every integer is exactly a double, so that integers can be written as such.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Appends `String(number)`: the shortest digits that give the number back,
/// `1e21` forms from 10²¹ on, `NaN`, `Infinity`.
///
/// Hot: every number of an outgoing JSON text passes here.
pub fn write_number(out: &mut Vec<u8>, number: f64) {
    if number.abs() <= MAX_SAFE_INTEGER && number.trunc() == number {
        // Exact: the number is an integer below 2^53. `-0` becomes `0` here.
        return write_integer(out, number as i64);
    }
    out.extend_from_slice(ryu_js::Buffer::new().format(number).as_bytes());
}

/// Appends an integer in decimal.
pub fn write_integer(out: &mut Vec<u8>, integer: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = integer.unsigned_abs();
    loop {
        at -= 1;
        // A digit fits a byte.
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if integer < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    out.extend_from_slice(&digits[at..]);
}

/// `String(number)`; see [`write_number`].
///
/// ```
/// use polywire_schema::number_text;
///
/// assert_eq!(number_text(1e21), "1e+21");
/// assert_eq!(number_text(-0.0), "0");
/// assert_eq!(number_text(f64::NAN), "NaN");
/// ```
#[must_use]
pub fn number_text(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    ryu_js::Buffer::new().format(number).to_owned()
}

/// Whether a key belongs to a number index signature: `String(parseInt(key)) === key`,
/// and `key` is not `NaN`.
///
/// ```
/// use polywire_schema::is_number_key;
///
/// assert!(is_number_key("-5"));
/// assert!(!is_number_key("05"));
/// assert!(!is_number_key("1.5"));
/// assert!(!is_number_key("NaN"));
/// ```
#[must_use]
pub fn is_number_key(key: &str) -> bool {
    let digits = key.strip_prefix('-').unwrap_or(key);
    // 21 digits are the most that `String` writes without an exponent.
    if digits.is_empty() || digits.len() > 21 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    key.parse().is_ok_and(|number| number_text(number) == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_javascript_does() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (7.0, "7"),
            (-42.0, "-42"),
            (1234567890123.0, "1234567890123"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (-9_007_199_254_740_993.0, "-9007199254740992"),
            (0.1, "0.1"),
            (-1.5, "-1.5"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (123456789012345680000.0, "123456789012345680000"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (number, expected) in cases {
            let mut out = Vec::new();
            write_number(&mut out, number);
            assert_eq!(String::from_utf8_lossy(&out), expected);
            assert_eq!(number_text(number), expected);
        }
    }

    #[test]
    fn number_keys_are_those_that_parse_int_gives_back() {
        let accepted = ["0", "7", "-5", "4294967295", "9007199254740992", "100000000000000000000"];
        let refused = [
            "",
            "-",
            "-0",
            "05",
            "+5",
            "1.5",
            " 1",
            "1 ",
            "0x10",
            "1e3",
            "a",
            "Infinity",
            "NaN",
            "9007199254740993",
            "12345678901234567890",
            "1000000000000000000000",
            "٣",
        ];
        for key in accepted {
            assert!(is_number_key(key), "{key:?}");
        }
        for key in refused {
            assert!(!is_number_key(key), "{key:?}");
        }
    }
}
