//! What we know of an upstream's sessions: the conversation in each, and what we have said there in
//! place of an answer, in case it is asked for again.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use parking_lot::{Mutex, MutexGuard};

use bytes::Bytes;
use tokio::sync::watch;

use crate::{limits, relay::Relay};

/// Sessions by their ids.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Arc<Noted>>>);

/// A session of the upstream's.
pub(super) struct Noted {
    pub(super) id: String,
    pub(super) relay: Arc<Relay>,
    replacements: Mutex<Replacements>,
    used: Mutex<Instant>,
    /// It is among the sessions, or has been: once it is forgotten, an answer that comes late does not
    /// bring it back.
    was_listed: AtomicBool,
}

/// What was said in place of events, by their ids, and in the order they came.
#[derive(Default)]
struct Replacements {
    by_event: HashMap<String, Replacement>,
    order: VecDeque<String>,
}

/// What is said in place of an event, once that is known. `Empty` means as it came.
pub(super) type Replacement = watch::Receiver<Option<Bytes>>;

impl Sessions {
    /// The session with that id, if it is noted.
    pub(super) fn get(&self, id: &str) -> Option<Arc<Noted>> {
        let session = self.lock().get(id)?.clone();
        *session.used.lock() = Instant::now();
        Some(session)
    }

    /// Notes a session that the upstream has shown to know: anybody can make up an id. If it has been
    /// noted meanwhile, that stays.
    pub(super) fn note(&self, session: &Arc<Noted>) {
        let mut sessions = self.lock();
        if session.was_listed.swap(true, Ordering::Relaxed) || sessions.contains_key(&session.id) {
            return;
        }
        if sessions.len() >= limits::NOTED_SESSIONS {
            forget_the_oldest(&mut sessions);
        }
        sessions.insert(session.id.clone(), session.clone());
    }

    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Noted>>> {
        self.0.lock()
    }
}

/// Forgets the quarter that has been idle longest.
fn forget_the_oldest(sessions: &mut HashMap<String, Arc<Noted>>) {
    let used = |session: &Noted| *session.used.lock();
    let mut times: Vec<Instant> = sessions.values().map(|session| used(session)).collect();
    let (_, &mut limit, _) = times.select_nth_unstable(limits::NOTED_SESSIONS / 4);
    sessions.retain(|_, session| used(session) > limit);
}

impl Noted {
    /// A session that is not noted yet. One that we have not seen begin, because we were not there, is
    /// as if it began now.
    pub(super) fn new(id: &str, relay: Arc<Relay>) -> Arc<Self> {
        Arc::new(Self {
            id: id.to_owned(),
            relay,
            replacements: Mutex::default(),
            used: Mutex::new(Instant::now()),
            was_listed: AtomicBool::new(false),
        })
    }

    /// What is said in place of the event with that id, if anything may be.
    pub(super) fn replacement(&self, event: &str) -> Option<Replacement> {
        self.replacements().by_event.get(event).cloned()
    }

    /// Says that something may be said in place of that event; the sender tells what.
    pub(super) fn replaces(&self, event: String) -> watch::Sender<Option<Bytes>> {
        let (sender, receiver) = watch::channel(None);
        let mut replacements = self.replacements();
        if replacements.by_event.insert(event.clone(), receiver).is_none() {
            replacements.order.push_back(event);
        }
        if replacements.order.len() > limits::REPLACEMENTS
            && let Some(oldest) = replacements.order.pop_front()
        {
            replacements.by_event.remove(&oldest);
        }
        sender
    }

    fn replacements(&self) -> MutexGuard<'_, Replacements> {
        self.replacements.lock()
    }
}
