//! Local time: the time zone of the process.
//!
//! Depends on the zone data of the system. Invariant: the same wall time in the
//! same zone is always the same moment; nothing here looks at a clock.

use jiff::{civil, tz::TimeZone};

use crate::date_time::{DAYS_PER_ERA, MILLIS_PER_DAY, civil_from_days};

/// The moment of a local wall time, both in milliseconds since 1970.
///
/// A wall time that a clock change skips is read with the offset before it; one
/// that comes twice is the first of the two.
pub(super) fn local_to_utc(wall: i64) -> i64 {
    let (shifted, cycles) = into_zone_range(wall);
    let moment = wall_clock(shifted).and_then(|time| TimeZone::system().to_ambiguous_timestamp(time).compatible().ok());
    // Without zone data there is UTC.
    moment.map_or(shifted, |moment| moment.as_millisecond()) + cycles * DAYS_PER_ERA * MILLIS_PER_DAY
}

/// A wall time moved by whole cycles of the calendar, after which it repeats, into the years that the zone data knows.
fn into_zone_range(wall: i64) -> (i64, i64) {
    let (year, _, _) = civil_from_days(wall.div_euclid(MILLIS_PER_DAY));
    let cycles = match year {
        ..-9000 => (year + 9000).div_euclid(400),
        9001.. => (year - 9001).div_euclid(400) + 1,
        _ => 0,
    };
    let cycles = i64::from(cycles);
    (wall - cycles * DAYS_PER_ERA * MILLIS_PER_DAY, cycles)
}

fn wall_clock(ms: i64) -> Option<civil::DateTime> {
    let (year, month, day) = civil_from_days(ms.div_euclid(MILLIS_PER_DAY));
    let time = ms.rem_euclid(MILLIS_PER_DAY);
    let part = |value: i64| i8::try_from(value).ok();
    let (month, day) = (month.into(), day.into());
    civil::DateTime::new(
        i16::try_from(year).ok()?,
        part(month)?,
        part(day)?,
        part(time / 3_600_000)?,
        part(time / 60_000 % 60)?,
        part(time / 1000 % 60)?,
        i32::try_from(time % 1000 * 1_000_000).ok()?,
    )
    .ok()
}
