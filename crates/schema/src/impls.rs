//! The schemas of Rust's own types.
//!
//! Depends on the type model and [`Schema`](crate::Schema) only.

mod containers;
mod levels;
mod maps;
mod scalars;
mod tuples;

pub use levels::{TooDeep, to_value_if_shallow};
pub use maps::MapKey;
pub use scalars::SAFE_INTEGER;
pub use tuples::Element;
