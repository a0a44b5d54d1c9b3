//! Calls in flight on the client's side.
//!
//! Knows nothing of sockets, clocks or tasks. Invariant: a serial number is
//! either free or names exactly one waiting call, and every waiting call leaves
//! the table exactly once: answered, expired, withdrawn, or when the session ends.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use foldhash::fast::FixedState;

/// A call that waits, with what its caller left to be woken by.
#[derive(Debug, PartialEq, Eq)]
pub struct Pending<W> {
    /// The serial number.
    pub sn: u64,
    /// The caller's.
    pub waiter: W,
}

/// How a call is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// How long to wait; no limit where there is none.
    pub timeout: Option<Duration>,
    /// A key to withdraw several calls by.
    pub abort_key: Option<Box<str>>,
}

/// Why a call cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// As many calls wait as the limit allows.
    #[error("{limit} calls are in flight already, which is the limit; wait for one of them")]
    TooManyInFlight {
        /// The limit.
        limit: usize,
    },
}

/// The calls in flight.
#[derive(Debug)]
pub struct PendingCalls<W> {
    calls: HashMap<u64, Entry<W>, FixedState>,
    last_sn: u64,
    limit: usize,
    /// Not after the first deadline of any waiting call.
    earliest: Option<Instant>,
}

#[derive(Debug)]
struct Entry<W> {
    waiter: W,
    deadline: Option<Instant>,
    abort_key: Option<Box<str>>,
}

impl<W> PendingCalls<W> {
    /// JavaScript counts exactly up to here; then serial numbers start again.
    const MAX_SN: u64 = (1 << 53) - 1;

    /// No calls, of which `limit` may be in flight.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { calls: HashMap::default(), last_sn: 0, limit, earliest: None }
    }

    /// Admits a call and gives it its serial number: 1, 2, …
    ///
    /// # Errors
    /// [`CallError::TooManyInFlight`]; nothing is kept.
    pub fn start(&mut self, now: Instant, options: CallOptions, waiter: W) -> Result<u64, CallError> {
        if self.calls.len() >= self.limit {
            return Err(CallError::TooManyInFlight { limit: self.limit });
        }
        let sn = self.next_sn();
        self.last_sn = sn;
        let deadline = options.timeout.and_then(|timeout| now.checked_add(timeout));
        if let Some(deadline) = deadline {
            self.earliest = Some(self.earliest.map_or(deadline, |earliest| earliest.min(deadline)));
        }
        self.calls.insert(sn, Entry { waiter, deadline, abort_key: options.abort_key });
        Ok(sn)
    }

    /// The serial number of the next call.
    #[must_use]
    pub fn next_sn(&self) -> u64 {
        let mut sn = self.last_sn;
        loop {
            sn = if sn >= Self::MAX_SN { 1 } else { sn + 1 };
            if !self.calls.contains_key(&sn) {
                return sn;
            }
        }
    }

    /// The serial number of the last call; 0 before the first.
    #[must_use]
    pub fn last_sn(&self) -> u64 {
        self.last_sn
    }

    /// The number of calls in flight.
    #[must_use]
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether no call is in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// What waits for a call, without taking it out.
    #[must_use]
    pub fn get(&self, sn: u64) -> Option<&W> {
        self.calls.get(&sn).map(|entry| &entry.waiter)
    }

    /// Takes out the call that was answered, or is withdrawn. `None` where nobody
    /// waits for it any more: late answers are normal, not an error.
    pub fn take(&mut self, sn: u64) -> Option<W> {
        let entry = self.calls.remove(&sn)?;
        if self.calls.is_empty() {
            self.earliest = None;
        }
        Some(entry.waiter)
    }

    /// Takes out every call with this key.
    pub fn take_key(&mut self, key: &str) -> Vec<Pending<W>> {
        self.take_if(|entry| entry.abort_key.as_deref() == Some(key))
    }

    /// Takes out every call.
    pub fn take_all(&mut self) -> Vec<Pending<W>> {
        self.take_if(|_| true)
    }

    /// Takes out the calls whose deadline has come.
    pub fn expire(&mut self, now: Instant) -> Vec<Pending<W>> {
        if self.earliest.is_none_or(|earliest| earliest > now) {
            return Vec::new();
        }
        let expired = self.take_if(|entry| entry.deadline.is_some_and(|deadline| deadline <= now));
        self.earliest = self.calls.values().filter_map(|entry| entry.deadline).min();
        expired
    }

    /// When to call [`expire`](Self::expire) next: never late, possibly early.
    ///
    /// Answers do not move it, so that a call costs no more than a table entry; a
    /// look that comes early finds the next true deadline. Where all calls have
    /// the same timeout, that is one look a timeout.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.earliest
    }

    /// In the order of their serial numbers.
    fn take_if(&mut self, mut condition: impl FnMut(&Entry<W>) -> bool) -> Vec<Pending<W>> {
        let taken = self.calls.extract_if(|_, entry| condition(entry));
        let mut taken: Vec<_> = taken.map(|(sn, entry)| Pending { sn, waiter: entry.waiter }).collect();
        taken.sort_unstable_by_key(|pending| pending.sn);
        if self.calls.is_empty() {
            self.earliest = None;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Op {
        Start { timeout: Option<u64>, key: Option<u8> },
        Take { which: u64 },
        TakeKey { key: u8 },
        TakeAll,
        Pass { ms: u64 },
    }

    fn ops() -> impl Strategy<Value = Vec<Op>> {
        let op = prop_oneof![
            8 => (prop::option::of(0..50u64), prop::option::of(0..3u8)).prop_map(|(timeout, key)| Op::Start { timeout, key }),
            4 => (0..40u64).prop_map(|which| Op::Take { which }),
            1 => (0..3u8).prop_map(|key| Op::TakeKey { key }),
            1 => Just(Op::TakeAll),
            4 => (0..30u64).prop_map(|ms| Op::Pass { ms }),
        ];
        prop::collection::vec(op, 0..80)
    }

    const LIMIT: usize = 8;

    /// What a simpler table would hold: deadline in milliseconds, and key, by serial number.
    #[derive(Default)]
    struct Model {
        calls: BTreeMap<u64, (Option<u64>, Option<u8>)>,
        now: u64,
        started: u64,
    }

    impl Model {
        fn take_if(&mut self, condition: impl Fn(&(Option<u64>, Option<u8>)) -> bool) -> Vec<u64> {
            let taken: Vec<u64> = self.calls.iter().filter(|(_, call)| condition(call)).map(|(sn, _)| *sn).collect();
            self.calls.retain(|sn, _| !taken.contains(sn));
            taken
        }
    }

    /// The waiter of a call is its serial number, so that nobody gets another's answer.
    fn sns(pending: Vec<Pending<u64>>) -> Vec<u64> {
        pending
            .into_iter()
            .map(|pending| {
                assert_eq!(pending.sn, pending.waiter);
                pending.sn
            })
            .collect()
    }

    proptest! {
        #[test]
        fn every_call_leaves_once_and_in_time(ops in ops()) {
            let start = Instant::now();
            let at = |ms| start + Duration::from_millis(ms);
            let mut calls = PendingCalls::new(LIMIT);
            let mut model = Model::default();
            for op in ops {
                match op {
                    Op::Start { timeout, key } => {
                        let options = CallOptions {
                            timeout: timeout.map(Duration::from_millis),
                            abort_key: key.map(|key| key.to_string().into()),
                        };
                        let next = calls.next_sn();
                        let result = calls.start(at(model.now), options, next);
                        if model.calls.len() == LIMIT {
                            prop_assert_eq!(result, Err(CallError::TooManyInFlight { limit: LIMIT }));
                        } else {
                            model.started += 1;
                            prop_assert_eq!(result, Ok(model.started));
                            prop_assert_eq!(calls.last_sn(), model.started);
                            model.calls.insert(model.started, (timeout.map(|timeout| model.now + timeout), key));
                        }
                    }
                    Op::Take { which } => {
                        let known = model.calls.remove(&which).map(|_| which);
                        prop_assert_eq!(calls.take(which), known);
                    }
                    Op::TakeKey { key } => {
                        let taken = sns(calls.take_key(&key.to_string()));
                        prop_assert_eq!(taken, model.take_if(|(_, own)| *own == Some(key)));
                    }
                    Op::TakeAll => prop_assert_eq!(sns(calls.take_all()), model.take_if(|_| true)),
                    Op::Pass { ms } => {
                        model.now += ms;
                        let now = model.now;
                        let due = |deadline: Option<u64>| deadline.is_some_and(|deadline| deadline <= now);
                        prop_assert_eq!(sns(calls.expire(at(now))), model.take_if(|(deadline, _)| due(*deadline)));
                    }
                }
                prop_assert_eq!(calls.len(), model.calls.len());
                prop_assert_eq!(calls.is_empty(), model.calls.is_empty());
                let first = model.calls.values().filter_map(|(deadline, _)| *deadline).min();
                match (calls.next_deadline(), first) {
                    (Some(told), Some(first)) => prop_assert!(told <= at(first)),
                    (None, first) => prop_assert_eq!(first, None),
                    (Some(_), None) => {}
                }
            }
        }
    }

    #[test]
    fn serial_numbers_start_again_and_leave_out_those_in_use() {
        let mut calls = PendingCalls::new(10);
        let now = Instant::now();
        assert_eq!(calls.start(now, CallOptions::default(), ()), Ok(1));
        calls.last_sn = PendingCalls::<()>::MAX_SN - 1;
        assert_eq!(calls.start(now, CallOptions::default(), ()), Ok(9_007_199_254_740_991));
        assert_eq!(calls.start(now, CallOptions::default(), ()), Ok(2));
    }
}
