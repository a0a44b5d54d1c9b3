//! From what was registered to what is served.
//!
//! Depends on the proto and codecs. Invariant: a server is assembled once;
//! everything that is wrong with what was registered is said then, together.

use std::{collections::HashMap, sync::Arc};

use arc_swap::ArcSwap;
use polywire_runtime::{Contract, ListenerId, Pattern};
use polywire_schema::ValidateOptions;
use polywire_tsbuffer::{TsBufferOptions, binary::Strictness};
use polywire_tsrpc::{ProtoBuilder, Service, ServiceId, ServiceKind, ServiceProto};

use crate::{ServerOptions, api::ErasedApi, messages::ListenerTable, register::BuildListener, server::StartError};

/// What is registered before the server is assembled.
#[derive(Default)]
pub(crate) struct Setup {
    /// The contract: only its services are served.
    pub(crate) proto: Option<ServiceProto>,
    /// The proto whose ids are kept.
    pub(crate) old: Option<ServiceProto>,
    pub(crate) builder: ProtoBuilder,
    pub(crate) apis: Vec<ApiPlan>,
    pub(crate) listeners: Vec<ListenerPlan>,
}

/// Makes the implementation of an API for its place in the proto.
pub(crate) type BuildApi = dyn FnOnce(&Contract, &Arc<Service>) -> Arc<dyn ErasedApi> + Send;

/// An API to be implemented.
pub(crate) struct ApiPlan {
    pub(crate) name: String,
    pub(crate) build: Box<BuildApi>,
}

/// A message handler to be added to every service that the pattern names.
pub(crate) struct ListenerPlan {
    pub(crate) id: ListenerId,
    pub(crate) pattern: Pattern,
    pub(crate) build: BuildListener,
}

/// The handlers that a plan adds.
pub(crate) fn expand(contract: &Contract, plan: &ListenerPlan) -> ListenerTable {
    let messages = contract.services.iter().filter(|service| service.kind() == ServiceKind::Message);
    messages
        .filter(|service| plan.pattern.matches(&service.name))
        .map(|service| (plan.id, service.id, (plan.build)(contract, service)))
        .collect()
}

/// What incoming frames are dispatched by. Replaced as a whole when handlers come and go.
#[derive(Clone, Default)]
pub(crate) struct Dispatch {
    pub(crate) apis: HashMap<ServiceId, Arc<dyn ErasedApi>, foldhash::fast::FixedState>,
    pub(crate) listeners: ListenerTable,
}

/// Makes the contract of what was registered.
pub(crate) fn assemble(
    setup: Setup,
    options: &ServerOptions,
    dispatch: &ArcSwap<Dispatch>,
) -> Result<Contract, StartError> {
    let Setup { proto, old, builder, apis, listeners } = setup;
    let proto = match proto {
        Some(proto) => proto,
        None => builder.build(old.as_ref())?.proto,
    };
    let checks = ValidateOptions { strict_null_checks: options.strict_null_checks, ..ValidateOptions::default() };
    let strictness = if options.lenient_binary { Strictness::Lenient } else { Strictness::Strict };
    let buffer_options = TsBufferOptions { checks, strictness };
    let contract = Contract::new(proto, &options.types, buffer_options)?;
    let mut table = Dispatch::default();
    let mut unknown = Vec::new();
    for plan in apis {
        match contract.services.api(&plan.name) {
            Some(service) => {
                let api = (plan.build)(&contract, service);
                if table.apis.insert(service.id, api).is_some() {
                    return Err(StartError::DuplicateApi(plan.name));
                }
            }
            None => unknown.push(plan.name),
        }
    }
    for plan in &listeners {
        let entries = expand(&contract, plan);
        if let (Pattern::Exact(name), []) = (&plan.pattern, &*entries) {
            unknown.push(name.clone());
        }
        table.listeners.extend(entries);
    }
    if !unknown.is_empty() {
        return Err(StartError::UnknownServices(unknown));
    }
    dispatch.store(Arc::new(table));
    Ok(contract)
}
