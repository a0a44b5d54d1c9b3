//! Masking (RFC 6455 §5.3): the exclusive or with a repeated four-byte key.

/// Masks or unmasks in place. Hot: 16 bytes a step, which compilers turn into
/// vector instructions; the odd bytes at the end go one by one.
#[inline]
pub(super) fn apply(data: &mut [u8], key: [u8; 4]) {
    let word = u32::from_ne_bytes(key);
    let wide = u128::from(word) * 0x0000_0001_0000_0001_0000_0001_0000_0001;
    let (blocks, rest) = data.as_chunks_mut::<16>();
    for block in blocks {
        *block = (u128::from_ne_bytes(*block) ^ wide).to_ne_bytes();
    }
    let (words, rest) = rest.as_chunks_mut::<4>();
    for four in words {
        *four = (u32::from_ne_bytes(*four) ^ word).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(key) {
        *byte ^= key;
    }
}

/// The key for the bytes that follow the first `done` ones.
#[inline]
pub(super) fn advance(mut key: [u8; 4], done: usize) -> [u8; 4] {
    key.rotate_left(done % 4);
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn byte_i_is_combined_with_key_byte_i_mod_4(
            data in prop::collection::vec(any::<u8>(), 0..200),
            key: [u8; 4],
            cut in 0usize..200,
        ) {
            let expected: Vec<u8> =
                data.iter().enumerate().map(|(i, byte)| byte ^ key[i % 4]).collect();

            let mut whole = data.clone();
            apply(&mut whole, key);
            prop_assert_eq!(&whole, &expected);

            let mut parts = data;
            let (first, second) = parts.split_at_mut(cut.min(expected.len()));
            apply(first, key);
            apply(second, advance(key, first.len()));
            prop_assert_eq!(&parts, &expected);
        }
    }
}
