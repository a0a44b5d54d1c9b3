//! One accepted connection, from its first byte to its end.
//!
//! Depends on the drivers. Invariant: whatever happens on a connection, it is
//! counted out and its flows of disconnection run.

use std::{net::IpAddr, sync::atomic::Ordering};

use http::{HeaderMap, HeaderValue, Request, request::Parts};
use polywire_net::{
    Incoming, Peer,
    http::{Served, Upgraded, serve},
    ws::{self, CloseCode, Decoder},
};
use polywire_runtime::run_or_spawn;
use polywire_tsrpc::ServerSession;
use tokio::io::AsyncWriteExt;

use crate::{
    Conn, ConnStatus, Disconnect, Server, ServerStatus,
    conn::{Kind, Long},
    http_driver,
    ws_driver::Driver,
};

/// Counts an open connection.
pub(crate) struct Admission(Server);

impl Admission {
    /// `None` at the limit of connections.
    pub(crate) fn new(server: &Server) -> Option<Self> {
        let open = server.shared.open_connections.fetch_add(1, Ordering::AcqRel);
        let admission = Self(server.clone());
        (open < server.options().limits.connections).then_some(admission)
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        if self.0.shared.open_connections.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.shared.idle.notify_waiters();
        }
    }
}

/// Serves an accepted connection: HTTP first, and WebSocket if it is upgraded.
pub(crate) async fn run(server: Server, incoming: Incoming) {
    let Some(admission) = Admission::new(&server) else {
        tracing::warn!("the limit of connections is reached: refusing one");
        return;
    };
    let ip = match incoming.peer() {
        Peer::Tcp(address) => Some(unmap(address.ip())),
        _ => None,
    };
    // Boxed: only this short phase needs the room.
    let stream = match Box::pin(incoming.establish()).await {
        Ok(stream) => stream,
        Err(error) => {
            tracing::debug!(%error, "a connection came to nothing");
            return;
        }
    };
    let limits = server.http_limits();
    let closing = server.clone();
    let handler = server.clone();
    let served = serve(stream, &limits, async move { closing.until(ServerStatus::Closing).await }, move |request| {
        http_driver::handle(handler.clone(), ip, request)
    })
    .await;
    match served {
        // A task of its own, so that nothing of the HTTP phase stays allocated.
        Ok(Served::Upgraded(upgraded)) => drop(tokio::spawn(websocket(server, ip, *upgraded, admission))),
        Ok(Served::Closed) => {}
        Err(error) => tracing::debug!(%error, "an HTTP connection failed"),
    }
}

/// `::ffff:1.2.3.4` is `1.2.3.4`.
fn unmap(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

async fn websocket(server: Server, ip: Option<IpAddr>, upgraded: Upgraded, admission: Admission) {
    let Upgraded { mut stream, head, read } = upgraded;
    if server.status() != ServerStatus::Opened {
        let mut close = Vec::new();
        ws::put_close(&mut close, CloseCode::RESTART, "");
        let bye = async {
            stream.write_all(&close).await?;
            stream.shutdown().await
        };
        // The peer may be gone already; nothing depends on it.
        let _ = tokio::time::timeout(server.options().limits.handshake, bye).await;
        return;
    }
    let options = server.options();
    let session_options = server.session_options();
    let offered = head.headers.get(http::header::SEC_WEBSOCKET_PROTOCOL).and_then(|value| value.to_str().ok());
    let session = ServerSession::new(offered, &session_options);
    let deflate = http_driver::agreed_deflate(&server, &head);
    let limits = ws::Limits { max_message: options.limits.frame, max_frame: options.limits.frame };
    let mut decoder = Decoder::new(ws::Role::Server, limits);
    if let Some(deflate) = &deflate {
        decoder = decoder.with_deflate(deflate);
    }
    let encoder = deflate.map(|deflate| Box::new(ws::Encoder::new(ws::Role::Server, Some(&deflate))));
    let long = Long::new(options.limits.outbound, encoder);
    let ip = http_driver::client_ip(&server, ip, &head.headers);
    let head = Box::new(compact(head));
    let conn = Conn::new(server.clone(), ip, Some(head), session.data_type(), Kind::Long(long));
    server.shared.conns.insert(conn.clone());
    if server.status() != ServerStatus::Opened {
        // The stop may have looked at the connections before this one was there.
        conn.close("Server stopped");
    }
    let guard = Disconnecting { conn: conn.clone(), reason: None };
    tracing::debug!(conn = conn.id(), ?ip, active = server.connection_count(), "[Connected]");
    post_connect(&conn);
    let early = if read.is_empty() { Vec::new() } else { read.to_vec() };
    drop(read);
    drive(stream, conn, session, decoder, early, guard).await;
    drop(admission);
}

/// A head that owns its bytes. As it came it shares the buffer that it was read
/// into, which an idle connection would keep alive.
fn compact(head: Parts) -> Parts {
    let mut headers = HeaderMap::with_capacity(head.headers.len());
    for (name, value) in &head.headers {
        // What was a header value is one again.
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            headers.append(name, value);
        }
    }
    let (mut compact, ()) = Request::new(()).into_parts();
    compact.method = head.method;
    compact.version = head.version;
    compact.uri = head.uri.to_string().parse().unwrap_or_default();
    compact.headers = headers;
    compact
}

/// Runs the hooks of a new connection, which nothing waits for.
pub(crate) fn post_connect(conn: &Conn) {
    let server = conn.server();
    if server.flows().post_connect.is_active() {
        let conn = conn.clone();
        run_or_spawn(async move {
            let server = conn.server().clone();
            if let Err(error) = server.flows().post_connect.run(conn).await {
                tracing::error!(%error, "a hook of post_connect failed");
            }
        });
    }
}

/// Runs the hooks of a connection that has ended.
pub(crate) fn post_disconnect(conn: &Conn, reason: Option<String>) {
    let server = conn.server();
    if server.flows().post_disconnect.is_active() {
        let disconnect = Disconnect { conn: conn.clone(), reason };
        run_or_spawn(async move {
            let server = disconnect.conn.server().clone();
            if let Err(error) = server.flows().post_disconnect.run(disconnect).await {
                tracing::error!(%error, "a hook of post_disconnect failed");
            }
        });
    }
}

/// Takes a connection out of the server's lists, however its driver ends.
struct Disconnecting {
    conn: Conn,
    reason: Option<String>,
}

impl Drop for Disconnecting {
    fn drop(&mut self) {
        let server = self.conn.server().clone();
        self.conn.set_status(ConnStatus::Closed);
        if let Some(long) = self.conn.long() {
            long.out.close();
        }
        server.shared.conns.remove(self.conn.id());
        tracing::debug!(conn = self.conn.id(), reason = ?self.reason, active = server.connection_count(), "[Disconnected]");
        post_disconnect(&self.conn, self.reason.take());
    }
}

async fn drive(
    stream: polywire_net::Stream,
    conn: Conn,
    session: ServerSession,
    decoder: Decoder,
    early: Vec<u8>,
    mut guard: Disconnecting,
) {
    let mut driver = Driver::new(stream, conn, session, decoder, early);
    let ended = (&mut driver).await;
    tracing::trace!(conn = guard.conn.id(), code = ended.code.0, reason = %ended.reason, "the connection ends");
    guard.reason = Some(ended.reason).filter(|reason| !reason.is_empty());
    let unheard = ended.unheard;
    drop(guard);
    if unheard {
        Box::pin(driver.linger()).await;
    }
}

impl Server {
    fn http_limits(&self) -> polywire_net::http::HttpLimits {
        let options = self.options();
        polywire_net::http::HttpLimits {
            max_head: options.limits.header,
            head_timeout: options.limits.handshake,
            idle_timeout: options.keep_alive,
        }
    }
}
