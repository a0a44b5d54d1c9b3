//! The polywire client for Rust.
