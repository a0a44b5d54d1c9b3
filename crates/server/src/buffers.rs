//! Write buffers that one thread's connections hand to each other.
//!
//! Depends on nothing. A connection has a buffer only while bytes wait, so an
//! idle one costs nothing; and a busy one finds memory that is mapped already,
//! where buffers of this size would otherwise come from the system anew each
//! time.

use std::cell::RefCell;

/// Buffers kept for the next connection of the thread.
const KEPT: usize = 32;

/// A larger buffer is given back to the allocator: it was for one large message.
const LARGEST: usize = 1 << 20;

thread_local! {
    static POOL: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer, with room where one is kept.
pub(crate) fn take() -> Vec<u8> {
    POOL.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Keeps a buffer for whoever needs one next.
pub(crate) fn give(mut buffer: Vec<u8>) {
    if buffer.capacity() == 0 || buffer.capacity() > LARGEST {
        return;
    }
    buffer.clear();
    POOL.with_borrow_mut(|pool| {
        if pool.len() < KEPT {
            pool.push(buffer);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_empty_and_with_its_room() {
        give(b"bytes".to_vec());
        let buffer = take();
        assert!(buffer.is_empty() && buffer.capacity() >= 5);
        assert_eq!(take().capacity(), 0);
    }

    #[test]
    fn neither_huge_buffers_nor_too_many_are_kept() {
        give(Vec::with_capacity(LARGEST + 1));
        assert_eq!(take().capacity(), 0);
        (0..2 * KEPT).for_each(|_| give(Vec::with_capacity(8)));
        assert_eq!((0..2 * KEPT).filter(|_| take().capacity() > 0).count(), KEPT);
    }
}
