//! Where we do other than the published packages, on purpose: one rule for each
//! row of reference §15 that mends something, by the file whose vectors show it.
//!
//! A rule looks at types, values and both results, never at the name of a
//! vector, and says as narrowly as it can what we do instead. Whatever no rule
//! admits must be exactly as published.

pub(crate) mod transport;
pub(crate) use polywire_tests::mended::{binary, json, validation};
