//! Define a typed service once, serve it over every wire.

#[doc(hidden)]
pub use polywire_tsbuffer::__private;
