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
    ///
    /// Hot: replies and broadcasts carry times.
    pub fn write_iso(self, out: &mut Vec<u8>) {
        let (year, month, day) = civil_from_days(self.millis.div_euclid(MILLIS_PER_DAY));
        let millis = self.millis.rem_euclid(MILLIS_PER_DAY) as u32;
        let seconds = millis / 1000;
        let minutes = seconds / 60;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let mut put = |at: usize, number: u32| text[at..at + 2].copy_from_slice(&PAIRS[number as usize]);
        put(5, month);
        put(8, day);
        put(11, minutes / 60);
        put(14, minutes % 60);
        put(17, seconds % 60);
        put(20, millis % 1000 / 10);
        if (0..=9999).contains(&year) {
            put(0, year as u32 / 100);
            put(2, year as u32 % 100);
        } else {
            let sign = if year < 0 { b'-' } else { b'+' };
            let year = year.unsigned_abs();
            let digits = [PAIRS[year as usize / 10_000], PAIRS[year as usize / 100 % 100], PAIRS[year as usize % 100]];
            out.push(sign);
            out.extend_from_slice(&digits.as_flattened()[..2]);
            text[..4].copy_from_slice(&digits.as_flattened()[2..]);
        }
        text[22] = b'0' + (millis % 10) as u8;
        out.extend_from_slice(&text);
    }

    /// Reads exactly the form that [`write_iso`](Self::write_iso) writes; `None` for every other.
    ///
    /// Hot, as that.
    #[must_use]
    pub fn parse_iso(text: &[u8]) -> Option<Self> {
        if let Ok(text) = text.try_into() {
            let parts = Parts::parse(text)?;
            return parts.at(parts.year);
        }
        // The long form is for the years outside 0 to 9999, and there is no year −0.
        let (&[sign, c1 @ b'0'..=b'9', c2 @ b'0'..=b'9'], rest) = text.split_first_chunk()? else { return None };
        let parts = Parts::parse(rest.try_into().ok()?)?;
        let year = i64::from(c1 - b'0') * 100_000 + i64::from(c2 - b'0') * 10_000 + parts.year;
        match sign {
            b'+' if year > 9999 => parts.at(year),
            b'-' if year > 0 => parts.at(-year),
            _ => None,
        }
    }
}

/// What stands in a time, unchecked but for being numbers.
struct Parts {
    year: i64,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    millis: u32,
}

impl Parts {
    /// The parts of `YYYY-MM-DDTHH:mm:ss.sssZ`, eight letters at once.
    #[inline]
    fn parse(text: &[u8; 24]) -> Option<Self> {
        let (date, rest) = Self::digits(text, b"0000-00-")?;
        let (middle, rest) = Self::digits(rest, b"00T00:00")?;
        let (end, _) = Self::digits(rest, b":00.000Z")?;
        // Each byte becomes the number that it makes with the one behind it; 99 fits, so none reaches the next.
        let pairs = |digits: u64| (digits * 10 + (digits >> 8)).to_le_bytes();
        let ([y1, _, y2, _, _, month, ..], [day, _, _, hour, _, _, minute, _]) = (pairs(date), pairs(middle));
        let [_, second, _, _, millis, _, last, _] = pairs(end);
        Some(Self {
            year: i64::from(y1) * 100 + i64::from(y2),
            month: month.into(),
            day: day.into(),
            hour: hour.into(),
            minute: minute.into(),
            second: second.into(),
            millis: u32::from(millis) * 10 + u32::from(last) / 10,
        })
    }

    /// The values of the first eight letters, which are digits where the pattern has a zero
    /// and those of the pattern elsewhere (of which the value is 0); and what follows.
    #[inline]
    fn digits<'t>(text: &'t [u8], pattern: &[u8; 8]) -> Option<(u64, &'t [u8])> {
        const HIGH_HALVES: u64 = u64::from_ne_bytes([0xf0; 8]);
        const SIXES: u64 = u64::from_ne_bytes([6; 8]);
        let (letters, rest) = text.split_first_chunk()?;
        let digits = u64::from_le_bytes(*letters) ^ u64::from_le_bytes(*pattern);
        let separators = u64::from_le_bytes(pattern.map(|letter| if letter == b'0' { 0 } else { 0xff }));
        // Up to 9, a digit stays in the lower half of its byte also with 6 added.
        let are_digits = (digits | ((digits & !HIGH_HALVES) + SIXES)) & HIGH_HALVES == 0;
        (are_digits && digits & separators == 0).then_some((digits, rest))
    }

    /// The point in time, in this year; `None` where there is none such.
    #[inline]
    fn at(&self, year: i64) -> Option<DateTime> {
        let &Self { month, day, hour, minute, second, millis, .. } = self;
        let exists = (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        if !exists {
            return None;
        }
        let in_day = ((hour * 60 + minute) * 60 + second) * 1000 + millis;
        DateTime::from_unix_millis(days_from_civil(year, month, day) * MILLIS_PER_DAY + i64::from(in_day))
    }
}

/// The two digits of each number below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

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

/// The inverse of [`days_from_civil`], for the days that dates can be in and a century around them.
pub(crate) fn civil_from_days(days: i64) -> (i32, u32, u32) {
    const DAYS_PER_ERA: u32 = self::DAYS_PER_ERA as u32;
    // Unsigned arithmetic takes half the time: days are counted from the first era.
    let days = (days + DAYS_TO_1970 + FIRST_ERA * self::DAYS_PER_ERA) as u32;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = (era * 400 + year_of_era) as i32 - FIRST_ERA as i32 * 400 + i32::from(month <= 2);
    (year, month, day)
}

pub(crate) const DAYS_PER_ERA: i64 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;
/// How many eras before the year 0 the first begins that a date can be in.
const FIRST_ERA: i64 = 680;

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

impl From<DateTime> for Value {
    fn from(time: DateTime) -> Self {
        Self::Date(time.millis as f64)
    }
}

impl Schema for DateTime {
    fn describe(_: &mut Registry) -> Type {
        Type::Date
    }

    fn to_value(&self) -> Value {
        Value::from(*self)
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
            assert_eq!(Value::from(time), Value::Date(millis as f64));
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
            "2023-01-01T00:00:00.00:Z",
            "2023-01-01T00:00:00.0/0Z",
            "2023-01-01T00:00:00.\u{ff}0Z",
            "+12023-01-01T00:00:00.000Z",
            "+x12023-01-01T00:00:00.000Z",
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
