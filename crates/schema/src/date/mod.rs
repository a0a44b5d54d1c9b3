//! Dates as JavaScript has them: milliseconds since 1970 as a double, `NaN` for the invalid date.
//!
//! Depends on [`DateTime`]. Invariant: a time value is `NaN` or a whole number
//! that a [`DateTime`] can hold.

mod local;
mod parse;

use crate::DateTime;

/// The time of `new Date(number)`: cut to whole milliseconds; `NaN` beyond what a date can hold.
#[must_use]
pub fn time_clip(ms: f64) -> f64 {
    if ms.abs() <= DateTime::MAX.unix_millis() as f64 {
        // Adding zero turns -0 into 0.
        return ms.trunc() + 0.0;
    }
    f64::NAN
}

/// The time of `new Date(text)`; `NaN` where the text is no date.
///
/// The ISO forms as ECMAScript defines them (a date alone is UTC, a date with
/// time and without zone is local), then the forms that V8 reads beside them:
/// RFC 2822, `Jan 1, 2020 3:04 pm`, `2020/01/02`, … Local is the time zone of
/// the process (`TZ`, else the system's).
///
/// ```
/// use polywire_schema::parse_date;
///
/// assert_eq!(parse_date("1970-01-01T00:00:00.001Z"), 1.0);
/// assert_eq!(parse_date("Thu, 01 Jan 1970 00:00:01 GMT"), 1000.0);
/// assert!(parse_date("hello").is_nan());
/// ```
#[must_use]
pub fn parse_date(text: &str) -> f64 {
    match DateTime::parse_iso(text.as_bytes()) {
        Some(time) => time.unix_millis() as f64,
        None => parse::parse(text).unwrap_or(f64::NAN),
    }
}

/// `toISOString()`; `None` for the invalid date.
///
/// ```
/// use polywire_schema::iso_text;
///
/// assert_eq!(iso_text(0.0).as_deref(), Some("1970-01-01T00:00:00.000Z"));
/// assert_eq!(iso_text(f64::NAN), None);
/// ```
#[must_use]
pub fn iso_text(ms: f64) -> Option<String> {
    date_time(ms).map(|time| time.to_string())
}

/// The time of a date; `None` for the invalid one.
pub(crate) fn date_time(ms: f64) -> Option<DateTime> {
    let clipped = time_clip(ms);
    if clipped.is_nan() {
        return None;
    }
    // Exact: a whole number below 2^53.
    DateTime::from_unix_millis(clipped as i64)
}

#[cfg(test)]
mod tests;
