//! permessage-deflate (RFC 7692): the streams of one connection.
//!
//! Holds always: a message inflates to at most the limit, and no more than the
//! limit and one byte is ever held of it.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::{Deflate, Role, WsError};

/// What ends a message on the stream and is cut off on the wire (§7.2.1).
const TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

/// Smallest room that is made for output at a time.
const STEP: usize = 512;

/// Inflates the messages that a role receives.
#[derive(Debug)]
pub(super) struct Inflater {
    stream: Decompress,
    /// Whether the peer starts each message afresh.
    fresh: bool,
}

impl Inflater {
    pub(super) fn new(role: Role, deflate: &Deflate) -> Self {
        let (bits, fresh) = match role {
            Role::Server => (deflate.client_max_window_bits, deflate.client_no_context_takeover),
            Role::Client => (deflate.server_max_window_bits, deflate.server_no_context_takeover),
        };
        Self { stream: Decompress::new_with_window_bits(false, zlib_bits(bits)), fresh }
    }

    /// Appends what `input` inflates to. `out` grows to `max` bytes at most.
    pub(super) fn push(&mut self, mut input: &[u8], out: &mut Vec<u8>, max: usize) -> Result<(), WsError> {
        loop {
            if out.len() == out.capacity() {
                let room = out.capacity().max(input.len()).max(STEP);
                // One byte more than allowed, to see the message exceed the limit.
                out.reserve_exact(room.min(max.saturating_sub(out.len()) + 1));
            }
            let (read, written) = (self.stream.total_in(), out.len());
            let status =
                self.stream.decompress_vec(input, out, FlushDecompress::Sync).map_err(|_| WsError::BadDeflate)?;
            let read = (self.stream.total_in() - read) as usize;
            if out.len() > max {
                return Err(WsError::MessageTooLong { max });
            }
            input = &input[read..];
            if status == Status::StreamEnd {
                // A final block inside a message (§7.2.3.5): another stream follows.
                self.stream.reset(false);
            } else if read == 0 && out.len() == written {
                return if input.is_empty() { Ok(()) } else { Err(WsError::BadDeflate) };
            }
            if input.is_empty() && out.len() < out.capacity() {
                return Ok(());
            }
        }
    }

    /// Ends the message.
    pub(super) fn end(&mut self, out: &mut Vec<u8>, max: usize) -> Result<(), WsError> {
        self.push(&TAIL, out, max)?;
        if self.fresh {
            self.stream.reset(false);
        }
        Ok(())
    }
}

/// Compresses the messages that a role sends.
#[derive(Debug)]
pub(super) struct Deflater {
    stream: Compress,
    /// Whether each message starts afresh.
    fresh: bool,
    threshold: usize,
}

impl Deflater {
    pub(super) fn new(role: Role, deflate: &Deflate) -> Self {
        let (bits, fresh) = match role {
            Role::Server => (deflate.server_max_window_bits, deflate.server_no_context_takeover),
            Role::Client => (deflate.client_max_window_bits, deflate.client_no_context_takeover),
        };
        let level = Compression::new(u32::from(deflate.level.clamp(1, 9)));
        Self {
            stream: Compress::new_with_window_bits(level, false, zlib_bits(bits)),
            fresh,
            // An empty message has no compressed form of its own.
            threshold: deflate.threshold.max(1),
        }
    }

    /// Appends the compressed form of a whole message, or returns `false` and
    /// appends nothing where the message is below the threshold.
    pub(super) fn message(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> bool {
        if input.len() < self.threshold {
            return false;
        }
        let start = out.len();
        loop {
            out.reserve(STEP.max(input.len() / 2));
            let read = self.stream.total_in();
            let result = self.stream.compress_vec(input, out, FlushCompress::Sync);
            input = &input[(self.stream.total_in() - read) as usize..];
            if result.is_err() {
                // The stream is of no use any more; what it knew is given up.
                out.truncate(start);
                self.stream.reset();
                return false;
            }
            // A flush is complete when it leaves room in the output.
            if input.is_empty() && out.len() < out.capacity() {
                break;
            }
        }
        if out[start..].ends_with(&TAIL) {
            out.truncate(out.len() - TAIL.len());
        }
        if self.fresh {
            self.stream.reset();
        }
        true
    }
}

/// zlib has no window of 8 bits. One of 9 inflates everything that one of 8
/// produced; and it compresses with distances of at most 512 − 262 = 250 bytes,
/// which a window of 8 bits holds.
fn zlib_bits(bits: u8) -> u8 {
    bits.clamp(9, 15)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ws::DeflateConfig;

    fn agreed(bits: u8, fresh: bool) -> Deflate {
        let config = DeflateConfig { threshold: 0, ..DeflateConfig::default() };
        Deflate {
            server_max_window_bits: bits,
            server_no_context_takeover: fresh,
            ..config.answer(["permessage-deflate"]).expect("an offer")
        }
    }

    fn inflate(payload: &[u8], max: usize) -> Result<Vec<u8>, WsError> {
        let mut inflater = Inflater::new(Role::Client, &agreed(15, false));
        let mut out = Vec::new();
        inflater.push(payload, &mut out, max)?;
        inflater.end(&mut out, max)?;
        Ok(out)
    }

    #[test]
    fn the_examples_of_rfc_7692_inflate() {
        #[track_caller]
        fn check(payload: &[u8], text: &str) {
            assert_eq!(inflate(payload, 100).as_deref(), Ok(text.as_bytes()));
        }
        // §7.2.3.1, §7.2.3.3, §7.2.3.4, §7.2.3.5
        check(&[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00], "Hello");
        check(&[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00], "Hello");
        check(&[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00], "Hello");
        check(&[0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00], "Hello");
        check(&[0x00], "");
    }

    #[test]
    fn the_second_message_may_refer_to_the_first() {
        // §7.2.3.2
        let mut inflater = Inflater::new(Role::Client, &agreed(15, false));
        let mut fresh = Inflater::new(Role::Client, &agreed(15, true));
        for (payload, alone) in
            [(&[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00][..], true), (&[0xf2, 0x00, 0x11, 0x00, 0x00], false)]
        {
            let mut out = Vec::new();
            inflater.push(payload, &mut out, 100).expect("deflate");
            inflater.end(&mut out, 100).expect("deflate");
            assert_eq!(out, b"Hello");
            assert_eq!(fresh.push(payload, &mut Vec::new(), 100).is_ok(), alone);
            let _ = fresh.end(&mut Vec::new(), 100);
        }
    }

    #[test]
    fn what_is_no_deflate_stream_is_refused() {
        for bad in [&[0xff][..], &[0x07], &[0x00, 0x01, 0x00, 0x00, 0x00]] {
            assert_eq!(inflate(bad, 100), Err(WsError::BadDeflate), "{bad:?}");
        }
    }

    #[test]
    fn a_bomb_is_refused_at_the_limit() {
        let mut deflater = Deflater::new(Role::Server, &agreed(15, false));
        let mut bomb = Vec::new();
        assert!(deflater.message(&vec![0; 50_000_000], &mut bomb));
        assert!(bomb.len() < 60_000);

        let mut inflater = Inflater::new(Role::Client, &agreed(15, false));
        let mut out = Vec::new();
        let result = inflater.push(&bomb, &mut out, 100_000);
        assert_eq!(result, Err(WsError::MessageTooLong { max: 100_000 }));
        assert!(out.capacity() <= 100_001);

        assert_eq!(inflate(&bomb, 50_000_000).map(|all| all.len()), Ok(50_000_000));
    }

    proptest! {
        #[test]
        fn inflating_undoes_deflating(
            messages in prop::collection::vec(prop::collection::vec(0u8..4, 0..3000), 1..6),
            bits in 8u8..=15,
            fresh: bool,
            cut in 0usize..500,
        ) {
            let agreed = agreed(bits, fresh);
            let mut deflater = Deflater::new(Role::Server, &agreed);
            let mut inflater = Inflater::new(Role::Client, &agreed);
            for message in messages {
                let mut wire = b"before".to_vec();
                if !deflater.message(&message, &mut wire) {
                    prop_assert!(message.is_empty());
                    continue;
                }
                let wire = &wire[6..];
                let (first, second) = wire.split_at(cut.min(wire.len()));
                let mut out = Vec::new();
                inflater.push(first, &mut out, message.len()).expect("deflate");
                inflater.push(second, &mut out, message.len()).expect("deflate");
                inflater.end(&mut out, message.len()).expect("deflate");
                prop_assert_eq!(out, message);
            }
        }
    }
}
