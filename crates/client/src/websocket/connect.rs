//! Opening the connection of a WebSocket client.
//!
//! Depends on the link and its driver. Invariant: an attempt that fails or is
//! dropped leaves the client closed.

use std::{
    error::Error,
    future::Future,
    pin::Pin,
    sync::{Arc, Weak},
};

use polywire_net::{
    Stream,
    client::{ConnectError, WebSocketOptions, connect},
    ws::{self, Decoder, Deflate, DeflateConfig},
};
use polywire_runtime::BoxError;
use polywire_tsrpc::ClientOptions as SessionOptions;

use super::{
    client::{Shared, WsStatus},
    driver::{Driver, Ended},
    link::Link,
    reconnect::reconnect,
};
use crate::{Connecting, Disconnected, Reconnect, core::Core, flows::log_failure};

/// Why a connection was not opened. `Display` is the published text; `source` says why.
#[derive(Debug, Clone, thiserror::Error)]
#[error("Failed to connect to WebSocket server: {url}")]
pub struct ConnectFailed {
    /// The URL.
    pub url: String,
    /// What went wrong. Shared by all who waited for the attempt.
    #[source]
    pub reason: Arc<ConnectReason>,
}

/// What kept a connection from being opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectReason {
    /// The server cannot be reached, or opens no WebSocket.
    #[error(transparent)]
    Transport(#[from] ConnectError),
    /// A hook of `pre_connect` stopped it.
    #[error("a hook of pre_connect stopped it")]
    Stopped,
    /// A hook of `pre_connect` failed, or answered with an error.
    #[error(transparent)]
    Hook(BoxError),
}

/// An attempt that several callers may wait for.
pub(super) type Attempt = Pin<Box<dyn Future<Output = Result<(), ConnectFailed>> + Send>>;

/// Makes an attempt.
pub(super) async fn open(shared: Arc<Shared>) -> Result<(), ConnectFailed> {
    let core = &shared.core;
    let one = shared.connecting.lock().await;
    if *shared.status.borrow() == WsStatus::Opened {
        return Ok(());
    }
    let opening = Opening { shared: &shared };
    // A connection that closes is waited for: there is one at a time.
    let closing = shared.place().link.clone();
    if let Some(link) = closing {
        link.ended().await;
    }
    shared.status.send_replace(WsStatus::Opening);
    let result = establish(&shared).await;
    drop(opening);
    drop(one);
    if let Err(reason) = result {
        let failed = ConnectFailed { url: core.url.clone(), reason: Arc::new(reason) };
        tracing::debug!(error = &failed as &(dyn Error + 'static), "not connected");
        return Err(failed);
    }
    if let Err(error) = core.flows.post_connect.run(()).await {
        log_failure("post_connect", &*error);
    }
    Ok(())
}

/// Ends an attempt, also one that is dropped.
struct Opening<'a> {
    shared: &'a Shared,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        *self.shared.attempt() = None;
        self.shared.status.send_if_modified(|status| {
            let opening = *status == WsStatus::Opening;
            if opening {
                *status = WsStatus::Closed;
            }
            opening
        });
    }
}

async fn establish(shared: &Arc<Shared>) -> Result<(), ConnectReason> {
    let core = &shared.core;
    let connecting = Connecting { url: core.url.clone(), reply: None };
    let connecting = match core.flows.pre_connect.run(connecting).await {
        Ok(Some(connecting)) => connecting,
        Ok(None) => return Err(ConnectReason::Stopped),
        Err(error) => return Err(ConnectReason::Hook(error)),
    };
    if let Some(reply) = connecting.reply {
        return reply.map_err(ConnectReason::Hook);
    }
    let options = &core.options;
    let handshake = WebSocketOptions {
        protocols: vec![core.data_type().subprotocol().to_owned()],
        headers: options.headers.clone(),
        tls: options.tls.clone(),
        deflate: options.compression.then(DeflateConfig::default),
        timeout: options.connect_timeout,
    };
    let socket = connect(&connecting.url, &handshake).await?;
    start(shared, socket.stream, &socket.read, socket.deflate.as_ref());
    Ok(())
}

/// Takes a WebSocket into use. `read` is what came with the handshake.
pub(super) fn start(shared: &Arc<Shared>, stream: Stream, read: &[u8], deflate: Option<&Deflate>) {
    let core = &shared.core;
    let options = &core.options;
    let limits = ws::Limits { max_message: options.limits.frame, max_frame: options.limits.frame };
    let mut decoder = Decoder::new(ws::Role::Client, limits);
    if let Some(deflate) = deflate {
        decoder = decoder.with_deflate(deflate);
    }
    let session = SessionOptions {
        data_type: core.data_type(),
        calls_in_flight: options.limits.calls_in_flight,
        heartbeat: options.heartbeat,
    };
    let encoder = ws::Encoder::new(ws::Role::Client, deflate);
    let link = Arc::new(Link::new(&session, encoder, options.limits.outbound));
    let mut driver = Driver::new(Arc::clone(core), Arc::clone(&link), stream, decoder, read.to_vec());
    // The first heartbeat goes before all calls, as published.
    driver.act();
    shared.place().link = Some(Arc::clone(&link));
    shared.status.send_replace(WsStatus::Opened);
    let ending = Ending { shared: Arc::downgrade(shared), link, reason: String::new(), reconnect: None };
    tokio::spawn(drive(driver, Arc::clone(core), ending));
}

/// Drives a connection to its end, then tells everyone.
async fn drive(driver: Driver, core: Arc<Core>, mut ending: Ending) {
    let Ended { reason, is_manual } = driver.await;
    ending.reason.clone_from(&reason);
    ending.reconnect = core.options.reconnect.clone().filter(|_| !is_manual);
    drop(ending);
    let disconnected = Disconnected { reason: Some(reason).filter(|reason| !reason.is_empty()), is_manual };
    if let Err(error) = core.flows.post_disconnect.run(disconnected).await {
        log_failure("post_disconnect", &*error);
    }
}

/// Settles what a connection leaves behind, however its driver ended: also
/// where the runtime went down with it.
struct Ending {
    shared: Weak<Shared>,
    link: Arc<Link>,
    reason: String,
    reconnect: Option<Reconnect>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        // First the client, so that whoever sees its call fail can connect again.
        if let Some(shared) = self.shared.upgrade() {
            self.leave(&shared);
        }
        self.link.end(&self.reason);
    }
}

impl Ending {
    fn leave(&mut self, shared: &Shared) {
        let mut place = shared.place();
        if place.link.take_if(|link| Arc::ptr_eq(link, &self.link)).is_none() {
            return;
        }
        if let Some(pauses) = self.reconnect.take() {
            let task = tokio::spawn(reconnect(Weak::clone(&self.shared), pauses));
            place.reconnecting = Some(task.abort_handle());
        }
        shared.status.send_replace(WsStatus::Closed);
    }
}
