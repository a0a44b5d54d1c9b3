//! Frame headers (RFC 6455 §5.2): two to fourteen bytes.

use std::ops::Deref;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// Goes on with the fragmented message.
    Continuation = 0,
    /// A message of UTF-8 text, or its first fragment.
    Text = 1,
    /// A message of bytes, or its first fragment.
    Binary = 2,
    /// Ends the connection; carries a code and a reason.
    Close = 8,
    /// Wants a pong with the same payload.
    Ping = 9,
    /// Answers a ping.
    Pong = 10,
}

impl Opcode {
    /// Whether frames of this kind steer the connection and carry no message.
    pub const fn is_control(self) -> bool {
        self as u8 >= 8
    }

    pub(super) const fn from_bits(bits: u8) -> Option<Self> {
        Some(match bits {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }
}

pub(super) const FIN: u8 = 0x80;
pub(super) const RSV1: u8 = 0x40;
pub(super) const RSV2_3: u8 = 0x30;
pub(super) const MASKED: u8 = 0x80;

/// Longest header: 2 bytes, 8 of length, 4 of key.
pub(super) const MAX_HEADER: usize = 14;

/// A header as it came; no rule of the protocol has been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RawHeader {
    /// FIN, RSV1–3 and the opcode.
    pub(super) first: u8,
    /// The masking key of a masked frame.
    pub(super) key: Option<[u8; 4]>,
    /// Length of the payload.
    pub(super) len: u64,
    /// Length of this header.
    pub(super) size: usize,
}

impl RawHeader {
    /// `None` where the header is not complete yet.
    #[inline]
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (&[first, second], rest) = bytes.split_first_chunk()?;
        let (len, rest, size) = match second & !MASKED {
            126 => {
                let (len, rest) = rest.split_first_chunk()?;
                (u64::from(u16::from_be_bytes(*len)), rest, 4)
            }
            127 => {
                let (len, rest) = rest.split_first_chunk()?;
                (u64::from_be_bytes(*len), rest, 10)
            }
            short => (u64::from(short), rest, 2),
        };
        if second & MASKED == 0 {
            return Some(Self { first, key: None, len, size });
        }
        Some(Self { first, key: Some(*rest.first_chunk()?), len, size: size + 4 })
    }
}

/// The header of an unmasked frame, 2, 4 or 10 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    bytes: [u8; 10],
    size: u8,
}

impl FrameHeader {
    #[inline]
    pub(super) fn new(first: u8, len: usize) -> Self {
        let mut bytes = [0; 10];
        bytes[0] = first;
        let size = match len {
            0..=125 => {
                bytes[1] = len as u8;
                2
            }
            126..=0xffff => {
                bytes[1] = 126;
                bytes[2..4].copy_from_slice(&(len as u16).to_be_bytes());
                4
            }
            _ => {
                bytes[1] = 127;
                bytes[2..].copy_from_slice(&(len as u64).to_be_bytes());
                10
            }
        };
        Self { bytes, size }
    }
}

impl Deref for FrameHeader {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.size)]
    }
}

/// The header of a whole unmasked message of `len` bytes, for frames whose
/// payload lies elsewhere: a broadcast joins the two once for all connections.
#[inline]
pub fn header_for(opcode: Opcode, len: usize) -> FrameHeader {
    FrameHeader::new(FIN | opcode as u8, len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_take_the_fewest_bytes() {
        #[track_caller]
        fn check(len: usize, header: &[u8]) {
            assert_eq!(&*header_for(Opcode::Binary, len), header);
            let raw = RawHeader::parse(header).expect("complete");
            assert_eq!((raw.len, raw.size), (len as u64, header.len()));
            for cut in 0..header.len() {
                assert_eq!(RawHeader::parse(&header[..cut]), None, "cut at {cut}");
            }
        }
        check(0, &[0x82, 0]);
        check(125, &[0x82, 125]);
        check(126, &[0x82, 126, 0, 126]);
        check(0xffff, &[0x82, 126, 0xff, 0xff]);
        check(0x1_0000, &[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn the_key_follows_the_length() {
        let raw = RawHeader::parse(&[0x81, 0x85, 1, 2, 3, 4, 9]).expect("complete");
        assert_eq!((raw.key, raw.len, raw.size), (Some([1, 2, 3, 4]), 5, 6));
        assert_eq!(RawHeader::parse(&[0x81, 0x85, 1, 2, 3]), None);
    }
}
