//! WebSocket framing (RFC 6455, section 5) as far as the benchmark needs it: whole data frames
//! of both directions, over byte slices.
//!
//! Depends on nothing. The load generator and the floor use it, so that neither is measured
//! through a library and polywire is never checked against itself.

/// What a frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opcode {
    /// A further piece of a fragmented message.
    Continuation,
    /// UTF-8 text.
    Text,
    /// Bytes.
    Binary,
    /// The peer ends the connection.
    Close,
    /// A ping, which asks for a pong.
    Ping,
    /// The answer to a ping.
    Pong,
}

impl Opcode {
    fn from_bits(bits: u8) -> Result<Self, FrameError> {
        Ok(match bits {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return Err(FrameError::UnknownOpcode(bits)),
        })
    }

    const fn bits(self) -> u8 {
        match self {
            Self::Continuation => 0,
            Self::Text => 1,
            Self::Binary => 2,
            Self::Close => 8,
            Self::Ping => 9,
            Self::Pong => 10,
        }
    }
}

/// Why bytes are not a frame that the benchmark understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    /// An opcode that RFC 6455 reserves.
    #[error("unknown WebSocket opcode {0}")]
    UnknownOpcode(u8),
    /// A reserved bit is set although no extension was negotiated.
    #[error("a reserved bit of a WebSocket frame is set")]
    ReservedBit,
    /// The payload is longer than [`MAX_PAYLOAD`].
    #[error("a WebSocket frame of {0} bytes is longer than any of the benchmark")]
    TooLong(u64),
}

/// No frame of the benchmark comes near this many bytes.
pub(crate) const MAX_PAYLOAD: usize = 32 * 1024;

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Whether the frame ends its message.
    pub(crate) fin: bool,
    /// What the frame carries.
    pub(crate) opcode: Opcode,
    /// The masking key, which clients must use and servers must not.
    pub(crate) mask: Option<[u8; 4]>,
    /// Bytes of the head itself, 2 to 14.
    pub(crate) head_len: usize,
    /// Bytes of the payload behind it.
    pub(crate) payload_len: usize,
}

impl Head {
    /// Reads the head at the start of `bytes`; `None` while it is incomplete.
    ///
    /// # Errors
    /// Whatever no peer of the benchmark may send, see [`FrameError`].
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, FrameError> {
        let [first, second, ..] = *bytes else {
            return Ok(None);
        };
        if first & 0x70 != 0 {
            return Err(FrameError::ReservedBit);
        }
        let opcode = Opcode::from_bits(first & 0x0f)?;
        let (extended, payload_len) = match second & 0x7f {
            126 => match bytes.get(2..4) {
                Some(&[a, b]) => (2, u64::from(u16::from_be_bytes([a, b]))),
                _ => return Ok(None),
            },
            127 => match bytes.get(2..10).and_then(|len| len.try_into().ok()) {
                Some(len) => (8, u64::from_be_bytes(len)),
                None => return Ok(None),
            },
            len => (0, u64::from(len)),
        };
        let payload_len = match usize::try_from(payload_len) {
            Ok(len) if len <= MAX_PAYLOAD => len,
            _ => return Err(FrameError::TooLong(payload_len)),
        };
        let (mask, head_len) = if second & 0x80 == 0 {
            (None, 2 + extended)
        } else {
            let at = 2 + extended;
            match bytes.get(at..at + 4) {
                Some(&[a, b, c, d]) => (Some([a, b, c, d]), at + 4),
                _ => return Ok(None),
            }
        };
        Ok(Some(Self { fin: first & 0x80 != 0, opcode, mask, head_len, payload_len }))
    }

    /// Bytes of the whole frame.
    pub(crate) const fn frame_len(&self) -> usize {
        self.head_len + self.payload_len
    }
}

/// Appends an unmasked frame, as servers send it.
pub(crate) fn write_server_frame(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
    write_head(out, opcode, payload.len(), None);
    out.extend_from_slice(payload);
}

/// Appends a masked frame, as clients must send it.
pub(crate) fn write_client_frame(out: &mut Vec<u8>, opcode: Opcode, mask: [u8; 4], payload: &[u8]) {
    write_head(out, opcode, payload.len(), Some(mask));
    let start = out.len();
    out.extend_from_slice(payload);
    apply_mask(&mut out[start..], mask);
}

/// Masks or unmasks a payload in place.
pub(crate) fn apply_mask(payload: &mut [u8], mask: [u8; 4]) {
    let mut words = payload.chunks_exact_mut(4);
    for word in &mut words {
        for (byte, key) in word.iter_mut().zip(mask) {
            *byte ^= key;
        }
    }
    for (byte, key) in words.into_remainder().iter_mut().zip(mask) {
        *byte ^= key;
    }
}

#[expect(clippy::cast_possible_truncation, reason = "each branch knows the range of its length")]
fn write_head(out: &mut Vec<u8>, opcode: Opcode, payload_len: usize, mask: Option<[u8; 4]>) {
    let masked = if mask.is_some() { 0x80 } else { 0 };
    out.push(0x80 | opcode.bits());
    match payload_len {
        0..=125 => out.push(masked | payload_len as u8),
        126..=0xffff => {
            out.push(masked | 126);
            out.extend_from_slice(&(payload_len as u16).to_be_bytes());
        }
        _ => {
            out.push(masked | 127);
            out.extend_from_slice(&(payload_len as u64).to_be_bytes());
        }
    }
    if let Some(mask) = mask {
        out.extend_from_slice(&mask);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

    fn check(bytes: &[u8], expected: Result<Option<Head>, FrameError>) {
        assert_eq!(Head::parse(bytes), expected, "{bytes:02x?}");
    }

    /// The examples of RFC 6455, section 5.7.
    #[test]
    fn heads_of_the_rfc_are_read() {
        let text = Head { fin: true, opcode: Opcode::Text, mask: None, head_len: 2, payload_len: 5 };
        check(&[0x81, 0x05, b'H'], Ok(Some(text)));
        check(&[0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f], Ok(Some(Head { mask: Some(MASK), head_len: 6, ..text })));
        check(&[0x01, 0x03], Ok(Some(Head { fin: false, payload_len: 3, ..text })));
        check(
            &[0x82, 0x7e, 0x01, 0x00],
            Ok(Some(Head { opcode: Opcode::Binary, head_len: 4, payload_len: 256, ..text })),
        );
    }

    #[test]
    fn every_prefix_of_a_head_is_incomplete() {
        for head in [
            &[0x81, 0x85, 1, 2, 3, 4][..],
            &[0x82, 0xfe, 0x01, 0x00, 1, 2, 3, 4],
            &[0x82, 0xff, 0, 0, 0, 0, 0, 0, 0x20, 0, 1, 2, 3, 4],
        ] {
            for end in 0..head.len() {
                check(&head[..end], Ok(None));
            }
            assert!(matches!(Head::parse(head), Ok(Some(_))));
        }
    }

    #[test]
    fn heads_that_no_peer_may_send_are_refused() {
        check(&[0xc1, 0], Err(FrameError::ReservedBit));
        check(&[0x83, 0], Err(FrameError::UnknownOpcode(3)));
        check(&[0x82, 0x7f, 0, 0, 0, 1, 0, 0, 0, 0], Err(FrameError::TooLong(1 << 32)));
    }

    #[test]
    fn written_frames_are_read_back() {
        for len in [0, 1, 3, 4, 125, 126, 127, 4000, MAX_PAYLOAD] {
            let payload: Vec<u8> = (0..len).map(|at| at.to_le_bytes()[0]).collect();
            for mask in [None, Some(MASK)] {
                let mut bytes = Vec::new();
                match mask {
                    None => write_server_frame(&mut bytes, Opcode::Binary, &payload),
                    Some(mask) => write_client_frame(&mut bytes, Opcode::Binary, mask, &payload),
                }
                let head = Head::parse(&bytes).unwrap().unwrap();
                assert_eq!((head.opcode, head.mask, head.frame_len()), (Opcode::Binary, mask, bytes.len()));
                let body = &mut bytes[head.head_len..];
                if let Some(mask) = mask {
                    apply_mask(body, mask);
                }
                assert_eq!(body, payload);
            }
        }
    }
}
