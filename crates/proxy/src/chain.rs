//! Hop 4: interceptors see a call, its result, the list of tools and the handshake.
//!
//! Calls go through the interceptors in their order, what an upstream sends in the reverse one. A
//! chain never costs a client its answer: an interceptor that errs, panics, is late or gives
//! something that is not JSON is passed over, and an event says so. If the call was its own, which
//! no upstream could answer, the client is told what went wrong.

mod caller;
mod deadline;
mod failure;
mod inner;
mod params;
mod sampling;
mod timer;
mod to_client;

use std::{
    error::Error,
    fmt::Display,
    iter,
    sync::{Arc, OnceLock},
    time::Duration,
};

use forebay_wire::syntax;

pub(crate) use self::sampling::Questions;
pub use self::{
    caller::Caller,
    inner::{CallFailure, InnerCall, OfClient, Refusal, ToUpstream, Ways},
    params::Params,
    sampling::{Sampling, SamplingFailure},
    to_client::ToClient,
};
use self::{
    deadline::{Outcome, Stage},
    failure::Failure,
    inner::Origin,
};
use crate::{
    body::Payload,
    events,
    router::Router,
    session::{Call, Subject, SubjectKind},
    telemetry::{self, Telemetry},
};

/// Looks at what passes, and may answer or replace it.
///
/// Hooks run on threads that may block; [`Interceptor::watches`] and [`Interceptor::notices`] run on the
/// relay's.
pub trait Interceptor: Send + Sync + 'static {
    /// Its name, for events.
    fn name(&self) -> &'static str;

    /// Says whether a hook is to be called at all. Must be quick: every call and every result
    /// waits for it, and what nobody watches passes at once. A call that is watched may be
    /// overtaken by later ones, so watch only those that you mean to answer or rewrite.
    fn watches(&self, moment: &Moment<'_>) -> bool;

    /// Is told once of each answer as it came from the upstream, whether or not anyone watches it, with
    /// its text, if that is in memory. As quick as [`Interceptor::watches`].
    fn notices(&self, _moment: &Moment<'_>, _text: Option<&[u8]>) {}

    /// Says whether the arguments of a call are wanted when its result comes: only then are they
    /// copied ([`Call::arguments`]). As quick as [`Interceptor::watches`].
    fn remembers(&self, _call: &Call) -> bool {
        false
    }

    /// Says whether a call is of a tool that only this interceptor has. It then watches that call,
    /// and if its hook fails or is late, the client gets an error in place of a result: no upstream
    /// is asked for what it cannot know. As quick as [`Interceptor::watches`].
    fn owns(&self, _call: &Call) -> bool {
        false
    }

    /// Says whether a call that it watches means nothing to the upstream as it came. If its hook fails or is
    /// late, the client gets an error, as for one that it owns.
    fn must_see(&self) -> bool {
        false
    }

    /// How long [`Interceptor::on_call`] may take for this call; `None` is as long as for any.
    fn patience(&self, _call: &Call) -> Option<Duration> {
        None
    }

    /// A tool call or a request about resources, before any upstream sees it; `params` is the request's,
    /// if it has any. What takes long should listen to the `caller`, who may cancel, and tell it of progress.
    fn on_call(
        &self,
        _call: &Call,
        _params: &Payload,
        _caller: &Caller,
    ) -> Result<CallVerdict, HookError> {
        Ok(CallVerdict::Forward)
    }

    /// A tool's result: of a call, or of a task that a call became. The `caller` can be told of progress.
    fn on_result(
        &self,
        _call: &Call,
        _result: &Payload,
        _caller: &Caller,
    ) -> Result<Verdict, HookError> {
        Ok(Verdict::Pass)
    }

    /// The result of `tools/list`.
    fn on_tool_list(&self, _call: &Call, _list: &Payload) -> Result<Verdict, HookError> {
        Ok(Verdict::Pass)
    }

    /// The result of `initialize` or `server/discover`.
    fn on_handshake(&self, _call: &Call, _result: &Payload) -> Result<Verdict, HookError> {
        Ok(Verdict::Pass)
    }
}

/// What a hook may fail with.
pub type HookError = Box<dyn Error + Send + Sync>;

/// Something that an interceptor may watch.
#[derive(Debug, Clone, Copy)]
pub enum Moment<'a> {
    /// A tool call, or a request about resources, on its way to the upstream, and what it says.
    Call(&'a Call, &'a Params<'a>),
    /// Something on its way to the client, and its length.
    Answer(SubjectKind, &'a Call, u64),
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallVerdict {
    /// It goes on, to the next interceptor and at last the upstream.
    Forward,
    /// The same, with this JSON as the request's `params`.
    Rewrite(Vec<u8>),
    /// This is its result, as JSON; no upstream is asked. What the call's era asks of every result
    /// is added.
    Answer(Vec<u8>),
    /// The same, for a result that may be as large as any: the interceptors behind see it first, as if an
    /// upstream had given it.
    Result(Vec<u8>),
    /// It is answered with an error of the protocol; no upstream is asked.
    Refuse(Refusal),
}

/// What becomes of what an upstream sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It stays as it is.
    Pass,
    /// This JSON stands in its place.
    Replace(Vec<u8>),
}

/// How long each hook may take.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// For [`Interceptor::on_call`].
    pub call: Duration,
    /// For [`Interceptor::on_result`].
    pub result: Duration,
    /// For [`Interceptor::on_tool_list`].
    pub tool_list: Duration,
    /// For [`Interceptor::on_handshake`].
    pub handshake: Duration,
}

/// The interceptors, in their order. Empty by default.
#[derive(Default)]
pub struct Chain {
    stages: Vec<Stage>,
    deadlines: Deadlines,
    telemetry: Vec<Arc<dyn Telemetry>>,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            call: Duration::from_secs(120),
            result: Duration::from_secs(30),
            tool_list: Duration::from_secs(2),
            handshake: Duration::from_secs(2),
        }
    }
}

impl Chain {
    /// A chain of `interceptors`, the one nearest to the client first.
    pub fn new(
        interceptors: impl IntoIterator<Item = Arc<dyn Interceptor>>,
        deadlines: Deadlines,
    ) -> Self {
        let stages = interceptors.into_iter().map(Stage::new).collect();
        Self { stages, deadlines, telemetry: Vec::new() }
    }

    /// The same; `telemetry` is told of what passes.
    #[must_use]
    pub fn telling(self, telemetry: Vec<Arc<dyn Telemetry>>) -> Self {
        Self { telemetry, ..self }
    }

    /// A call is answered.
    pub(crate) fn answered(&self, call: &Call, outcome: telemetry::Outcome) {
        self.telemetry.iter().for_each(|it| it.answered(call, outcome));
    }

    /// Tells of a hook that has failed, after which something passes as it came.
    fn fails_open(&self, stage: &Stage, hook: &str, call: &Call, why: &dyn Display) {
        events::hook_failed(stage.name(), hook, call, why);
        self.telemetry.iter().for_each(|it| it.failed_open(stage.name(), hook));
    }

    /// What becomes of a call about which an interceptor has not decided.
    fn without_verdict(&self, stage: &Stage, call: &Call, failure: &Failure) -> CallVerdict {
        if stage.must_see() || stage.owns(call) {
            events::own_call_failed(stage.name(), call, failure);
            CallVerdict::Answer(failure.result(call.tool().unwrap_or_default()))
        } else {
            self.fails_open(stage, "on_call", call, failure);
            CallVerdict::Forward
        }
    }

    /// True if nothing can ever be intercepted.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// True if some interceptor wants to see this.
    pub(crate) fn watches(&self, moment: &Moment<'_>) -> bool {
        self.stages.iter().any(|stage| stage.watches(moment))
    }

    /// True if some interceptor wants the arguments of a call to be remembered.
    pub(crate) fn remembers(&self, call: &Call) -> bool {
        self.stages.iter().any(|stage| stage.remembers(call))
    }

    /// Tells all interceptors of an answer.
    pub(crate) fn notice(&self, moment: &Moment<'_>, text: Option<&[u8]>) {
        self.stages.iter().for_each(|stage| stage.notice(moment, text));
    }

    /// Asks the interceptors about a call, one after the other, each for no longer than its deadline.
    /// `then` gets what they decide; `None` if the call was cancelled meanwhile.
    pub(crate) fn on_call(
        self: &Arc<Self>,
        call: Arc<Call>,
        params: Payload,
        ways: Ways,
        router: Router,
        then: impl FnOnce(Option<CallVerdict>) + Send + 'static,
    ) {
        let chain = self.clone();
        let asking = AskingAboutCall { chain, call, params, ways, router, is_new: false };
        asking.go_on(0, Box::new(then));
    }

    /// Decides about a call without asking anyone, because too many are being worked on.
    pub(crate) fn turn_away(&self, call: &Call, params: &Params<'_>) -> CallVerdict {
        for stage in self.stages.iter().filter(|stage| stage.watches(&Moment::Call(call, params))) {
            if let CallVerdict::Answer(json) = self.without_verdict(stage, call, &Failure::Busy) {
                return CallVerdict::Answer(call.era.completed(json));
            }
        }
        CallVerdict::Forward
    }

    /// The hook for such an answer, its name, and how long it may take.
    fn hook_for(&self, kind: SubjectKind) -> (AnswerHook, &'static str, Duration) {
        let Deadlines { result, tool_list, handshake, .. } = self.deadlines;
        match kind {
            SubjectKind::Result => {
                (|i, call, part, caller| i.on_result(call, part, caller), "on_result", result)
            }
            SubjectKind::ToolList => {
                (|i, call, part, _| i.on_tool_list(call, part), "on_tool_list", tool_list)
            }
            SubjectKind::Handshake => {
                (|i, call, part, _| i.on_handshake(call, part), "on_handshake", handshake)
            }
        }
    }

    /// Asks the interceptors about what an upstream sent. `then` gets what stands in its place; `None` if it
    /// stays as it is.
    pub(crate) fn on_answer(
        self: &Arc<Self>,
        subject: &Subject,
        original: Payload,
        ways: &Ways,
        then: impl FnOnce(Option<Payload>) + Send + 'static,
    ) {
        let Subject { kind, call, .. } = subject;
        let asking = AskingAboutAnswer {
            chain: self.clone(),
            call: call.clone(),
            kind: *kind,
            current: original,
            is_new: false,
            first: 0,
            back: Some(Back::of(ways)),
        };
        asking.go_on(self.stages.len(), Box::new(then));
    }
}

/// A call on its way through the chain.
struct AskingAboutCall {
    chain: Arc<Chain>,
    call: Arc<Call>,
    /// As they came, or as an interceptor has rewritten them.
    params: Payload,
    ways: Ways,
    router: Router,
    is_new: bool,
}

type AboutCall = Box<dyn FnOnce(Option<CallVerdict>) + Send>;

impl AskingAboutCall {
    /// Asks those from `first` on.
    fn go_on(self, first: usize, then: AboutCall) {
        let chain = self.chain.clone();
        let mut rest = chain.stages.iter().enumerate().skip(first);
        let is_watching = |(_, stage): &(usize, &Stage)| {
            stage.watches(&Moment::Call(&self.call, &Params::from(&self.params)))
        };
        let Some((place, stage)) = rest.find(is_watching) else {
            let rewritten = self.params.in_memory().filter(|_| self.is_new).map(<[u8]>::to_vec);
            return then(Some(rewritten.map_or(CallVerdict::Forward, CallVerdict::Rewrite)));
        };
        let caller = Caller::of(Origin {
            chain: chain.clone(),
            place,
            call: self.call.clone(),
            params: self.params.clone(),
            ways: self.ways.clone(),
            router: self.router.clone(),
            meta: OnceLock::new(),
        });
        self.call.on_cancel({
            let caller = caller.clone();
            move || caller.cancel()
        });
        let (call, params, told) = (self.call.clone(), self.params.clone(), caller.clone());
        stage.run(
            stage.patience(&call).unwrap_or(chain.deadlines.call),
            &call,
            &caller,
            |interceptor| interceptor.on_call(&call, &params, &told),
            move |outcome| self.decided(place, outcome, then),
        );
    }

    fn decided(mut self, place: usize, outcome: Outcome<CallVerdict>, then: AboutCall) {
        self.call.forget_hearers();
        let chain = self.chain.clone();
        let stage = &chain.stages[place];
        let verdict = match outcome {
            Outcome::Done(CallVerdict::Forward) => Ok(CallVerdict::Forward),
            Outcome::Done(CallVerdict::Rewrite(json)) => one_line(json).map(CallVerdict::Rewrite),
            Outcome::Done(CallVerdict::Answer(json)) => one_line(json).map(CallVerdict::Answer),
            Outcome::Done(CallVerdict::Result(json)) => one_line(json).map(CallVerdict::Result),
            Outcome::Done(CallVerdict::Refuse(refusal)) => Ok(CallVerdict::Refuse(refusal)),
            Outcome::Failed(failure) => Ok(chain.without_verdict(stage, &self.call, &failure)),
            Outcome::Cancelled => return then(None),
        };
        let verdict = verdict.unwrap_or_else(|error| {
            chain.without_verdict(stage, &self.call, &Failure::Erred(error.to_string()))
        });
        match verdict {
            CallVerdict::Forward => {}
            CallVerdict::Rewrite(json) => (self.params, self.is_new) = (json.into(), true),
            CallVerdict::Answer(json) => {
                return then(Some(CallVerdict::Answer(self.call.era.completed(json))));
            }
            CallVerdict::Result(json) => {
                let json = self.call.era.completed(json);
                return self.has_result(place, json, then);
            }
            CallVerdict::Refuse(refusal) => return then(Some(CallVerdict::Refuse(refusal))),
        }
        self.go_on(place + 1, then);
    }

    /// Takes a result that an interceptor has made through those behind it.
    fn has_result(self, place: usize, json: Vec<u8>, then: AboutCall) {
        let (chain, kind, first) = (self.chain, SubjectKind::Result, place + 1);
        if !self.call.is_inner() {
            let moment = Moment::Answer(kind, &self.call, json.len() as u64);
            chain.stages[first..].iter().for_each(|stage| stage.notice(&moment, Some(&json)));
        }
        let (current, end) = (json.clone().into(), chain.stages.len());
        let back = Some(Back::of(&self.ways));
        let call = self.call;
        let asking = AskingAboutAnswer { chain, call, kind, current, is_new: false, first, back };
        asking.go_on(
            end,
            Box::new(move |revised: Option<Payload>| {
                let revised = revised.as_ref().and_then(Payload::in_memory);
                then(Some(CallVerdict::Answer(revised.map_or(json, <[u8]>::to_vec))));
            }),
        );
    }
}

/// Something that an upstream sent, on its way through the chain.
struct AskingAboutAnswer {
    chain: Arc<Chain>,
    call: Arc<Call>,
    kind: SubjectKind,
    /// As it came, or what an interceptor has put in its place.
    current: Payload,
    is_new: bool,
    /// Those before this one are not asked.
    first: usize,
    /// The ways to whoever waits for it, if anyone can be reached.
    back: Option<Back>,
}

/// The ways from a hook that looks at an answer.
#[derive(Clone)]
struct Back {
    client: Arc<dyn ToClient>,
    sampling: Option<Sampling>,
}

impl Back {
    fn of(ways: &Ways) -> Self {
        Self { client: ways.client.clone(), sampling: ways.sampling.clone() }
    }
}

type AboutAnswer = Box<dyn FnOnce(Option<Payload>) + Send>;

impl AskingAboutAnswer {
    /// Asks those before `end`, the last first.
    fn go_on(self, end: usize, then: AboutAnswer) {
        let chain = self.chain.clone();
        let moment = Moment::Answer(self.kind, &self.call, self.current.bytes());
        let mut rest = chain.stages[..end].iter().enumerate().skip(self.first).rev();
        let Some((place, stage)) = rest.find(|(_, stage)| stage.watches(&moment)) else {
            return then(self.is_new.then_some(self.current));
        };
        let (hook, name, deadline) = chain.hook_for(self.kind);
        let (call, part) = (self.call.clone(), self.current.clone());
        let caller = match self.back.clone() {
            Some(Back { client, sampling }) => Caller::of_answer(&call, client, sampling),
            None => Caller::default(),
        };
        let told = caller.clone();
        stage.run(
            deadline,
            &call,
            &caller,
            |interceptor| hook(interceptor, &call, &part, &told),
            move |outcome| self.decided(place, name, outcome, then),
        );
    }

    fn decided(mut self, place: usize, hook: &str, outcome: Outcome<Verdict>, then: AboutAnswer) {
        let chain = self.chain.clone();
        let stage = &chain.stages[place];
        match outcome {
            Outcome::Done(Verdict::Replace(json)) => match one_line(json) {
                Ok(json) => (self.current, self.is_new) = (json.into(), true),
                Err(error) => chain.fails_open(stage, hook, &self.call, &error),
            },
            Outcome::Failed(failure) => chain.fails_open(stage, hook, &self.call, &failure),
            // There is nobody behind its caller who could cancel.
            Outcome::Done(Verdict::Pass) | Outcome::Cancelled => {}
        }
        self.go_on(place, then);
    }
}

/// What an error says, and what the errors behind it say.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let causes = iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

type AnswerHook = fn(&dyn Interceptor, &Call, &Payload, &Caller) -> Result<Verdict, HookError>;

/// Makes sure that what an interceptor gives is JSON that fits on one line.
fn one_line(mut json: Vec<u8>) -> Result<Vec<u8>, syntax::NotJson> {
    syntax::check(&json)?;
    // In valid JSON a line break is white space between tokens, never part of a string.
    for byte in &mut json {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    Ok(json)
}
