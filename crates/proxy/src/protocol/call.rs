//! A request of a client's, and what it is for.

use std::{
    any::Any,
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use forebay_wire::Id;

use super::{
    cancellation::Cancellation,
    era::{self, Era},
    notes::Notes,
    principal::Principal,
};
use crate::{arguments::Arguments, router::UpstreamName};

/// A request of the client's.
#[derive(Debug)]
pub struct Call {
    /// Its id.
    pub id: Id,
    /// Its method.
    pub method: String,
    /// What it is for.
    pub purpose: Purpose,
    /// For whom it is made.
    pub principal: Principal,
    /// The upstream that it goes to.
    pub upstream: UpstreamName,
    /// The era it was made in.
    pub era: Era,
    /// The revision of the protocol that it is made in, as far as that is known.
    pub revision: Option<Arc<str>>,
    /// What the client calls itself, if it has said so.
    pub client: Option<Arc<str>>,
    /// The session that it belongs to. Clients that have none, in the modern era over HTTP, are told
    /// apart by what they call themselves.
    pub session: Arc<str>,
    /// The directory, or other place, that the client works in, if it has told.
    pub root: Option<Arc<str>>,
    /// The token under which the client expects progress.
    pub progress_token: Option<Id>,
    /// The span of the client's that it belongs to, as W3C's trace context writes it.
    pub trace_parent: Option<String>,
    /// When it was made.
    pub asked_at: Instant,
    /// What it was called with, if an interceptor wants to know when the result comes.
    pub(crate) arguments: OnceLock<Arguments>,
    /// What interceptors have noted about it.
    pub(crate) notes: Notes,
    /// Which of the session's requests this is.
    pub(crate) number: u64,
    /// An interceptor makes it, for another call.
    pub(crate) is_inner: bool,
    /// What the upstream has told of its progress.
    pub(crate) progress: LastProgress,
    pub(crate) cancellation: Cancellation,
}

/// How far a call was when its upstream last told.
#[derive(Debug)]
pub(crate) struct LastProgress(AtomicU64);

impl LastProgress {
    /// What was told; less than everything if nothing was.
    pub(crate) fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, done: f64) {
        self.0.store(done.to_bits(), Ordering::Relaxed);
    }
}

impl Default for LastProgress {
    fn default() -> Self {
        Self(AtomicU64::new(f64::NEG_INFINITY.to_bits()))
    }
}

/// What a request is for, as far as a proxy cares.
#[derive(Debug, Clone)]
pub enum Purpose {
    /// `initialize` or `server/discover`.
    Handshake,
    /// `tools/list`.
    ToolList {
        /// A later page than the first.
        is_continued: bool,
    },
    /// `tools/call`.
    ToolCall {
        /// The tool's name, as its upstream has it.
        tool: Arc<str>,
        /// What the client calls it: with many upstreams, something that tells whose it is.
        called: Arc<str>,
        /// Where the tool's arguments stand in the line.
        arguments: Option<Range<u64>>,
    },
    /// Legacy `tasks/result`.
    TaskResult {
        /// The tool call that became the task.
        origin: Arc<Call>,
    },
    /// `tasks/get`; in the modern era a completed task's result is inside.
    TaskState {
        /// The tool call that became the task.
        origin: Arc<Call>,
    },
    /// Something about resources.
    Resources(ResourceRequest),
    /// Modern `subscriptions/listen`, which is answered when it ends.
    Subscription,
    /// Anything else.
    Other,
}

/// What is asked about resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceRequest {
    /// `resources/list`.
    List,
    /// `resources/templates/list`.
    Templates,
    /// `resources/read`.
    Read {
        /// Which one.
        uri: Arc<str>,
    },
}

impl Call {
    /// The tool that is called, if one is.
    pub fn tool(&self) -> Option<&str> {
        match &self.purpose {
            Purpose::ToolCall { tool, .. } => Some(tool),
            Purpose::TaskResult { origin } | Purpose::TaskState { origin } => origin.tool(),
            Purpose::Handshake
            | Purpose::ToolList { .. }
            | Purpose::Resources(_)
            | Purpose::Subscription
            | Purpose::Other => None,
        }
    }

    /// The same, to be held on to.
    pub fn shared_tool(&self) -> Option<Arc<str>> {
        match &self.purpose {
            Purpose::ToolCall { tool, .. } => Some(tool.clone()),
            Purpose::TaskResult { origin } | Purpose::TaskState { origin } => origin.shared_tool(),
            Purpose::Handshake
            | Purpose::ToolList { .. }
            | Purpose::Resources(_)
            | Purpose::Subscription
            | Purpose::Other => None,
        }
    }

    /// What the client calls the tool, if one is called.
    pub fn called(&self) -> Option<&str> {
        match &self.purpose {
            Purpose::ToolCall { called, .. } => Some(called),
            Purpose::Handshake
            | Purpose::ToolList { .. }
            | Purpose::TaskResult { .. }
            | Purpose::TaskState { .. }
            | Purpose::Resources(_)
            | Purpose::Subscription
            | Purpose::Other => None,
        }
    }

    /// True if its client takes a block of content that is a link (`resource_link`). One whose revision is
    /// unknown does: all that have come since do.
    pub fn takes_links(&self) -> bool {
        self.revision.as_deref().is_none_or(era::has_links)
    }

    /// True if an interceptor makes it while it works on a call of the client's.
    pub fn is_inner(&self) -> bool {
        self.is_inner
    }

    /// The arguments of a tool call, if it has any and they are remembered.
    pub fn arguments(&self) -> Option<&Arguments> {
        self.arguments.get()
    }

    /// Remembers what a tool is called with, until the call is over.
    pub(crate) fn remember(&self, arguments: Arguments) {
        // A call has one set of arguments: there is nothing to forget.
        let _ = self.arguments.set(arguments);
    }

    /// Notes something about it, in the place of what was noted of this type. It is kept as long as the call.
    pub fn note<T: Any + Send + Sync>(&self, value: T) {
        self.notes.set(value);
    }

    /// What was noted of this type.
    pub fn noted<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.notes.get()
    }

    pub(crate) fn is_subscription(&self) -> bool {
        matches!(self.purpose, Purpose::Subscription)
    }

    /// Says that nobody waits for the answer any more; whoever works on it hears it at once.
    pub(crate) fn cancel(&self) {
        self.cancellation.give();
    }

    pub(crate) fn on_cancel(&self, hearer: impl FnOnce() + Send + 'static) {
        self.cancellation.on_given(hearer);
    }

    pub(crate) fn forget_hearers(&self) {
        self.cancellation.forget_hearers();
    }
}
