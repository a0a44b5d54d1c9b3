//! What a connection is written in, and how its two ends come to agree on it.
//!
//! Depends on nothing.

/// What frames and bodies are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataType {
    /// JSON in text frames.
    Text,
    /// TSBuffer in binary frames.
    Buffer,
}

impl DataType {
    /// The subprotocol that a client offers for it: `text` or `buffer`.
    #[must_use]
    pub const fn subprotocol(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Buffer => "buffer",
        }
    }
}

/// What became of the subprotocols that a client offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Negotiation<'a> {
    /// What the server writes.
    pub data_type: DataType,
    /// Whether the client chose it. Otherwise its first frame does.
    pub confirmed: bool,
    /// The subprotocol of the answer: the first one offered, whatever it is.
    pub answer: Option<&'a str>,
}

/// Chooses the data type from the value of `Sec-WebSocket-Protocol`; `json` says whether JSON is enabled.
///
/// As published: `text` wins over `buffer`, even where JSON is disabled, and
/// the answer names the first protocol offered, even if it is the other one.
#[must_use]
pub fn negotiate(offered: Option<&str>, json: bool) -> Negotiation<'_> {
    let offered = offered.unwrap_or_default();
    let offers = |data_type: DataType| offered.split(',').any(|name| name.trim() == data_type.subprotocol());
    let chosen = [DataType::Text, DataType::Buffer].into_iter().find(|data_type| offers(*data_type));
    let default = if json { DataType::Text } else { DataType::Buffer };
    Negotiation {
        data_type: chosen.unwrap_or(default),
        confirmed: chosen.is_some(),
        answer: offered.split(',').next().map(str::trim).filter(|name| !name.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wins_and_the_answer_names_the_first_offer() {
        use DataType::{Buffer, Text};
        #[rustfmt::skip]
        let cases = [
            (Some("text"),          true,  Text,   true,  Some("text")),
            (Some("text"),          false, Text,   true,  Some("text")),
            (Some("buffer"),        true,  Buffer, true,  Some("buffer")),
            (Some("buffer, text"),  true,  Text,   true,  Some("buffer")),
            (Some("chat"),          true,  Text,   false, Some("chat")),
            (Some("chat,buffer "),  true,  Buffer, true,  Some("chat")),
            (Some(" , buffer"),     true,  Buffer, true,  None),
            (Some(""),              true,  Text,   false, None),
            (None,                  true,  Text,   false, None),
            (None,                  false, Buffer, false, None),
        ];
        for (offered, json, data_type, confirmed, answer) in cases {
            let expected = Negotiation { data_type, confirmed, answer };
            assert_eq!(negotiate(offered, json), expected, "{offered:?}, json {json}");
        }
    }
}
