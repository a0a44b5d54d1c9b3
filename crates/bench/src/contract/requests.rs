//! Requests as the load generator sends them.

use std::io::Write as _;

use super::{CONTENT, Encoding, SEND_ID, tag, varint};
use crate::frame;

/// Writes the frames of `Send` with [`CONTENT`].
#[derive(Debug)]
pub(crate) struct RequestWriter {
    encoding: Encoding,
    /// Everything before the serial number, which comes last in both encodings.
    prefix: Vec<u8>,
    payload: Vec<u8>,
    mask: u32,
}

impl RequestWriter {
    /// A writer for one encoding.
    pub(crate) fn new(encoding: Encoding) -> Self {
        let mut prefix = Vec::new();
        match encoding {
            Encoding::Json => {
                prefix.extend_from_slice(format!(r#"["Send",{{"content":"{CONTENT}"}},"#).as_bytes());
            }
            Encoding::Binary => {
                let mut body = Vec::new();
                varint::write(&mut body, 1);
                varint::write(&mut body, tag::SEND_CONTENT);
                varint::write(&mut body, CONTENT.len() as u64);
                body.extend_from_slice(CONTENT.as_bytes());

                varint::write(&mut prefix, 3);
                varint::write(&mut prefix, tag::INPUT_SERVICE);
                varint::write(&mut prefix, SEND_ID);
                varint::write(&mut prefix, tag::INPUT_BODY);
                varint::write(&mut prefix, body.len() as u64);
                prefix.extend_from_slice(&body);
                varint::write(&mut prefix, tag::INPUT_SN);
            }
        }
        Self { encoding, prefix, payload: Vec::new(), mask: 0x9e37_79b9 }
    }

    /// Appends one masked frame.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>, sn: u64) {
        self.payload.clear();
        self.payload.extend_from_slice(&self.prefix);
        match self.encoding {
            // Writing to a vector cannot fail.
            Encoding::Json => drop(write!(self.payload, "{sn}]")),
            Encoding::Binary => varint::write(&mut self.payload, sn),
        }
        // Every frame has a key of its own, as clients do it.
        self.mask = self.mask.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
        frame::write_client_frame(out, self.encoding.opcode(), self.mask.to_be_bytes(), &self.payload);
    }
}
