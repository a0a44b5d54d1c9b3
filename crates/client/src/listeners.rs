//! Handlers of messages that the server sends.
//!
//! Depends on codecs and flows. Handlers of one message run in the order in
//! which they were added.

use std::{
    future::Future,
    panic::AssertUnwindSafe,
    sync::{Arc, PoisonError, RwLock},
};

use futures_util::FutureExt;
use polywire_runtime::{
    Contract, DynamicCodec, IntoOutcome, ListenerId, Pattern, RustCodec, Task, ValueCodec, message as panic_message,
    run_or_spawn,
};
use polywire_schema::{Message, Value};
use polywire_tsbuffer::{DecodeError, typed::Codec};
use polywire_tsrpc::{Body, Service, ServiceId, ServiceKind};

use crate::{
    core::Core,
    flows::{IncomingMessage, log_failure},
};

/// A handler for one service, without its Rust type.
trait Listener: Send + Sync {
    fn deliver(&self, body: Body<'_>) -> Result<Task, DecodeError>;
    fn deliver_value(&self, value: Value) -> Result<Task, String>;
}

struct Typed<M, F> {
    codec: RustCodec<M>,
    handler: Arc<F>,
}

impl<M, F, Fut> Listener for Typed<M, F>
where
    M: Message + Codec,
    F: Fn(M) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutcome> + Send + 'static,
{
    fn deliver(&self, body: Body<'_>) -> Result<Task, DecodeError> {
        let message = self.codec.decode(body)?;
        let handler = Arc::clone(&self.handler);
        Ok(task(M::NAME.into(), async move { handler(message).await.into_outcome() }))
    }

    fn deliver_value(&self, value: Value) -> Result<Task, String> {
        let message = self.codec.read_value(value)?;
        let handler = Arc::clone(&self.handler);
        Ok(task(M::NAME.into(), async move { handler(message).await.into_outcome() }))
    }
}

struct ByName<F> {
    name: Arc<str>,
    codec: DynamicCodec,
    handler: Arc<F>,
}

impl<F, Fut> Listener for ByName<F>
where
    F: Fn(Arc<str>, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutcome> + Send + 'static,
{
    fn deliver(&self, body: Body<'_>) -> Result<Task, DecodeError> {
        self.deliver_value(self.codec.decode_value(body)?).map_err(DecodeError::Custom)
    }

    fn deliver_value(&self, value: Value) -> Result<Task, String> {
        let (handler, name) = (Arc::clone(&self.handler), Arc::clone(&self.name));
        Ok(task(Arc::clone(&name), async move { handler(name, value).await.into_outcome() }))
    }
}

fn task(name: Arc<str>, run: impl Future<Output = Result<(), polywire_runtime::BoxError>> + Send + 'static) -> Task {
    Box::pin(async move {
        let result = AssertUnwindSafe(run).catch_unwind().await;
        let result = result.unwrap_or_else(|payload| Err(Box::new(panic_message(&*payload))));
        if let Err(error) = result {
            tracing::error!(service = %name, %error, "[MsgHandlerError]");
        }
    })
}

/// One handler of one service; a pattern makes several with one id.
type Entry = (ListenerId, ServiceId, Arc<dyn Listener>);

/// The handlers of a client.
#[derive(Default)]
pub(crate) struct Listeners {
    table: RwLock<Vec<Entry>>,
}

impl Listeners {
    pub(crate) fn add_typed<M, F, Fut>(&self, contract: &Contract, handler: F) -> ListenerId
    where
        M: Message + Codec,
        F: Fn(M) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.add(contract, &Pattern::Exact(M::NAME.to_owned()), |service| {
            let codec = RustCodec::<M>::new(&contract.buffer, service.input(), &service.name);
            Arc::new(Typed { codec, handler: Arc::clone(&handler) })
        })
    }

    pub(crate) fn add_named<F, Fut>(&self, contract: &Contract, pattern: &Pattern, handler: F) -> ListenerId
    where
        F: Fn(Arc<str>, Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.add(contract, pattern, |service| {
            let codec = contract.dynamic(service.input());
            Arc::new(ByName { name: Arc::clone(&service.name), codec, handler: Arc::clone(&handler) })
        })
    }

    fn add(
        &self,
        contract: &Contract,
        pattern: &Pattern,
        make: impl Fn(&Arc<Service>) -> Arc<dyn Listener>,
    ) -> ListenerId {
        let id = ListenerId::next();
        let messages = contract.services.iter().filter(|service| service.kind() == ServiceKind::Message);
        let entries: Vec<_> = messages
            .filter(|service| pattern.matches(&service.name))
            .map(|service| (id, service.id, make(service)))
            .collect();
        self.table.write().unwrap_or_else(PoisonError::into_inner).extend(entries);
        id
    }

    pub(crate) fn remove(&self, id: ListenerId) -> bool {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let before = table.len();
        table.retain(|(known, ..)| *known != id);
        table.len() < before
    }

    pub(crate) fn clear(&self) {
        self.table.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn of(&self, service: ServiceId) -> Vec<Arc<dyn Listener>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.iter().filter(|(_, known, _)| *known == service).map(|(.., listener)| Arc::clone(listener)).collect()
    }
}

/// Hands a message to its handlers.
///
/// # Errors
/// Where the message breaks its type; no handler has run then.
pub(crate) fn receive(core: &Arc<Core>, service: &Arc<Service>, body: Body<'_>) -> Result<(), DecodeError> {
    let listeners = core.listeners.of(service.id);
    let hooked = core.flows.pre_recv_msg.is_active() || core.flows.post_recv_msg.is_active();
    match &*listeners {
        [] if !hooked => {}
        [listener] if !hooked => run_or_spawn(listener.deliver(body)?),
        _ => {
            let message = core.contract.dynamic(service.input()).decode_value(body)?;
            let incoming = IncomingMessage { name: Arc::clone(&service.name), message };
            run_or_spawn(through_flows(Arc::clone(core), incoming, listeners));
        }
    }
    Ok(())
}

async fn through_flows(core: Arc<Core>, incoming: IncomingMessage, listeners: Vec<Arc<dyn Listener>>) {
    let incoming = match core.flows.pre_recv_msg.run(incoming).await {
        Ok(Some(incoming)) => incoming,
        Ok(None) => return,
        Err(error) => return log_failure("pre_recv_msg", &*error),
    };
    for listener in listeners {
        match listener.deliver_value(incoming.message.clone()) {
            Ok(task) => run_or_spawn(task),
            Err(error) => tracing::error!(service = %incoming.name, %error, "a message does not fit its handler"),
        }
    }
    if let Err(error) = core.flows.post_recv_msg.run(incoming).await {
        log_failure("post_recv_msg", &*error);
    }
}
