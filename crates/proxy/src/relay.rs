//! Hops 2 to 5 in their order: what becomes of one line.
//!
//! Transports call [`Relay::client_line`] and [`Relay::upstream_line`] with what they have framed.
//! Nearly always the answer is that it passes: the very bytes go on, uncopied. Only what an
//! interceptor watches is kept and taken through the chain, which may block, so the transport
//! decides on which thread.
//!
//! | verb | what happens |
//! |---|---|
//! | `client_line`, `upstream_line` | it is decided whether a line passes, is answered, dropped, or consulted about |
//! | `client_line_passed`, `upstream_line_passed` | a line that has gone on unread is taken note of |
//! | `consult` | the chain is asked about parts of a line; what is to be sent comes later |
//! | `turn_away` | the same, without asking: too much is in the chain |
//! | `give_up` | nobody waits for some calls any more, and their hooks are told |
//! | `client_is_gone` | nobody waits for any |
//! | `abandon` | the upstream is gone: all that it left is answered, and what comes is refused |

mod consulting;
mod inner;

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
};

use parking_lot::{Mutex, MutexGuard};

use forebay_wire::{
    Envelope, Id, Line,
    reply::{self, CONNECTION_CLOSED, PARSE_ERROR},
};

pub use self::inner::OfInnerCall;
use self::{
    consulting::{Consulting, Decided},
    inner::InnerCalls,
};
use crate::{
    arguments::Arguments,
    body::{Body, Message, Source},
    chain::{Chain, InnerCall, Moment, Params, Questions, Sampling, ToClient, Ways},
    events,
    record::{Recorder, Side},
    router::{Router, UpstreamName},
    session::{Call, FromClient, FromUpstream, Purpose, Session, Subject, SubjectKind},
    telemetry::Outcome,
    threads,
};

/// A session, the way to its upstream and the interceptors in between.
pub struct Relay {
    session: Mutex<Session>,
    router: Router,
    chain: Arc<Chain>,
    recorder: Option<Arc<Recorder>>,
    /// The calls of hooks that the upstream has not answered.
    inner: InnerCalls,
    /// The questions of hooks that the client has not answered.
    questions: Arc<Questions>,
    /// How many lines are being taken through the chain.
    consulting: AtomicUsize,
    /// How many lines were not JSON, of either side.
    not_json: AtomicU64,
}

/// What becomes of a line from the client.
#[derive(Debug)]
pub enum ClientOnward {
    /// It goes on as it came.
    Pass,
    /// It goes no further; these lines go back to the client.
    Answer(Vec<u8>),
    /// It goes no further.
    Drop,
    /// Interceptors want to see parts of it.
    Consult(Consultation),
}

/// What becomes of a line from the upstream.
#[derive(Debug)]
pub enum UpstreamOnward {
    /// It goes on as it came.
    Pass,
    /// Interceptors want to see parts of it.
    Consult(Consultation),
    /// It goes no further: it is about a call that a hook has made, which is to be given the line.
    Inner(OfInnerCall),
}

/// The parts of a line that interceptors want to see.
#[derive(Debug)]
pub struct Consultation {
    parts: Vec<Part>,
    /// Where each message of a batch stands; empty if the line is a single message.
    batch: Vec<Range<u64>>,
}

#[derive(Debug)]
struct Part {
    /// Where the message that it belongs to stands.
    message: Range<u64>,
    subject: PartSubject,
}

#[derive(Debug)]
enum PartSubject {
    Call { call: Arc<Call>, params: Range<u64> },
    Answer(Subject),
}

/// What is to be sent after a consultation.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// To the upstream.
    pub to_upstream: Option<Message>,
    /// To the client.
    pub to_client: Vec<Message>,
}

impl Relay {
    /// A relay for one client and one upstream.
    pub fn new(router: Router, chain: Chain, recorder: Option<Recorder>) -> Self {
        let session = Session::new(router.clone());
        Self::with(session, router, Arc::new(chain), recorder.map(Arc::new))
    }

    /// A relay for a request that stands for itself: through the same chain, to the same tasks.
    #[must_use]
    pub fn for_request(&self) -> Self {
        let session = self.session().for_request();
        Self::with(session, self.router.clone(), self.chain.clone(), self.recorder.clone())
    }

    /// A relay for another session of the upstream's, which may call other tasks by the same ids.
    #[must_use]
    pub fn for_session(&self) -> Self {
        let session = self.session().for_session();
        Self::with(session, self.router.clone(), self.chain.clone(), self.recorder.clone())
    }

    /// Nobody waits any more for the calls that the chain has.
    pub(crate) fn give_up(&self, calls: &[Arc<Call>]) {
        for call in calls {
            self.session().pending_mut().settle(call);
            call.cancel();
        }
    }

    /// Nobody will answer these requests any more.
    pub(crate) fn forget(&self, asked: &[Id]) {
        let mut session = self.session();
        for id in asked {
            session.pending_mut().forget(id);
        }
    }

    fn with(
        session: Session,
        router: Router,
        chain: Arc<Chain>,
        recorder: Option<Arc<Recorder>>,
    ) -> Self {
        let (consulting, not_json) = (AtomicUsize::new(0), AtomicU64::new(0));
        let (session, inner) = (Mutex::new(session), InnerCalls::default());
        let questions = Arc::default();
        Self { session, router, chain, recorder, inner, questions, consulting, not_json }
    }

    /// The upstream's name.
    pub fn upstream(&self) -> &UpstreamName {
        self.router.whole()
    }

    /// True if a long line from the upstream need not be held, because nobody may want to see it.
    pub fn lets_through_unread(&self) -> bool {
        self.chain.is_empty() && self.recorder.is_none()
    }

    /// True while the chain has something to decide.
    pub fn is_consulting(&self) -> bool {
        self.consulting.load(Ordering::Relaxed) > 0
    }

    /// The session as it stands.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        // The session's own methods leave it whole at every step at which they could panic.
        self.session.lock()
    }

    /// Decides what becomes of a line from the client.
    pub fn client_line(&self, source: Source<'_>) -> ClientOnward {
        self.client_message(&source.line(), source)
    }

    /// The same, of a line that has been scanned.
    pub(crate) fn client_message(&self, line: &Line, source: Source<'_>) -> ClientOnward {
        self.record(Side::Client, source);
        if *line != Line::Blank
            && let Err(error) = source.check()
        {
            events::client_line_is_not_json(&error, self.count_not_json());
            let id = line.messages().first().and_then(|envelope| envelope.id.as_ref());
            return ClientOnward::Answer(reply::error(
                id,
                PARSE_ERROR,
                &format!("Parse error: {error}. Send one JSON-RPC message per line."),
            ));
        }
        if let Line::Message(envelope) = line
            && self.questions.take(envelope, source)
        {
            return ClientOnward::Drop;
        }
        let mut parts = Vec::new();
        let mut refused = Vec::new();
        for envelope in line.messages() {
            // Not in the `match`, which would keep the session locked.
            let sent = self.session().client_sent(envelope, source);
            match sent {
                FromClient::Forward => {}
                FromClient::Cancel { call, is_held } => {
                    call.cancel();
                    // An upstream knows nothing of a call that it has never seen. (In a batch,
                    // which few clients send, it may hear of it all the same.)
                    if is_held && matches!(line, Line::Message(_)) {
                        return ClientOnward::Drop;
                    }
                }
                FromClient::ToolCall(call) => {
                    events::call_forwarded(&call);
                    if self.chain.remembers(&call)
                        && let Purpose::ToolCall { arguments: Some(span), .. } = &call.purpose
                        && let Some(arguments) = Arguments::read(source, span)
                    {
                        call.remember(arguments);
                    }
                    if envelope.params.is_some() {
                        parts.extend(self.watched(call, envelope, source));
                    }
                }
                FromClient::Resources(call) => parts.extend(self.watched(call, envelope, source)),
                FromClient::Refuse(id, reason) => {
                    refused.extend(reply::error(Some(&id), CONNECTION_CLOSED, &reason));
                }
            }
        }
        if !refused.is_empty() {
            return ClientOnward::Answer(refused);
        }
        Consultation::of(line, parts).map_or(ClientOnward::Pass, ClientOnward::Consult)
    }

    /// A request that an interceptor wants to see. It is held until they have decided.
    fn watched(&self, call: Arc<Call>, envelope: &Envelope, source: Source<'_>) -> Option<Part> {
        let end = envelope.span.end;
        let params = envelope.params.clone().unwrap_or(end..end);
        let given = Params::new(source, params.clone());
        if !self.chain.watches(&Moment::Call(&call, &given)) {
            return None;
        }
        self.session().pending_mut().hold(&call);
        let subject = PartSubject::Call { call, params };
        Some(Part { message: envelope.span.clone(), subject })
    }

    /// Decides what becomes of a line from the upstream.
    pub fn upstream_line(&self, source: Source<'_>) -> UpstreamOnward {
        self.record(Side::Upstream, source);
        let line = source.line();
        let is_long = matches!(source, Source::Held(_));
        if line == Line::Other || (line != Line::Blank && !is_long && source.check().is_err()) {
            let count = self.count_not_json();
            events::upstream_line_is_not_json(self.upstream(), source.bytes(), count);
        }
        match self.inner.concerned(&line, source) {
            Some(of_inner) => UpstreamOnward::Inner(of_inner),
            None => self.upstream_sent(&line, source),
        }
    }

    /// What the upstream says of a hook's call from now on is that call's.
    pub(crate) fn expect(&self, inner: &Arc<InnerCall>) {
        self.inner.expect(inner);
    }

    /// True while the upstream works on a call that goes on without the client.
    pub(crate) fn works_in_background(&self) -> bool {
        self.inner.has_of_client()
    }

    /// Takes note of a line from the upstream that has been passed on without being held.
    pub fn upstream_line_passed(&self, line: &Line, bytes: u64) {
        self.record_unread(Side::Upstream, bytes);
        if *line == Line::Other {
            events::upstream_line_is_not_json(self.upstream(), bytes, self.count_not_json());
        }
        self.inner.lost(line);
        let _ = self.upstream_sent(line, Source::Gone);
    }

    /// Takes note of a line from the client that has been passed on without being held.
    pub fn client_line_passed(&self, line: &Line, bytes: u64) {
        self.record_unread(Side::Client, bytes);
        for envelope in line.messages() {
            let _ = self.session().client_sent(envelope, Source::Gone);
        }
    }

    /// Takes a line through the chain, on a thread of its own. `then` gets what is to be sent, on whichever
    /// thread has the last word, and whatever happens. Meanwhile hooks may tell the client of their progress.
    pub fn consult(
        self: &Arc<Self>,
        consultation: Consultation,
        body: Arc<Body>,
        ways: Ways,
        then: impl FnOnce(Outgoing) + Send + 'static,
    ) {
        self.consulting.fetch_add(1, Ordering::Relaxed);
        let ways = Ways { sampling: self.sampling(&ways.client), ..ways };
        let consulting = Consulting::new(self.clone(), consultation, body, ways, Box::new(then));
        threads::run(move || consulting.go_on());
    }

    /// The way to the client's own model, if it has said that it offers it.
    fn sampling(&self, client: &Arc<dyn ToClient>) -> Option<Sampling> {
        let is_offered = self.session().offers_sampling();
        is_offered.then(|| Sampling::new(self.questions.clone(), client.clone()))
    }

    /// The same; waits for what is to be sent.
    pub fn consult_and_wait(
        self: &Arc<Self>,
        consultation: Consultation,
        body: Arc<Body>,
        ways: Ways,
    ) -> Outgoing {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.consult(consultation, body, ways, move |outgoing| drop(sender.send(outgoing)));
        receiver.recv().unwrap_or_default()
    }

    /// Decides about a line from the client without taking it through the chain, where too many
    /// are already. Does not block.
    pub fn turn_away(&self, consultation: &Consultation, body: &Arc<Body>) -> Outgoing {
        let mut decided = Decided::default();
        for Part { message, subject } in &consultation.parts {
            let PartSubject::Call { call, params } = subject else { continue };
            let given = Params::new(Source::Held(body), params.clone());
            let verdict = self.chain.turn_away(call, &given);
            decided.about_call(self, call, params, message, Some(verdict));
        }
        decided.about_requests(body, &consultation.batch)
    }

    /// The client is gone: ends what is being done for it.
    pub fn client_is_gone(&self) {
        // Not in the `for`, which would keep the session locked.
        let held = self.session().pending_mut().client_is_gone();
        self.questions.abandon();
        for call in held {
            call.cancel();
        }
    }

    /// The upstream says nothing any more: the calls of hooks are not answered, and who waits for them need not.
    pub(crate) fn upstream_is_silent(&self) {
        self.inner.abandon(&format!("upstream `{}` has ended", self.upstream()));
    }

    fn upstream_sent(&self, line: &Line, source: Source<'_>) -> UpstreamOnward {
        let mut parts = Vec::new();
        for envelope in line.messages() {
            // Not in the `match`, which would keep the session locked.
            let sent = self.session().upstream_sent(envelope, source);
            match sent {
                FromUpstream::Forward => {}
                FromUpstream::Failed(call) => self.chain.answered(&call, Outcome::Error),
                FromUpstream::Inspect(subject) => {
                    self.chain.answered(&subject.call, Outcome::Result);
                    let bytes = subject.span.end - subject.span.start;
                    let moment = Moment::Answer(subject.kind, &subject.call, bytes);
                    self.chain.notice(&moment, source.in_memory(&subject.span));
                    if self.chain.watches(&moment) {
                        let subject = PartSubject::Answer(subject);
                        parts.push(Part { message: envelope.span.clone(), subject });
                    }
                }
            }
        }
        Consultation::of(line, parts).map_or(UpstreamOnward::Pass, UpstreamOnward::Consult)
    }

    fn record(&self, side: Side, source: Source<'_>) {
        if let Some(recorder) = &self.recorder {
            recorder.line(side, source);
        }
    }

    fn record_unread(&self, side: Side, bytes: u64) {
        if let Some(recorder) = &self.recorder {
            recorder.unread_line(side, bytes);
        }
    }

    fn count_not_json(&self) -> u64 {
        self.not_json.fetch_add(1, Ordering::Relaxed)
    }

    /// Answers every call that the upstream left, and refuses those still to come.
    pub fn abandon(&self, how: &str) -> Vec<u8> {
        let reason = format!("upstream `{}` {how}", self.upstream());
        let left = self.session().abandon(reason.clone());
        self.inner.abandon(&reason);
        events::upstream_ended(self.upstream(), how, left.len());
        let mut errors = Vec::new();
        for call in left {
            // An interceptor that has it need not go on.
            call.cancel();
            self.chain.answered(&call, Outcome::Error);
            errors.extend(reply::error(Some(&call.id), CONNECTION_CLOSED, &reason));
        }
        errors
    }
}

impl Consultation {
    /// What there is to consult about; `None` if there are no parts.
    fn of(line: &Line, parts: Vec<Part>) -> Option<Self> {
        let batch = match line {
            Line::Batch(envelopes) => {
                envelopes.iter().map(|envelope| envelope.span.clone()).collect()
            }
            Line::Message(_) | Line::Blank | Line::Other => Vec::new(),
        };
        (!parts.is_empty()).then_some(Self { parts, batch })
    }

    /// True if the answer must not be overtaken by what the upstream sends next. A tool's result
    /// may be; the handshake and the list of tools may not.
    pub fn keeps_its_place(&self) -> bool {
        self.parts.iter().any(|part| match &part.subject {
            PartSubject::Call { .. } => false,
            PartSubject::Answer(subject) => match subject.kind {
                SubjectKind::Result => false,
                SubjectKind::ToolList | SubjectKind::Handshake => true,
            },
        })
    }

    /// The session of the calls that it is about.
    pub(crate) fn session(&self) -> Arc<str> {
        let call = self.parts.first().map(|part| match &part.subject {
            PartSubject::Call { call, .. } => call,
            PartSubject::Answer(subject) => &subject.call,
        });
        call.map_or_else(|| "".into(), |call| call.session.clone())
    }

    /// The calls that it is about.
    pub(crate) fn calls(&self) -> Vec<Arc<Call>> {
        let call = |part: &Part| match &part.subject {
            PartSubject::Call { call, .. } => Some(call.clone()),
            PartSubject::Answer(_) => None,
        };
        self.parts.iter().filter_map(call).collect()
    }

    /// True if the line has several messages.
    pub(crate) fn is_of_a_batch(&self) -> bool {
        !self.batch.is_empty()
    }

    /// True if it is about calls, false if it is about answers.
    pub fn is_from_client(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.subject, PartSubject::Call { .. }))
    }
}

#[cfg(test)]
mod tests;
