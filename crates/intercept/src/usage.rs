//! Counts what passes, and has the counts written down now and then, with what has happened lately.
//!
//! Counting is done in memory, on the relay's own thread. What has been counted is written a moment
//! after each capture, when its summary is on its way, some seconds after anything else, and when the
//! session is over; so a process that is killed loses the last seconds' counts at most. A captured
//! result counts by itself: whoever finds it counts it.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    thread,
    time::Duration,
};

use parking_lot::{Condvar, Mutex, MutexGuard};

use forebay_proxy::{
    chain::HookError,
    router::UpstreamName,
    session::Call,
    telemetry::{self, Telemetry},
};
use forebay_store::{
    Counts, DEFINITION_TOKENS, DatasetId, Event, Noted, Outcome, Passed, Question, REPLY_TOKENS,
    SizeClass, Tally,
};
use jiff::Timestamp;

use crate::{ReplyIfPassed, events};

/// How long counts wait for others to be written with.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same if a result has been captured: others may follow at once.
const MOMENT: Duration = Duration::from_millis(5);

/// The counts of a session.
pub struct Usage(Arc<Shared>);

struct Shared {
    pending: Mutex<Pending>,
    changed: Condvar,
    /// Writes counts, by upstream and tool, and whatever else is due. Locked until they are written, so
    /// that whoever comes second waits for it.
    write: Mutex<Box<Write>>,
}

type Write = dyn FnMut(&[Passed<'_>], &Noted) -> Result<(), HookError> + Send;

/// How many calls, and how many questions, wait to be written at most; the oldest are let go.
const MAX_NOTED: usize = 1_000;
/// How much of a question is noted.
const MAX_QUESTION_CHARS: usize = 2_000;
/// Those of a tool, by how long its results are.
type BySize = [Counts; SizeClass::ALL.len()];

/// What has been counted and not been written.
#[derive(Default)]
struct Pending {
    // An entry stays when it has been written: counting a known tool allocates nothing.
    counts: HashMap<UpstreamName, HashMap<String, BySize>>,
    seen: VecDeque<Seen>,
    questions: VecDeque<Question>,
    tallies: HashMap<(String, &'static str), u64>,
    is_waiting: bool,
    is_urgent: bool,
    is_over: bool,
}

/// A call that was answered. What is noted of each costs next to nothing: the relay waits.
struct Seen {
    at: Timestamp,
    upstream: UpstreamName,
    tool: Option<Arc<str>>,
    client: Option<Arc<str>>,
    bytes: u64,
    took: Duration,
    outcome: Outcome,
    why: Why,
    dataset: Option<DatasetId>,
}

/// Why a result was kept, or not.
#[derive(Debug, Clone)]
pub(crate) enum Why {
    /// It is too large.
    TooLarge,
    /// Somebody reads it.
    Read,
    /// It is short.
    Short,
    /// Results of this tool are never kept.
    Never,
    /// It is an error.
    Error,
    /// The same was asked before.
    Known,
    /// It could not be kept.
    NotKept(String),
}

impl Why {
    fn told(&self) -> String {
        match self {
            Self::TooLarge => "too large for the model".to_owned(),
            Self::Read => "read by a model".to_owned(),
            Self::Short => "short enough".to_owned(),
            Self::Never => "never kept, by rule or because it draws its own view".to_owned(),
            Self::Error => "an error of the server's".to_owned(),
            Self::Known => "the same call as before".to_owned(),
            Self::NotKept(why) => format!("could not be kept: {why}"),
        }
    }
}

impl Seen {
    fn event(&self) -> Event {
        let text = |text: &Option<Arc<str>>| text.as_deref().unwrap_or_default().to_owned();
        Event {
            at: self.at,
            server: self.upstream.as_str().to_owned(),
            tool: text(&self.tool),
            client: text(&self.client),
            bytes: self.bytes,
            millis: u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            outcome: self.outcome,
            why: self.why.told(),
            dataset: self.dataset.clone(),
        }
    }
}

/// Counts that are about to be written.
struct Taken {
    upstream: UpstreamName,
    tool: String,
    size: SizeClass,
    counts: Counts,
}

impl Taken {
    fn passed(&self) -> Passed<'_> {
        let (server, tool) = (self.upstream.as_str(), self.tool.as_str());
        Passed { server, tool, size: self.size, counts: self.counts }
    }
}

impl Usage {
    /// Counts that are handed to `write` by upstream, tool and size, to be added to those before, with what
    /// has happened meanwhile. It is called, even without any, when a result has been captured, and not
    /// before there is something to write.
    pub fn new(
        write: impl FnMut(&[Passed<'_>], &Noted) -> Result<(), HookError> + Send + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            pending: Mutex::default(),
            changed: Condvar::new(),
            write: Mutex::new(Box::new(write)),
        });
        let writer = shared.clone();
        // Without the thread, counts wait for the next capture or the end.
        let _ = thread::Builder::new()
            .name("usage".to_owned())
            .spawn(move || writer.write_now_and_then());
        Self(shared)
    }

    /// Writes what has been counted; returns when it is written, or could not be.
    pub fn write_down(&self) {
        self.0.write_down();
    }

    /// Counts a result.
    pub(crate) fn saw(&self, call: &Call, bytes: u64) {
        self.count(call, Counts { results: 1, bytes, ..Counts::default() });
    }

    /// Has all that is due written in a moment: a result has been captured.
    pub(crate) fn write_soon(&self) {
        let mut pending = self.0.pending();
        (pending.is_waiting, pending.is_urgent) = (true, true);
        self.0.changed.notify_one();
    }

    /// Counts a result that was given again.
    pub fn gave_again(&self, call: &Call) {
        self.count(call, Counts { cached: 1, ..Counts::default() });
        self.became(call, 0, Outcome::Again, Why::Known, None);
    }

    /// Notes what became of a result. What an injected tool replied is counted if it passed: of what was kept, the
    /// summary is.
    pub(crate) fn became(
        &self,
        call: &Call,
        bytes: u64,
        outcome: Outcome,
        why: Why,
        dataset: Option<DatasetId>,
    ) {
        let seen = Seen {
            at: Timestamp::now(),
            upstream: call.upstream.clone(),
            tool: call.shared_tool(),
            client: call.client.clone(),
            bytes,
            took: call.asked_at.elapsed(),
            outcome,
            why,
            dataset,
        };
        let reply = match outcome {
            Outcome::Passed | Outcome::Failed => call.noted::<ReplyIfPassed>(),
            Outcome::Kept | Outcome::Again => None,
        };
        let mut pending = self.0.pending();
        push(&mut pending.seen, seen);
        if let Some(reply) = reply {
            pending.count_reply(reply.tool, reply.tokens);
        }
        self.0.wake(&mut pending);
    }

    /// Counts what an injected tool has replied.
    pub fn replied(&self, tool: &'static str, tokens: u64) {
        let mut pending = self.0.pending();
        pending.count_reply(tool, tokens);
        self.0.wake(&mut pending);
    }

    /// Notes of which datasets a tool was asked, and what.
    pub fn asked(&self, call: &Call, tool: &str, what: &str, datasets: &[DatasetId]) {
        if datasets.is_empty() {
            return;
        }
        let what: String = what.chars().take(MAX_QUESTION_CHARS).collect();
        let client = call.client.as_deref().unwrap_or_default();
        let mut pending = self.0.pending();
        for dataset in datasets {
            let (dataset, at) = (dataset.clone(), Timestamp::now());
            let (tool, client, what) = (tool.to_owned(), client.to_owned(), what.clone());
            push(&mut pending.questions, Question { dataset, at, tool, client, what });
        }
        self.0.wake(&mut pending);
    }

    /// Counts the definitions of injected tools, which were listed.
    pub fn offered(&self, tokens: u64) {
        let mut pending = self.0.pending();
        *pending.tallies.entry(("tools/list".to_owned(), DEFINITION_TOKENS)).or_default() += tokens;
        self.0.wake(&mut pending);
    }

    /// Counts what was kept out of a list of tools.
    pub fn listed(&self, call: &Call, counts: Counts) {
        self.count_as(call, &call.method, counts);
    }

    fn count(&self, call: &Call, counts: Counts) {
        if let Some(tool) = call.tool() {
            self.count_as(call, tool, counts);
        }
    }

    fn count_as(&self, call: &Call, tool: &str, counts: Counts) {
        let mut pending = self.0.pending();
        pending.add(&call.upstream, tool, SizeClass::of(counts.bytes), counts);
        self.0.wake(&mut pending);
    }
}

/// What the relay tells of errors: whatever else an upstream answers is seen as a result.
impl Telemetry for Usage {
    fn answered(&self, call: &Call, outcome: telemetry::Outcome) {
        match outcome {
            telemetry::Outcome::Error if call.tool().is_some() => {
                self.became(call, 0, Outcome::Failed, Why::Error, None);
            }
            // An upstream need not know all that it is asked, such as `server/discover`.
            telemetry::Outcome::Error | telemetry::Outcome::Result => {}
        }
    }
}

/// Adds what is new, and lets go of what has waited longest if there is too much.
fn push<T>(all: &mut VecDeque<T>, new: T) {
    if all.len() >= MAX_NOTED {
        all.pop_front();
    }
    all.push_back(new);
}

impl Drop for Usage {
    fn drop(&mut self) {
        self.0.pending().is_over = true;
        self.0.changed.notify_one();
    }
}

impl Shared {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock()
    }

    /// Has something written some seconds from now.
    fn wake(&self, pending: &mut Pending) {
        if !pending.is_waiting {
            pending.is_waiting = true;
            self.changed.notify_one();
        }
    }

    /// The thread that writes when nobody else does; it sleeps until there is something to write.
    fn write_now_and_then(&self) {
        loop {
            let idle = |pending: &mut Pending| !pending.is_waiting && !pending.is_over;
            let mut pending = self.pending();
            self.changed.wait_while(&mut pending, idle);
            let going_on = |pending: &mut Pending| !pending.is_over && !pending.is_urgent;
            self.changed.wait_while_for(&mut pending, going_on, PATIENCE);
            let (is_over, is_urgent) = (pending.is_over, pending.is_urgent);
            drop(pending);
            if is_urgent && !is_over {
                thread::sleep(MOMENT);
            }
            self.write_down();
            if is_over {
                return;
            }
        }
    }

    fn write_down(&self) {
        let mut write = self.write.lock();
        let mut pending = self.pending();
        let taken = pending.take();
        let noted = pending.take_noted();
        let is_urgent = std::mem::take(&mut pending.is_urgent);
        drop(pending);
        if taken.is_empty() && noted.is_empty() && !is_urgent {
            return;
        }
        let passed: Vec<Passed<'_>> = taken.iter().map(Taken::passed).collect();
        if let Err(error) = write(&passed, &noted) {
            // To be tried again with the next ones. What happened is told once, or not at all.
            let mut pending = self.pending();
            for Taken { upstream, tool, size, counts } in &taken {
                pending.add(upstream, tool, *size, *counts);
            }
            events::counts_not_written(&error);
        }
    }
}

impl Pending {
    fn count_reply(&mut self, tool: &str, tokens: u64) {
        *self.tallies.entry((tool.to_owned(), REPLY_TOKENS)).or_default() += tokens;
    }

    fn add(&mut self, upstream: &UpstreamName, tool: &str, size: SizeClass, counts: Counts) {
        if let Some(known) = self.counts.get_mut(upstream).and_then(|tools| tools.get_mut(tool)) {
            known[size.index()] += counts;
        } else {
            let mut by_size = BySize::default();
            by_size[size.index()] = counts;
            self.counts.entry(upstream.clone()).or_default().insert(tool.to_owned(), by_size);
        }
    }

    /// What has happened since it was last asked.
    fn take_noted(&mut self) -> Noted {
        let tallies = self.tallies.drain().map(|((subject, what), count)| Tally {
            subject,
            what: what.to_owned(),
            count,
        });
        Noted {
            tallies: tallies.collect(),
            events: self.seen.drain(..).map(|seen| seen.event()).collect(),
            questions: self.questions.drain(..).collect(),
        }
    }

    fn take(&mut self) -> Vec<Taken> {
        self.is_waiting = false;
        let mut taken = Vec::new();
        for (upstream, tools) in &mut self.counts {
            for (tool, by_size) in tools {
                for (size, counts) in SizeClass::ALL.into_iter().zip(by_size) {
                    if *counts != Counts::default() {
                        let (upstream, tool) = (upstream.clone(), tool.clone());
                        let counts = std::mem::take(counts);
                        taken.push(Taken { upstream, tool, size, counts });
                    }
                }
            }
        }
        taken
    }
}
