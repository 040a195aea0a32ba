//! A request of a client's, and what it is for.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
    time::Instant,
};

use forebay_wire::Id;

use super::{cancellation::Cancellation, era::Era, principal::Principal};
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
    /// Which of the session's requests this is.
    pub(crate) number: u64,
    pub(crate) cancellation: Cancellation,
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
    /// Modern `subscriptions/listen`, which is answered when it ends.
    Subscription,
    /// Anything else.
    Other,
}

impl Call {
    /// The tool that is called, if one is.
    pub fn tool(&self) -> Option<&str> {
        match &self.purpose {
            Purpose::ToolCall { tool, .. } => Some(tool),
            Purpose::TaskResult { origin } | Purpose::TaskState { origin } => origin.tool(),
            Purpose::Handshake
            | Purpose::ToolList { .. }
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
            | Purpose::Subscription
            | Purpose::Other => None,
        }
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
