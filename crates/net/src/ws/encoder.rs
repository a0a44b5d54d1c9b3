//! What one end of a connection sends, with masking and compression as that end needs them.
//!
//! A server without compression needs none of this: it writes with
//! [`begin_frame`] and [`finish_frame`](super::finish_frame).

use std::hash::{BuildHasher, RandomState};

use super::header::{FrameHeader, MASKED, RSV1};
use super::streams::Deflater;
use super::{CloseCode, Deflate, FrameStart, Opcode, Role, begin_frame, close, mask};

/// Writes the frames of one connection.
#[derive(Debug)]
pub struct Encoder {
    masks: Option<MaskKeys>,
    deflater: Option<Box<Deflater>>,
    /// Compressed payloads on their way into the write buffer.
    compressed: Vec<u8>,
}

impl Encoder {
    /// An encoder for what `role` sends; `deflate` is what the handshake agreed on.
    pub fn new(role: Role, deflate: Option<&Deflate>) -> Self {
        Self {
            masks: match role {
                Role::Server => None,
                Role::Client => Some(MaskKeys::default()),
            },
            deflater: deflate.map(|deflate| Box::new(Deflater::new(role, deflate))),
            compressed: Vec::new(),
        }
    }

    /// Ends a frame that [`begin_frame`] began: compresses the payload where
    /// that was agreed on, masks it where this is a client.
    #[inline]
    pub fn finish(&mut self, out: &mut Vec<u8>, start: FrameStart) {
        if self.masks.is_none() && self.deflater.is_none() {
            return super::finish_frame(out, start);
        }
        self.finish_changed(out, start);
    }

    /// Appends a whole frame.
    #[inline]
    pub fn put(&mut self, out: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
        let frame = begin_frame(out, opcode);
        out.extend_from_slice(payload);
        self.finish(out, frame);
    }

    /// Appends a close frame, as [`put_close`](super::put_close) does.
    pub fn put_close(&mut self, out: &mut Vec<u8>, code: CloseCode, reason: &str) {
        let frame = begin_frame(out, Opcode::Close);
        close::write(out, code, reason);
        self.finish(out, frame);
    }

    fn finish_changed(&mut self, out: &mut Vec<u8>, start: FrameStart) {
        let at = start.at();
        let payload_at = start.payload_at();
        let mut first = out[at];
        if let Some(deflater) = &mut self.deflater
            && !is_control(first)
        {
            self.compressed.clear();
            if deflater.message(&out[payload_at..], &mut self.compressed) {
                out.truncate(payload_at);
                out.extend_from_slice(&self.compressed);
                first |= RSV1;
            }
            self.compressed.shrink_to(KEPT_CAPACITY);
        }

        let len = out.len() - payload_at;
        let header = FrameHeader::new(first, len);
        let key = self.masks.as_mut().map(MaskKeys::next);
        let size = header.len() + key.map_or(0, |key| key.len());
        let moved = at + size;
        out.resize(moved + len, 0);
        out.copy_within(payload_at..payload_at + len, moved);
        out[at..at + header.len()].copy_from_slice(&header);
        if let Some(key) = key {
            out[at + 1] |= MASKED;
            out[moved - key.len()..moved].copy_from_slice(&key);
            mask::apply(&mut out[moved..], key);
        }
    }
}

/// Room for compressed payloads that is kept between frames.
const KEPT_CAPACITY: usize = 4096;

fn is_control(first: u8) -> bool {
    first & 0x08 != 0
}

/// Masking keys that a page cannot foresee (RFC 6455 §10.3): the numbers from
/// zero up through SipHash, keyed by the operating system's randomness.
#[derive(Debug, Default)]
struct MaskKeys {
    secret: RandomState,
    used: u64,
}

impl MaskKeys {
    fn next(&mut self) -> [u8; 4] {
        self.used += 1;
        let [a, b, c, d, ..] = self.secret.hash_one(self.used).to_ne_bytes();
        [a, b, c, d]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ws::header::RawHeader;

    #[test]
    fn a_client_masks_each_frame_with_a_key_of_its_own() {
        let mut encoder = Encoder::new(Role::Client, None);
        let mut keys = Vec::new();
        for len in [0, 5, 125, 126, 0xffff, 0x1_0000] {
            let payload = vec![7; len];
            let mut out = b"before".to_vec();
            encoder.put(&mut out, Opcode::Binary, &payload);
            let header = RawHeader::parse(&out[6..]).expect("complete");
            assert_eq!((header.first, header.len), (0x82, len as u64));
            let key = header.key.expect("masked");
            assert!(!keys.contains(&key));
            keys.push(key);
            mask::apply(&mut out[6 + header.size..], key);
            assert!(out[6 + header.size..] == payload, "{len} bytes");
        }
    }

    #[test]
    fn control_frames_and_short_messages_are_not_compressed() {
        let config = crate::ws::DeflateConfig { threshold: 10, ..Default::default() };
        let agreed = config.answer(["permessage-deflate"]).expect("an offer");
        let mut encoder = Encoder::new(Role::Server, Some(&agreed));
        let mut out = Vec::new();
        encoder.put(&mut out, Opcode::Ping, b"aaaaaaaaaaaaaaaaaaaa");
        encoder.put(&mut out, Opcode::Text, b"aaaaaaaaa");
        encoder.put_close(&mut out, CloseCode::NORMAL, "aaaaaaaaaaaaaaaaaaaa");
        assert_eq!((out[0], out[22], out[33]), (0x89, 0x81, 0x88));

        out.clear();
        encoder.put(&mut out, Opcode::Text, b"aaaaaaaaaa");
        assert_eq!(out[0], 0xc1);
    }
}
