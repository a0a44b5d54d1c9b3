//! Helpers shared by the cross-crate tests: vector files, the value notation they use.

pub mod notation;
pub mod vectors;
