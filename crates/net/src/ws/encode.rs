//! Frames into a write buffer.
//!
//! These functions write what a server sends: unmasked, one frame a message.

use super::header::{FIN, FrameHeader, header_for};
use super::{CloseCode, Opcode, close};

/// Where a frame began in the write buffer. Give it back to [`finish_frame`]
/// or to [`abandon_frame`].
#[derive(Debug)]
#[must_use = "the frame has no length until it is finished"]
pub struct FrameStart(usize);

impl FrameStart {
    pub(super) fn at(&self) -> usize {
        self.0
    }

    pub(super) fn payload_at(&self) -> usize {
        self.0 + SHORT_HEADER
    }
}

/// Room for the header of a frame of up to 125 bytes.
const SHORT_HEADER: usize = 2;

/// Begins a frame whose length is not known yet. Append the payload to `out`,
/// then call [`finish_frame`] (or [`Encoder::finish`](super::Encoder::finish)); nothing else may touch `out` in between.
///
/// Costs two bytes written for a payload of up to 125 bytes; a longer one is
/// moved up by 2 or 8 bytes at the end.
#[inline]
pub fn begin_frame(out: &mut Vec<u8>, opcode: Opcode) -> FrameStart {
    let start = FrameStart(out.len());
    out.extend_from_slice(&[FIN | opcode as u8, 0]);
    start
}

/// Writes the length of the frame that `start` began.
#[inline]
pub fn finish_frame(out: &mut Vec<u8>, start: FrameStart) {
    let len = out.len() - start.payload_at();
    if len <= 125 {
        out[start.at() + 1] = len as u8;
        return;
    }
    widen_header(out, &start, len);
}

/// Makes room for a longer header by moving the payload up.
fn widen_header(out: &mut Vec<u8>, start: &FrameStart, len: usize) {
    let (at, payload) = (start.at(), start.payload_at()..out.len());
    let header = FrameHeader::new(out[at], len);
    let moved = at + header.len();
    out.resize(moved + len, 0);
    out.copy_within(payload, moved);
    out[at..moved].copy_from_slice(&header);
}

/// Takes the unfinished frame out of the buffer again, as when its payload
/// could not be encoded.
pub fn abandon_frame(out: &mut Vec<u8>, start: FrameStart) {
    out.truncate(start.0);
}

/// Appends a whole frame.
#[inline]
pub fn put_frame(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
    let header = header_for(opcode, payload.len());
    out.reserve(header.len() + payload.len());
    out.extend_from_slice(&header);
    out.extend_from_slice(payload);
}

/// Appends a close frame. The reason is cut to [`MAX_REASON`](super::MAX_REASON)
/// bytes at a character; with [`CloseCode::NO_STATUS`] the frame is empty.
pub fn put_close(out: &mut Vec<u8>, code: CloseCode, reason: &str) {
    let frame = begin_frame(out, Opcode::Close);
    close::write(out, code, reason);
    finish_frame(out, frame);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_of_unknown_length_is_the_frame_of_that_length() {
        for len in [0, 1, 125, 126, 127, 300, 0xffff, 0x1_0000, 0x1_0001] {
            let payload: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let mut expected = b"before".to_vec();
            put_frame(&mut expected, Opcode::Text, &payload);

            let mut out = b"before".to_vec();
            let frame = begin_frame(&mut out, Opcode::Text);
            out.extend_from_slice(&payload);
            finish_frame(&mut out, frame);
            assert!(out == expected, "{len} bytes");
        }
    }

    #[test]
    fn an_abandoned_frame_leaves_nothing() {
        let mut out = b"before".to_vec();
        let frame = begin_frame(&mut out, Opcode::Binary);
        out.extend_from_slice(&[1, 2, 3]);
        abandon_frame(&mut out, frame);
        assert_eq!(out, b"before");
    }

    #[test]
    fn a_close_frame_carries_the_code_and_at_most_123_bytes_of_reason() {
        #[track_caller]
        fn check(code: u16, reason: &str, head: &[u8], reason_len: usize) {
            let mut out = Vec::new();
            put_close(&mut out, CloseCode(code), reason);
            assert_eq!(&out[..head.len()], head);
            assert_eq!(&out[head.len()..], &reason.as_bytes()[..reason_len]);
        }
        check(1005, "", &[0x88, 0], 0);
        check(1000, "", &[0x88, 2, 0x03, 0xe8], 0);
        check(3001, "bye", &[0x88, 5, 0x0b, 0xb9], 3);
        check(1000, &"x".repeat(200), &[0x88, 125, 0x03, 0xe8], 123);
        check(1000, &"é".repeat(100), &[0x88, 124, 0x03, 0xe8], 122);
    }
}
