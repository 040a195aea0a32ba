//! The calls of hooks that are under way on one connection: what the upstream says of them is theirs.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use forebay_wire::{Envelope, Id, Kind, Line};
use parking_lot::Mutex;

use crate::{
    body::{Body, Source},
    chain::{CallFailure, InnerCall},
    limits,
    protocol::methods::PROGRESS,
};

/// By the ids that the upstream knows. One that was cancelled stays until it is answered: its answer is
/// nobody's, least of all the client's.
#[derive(Default)]
pub(super) struct InnerCalls {
    calls: Mutex<HashMap<Id, Arc<InnerCall>>>,
    /// Looked at for every line, and nearly always 0.
    count: AtomicUsize,
}

/// A line of the upstream's about a call that a hook has made.
#[derive(Debug)]
pub struct OfInnerCall {
    inner: Arc<InnerCall>,
    envelope: Envelope,
    what: What,
}

#[derive(Debug)]
enum What {
    Answer,
    Progress,
}

impl OfInnerCall {
    /// Gives the line to the call.
    pub(crate) fn give(&self, body: &Arc<Body>) {
        match self.what {
            What::Answer => self.inner.answered(&self.envelope, body),
            What::Progress => self.inner.progressed(&self.envelope, Source::Held(body)),
        }
    }
}

impl InnerCalls {
    pub(super) fn expect(&self, inner: &Arc<InnerCall>) {
        let mut calls = self.calls.lock();
        // Not every upstream answers what was cancelled.
        if calls.len() >= limits::INNER_CALLS {
            calls.retain(|_, inner| !inner.is_over());
        }
        calls.insert(inner.id().clone(), inner.clone());
        self.count.store(calls.len(), Ordering::Release);
    }

    /// The call that a line is about, if it is about one.
    pub(super) fn concerned(&self, line: &Line, source: Source<'_>) -> Option<OfInnerCall> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let Line::Message(envelope) = line else { return None };
        let (inner, what) = match envelope.kind() {
            Kind::Response { id } => (self.take(id)?, What::Answer),
            Kind::Notification { method: PROGRESS } => {
                let [token] = source.members(envelope.params.as_ref()?, ["progressToken"]);
                let token = Id::parse(&token?.scalar?)?;
                (self.calls.lock().get(&token)?.clone(), What::Progress)
            }
            Kind::Request { .. } | Kind::Notification { .. } | Kind::Other => return None,
        };
        Some(OfInnerCall { inner, envelope: envelope.clone(), what })
    }

    /// True if one that may outlive its hook has not been answered.
    pub(super) fn has_of_client(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
            && self.calls.lock().values().any(|inner| inner.is_awaited_by_client())
    }

    /// A line has passed that could not be kept: what it answers has no answer.
    pub(super) fn lost(&self, line: &Line) {
        for id in line.messages().iter().filter_map(|envelope| envelope.id.as_ref()) {
            if let Some(inner) = self.take(id) {
                let why = "its result is too long to be kept while it passes";
                inner.fail(CallFailure::Gone(why.to_owned()));
            }
        }
    }

    /// The upstream is gone.
    pub(super) fn abandon(&self, why: &str) {
        // Not in the `for`, which would keep them locked.
        let all: Vec<Arc<InnerCall>> = self.calls.lock().drain().map(|(_, inner)| inner).collect();
        self.count.store(0, Ordering::Release);
        for inner in all {
            inner.fail(CallFailure::Gone(why.to_owned()));
        }
    }

    fn take(&self, id: &Id) -> Option<Arc<InnerCall>> {
        let mut calls = self.calls.lock();
        let inner = calls.remove(id);
        self.count.store(calls.len(), Ordering::Release);
        inner
    }
}
