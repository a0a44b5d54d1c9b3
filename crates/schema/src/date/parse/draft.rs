//! A date under construction: the numbers that were read, and what they make together.
//!
//! Depends on local time and the calendar only.

use crate::{
    DateTime,
    date::{local::local_to_utc, time_clip},
    date_time::{MILLIS_PER_DAY, days_from_civil},
};

#[derive(Default)]
pub(super) struct Draft {
    pub(super) day: Day,
    pub(super) time: Time,
    pub(super) zone: Zone,
}

/// The numbers of the day in the order of the text.
#[derive(Default)]
pub(super) struct Day {
    pub(super) numbers: [i32; 3],
    pub(super) len: usize,
    pub(super) month: Option<i32>,
    pub(super) iso: bool,
}

/// Hour, minute, second, millisecond.
#[derive(Default)]
pub(super) struct Time {
    pub(super) parts: [i32; 4],
    pub(super) len: usize,
    /// Hours to add for `am` or `pm`.
    pub(super) noon: Option<i32>,
}

#[derive(Default)]
pub(super) struct Zone {
    pub(super) sign: Option<i32>,
    pub(super) hour: Option<i32>,
    pub(super) minute: Option<i32>,
}

impl Draft {
    pub(super) fn finish(self) -> Option<f64> {
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
    pub(super) fn add(&mut self, number: i32) -> bool {
        let Some(place) = self.numbers.get_mut(self.len) else { return false };
        *place = number;
        self.len += 1;
        true
    }

    /// Year, month from 1, and day. What is missing is 1, and a year of 1 is 2001.
    pub(super) fn finish(self) -> Option<(i32, u32, i32)> {
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
    pub(super) fn add(&mut self, part: i32) -> bool {
        let Some(place) = self.parts.get_mut(self.len) else { return false };
        *place = part;
        self.len += 1;
        true
    }

    pub(super) fn add_last(&mut self, part: i32) {
        self.add(part);
        self.len = self.parts.len();
    }

    pub(super) fn expects(&self, part: i32) -> bool {
        match self.len {
            1 | 2 => part < 60,
            3 => part < 1000,
            _ => false,
        }
    }

    /// Milliseconds of the day.
    pub(super) fn finish(self) -> Option<i64> {
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
    pub(super) fn set_hours(&mut self, hours: i32) {
        *self = Self { sign: Some(if hours < 0 { -1 } else { 1 }), hour: Some(hours.abs()), minute: Some(0) };
    }

    pub(super) fn is_utc(&self) -> bool {
        self.hour == Some(0) && self.minute == Some(0)
    }

    pub(super) fn expects_minute(&self, value: i32) -> bool {
        self.hour.is_some() && self.minute.is_none() && value < 60
    }

    /// Seconds ahead of UTC; inside, `None` for local time; `None` where it is absurd.
    pub(super) fn offset_seconds(&self) -> Option<Option<i64>> {
        let Some(sign) = self.sign else { return Some(None) };
        // No part is negative; V8 computes in 32 bits, and so what it accepts of absurd offsets is accepted here.
        let part = |part: Option<i32>| part.unwrap_or(0).unsigned_abs();
        let seconds = part(self.hour).wrapping_mul(3600).wrapping_add(part(self.minute).wrapping_mul(60));
        let seconds = i32::try_from(seconds).ok()?;
        Some(Some(i64::from(sign * seconds)))
    }
}
