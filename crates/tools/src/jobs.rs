//! Calls that take long become jobs: the client gets a name to ask about, and the call goes on without it.
//!
//! [`Jobs`] stands in the chain right behind the tools. It makes the calls that the policy names (or that ask
//! for it with `job_after`) for the client; the interceptors behind see them as the client's own. What is
//! answered in time passes as it would have. What is not becomes a job on the [`Board`], where
//! `get_run_status` finds it.
//!
//! ```text
//! asked ─▶ awaited ─▶ board ─▶ ending        what is asked for, the wait, what runs, how it ended
//! told ◀─ status                             what is said of a job, and who asks
//! ```

mod asked;
mod awaited;
mod board;
mod claims;
mod ending;
mod running;
mod settings;
pub(crate) mod status;
mod told;

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use forebay_intercept::{Keeper, Policy};
use forebay_proxy::{
    body::Payload,
    chain::{
        CallFailure, CallVerdict, Caller, HookError, Interceptor, Moment, OfClient, Refusal,
        Verdict,
    },
    router::Router,
    session::{Call, Era, SubjectKind},
};
use forebay_store::{Job, JobProgress, Scope, Viewer};
use forebay_wire::{reply::CONNECTION_CLOSED, scan, walk};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use self::{
    asked::{Argument, Asked, Wish},
    awaited::{Awaited, Ended, Next},
    board::{Claimed, Mine, NotBegun},
    claims::Came,
    ending::Keeping,
    running::Running,
};
pub use self::{board::Board, settings::JobSettings};
use crate::{ToolError, events, parameters, reply::Reply};

/// The longest that a client may be kept waiting where no job can be begun: as long as it likes, nearly.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How often a call that cannot become a job tries again.
const TRIES_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// The extension of the protocol in which an upstream makes tasks of calls itself.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Makes jobs of calls that take long.
pub struct Jobs {
    board: Arc<Board>,
    policy: Policy,
    router: Router,
    keeping: Keeping,
    /// What clients call the tools that have a parameter `job_after` of their own.
    own: Mutex<HashSet<String>>,
    /// Whether the upstream makes tasks of calls itself.
    offers_tasks: AtomicBool,
}

impl Jobs {
    /// An interceptor for calls that become jobs as `policy` says. The keeper keeps results of jobs that are too
    /// long to be told.
    pub fn new(board: Arc<Board>, policy: Policy, router: Router, keeper: Arc<Keeper>) -> Self {
        let (own, offers_tasks) = (Mutex::default(), AtomicBool::new(false));
        let keeping = Keeping { keeper, on_failure: policy.on_store_failure };
        Self { board, policy, router, keeping, own, offers_tasks }
    }

    /// What a call wants of us.
    fn wish(&self, call: &Call, params: &[u8]) -> Result<Wish, ToolError> {
        if call.era == Era::Modern
            && self.offers_tasks.load(Ordering::Relaxed)
            && asked::takes_tasks(params)
        {
            return Ok(Wish::Pass);
        }
        let [name] = scan::members(params, ["name"]);
        // It may have been rewritten on the way.
        let Some(name) = name.and_then(scan::string) else { return Ok(Wish::Pass) };
        let (server, tool) = self.router.tool(&name);
        let is_ours = self.board.settings().argument && !self.own.lock().contains(&*name);
        let argument = if is_ours { Argument::Ours } else { Argument::NotOurs };
        let may_be_job = self.policy.may_keep(server.as_str(), &tool);
        let rule = self.policy.job_after(server.as_str(), &tool);
        let wish = asked::wish(params, argument, rule)?;
        Ok(match wish {
            Wish::Job(asked) if !may_be_job => asked.as_ordinary_call(params),
            wish => wish,
        })
    }

    /// A hash of what is being done, and for whom.
    fn work(&self, viewer: &Viewer, asked: &Asked) -> String {
        let (server, tool) = self.router.tool(&asked.name);
        let place = match viewer.scope {
            Scope::All => None,
            Scope::Project => viewer.project.as_deref().or(viewer.session.as_deref()),
            Scope::Session => viewer.session.as_deref(),
        };
        let (principal, place) = (viewer.principal.as_str(), place.unwrap_or_default());
        asked::work(&[principal, place, server.as_str(), &tool], &asked.arguments)
    }

    /// Makes the call, and waits for its answer as long as it may take.
    fn run(&self, call: &Call, caller: &Caller, asked: &Asked) -> Result<CallVerdict, HookError> {
        let viewer = self.policy.viewer(call);
        let work = self.work(&viewer, asked);
        let until = Instant::now() + asked.after.min(LONGEST);
        let mine = loop {
            match self.board.claim(&work, &viewer, asked.after) {
                Claimed::Mine(mine) => break mine,
                Claimed::Runs(job) => return Ok(self.again(&job)),
                Claimed::Full(limit) => {
                    let full = Reply::error(&self.board.full(limit));
                    return Ok(CallVerdict::Answer(full.into_json()));
                }
                Claimed::Others(claim) => match claim.wait(until, caller) {
                    Came::Job(job) => return Ok(self.again(&job)),
                    Came::Answer(outcome) => return verdict(outcome),
                    // Nobody waits for this verdict.
                    Came::Nothing if caller.is_cancelled() => return Ok(CallVerdict::Forward),
                    Came::Nothing => {}
                },
            }
        };
        self.work_on(call, caller, asked, &mine, until, |call| {
            let (server, _) = self.router.tool(&asked.name);
            board::job(&viewer, (server.as_str(), &asked.name), &work, call.asked_at)
        })
    }

    /// The job that does what a call asks for that is not to become one.
    fn that_does_the_same(&self, call: &Call, params: &[u8]) -> Option<Job> {
        let at_once = Some(Duration::ZERO);
        let Ok(Wish::Job(asked)) = asked::wish(params, Argument::Ours, at_once) else {
            return None;
        };
        self.board.running(&self.work(&self.policy.viewer(call), &asked))
    }

    fn again(&self, job: &Job) -> CallVerdict {
        CallVerdict::Answer(told::again(job, self.board.status_tool()))
    }

    /// Makes the call, which nobody else makes at this time.
    fn work_on(
        &self,
        call: &Call,
        caller: &Caller,
        asked: &Asked,
        mine: &Mine,
        mut until: Instant,
        job: impl Fn(&Call) -> Job,
    ) -> Result<CallVerdict, HookError> {
        let awaited = mine.awaited().clone();
        let of_client = self.call(caller, asked, &awaited);
        caller.on_cancel({
            let of_client = of_client.clone();
            move || of_client.cancel()
        });
        loop {
            // One that is to be a job at once is one, however soon it is answered.
            while Instant::now() < until {
                match awaited.next(until) {
                    Next::Progress(JobProgress { done, total, message }) => {
                        caller.progress(done, total, &message);
                    }
                    Next::Ended(ended) => return in_time(mine, ended),
                    Next::Late => break,
                }
            }
            match self.board.begin(job(call), of_client.clone()) {
                Ok(running) => return self.goes_on(call, asked, mine, &running),
                // The client waits on, as it would without us.
                Err(NotBegun::Full) => {}
                Err(NotBegun::Store(error)) => events::job_not_begun(call, &error),
            }
            until = Instant::now() + TRIES_AGAIN_AFTER;
        }
    }

    /// The call has become a job.
    fn goes_on(
        &self,
        call: &Call,
        asked: &Asked,
        mine: &Mine,
        running: &Arc<Running>,
    ) -> Result<CallVerdict, HookError> {
        let job = running.job();
        match mine.awaited().become_job(running) {
            Some(ended) if asked.after.is_zero() => {
                self.board.end(running, ending::of(running, ended, &self.keeping));
            }
            Some(ended) => {
                self.board.take_back(running);
                return in_time(mine, ended);
            }
            None => {}
        }
        mine.settle(Came::Job(Box::new(job.clone())));
        events::job_begun(call, &job.id);
        Ok(CallVerdict::Answer(told::begun(&job, asked.after, self.board.status_tool())))
    }

    fn call(&self, caller: &Caller, asked: &Asked, awaited: &Arc<Awaited>) -> OfClient {
        let progress = awaited.clone();
        let (ended, board, keeping) = (awaited.clone(), self.board.clone(), self.keeping.clone());
        caller.call_for_client(
            &asked.name,
            &asked.arguments,
            move |done, total, message| {
                progress.progressed(JobProgress { done, total, message: message.to_owned() });
            },
            move |call, outcome| {
                let over = Ended { call: call.clone(), outcome };
                if let Some((running, over)) = ended.ended(over) {
                    board.end(&running, ending::of(&running, over, &keeping));
                }
            },
        )
    }
}

impl Interceptor for Jobs {
    fn name(&self) -> &'static str {
        "jobs"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        match moment {
            Moment::Call(call, params) => {
                let is_named = || {
                    let tool = call.tool().unwrap_or_default();
                    self.policy.job_after(call.upstream.as_str(), tool).is_some()
                };
                let is_wished = || {
                    self.board.settings().argument
                        && (params.contains(asked::WRITTEN) || self.board.has_some())
                };
                !call.is_inner() && call.called().is_some() && (is_named() || is_wished())
            }
            Moment::Answer(SubjectKind::ToolList | SubjectKind::Handshake, ..) => true,
            Moment::Answer(SubjectKind::Result, ..) => false,
        }
    }

    fn patience(&self, _call: &Call) -> Option<Duration> {
        // A call that no job is made of is waited for as any other is.
        Some(2 * LONGEST)
    }

    fn on_call(
        &self,
        call: &Call,
        params: &Payload,
        caller: &Caller,
    ) -> Result<CallVerdict, HookError> {
        let params = params.to_vec()?;
        let wish = self.wish(call, &params);
        if matches!(wish, Ok(Wish::Pass | Wish::Rewrite(_)))
            && let Some(job) = self.that_does_the_same(call, &params)
        {
            return Ok(self.again(&job));
        }
        match wish {
            Ok(Wish::Pass) => Ok(CallVerdict::Forward),
            Ok(Wish::Rewrite(params)) => Ok(CallVerdict::Rewrite(params)),
            Ok(Wish::Job(asked)) => self.run(call, caller, &asked),
            Err(error) => Ok(CallVerdict::Answer(Reply::error(&error.told()).into_json())),
        }
    }

    /// A tool whose call may become a job cannot promise its output; and it gains the argument, if there is one.
    fn on_tool_list(&self, _call: &Call, list: &Payload) -> Result<Verdict, HookError> {
        let list = list.to_vec()?;
        let [tools] = scan::members(&list, ["tools"]);
        let argument = self.board.settings().argument;
        let mut edits = Vec::new();
        for definition in tools.and_then(walk::elements).into_iter().flatten() {
            let Some(called) = parameters::name(definition) else { continue };
            let (server, tool) = self.router.tool(&called);
            let is_named = self.policy.job_after(server.as_str(), &tool).is_some();
            let may_be_job = self.policy.may_keep(server.as_str(), &tool);
            if !(is_named || argument && may_be_job) {
                continue;
            }
            let schema = parameters::schema(definition);
            let has_own = schema["properties"].get(asked::JOB_AFTER).is_some();
            if has_own {
                self.own.lock().insert(called);
            }
            let gains = argument && !has_own;
            let ours = if gains { asked::schema() } else { Map::new() };
            let start = definition.as_ptr().addr() - list.as_ptr().addr();
            let changed = parameters::added(definition, &ours);
            edits.push((start..start + definition.len(), changed));
        }
        let mut changed = list.clone();
        // From the end, so that what stands before keeps its place.
        for (span, definition) in edits.into_iter().rev() {
            changed.splice(span, definition);
        }
        Ok(if changed == list { Verdict::Pass } else { Verdict::Replace(changed) })
    }

    fn on_handshake(&self, call: &Call, result: &Payload) -> Result<Verdict, HookError> {
        // In the legacy era each call says whether it is to be a task.
        if call.era != Era::Modern {
            return Ok(Verdict::Pass);
        }
        let said: Value = serde_json::from_reader(result.reader())?;
        let offers = said["capabilities"]["extensions"].get(TASKS).is_some();
        self.offers_tasks.store(offers, Ordering::Relaxed);
        Ok(Verdict::Pass)
    }
}

/// What the client gets of a call that was answered in time; so do all who have asked for the same.
fn in_time(mine: &Mine, Ended { outcome, .. }: Ended) -> Result<CallVerdict, HookError> {
    mine.settle(match &outcome {
        Err(CallFailure::Cancelled) => Came::Nothing,
        outcome => Came::Answer(outcome.clone()),
    });
    verdict(outcome)
}

fn verdict(outcome: Result<Payload, CallFailure>) -> Result<CallVerdict, HookError> {
    Ok(match outcome {
        Ok(result) => CallVerdict::Answer(result.to_vec()?),
        Err(CallFailure::Refused(refusal)) => CallVerdict::Refuse(refusal),
        Err(failure) => CallVerdict::Refuse(Refusal {
            code: CONNECTION_CLOSED,
            message: failure.to_string(),
            data: None,
        }),
    })
}
