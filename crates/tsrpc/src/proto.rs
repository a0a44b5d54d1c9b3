//! Service protos: the services of an application and the types they carry.
//!
//! Depends on the type model. A proto is what both ends of a connection share;
//! it comes as JSON or as the `serviceProto.ts` of `tsrpc-cli`, and can be
//! written as either.

mod builder;
mod ids;
mod json;
mod literal;
mod module;
mod names;
mod pretty;
mod printer;

use polywire_schema::{TypeSet, Value};

use crate::{ServiceId, ServiceKind};

pub use builder::{Built, ProtoBuilder, ProtoBuilderError};
pub use ids::IdReport;
pub use json::ProtoError;
pub use literal::LiteralError;

/// A service as the proto defines it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceDef {
    /// The id on the wire, stable between versions.
    pub id: ServiceId,
    /// The name, with its folder: `user/Login`.
    pub name: String,
    /// Whether it answers.
    pub kind: ServiceKind,
    /// Static configuration.
    pub conf: Option<Value>,
}

/// Services and their types.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServiceProto {
    /// How often it has changed since the first generation, which has none. Never sent, never compared.
    pub version: Option<u64>,
    /// The services, in the order of their files.
    pub services: Vec<ServiceDef>,
    /// The types by schema id.
    pub types: TypeSet,
}
