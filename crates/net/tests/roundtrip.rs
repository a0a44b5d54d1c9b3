//! What one end encodes the other decodes, however the bytes are cut on the way.

use polywire_net::ws::{CloseCode, Decoder, Deflate, DeflateConfig, Encoder, Event, Limits, Opcode, Role, begin_frame};
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq)]
enum Sent {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
}

impl Sent {
    fn encode(&self, encoder: &mut Encoder, out: &mut Vec<u8>) {
        let (opcode, payload) = match self {
            Self::Text(text) => (Opcode::Text, text.as_bytes()),
            Self::Binary(bytes) => (Opcode::Binary, bytes.as_slice()),
            Self::Ping(bytes) => (Opcode::Ping, bytes.as_slice()),
            Self::Pong(bytes) => (Opcode::Pong, bytes.as_slice()),
        };
        let frame = begin_frame(out, opcode);
        out.extend_from_slice(payload);
        encoder.finish(out, frame);
    }

    fn decoded(event: Event<'_>) -> Option<Self> {
        Some(match event {
            Event::Text(text) => Self::Text(text.into()),
            Event::Binary(bytes) => Self::Binary(bytes.to_vec()),
            Event::Ping(bytes) => Self::Ping(bytes.to_vec()),
            Event::Pong(bytes) => Self::Pong(bytes.to_vec()),
            Event::Close { .. } => return None,
        })
    }
}

fn sent() -> impl Strategy<Value = Sent> {
    let control = || prop::collection::vec(any::<u8>(), 0..=125);
    prop_oneof![
        "\\PC{0,300}".prop_map(Sent::Text),
        "[a-c]{1000,3000}".prop_map(Sent::Text),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Sent::Binary),
        prop::collection::vec(any::<u8>(), 65_530..65_540).prop_map(Sent::Binary),
        control().prop_map(Sent::Ping),
        control().prop_map(Sent::Pong),
    ]
}

fn deflate() -> impl Strategy<Value = Option<Deflate>> {
    let config = (any::<[bool; 2]>(), 9u8..=15, 9u8..=15, 0usize..200).prop_map(
        |([server_fresh, client_fresh], server_bits, client_bits, threshold)| DeflateConfig {
            threshold,
            server_max_window_bits: server_bits,
            client_max_window_bits: client_bits,
            server_no_context_takeover: server_fresh,
            client_no_context_takeover: client_fresh,
            ..DeflateConfig::default()
        },
    );
    let agreed = config.prop_map(|config| config.answer([config.offer().as_str()]));
    prop_oneof![Just(None), agreed]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn decoding_undoes_encoding(
        messages in prop::collection::vec(sent(), 0..8),
        cuts in prop::collection::vec(1usize..20_000, 1..20),
        small_cuts: bool,
        from_client: bool,
        deflate in deflate(),
    ) {
        let (sender, receiver) = match from_client {
            true => (Role::Client, Role::Server),
            false => (Role::Server, Role::Client),
        };
        let mut encoder = Encoder::new(sender, deflate.as_ref());
        let mut wire = Vec::new();
        for message in &messages {
            message.encode(&mut encoder, &mut wire);
        }
        encoder.put_close(&mut wire, CloseCode::NORMAL, "done");

        let mut decoder = Decoder::new(receiver, Limits::default());
        if let Some(deflate) = &deflate {
            decoder = decoder.with_deflate(deflate);
        }
        let mut received = Vec::new();
        let mut closed = false;
        let mut cuts = cuts.iter().cycle().map(|cut| if small_cuts { cut % 40 + 1 } else { *cut });
        let mut rest = wire.as_mut_slice();
        while !rest.is_empty() {
            let cut = cuts.next().unwrap_or(1).min(rest.len());
            let (mut piece, after) = rest.split_at_mut(cut);
            rest = after;
            while let Some(event) = decoder.decode(&mut piece).expect("legal frames") {
                match Sent::decoded(event) {
                    Some(message) => received.push(message),
                    None => closed = true,
                }
            }
        }
        prop_assert_eq!(received, messages);
        prop_assert!(closed);
    }

    #[test]
    fn no_bytes_make_the_decoder_panic_or_hold_more_than_its_limit(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        legal_start in prop::option::of(sent()),
        server: bool,
        deflate in deflate(),
    ) {
        let (role, peer) = match server {
            true => (Role::Server, Role::Client),
            false => (Role::Client, Role::Server),
        };
        let mut wire = Vec::new();
        if let Some(message) = legal_start {
            message.encode(&mut Encoder::new(peer, deflate.as_ref()), &mut wire);
        }
        wire.extend(bytes);
        let limits = Limits { max_message: 1000, max_frame: 1000 };
        let mut decoder = Decoder::new(role, limits);
        if let Some(deflate) = &deflate {
            decoder = decoder.with_deflate(deflate);
        }
        for piece in wire.chunks_mut(7) {
            let mut piece = piece;
            while let Ok(Some(_)) = decoder.decode(&mut piece) {}
            prop_assert!(decoder.held() <= 2 * limits.max_message);
        }
    }
}
