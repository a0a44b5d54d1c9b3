//! `Date` in Rust.
//!
//! Depends on the type model only. Invariant: a [`DateTime`] is a whole number
//! of milliseconds within what a JavaScript `Date` can hold.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime},
};

use crate::{Mismatch, Registry, Schema, Type, Value};

/// A point in time with a resolution of one millisecond: JavaScript's `Date`.
///
/// Holds the years −271,821 to 275,760. Printed and parsed in the form that
/// `Date.prototype.toJSON` writes.
///
/// ```
/// use polywire_schema::DateTime;
///
/// let time = DateTime::from_unix_millis(1_700_000_000_123).unwrap();
/// assert_eq!(time.to_string(), "2023-11-14T22:13:20.123Z");
/// assert_eq!("2023-11-14T22:13:20.123Z".parse(), Ok(time));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    millis: i64,
}

pub(crate) const MILLIS_PER_DAY: i64 = 86_400_000;

impl DateTime {
    /// The earliest: 100,000,000 days before 1970.
    pub const MIN: Self = Self { millis: -8_640_000_000_000_000 };
    /// The latest: 100,000,000 days after 1970.
    pub const MAX: Self = Self { millis: 8_640_000_000_000_000 };
    /// 1970-01-01T00:00:00.000Z.
    pub const UNIX_EPOCH: Self = Self { millis: 0 };

    /// Now, by the system's clock.
    #[must_use]
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// From milliseconds since 1970; `None` outside of [`MIN`](Self::MIN) to [`MAX`](Self::MAX).
    #[must_use]
    pub const fn from_unix_millis(millis: i64) -> Option<Self> {
        if millis < Self::MIN.millis || millis > Self::MAX.millis {
            return None;
        }
        Some(Self { millis })
    }

    /// Milliseconds since 1970; negative before.
    #[must_use]
    pub const fn unix_millis(self) -> i64 {
        self.millis
    }

    /// The time elapsed since another point; zero where that one is later.
    #[must_use]
    pub fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.millis - earlier.millis).unwrap_or(0))
    }

    /// Appends the form that `toJSON` writes, without quotes: 24 bytes in the years 0 to 9999, else 27.
    pub fn write_iso(self, out: &mut Vec<u8>) {
        let (year, month, day) = civil_from_days(self.millis.div_euclid(MILLIS_PER_DAY));
        let millis = self.millis.rem_euclid(MILLIS_PER_DAY) as u32;
        let mut text = *b"+000000-00-00T00:00:00.000Z";
        put(&mut text[1..7], year.unsigned_abs());
        put(&mut text[8..10], month);
        put(&mut text[11..13], day);
        put(&mut text[14..16], millis / 3_600_000);
        put(&mut text[17..19], millis / 60_000 % 60);
        put(&mut text[20..22], millis / 1000 % 60);
        put(&mut text[23..26], millis % 1000);
        if (0..=9999).contains(&year) {
            out.extend_from_slice(&text[3..]);
            return;
        }
        if year < 0 {
            text[0] = b'-';
        }
        out.extend_from_slice(&text);
    }

    /// Reads exactly the form that [`write_iso`](Self::write_iso) writes; `None` for every other.
    #[must_use]
    pub fn parse_iso(text: &[u8]) -> Option<Self> {
        let (negative, year, rest) = match text {
            [sign @ (b'+' | b'-'), rest @ ..] if text.len() == 27 => (*sign == b'-', number(&rest[..6])?, &rest[6..]),
            _ if text.len() == 24 => (false, number(&text[..4])?, &text[4..]),
            _ => return None,
        };
        let &[b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2, b'.', f1, f2, f3, b'Z'] = rest
        else {
            return None;
        };
        // The long form is for the years outside 0 to 9999, and there is no year −0.
        if text.len() == 27 && !negative && year <= 9999 || negative && year == 0 {
            return None;
        }
        let year = if negative { -i64::from(year) } else { i64::from(year) };
        let (month, day) = (number(&[m1, m2])?, number(&[d1, d2])?);
        let (hour, minute, second) = (number(&[h1, h2])?, number(&[n1, n2])?, number(&[s1, s2])?);
        let fraction = number(&[f1, f2, f3])?;
        let valid = (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        if !valid {
            return None;
        }
        let in_day = ((hour * 60 + minute) * 60 + second) * 1000 + fraction;
        Self::from_unix_millis(days_from_civil(year, month, day) * MILLIS_PER_DAY + i64::from(in_day))
    }
}

/// Right-aligned decimal digits.
fn put(digits: &mut [u8], mut number: u32) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, digit| match digit {
        b'0'..=b'9' => Some(number * 10 + u32::from(digit - b'0')),
        _ => None,
    })
}

fn days_in_month(year: i64, month: u32) -> u32 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 of a date of the proleptic Gregorian calendar. Years begin in
/// March here, so that the leap day is the last of its year; eras have 400 years.
pub(crate) fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = i64::from((153 * ((month + 9) % 12) + 2) / 5 + day - 1);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970
}

/// The inverse of [`days_from_civil`].
pub(crate) fn civil_from_days(days: i64) -> (i32, u32, u32) {
    let days = days + DAYS_TO_1970;
    let era = days.div_euclid(DAYS_PER_ERA);
    let day_of_era = days.rem_euclid(DAYS_PER_ERA) as u32;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era as i32 * 400 + year_of_era as i32 + i32::from(month <= 2);
    (year, month, day)
}

pub(crate) const DAYS_PER_ERA: i64 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(27);
        self.write_iso(&mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

impl fmt::Debug for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a time as `toJSON` writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a time of the form YYYY-MM-DDTHH:mm:ss.sssZ")]
pub struct ParseDateTimeError;

impl FromStr for DateTime {
    type Err = ParseDateTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse_iso(text.as_bytes()).ok_or(ParseDateTimeError)
    }
}

impl From<SystemTime> for DateTime {
    /// Cuts to whole milliseconds, downwards; times outside of the range become its ends.
    fn from(time: SystemTime) -> Self {
        let millis = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(error) => {
                let before = error.duration().as_nanos().div_ceil(1_000_000);
                i64::try_from(before).map_or(i64::MIN, |millis| -millis)
            }
        };
        Self { millis: millis.clamp(Self::MIN.millis, Self::MAX.millis) }
    }
}

impl From<DateTime> for SystemTime {
    fn from(time: DateTime) -> Self {
        let distance = Duration::from_millis(time.millis.unsigned_abs());
        match time.millis {
            0.. => Self::UNIX_EPOCH + distance,
            _ => Self::UNIX_EPOCH - distance,
        }
    }
}

impl Schema for DateTime {
    fn describe(_: &mut Registry) -> Type {
        Type::Date
    }

    fn to_value(&self) -> Value {
        Value::Date(self.millis as f64)
    }

    fn from_value(value: Value) -> Result<Self, Mismatch> {
        let Value::Date(millis) = value else { return Err(Mismatch::kind("Date", &value)) };
        if millis.is_nan() {
            return Err(Mismatch::new("The date is invalid."));
        }
        Self::from_unix_millis(millis as i64)
            .ok_or_else(|| Mismatch::new(format!("The date `{millis}` is out of range.")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_javascript_prints_and_reads_it_back() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "+010000-01-01T00:00:00.000Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
            (-62_167_219_200_001, "-000001-12-31T23:59:59.999Z"),
            (8_640_000_000_000_000, "+275760-09-13T00:00:00.000Z"),
            (-8_640_000_000_000_000, "-271821-04-20T00:00:00.000Z"),
        ];
        for (millis, text) in cases {
            let time = DateTime::from_unix_millis(millis).unwrap();
            assert_eq!(time.to_string(), text);
            assert_eq!(text.parse(), Ok(time), "{text}");
        }
    }

    #[test]
    fn reads_no_other_form() {
        let cases = [
            "",
            "2023-11-14",
            "2023-11-14T22:13:20Z",
            "2023-11-14T22:13:20.123",
            "2023-11-14t22:13:20.123Z",
            "2023-02-29T00:00:00.000Z",
            "2023-13-01T00:00:00.000Z",
            "2023-00-01T00:00:00.000Z",
            "2023-01-00T00:00:00.000Z",
            "2023-01-01T24:00:00.000Z",
            "2023-01-01T00:60:00.000Z",
            "+002023-01-01T00:00:00.000Z",
            "-000000-01-01T00:00:00.000Z",
            "+275760-09-13T00:00:00.001Z",
            "20x3-01-01T00:00:00.000Z",
        ];
        for text in cases {
            assert_eq!(text.parse::<DateTime>(), Err(ParseDateTimeError), "{text}");
        }
    }

    #[test]
    fn every_day_of_eight_centuries_survives_the_calendar() {
        for days in -150_000..150_000 {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year.into(), month, day), days);
        }
    }

    #[test]
    fn system_time_keeps_milliseconds() {
        for millis in [-86_400_001, -1, 0, 1, 1_700_000_000_123] {
            let time = DateTime::from_unix_millis(millis).unwrap();
            assert_eq!(DateTime::from(SystemTime::from(time)), time);
        }
        let early = SystemTime::UNIX_EPOCH - Duration::from_micros(1);
        assert_eq!(DateTime::from(early).unix_millis(), -1);
    }
}
