//! The chat example.
fn main() {}
