//! What was sent, what came back, and what is still owed.
//!
//! Knows nothing of sockets; time is an argument, in nanoseconds since the run began.
//! Invariant: every serial number is answered at most once, and no connection gets more
//! broadcasts than there are requests.

/// How many broadcasts each connection is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deliveries {
    None,
    /// One per request, whoever sent it.
    ToAll,
}

/// A frame that is right in itself but was not owed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Violation {
    #[error("the server answered {0}, which nobody waits for")]
    UnexpectedReply(u64),
    #[error("a connection got a `Chat` too many")]
    SurplusChat,
}

/// In place of the time of sending once the reply is there.
const ANSWERED: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct Tally {
    requests: usize,
    first_sn: u64,
    chats_each: usize,
    members: Vec<Member>,
    issued: usize,
    chats: usize,
    surplus: u64,
    latencies: Vec<u64>,
}

#[derive(Debug, Default)]
struct Member {
    /// When each request was sent, by serial number from the run's first.
    sent_at: Vec<u64>,
    chats: usize,
}

impl Tally {
    pub(super) fn new(members: usize, requests: usize, deliveries: Deliveries, first_sn: u64) -> Self {
        Self {
            requests,
            first_sn,
            chats_each: match deliveries {
                Deliveries::None => 0,
                Deliveries::ToAll => requests,
            },
            members: std::iter::repeat_with(Member::default).take(members).collect(),
            issued: 0,
            chats: 0,
            surplus: 0,
            latencies: Vec::with_capacity(requests),
        }
    }

    /// Notes a request and gives it its serial number; `None` when all were sent.
    pub(super) fn issue(&mut self, member: usize, now: u64) -> Option<u64> {
        if self.issued == self.requests {
            return None;
        }
        self.issued += 1;
        let sent_at = &mut self.members[member].sent_at;
        let sn = self.first_sn + sent_at.len() as u64;
        sent_at.push(now);
        Some(sn)
    }

    pub(super) fn reply(&mut self, member: usize, sn: u64, now: u64) -> Result<(), Violation> {
        let sent_at = sn
            .checked_sub(self.first_sn)
            .and_then(|index| usize::try_from(index).ok())
            .and_then(|index| self.members[member].sent_at.get_mut(index))
            .filter(|sent_at| **sent_at != ANSWERED);
        let Some(sent_at) = sent_at else {
            self.surplus += 1;
            return Err(Violation::UnexpectedReply(sn));
        };
        self.latencies.push(now.saturating_sub(*sent_at));
        *sent_at = ANSWERED;
        Ok(())
    }

    pub(super) fn chat(&mut self, member: usize) -> Result<(), Violation> {
        let chats = &mut self.members[member].chats;
        if *chats == self.chats_each {
            self.surplus += 1;
            return Err(Violation::SurplusChat);
        }
        *chats += 1;
        self.chats += 1;
        Ok(())
    }

    pub(super) fn is_complete(&self) -> bool {
        self.latencies.len() == self.requests && self.missing_chats() == 0
    }

    /// Requests without a reply, plus deliveries missing, plus frames that nobody was owed.
    pub(super) fn errors(&self) -> u64 {
        let missing = self.requests - self.latencies.len() + self.missing_chats();
        missing as u64 + self.surplus
    }

    pub(super) fn into_latencies(self) -> Vec<u64> {
        self.latencies
    }

    fn missing_chats(&self) -> usize {
        self.chats_each * self.members.len() - self.chats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_complete_when_every_reply_and_delivery_is_there() {
        let mut tally = Tally::new(2, 3, Deliveries::ToAll, 100);
        assert_eq!(tally.issue(0, 0), Some(100));
        assert_eq!(tally.issue(0, 0), Some(101));
        assert_eq!(tally.issue(1, 5), Some(100), "each connection counts for itself");
        assert_eq!(tally.issue(1, 5), None, "all requests are sent");
        assert_eq!(tally.errors(), 3 + 6);
        tally.reply(0, 101, 10).unwrap();
        tally.reply(0, 100, 20).unwrap();
        tally.reply(1, 100, 20).unwrap();
        for _ in 0..3 {
            assert!(!tally.is_complete());
            tally.chat(0).unwrap();
            tally.chat(1).unwrap();
        }
        assert!(tally.is_complete());
        assert_eq!(tally.errors(), 0);
        assert_eq!(tally.into_latencies(), [10, 20, 15]);
    }

    #[test]
    fn replies_that_nobody_waits_for_are_errors() {
        for sn in [0, 6, 8, u64::MAX] {
            let mut tally = Tally::new(1, 1, Deliveries::None, 7);
            tally.issue(0, 0);
            assert_eq!(tally.reply(0, sn, 1), Err(Violation::UnexpectedReply(sn)));
            assert_eq!(tally.errors(), 2);
        }
        let mut tally = Tally::new(1, 1, Deliveries::None, 7);
        tally.issue(0, 0);
        tally.reply(0, 7, 1).unwrap();
        assert_eq!(tally.reply(0, 7, 1), Err(Violation::UnexpectedReply(7)));
    }

    #[test]
    fn a_surplus_on_one_connection_does_not_cover_a_loss_on_another() {
        let mut tally = Tally::new(2, 1, Deliveries::ToAll, 1);
        tally.issue(0, 0);
        tally.reply(0, 1, 1).unwrap();
        tally.chat(0).unwrap();
        assert_eq!(tally.chat(0), Err(Violation::SurplusChat));
        assert!(!tally.is_complete());
        assert_eq!(tally.errors(), 2);
    }

    #[test]
    fn without_broadcast_every_chat_is_too_many() {
        let mut tally = Tally::new(1, 1, Deliveries::None, 1);
        assert_eq!(tally.chat(0), Err(Violation::SurplusChat));
    }
}
