//! Opening byte streams to servers.

use std::io;

use tokio::net::{TcpStream, lookup_host};

use crate::{Addr, Stream};

/// Why there is no stream to a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The text is no address.
    #[error("{0:?} is no address (expected \"host:port\" or \"unix:/path\")")]
    Address(String),
    /// The server's name is unknown.
    #[error("cannot find the host {host:?}")]
    Lookup {
        /// The name.
        host: String,
        /// What the system says.
        source: io::Error,
    },
    /// Nobody answers there, or nobody may.
    #[error("cannot connect to {addr}")]
    Connect {
        /// The last address that was tried.
        addr: Addr,
        /// What the system says.
        source: io::Error,
    },
}

impl OpenError {
    /// What the system said, where it is the reason.
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::Address(_) => None,
            Self::Lookup { source, .. } | Self::Connect { source, .. } => Some(source),
        }
    }
}

impl Stream {
    /// Opens a stream to `"host:port"` (trying each address that the name has)
    /// or `"unix:/path"`. Takes as long as the system takes.
    ///
    /// # Errors
    /// [`OpenError`] where the text is no address, or nobody answers.
    pub async fn connect(addr: &str) -> Result<Self, OpenError> {
        #[cfg(unix)]
        if let Some(path) = addr.strip_prefix("unix:") {
            let stream = tokio::net::UnixStream::connect(path).await;
            return stream.map(Self::from).map_err(|source| {
                let addr = Addr::Unix(path.into());
                OpenError::Connect { addr, source }
            });
        }
        let parts = addr.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let Some((host, port)) = parts else {
            return Err(OpenError::Address(addr.to_owned()));
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        Self::tcp(host, port).await
    }

    /// Opens a TCP stream, trying each address that the name has.
    pub(crate) async fn tcp(host: &str, port: u16) -> Result<Self, OpenError> {
        let lookup = |source| OpenError::Lookup { host: host.to_owned(), source };
        let mut last = None;
        for addr in lookup_host((host, port)).await.map_err(lookup)? {
            match TcpStream::connect(addr).await {
                Ok(stream) => {
                    let stream = Self::from(stream);
                    if let Err(error) = stream.set_nodelay() {
                        tracing::debug!(%error, "small writes on this connection may be delayed");
                    }
                    return Ok(stream);
                }
                Err(source) => last = Some(OpenError::Connect { addr: Addr::Tcp(addr), source }),
            }
        }
        Err(last.unwrap_or_else(|| lookup(io::ErrorKind::NotFound.into())))
    }
}
