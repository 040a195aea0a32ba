//! The five stages, in their order: detect → capture → profile → summarise → replace.
//!
//! Hop 5 of a result's way. A result that is too large for the model is written to the store,
//! looked through once (by [`forebay_records`]), and replaced by a summary that names where the whole is kept. Whatever goes
//! wrong on the way, the original passes: the chain sees to that. Only a policy can ask for an error
//! instead.

mod arguments;
mod binary;
mod capture;
mod detect;
mod events;
mod file;
mod linked;
mod links;
mod places;
mod policy;
mod progress;
mod reader;
mod refuse;
mod replace;
mod restore;
mod result;
mod same;
mod save;
mod stopwatch;
mod summarise;
mod unescape;
mod usage;
mod widen;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    io,
    sync::Arc,
    time::Instant,
};

use parking_lot::Mutex;

use forebay_proxy::{
    body::Payload,
    chain::{Caller, HookError, Interceptor, Moment, Verdict},
    router::{Router, UpstreamName},
    session::{Call, SubjectKind},
    telemetry::Telemetry,
};
use forebay_records::{Profile, both, tokens_up_to};
use forebay_store::{Dataset, DatasetId, Insight, Outcome, Shelf};
use serde_json::Value;

pub use arguments::{command_without_secrets, kept_arguments};
pub use capture::CaptureError;
pub use forebay_records::{Inference, Tokenizer};
pub use linked::{FILE_KEPT, files_table};
pub use links::{Links, Outputs};
pub use policy::{
    CLIENT_LIMITS, Caching, ClientLimit, Clients, DEFAULT_THRESHOLD, FilePolicy, Glob, Keeping,
    OnStoreFailure, OutputSchema, Policy, References, Takes, ToolRule, When, known_clients,
};
pub use reader::{Asked, Reader, Reading};
pub use restore::restore;
pub use save::{Named, save, save_text};
pub use usage::Usage;

use crate::{
    capture::{Captured, Of},
    detect::Weight,
    linked::{Linked, Linker},
    places::Place,
    policy::Limit,
    progress::Steps,
    replace::Replacement,
    result::{Fate, ToolResult},
    stopwatch::Stopwatch,
    summarise::{Afterwards, Room, Summary, findings},
};

/// Whoever goes on with a result that has been kept.
pub trait AfterCapture: Send + Sync {
    /// What a summary says can be done with what was kept.
    fn advice(&self) -> String;

    /// Hears that a result has been kept, right before its summary goes out. Must be quick.
    fn kept(&self, dataset: &Dataset);
}

/// The datasets that the arguments of a call were made from: noted about a call, to be kept with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeFrom(pub Vec<String>);

/// Noted about a call whose result is made of what is never kept: it is not kept either, whatever the policy says of
/// its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeverKept;

/// Noted about a call whose result an injected tool has made: what it replies to the model if the result passes as it
/// is. A result that is kept has a summary in its place, which is counted as that of any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyIfPassed {
    /// The tool.
    pub tool: &'static str,
    /// How many tokens it has.
    pub tokens: u64,
}

/// What the result of a call was kept as: noted about it when that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAs(pub DatasetId);

/// Payloads shorter than this are looked at and written sooner than a thread is started.
const MIN_ASIDE_BYTES: usize = 32 * 1024;

/// What stands in the place of a result that is kept to be read has at most one token for so many of its
/// own.
const TOKENS_FOR_ONE: u64 = 4;
/// What a reader says of a result that is too large may have so many tokens.
const MAX_FINDING_TOKENS: u64 = 400;

/// Keeps large results.
pub struct Keeper {
    shelf: Arc<Shelf>,
    policy: Policy,
    router: Router,
    usage: Arc<Usage>,
    after_capture: Option<Arc<dyn AfterCapture>>,
    reader: Option<Arc<dyn Reader>>,
    links: Links,
    telemetry: Vec<Arc<dyn Telemetry>>,
    /// Tools that draw an interface of their own from their result, as the lists of tools of each upstream
    /// say.
    exempt: Mutex<HashMap<UpstreamName, HashSet<String>>>,
}

impl Keeper {
    /// An interceptor that keeps results on `shelf` as `policy` says, and counts all in `usage`. The router
    /// knows whose the tools in a list are.
    pub fn new(shelf: Arc<Shelf>, policy: Policy, router: Router, usage: Arc<Usage>) -> Self {
        let (after_capture, telemetry, exempt) = (None, Vec::new(), Mutex::default());
        let (reader, links) = (None, Links::default());
        Self { shelf, policy, router, usage, after_capture, reader, links, telemetry, exempt }
    }

    /// The same; `telemetry` is told of what is kept.
    #[must_use]
    pub fn telling(self, telemetry: Vec<Arc<dyn Telemetry>>) -> Self {
        Self { telemetry, ..self }
    }

    /// The same, which gives these links to what it keeps.
    #[must_use]
    pub fn linking(self, links: Links) -> Self {
        Self { links, ..self }
    }

    /// The same, with something that comes after each result.
    #[must_use]
    pub fn followed_by(self, after_capture: Arc<dyn AfterCapture>) -> Self {
        Self { after_capture: Some(after_capture), ..self }
    }

    /// The same, with someone who reads what is kept.
    #[must_use]
    pub fn read_by(self, reader: Arc<dyn Reader>) -> Self {
        Self { reader: Some(reader), ..self }
    }

    /// True if somebody reads a result of so many bytes.
    fn is_read(&self, bytes: u64) -> bool {
        self.reader.as_ref().is_some_and(|reader| bytes > reader.threshold_bytes())
    }

    /// True if somebody reads a result that is not too large.
    fn is_worth_reading(&self, result: &ToolResult, limit: Limit) -> bool {
        limit != Limit::Never
            && !result.is_error
            && result.has_payload()
            && self.is_read(bytes_to_read(result))
    }

    /// What a result of `call` may have before it is kept.
    fn limit(&self, call: &Call) -> Limit {
        let exempt = self.exempt.lock();
        let is_exempt = |tool| exempt.get(&call.upstream).is_some_and(|tools| tools.contains(tool));
        match call.tool() {
            Some(tool) if !is_exempt(tool) && call.noted::<NeverKept>().is_none() => {
                let (server, client) = (call.upstream.as_str(), call.client.as_deref());
                self.policy.limit_for(server, tool, client)
            }
            _ => Limit::Never,
        }
    }

    /// Remembers that a result of so many bytes has become a dataset, and why.
    fn note_kept(&self, call: &Call, dataset: &Dataset, bytes: u64, why: Why) {
        call.note(KeptAs(dataset.id().clone()));
        let why = match why {
            Why::TooLarge => usage::Why::TooLarge,
            Why::ToBeRead => usage::Why::Read,
        };
        self.usage.became(call, bytes, Outcome::Kept, why, Some(dataset.id().clone()));
        self.usage.write_soon();
    }

    /// Keeps a result and gives what is to stand in its place; `None` if that would be no shorter than a
    /// result that is not too large.
    fn keep(
        &self,
        call: &Call,
        result: &ToolResult,
        weight: Weight,
        waiting: &Waiting<'_>,
        watch: &mut Stopwatch,
    ) -> Result<Option<Vec<u8>>, CaptureError> {
        let mut steps = Steps::new(waiting.caller, weight.bytes);
        watch.next("take out");
        steps.next("Keeping the result");
        let store = self.shelf.store()?;
        let mut captured = capture::take(result, &store)?;
        watch.next("profile, count and write");
        steps.next("Looking through the result");
        let is_long = captured.bytes() >= MIN_ASIDE_BYTES;
        let Captured { payloads, files } = &mut captured;
        let ((written, tokens), profile) = both(
            is_long,
            || (files.write(result, payloads), self.policy.tokenizer.about_all(payloads)),
            || {
                let is_of_texts = !payloads.is_empty();
                is_of_texts
                    .then(|| forebay_records::profile(payloads, self.policy.schema_inference))
            },
        );
        written?;
        let profile = profile.transpose()?;
        let places = captured.take_places();
        let tokens = tokens + result.tokens_of_files(self.policy.tokenizer)?;
        watch.next("summarise");
        steps.next("Summing up the result");
        let viewer = self.policy.viewer(call);
        let payload = profile
            .as_ref()
            .filter(|_| self.is_read(bytes_to_read(result)))
            .map(|profile| captured.payloads.swap_remove(profile.payload));
        let mut finished =
            captured.finish(&Of::call(call), profile.as_ref(), weight, Some(tokens), &viewer)?;
        let advice = self.after_capture.as_ref().map(|after_capture| after_capture.advice());
        let afterwards = self.afterwards(advice.as_deref(), result);
        let (links, policy) = (&self.links, &self.policy);
        let linker = Linker { links, policy, store: &store, viewer: &viewer, afterwards };
        let summary = profile.as_ref().map(|profile| (finished.dataset(), profile));
        let mut for_programs = None;
        let (summary, reading) = match (summary, &payload) {
            (Some((dataset, profile)), Some(payload)) => {
                watch.next("read");
                let reading = self.reader.as_ref().map_or_else(Reading::nothing, |reader| {
                    let Waiting { caller, arrived, .. } = *waiting;
                    let viewer = &viewer;
                    reader.read(&Asked { call, caller, arrived, viewer, dataset, profile, payload })
                });
                watch.next("summarise");
                let link = linker.of_main(call, dataset);
                let (why, places) = (waiting.why, &places);
                let read = Read { result, places, dataset, profile, link, why };
                let written = self.summary_with(reading.insight.as_ref(), &read, afterwards)?;
                let Some(written) = written else { return Ok(None) };
                for_programs = written.for_programs;
                (Some(written.summary), Some(reading))
            }
            (Some((dataset, profile)), None) => {
                (Some(summarise::of(dataset, profile, &self.policy, afterwards)), None)
            }
            (None, _) => (None, None),
        };
        let told = match &summary {
            Some(summary) => Cow::Borrowed(summary.text.as_str()),
            None if tokens > 0 => linked::note(finished.dataset(), &places, afterwards).into(),
            // Nothing counts that was kept out, nor what is said of it.
            None => Cow::Borrowed(""),
        };
        let for_programs_tokens = for_programs.as_ref().map_or(0, |it: &ForPrograms| it.tokens);
        let summary_tokens = forebay_records::tokens(&told) + for_programs_tokens;
        if waiting.why == Why::ToBeRead && summary_tokens >= tokens {
            return Ok(None);
        }
        finished.set_summary(&told, summary_tokens);
        watch.next("commit");
        // The catalog is written when the summary is on its way.
        let dataset = finished.commit_and_enter_later()?;
        if let Some(Reading { then, .. }) = reading {
            then(&dataset);
        }
        self.note_kept(call, &dataset, weight.bytes, waiting.why);
        watch.next("link and replace");
        let files = linker.of_files(call, &places, &dataset)?;
        let link = summary.as_ref().and_then(|_| linker.of_main(call, &dataset));
        events::result_kept(call, dataset.id(), result.whole.bytes(), tokens);
        let (bytes, kept_out) = (dataset.metadata().bytes(), tokens.saturating_sub(summary_tokens));
        self.telemetry.iter().for_each(|it| it.kept(call, bytes, kept_out));
        if let Some(after_capture) = &self.after_capture {
            after_capture.kept(&dataset);
            files.table.iter().for_each(|table| after_capture.kept(&table.dataset));
        }
        let replacement = Replacement {
            summary: summary.as_ref(),
            link: link.as_ref(),
            linked: &files,
            insight: for_programs.as_ref().map(|it| &it.insight),
        };
        let replacement = replace::result(result, replacement)?;
        watch.stop();
        Ok(Some(replacement))
    }

    /// What a summary of `result` says of what can be done with it.
    fn afterwards<'a>(&self, advice: Option<&'a str>, result: &ToolResult) -> Afterwards<'a> {
        Afterwards {
            advice,
            compressed_after: self.shelf.retention().compress_after,
            is_structured: result.structured.is_some() && result.structured_fate == Fate::Apart,
            clients: self.policy.clients,
            opening: None,
            room: Room::default(),
        }
    }

    /// The summary of a result that was read, with what was said of it behind. What stands in the place of
    /// one that is not too large is shorter than it: what was said is told in words alone, or not at all, if
    /// the result would be longer by it than it was. `None` if the summary alone is no shorter.
    fn summary_with(
        &self,
        insight: Option<&Insight>,
        read: &Read<'_>,
        afterwards: Afterwards<'_>,
    ) -> Result<Option<Written>, CaptureError> {
        let written = self.written(insight, read, afterwards);
        if read.is_shortened_by(&written)? {
            return Ok(Some(written));
        }
        let in_words = Written { for_programs: None, ..written };
        if read.is_shortened_by(&in_words)? {
            return Ok(Some(in_words));
        }
        let alone = self.written(None, read, afterwards);
        Ok(read.is_shortened_by(&alone)?.then_some(alone))
    }

    fn written(
        &self,
        insight: Option<&Insight>,
        read: &Read<'_>,
        afterwards: Afterwards<'_>,
    ) -> Written {
        let room = match read.why {
            Why::TooLarge => None,
            Why::ToBeRead => Some(read.tokens() / TOKENS_FOR_ONE),
        };
        let most = room.map_or(MAX_FINDING_TOKENS, |room| (room / 2).min(MAX_FINDING_TOKENS));
        let found = insight.map(|insight| findings::within(insight, most));
        let text = found.as_ref().map(|found| found.text.as_str()).unwrap_or_default();
        let taken = forebay_records::tokens(text);
        let room =
            Room { tokens: room.map(|room| room.saturating_sub(taken)), taken_bytes: text.len() };
        let afterwards = Afterwards { room, ..afterwards };
        let mut summary = summarise::of(read.dataset, read.profile, &self.policy, afterwards);
        summary.text += text;
        // In `_meta`, and in structured content where there is some.
        let copies = if afterwards.is_structured { 2 } else { 1 };
        let for_programs = found.map(|found| ForPrograms::of(found.insight, copies));
        Written { summary, for_programs }
    }
}

/// A result that was read.
struct Read<'r> {
    result: &'r ToolResult,
    /// Where its files stand.
    places: &'r [Place],
    dataset: &'r Dataset,
    profile: &'r Profile,
    /// A link to its payload.
    link: Option<Value>,
    why: Why,
}

impl Read<'_> {
    fn tokens(&self) -> u64 {
        self.dataset.facts().tokens.unwrap_or_default()
    }

    /// True if what is to stand in its place is shorter, or need not be: what a model reads of it, and the
    /// whole as it is sent, in bytes and in tokens.
    fn is_shortened_by(&self, written: &Written) -> io::Result<bool> {
        // As much of the original as has more tokens than any summary, in memory at once.
        const ENOUGH_BYTES: u64 = 256 * 1024;
        let Written { summary, for_programs } = written;
        match self.why {
            Why::TooLarge => return Ok(true),
            Why::ToBeRead => {}
        }
        let tokens = for_programs.as_ref().map_or(0, |it| it.tokens);
        if forebay_records::tokens(&summary.text) + tokens >= self.tokens() {
            return Ok(false);
        }
        let sent = Replacement {
            summary: Some(summary),
            link: self.link.as_ref(),
            linked: &Linked::unnamed(self.places),
            insight: for_programs.as_ref().map(|it| &it.insight),
        };
        let sent = replace::result(self.result, sent)?;
        let whole = self.result.whole.bytes();
        if sent.len() as u64 >= whole {
            return Ok(false);
        }
        let original = self.result.json_at(&(0..whole.min(ENOUGH_BYTES)))?;
        let tokens = forebay_records::tokens(&String::from_utf8_lossy(&sent));
        Ok(tokens_up_to(tokens, &String::from_utf8_lossy(&original)).is_none())
    }
}

/// A summary with what was said behind it.
struct Written {
    summary: Summary,
    for_programs: Option<ForPrograms>,
}

/// What was said, as programs are given it, and what that costs.
struct ForPrograms {
    insight: Insight,
    tokens: u64,
}

impl ForPrograms {
    fn of(insight: Insight, copies: u8) -> Self {
        let json = findings::object(&insight).to_string();
        Self { tokens: forebay_records::tokens(&json) * u64::from(copies), insight }
    }
}

/// Who waits for a result that is kept, and why it is.
struct Waiting<'w> {
    caller: &'w Caller,
    arrived: Instant,
    why: Why,
}

/// Why a result is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It is too large, or has files that are, or whoever called wants it kept.
    TooLarge,
    /// Somebody reads it.
    ToBeRead,
}

impl Keeper {
    /// Keeps a result however short it is, and gives what is to stand in its place; what the result was kept
    /// as is noted about the call. `None` if results of that tool are never kept, or if there is nothing in
    /// it. Whether the tool draws an interface of its own makes no difference: nobody waits who would show it.
    pub fn keep_all_of(
        &self,
        call: &Call,
        payload: &Payload,
    ) -> Result<Option<Vec<u8>>, HookError> {
        let (server, client) = (call.upstream.as_str(), call.client.as_deref());
        let limit = call.tool().map(|tool| self.policy.limit_for(server, tool, client));
        if limit.is_none_or(|limit| limit == Limit::Never) {
            return Ok(None);
        }
        let mut result = ToolResult::read(payload)?;
        result.find_all_files(&self.policy.files)?;
        if !result.has_payload() && !result.has_files() {
            return Ok(None);
        }
        let weight = Weight { bytes: payload.bytes() };
        let mut watch = Stopwatch::start("read");
        // Whoever made the call does not wait for this.
        let nobody = Caller::default();
        let waiting = Waiting { caller: &nobody, arrived: Instant::now(), why: Why::TooLarge };
        Ok(self.keep(call, &result, weight, &waiting, &mut watch)?)
    }
}

impl Interceptor for Keeper {
    fn name(&self) -> &'static str {
        "keeper"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        match moment {
            Moment::Call(..) => false,
            // What a hook has asked for does not go to the model.
            Moment::Answer(SubjectKind::Result, call, bytes) => {
                let limit = self.limit(call);
                !call.is_inner()
                    && limit != Limit::Never
                    && (limit.may_be_over(*bytes)
                        || self.policy.files.may_be_over(*bytes)
                        || self.is_read(*bytes))
            }
            Moment::Answer(SubjectKind::ToolList, ..) => true,
            Moment::Answer(SubjectKind::Handshake, ..) => false,
        }
    }

    fn notices(&self, moment: &Moment<'_>, text: Option<&[u8]>) {
        if let Moment::Answer(SubjectKind::Result, call, bytes) = moment {
            self.usage.saw(call, *bytes);
            // What becomes of the others is seen when they have been looked at.
            if call.tool().is_some() && !call.is_inner() && !self.watches(moment) {
                let (outcome, why) = if text.is_some_and(detect::says_error) {
                    (Outcome::Failed, usage::Why::Error)
                } else if self.limit(call) == Limit::Never {
                    (Outcome::Passed, usage::Why::Never)
                } else {
                    (Outcome::Passed, usage::Why::Short)
                };
                self.usage.became(call, *bytes, outcome, why, None);
            }
        }
    }

    fn remembers(&self, call: &Call) -> bool {
        self.policy.keep_arguments && self.limit(call) != Limit::Never
    }

    fn on_result(
        &self,
        call: &Call,
        payload: &Payload,
        caller: &Caller,
    ) -> Result<Verdict, HookError> {
        let arrived = Instant::now();
        let mut watch = Stopwatch::start("read");
        let limit = self.limit(call);
        let mut result = ToolResult::read(payload)?;
        watch.next("detect");
        if limit != Limit::Never {
            result.find_files(&self.policy.files)?;
        }
        let whole = Weight { bytes: payload.bytes() };
        let (weight, why) = match detect::oversized(&result, call, limit, self.policy.tokenizer)? {
            Some(weight) => (weight, Why::TooLarge),
            None if self.is_worth_reading(&result, limit) => (whole, Why::ToBeRead),
            None if result.has_files() => {
                result.leave_texts();
                (whole, Why::TooLarge)
            }
            None => {
                let (outcome, why) = if result.is_error {
                    (Outcome::Failed, usage::Why::Error)
                } else {
                    (Outcome::Passed, usage::Why::Short)
                };
                self.usage.became(call, whole.bytes, outcome, why, None);
                return Ok(Verdict::Pass);
            }
        };
        let waiting = Waiting { caller, arrived, why };
        let kept = self.keep(call, &result, weight, &waiting, &mut watch);
        match &kept {
            Ok(Some(_)) => {}
            Ok(None) => {
                let why = usage::Why::Short;
                self.usage.became(call, weight.bytes, Outcome::Passed, why, None);
            }
            Err(error) => {
                let why = usage::Why::NotKept(error.to_string());
                self.usage.became(call, weight.bytes, Outcome::Failed, why, None);
            }
        }
        match (kept, self.policy.on_store_failure) {
            (Ok(None), _) => Ok(Verdict::Pass),
            // Without somebody who reads it, it would have passed.
            (Err(error), _) if why == Why::ToBeRead => Err(error.into()),
            (Ok(Some(replacement)), _) => {
                events::stages(call, weight.bytes, &watch);
                Ok(Verdict::Replace(replacement))
            }
            (Err(error), OnStoreFailure::Pass) => Err(error.into()),
            (Err(error), OnStoreFailure::Error) => {
                let (clients, home) = (self.policy.clients, self.shelf.home());
                Ok(Verdict::Replace(refuse::result(call, weight, &error, clients, home)))
            }
        }
    }

    fn on_tool_list(&self, _call: &Call, list: &Payload) -> Result<Verdict, HookError> {
        let list = list.to_vec()?;
        let mut all_exempt = self.exempt.lock();
        for called in replace::tools_with_interface(&list) {
            let (upstream, tool) = self.router.tool(&called);
            all_exempt.entry(upstream).or_default().insert(tool.to_string());
        }
        let may_be_replaced = |called: &str| {
            let (upstream, tool) = self.router.tool(called);
            let is_exempt = all_exempt.get(&upstream).is_some_and(|it| it.contains(&*tool));
            !is_exempt && self.policy.may_keep(upstream.as_str(), &tool)
        };
        let changed = replace::tool_list(&list, self.policy.output_schema, may_be_replaced);
        Ok(changed.map_or(Verdict::Pass, Verdict::Replace))
    }
}

/// How many bytes of a result there are to be read. Text and structured content hold the same data as a rule: the
/// longer of the two counts.
fn bytes_to_read(result: &ToolResult) -> u64 {
    let structured: u64 = result.structured_pieces().map(|piece| piece.end - piece.start).sum();
    structured.max(result.readable_bytes().saturating_sub(structured))
}

#[cfg(test)]
mod tests;
