//! Define a typed service once, serve it over every wire.
