//! What an application defines: APIs and messages, independent of any wire.
//!
//! Depends on [`Schema`] only.

use crate::{Schema, Value};

/// An API: the request type, which names the service and its response. Usually `#[derive(Api)]`.
pub trait Api: Schema + Sync {
    /// The name of the service, with its folder: `user/Login`.
    const NAME: &'static str;
    /// What answers it.
    type Response: Schema + Sync;

    /// Static configuration, as `export const conf` in TypeScript.
    fn conf() -> Option<Value> {
        None
    }
}

/// A message: one way, either direction. Usually `#[derive(Message)]`.
pub trait Message: Schema + Sync {
    /// The name of the service, with its folder: `room/Chat`.
    const NAME: &'static str;

    /// Static configuration, as `export const conf` in TypeScript.
    fn conf() -> Option<Value> {
        None
    }
}
