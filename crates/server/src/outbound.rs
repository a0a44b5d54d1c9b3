//! What waits to be written to one connection.
//!
//! Knows frames and wakers, no sockets. Invariants: bytes leave in the order in
//! which they were appended; what is queued never exceeds four times the limit
//! by more than one append; the driver is woken at most once between two drains.

use std::{
    collections::VecDeque,
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::Waker,
};

use bytes::Bytes;
use polywire_net::ws;

use crate::buffers;

/// Shared bytes of at least this size are queued by reference; shorter ones
/// are copied, which is cheaper than counting references and one more slice in
/// each write.
const SHARE_FROM: usize = 1024;

/// How many times the limit may be queued of what is no slow reader's fault.
const BURST: usize = 4;

/// What an append is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Something that the peer did not ask for. A peer that does not take it in time is a slow reader.
    Message,
    /// What a call of the peer waits for. Calls in flight have a limit of their own.
    Reply,
}

/// What became of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appended {
    /// The bytes are queued.
    Queued,
    /// The queue is full: nothing was queued.
    Full,
    /// The connection takes nothing any more.
    Closed,
}

/// The queue of one connection.
#[derive(Debug)]
pub(crate) struct Outbound {
    state: Mutex<State>,
    limit: usize,
    /// Half of the limit is queued: no more work is taken from the peer.
    heavy: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// Whole segments before `tail`.
    segments: VecDeque<Bytes>,
    /// The newest bytes, still growing.
    tail: Vec<u8>,
    /// Bytes in `segments` and those the driver has taken but not written.
    elsewhere: usize,
    /// The driver runs, or has been woken: nobody needs to wake it.
    awake: bool,
    /// The socket takes nothing at the moment.
    blocked: bool,
    closed: bool,
    waker: Option<Waker>,
    /// Compresses messages, where the handshake agreed on it.
    encoder: Option<Box<ws::Encoder>>,
}

impl State {
    fn queued(&self) -> usize {
        self.elsewhere + self.tail.len()
    }

    /// Gives the tail a buffer, if it has none.
    fn room(&mut self) {
        if self.tail.capacity() == 0 {
            self.tail = buffers::take();
        }
    }

    fn wake(&mut self) -> Option<Waker> {
        if std::mem::replace(&mut self.awake, true) { None } else { self.waker.clone() }
    }
}

impl Outbound {
    pub(crate) fn new(limit: usize, encoder: Option<Box<ws::Encoder>>) -> Self {
        let state = State { awake: true, encoder, ..State::default() };
        Self { state: Mutex::new(state), limit, heavy: AtomicBool::new(false) }
    }

    /// Whether there is room. Beyond the limit there is some left for replies,
    /// and while the driver had no turn yet to write what is queued: then it is
    /// not the peer that is slow.
    fn has_room(&self, state: &State, purpose: Purpose) -> bool {
        let queued = state.queued();
        queued < self.limit
            || (queued < self.limit.saturating_mul(BURST) && (!state.blocked || purpose == Purpose::Reply))
    }

    fn weigh(&self, state: &State) {
        self.heavy.store(state.queued() >= self.limit / 2, Ordering::Release);
    }

    /// Whether half of the limit is queued.
    pub(crate) fn is_heavy(&self) -> bool {
        self.heavy.load(Ordering::Acquire)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // A panic while the lock is held can only come from an encoder, which leaves nothing behind.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Appends a frame whose payload `write` writes. Hot: one uncontended lock.
    ///
    /// # Errors
    /// That of `write`; nothing is queued then, nor where it panics.
    pub(crate) fn append_frame<E>(
        &self,
        purpose: Purpose,
        opcode: ws::Opcode,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Appended, E> {
        let mut state = self.lock();
        if state.closed {
            return Ok(Appended::Closed);
        }
        if !self.has_room(&state, purpose) {
            return Ok(Appended::Full);
        }
        state.room();
        let State { tail, encoder, .. } = &mut *state;
        let frame = ws::begin_frame(tail, opcode);
        match catch_unwind(AssertUnwindSafe(|| write(tail))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                ws::abandon_frame(tail, frame);
                return Err(error);
            }
            Err(panic) => {
                ws::abandon_frame(tail, frame);
                drop(state);
                resume_unwind(panic);
            }
        }
        match encoder {
            Some(encoder) => encoder.finish(tail, frame),
            None => ws::finish_frame(tail, frame),
        }
        self.weigh(&state);
        let waker = state.wake();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(Appended::Queued)
    }

    /// Appends a frame with this payload.
    pub(crate) fn append(&self, purpose: Purpose, opcode: ws::Opcode, payload: &[u8]) -> Appended {
        let write = |out: &mut Vec<u8>| {
            out.extend_from_slice(payload);
            Ok::<_, Infallible>(())
        };
        let Ok(appended) = self.append_frame(purpose, opcode, write);
        appended
    }

    /// Appends bytes that other connections get too.
    pub(crate) fn append_shared(&self, bytes: &Shared) -> Appended {
        let mut state = self.lock();
        if state.closed {
            return Appended::Closed;
        }
        if !self.has_room(&state, Purpose::Message) {
            return Appended::Full;
        }
        match bytes {
            Shared::Small(bytes) => {
                state.room();
                state.tail.extend_from_slice(bytes);
            }
            Shared::Large(bytes) => {
                if !state.tail.is_empty() {
                    let tail = std::mem::take(&mut state.tail);
                    state.elsewhere += tail.len();
                    state.segments.push_back(tail.into());
                }
                state.elsewhere += bytes.len();
                state.segments.push_back(bytes.clone());
            }
        }
        self.weigh(&state);
        let waker = state.wake();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Appended::Queued
    }

    /// Appends the last bytes, also where the queue is full or takes nothing any more.
    pub(crate) fn append_last(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.lock();
        write(&mut state.tail);
        state.closed = true;
        let waker = state.wake();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes nothing more. What is queued can still be drained.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        if let Some(waker) = state.wake() {
            drop(state);
            waker.wake();
        }
    }

    /// Wakes the driver.
    pub(crate) fn wake(&self) {
        let waker = self.lock().wake();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The driver begins a turn: nobody needs to wake it until it drains.
    pub(crate) fn begin_turn(&self) {
        self.lock().awake = true;
    }

    /// The driver waits for the socket to take more: whoever wants something of it wakes it.
    pub(crate) fn rest(&self) {
        let mut state = self.lock();
        state.awake = false;
        state.blocked = true;
    }

    /// Moves what is queued into `into`; where nothing is queued, the next
    /// append wakes `waker`. Returns whether anything was moved.
    pub(crate) fn drain(&self, into: &mut Draining, waker: &Waker) -> bool {
        let mut state = self.lock();
        if !state.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            state.waker = Some(waker.clone());
        }
        if state.segments.is_empty() && state.tail.is_empty() {
            state.awake = false;
            return false;
        }
        into.segments.append(&mut state.segments);
        if !state.tail.is_empty() {
            if into.is_empty() {
                let tail = std::mem::take(&mut state.tail);
                state.elsewhere += tail.len();
                into.tail = tail;
                into.at = 0;
            } else {
                let tail = std::mem::take(&mut state.tail);
                state.elsewhere += tail.len();
                into.seal();
                into.segments.push_back(tail.into());
            }
        }
        true
    }

    /// `count` bytes that were taken have been written.
    pub(crate) fn written(&self, count: usize) {
        let mut state = self.lock();
        state.elsewhere -= count;
        state.blocked = false;
        self.weigh(&state);
    }
}

/// A frame that several connections get, made once.
#[derive(Debug)]
pub(crate) enum Shared {
    Small(Vec<u8>),
    Large(Bytes),
}

impl Shared {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        if bytes.len() < SHARE_FROM { Self::Small(bytes) } else { Self::Large(bytes.into()) }
    }
}

/// What the driver has taken and is writing.
#[derive(Debug, Default)]
pub(crate) struct Draining {
    segments: VecDeque<Bytes>,
    /// Written after the segments.
    tail: Vec<u8>,
    /// How much of the first segment (or of the tail, where there is none) is written.
    at: usize,
}

impl Draining {
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.tail.len() == self.at
    }

    /// Makes the tail a segment, so that later bytes can follow it.
    fn seal(&mut self) {
        if self.tail.len() > self.at || (!self.segments.is_empty() && !self.tail.is_empty()) {
            let mut tail: Bytes = std::mem::take(&mut self.tail).into();
            if self.segments.is_empty() {
                let _ = tail.split_to(std::mem::take(&mut self.at));
            }
            self.segments.push_back(tail);
        }
    }

    /// The slices to write next, at most `slices.len()`; returns how many.
    pub(crate) fn slices<'a>(&'a self, slices: &mut [std::io::IoSlice<'a>]) -> usize {
        let mut skip = self.at;
        let mut count = 0;
        let all = self.segments.iter().map(|segment| &segment[..]).chain(std::iter::once(&self.tail[..]));
        for bytes in all.filter(|bytes| !bytes.is_empty()) {
            if count == slices.len() {
                break;
            }
            slices[count] = std::io::IoSlice::new(&bytes[std::mem::take(&mut skip)..]);
            count += 1;
        }
        count
    }

    /// `count` bytes from the front are written.
    pub(crate) fn advance(&mut self, mut count: usize) {
        while let Some(first) = self.segments.front() {
            let left = first.len() - self.at;
            if count < left {
                self.at += count;
                return;
            }
            count -= left;
            self.at = 0;
            self.segments.pop_front();
        }
        self.at += count;
        if self.at == self.tail.len() {
            self.at = 0;
            buffers::give(std::mem::take(&mut self.tail));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::IoSlice, task::Waker};

    use super::*;

    fn append(out: &Outbound, text: &str) -> Appended {
        out.append(Purpose::Message, ws::Opcode::Text, text.as_bytes())
    }

    fn shared(text: &str) -> Shared {
        let mut bytes = Vec::new();
        ws::put_frame(&mut bytes, ws::Opcode::Text, text.as_bytes());
        Shared::new(bytes)
    }

    /// Writes everything in steps of `step` bytes.
    fn write_all(out: &Outbound, draining: &mut Draining, step: usize) -> Vec<u8> {
        let mut written = Vec::new();
        loop {
            out.drain(draining, Waker::noop());
            if draining.is_empty() {
                return written;
            }
            let mut slices = [IoSlice::new(&[]); 2];
            let count = draining.slices(&mut slices);
            let flat: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.iter().copied()).take(step).collect();
            draining.advance(flat.len());
            out.written(flat.len());
            written.extend(flat);
        }
    }

    fn frames(texts: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        texts.iter().for_each(|text| ws::put_frame(&mut bytes, ws::Opcode::Text, text.as_bytes()));
        bytes
    }

    #[test]
    fn bytes_leave_in_the_order_they_were_appended_whatever_the_write_sizes() {
        let large = "L".repeat(SHARE_FROM);
        for step in [1, 3, 100, 5000] {
            let out = Outbound::new(1 << 20, None);
            let mut draining = Draining::default();
            append(&out, "one");
            out.append_shared(&shared("two"));
            out.append_shared(&shared(&large));
            append(&out, "three");
            out.drain(&mut draining, Waker::noop());
            draining.advance(2);
            out.written(2);
            append(&out, "four");
            out.append_shared(&shared(&large));
            append(&out, "five");
            let rest = write_all(&out, &mut draining, step);
            assert_eq!(rest, frames(&["one", "two", &large, "three", "four", &large, "five"])[2..], "step {step}");
            assert_eq!(out.lock().queued(), 0);
        }
    }

    #[test]
    fn a_full_queue_of_a_blocked_peer_takes_nothing_and_a_written_byte_makes_room() {
        let out = Outbound::new(8, None);
        assert_eq!(append(&out, "123456"), Appended::Queued);
        out.rest();
        assert_eq!(append(&out, "9"), Appended::Full);
        assert_eq!(out.append_shared(&shared("9")), Appended::Full);
        let mut draining = Draining::default();
        out.drain(&mut draining, Waker::noop());
        assert_eq!(append(&out, "9"), Appended::Full, "taken is not written");
        draining.advance(1);
        out.written(1);
        assert_eq!(append(&out, "9"), Appended::Queued);
    }

    #[test]
    fn replies_and_bursts_may_take_four_times_the_limit() {
        let reply = |out: &Outbound| out.append(Purpose::Reply, ws::Opcode::Text, b"123456");
        for blocked in [false, true] {
            let out = Outbound::new(8, None);
            if blocked {
                out.rest();
            }
            for _ in 0..BURST {
                assert_eq!(reply(&out), Appended::Queued);
            }
            assert_eq!(reply(&out), Appended::Full, "blocked {blocked}");
        }
        let out = Outbound::new(8, None);
        for _ in 0..BURST {
            assert_eq!(append(&out, "123456"), Appended::Queued, "the driver had no turn");
        }
        assert_eq!(append(&out, "123456"), Appended::Full);
    }

    #[test]
    fn a_queue_is_heavy_from_half_of_its_limit_on() {
        let out = Outbound::new(16, None);
        append(&out, "12345");
        assert!(!out.is_heavy());
        append(&out, "");
        assert!(out.is_heavy());
        let mut draining = Draining::default();
        out.drain(&mut draining, Waker::noop());
        assert!(out.is_heavy(), "taken is not written");
        draining.advance(2);
        out.written(2);
        assert!(!out.is_heavy());
    }

    #[test]
    fn a_failed_append_leaves_nothing_behind() {
        let out = Outbound::new(100, None);
        append(&out, "ab");
        let failed: Result<Appended, &str> = out.append_frame(Purpose::Message, ws::Opcode::Text, |tail| {
            tail.extend_from_slice(b"half");
            Err("no")
        });
        assert_eq!(failed, Err("no"));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            out.append_frame(Purpose::Message, ws::Opcode::Text, |tail| -> Result<(), Infallible> {
                tail.extend_from_slice(b"half");
                panic!("an encoder of the application");
            })
        }));
        assert!(panicked.is_err());
        append(&out, "cd");
        assert_eq!(write_all(&out, &mut Draining::default(), 100), frames(&["ab", "cd"]));
    }

    #[test]
    fn a_closed_queue_takes_nothing_but_the_last_word() {
        let out = Outbound::new(8, None);
        append(&out, "ab");
        out.close();
        assert_eq!(append(&out, "c"), Appended::Closed);
        out.append_last(|tail| ws::put_frame(tail, ws::Opcode::Text, b"bye"));
        assert_eq!(write_all(&out, &mut Draining::default(), 100), frames(&["ab", "bye"]));
    }
}
