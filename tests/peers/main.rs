//! Real peers: the unchanged npm packages, in Node and in Chromium, against our server.
//!
//! What a peer must see is said in `tests/interop`, where the programs are; the
//! same programs run against the npm servers too, so that their expectations
//! are those of the published packages and not ours. A machine without Node or
//! Chromium is told what was skipped (see [`polywire_tests::node`]).

mod clients;
mod published;
