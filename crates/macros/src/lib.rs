//! Derive macros of polywire.
