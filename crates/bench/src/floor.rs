//! The floor: the least that a server of the contract has to do. One thread; frames, parses
//! and answers, and nothing else: no options, no limits, no hooks, no errors worth reading.
//!
//! Depends on tokio, `frame`, `handshake` and `contract`. Invariants: a read's replies leave
//! in one write; a broadcast is encoded once; reply k of a connection precedes broadcast k.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWrite as _, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::LocalSet;

use crate::contract::{Request, Service};
use crate::frame::{Head, MAX_PAYLOAD, Opcode, apply_mask};
use crate::handshake;
use crate::load::Mode;

/// Bytes that one read may bring.
const INPUT_LEN: usize = 2 * MAX_PAYLOAD;

/// Serves the contract until the process is ended.
///
/// # Errors
/// When the address cannot be bound.
pub(crate) fn serve(address: SocketAddr, mode: Mode, ready: impl FnOnce()) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    LocalSet::new().block_on(&runtime, async {
        let listener = TcpListener::bind(address).await?;
        let everyone = Rc::new(Everyone::default());
        ready();
        loop {
            let (stream, _) = listener.accept().await?;
            let everyone = Rc::clone(&everyone);
            tokio::task::spawn_local(async move {
                // A connection that fails concerns nobody else.
                drop(converse(stream, mode, everyone).await);
            });
        }
    })
}

/// All open connections, for broadcasts.
#[derive(Default)]
struct Everyone {
    outboxes: RefCell<Vec<Rc<Outbox>>>,
    /// Frames that one read's requests broadcast, kept to reuse its memory.
    batch: RefCell<Vec<u8>>,
}

/// What waits to be written to one connection.
#[derive(Default)]
struct Outbox {
    bytes: RefCell<Vec<u8>>,
    waker: RefCell<Option<Waker>>,
}

async fn converse(mut stream: TcpStream, mode: Mode, everyone: Rc<Everyone>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut head = Vec::new();
    while !head.ends_with(handshake::END_OF_HEAD) {
        if stream.read_buf(&mut head).await? == 0 || head.len() > MAX_PAYLOAD {
            return Ok(());
        }
    }
    let Some((response, encoding)) = handshake::response(&String::from_utf8_lossy(&head)) else {
        return Ok(());
    };
    stream.write_all(response.as_bytes()).await?;

    let outbox = Rc::new(Outbox::default());
    everyone.outboxes.borrow_mut().push(Rc::clone(&outbox));
    let mut conversation = Conversation {
        stream,
        mode,
        service: Service::new(encoding),
        input: Vec::new(),
        end: 0,
        outbox: Rc::clone(&outbox),
        sending: Vec::new(),
        sent: 0,
        everyone: Rc::clone(&everyone),
    };
    let result = poll_fn(|cx| conversation.poll(cx)).await;
    everyone.outboxes.borrow_mut().retain(|other| !Rc::ptr_eq(other, &outbox));
    result
}

struct Conversation {
    stream: TcpStream,
    mode: Mode,
    service: Service,
    /// Bytes that arrived, up to `end`; empty while nothing waits to be parsed.
    input: Vec<u8>,
    end: usize,
    outbox: Rc<Outbox>,
    /// Bytes on their way to the kernel, of which `sent` are there.
    sending: Vec<u8>,
    sent: usize,
    everyone: Rc<Everyone>,
}

impl Conversation {
    /// Writes what waits, reads and answers, until the peer is gone.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        {
            let mut waker = self.outbox.waker.borrow_mut();
            if !waker.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
                *waker = Some(cx.waker().clone());
            }
        }
        loop {
            // A peer that does not read gets no answers, so it is not read from either.
            ready!(self.poll_flush(cx))?;
            if ready!(self.poll_fill(cx))? == 0 {
                return Poll::Ready(Ok(()));
            }
            self.answer()?;
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.sent == self.sending.len() {
                self.sending.clear();
                self.sent = 0;
                mem::swap(&mut self.sending, &mut self.outbox.bytes.borrow_mut());
                if self.sending.is_empty() {
                    return Poll::Ready(Ok(()));
                }
            }
            let rest = &self.sending[self.sent..];
            self.sent += ready!(Pin::new(&mut self.stream).poll_write(cx, rest))?;
        }
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.input.len() < INPUT_LEN {
            self.input.resize(INPUT_LEN, 0);
        }
        let mut room = ReadBuf::new(&mut self.input[self.end..]);
        let read = match Pin::new(&mut self.stream).poll_read(cx, &mut room) {
            Poll::Ready(result) => {
                result?;
                room.filled().len()
            }
            Poll::Pending => {
                if self.end == 0 {
                    self.input = Vec::new();
                }
                return Poll::Pending;
            }
        };
        self.end += read;
        Poll::Ready(Ok(read))
    }

    /// Answers every whole frame of the input.
    fn answer(&mut self) -> io::Result<()> {
        let mut own = self.outbox.bytes.borrow_mut();
        let mut batch = self.everyone.batch.borrow_mut();
        let mut start = 0;
        while let Some(head) = Head::parse(&self.input[start..self.end]).map_err(io::Error::other)? {
            let end = start + head.frame_len();
            if end > self.end {
                break;
            }
            let payload = &mut self.input[start + head.head_len..end];
            if let Some(mask) = head.mask {
                apply_mask(payload, mask);
            }
            start = end;
            if head.opcode == Opcode::Close {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            let Some(request) = Request::parse(self.service.encoding(), payload) else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            self.service.tick();
            self.service.write_reply(&mut own, request.sn);
            if self.mode == Mode::Broadcast {
                let chat = batch.len();
                self.service.write_chat(&mut batch, &request.content);
                own.extend_from_slice(&batch[chat..]);
            }
        }
        self.input.copy_within(start..self.end, 0);
        self.end -= start;
        drop(own);
        if batch.is_empty() {
            return Ok(());
        }
        for other in &*self.everyone.outboxes.borrow() {
            if Rc::ptr_eq(other, &self.outbox) {
                continue;
            }
            other.bytes.borrow_mut().extend_from_slice(&batch);
            if let Some(waker) = &*other.waker.borrow() {
                waker.wake_by_ref();
            }
        }
        batch.clear();
        Ok(())
    }
}
