//! The present time as the contract writes it.
//!
//! Depends on `std` only. Invariant: the text always has the 24 bytes of
//! `YYYY-MM-DDTHH:MM:SS.mmmZ`, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes of a date in JSON.
pub(crate) const ISO_LEN: usize = 24;

/// The present time in milliseconds since 1970 and as text.
///
/// The text is made anew only when the millisecond has changed.
#[derive(Debug)]
pub(crate) struct Clock {
    millis: u64,
    iso: [u8; ISO_LEN],
}

impl Clock {
    /// A clock that stands at the start of 1970 until it is first read.
    pub(crate) fn new() -> Self {
        Self { millis: 0, iso: *b"1970-01-01T00:00:00.000Z" }
    }

    /// Reads the system's clock.
    pub(crate) fn tick(&mut self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.set(u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
    }

    /// The time of the last [`tick`](Self::tick), in milliseconds since 1970.
    pub(crate) const fn millis(&self) -> u64 {
        self.millis
    }

    /// The time of the last [`tick`](Self::tick) as JSON has it, without quotes.
    pub(crate) const fn iso(&self) -> &[u8; ISO_LEN] {
        &self.iso
    }

    fn set(&mut self, millis: u64) {
        if millis == self.millis {
            return;
        }
        self.millis = millis;
        let seconds = millis / 1000;
        let (year, month, day) = civil_from_days(seconds / 86_400);
        digits(&mut self.iso[0..4], year);
        digits(&mut self.iso[5..7], month);
        digits(&mut self.iso[8..10], day);
        digits(&mut self.iso[11..13], seconds / 3600 % 24);
        digits(&mut self.iso[14..16], seconds / 60 % 60);
        digits(&mut self.iso[17..19], seconds % 60);
        digits(&mut self.iso[20..23], millis % 1000);
    }
}

/// Whether `text` has the shape that [`Clock::iso`] writes.
pub(crate) fn is_iso_date(text: &[u8]) -> bool {
    const SHAPE: &[u8; ISO_LEN] = b"0000-00-00T00:00:00.000Z";
    text.len() == ISO_LEN
        && text.iter().zip(SHAPE).all(|(&byte, &shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            _ => byte == shape,
        })
}

/// Year, month and day of a day counted from the start of 1970.
///
/// Counts in years that begin in March, so that the leap day comes last.
const fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

fn digits(out: &mut [u8], mut number: u64) {
    for byte in out.iter_mut().rev() {
        *byte = b'0' + (number % 10).to_le_bytes()[0];
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_read_as_javascript_writes_them() {
        for (millis, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1, "1970-01-01T00:00:00.001Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
            (4_102_444_799_999, "2099-12-31T23:59:59.999Z"),
        ] {
            let mut clock = Clock::new();
            clock.set(millis);
            assert_eq!(clock.iso(), expected.as_bytes(), "{millis}");
            assert!(is_iso_date(clock.iso()));
        }
    }

    #[test]
    fn other_texts_are_not_dates() {
        for text in [
            "",
            "1970-01-01T00:00:00.000",
            "1970-01-01 00:00:00.000Z",
            "197O-01-01T00:00:00.000Z",
            "1970-01-01T00:00:00.0000Z",
        ] {
            assert!(!is_iso_date(text.as_bytes()), "{text}");
        }
    }
}
