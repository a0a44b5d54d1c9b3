//! What both clients are made of: address, options, services, hooks, handlers.
//!
//! Depends on the proto and codecs, on no transport.

use std::sync::Arc;

use polywire_runtime::{CodecCache, Contract, Dynamic, Request, RustCodec};
use polywire_schema::{Api, Message};
use polywire_tsbuffer::typed::Codec;
use polywire_tsrpc::{ApiError, DataType, Service, ServiceMapError, ServiceProto};

use crate::{ClientOptions, Flows, listeners::Listeners, running::Aborts};

/// What both clients have.
pub(crate) struct Core {
    pub(crate) url: String,
    pub(crate) options: ClientOptions,
    pub(crate) contract: Contract,
    pub(crate) flows: Flows,
    pub(crate) listeners: Listeners,
    pub(crate) aborts: Arc<Aborts>,
    codecs: CodecCache,
}

/// An API that can be called.
pub(crate) struct Callee<A: Request> {
    pub(crate) service: Arc<Service>,
    pub(crate) codecs: Arc<ApiCodecs<A>>,
}

/// The codecs of one API.
pub(crate) struct ApiCodecs<A: Request> {
    pub(crate) request: A::RequestCodec,
    pub(crate) response: A::ResponseCodec,
}

/// The codec of one message. (A type may be an API and a message.)
pub(crate) struct MessageCodec<M>(pub(crate) RustCodec<M>);

impl Core {
    pub(crate) fn new(url: String, options: ClientOptions, proto: ServiceProto) -> Result<Self, ServiceMapError> {
        let contract = Contract::new(proto, &options.types, options.buffer_options())?;
        Ok(Self {
            url,
            options,
            contract,
            flows: Flows::default(),
            listeners: Listeners::default(),
            aborts: Arc::default(),
            codecs: CodecCache::default(),
        })
    }

    /// What this client writes.
    pub(crate) fn data_type(&self) -> DataType {
        if self.options.json { DataType::Text } else { DataType::Buffer }
    }

    /// The API of a Rust type. Its codecs are made at the first use.
    pub(crate) fn typed_api<A>(&self) -> Result<Callee<A>, ApiError>
    where
        A: Api + Codec,
        A::Response: Codec,
    {
        let service = self.api(A::NAME)?;
        let codecs = self.codecs.get_or_make(|| {
            let buffer = &self.contract.buffer;
            let response = service.response().unwrap_or(service.input());
            ApiCodecs::<A> {
                request: RustCodec::new(buffer, service.input(), &service.name),
                response: RustCodec::new(buffer, response, &service.name),
            }
        });
        Ok(Callee { service: Arc::clone(service), codecs })
    }

    /// The API of a name.
    pub(crate) fn named_api(&self, name: &str) -> Result<Callee<Dynamic>, ApiError> {
        let service = self.api(name)?;
        let codecs = ApiCodecs {
            request: self.contract.dynamic(service.input()),
            response: self.contract.dynamic(service.response().unwrap_or(service.input())),
        };
        Ok(Callee { service: Arc::clone(service), codecs: Arc::new(codecs) })
    }

    /// The message of a Rust type. Its codec is made at the first use.
    pub(crate) fn typed_message<M: Message + Codec>(&self) -> Result<(&Arc<Service>, Arc<MessageCodec<M>>), ApiError> {
        let service = self.message(M::NAME)?;
        let make = || MessageCodec(RustCodec::new(&self.contract.buffer, service.input(), &service.name));
        Ok((service, self.codecs.get_or_make(make)))
    }

    /// The message of a name.
    pub(crate) fn message(&self, name: &str) -> Result<&Arc<Service>, ApiError> {
        self.contract.services.message(name).ok_or_else(|| ApiError::invalid_msg_name(name))
    }

    fn api(&self, name: &str) -> Result<&Arc<Service>, ApiError> {
        self.contract.services.api(name).ok_or_else(|| ApiError::invalid_api_name(name))
    }
}
