//! Registering what a server serves: APIs, messages and their handlers, assets.
//!
//! Depends on the assembly. What is registered before the start is put
//! together by it; handlers of messages may come and go later too.

use std::{collections::HashMap, future::Future, sync::Arc};

use bytes::Bytes;
use polywire_runtime::{Contract, Dynamic, IntoOutcome, ListenerId, Pattern, RustCodec};
use polywire_schema::{Api, Message, Slot};
use polywire_tsbuffer::typed::Codec;
use polywire_tsrpc::{Service, ServiceProto};

use crate::{
    Call, IntoReply, Msg, Server,
    api::{self, ApiEntry, ErasedApi},
    assemble::{self, ApiPlan, Dispatch, ListenerPlan},
    messages::{Listener, TypedListener},
    server::Asset,
};

impl Server {
    /// Serves the services of this proto and no others. Handlers are matched to them by name.
    ///
    /// Without it, the proto is made of the Rust types that are registered. With
    /// it, a Rust type of another shape is warned of in the log at the start, and
    /// values of it that do not fit the proto are refused one by one.
    #[must_use]
    pub fn proto(self, proto: ServiceProto) -> Self {
        self.setup().proto = Some(proto);
        self
    }

    /// Keeps the ids of an earlier proto, so that clients of that time still understand.
    /// For servers whose proto is made of Rust types.
    #[must_use]
    pub fn compatible_with(self, old: ServiceProto) -> Self {
        self.setup().old = Some(old);
        self
    }

    /// Implements an API; its request type names it. A second handler for it makes the start fail.
    ///
    /// A handler is an `async fn` or a closure. What handlers share is kept in the
    /// closures around them: `.api(move |call| add(Arc::clone(&board), call))`.
    /// A closure with an `async` block of its own says its error, since nothing
    /// else does: `Ok::<_, ApiError>(response)`.
    #[must_use]
    pub fn api<A, F, Fut, Out>(self, handler: F) -> Self
    where
        A: Api + Codec,
        A::Response: Codec,
        F: Fn(Call<A>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Out> + Send + 'static,
        Out: IntoReply<A::Response> + Send + 'static,
    {
        self.setup().builder.api::<A>();
        let run = api::run::<A, _, _, _>(handler);
        self.implement(A::NAME.to_owned(), move |contract, service| typed_api::<A>(contract, service, run))
    }

    /// Implements the API of a name in the proto, whose types are known from the proto only.
    #[must_use]
    pub fn api_named<F, Fut, Out>(self, name: &str, handler: F) -> Self
    where
        F: Fn(Call<Dynamic>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Out> + Send + 'static,
        Out: IntoReply<Dynamic> + Send + 'static,
    {
        let run = api::run::<Dynamic, _, _, _>(handler);
        self.implement(name.to_owned(), move |contract, service| {
            let codec = |slot: Slot| Arc::new(contract.dynamic(slot));
            let response = codec(service.response().unwrap_or(service.input()));
            Arc::new(ApiEntry::<Dynamic> {
                service: Arc::clone(service),
                request: codec(service.input()),
                response,
                run,
            })
        })
    }

    fn implement(
        self,
        name: String,
        build: impl FnOnce(&Contract, &Arc<Service>) -> Arc<dyn ErasedApi> + Send + 'static,
    ) -> Self {
        self.setup().apis.push(ApiPlan { name, build: Box::new(build) });
        self
    }

    /// Declares a message that the server sends, so that the proto knows it.
    #[must_use]
    pub fn message<M: Message + Codec>(self) -> Self {
        self.setup().builder.message::<M>();
        self
    }

    /// Declares an API that is implemented elsewhere, so that the proto knows it.
    #[must_use]
    pub fn declare<A>(self) -> Self
    where
        A: Api + Codec,
        A::Response: Codec,
    {
        self.setup().builder.api::<A>();
        self
    }

    /// Handles a message; its type names it. Several handlers run in the order of their registration.
    #[must_use]
    pub fn on_message<M, F, Fut>(self, handler: F) -> Self
    where
        M: Message + Codec,
        F: Fn(Msg<M>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.setup().builder.message::<M>();
        self.add_listener(Pattern::Exact(M::NAME.to_owned()), typed_listener(handler));
        self
    }

    /// Handles the messages of a name or pattern, whose types are known from the proto only.
    #[must_use]
    pub fn on_message_named<F, Fut>(self, pattern: impl Into<Pattern>, handler: F) -> Self
    where
        F: Fn(Msg<Dynamic>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.add_listener(pattern.into(), dynamic_listener(handler));
        self
    }

    /// Adds a message handler now, also while the server runs. Give the id to [`remove_listener`](Self::remove_listener).
    pub fn listen_message<F, Fut>(&self, pattern: impl Into<Pattern>, handler: F) -> ListenerId
    where
        F: Fn(Msg<Dynamic>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.add_listener(pattern.into(), dynamic_listener(handler))
    }

    fn add_listener(&self, pattern: Pattern, build: BuildListener) -> ListenerId {
        let id = ListenerId::next();
        let plan = ListenerPlan { id, pattern, build };
        match self.shared.contract.get() {
            None => self.setup().listeners.push(plan),
            Some(contract) => {
                let entries = assemble::expand(contract, &plan);
                self.shared.dispatch.rcu(|dispatch| {
                    let mut dispatch = Dispatch::clone(dispatch);
                    dispatch.listeners.extend(entries.iter().cloned());
                    dispatch
                });
            }
        }
        id
    }

    /// Removes a message handler. Returns whether it was there.
    pub fn remove_listener(&self, id: ListenerId) -> bool {
        let mut setup = self.setup();
        let planned = setup.listeners.len();
        setup.listeners.retain(|plan| plan.id != id);
        let was_planned = setup.listeners.len() < planned;
        drop(setup);
        let was_active = self.shared.dispatch.load().listeners.iter().any(|(known, ..)| *known == id);
        self.shared.dispatch.rcu(|dispatch| {
            let mut dispatch = Dispatch::clone(dispatch);
            dispatch.listeners.retain(|(known, ..)| *known != id);
            dispatch
        });
        was_planned || was_active
    }

    /// Removes the handler of an API: calls are answered `Unhandled API` from then on.
    pub fn remove_api(&self, name: &str) -> bool {
        let Some(id) = self.shared.contract.get().and_then(|contract| contract.services.api(name)).map(|api| api.id)
        else {
            let mut setup = self.setup();
            let before = setup.apis.len();
            setup.apis.retain(|plan| plan.name != name);
            return setup.apis.len() < before;
        };
        let had = self.shared.dispatch.load().apis.contains_key(&id);
        self.shared.dispatch.rcu(|dispatch| {
            let mut dispatch = Dispatch::clone(dispatch);
            dispatch.apis.remove(&id);
            dispatch
        });
        had
    }

    /// Answers `GET` of this exact path with these bytes, beside the services.
    #[must_use]
    pub fn asset(self, path: &str, content_type: &str, body: impl Into<Bytes>) -> Self {
        let asset = Asset { content_type: content_type.to_owned(), body: body.into() };
        self.shared.assets.rcu(|assets| {
            let mut assets = HashMap::clone(assets);
            assets.insert(path.to_owned(), asset.clone());
            assets
        });
        self
    }
}

/// Makes a message handler for one service of the proto.
pub(crate) type BuildListener = Box<BuildListenerFn>;
type BuildListenerFn = dyn Fn(&Contract, &Arc<Service>) -> Arc<dyn Listener> + Send;

pub(crate) fn typed_listener<M, F, Fut>(handler: F) -> BuildListener
where
    M: Message + Codec,
    F: Fn(Msg<M>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutcome> + Send + 'static,
{
    let handler = Arc::new(handler);
    Box::new(move |contract, service| {
        let codec = RustCodec::<M>::new(&contract.buffer, service.input(), &service.name);
        Arc::new(TypedListener::<M, F> { service: Arc::clone(service), codec, handler: Arc::clone(&handler) })
    })
}

pub(crate) fn dynamic_listener<F, Fut>(handler: F) -> BuildListener
where
    F: Fn(Msg<Dynamic>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutcome> + Send + 'static,
{
    let handler = Arc::new(handler);
    Box::new(move |contract, service| {
        let codec = contract.dynamic(service.input());
        Arc::new(TypedListener::<Dynamic, F> { service: Arc::clone(service), codec, handler: Arc::clone(&handler) })
    })
}

fn typed_api<A>(contract: &Contract, service: &Arc<Service>, run: Arc<api::Run<A>>) -> Arc<dyn ErasedApi>
where
    A: Api + Codec,
    A::Response: Codec,
{
    let request = Arc::new(RustCodec::new(&contract.buffer, service.input(), &service.name));
    let response = RustCodec::new(&contract.buffer, service.response().unwrap_or(service.input()), &service.name);
    Arc::new(ApiEntry::<A> { service: Arc::clone(service), request, response: Arc::new(response), run })
}
