//! Random types and values for tests that compare two implementations.
//!
//! Depends on the `schema` crate only. Invariant: the same seed gives the same
//! types and values on every machine, so that a failure can be run again.

mod types;
mod values;

pub use types::{random_sound_types, random_types};
pub use values::{random_json, random_value};

/// A small generator of random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// A generator that repeats for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.bits() % n as u64).expect("below a usize")
    }

    /// A number from `range`.
    pub fn within(&mut self, range: std::ops::RangeInclusive<usize>) -> usize {
        range.start() + self.below(range.end() - range.start() + 1)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of `items`, which is not empty.
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    /// `count` different items of `items` at most, in their order.
    pub fn some_of<T: Clone>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut left = count.min(items.len());
        let mut chosen = Vec::with_capacity(left);
        for (at, item) in items.iter().enumerate() {
            if left > 0 && self.below(items.len() - at) < left {
                chosen.push(item.clone());
                left -= 1;
            }
        }
        chosen
    }
}
