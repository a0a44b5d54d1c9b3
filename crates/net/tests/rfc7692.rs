//! RFC 7692, rule by rule, for the decoder of a connection with compression.

use polywire_net::ws::{Decoder, DeflateConfig, Event, Limits, Role, WsError};

const FIN: u8 = 0x80;
const RSV1: u8 = 0x40;
const TEXT: u8 = 1;
const PING: u8 = 9;

/// "Hello" (§7.2.3.1).
const HELLO: &[u8] = &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];

/// Feeds a client the frames, byte by byte and whole.
#[track_caller]
fn check(limits: Limits, frames: &[(u8, &[u8])], expected: &[Result<&str, WsError>]) {
    let agreed = DeflateConfig::default().answer(["permessage-deflate"]);
    let bytes: Vec<u8> =
        frames.iter().flat_map(|(first, payload)| [&[*first, payload.len() as u8], *payload].concat()).collect();
    for step in [1, bytes.len()] {
        let mut decoder = Decoder::new(Role::Client, limits).with_deflate(&agreed.expect("an offer"));
        let mut seen = Vec::new();
        for piece in bytes.clone().chunks_mut(step) {
            let mut piece = piece;
            loop {
                match decoder.decode(&mut piece) {
                    Ok(Some(Event::Text(text))) => seen.push(Ok(text.to_owned())),
                    Ok(Some(Event::Ping(_))) => seen.push(Ok("(ping)".to_owned())),
                    Ok(Some(other)) => panic!("{other:?}"),
                    Ok(None) => break,
                    Err(error) => seen.push(Err(error)),
                }
            }
        }
        let seen: Vec<_> = seen.iter().map(|seen| seen.as_deref().map_err(|error| *error)).collect();
        assert_eq!(seen, expected, "{step} bytes at a time");
    }
}

#[test]
fn s6_rsv1_marks_a_compressed_message_and_others_may_come_between() {
    check(
        Limits::default(),
        &[(FIN | RSV1 | TEXT, HELLO), (FIN | TEXT, b"plain"), (FIN | RSV1 | TEXT, HELLO)],
        &[Ok("Hello"), Ok("plain"), Ok("Hello")],
    );
}

#[test]
fn s6_1_only_the_first_fragment_is_marked() {
    let (first, second) = HELLO.split_at(3);
    let both = |bits| [(RSV1 | TEXT, first), (FIN | PING, &b""[..]), (FIN | bits, second)];
    check(Limits::default(), &both(0), &[Ok("(ping)"), Ok("Hello")]);
    check(Limits::default(), &both(RSV1), &[Ok("(ping)"), Err(WsError::ReservedBits)]);
}

#[test]
fn s6_1_control_frames_are_not_compressed() {
    check(Limits::default(), &[(FIN | RSV1 | PING, HELLO)], &[Err(WsError::ReservedBits)]);
}

#[test]
fn s7_the_other_reserved_bits_mean_nothing() {
    for bits in [0x20, 0x10, 0x60, 0x50] {
        check(Limits::default(), &[(FIN | bits | TEXT, HELLO)], &[Err(WsError::ReservedBits)]);
    }
}

#[test]
fn s7_2_2_what_cannot_be_inflated_is_refused() {
    check(Limits::default(), &[(FIN | RSV1 | TEXT, &[0xff])], &[Err(WsError::BadDeflate)]);
}

#[test]
fn an_empty_message_may_be_compressed() {
    check(Limits::default(), &[(FIN | RSV1 | TEXT, &[0])], &[Ok("")]);
    check(Limits::default(), &[(RSV1 | TEXT, b""), (FIN, &[0])], &[Ok("")]);
}

#[test]
fn text_is_checked_after_inflation() {
    // A stored block with the byte 0xff.
    let stored = [0x00, 0x01, 0x00, 0xfe, 0xff, 0xff, 0x00];
    check(Limits::default(), &[(FIN | RSV1 | TEXT, &stored)], &[Err(WsError::BadText)]);
}

#[test]
fn limits_hold_for_what_a_message_inflates_to() {
    let limits = |max_message, max_frame| Limits { max_message, max_frame };
    let one = [(FIN | RSV1 | TEXT, HELLO)];
    check(limits(5, 7), &one, &[Ok("Hello")]);
    check(limits(4, 7), &one, &[Err(WsError::MessageTooLong { max: 4 })]);
    check(limits(5, 6), &one, &[Err(WsError::FrameTooLong { len: 7, max: 6 })]);
    let plain = [(FIN | TEXT, &b"Hello"[..])];
    check(limits(4, 7), &plain, &[Err(WsError::MessageTooLong { max: 4 })]);
}
