//! The binary form, decoded against types that a service may have.

use std::{fs, panic, thread};

use polywire_schema::{
    CompileOptions, Interface, Literal, Member, Node, Object, Program, Property, Scalar, Slot, Type, TypeSet, Value,
};
use polywire_tests::{
    notation::{Keys, same},
    random::{Rng, random_types, random_value},
};
use polywire_tsbuffer::{
    DecodeError, EncodeError, Phase, TsBuffer, TsBufferOptions,
    binary::{MAX_DEPTH, MAX_ZERO_WIDTH_ELEMENTS, ReadError, Strictness, write_varint},
};

const STRICTNESS: [Strictness; 2] = [Strictness::Strict, Strictness::Lenient];

fn codec(types: TypeSet, strictness: Strictness) -> (TsBuffer, Slot) {
    let program = Program::compile(&types, &CompileOptions::default());
    let root = types.keys().next().and_then(|id| program.root(id)).expect("a set with a type");
    (TsBuffer::new(program, TsBufferOptions { strictness, ..TsBufferOptions::default() }), root)
}

fn one(ty: Type) -> TypeSet {
    [("x".to_owned(), ty)].into_iter().collect()
}

fn reference() -> Type {
    Type::Reference("x".to_owned())
}

fn interface(properties: Vec<(&str, Type)>) -> Type {
    let properties = properties.into_iter().zip(0..);
    let properties =
        properties.map(|((name, ty), id)| Property { id, name: name.to_owned(), ty, optional: true }).collect();
    Type::Interface(Box::new(Interface { properties, ..Interface::default() }))
}

fn union(types: Vec<Type>) -> Type {
    Type::Union(types.into_iter().zip(0..).map(|(ty, id)| Member { id, ty }).collect())
}

/// Valid messages of random types, with what they are valid for.
fn messages(count: usize) -> impl Iterator<Item = (TsBuffer, Slot, Value, Vec<u8>)> {
    let mut rng = Rng::new(0x0ddb_a115);
    std::iter::from_fn(move || {
        loop {
            let (tsbuffer, slot) = codec(random_types(&mut rng), Strictness::Strict);
            let value = random_value(&mut rng, tsbuffer.program(), slot, 0);
            if let Ok(bytes) = tsbuffer.encode(slot, &value)
                && bytes.len() < 300
            {
                return Some((tsbuffer, slot, value, bytes));
            }
        }
    })
    .take(count)
}

/// What is read strictly is read leniently too, and to the same value; a copy is as good as a share.
fn decode(tsbuffer: &TsBuffer, slot: Slot, bytes: &[u8]) -> Result<Value, DecodeError> {
    let strict = tsbuffer.decode(slot, bytes);
    let options = TsBufferOptions { strictness: Strictness::Lenient, ..TsBufferOptions::default() };
    let lenient = tsbuffer.with_options(options).decode(slot, bytes);
    let shared = tsbuffer.decode_shared(slot, &bytes.to_vec().into());
    let text = |result: &Result<Value, DecodeError>| format!("{result:?}");
    assert_eq!(text(&strict), text(&shared));
    if !matches!(strict, Err(DecodeError::Read(_))) {
        assert_eq!(text(&strict), text(&lenient));
    }
    strict
}

#[test]
fn every_prefix_of_a_message_is_a_value_or_an_error() {
    for (tsbuffer, slot, _, bytes) in messages(200) {
        for len in 0..bytes.len() {
            // Blocks at the end may be missing without notice only where their count says so: it does not.
            let cut = decode(&tsbuffer, slot, &bytes[..len]);
            assert!(cut.is_err(), "{} of {} bytes gave {cut:?}", len, bytes.len());
        }
    }
}

#[test]
fn every_corruption_of_a_byte_is_a_value_or_an_error() {
    for (tsbuffer, slot, _, bytes) in messages(200) {
        for at in 0..bytes.len() {
            let flipped = (0..8).map(|bit| bytes[at] ^ 1 << bit);
            for byte in flipped.chain([0, 0x7f, 0x80, 0xff]) {
                let mut bytes = bytes.clone();
                bytes[at] = byte;
                // The laws hold, whatever comes out.
                let _ = decode(&tsbuffer, slot, &bytes);
            }
        }
    }
}

#[test]
fn any_bytes_are_a_value_or_an_error() {
    let mut rng = Rng::new(0xbad_c0de);
    for _ in 0..2_000 {
        let (tsbuffer, slot) = codec(random_types(&mut rng), Strictness::Strict);
        for _ in 0..10 {
            let bytes: Vec<u8> =
                (0..rng.below(40)).map(|_| rng.bits() as u8 & *rng.pick(&[0xff, 0x0f, 0x03])).collect();
            let _ = decode(&tsbuffer, slot, &bytes);
        }
    }
}

/// Where null that was filled in makes another member of a union the one that matches:
/// an index signature checks every key, and `null | undefined` swaps the two.
fn depends_on_nulls(program: &Program) -> bool {
    let flats = || program.ids().filter_map(|id| program.flat(id));
    let has = |is_meant: fn(&Node) -> bool| program.nodes().iter().any(is_meant);
    has(|node| matches!(node, Node::Union(_) | Node::Intersection(_)))
        && (flats().any(|flat| flat.index.is_some())
            || has(|node| matches!(node, Node::Literal(Literal::Undefined)))
                && has(|node| matches!(node, Node::Literal(Literal::Null))))
}

#[test]
fn what_was_decoded_encodes_to_what_decodes_to_it() {
    let of_one_mind = |tsbuffer: &TsBuffer| !depends_on_nulls(tsbuffer.program());
    for (tsbuffer, slot, value, bytes) in messages(4_000).filter(|(tsbuffer, ..)| of_one_mind(tsbuffer)) {
        let first = match tsbuffer.decode(slot, &bytes) {
            Ok(value) => value,
            // `any` holds NaN and dates, and JSON makes something else of them.
            Err(error) if error.phase() == Phase::Validate => continue,
            Err(error) => panic!("{value:?} became {bytes:x?}: {error}"),
        };
        let again = tsbuffer.encode(slot, &first).expect("what was decoded is valid");
        let second = tsbuffer.decode(slot, &again).expect("what was encoded can be decoded");
        // A null that was filled in stands at the end, and at its place once it is written.
        assert!(same(&first, &second, Keys::AnyOrder), "{value:?} became {first:?}, then {second:?}");
    }
}

#[test]
fn lengths_and_counts_beyond_the_input_are_refused_before_memory_is_taken() {
    let before = peak_memory();
    let element = [
        Type::String,
        Type::Any,
        Type::Boolean,
        Type::Number(Scalar::Double),
        Type::Number(Scalar::Uint),
        Type::Date,
        interface(vec![]),
        Type::Array(Box::new(Type::Boolean)),
        Type::Tuple { elements: vec![], optional_from: None },
        union(vec![Type::String]),
    ];
    for ty in element {
        for count in [1_000_000, u64::from(u32::MAX), u64::MAX] {
            let mut frame = Vec::new();
            write_varint(&mut frame, count);
            for strictness in STRICTNESS {
                let (tsbuffer, slot) = codec(one(Type::Array(Box::new(ty.clone()))), strictness);
                assert!(tsbuffer.decode(slot, &frame).is_err(), "{count} of {ty:?}");
            }
        }
    }
    for ty in [Type::String, Type::Any, Type::Buffer(polywire_schema::BufferKind::Uint8Array)] {
        let four_gigabytes = [0xff, 0xff, 0xff, 0xff, 0x0f];
        let (tsbuffer, slot) = codec(one(ty), Strictness::Strict);
        let error = DecodeError::Read(ReadError::LengthOutOfRange { length: u32::MAX.into(), remaining: 0 });
        assert_eq!(tsbuffer.decode(slot, &four_gigabytes), Err(error));
    }
    let grown = peak_memory().zip(before).map(|(after, before)| after.saturating_sub(before));
    assert!(grown.is_none_or(|grown| grown < 64 << 20), "memory grew by {grown:?} bytes");
}

#[test]
fn elements_that_take_no_bytes_are_limited_in_number() {
    let (tsbuffer, slot) = codec(one(Type::Array(Box::new(Type::Literal(Literal::Bool(true))))), Strictness::Lenient);
    let frame = |count: u64| {
        let mut frame = Vec::new();
        write_varint(&mut frame, count);
        frame
    };
    let most = u64::from(MAX_ZERO_WIDTH_ELEMENTS);
    let read = tsbuffer.decode(slot, &frame(most)).expect("as many as may be");
    assert_eq!(read.as_array().map(<[Value]>::len), Some(MAX_ZERO_WIDTH_ELEMENTS as usize));
    for count in [most + 1, 1_000_000, u64::MAX] {
        let error = DecodeError::Read(ReadError::TooManyZeroWidthElements);
        assert_eq!(tsbuffer.decode(slot, &frame(count)), Err(error), "{count}");
    }
}

/// Runs on the stack of a worker thread as tokio makes them.
fn on_a_worker(test: fn()) {
    let thread = thread::Builder::new().stack_size(2 << 20).spawn(test).expect("a thread");
    thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
}

#[test]
fn nesting_is_refused_beyond_its_limit() {
    on_a_worker(nesting);
}

fn nesting() {
    let too_deep = DecodeError::Read(ReadError::TooDeep);
    let cases = [
        // type, the bytes of a level, the bytes at the end
        (Type::Array(Box::new(reference())), vec![1], vec![0]),
        (interface(vec![("c", reference())]), vec![1, 0x2b], vec![0]),
        (Type::Tuple { elements: vec![reference()], optional_from: Some(0) }, vec![1], vec![0]),
        (union(vec![Type::Boolean, Type::Array(Box::new(reference()))]), vec![1, 4, 0, 1], vec![1, 1, 0xff]),
        (Type::Partial(Box::new(interface(vec![("c", reference())]))), vec![1, 0x2b], vec![0]),
    ];
    for (ty, level, end) in cases {
        let (tsbuffer, slot) = codec(one(ty.clone()), Strictness::Strict);
        let nested = |levels: usize| [level.repeat(levels), end.clone()].concat();
        let levels = MAX_DEPTH as usize - 1;
        let deepest = tsbuffer.decode(slot, &nested(levels)).unwrap_or_else(|error| panic!("{ty:?}: {error}"));
        let encoded = tsbuffer.encode(slot, &deepest).unwrap_or_else(|error| panic!("{ty:?}: {error}"));
        assert_eq!(tsbuffer.decode(slot, &encoded), Ok(deepest), "{ty:?}");
        for levels in [MAX_DEPTH as usize + 1, 100_000] {
            assert_eq!(tsbuffer.decode(slot, &nested(levels)), Err(too_deep.clone()), "{levels} of {ty:?}");
        }
    }
    let skipped = [vec![1], [0x2b, 1].repeat(100_000), vec![0]].concat();
    let (tsbuffer, slot) = codec(one(interface(vec![])), Strictness::Lenient);
    assert_eq!(tsbuffer.decode(slot, &skipped), Err(too_deep));
    let text = "[".repeat(100_000);
    let mut any = Vec::new();
    polywire_tsbuffer::binary::write_str(&mut any, &text);
    let (tsbuffer, slot) = codec(one(Type::Any), Strictness::Lenient);
    assert!(matches!(tsbuffer.decode(slot, &any), Err(DecodeError::Json(_))));
}

/// Sixty unions within each other around an object: the value is shallow, the stack is not.
#[test]
fn types_within_types_are_refused_before_the_stack_ends() {
    on_a_worker(types_within_types);
}

fn types_within_types() {
    let wrapped = (0..60).fold(reference(), |inner, _| union(vec![inner]));
    let (tsbuffer, slot) = codec(one(interface(vec![("c", wrapped)])), Strictness::Strict);
    let level = [vec![1, 0x2b], [1, 3].repeat(60)].concat();
    let nested = |levels: usize| [level.repeat(levels), vec![0]].concat();
    // A level takes 61 of the 1,088 types that may be entered at once.
    assert!(tsbuffer.decode(slot, &nested(17)).is_ok());
    assert_eq!(tsbuffer.decode(slot, &nested(18)), Err(DecodeError::Read(ReadError::TooDeep)));
    let value = |levels: usize| {
        (0..levels).fold(Value::Object(Object::new()), |inner, _| Value::Object([("c", inner)].into_iter().collect()))
    };
    assert!(tsbuffer.encode(slot, &value(17)).is_ok());
    assert!(matches!(tsbuffer.encode(slot, &value(18)), Err(EncodeError::TooDeep | EncodeError::Invalid(_))));
}

/// The most memory that the process has had, in bytes; `None` where the system does not tell.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
