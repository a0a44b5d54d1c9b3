//! permessage-deflate (RFC 7692): what the two sides agree on.
//!
//! The texts of `Sec-WebSocket-Extensions` in and out; the streams themselves
//! are in [`streams`](super::streams).

use std::fmt;

/// What this side wants of permessage-deflate. Off unless one is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeflateConfig {
    /// Effort of compression, 1 (fast) to 9 (small). Default 3: what comes above
    /// costs several times as much for a few per cent.
    pub level: u8,
    /// Payloads below this many bytes are sent as they are. Default 1024.
    pub threshold: usize,
    /// Largest window of the server's compressor as a power of two, 9 to 15.
    /// Each step down halves its memory (about 260 KiB at 15). Default 15.
    pub server_max_window_bits: u8,
    /// Largest window of the client's compressor, 9 to 15. Default 15.
    pub client_max_window_bits: u8,
    /// The server forgets the last message before each. Default `false`.
    pub server_no_context_takeover: bool,
    /// The client forgets the last message before each. Default `false`.
    pub client_no_context_takeover: bool,
}

impl Default for DeflateConfig {
    fn default() -> Self {
        Self {
            level: 3,
            threshold: 1024,
            server_max_window_bits: MAX_BITS,
            client_max_window_bits: MAX_BITS,
            server_no_context_takeover: false,
            client_no_context_takeover: false,
        }
    }
}

/// What both sides agreed on. `Display` gives the server's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deflate {
    /// The server forgets the last message before each.
    pub server_no_context_takeover: bool,
    /// The client forgets the last message before each.
    pub client_no_context_takeover: bool,
    /// Window of the server's compressor, 8 to 15. Part of the answer where it is below 15.
    pub server_max_window_bits: u8,
    /// Window of the client's compressor, 8 to 15. Part of the answer where it is below 15.
    pub client_max_window_bits: u8,
    /// This side's effort, from its [`DeflateConfig`].
    pub level: u8,
    /// This side's threshold, from its [`DeflateConfig`].
    pub threshold: usize,
}

const NAME: &str = "permessage-deflate";
const MIN_BITS: u8 = 8;
/// The smallest window that zlib compresses with.
const MIN_OWN_BITS: u8 = 9;
const MAX_BITS: u8 = 15;

/// One element of the header, parsed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Params {
    server_no_context_takeover: bool,
    client_no_context_takeover: bool,
    server_max_window_bits: Option<u8>,
    client_max_window_bits: Option<Bits>,
}

/// `client_max_window_bits` may stand in an offer without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bits {
    Unsaid,
    Most(u8),
}

impl DeflateConfig {
    /// Answers a client's offers, the values of `Sec-WebSocket-Extensions` in
    /// order. The first offer that can be met is taken; `None` declines.
    pub fn answer<'h>(&self, offers: impl IntoIterator<Item = &'h str>) -> Option<Deflate> {
        offers.into_iter().flat_map(split_list).filter_map(Params::parse).map(|offer| self.meet(&offer)).next()
    }

    fn meet(&self, offer: &Params) -> Deflate {
        let server_bits = offer.server_max_window_bits.unwrap_or(MAX_BITS);
        let client_bits = match offer.client_max_window_bits {
            // Only a client that says it can may be asked for less.
            None => MAX_BITS,
            Some(Bits::Unsaid) => self.client_bits(),
            Some(Bits::Most(bits)) => self.client_bits().min(bits),
        };
        Deflate {
            server_no_context_takeover: self.server_no_context_takeover || offer.server_no_context_takeover,
            client_no_context_takeover: self.client_no_context_takeover || offer.client_no_context_takeover,
            server_max_window_bits: self.server_bits().min(server_bits),
            client_max_window_bits: client_bits,
            level: self.level,
            threshold: self.threshold,
        }
    }

    fn server_bits(&self) -> u8 {
        self.server_max_window_bits.clamp(MIN_OWN_BITS, MAX_BITS)
    }

    fn client_bits(&self) -> u8 {
        self.client_max_window_bits.clamp(MIN_OWN_BITS, MAX_BITS)
    }

    /// The offer that a client makes.
    pub fn offer(&self) -> String {
        let mut offer = NAME.to_owned();
        if self.server_no_context_takeover {
            offer.push_str("; server_no_context_takeover");
        }
        if self.client_no_context_takeover {
            offer.push_str("; client_no_context_takeover");
        }
        if self.server_bits() < MAX_BITS {
            offer.push_str(&format!("; server_max_window_bits={}", self.server_bits()));
        }
        offer.push_str("; client_max_window_bits");
        if self.client_bits() < MAX_BITS {
            offer.push_str(&format!("={}", self.client_bits()));
        }
        offer
    }

    /// Reads the server's answer to [`offer`](Self::offer). `None` where it is
    /// no answer to that offer; the client must then fail the connection.
    pub fn agree(&self, answer: &str) -> Option<Deflate> {
        let answer = Params::parse(answer.trim())?;
        let server_bits = answer.server_max_window_bits.unwrap_or(MAX_BITS);
        let client_bits = match answer.client_max_window_bits {
            None => MAX_BITS,
            Some(Bits::Most(bits)) => bits,
            Some(Bits::Unsaid) => return None,
        };
        let keeps_offer = server_bits <= self.server_bits()
            && (answer.server_no_context_takeover || !self.server_no_context_takeover);
        keeps_offer.then_some(Deflate {
            server_no_context_takeover: answer.server_no_context_takeover,
            client_no_context_takeover: self.client_no_context_takeover || answer.client_no_context_takeover,
            server_max_window_bits: server_bits,
            client_max_window_bits: client_bits.min(self.client_bits()),
            level: self.level,
            threshold: self.threshold,
        })
    }
}

impl fmt::Display for Deflate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)?;
        if self.server_no_context_takeover {
            f.write_str("; server_no_context_takeover")?;
        }
        if self.client_no_context_takeover {
            f.write_str("; client_no_context_takeover")?;
        }
        if self.server_max_window_bits < MAX_BITS {
            write!(f, "; server_max_window_bits={}", self.server_max_window_bits)?;
        }
        if self.client_max_window_bits < MAX_BITS {
            write!(f, "; client_max_window_bits={}", self.client_max_window_bits)?;
        }
        Ok(())
    }
}

impl Params {
    /// `None` for another extension, an unknown or repeated parameter, or a
    /// value that is not allowed (RFC 7692 §7.1).
    fn parse(element: &str) -> Option<Self> {
        let mut parts = element.split(';').map(str::trim);
        if !parts.next()?.eq_ignore_ascii_case(NAME) {
            return None;
        }
        let mut params = Self::default();
        for part in parts {
            let (name, value) = match part.split_once('=') {
                Some((name, value)) => (name.trim_end(), Some(unquote(value.trim_start())?)),
                None => (part, None),
            };
            match (name, value) {
                ("server_no_context_takeover", None) if !params.server_no_context_takeover => {
                    params.server_no_context_takeover = true;
                }
                ("client_no_context_takeover", None) if !params.client_no_context_takeover => {
                    params.client_no_context_takeover = true;
                }
                ("server_max_window_bits", Some(value)) if params.server_max_window_bits.is_none() => {
                    params.server_max_window_bits = Some(window_bits(value)?);
                }
                ("client_max_window_bits", value) if params.client_max_window_bits.is_none() => {
                    params.client_max_window_bits = Some(match value {
                        Some(value) => Bits::Most(window_bits(value)?),
                        None => Bits::Unsaid,
                    });
                }
                _ => return None,
            }
        }
        Some(params)
    }
}

/// Splits at commas outside of quoted strings.
fn split_list(header: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    header
        .split(move |c| {
            quoted ^= c == '"';
            c == ',' && !quoted
        })
        .map(str::trim)
        .filter(|element| !element.is_empty())
}

fn unquote(value: &str) -> Option<&str> {
    match value.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"'),
        None => Some(value),
    }
}

/// A decimal number from 8 to 15 without a leading zero.
fn window_bits(value: &str) -> Option<u8> {
    let plain = !value.starts_with('0') && value.bytes().all(|byte| byte.is_ascii_digit());
    let bits = value.parse().ok()?;
    (plain && (MIN_BITS..=MAX_BITS).contains(&bits)).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_takes_the_first_offer_that_it_can_meet() {
        #[track_caller]
        fn check(config: DeflateConfig, offers: &[&str], answer: Option<&str>) {
            let agreed = config.answer(offers.iter().copied());
            assert_eq!(agreed.map(|agreed| agreed.to_string()).as_deref(), answer);
        }
        let all = DeflateConfig::default();
        let small = DeflateConfig {
            server_max_window_bits: 11,
            client_max_window_bits: 10,
            server_no_context_takeover: true,
            ..all
        };
        let plain = Some("permessage-deflate");

        check(all, &["permessage-deflate"], plain);
        check(all, &["Permessage-Deflate"], plain);
        check(all, &["permessage-deflate; client_max_window_bits"], plain);
        check(all, &["permessage-bzip2, permessage-deflate"], plain);
        check(all, &["permessage-bzip2", "permessage-deflate"], plain);
        check(
            all,
            &["permessage-deflate; server_no_context_takeover; client_no_context_takeover"],
            Some("permessage-deflate; server_no_context_takeover; client_no_context_takeover"),
        );
        check(
            all,
            &["permessage-deflate;server_max_window_bits=\"9\" ; client_max_window_bits = 8"],
            Some("permessage-deflate; server_max_window_bits=9; client_max_window_bits=8"),
        );
        check(all, &["permessage-deflate; server_max_window_bits=7, permessage-deflate"], plain);

        check(
            small,
            &["permessage-deflate; client_max_window_bits"],
            Some(
                "permessage-deflate; server_no_context_takeover; server_max_window_bits=11; \
                 client_max_window_bits=10",
            ),
        );
        // A client that did not say it can limit its window is not asked to.
        check(
            small,
            &["permessage-deflate"],
            Some("permessage-deflate; server_no_context_takeover; server_max_window_bits=11"),
        );

        for refused in [
            "",
            "x-webkit-deflate-frame",
            "permessage-deflate; unknown",
            "permessage-deflate; server_no_context_takeover=1",
            "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
            "permessage-deflate; server_max_window_bits",
            "permessage-deflate; server_max_window_bits=16",
            "permessage-deflate; server_max_window_bits=08",
            "permessage-deflate; server_max_window_bits=+9",
            "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
            "permessage-deflate; client_max_window_bits=7",
            "permessage-deflate; client_max_window_bits=\"9",
            "permessage-deflate; client_max_window_bits; client_max_window_bits=9",
        ] {
            check(all, &[refused], None);
        }
    }

    #[test]
    fn a_client_accepts_only_answers_to_its_offer() {
        let all = DeflateConfig::default();
        let small = DeflateConfig {
            server_max_window_bits: 11,
            client_max_window_bits: 10,
            server_no_context_takeover: true,
            ..all
        };
        assert_eq!(all.offer(), "permessage-deflate; client_max_window_bits");
        assert_eq!(
            small.offer(),
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=11; \
             client_max_window_bits=10"
        );

        #[track_caller]
        fn check(config: DeflateConfig, answer: &str, bits: Option<(u8, u8)>) {
            let agreed = config.agree(answer);
            let agreed = agreed.map(|a| (a.server_max_window_bits, a.client_max_window_bits));
            assert_eq!(agreed, bits, "{answer}");
        }
        check(all, "permessage-deflate", Some((15, 15)));
        check(all, "permessage-deflate; server_max_window_bits=8", Some((8, 15)));
        check(all, "permessage-deflate; client_max_window_bits=9", Some((15, 9)));
        check(all, "permessage-deflate; client_max_window_bits", None);
        check(all, "permessage-deflate; other", None);
        check(all, "permessage-deflate, permessage-deflate", None);
        check(small, "permessage-deflate", None);
        check(small, "permessage-deflate; server_max_window_bits=11", None);
        check(small, "permessage-deflate; server_max_window_bits=11; server_no_context_takeover", Some((11, 10)));
        check(small, "permessage-deflate; server_max_window_bits=12; server_no_context_takeover", None);
    }

    #[test]
    fn what_the_server_answers_the_client_accepts() {
        for server_bits in 9..=15 {
            for client_bits in 9..=15 {
                for takeover in 0..16u8 {
                    let config = |flags: u8, server, client| DeflateConfig {
                        server_max_window_bits: server,
                        client_max_window_bits: client,
                        server_no_context_takeover: flags & 1 != 0,
                        client_no_context_takeover: flags & 2 != 0,
                        ..DeflateConfig::default()
                    };
                    let client = config(takeover, server_bits, client_bits);
                    let server = config(takeover >> 2, 12, 12);
                    let answer = server.answer([client.offer().as_str()]).expect("can be met");
                    assert_eq!(client.agree(&answer.to_string()), Some(answer));
                }
            }
        }
    }
}
