//! The five stages, in their order: detect → capture → profile → summarise → replace.
//!
//! Hop 5 of a result's way. A result that is too large for the model is written to the store,
//! looked through once (by [`forebay_records`]), and replaced by a summary that names where the whole is kept. Whatever goes
//! wrong on the way, the original passes: the chain sees to that. Only a policy can ask for an error
//! instead.

mod arguments;
mod capture;
mod detect;
mod events;
mod policy;
mod refuse;
mod replace;
mod restore;
mod result;
mod same;
mod stopwatch;
mod summarise;
mod unescape;
mod usage;
mod widen;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use parking_lot::Mutex;

use forebay_proxy::{
    body::Payload,
    chain::{HookError, Interceptor, Moment, Verdict},
    router::{Router, UpstreamName},
    session::{Call, SubjectKind},
    telemetry::Telemetry,
};
use forebay_records::both;
use forebay_store::{Dataset, Shelf};

pub use capture::CaptureError;
pub use forebay_records::{Inference, Tokenizer};
pub use policy::{
    DEFAULT_THRESHOLD, Glob, Keeping, OnStoreFailure, OutputSchema, Policy, ToolRule, When,
    known_clients,
};
pub use restore::restore;
pub use usage::Usage;

use crate::{
    capture::Captured, detect::Weight, policy::Limit, result::ToolResult, stopwatch::Stopwatch,
    summarise::Afterwards,
};

/// Whoever goes on with a result that has been kept.
pub trait AfterCapture: Send + Sync {
    /// What a summary says can be done with what was kept.
    fn advice(&self) -> String;

    /// Hears that a result has been kept, right before its summary goes out. Must be quick.
    fn kept(&self, dataset: &Dataset);
}

/// Payloads shorter than this are looked at and written sooner than a thread is started.
const MIN_ASIDE_BYTES: usize = 32 * 1024;

/// Keeps large results.
pub struct Keeper {
    shelf: Arc<Shelf>,
    policy: Policy,
    router: Router,
    usage: Arc<Usage>,
    after_capture: Option<Arc<dyn AfterCapture>>,
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
        Self { shelf, policy, router, usage, after_capture, telemetry, exempt }
    }

    /// The same; `telemetry` is told of what is kept.
    #[must_use]
    pub fn telling(self, telemetry: Vec<Arc<dyn Telemetry>>) -> Self {
        Self { telemetry, ..self }
    }

    /// The same, with something that comes after each result.
    #[must_use]
    pub fn followed_by(self, after_capture: Arc<dyn AfterCapture>) -> Self {
        Self { after_capture: Some(after_capture), ..self }
    }

    /// What a result of `call` may have before it is kept.
    fn limit(&self, call: &Call) -> Limit {
        let exempt = self.exempt.lock();
        let is_exempt = |tool| exempt.get(&call.upstream).is_some_and(|tools| tools.contains(tool));
        match call.tool() {
            Some(tool) if !is_exempt(tool) => {
                let (server, client) = (call.upstream.as_str(), call.client.as_deref());
                self.policy.limit_for(server, tool, client)
            }
            _ => Limit::Never,
        }
    }

    /// Keeps a result and gives what is to stand in its place.
    fn keep(
        &self,
        call: &Call,
        result: &ToolResult,
        weight: Weight,
        watch: &mut Stopwatch,
    ) -> Result<Vec<u8>, CaptureError> {
        watch.next("take out");
        let store = self.shelf.store()?;
        let mut captured = capture::take(result, &store)?;
        watch.next("profile, count and write");
        let is_long = captured.bytes() >= MIN_ASIDE_BYTES;
        let Captured { payloads, files } = &mut captured;
        let ((written, tokens), profile) = both(
            is_long,
            || (files.write(result, payloads), self.policy.tokenizer.about_all(payloads)),
            || forebay_records::profile(payloads, self.policy.schema_inference),
        );
        written?;
        let profile = profile?;
        watch.next("summarise");
        let viewer = self.policy.viewer(call);
        let mut finished = captured.finish(call, &profile, weight, tokens, &viewer)?;
        let advice = self.after_capture.as_ref().map(|after_capture| after_capture.advice());
        let compressed_after = self.shelf.retention().compress_after;
        let is_structured = result.structured.is_some();
        let afterwards = Afterwards { advice: advice.as_deref(), compressed_after, is_structured };
        let summary = summarise::of(finished.dataset(), &profile, &self.policy, afterwards);
        let summary_tokens = forebay_records::tokens(&summary.text);
        finished.set_summary_tokens(summary_tokens);
        watch.next("commit");
        // The catalog is written when the summary is on its way.
        let dataset = finished.commit_and_enter_later()?;
        self.usage.write_soon();
        watch.next("replace");
        events::result_kept(call, dataset.id(), result.whole.bytes(), tokens);
        let (bytes, kept_out) = (dataset.metadata().bytes(), tokens.saturating_sub(summary_tokens));
        self.telemetry.iter().for_each(|it| it.kept(call, bytes, kept_out));
        if let Some(after_capture) = &self.after_capture {
            after_capture.kept(&dataset);
        }
        let replacement = replace::result(result, &summary)?;
        watch.stop();
        Ok(replacement)
    }
}

impl Interceptor for Keeper {
    fn name(&self) -> &'static str {
        "keeper"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        match moment {
            Moment::Call(_) => false,
            Moment::Answer(SubjectKind::Result, call, bytes) => {
                self.limit(call).may_be_over(*bytes)
            }
            Moment::Answer(SubjectKind::ToolList, ..) => true,
            Moment::Answer(SubjectKind::Handshake, ..) => false,
        }
    }

    fn notices(&self, moment: &Moment<'_>) {
        if let Moment::Answer(SubjectKind::Result, call, bytes) = moment {
            self.usage.saw(call, *bytes);
        }
    }

    fn remembers(&self, call: &Call) -> bool {
        self.policy.keep_arguments && self.limit(call) != Limit::Never
    }

    fn on_result(&self, call: &Call, payload: &Payload) -> Result<Verdict, HookError> {
        let mut watch = Stopwatch::start("read");
        let result = ToolResult::read(payload)?;
        watch.next("detect");
        let weight = detect::oversized(&result, call, self.limit(call), self.policy.tokenizer)?;
        let Some(weight) = weight else { return Ok(Verdict::Pass) };
        match (self.keep(call, &result, weight, &mut watch), self.policy.on_store_failure) {
            (Ok(replacement), _) => {
                events::stages(call, weight.bytes, &watch);
                Ok(Verdict::Replace(replacement))
            }
            (Err(error), OnStoreFailure::Pass) => Err(error.into()),
            (Err(error), OnStoreFailure::Error) => {
                Ok(Verdict::Replace(refuse::result(call, weight, &error)))
            }
        }
    }

    fn on_tool_list(&self, _call: &Call, list: &Payload) -> Result<Verdict, HookError> {
        let list = replace::in_memory(list)?;
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

#[cfg(test)]
mod tests;
