//! The sessions of legacy clients and their streams.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::call::Session;

use super::stream::Stream;

#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Arc<HttpSession>>>);

#[derive(Default)]
pub(crate) struct HttpSession {
    pub(crate) session: Arc<Session>,
    streams: Mutex<HashMap<u64, Arc<Stream>>>,
    /// The listener that the newest GET stream is.
    pub(crate) listener: Mutex<Option<u64>>,
}

impl Sessions {
    /// Begins a session and gives its id.
    pub(crate) fn begin(&self) -> String {
        static SESSIONS: AtomicU64 = AtomicU64::new(1);
        // Another process must not know the ids of this one.
        let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
        let id = format!("session-{}-{number}", std::process::id());
        self.lock().insert(id.clone(), Arc::default());
        id
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<HttpSession>> {
        self.lock().get(id).cloned()
    }

    /// Ends a session and what runs in it; false if there is none.
    pub(crate) fn end(&self, id: &str) -> bool {
        let Some(session) = self.lock().remove(id) else { return false };
        session.session.cancel_all();
        for stream in session.streams().values() {
            stream.end();
        }
        true
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<HttpSession>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpSession {
    pub(crate) fn open_stream(&self) -> Arc<Stream> {
        static STREAMS: AtomicU64 = AtomicU64::new(1);
        let number = STREAMS.fetch_add(1, Ordering::Relaxed);
        let stream = Stream::resumable(number);
        self.streams().insert(number, Arc::clone(&stream));
        stream
    }

    /// The stream that has the event of that id, and the event's place in it.
    pub(crate) fn event(&self, id: &str) -> Option<(Arc<Stream>, usize)> {
        let (stream, index) = id.split_once('-')?;
        let stream = self.streams().get(&stream.parse().ok()?).cloned()?;
        Some((stream, index.parse().ok()?))
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<u64, Arc<Stream>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
