//! Opening a lost connection again, with growing pauses.
//!
//! Depends on the client. Invariant: it keeps no client alive while it pauses.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Weak,
    time::Duration,
};

use polywire_runtime::Task;

use super::client::{Shared, WsClient};
use crate::Reconnect;

/// Tries until the client is connected or gone. Boxed, since it drives the next connection.
pub(super) fn reconnect(shared: Weak<Shared>, pauses: Reconnect) -> Task {
    Box::pin(async move {
        let mut longest = pauses.first;
        loop {
            tokio::time::sleep(spread(longest)).await;
            let Some(shared) = shared.upgrade() else { return };
            // Somebody may have connected by hand: that is success as well.
            if WsClient::from(shared).connect().await.is_ok() {
                return;
            }
            longest = (longest * 2).min(pauses.longest);
        }
    })
}

/// Between half of a pause and all of it: the clients of a server that
/// restarts must not all come back at the same moment.
fn spread(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(()) >> 32;
    let fraction = random as f64 / (1u64 << 32) as f64;
    pause.mul_f64(0.5 + fraction / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_spread_over_their_second_half() {
        let pause = Duration::from_secs(8);
        let pauses: Vec<_> = (0..100).map(|_| spread(pause)).collect();
        assert!(pauses.iter().all(|found| (pause / 2..=pause).contains(found)), "{pauses:?}");
        assert!(pauses.iter().any(|found| *found != pauses[0]));
        assert_eq!(spread(Duration::ZERO), Duration::ZERO);
    }
}
