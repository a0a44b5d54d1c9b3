//! The client against our own server, in one process.

mod calls;
mod connections;
mod flows;
mod messages;
mod service;
