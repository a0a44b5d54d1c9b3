//! RFC 6455, rule by rule, for the decoder. Every case is fed whole, byte by
//! byte, and cut in two at every place: the outcome must be the same.

use polywire_net::ws::{CloseCode, Decoder, Event, Limits, Role, WsError};

const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
const FIN: u8 = 0x80;
const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// An event that owns its bytes.
#[derive(Debug, Clone, PartialEq)]
enum Seen {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(u16, String),
    Refused(WsError),
}

impl From<Event<'_>> for Seen {
    fn from(event: Event<'_>) -> Self {
        match event {
            Event::Text(text) => Self::Text(text.into()),
            Event::Binary(bytes) => Self::Binary(bytes.to_vec()),
            Event::Ping(bytes) => Self::Ping(bytes.to_vec()),
            Event::Pong(bytes) => Self::Pong(bytes.to_vec()),
            Event::Close { code, reason } => Self::Close(code.0, reason.into()),
        }
    }
}

/// A frame with a length field of the fewest bytes.
fn frame(role: Role, first: u8, payload: &[u8]) -> Vec<u8> {
    let len = payload.len();
    let field = match len {
        0..=125 => vec![len as u8],
        126..=0xffff => [vec![126], (len as u16).to_be_bytes().to_vec()].concat(),
        _ => [vec![127], (len as u64).to_be_bytes().to_vec()].concat(),
    };
    frame_with(role, first, &field, payload)
}

/// A frame with the given bytes in its length field.
fn frame_with(role: Role, first: u8, field: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    out.extend(field);
    if role == Role::Client {
        out.extend(payload);
        return out;
    }
    out[1] |= 0x80;
    out.extend(KEY);
    out.extend(payload.iter().zip(KEY.iter().cycle()).map(|(byte, key)| byte ^ key));
    out
}

fn decode<'a>(role: Role, limits: Limits, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Seen> {
    let mut decoder = Decoder::new(role, limits);
    let mut seen = Vec::new();
    for piece in pieces {
        let mut piece = piece.to_vec();
        let mut input = piece.as_mut_slice();
        loop {
            match decoder.decode(&mut input) {
                Ok(Some(event)) => seen.push(event.into()),
                Ok(None) => break,
                Err(error) => seen.push(Seen::Refused(error)),
            }
        }
        assert!(input.is_empty(), "`None` means that the input is used up");
    }
    seen
}

#[track_caller]
fn check_bytes(role: Role, limits: Limits, bytes: &[u8], expected: &[Seen]) {
    assert_eq!(decode(role, limits, [bytes]), expected, "whole, {role:?}");
    assert_eq!(decode(role, limits, bytes.chunks(1)), expected, "byte by byte, {role:?}");
    for cut in 1..bytes.len().min(400) {
        let (first, second) = bytes.split_at(cut);
        assert_eq!(decode(role, limits, [first, second]), expected, "cut at {cut}, {role:?}");
    }
}

/// Feeds the frames to both roles, each masked as it should be.
#[track_caller]
fn check(frames: &[(u8, &[u8])], expected: &[Seen]) {
    check_within(Limits::default(), frames, expected);
}

#[track_caller]
fn check_within(limits: Limits, frames: &[(u8, &[u8])], expected: &[Seen]) {
    for role in [Role::Server, Role::Client] {
        let bytes: Vec<u8> = frames.iter().flat_map(|(first, payload)| frame(role, *first, payload)).collect();
        check_bytes(role, limits, &bytes, expected);
    }
}

fn text(text: &str) -> Seen {
    Seen::Text(text.into())
}

fn binary(bytes: &[u8]) -> Seen {
    Seen::Binary(bytes.to_vec())
}

fn ping(bytes: &[u8]) -> Seen {
    Seen::Ping(bytes.to_vec())
}

fn pong(bytes: &[u8]) -> Seen {
    Seen::Pong(bytes.to_vec())
}

fn close(code: u16, reason: &str) -> Seen {
    Seen::Close(code, reason.into())
}

fn refused(error: WsError) -> Seen {
    Seen::Refused(error)
}

#[test]
fn s5_1_a_server_takes_masked_frames_only_and_a_client_unmasked_ones_only() {
    for first in [FIN | TEXT, FIN | BINARY, FIN | PING, FIN | CLOSE] {
        let unmasked = frame(Role::Client, first, b"");
        let masked = frame(Role::Server, first, b"");
        let limits = Limits::default();
        check_bytes(Role::Server, limits, &unmasked, &[refused(WsError::Unmasked)]);
        check_bytes(Role::Client, limits, &masked, &[refused(WsError::Masked)]);
    }
}

#[test]
fn s5_2_reserved_bits_mean_nothing_without_an_extension() {
    for bit in [0x40, 0x20, 0x10] {
        for opcode in [TEXT, BINARY, PING, PONG, CLOSE] {
            check(&[(FIN | bit | opcode, b"")], &[refused(WsError::ReservedBits)]);
        }
        check(&[(TEXT, b"a"), (FIN | bit | CONTINUATION, b"b")], &[refused(WsError::ReservedBits)]);
    }
}

#[test]
fn s5_2_reserved_opcodes_are_refused() {
    for opcode in (3..8).chain(11..16) {
        check(&[(FIN | opcode, b"")], &[refused(WsError::ReservedOpcode(opcode))]);
        check(&[(opcode, b"x")], &[refused(WsError::ReservedOpcode(opcode))]);
    }
}

#[test]
fn s5_2_payloads_of_every_width_of_length_arrive() {
    for len in [0, 1, 125, 126, 127, 128, 0xffff, 0x1_0000] {
        let payload = "*".repeat(len);
        check(&[(FIN | TEXT, payload.as_bytes())], &[text(&payload)]);
        check(&[(FIN | BINARY, payload.as_bytes())], &[binary(payload.as_bytes())]);
    }
}

#[test]
fn s5_2_lengths_with_more_bytes_than_needed_are_accepted_as_published_servers_do() {
    for field in [&[126, 0, 2][..], &[127, 0, 0, 0, 0, 0, 0, 0, 2]] {
        for role in [Role::Server, Role::Client] {
            let bytes = frame_with(role, FIN | TEXT, field, b"hi");
            check_bytes(role, Limits::default(), &bytes, &[text("hi")]);
        }
    }
}

#[test]
fn s5_2_the_highest_bit_of_a_length_is_zero() {
    for role in [Role::Server, Role::Client] {
        let bytes = frame_with(role, FIN | TEXT, &[127, 0x80, 0, 0, 0, 0, 0, 0, 0], b"");
        check_bytes(role, Limits::default(), &bytes, &[refused(WsError::BadLength)]);
    }
}

#[test]
fn s5_4_fragments_become_one_message() {
    check(&[(TEXT, b"a"), (CONTINUATION, b"b"), (FIN | CONTINUATION, b"c")], &[text("abc")]);
    check(&[(BINARY, b""), (CONTINUATION, b""), (FIN | CONTINUATION, b"")], &[binary(b"")]);
    check(
        &[(TEXT, b""), (FIN | CONTINUATION, b"x"), (BINARY, b"y"), (FIN | CONTINUATION, b"")],
        &[text("x"), binary(b"y")],
    );
}

#[test]
fn s5_4_control_frames_may_come_between_fragments() {
    check(
        &[
            (TEXT, b"a"),
            (FIN | PING, b"one"),
            (CONTINUATION, b"b"),
            (FIN | PONG, b"two"),
            (FIN | PING, b""),
            (FIN | CONTINUATION, b"c"),
            (FIN | TEXT, b"d"),
        ],
        &[ping(b"one"), pong(b"two"), ping(b""), text("abc"), text("d")],
    );
    check(&[(TEXT, b"a"), (FIN | CLOSE, &[0x03, 0xe9])], &[close(1001, "")]);
}

#[test]
fn s5_4_a_continuation_needs_a_message() {
    for first in [CONTINUATION, FIN | CONTINUATION] {
        check(&[(first, b"x")], &[refused(WsError::NothingToContinue)]);
        check(&[(FIN | TEXT, b"a"), (first, b"x")], &[text("a"), refused(WsError::NothingToContinue)]);
        check(
            &[(TEXT, b"a"), (FIN | CONTINUATION, b"b"), (first, b"x")],
            &[text("ab"), refused(WsError::NothingToContinue)],
        );
    }
}

#[test]
fn s5_4_a_message_ends_before_the_next_begins() {
    for first in [TEXT, FIN | TEXT, BINARY, FIN | BINARY] {
        check(&[(TEXT, b"a"), (first, b"b")], &[refused(WsError::Interleaved)]);
    }
}

#[test]
fn s5_5_control_frames_carry_at_most_125_bytes() {
    let most = [0x2a; 125];
    let over = [0x2a; 126];
    check(&[(FIN | PING, &most), (FIN | PONG, &most)], &[ping(&most), pong(&most)]);
    for opcode in [PING, PONG, CLOSE] {
        check(&[(FIN | opcode, &over)], &[refused(WsError::ControlTooLong(126))]);
    }
}

#[test]
fn s5_5_control_frames_are_not_fragmented() {
    for opcode in [PING, PONG, CLOSE] {
        check(&[(opcode, b"")], &[refused(WsError::ControlFragmented)]);
    }
}

#[test]
fn s5_5_1_a_close_frame_carries_nothing_or_a_code_and_a_reason() {
    let longest = [&[0x03, 0xe8], "*".repeat(123).as_bytes()].concat();
    check(&[(FIN | CLOSE, b"")], &[close(1005, "")]);
    check(&[(FIN | CLOSE, &[0x03])], &[refused(WsError::TruncatedCloseCode)]);
    check(&[(FIN | CLOSE, &[0x03, 0xe8])], &[close(1000, "")]);
    check(&[(FIN | CLOSE, b"\x03\xe8bye \xe2\x82\xac")], &[close(1000, "bye €")]);
    check(&[(FIN | CLOSE, &longest)], &[close(1000, &"*".repeat(123))]);
    check(&[(FIN | CLOSE, b"\x03\xe8\xe2\x82")], &[refused(WsError::BadReason)]);
    check(&[(FIN | CLOSE, b"\x03\xe8\xce\xba\xff")], &[refused(WsError::BadReason)]);
}

#[test]
fn s5_5_1_nothing_after_a_close_frame_counts() {
    check(
        &[(FIN | CLOSE, &[0x03, 0xe8]), (FIN | TEXT, b"late"), (FIN | PING, b""), (0x77, b"junk")],
        &[close(1000, "")],
    );
}

#[test]
fn s7_1_7_nothing_after_a_failure_counts() {
    check(&[(0xf1, b""), (FIN | TEXT, b"late"), (0xf1, b"")], &[refused(WsError::ReservedBits)]);
    check(&[(FIN | TEXT, b"\xff"), (FIN | TEXT, b"late")], &[refused(WsError::BadText)]);
}

#[test]
fn s7_4_close_codes_are_registered_or_the_applications_own() {
    for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 3000, 3999, 4999u16] {
        check(&[(FIN | CLOSE, &code.to_be_bytes())], &[close(code, "")]);
    }
    for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535u16] {
        check(&[(FIN | CLOSE, &code.to_be_bytes())], &[refused(WsError::BadCloseCode(code))]);
    }
}

#[test]
fn s8_1_text_is_utf8() {
    for good in ["", "κόσμε", "\u{7ff}\u{800}\u{ffff}", "\u{10000}\u{10ffff}", "\0", "\u{fffe}"] {
        check(&[(FIN | TEXT, good.as_bytes())], &[text(good)]);
    }
    for bad in [
        &b"\x80"[..],
        b"\xbf\x80",
        b"\xc0\xaf",
        b"\xc1\xbf",
        b"\xe0\x80\xaf",
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xf0\x80\x80\xaf",
        b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xfe",
        b"\xff",
        b"abc\xe2\x82",
        b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited",
    ] {
        check(&[(FIN | TEXT, bad)], &[refused(WsError::BadText)]);
        check(&[(TEXT, b"ok"), (FIN | CONTINUATION, bad)], &[refused(WsError::BadText)]);
        check(&[(FIN | BINARY, bad)], &[binary(bad)]);
    }
}

#[test]
fn s8_1_a_character_may_be_cut_by_fragments() {
    let all = "aé€😀z";
    for cut in 0..=all.len() {
        let (first, second) = all.as_bytes().split_at(cut);
        check(&[(TEXT, first), (FIN | CONTINUATION, second)], &[text(all)]);
        check(&[(TEXT, first), (FIN | PING, b"\xff"), (FIN | CONTINUATION, second)], &[ping(b"\xff"), text(all)]);
    }
}

#[test]
fn s8_1_bad_text_is_refused_before_its_message_or_its_frame_ends() {
    #[track_caller]
    fn check_early(bytes: &[u8], good: usize) {
        let mut decoder = Decoder::new(Role::Client, Limits::default());
        for (at, byte) in bytes.iter().enumerate() {
            let result = decoder.decode(&mut &mut [*byte][..]).map(|event| event.is_some());
            let expected = if at < good { Ok(false) } else { Err(WsError::BadText) };
            assert_eq!(result, expected, "byte {at}");
        }
    }
    // The first byte that no character continues with is the last one here.
    check_early(b"\x81\x10ab\xe2\x82\xac\xff", 7);
    check_early(b"\x81\x10ab\xed\xa0", 5);
    check_early(b"\x81\x10ab\xf4\x90", 5);
    check_early(b"\x01\x03ab\xe2\x00\x01x", 7);
}

#[test]
fn s10_4_limits_are_checked_before_anything_is_held() {
    let limits = Limits { max_message: 10, max_frame: 8 };
    let too_long = |len| refused(WsError::FrameTooLong { len, max: 8 });
    let message = refused(WsError::MessageTooLong { max: 10 });

    check_within(limits, &[(FIN | TEXT, b"12345678")], &[text("12345678")]);
    check_within(limits, &[(FIN | TEXT, b"123456789")], &[too_long(9)]);
    check_within(limits, &[(BINARY, b"12345678"), (FIN | CONTINUATION, b"90")], &[binary(b"1234567890")]);
    check_within(limits, &[(BINARY, b"12345678"), (FIN | CONTINUATION, b"90a")], std::slice::from_ref(&message));
    check_within(
        limits,
        &[(BINARY, b"12345678"), (CONTINUATION, b"90"), (CONTINUATION, b""), (CONTINUATION, b"a")],
        &[message],
    );
    // Control frames are no messages: their own limit holds.
    check_within(limits, &[(FIN | PING, &[7; 125])], &[ping(&[7; 125])]);
}

#[test]
fn s10_4_an_announced_length_takes_no_memory() {
    let mut decoder = Decoder::new(Role::Server, Limits::default());
    for announced in [16 << 20, u64::MAX >> 1, 1 << 32] {
        let field = [vec![127], announced.to_be_bytes().to_vec()].concat();
        let mut bytes = frame_with(Role::Server, FIN | BINARY, &field, b"abc");
        let result = decoder.decode(&mut bytes.as_mut_slice()).map(|event| event.is_some());
        if announced > 16 << 20 {
            let refusal = WsError::FrameTooLong { len: announced, max: 16 << 20 };
            assert_eq!(result, Err(refusal));
            assert_eq!(refusal.close_code(), CloseCode::TOO_BIG);
        } else {
            assert_eq!(result, Ok(false));
        }
        assert!(decoder.held() < 1024, "{announced}: {} bytes held", decoder.held());
        decoder = Decoder::new(Role::Server, Limits::default());
    }
}

#[test]
fn s10_4_what_is_held_is_at_most_twice_what_came_and_never_above_the_limit() {
    let limits = Limits { max_message: 100_000, max_frame: 100_000 };
    let mut decoder = Decoder::new(Role::Client, limits);
    let mut fragment = frame(Role::Client, BINARY, &[0; 10]);
    let mut sent = 10;
    while sent <= limits.max_message {
        let result = decoder.decode(&mut fragment.as_mut_slice()).map(|event| event.is_some());
        assert_eq!(result, Ok(false));
        assert!(decoder.held() <= (2 * sent).min(limits.max_message));
        fragment = frame(Role::Client, CONTINUATION, &[0; 10]);
        sent += 10;
    }
    let result = decoder.decode(&mut fragment.as_mut_slice()).map(|event| event.is_some());
    assert_eq!(result, Err(WsError::MessageTooLong { max: limits.max_message }));
    assert_eq!(decoder.held(), 0);
}

#[test]
fn an_idle_connection_holds_nothing_of_its_last_message() {
    let mut decoder = Decoder::new(Role::Client, Limits::default());
    let mut bytes = frame(Role::Client, FIN | BINARY, &[1; 50_000]);
    let (mut first, mut second) = bytes.split_at_mut(100);
    assert_eq!(decoder.decode(&mut first), Ok(None));
    assert_eq!(decoder.decode(&mut second), Ok(Some(Event::Binary(&mut [1; 50_000]))));
    assert_eq!(decoder.decode(&mut second), Ok(None));
    assert_eq!(decoder.held(), 0);
}

#[test]
fn every_refusal_has_the_close_code_of_7_4_1() {
    #[track_caller]
    fn check(error: WsError, code: CloseCode) {
        assert_eq!(error.close_code(), code, "{error}");
    }
    check(WsError::BadText, CloseCode::INVALID_DATA);
    check(WsError::BadReason, CloseCode::INVALID_DATA);
    check(WsError::MessageTooLong { max: 1 }, CloseCode::TOO_BIG);
    check(WsError::FrameTooLong { len: 2, max: 1 }, CloseCode::TOO_BIG);
    for error in [
        WsError::ReservedBits,
        WsError::ReservedOpcode(3),
        WsError::Unmasked,
        WsError::Masked,
        WsError::BadLength,
        WsError::ControlTooLong(126),
        WsError::ControlFragmented,
        WsError::NothingToContinue,
        WsError::Interleaved,
        WsError::TruncatedCloseCode,
        WsError::BadCloseCode(0),
    ] {
        check(error, CloseCode::PROTOCOL);
    }
}
