//! The driver over a socket that does things in the middle of a turn, as other
//! threads may.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use polywire_net::ws::{Decoder, Limits, Opcode, Role};
use polywire_tsrpc::{DataType, ServerSession};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Driver;
use crate::{
    Conn, Server, ServerOptions,
    conn::{Kind, Long},
    outbound::Purpose,
};

/// A peer that takes everything and says nothing. What happens at a write
/// happens while the driver writes.
struct Socket {
    at_write: Box<dyn FnMut() + Send>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        (self.at_write)();
        self.written.lock().expect("nobody panics").extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn conn() -> Conn {
    let server = Server::with_options(ServerOptions::default());
    Conn::new(server, None, None, DataType::Text, Kind::Long(Long::new(1 << 20, None)))
}

fn driver(conn: &Conn, at_write: impl FnMut() + Send + 'static) -> (Driver<Socket>, Arc<Mutex<Vec<u8>>>) {
    let written = Arc::new(Mutex::new(Vec::new()));
    let socket = Socket { at_write: Box::new(at_write), written: Arc::clone(&written) };
    let session = ServerSession::new(None, &conn.server().session_options());
    let decoder = Decoder::new(Role::Server, Limits::default());
    (Driver::new(socket, conn.clone(), session, decoder, Vec::new()), written)
}

/// Whether somebody asked for another turn of the driver.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_close_that_comes_while_the_driver_writes_is_not_missed() {
    let conn = conn();
    let closing = conn.clone();
    let (mut driver, written) = driver(&conn, move || closing.close("enough"));
    conn.long().expect("a long connection").out.append(Purpose::Message, Opcode::Text, b"hello");
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut turn = || Pin::new(&mut driver).poll(&mut Context::from_waker(&waker));
    assert_eq!(turn(), Poll::Pending);
    assert!(woken.0.load(Ordering::SeqCst), "there is more to do");
    assert_eq!(turn(), Poll::Pending, "the peer's close frame is awaited");
    let written = written.lock().expect("nobody panics");
    assert_eq!(*written, b"\x81\x05hello\x88\x08\x03\xe8enough");
}
