//! One byte stream for every transport: TCP, TLS, Unix sockets, memory.
//!
//! May depend on tokio and tokio-rustls. Holds always: the stream is small
//! (TLS is boxed), and writing several slices costs one system call where the
//! system can do it.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_rustls::TlsStream;

/// A connected byte stream.
///
/// What was written to a TLS stream may wait in its buffer: flush it before
/// waiting for the peer. For the other transports flushing costs nothing.
#[derive(Debug)]
pub struct Stream(Kind);

#[derive(Debug)]
enum Kind {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    Memory(DuplexStream),
    Tls(Box<TlsStream<Stream>>),
}

/// Who is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Peer {
    /// A TCP peer.
    Tcp(SocketAddr),
    /// A process of this machine, by a Unix socket.
    Unix,
    /// This process, by memory.
    Memory,
}

impl Stream {
    /// Two connected streams in memory. Each direction holds `capacity` bytes.
    pub fn memory(capacity: usize) -> (Self, Self) {
        let (one, other) = tokio::io::duplex(capacity);
        (one.into(), other.into())
    }

    /// Who is at the other end.
    ///
    /// # Errors
    /// For TCP, where the connection is gone already.
    pub fn peer(&self) -> io::Result<Peer> {
        match &self.0 {
            Kind::Tcp(tcp) => tcp.peer_addr().map(Peer::Tcp),
            #[cfg(unix)]
            Kind::Unix(_) => Ok(Peer::Unix),
            Kind::Memory(_) => Ok(Peer::Memory),
            Kind::Tls(tls) => tls.get_ref().0.peer(),
        }
    }

    /// Whether the bytes are encrypted on their way.
    pub fn is_tls(&self) -> bool {
        matches!(self.0, Kind::Tls(_))
    }

    /// Sends small writes at once instead of waiting for more (`TCP_NODELAY`).
    /// Nothing happens where the transport knows no such delay.
    ///
    /// # Errors
    /// Where the socket refuses.
    pub fn set_nodelay(&self) -> io::Result<()> {
        match &self.0 {
            Kind::Tcp(tcp) => tcp.set_nodelay(true),
            Kind::Tls(tls) => tls.get_ref().0.set_nodelay(),
            _ => Ok(()),
        }
    }
}

impl From<TcpStream> for Stream {
    fn from(tcp: TcpStream) -> Self {
        Self(Kind::Tcp(tcp))
    }
}

#[cfg(unix)]
impl From<UnixStream> for Stream {
    fn from(unix: UnixStream) -> Self {
        Self(Kind::Unix(unix))
    }
}

impl From<DuplexStream> for Stream {
    fn from(memory: DuplexStream) -> Self {
        Self(Kind::Memory(memory))
    }
}

impl From<TlsStream<Stream>> for Stream {
    fn from(tls: TlsStream<Stream>) -> Self {
        Self(Kind::Tls(Box::new(tls)))
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(addr) => fmt::Display::fmt(addr, f),
            Self::Unix => f.write_str("unix"),
            Self::Memory => f.write_str("memory"),
        }
    }
}

/// Calls a method of whatever the stream is made of.
macro_rules! each {
    ($stream:expr, $inner:ident => $call:expr) => {
        match $stream {
            Kind::Tcp($inner) => $call,
            #[cfg(unix)]
            Kind::Unix($inner) => $call,
            Kind::Memory($inner) => $call,
            Kind::Tls($inner) => $call,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each!(&mut self.0, inner => Pin::new(inner).poll_read(cx, buf))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        each!(&mut self.0, inner => Pin::new(inner).poll_write(cx, buf))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each!(&mut self.0, inner => Pin::new(inner).poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        each!(&self.0, inner => inner.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(&mut self.0, inner => Pin::new(inner).poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(&mut self.0, inner => Pin::new(inner).poll_shutdown(cx))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[test]
    fn a_stream_is_small() {
        assert!(size_of::<Stream>() <= 48, "{} bytes", size_of::<Stream>());
    }

    #[tokio::test]
    async fn memory_connects_its_two_ends() {
        let (mut one, mut other) = Stream::memory(16);
        one.write_all(b"there").await.expect("room");
        other.write_all(b"back").await.expect("room");
        drop(one);
        let mut read = String::new();
        other.read_to_string(&mut read).await.expect("text");
        assert_eq!(read, "there");
        assert_eq!(other.peer().expect("a peer"), Peer::Memory);
        other.set_nodelay().expect("nothing to do");
    }
}
