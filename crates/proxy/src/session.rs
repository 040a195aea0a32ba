//! Hop 2: what each message is about. A state machine without I/O.
//!
//! The session follows a conversation in both directions and says of each message whether it is to
//! be forwarded unread or is one that interceptors may look at. The two directions have separate
//! ids: a client's call 1 and an upstream's question 1 do not meet.
//!
//! | verb | what happens |
//! |---|---|
//! | `client_sent`, `upstream_sent` | a message is taken note of, and what to do with it is said |
//! | `for_request` | another conversation with the same upstream begins, which knows of the same tasks |
//! | `for_session` | the same, in another session: of tasks nothing is known |
//! | `refuse` | from now on every request is refused |
//! | `abandon` | the same, and what is left is given up |
//!
//! What becomes of a request meanwhile (asked, held, released, settled, answered, cancelled) is said by
//! [`Pending`].

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    ops::Range,
    sync::{Arc, OnceLock},
    time::Instant,
};

use forebay_wire::{Envelope, Id, Kind};

pub use crate::protocol::{Call, Era, Pending, Principal, Purpose, ResourceRequest};
use crate::{
    body::Source,
    protocol::{
        Cancellation, LastProgress, Notes, Tasks,
        methods::{self, Answer, Params},
        roots,
    },
    router::{Router, UpstreamName},
};

/// A conversation between one client and its upstream.
#[derive(Debug)]
pub struct Session {
    /// For whom the client acts.
    principal: Principal,
    router: Router,
    /// What tells this session from all others, on this machine and at any time.
    id: Arc<str>,
    era: Era,
    /// The revision that is spoken, as far as it has been said.
    revision: Option<Arc<str>>,
    /// What the client calls itself, once it has said so.
    client: Option<Arc<str>>,
    /// The first of the client's roots, once it has told an upstream that asked.
    root: Option<Arc<str>>,
    /// The upstream's question for the client's roots.
    roots_asked: Option<Id>,
    pending: Pending,
    tasks: Tasks,
    /// Why no call can be delivered any more.
    refusal: Option<String>,
    /// How many requests the client has made.
    asked: u64,
    /// The client has said that its model can be asked (legacy).
    offers_sampling: bool,
}

/// What to do with a client's message.
#[derive(Debug, Clone)]
pub enum FromClient {
    /// Send it on as it came.
    Forward,
    /// A tool call: ask the chain first.
    ToolCall(Arc<Call>),
    /// It is about resources: ask the chain first.
    Resources(Arc<Call>),
    /// It cancels this call.
    Cancel {
        /// The call, which is over.
        call: Arc<Call>,
        /// The interceptors have it, and the upstream has never seen it.
        is_held: bool,
    },
    /// It cannot be delivered: answer that request with this reason.
    Refuse(Id, String),
}

/// What to do with an upstream's message.
#[derive(Debug, Clone)]
pub enum FromUpstream {
    /// Send it on as it came.
    Forward,
    /// It holds something the chain may look at.
    Inspect(Subject),
    /// Send it on as it came: this call has failed.
    Failed(Arc<Call>),
}

/// A part of an upstream's message that the chain may replace.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What it is.
    pub kind: SubjectKind,
    /// The call that it answers; for a task's result, the one that started the task.
    pub call: Arc<Call>,
    /// Where it stands in the line.
    pub span: Range<u64>,
}

/// What a [`Subject`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectKind {
    /// A tool's result.
    Result,
    /// A page of the list of tools.
    ToolList,
    /// The result of `initialize` or `server/discover`.
    Handshake,
}

impl Session {
    /// A session in which nothing has been said.
    pub fn new(router: Router) -> Self {
        Self {
            principal: Principal::local(),
            router,
            id: new_id(),
            era: Era::Unknown,
            revision: None,
            client: None,
            root: None,
            roots_asked: None,
            pending: Pending::default(),
            tasks: Tasks::default(),
            refusal: None,
            asked: 0,
            offers_sampling: false,
        }
    }

    /// Another conversation with the same upstream: over HTTP a client may have one for each
    /// request, and a task that was started in one is asked for in the next.
    #[must_use]
    pub fn for_request(&self) -> Self {
        Self { tasks: self.tasks.clone(), id: self.id.clone(), ..self.for_session() }
    }

    /// Another session with the same upstream, for the same principal.
    #[must_use]
    pub fn for_session(&self) -> Self {
        Self { principal: self.principal.clone(), ..Self::new(self.router.clone()) }
    }

    /// What tells this session from all others.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The era that the client speaks.
    pub fn era(&self) -> Era {
        self.era
    }

    /// True if the client has said that its own model can be asked.
    pub(crate) fn offers_sampling(&self) -> bool {
        self.offers_sampling
    }

    /// True once the client has made a request.
    pub fn has_been_asked(&self) -> bool {
        self.asked > 0
    }

    /// Takes note of a message from the client.
    pub fn client_sent(&mut self, envelope: &Envelope, source: Source<'_>) -> FromClient {
        match envelope.kind() {
            Kind::Request { id, method } => self.client_asks(id, method, envelope, source),
            Kind::Notification { method: methods::CANCELLED } => {
                let cancelled =
                    cancelled_request(envelope, source).and_then(|id| self.pending.cancel(&id));
                cancelled.map_or(FromClient::Forward, |(call, is_held)| FromClient::Cancel {
                    call,
                    is_held,
                })
            }
            Kind::Response { id } => {
                self.pending.replied(id);
                if self.roots_asked.as_ref() == Some(id) {
                    self.roots_asked = None;
                    let told = envelope.result.as_ref();
                    self.root =
                        told.and_then(|result| roots::first(source, result)).or(self.root.take());
                }
                FromClient::Forward
            }
            Kind::Notification { .. } | Kind::Other => FromClient::Forward,
        }
    }

    /// Takes note of a message from the upstream.
    pub fn upstream_sent(&mut self, envelope: &Envelope, source: Source<'_>) -> FromUpstream {
        match envelope.kind() {
            Kind::Request { id, method } => {
                self.pending.questioned(id.clone());
                if method == roots::LIST {
                    self.roots_asked = Some(id.clone());
                }
                FromUpstream::Forward
            }
            Kind::Notification { method: methods::CANCELLED } => {
                if let Some(id) = cancelled_request(envelope, source) {
                    self.pending.withdrawn(&id);
                }
                FromUpstream::Forward
            }
            Kind::Notification { method: methods::PROGRESS } => {
                if let Some((token, done)) = methods::progress(source, envelope.params.as_ref()) {
                    self.pending.progressed(&token, done);
                }
                FromUpstream::Forward
            }
            Kind::Notification { method: methods::TASK_CHANGED } => envelope
                .params
                .as_ref()
                .and_then(|state| methods::result_in_task(source, state))
                .and_then(|(task_id, span)| {
                    let call = self.tasks.origin(&task_id?)?;
                    Some(Subject { kind: SubjectKind::Result, call, span })
                })
                .map_or(FromUpstream::Forward, FromUpstream::Inspect),
            Kind::Response { id } => match self.pending.answered(id) {
                Some(call) => self.upstream_answers(call, envelope, source),
                None => FromUpstream::Forward,
            },
            Kind::Notification { .. } | Kind::Other => FromUpstream::Forward,
        }
    }

    /// The client's requests that await an answer.
    pub fn pending(&self) -> &Pending {
        &self.pending
    }

    /// The same, to take note of what becomes of them.
    pub fn pending_mut(&mut self) -> &mut Pending {
        &mut self.pending
    }

    /// From now on every request is refused with `reason`.
    pub fn refuse(&mut self, reason: String) {
        self.refusal = Some(reason);
    }

    /// The upstream is gone: refuses what comes, and returns the calls it left unanswered, in the
    /// order in which they were made.
    pub fn abandon(&mut self, reason: String) -> Vec<Arc<Call>> {
        self.refuse(reason);
        self.pending.abandon()
    }

    fn client_asks(
        &mut self,
        id: &Id,
        method: &str,
        envelope: &Envelope,
        source: Source<'_>,
    ) -> FromClient {
        self.asked += 1;
        if let Some(reason) = &self.refusal {
            return FromClient::Refuse(id.clone(), reason.clone());
        }
        let params = Params::read(source, envelope.params.as_ref());
        if let Some(era) = methods::of_request(method, &params) {
            self.era = era;
        }
        if method == methods::INITIALIZE {
            self.offers_sampling = methods::offers_sampling(source, envelope.params.as_ref());
        }
        if let Some(revision) = methods::revision_of_request(method, &params) {
            self.note_revision(&revision);
        }
        if let Some(name) = &params.client
            && self.client.as_deref() != Some(name)
        {
            self.client = Some(name.as_str().into());
        }
        let progress_token = params.progress_token.clone();
        let trace_parent = params.trace_parent.clone();
        let mut purpose = methods::purpose(method, params, |task_id| self.tasks.origin(task_id));
        let upstream = self.upstream_of(&mut purpose, source);
        let call = Arc::new(Call {
            id: id.clone(),
            method: method.to_owned(),
            principal: self.principal.clone(),
            upstream,
            era: self.era,
            revision: self.revision.clone(),
            client: self.client.clone(),
            session: self.session_of(self.client.as_deref()),
            root: self.root.clone(),
            progress_token,
            arguments: OnceLock::new(),
            notes: Notes::default(),
            purpose,
            number: self.asked,
            is_inner: false,
            progress: LastProgress::default(),
            asked_at: Instant::now(),
            trace_parent,
            cancellation: Cancellation::default(),
        });
        self.pending.asked(id.clone(), call.clone());
        match call.purpose {
            Purpose::ToolCall { .. } => FromClient::ToolCall(call),
            Purpose::Resources(_) => FromClient::Resources(call),
            Purpose::Handshake
            | Purpose::ToolList { .. }
            | Purpose::TaskResult { .. }
            | Purpose::TaskState { .. }
            | Purpose::Subscription
            | Purpose::Other => FromClient::Forward,
        }
    }

    /// The upstream that a request is for, which may have another name for what it is about.
    fn upstream_of(&self, purpose: &mut Purpose, source: Source<'_>) -> UpstreamName {
        match purpose {
            Purpose::ToolCall { tool, called, arguments } => {
                if self.router.leads_through(called)
                    && let Some(span) = arguments
                    && let Some((server, own, inner)) = methods::call_within(source, span)
                    && let Some(upstream) = self.router.upstream(&server)
                {
                    (*tool, *arguments) = (own.into(), inner);
                    return upstream;
                }
                let (upstream, own) = self.router.tool(called);
                *tool = own;
                upstream
            }
            Purpose::TaskResult { origin } | Purpose::TaskState { origin } => {
                origin.upstream.clone()
            }
            Purpose::Handshake
            | Purpose::ToolList { .. }
            | Purpose::Resources(_)
            | Purpose::Subscription
            | Purpose::Other => self.router.whole().clone(),
        }
    }

    fn note_revision(&mut self, revision: &str) {
        if self.revision.as_deref() != Some(revision) {
            self.revision = Some(revision.into());
        }
    }

    /// The session of a call by a client of that name.
    fn session_of(&self, client: Option<&str>) -> Arc<str> {
        match (self.era, client) {
            (Era::Modern, Some(client)) => format!("{}/{client}", self.id).into(),
            (Era::Unknown | Era::Legacy, _) | (Era::Modern, None) => self.id.clone(),
        }
    }

    fn upstream_answers(
        &mut self,
        call: Arc<Call>,
        envelope: &Envelope,
        source: Source<'_>,
    ) -> FromUpstream {
        let Some(result) = envelope.result.clone() else { return FromUpstream::Failed(call) };
        let (kind, call, span) = match &call.purpose {
            Purpose::Handshake => {
                if let Some(revision) = methods::settled_revision(source, &result) {
                    self.note_revision(&revision);
                }
                (SubjectKind::Handshake, call, result)
            }
            Purpose::ToolList { .. } => (SubjectKind::ToolList, call, result),
            Purpose::ToolCall { .. } => match methods::answer(source, &result) {
                Answer::Result => (SubjectKind::Result, call, result),
                Answer::Task(task_id) => {
                    self.tasks.remember(task_id, call);
                    return FromUpstream::Forward;
                }
                Answer::InputRequired => return FromUpstream::Forward,
            },
            Purpose::TaskResult { origin } => (SubjectKind::Result, origin.clone(), result),
            Purpose::TaskState { origin } => match methods::result_in_task(source, &result) {
                Some((_, span)) => (SubjectKind::Result, origin.clone(), span),
                None => return FromUpstream::Forward,
            },
            Purpose::Resources(_) | Purpose::Subscription | Purpose::Other => {
                return FromUpstream::Forward;
            }
        };
        FromUpstream::Inspect(Subject { kind, call, span })
    }
}

/// An id that no other session has.
fn new_id() -> Arc<str> {
    // The hasher's keys are random, and differ from one to the next.
    format!("{:016x}", RandomState::new().build_hasher().finish()).into()
}

/// The request that `notifications/cancelled` is about.
pub(crate) fn cancelled_request(envelope: &Envelope, source: Source<'_>) -> Option<Id> {
    let [id] = source.members(envelope.params.as_ref()?, ["requestId"]);
    Id::parse(&id?.scalar?)
}

#[cfg(test)]
mod tests;
