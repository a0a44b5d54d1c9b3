//! Helpers shared by the cross-crate tests: vector files, the value notation they use, npm peers,
//! random types and values.

#[cfg(test)]
mod docs;
pub mod mended;
pub mod node;
pub mod notation;
pub mod random;
pub mod raw;
pub mod test_service;
pub mod vectors;
