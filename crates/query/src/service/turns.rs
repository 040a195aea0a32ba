//! Whose turn it is to ask a worker.
//!
//! Only so many ask at a time, because each worker may take as much memory as a query may have. No
//! session has all turns, and the next one goes to the session that has the fewest; so nobody waits
//! behind all that another has asked. Short questions have a turn besides, which long ones never take.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::{Observer, TICK};
use crate::QueryError;

/// How many long questions are worked on at a time.
const MAX_LONG: usize = 4;
/// How many of them may be of one session.
const MAX_LONG_OF_ONE: usize = 3;
/// How many questions are worked on at a time.
const MAX: usize = MAX_LONG + 1;

/// How long the answer to a question may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    Short,
    Long,
}

#[derive(Default)]
pub(super) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    taken: Vec<Place>,
    /// Who waits, in the order in which they came.
    waiting: Vec<Place>,
    last: u64,
}

/// A question, and who asks it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    number: u64,
    /// A person has none, and need not share.
    session: Option<String>,
    length: Length,
}

/// The turn of a question, until it is dropped.
pub(super) struct Turn {
    turns: Arc<Turns>,
    number: u64,
}

impl Turns {
    /// Waits for a turn.
    pub(super) fn take(
        turns: &Arc<Self>,
        session: Option<&str>,
        length: Length,
        observer: &dyn Observer,
    ) -> Result<Turn, QueryError> {
        let mut state = turns.lock();
        let number = state.arrive(session, length);
        while !state.admit(number) {
            if observer.is_cancelled() {
                state.leave(number);
                turns.changed.notify_all();
                return Err(QueryError::Cancelled);
            }
            turns.changed.wait_for(&mut state, TICK);
        }
        Ok(Turn { turns: turns.clone(), number })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.lock().leave(self.number);
        self.turns.changed.notify_all();
    }
}

impl State {
    fn arrive(&mut self, session: Option<&str>, length: Length) -> u64 {
        self.last += 1;
        let session = session.map(str::to_owned);
        self.waiting.push(Place { number: self.last, session, length });
        self.last
    }

    /// Gives the question its turn, if it is the next to have one.
    fn admit(&mut self, number: u64) -> bool {
        let next = self.waiting.iter().enumerate().filter(|(_, place)| self.may_start(place));
        let next = next.min_by_key(|(_, place)| (self.taken_by(place).count(), place.number));
        match next.map(|(at, place)| (at, place.number)) {
            Some((at, next)) if next == number => {
                let place = self.waiting.remove(at);
                self.taken.push(place);
                true
            }
            _ => false,
        }
    }

    fn leave(&mut self, number: u64) {
        self.taken.retain(|place| place.number != number);
        self.waiting.retain(|place| place.number != number);
    }

    fn may_start(&self, place: &Place) -> bool {
        let is_long = |place: &&Place| place.length == Length::Long;
        let has_share = place.session.is_none()
            || self.taken_by(place).filter(is_long).count() < MAX_LONG_OF_ONE;
        match place.length {
            Length::Short => self.taken.len() < MAX,
            Length::Long => self.taken.iter().filter(is_long).count() < MAX_LONG && has_share,
        }
    }

    /// The turns that its session has.
    fn taken_by(&self, place: &Place) -> impl Iterator<Item = &Place> {
        self.taken.iter().filter(|taken| taken.session == place.session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who has turns when all have come in this order; those in brackets have gone again.
    fn admitted(arrivals: &[(&str, Length)], gone: &[u64]) -> Vec<u64> {
        let mut state = State::default();
        for (session, length) in arrivals {
            state.arrive(Some(session), *length);
        }
        let settle =
            |state: &mut State| while (1..=state.last).any(|number| state.admit(number)) {};
        settle(&mut state);
        for number in gone {
            state.leave(*number);
            settle(&mut state);
        }
        state.taken.iter().map(|place| place.number).collect()
    }

    #[test]
    fn no_session_has_all_turns() {
        let many = [("a", Length::Long); 20];
        assert_eq!(admitted(&many, &[]), [1, 2, 3]);
        let and_another = [many.as_slice(), &[("b", Length::Long)]].concat();
        assert!(admitted(&and_another, &[]).contains(&21), "it came last, and waits for nobody");
    }

    #[test]
    fn the_next_turn_goes_to_who_has_fewest() {
        let long = |session| (session, Length::Long);
        let arrivals =
            [long("a"), long("a"), long("a"), long("b"), long("a"), long("a"), long("c")];
        assert_eq!(admitted(&arrivals, &[]), [1, 4, 7, 2]);
        assert_eq!(admitted(&arrivals, &[4]), [1, 7, 2, 3]);
    }

    #[test]
    fn short_questions_wait_for_no_long_ones() {
        let long = |session| (session, Length::Long);
        let arrivals =
            [long("a"), long("b"), long("c"), long("d"), long("e"), ("a", Length::Short)];
        assert_eq!(admitted(&arrivals, &[]), [1, 2, 3, 4, 6]);
    }

    #[test]
    fn a_person_need_not_share() {
        let mut state = State::default();
        for _ in 0..5 {
            state.arrive(None, Length::Long);
        }
        while (1..=5).any(|number| state.admit(number)) {}
        assert_eq!(state.taken.len(), MAX_LONG);
    }
}
