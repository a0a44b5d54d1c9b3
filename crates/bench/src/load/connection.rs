//! One WebSocket connection of the load generator.
//!
//! Invariant: bytes between `start` and `end` of the input have arrived and were not yet read
//! as frames; less than one frame of them stays after `next_payload` has returned `None`.

use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;

use mio::net::TcpStream;

use crate::contract::Encoding;
use crate::frame::{FrameError, Head, MAX_PAYLOAD, Opcode};
use crate::handshake;

/// Bytes that one read may bring; room for the largest frame and a batch behind it.
const INPUT_LEN: usize = 2 * MAX_PAYLOAD;

/// What a read left behind in the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Received {
    /// Nothing: the next arrival is a new event.
    Everything,
    /// Perhaps more than the buffer could take.
    BufferFull,
    /// The peer has ended the stream.
    End,
}

/// A frame that no server of the benchmark may send.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadFrame {
    #[error(transparent)]
    Malformed(#[from] FrameError),
    #[error("the server masked or fragmented a frame")]
    MaskedOrFragmented,
    #[error("the server sent a frame of the other encoding")]
    WrongKind,
    #[error("the server closed the connection: {0}")]
    Close(String),
}

#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    encoding: Encoding,
    input: Box<[u8]>,
    start: usize,
    end: usize,
    output: Vec<u8>,
}

impl Connection {
    /// Connects and waits for the upgrade.
    pub(super) fn open(address: SocketAddr, encoding: Encoding) -> io::Result<Self> {
        let stream = open_blocking(address, encoding)?;
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: TcpStream::from_std(stream),
            encoding,
            input: vec![0; INPUT_LEN].into_boxed_slice(),
            start: 0,
            end: 0,
            output: Vec::new(),
        })
    }

    pub(super) fn source(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Where requests are appended before [`flush`](Self::flush).
    pub(super) fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Writes what waits, as far as the kernel takes it.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(written) if written == self.output.len() => self.output.clear(),
                Ok(written) => drop(self.output.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads once. A read that leaves room in the buffer has emptied the socket.
    pub(super) fn receive(&mut self) -> io::Result<Received> {
        self.input.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        loop {
            match self.stream.read(&mut self.input[self.end..]) {
                Ok(0) => return Ok(Received::End),
                Ok(read) => {
                    self.end += read;
                    return Ok(if self.end == self.input.len() { Received::BufferFull } else { Received::Everything });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Received::Everything);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The payload of the next whole data frame.
    pub(super) fn next_payload(&mut self) -> Result<Option<&[u8]>, BadFrame> {
        let Self { input, start, end, .. } = self;
        loop {
            let Some(head) = Head::parse(&input[*start..*end])? else {
                return Ok(None);
            };
            if head.frame_len() > *end - *start {
                return Ok(None);
            }
            if head.mask.is_some() || !head.fin {
                return Err(BadFrame::MaskedOrFragmented);
            }
            let payload = *start + head.head_len..*start + head.frame_len();
            *start = payload.end;
            match head.opcode {
                Opcode::Ping | Opcode::Pong => {}
                Opcode::Close => {
                    let reason = input[payload].escape_ascii().to_string();
                    return Err(BadFrame::Close(reason));
                }
                kind if kind == self.encoding.opcode() => return Ok(Some(&input[payload])),
                _ => return Err(BadFrame::WrongKind),
            }
        }
    }
}

/// Connects and upgrades, and leaves the socket blocking. For the load generator and for
/// connections that only wait.
pub(super) fn open_blocking(address: SocketAddr, encoding: Encoding) -> io::Result<std::net::TcpStream> {
    let mut stream = std::net::TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(super::STALL))?;
    stream.write_all(handshake::request(encoding).as_bytes())?;
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    // The server has nothing to say before the first request, so the head comes alone.
    while !head.ends_with(handshake::END_OF_HEAD) {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&piece[..read]);
    }
    handshake::check_response(&String::from_utf8_lossy(&head), encoding).map_err(io::Error::other)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::frame::write_server_frame;

    /// A connection whose peer is a plain socket in the test's hand.
    fn pair() -> (Connection, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        far.set_nodelay(true).unwrap();
        let connection = Connection {
            // Blocking, so that a read waits for what the test has written.
            stream: TcpStream::from_std(near),
            encoding: Encoding::Json,
            input: vec![0; INPUT_LEN].into_boxed_slice(),
            start: 0,
            end: 0,
            output: Vec::new(),
        };
        (connection, far)
    }

    #[test]
    fn frames_are_found_wherever_reads_cut_them() {
        let payloads = [&b"one"[..], b"", &[b'x'; 4000], b"four"];
        let mut bytes = Vec::new();
        for payload in payloads {
            write_server_frame(&mut bytes, Opcode::Text, payload);
            write_server_frame(&mut bytes, Opcode::Ping, b"?");
        }
        for cut in [1, 2, 5, 6, 9, 10, 2000, bytes.len()] {
            let (mut connection, mut far) = pair();
            let mut found = Vec::new();
            for piece in bytes.chunks(cut) {
                far.write_all(piece).unwrap();
                assert_eq!(connection.receive().unwrap(), Received::Everything);
                while let Some(payload) = connection.next_payload().unwrap() {
                    found.push(payload.to_vec());
                }
            }
            assert_eq!(found, payloads, "cut into {cut}");
        }
    }

    #[test]
    fn a_full_buffer_says_that_there_may_be_more() {
        let (mut connection, mut far) = pair();
        let mut bytes = Vec::new();
        while bytes.len() < INPUT_LEN + 10 {
            write_server_frame(&mut bytes, Opcode::Text, &[b'x'; 1000]);
        }
        far.write_all(&bytes).unwrap();
        drop(far);
        let mut frames = 0;
        let mut full = 0;
        loop {
            let received = connection.receive().unwrap();
            while connection.next_payload().unwrap().is_some() {
                frames += 1;
            }
            match received {
                Received::Everything => {}
                Received::BufferFull => full += 1,
                Received::End => break,
            }
        }
        assert_eq!(frames, bytes.len() / 1004);
        assert!(full <= 1);
    }

    #[test]
    fn frames_that_a_server_may_not_send_end_the_run() {
        for (bytes, expected) in [
            (&b"\x01\x00"[..], "masked or fragmented"),
            (b"\x81\x80\x00\x00\x00\x00", "masked or fragmented"),
            (b"\x82\x00", "other encoding"),
            (b"\x88\x02\x03\xe8", "closed the connection"),
            (b"\xf1\x00", "reserved bit"),
        ] {
            let (mut connection, mut far) = pair();
            far.write_all(bytes).unwrap();
            connection.receive().unwrap();
            let error = connection.next_payload().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
