//! Variable-length integers and the integers of JavaScript (reference §5.1).
//!
//! Depends on nothing. Everything here is a pure function of numbers; reading
//! with bounds is the reader's.

/// The most bytes that a varint of 64 bits takes.
pub const MAX_VARINT_LEN: usize = 10;

/// A varint as written: 1 to 10 bytes, least significant group first, minimal.
///
/// Can be made at compile time, so that a constant tag costs one copy.
///
/// ```
/// use polywire_tsbuffer::binary::Varint;
///
/// const THREE_HUNDRED: Varint = Varint::new(300);
/// assert_eq!(THREE_HUNDRED.as_bytes(), [0xac, 0x02]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Varint {
    bytes: [u8; MAX_VARINT_LEN],
    len: u8,
}

impl Varint {
    /// The varint of a value.
    #[must_use]
    pub const fn new(value: u64) -> Self {
        let mut bytes = [0; MAX_VARINT_LEN];
        let mut rest = value;
        let mut len = 0;
        while rest >= 0x80 {
            bytes[len as usize] = rest as u8 | 0x80;
            rest >>= 7;
            len += 1;
        }
        bytes[len as usize] = rest as u8;
        Self { bytes, len: len + 1 }
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        self.bytes.split_at(self.len as usize).0
    }
}

/// Small magnitudes of either sign become small unsigned numbers: 0, −1, 1, −2, … → 0, 1, 2, 3, …
#[must_use]
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The inverse of [`zigzag`].
#[must_use]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// An integer of JavaScript modulo 2⁶⁴, negative ones in two's complement.
///
/// Integers of any magnitude wrap as they do for published peers (2⁶⁴ becomes
/// 0); fractions are cut; NaN and the infinities become 0.
#[must_use]
pub fn integer_bits(value: f64) -> u64 {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if value.abs() < TWO_63 {
        return value as i64 as u64;
    }
    if !value.is_finite() {
        return 0;
    }
    // Exact: the remainder of a division by a power of two is representable.
    let magnitude = (value.abs() % (2.0 * TWO_63)) as u64;
    if value < 0.0 { magnitude.wrapping_neg() } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_minimal_and_at_most_ten_bytes() {
        let cases: [(u64, &[u8]); 9] = [
            (0, &[0]),
            (127, &[0x7f]),
            (128, &[0x80, 1]),
            (300, &[0xac, 2]),
            (16_383, &[0xff, 0x7f]),
            (16_384, &[0x80, 0x80, 1]),
            (1 << 32, &[0x80, 0x80, 0x80, 0x80, 0x10]),
            ((1 << 53) - 1, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        ];
        for (value, bytes) in cases {
            assert_eq!(Varint::new(value).as_bytes(), bytes, "{value}");
        }
    }

    #[test]
    fn zigzag_alternates_between_the_signs() {
        let cases = [(0, 0), (-1, 1), (1, 2), (-2, 3), (64, 128), (i64::MAX, u64::MAX - 1), (i64::MIN, u64::MAX)];
        for (signed, unsigned) in cases {
            assert_eq!(zigzag(signed), unsigned, "{signed}");
            assert_eq!(unzigzag(unsigned), signed, "{unsigned}");
        }
    }

    #[test]
    fn integers_of_any_magnitude_wrap_at_64_bits() {
        let cases = [
            (0.0, 0),
            (-0.0, 0),
            (1.0, 1),
            (-1.0, u64::MAX),
            (9_007_199_254_740_991.0, (1 << 53) - 1),
            (9_223_372_036_854_775_808.0, 1 << 63),
            (-9_223_372_036_854_775_808.0, 1 << 63),
            (-9_223_372_036_854_777_856.0, (1 << 63) - 2048),
            (18_446_744_073_709_551_616.0, 0),
            (18_446_744_073_709_555_712.0, 4096),
            (1e300, 0),
            (f64::NAN, 0),
            (f64::INFINITY, 0),
            (f64::NEG_INFINITY, 0),
        ];
        for (value, bits) in cases {
            assert_eq!(integer_bits(value), bits, "{value}");
        }
    }
}
