//! Replays the vector files against our own crates: the project's, or those in
//! the folder that `POLYWIRE_VECTORS` names.
//!
//! One module a file, one test each. What a vector must give is what the
//! published packages gave, except where a rule of reference §15 says
//! otherwise; those rules are in [`mended`], and look at types and values,
//! never at the name of a vector.

mod binary;
mod client;
mod derived;
mod generator;
mod json;
mod mended;
mod protos;
mod transport;
mod validation;
