//! TSBuffer binary and JSON codecs over polywire-schema.
