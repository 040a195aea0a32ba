//! The session of a legacy upstream: its id, its revision, and how it is opened anew when the
//! upstream has forgotten it.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use forebay_wire::{Envelope, scan};
use http::{HeaderMap, HeaderValue};
use tokio::sync::watch;

use super::posting::Posting;
use crate::{
    body::Source,
    streamable::headers::{PROTOCOL_VERSION, SESSION_ID},
};

/// What is known of the session with the upstream.
#[derive(Debug)]
pub(super) struct Legacy {
    session: Mutex<LegacySession>,
    /// Held by whoever opens a session anew.
    pub(super) renewal: tokio::sync::Mutex<()>,
    /// The number of the session that is open for all, or 0.
    ready: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct LegacySession {
    /// Which of the sessions with the upstream this is, from 1 on.
    number: u64,
    id: Option<HeaderValue>,
    revision: Option<HeaderValue>,
    initialize: Option<Arc<Posting>>,
    initialized: Option<Arc<Posting>>,
}

impl Legacy {
    pub(super) fn new() -> Self {
        let (session, renewal) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { session, renewal, ready: watch::Sender::new(0) }
    }

    fn session(&self) -> MutexGuard<'_, LegacySession> {
        self.session.lock()
    }

    /// Keeps what opens a session, to open another one.
    pub(super) fn remember_initialize(&self, posting: Arc<Posting>) {
        self.session().initialize = Some(posting);
    }

    pub(super) fn remember_initialized(&self, posting: Arc<Posting>) {
        self.session().initialized = Some(posting);
    }

    /// What opened the session, for one that takes its place.
    pub(super) fn opening(&self) -> (Option<Arc<Posting>>, Option<Arc<Posting>>) {
        let session = self.session();
        (session.initialize.clone(), session.initialized.clone())
    }

    /// A session begins with this response's head.
    pub(super) fn begins(&self, response: &HeaderMap) {
        let mut session = self.session();
        session.number += 1;
        session.id = response.get(SESSION_ID).cloned();
        session.revision = None;
    }

    /// Takes note of the revision that an answer to `initialize` names.
    pub(super) fn initialized(&self, envelope: &Envelope, source: Source<'_>) {
        let named = envelope.result.as_ref().and_then(|result| {
            let [revision] = source.members(result, ["protocolVersion"]);
            HeaderValue::from_str(&scan::string(&revision?.scalar?)?).ok()
        });
        self.session().revision = named;
    }

    /// True once an answer to the latest `initialize` has named a revision.
    pub(super) fn is_open(&self) -> bool {
        self.session().revision.is_some()
    }

    /// The session is open for all: the upstream may be listened to.
    pub(super) fn is_ready(&self) {
        let number = self.session().number;
        self.ready.send_replace(number);
    }

    /// Tells whenever a session is ready.
    pub(super) fn readiness(&self) -> watch::Receiver<u64> {
        self.ready.subscribe()
    }

    pub(super) fn number(&self) -> u64 {
        self.session().number
    }

    /// Adds what each request of the session says; `false` if it has no id.
    pub(super) fn add_headers(&self, headers: &mut HeaderMap) -> bool {
        let session = self.session();
        if let Some(revision) = &session.revision {
            headers.insert(PROTOCOL_VERSION, revision.clone());
        }
        if let Some(id) = &session.id {
            headers.insert(SESSION_ID, id.clone());
        }
        session.id.is_some()
    }
}
