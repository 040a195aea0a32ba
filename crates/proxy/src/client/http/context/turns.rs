//! Whose turn it is to take something through the chain.
//!
//! There are only so many turns, and a session takes no more than it leaves to others: however much one
//! client asks, there is a turn for the next.

use std::{collections::HashMap, sync::Arc};

use parking_lot::{Mutex, MutexGuard};

use tokio::sync::Notify;

use crate::limits;

#[derive(Default)]
pub(super) struct Turns {
    /// How many turns each session has.
    taken: Mutex<HashMap<Arc<str>, usize>>,
    changed: Notify,
}

/// A turn, until it is dropped.
pub(super) struct Turn {
    turns: Arc<Turns>,
    session: Arc<str>,
}

impl Turns {
    /// Waits for a turn.
    pub(super) async fn take(self: &Arc<Self>, session: Arc<str>) -> Turn {
        loop {
            let changed = self.changed.notified();
            if let Some(turn) = self.try_take(&session) {
                return turn;
            }
            changed.await;
        }
    }

    pub(super) fn try_take(self: &Arc<Self>, session: &Arc<str>) -> Option<Turn> {
        let mut taken = self.lock();
        let free = limits::TURNS.saturating_sub(taken.values().sum());
        let own = taken.get(session).copied().unwrap_or_default();
        if own >= free {
            return None;
        }
        taken.insert(session.clone(), own + 1);
        Some(Turn { turns: self.clone(), session: session.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, usize>> {
        self.taken.lock()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut taken = self.turns.lock();
        if let Some(own) = taken.get_mut(&self.session) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.session);
            }
        }
        drop(taken);
        self.turns.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many turns a session gets that wants very many.
    fn as_many_as_it_gets(turns: &Arc<Turns>, session: &str) -> Vec<Turn> {
        let session: Arc<str> = session.into();
        std::iter::from_fn(|| turns.try_take(&session)).collect()
    }

    #[test]
    fn there_is_a_turn_for_whoever_comes_after_a_greedy_one() {
        let turns = Arc::default();
        let kept: Vec<Vec<Turn>> =
            ["a", "b", "c", "d"].iter().map(|it| as_many_as_it_gets(&turns, it)).collect();
        let counts: Vec<usize> = kept.iter().map(Vec::len).collect();
        assert_eq!(counts, [8, 4, 2, 1]);
        assert_eq!(as_many_as_it_gets(&turns, "a").len(), 0);
        assert_eq!(as_many_as_it_gets(&turns, "e").len(), 1);
        drop(kept);
        assert!(turns.lock().is_empty(), "nothing is left of those that are gone");
        assert_eq!(as_many_as_it_gets(&turns, "a").len(), 8);
    }

    #[tokio::test]
    async fn who_waits_goes_on_when_a_turn_is_given_back() {
        let turns: Arc<Turns> = Arc::default();
        let mut kept = as_many_as_it_gets(&turns, "a");
        let waiting = tokio::spawn({
            let turns = turns.clone();
            async move { turns.take("a".into()).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        kept.pop();
        waiting.await.unwrap();
    }
}
