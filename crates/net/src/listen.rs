//! Listening: sockets in, connections out.
//!
//! May depend on tokio's sockets and timers. Holds always: [`Listener::accept`]
//! never fails; a refusal of the system (no more file descriptors) makes it
//! rest for a moment, and a peer that is slow to shake hands holds up nobody.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, lookup_host};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixSocket};
use tokio::time::{Sleep, sleep, timeout};

use crate::tls::ServerTls;
use crate::{Peer, Stream};

/// How long a TLS handshake may take unless something else is said.
pub const DEFAULT_HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to rest when the system has no room for another connection.
const REST: Duration = Duration::from_millis(100);

/// Where to listen, and how.
#[derive(Debug, Clone)]
pub struct ListenOptions {
    /// Connections that the system keeps until they are accepted. Default 4096
    /// (the system's own maximum may be lower).
    pub backlog: u32,
    /// Lets several listeners share an address, each taking a part of its
    /// connections (`SO_REUSEPORT`, on Unix). Default `false`.
    pub reuse_port: bool,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self { backlog: 4096, reuse_port: false }
    }
}

/// Why nobody can listen there. The configuration's or the system's fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The text is no address.
    #[error("{0:?} is no address to listen on (expected \"host:port\" or \"unix:/path\")")]
    Address(String),
    /// The host's name is unknown.
    #[error("cannot find the host of {addr:?}")]
    Lookup {
        /// As it was given.
        addr: String,
        /// What the system says.
        source: io::Error,
    },
    /// The system refuses the address: it is in use, not ours, or not allowed.
    #[error("cannot listen on {addr}")]
    Bind {
        /// What was tried.
        addr: Addr,
        /// What the system says.
        source: io::Error,
    },
}

/// An address that is listened on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Addr {
    /// A TCP address.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

/// Listens on one or several addresses.
///
/// ```no_run
/// # use polywire_net::Listener;
/// # async fn run() -> Result<(), polywire_net::ListenError> {
/// let mut listener = Listener::bind("127.0.0.1:3000").await?;
/// loop {
///     let incoming = listener.accept().await;
///     tokio::spawn(async move {
///         let Ok(stream) = incoming.establish().await else { return };
///         // …
/// #       drop(stream);
///     });
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Listener {
    sockets: Vec<Bound>,
    /// The socket to ask first, so that a busy one does not starve the others.
    turn: usize,
    resting: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug)]
struct Bound {
    socket: Socket,
    tls: Option<ServerTls>,
    handshake_timeout: Duration,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, OwnedPath),
}

/// A connection that has come in. [`establish`](Self::establish) it in a task
/// of its own.
#[derive(Debug)]
pub struct Incoming {
    stream: Stream,
    peer: Peer,
    tls: Option<ServerTls>,
    handshake_timeout: Duration,
}

/// Why an incoming connection came to nothing. The peer's fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EstablishError {
    /// The TLS handshake failed.
    #[error("TLS handshake failed")]
    Tls(#[source] io::Error),
    /// The TLS handshake took too long.
    #[error("TLS handshake took longer than {0:?}")]
    Timeout(Duration),
}

impl Listener {
    /// Listens on `"host:port"` or `"unix:/path"`, with the default options.
    ///
    /// # Errors
    /// As [`bind_with`](Self::bind_with).
    pub async fn bind(addr: &str) -> Result<Self, ListenError> {
        Self::bind_with(addr, &ListenOptions::default()).await
    }

    /// Listens on `"host:port"` (every address that the host's name has) or on
    /// `"unix:/path"`. Port 0 takes a free one. A Unix socket that a dead
    /// process left behind is replaced, and removed when the listener goes.
    ///
    /// # Errors
    /// [`ListenError`] where the text is no address, the name is unknown, or
    /// the system refuses one of its addresses.
    pub async fn bind_with(addr: &str, options: &ListenOptions) -> Result<Self, ListenError> {
        let sockets = match addr.strip_prefix("unix:") {
            Some(path) => vec![bind_unix(addr, Path::new(path), options).await?],
            None => bind_tcp(addr, options).await?,
        };
        let bound = |socket| Bound { socket, tls: None, handshake_timeout: DEFAULT_HANDSHAKE_TIMEOUT };
        Ok(Self { sockets: sockets.into_iter().map(bound).collect(), turn: 0, resting: None })
    }

    /// Also listens where `other` does, with the TLS that `other` has.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.sockets.extend(other.sockets);
        self
    }

    /// Speaks TLS on the addresses so far.
    #[must_use]
    pub fn with_tls(mut self, tls: &ServerTls) -> Self {
        for bound in &mut self.sockets {
            bound.tls = Some(tls.clone());
        }
        self
    }

    /// Gives TLS handshakes on the addresses so far this much time.
    /// Default [`DEFAULT_HANDSHAKE_TIMEOUT`].
    #[must_use]
    pub fn with_handshake_timeout(mut self, timeout: Duration) -> Self {
        for bound in &mut self.sockets {
            bound.handshake_timeout = timeout;
        }
        self
    }

    /// The addresses that are listened on.
    pub fn local_addrs(&self) -> Vec<Addr> {
        self.sockets.iter().filter_map(|bound| bound.socket.local_addr().ok()).collect()
    }

    /// The next connection. Never fails: what goes wrong with one connection is
    /// logged, and where the system has no room for more it waits for some.
    /// May be cancelled at any time.
    pub async fn accept(&mut self) -> Incoming {
        poll_fn(|cx| self.poll_accept(cx)).await
    }

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        loop {
            if let Some(rest) = &mut self.resting {
                std::task::ready!(rest.as_mut().poll(cx));
                self.resting = None;
            }
            match self.poll_sockets(cx) {
                Poll::Ready(Ok(incoming)) => return Poll::Ready(incoming),
                Poll::Ready(Err(error)) if is_of_one_connection(&error) => {
                    tracing::debug!(%error, "a connection was gone before it was accepted");
                }
                Poll::Ready(Err(error)) => {
                    tracing::warn!(%error, "cannot accept connections now, trying again");
                    self.resting = Some(Box::pin(sleep(REST)));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn poll_sockets(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Incoming>> {
        let count = self.sockets.len();
        for offset in 0..count {
            let at = (self.turn + offset) % count;
            let bound = &self.sockets[at];
            let Poll::Ready(result) = bound.socket.poll_accept(cx) else {
                continue;
            };
            self.turn = at + 1;
            return Poll::Ready(result.map(|(stream, peer)| Incoming {
                stream,
                peer,
                tls: bound.tls.clone(),
                handshake_timeout: bound.handshake_timeout,
            }));
        }
        Poll::Pending
    }
}

impl Incoming {
    /// Who has come.
    pub fn peer(&self) -> Peer {
        self.peer
    }

    /// Makes the connection ready for use: sets `TCP_NODELAY` and, where the
    /// listener speaks TLS, shakes hands within the listener's time.
    ///
    /// # Errors
    /// [`EstablishError`] where the handshake fails or takes too long.
    pub async fn establish(self) -> Result<Stream, EstablishError> {
        if let Err(error) = self.stream.set_nodelay() {
            tracing::debug!(%error, "small writes on this connection may be delayed");
        }
        let Some(tls) = self.tls else {
            return Ok(self.stream);
        };
        // Boxed: only this short phase needs the room.
        let handshake = Box::pin(tls.accept(self.stream));
        match timeout(self.handshake_timeout, handshake).await {
            Ok(result) => result.map_err(EstablishError::Tls),
            Err(_) => Err(EstablishError::Timeout(self.handshake_timeout)),
        }
    }
}

impl Socket {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(Stream, Peer)>> {
        match self {
            Self::Tcp(listener) => listener.poll_accept(cx).map_ok(|(stream, addr)| (stream.into(), Peer::Tcp(addr))),
            #[cfg(unix)]
            Self::Unix(listener, _) => listener.poll_accept(cx).map_ok(|(stream, _)| (stream.into(), Peer::Unix)),
        }
    }

    fn local_addr(&self) -> io::Result<Addr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Addr::Tcp),
            #[cfg(unix)]
            Self::Unix(_, path) => Ok(Addr::Unix(path.0.clone())),
        }
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(addr) => fmt::Display::fmt(addr, f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

async fn bind_tcp(addr: &str, options: &ListenOptions) -> Result<Vec<Socket>, ListenError> {
    let has_port = addr.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if !has_port {
        return Err(ListenError::Address(addr.to_owned()));
    }
    let found = lookup_host(addr).await;
    let found = found.map_err(|source| ListenError::Lookup { addr: addr.to_owned(), source })?;
    let mut sockets = Vec::new();
    let mut port = None;
    for mut addr in found {
        // With port 0 all addresses of a name share the first one's port.
        if addr.port() == 0 {
            addr.set_port(port.unwrap_or(0));
        }
        let listener = listen_tcp(addr, options);
        let listener = listener.map_err(|source| ListenError::Bind { addr: Addr::Tcp(addr), source })?;
        port = listener.local_addr().ok().map(|addr| addr.port());
        sockets.push(Socket::Tcp(listener));
    }
    Ok(sockets)
}

fn listen_tcp(addr: SocketAddr, options: &ListenOptions) -> io::Result<TcpListener> {
    let socket = match addr {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    #[cfg(unix)]
    {
        // A restarted server need not wait for its last connections to time out.
        socket.set_reuseaddr(true)?;
        socket.set_reuseport(options.reuse_port)?;
    }
    socket.bind(addr)?;
    socket.listen(options.backlog)
}

#[cfg(unix)]
async fn bind_unix(_: &str, path: &Path, options: &ListenOptions) -> Result<Socket, ListenError> {
    use std::os::unix::fs::FileTypeExt as _;

    let listen = || {
        let socket = UnixSocket::new_stream()?;
        socket.bind(path)?;
        socket.listen(options.backlog)
    };
    let mut result = listen();
    let is_socket = || std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
    if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
        && is_socket()
        && tokio::net::UnixStream::connect(path).await.is_err()
        && std::fs::remove_file(path).is_ok()
    {
        result = listen();
    }
    match result {
        Ok(listener) => Ok(Socket::Unix(listener, OwnedPath(path.into()))),
        Err(source) => Err(ListenError::Bind { addr: Addr::Unix(path.into()), source }),
    }
}

#[cfg(not(unix))]
async fn bind_unix(addr: &str, _: &Path, _: &ListenOptions) -> Result<Socket, ListenError> {
    Err(ListenError::Address(addr.to_owned()))
}

/// A socket's file, removed with the listener.
#[cfg(unix)]
#[derive(Debug)]
struct OwnedPath(PathBuf);

#[cfg(unix)]
impl Drop for OwnedPath {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Whether an error concerns the connection that was accepted, not the listener.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
