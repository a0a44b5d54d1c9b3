//! The decoder: bytes of the peer in, events out, for either role.
//!
//! Holds always: every rule of RFC 6455 about received frames is checked here
//! and nowhere else; a message that lies whole and unfragmented in the input
//! is not copied; what is collected never exceeds the limits; text is refused
//! at the first byte that cannot belong to it, not at the end of the message.

use std::mem;
use std::str;

use super::header::{FIN, MAX_HEADER, RSV1, RSV2_3, RawHeader};
use super::streams::Inflater;
use super::{CloseCode, Deflate, Limits, Opcode, Role, WsError, close, mask};

/// What a peer said. Borrows from the input, or from the decoder where the
/// message came in pieces.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A whole text message.
    Text(&'a str),
    /// A whole binary message. May be changed in place.
    Binary(&'a mut [u8]),
    /// A ping; answer it with a pong that carries the same bytes.
    Ping(&'a [u8]),
    /// A pong, asked for or not.
    Pong(&'a [u8]),
    /// The peer ends the connection. Nothing that follows is decoded.
    Close {
        /// The peer's code, [`CloseCode::NO_STATUS`] where it gave none.
        code: CloseCode,
        /// The peer's reason, empty where it gave none.
        reason: &'a str,
    },
}

/// Decodes the bytes of one connection in the order in which they come.
#[derive(Debug)]
pub struct Decoder {
    role: Role,
    limits: Limits,
    /// After a close frame or an error: the rest of the input means nothing.
    finished: bool,
    /// A header that is not complete yet.
    head: [u8; MAX_HEADER],
    head_len: usize,
    /// The frame whose payload is not complete yet.
    frame: Option<Frame>,
    /// The message whose fragments, or whose frame's pieces, are being collected.
    message: Option<Message>,
    /// The first `collected` bytes belong to `message`; pieces of a control
    /// frame that came in between lie behind them. Whatever else is here was
    /// lent to the caller and is dropped by the next call.
    buf: Vec<u8>,
    collected: usize,
    /// There where compression was agreed on.
    inflater: Option<Box<Inflater>>,
}

/// A frame whose header has been checked.
#[derive(Debug, Clone, Copy)]
struct Frame {
    opcode: Opcode,
    fin: bool,
    /// Whether this frame begins a compressed message.
    compressed: bool,
    key: Option<[u8; 4]>,
    /// Bytes of payload that are still to come.
    remaining: usize,
}

#[derive(Debug, Clone, Copy)]
struct Message {
    opcode: Opcode,
    compressed: bool,
    /// Bytes of a text message that are known to be UTF-8.
    checked: usize,
}

/// What [`Decoder::step`] found, before anything is borrowed from the decoder.
enum Found<'i> {
    InInput(Opcode, &'i mut [u8]),
    Collected(Opcode),
}

/// A buffer above this size is given back after its message, so that one long
/// message does not make an idle connection expensive.
const KEPT_CAPACITY: usize = 2048;

/// The first bytes of messages that come in one frame, uncompressed.
const WHOLE_TEXT: u8 = FIN | Opcode::Text as u8;
const WHOLE_BINARY: u8 = FIN | Opcode::Binary as u8;

impl Decoder {
    /// A decoder for the bytes that `role` receives.
    pub fn new(role: Role, limits: Limits) -> Self {
        Self {
            role,
            limits,
            finished: false,
            head: [0; MAX_HEADER],
            head_len: 0,
            frame: None,
            message: None,
            buf: Vec::new(),
            collected: 0,
            inflater: None,
        }
    }

    /// Also takes compressed messages, as the handshake agreed on.
    #[must_use]
    pub fn with_deflate(mut self, deflate: &Deflate) -> Self {
        self.inflater = Some(Box::new(Inflater::new(self.role, deflate)));
        self
    }

    /// Decodes up to the next event and moves `input` behind what it used.
    ///
    /// `None` means that all of the input was used and more is needed; the
    /// decoder keeps what is unfinished, so the caller's buffer is free for the
    /// next read. After a close frame or an error all further input is dropped.
    ///
    /// Hot: a frame that lies whole in the input costs its header, the
    /// unmasking in place and, for text, one pass of UTF-8 validation.
    ///
    /// # Errors
    /// A [`WsError`] where the peer breaks the protocol or a limit.
    pub fn decode<'s, 'i: 's>(&'s mut self, input: &mut &'i mut [u8]) -> Result<Option<Event<'s>>, WsError> {
        if let Some((opcode, payload)) = self.whole_message(input) {
            let event = event(opcode, payload);
            self.finished = event.is_err();
            return event.map(Some);
        }
        self.decode_any(input)
    }

    /// Takes a message off the input that lies there whole in one frame, while
    /// nothing else is going on. `None` for everything else, legal or not.
    #[inline]
    fn whole_message<'i>(&self, input: &mut &'i mut [u8]) -> Option<(Opcode, &'i mut [u8])> {
        let between_messages = self.frame.is_none()
            && self.head_len == 0
            && self.message.is_none()
            && self.buf.is_empty()
            && !self.finished;
        if !between_messages {
            return None;
        }
        let header = RawHeader::parse(input)?;
        let opcode = match header.first {
            WHOLE_TEXT => Opcode::Text,
            WHOLE_BINARY => Opcode::Binary,
            _ => return None,
        };
        let is_masked_rightly = header.key.is_some() == (self.role == Role::Server);
        let len = usize::try_from(header.len).ok()?;
        if !is_masked_rightly
            || len > self.limits.max_frame
            || len > self.limits.max_message
            || len > input.len() - header.size
        {
            return None;
        }
        let (payload, rest) = mem::take(input)[header.size..].split_at_mut(len);
        *input = rest;
        if let Some(key) = header.key {
            mask::apply(payload, key);
        }
        Some((opcode, payload))
    }

    /// Decodes whatever may come, with all that may be unfinished.
    fn decode_any<'s, 'i: 's>(&'s mut self, input: &mut &'i mut [u8]) -> Result<Option<Event<'s>>, WsError> {
        if self.frame.is_none() {
            self.drop_lent();
        }
        if self.finished {
            self.finish();
            *input = &mut [];
            return Ok(None);
        }
        let found = match self.step(input) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(error) => {
                self.finish();
                return Err(error);
            }
        };
        let (opcode, payload) = match found {
            Found::InInput(opcode, payload) => (opcode, payload),
            Found::Collected(opcode) => (opcode, &mut self.buf[self.collected..]),
        };
        let event = event(opcode, payload);
        self.finished = matches!(event, Ok(Event::Close { .. }) | Err(_));
        event.map(Some)
    }

    /// Whether a message or frame has begun that is not complete.
    pub fn is_amid(&self) -> bool {
        self.frame.is_some() || self.head_len > 0 || self.message.is_some()
    }

    /// Bytes that are held for messages and frames that are not complete.
    pub fn held(&self) -> usize {
        self.buf.capacity()
    }

    fn step<'i>(&mut self, input: &mut &'i mut [u8]) -> Result<Option<Found<'i>>, WsError> {
        loop {
            let begun = self.frame.take();
            let mut frame = match begun {
                Some(frame) => frame,
                None => match self.read_header(input)? {
                    Some(frame) => frame,
                    None => return Ok(None),
                },
            };

            let complete = input.len() >= frame.remaining;
            let len = frame.remaining.min(input.len());
            let (payload, rest) = mem::take(input).split_at_mut(len);
            *input = rest;
            if let Some(key) = frame.key {
                mask::apply(payload, key);
            }

            if begun.is_none() && complete && frame.is_whole() {
                return Ok(Some(Found::InInput(frame.opcode, payload)));
            }
            self.collect(&frame, payload)?;
            if !complete {
                frame.remaining -= len;
                frame.key = frame.key.map(|key| mask::advance(key, len));
                self.frame = Some(frame);
                return Ok(None);
            }
            if frame.opcode.is_control() {
                return Ok(Some(Found::Collected(frame.opcode)));
            }
            if frame.fin
                && let Some(message) = self.message.take()
            {
                self.collected = 0;
                return Ok(Some(Found::Collected(message.opcode)));
            }
        }
    }

    /// Takes a header off the input, or keeps the part of it that is there.
    #[inline]
    fn read_header(&mut self, input: &mut &mut [u8]) -> Result<Option<Frame>, WsError> {
        if self.head_len == 0
            && let Some(header) = RawHeader::parse(input)
        {
            *input = &mut mem::take(input)[header.size..];
            return self.admit(header).map(Some);
        }
        self.read_split_header(input)
    }

    fn read_split_header(&mut self, input: &mut &mut [u8]) -> Result<Option<Frame>, WsError> {
        let known = self.head_len;
        let taken = input.len().min(MAX_HEADER - known);
        self.head[known..known + taken].copy_from_slice(&input[..taken]);
        let Some(header) = RawHeader::parse(&self.head[..known + taken]) else {
            self.head_len += taken;
            *input = &mut mem::take(input)[taken..];
            return Ok(None);
        };
        self.head_len = 0;
        *input = &mut mem::take(input)[header.size - known..];
        self.admit(header).map(Some)
    }

    /// Holds a header against the rules, in the order in which its bytes come.
    #[inline]
    fn admit(&mut self, header: RawHeader) -> Result<Frame, WsError> {
        let bits = header.first & 0x0f;
        let opcode = Opcode::from_bits(bits).ok_or(WsError::ReservedOpcode(bits))?;
        let compressed = self.admit_reserved_bits(header.first, opcode)?;
        match (self.role, header.key) {
            (Role::Server, None) => return Err(WsError::Unmasked),
            (Role::Client, Some(_)) => return Err(WsError::Masked),
            _ => {}
        }
        if header.len >> 63 != 0 {
            return Err(WsError::BadLength);
        }
        let fin = header.first & FIN != 0;
        if opcode.is_control() {
            if header.len > 125 {
                return Err(WsError::ControlTooLong(header.len));
            }
            if !fin {
                return Err(WsError::ControlFragmented);
            }
        }
        match (opcode, &self.message) {
            (Opcode::Continuation, None) => return Err(WsError::NothingToContinue),
            (Opcode::Text | Opcode::Binary, Some(_)) => return Err(WsError::Interleaved),
            _ => {}
        }
        Ok(Frame {
            opcode,
            fin,
            compressed,
            key: header.key,
            remaining: self.admit_len(header.len, opcode, compressed)?,
        })
    }

    /// Whether the reserved bits say that a compressed message begins, which is
    /// all that they may say.
    #[inline]
    fn admit_reserved_bits(&self, first: u8, opcode: Opcode) -> Result<bool, WsError> {
        match first & (RSV1 | RSV2_3) {
            0 => Ok(false),
            RSV1 if self.inflater.is_some() && matches!(opcode, Opcode::Text | Opcode::Binary) => Ok(true),
            _ => Err(WsError::ReservedBits),
        }
    }

    /// Refuses what exceeds the limits before any room is made for it. How long
    /// a compressed message becomes is seen when it is inflated.
    #[inline]
    fn admit_len(&self, len: u64, opcode: Opcode, compressed: bool) -> Result<usize, WsError> {
        let Limits { max_message, max_frame } = self.limits;
        if opcode.is_control() {
            return Ok(len as usize);
        }
        let len = match usize::try_from(len) {
            Ok(len) if len <= max_frame => len,
            _ => {
                return Err(WsError::FrameTooLong { len, max: max_frame });
            }
        };
        let inflates = compressed || self.message.is_some_and(|message| message.compressed);
        if len > max_message.saturating_sub(self.collected) && !inflates {
            return Err(WsError::MessageTooLong { max: max_message });
        }
        Ok(len)
    }

    /// Appends unmasked payload to what is collected.
    fn collect(&mut self, frame: &Frame, payload: &[u8]) -> Result<(), WsError> {
        if frame.opcode.is_control() {
            self.make_room(payload.len(), frame);
            self.buf.extend_from_slice(payload);
            return Ok(());
        }
        let mut message =
            self.message.take().unwrap_or(Message { opcode: frame.opcode, compressed: frame.compressed, checked: 0 });
        match &mut self.inflater {
            Some(inflater) if message.compressed => {
                let max = self.limits.max_message;
                inflater.push(payload, &mut self.buf, max)?;
                if frame.fin && payload.len() == frame.remaining {
                    inflater.end(&mut self.buf, max)?;
                }
            }
            _ => {
                self.make_room(payload.len(), frame);
                self.buf.extend_from_slice(payload);
            }
        }
        self.collected = self.buf.len();
        if message.opcode == Opcode::Text {
            message.checked += utf8_prefix(&self.buf[message.checked..])?;
        }
        self.message = Some(message);
        Ok(())
    }

    /// Makes room for `now` bytes of `frame`. The buffer doubles as bytes really
    /// arrive (an announcement alone takes no memory), but not beyond the end of
    /// a last fragment, nor beyond the limit.
    fn make_room(&mut self, now: usize, frame: &Frame) {
        let Self { buf, limits, .. } = self;
        if buf.capacity() - buf.len() >= now {
            return;
        }
        let bound = if frame.fin { frame.remaining } else { limits.max_message - buf.len() };
        buf.reserve_exact(now.max(buf.capacity()).min(bound));
    }

    /// Drops what the last event borrowed.
    #[inline]
    fn drop_lent(&mut self) {
        self.buf.truncate(self.collected);
        if self.collected == 0 && self.buf.capacity() > KEPT_CAPACITY {
            self.buf = Vec::new();
        }
    }

    fn finish(&mut self) {
        self.finished = true;
        self.frame = None;
        self.message = None;
        self.buf = Vec::new();
        self.collected = 0;
    }
}

impl Frame {
    /// Whether the payload is an event as it is, neither a fragment nor compressed.
    #[inline]
    fn is_whole(&self) -> bool {
        self.fin && !self.compressed && self.opcode != Opcode::Continuation
    }
}

#[inline]
fn event(opcode: Opcode, payload: &mut [u8]) -> Result<Event<'_>, WsError> {
    Ok(match opcode {
        Opcode::Text => Event::Text(str::from_utf8(payload).map_err(|_| WsError::BadText)?),
        Opcode::Ping => Event::Ping(payload),
        Opcode::Pong => Event::Pong(payload),
        Opcode::Close => {
            let (code, reason) = close::parse(payload)?;
            Event::Close { code, reason }
        }
        // A continuation never gets here: its message has the opcode it began with.
        Opcode::Binary | Opcode::Continuation => Event::Binary(payload),
    })
}

/// The length of the longest prefix of whole characters; what follows it may
/// still become one.
fn utf8_prefix(bytes: &[u8]) -> Result<usize, WsError> {
    match str::from_utf8(bytes) {
        Ok(text) => Ok(text.len()),
        Err(error) if error.error_len().is_none() => Ok(error.valid_up_to()),
        Err(_) => Err(WsError::BadText),
    }
}
