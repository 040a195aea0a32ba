//! Results that are given again: the same call within a time gets what it got before, with its age.
//!
//! Off unless a rule says for how long, and then only for tools that say that they only read, or where the
//! rule says otherwise. What is remembered is what the client got: of a result that was kept, its summary,
//! for as long as the dataset is there. It stays in the memory of this process, within [`memory`]'s limits.
//! Errors are never given again.

mod memory;
mod told;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use forebay_intercept::{Caching, KeptAs, Policy, Usage};
use forebay_proxy::{
    body::Payload,
    chain::{CallVerdict, Caller, HookError, Interceptor, Moment, Verdict},
    session::{Call, Era, SubjectKind},
};
use forebay_store::{Scope, Viewer};
use forebay_wire::{scan, walk};
use parking_lot::Mutex;

use self::memory::{Entry, Key, MAX_ENTRY_BYTES, Memory};
use crate::{
    Desk, KnownTools, ToolError, arguments::shown, canonical, error::refuse, json, reply::Reply,
};

/// Gives results again.
pub struct Cache {
    desk: Desk,
    policy: Policy,
    known: Arc<KnownTools>,
    usage: Arc<Usage>,
    memory: Mutex<Memory>,
}

/// The argument that asks for a new result, where the tool has none of that name.
const REFRESH: &str = "refresh";

/// A call as far as its result may be given again.
struct Asked {
    key: Key,
    /// Whether the client wants a new result.
    is_refresh: bool,
    /// The `params` without what is for us.
    rewritten: Option<Vec<u8>>,
}

impl Cache {
    /// An interceptor that gives results again where `policy` says so, and counts that in `usage`.
    pub fn new(desk: Desk, policy: Policy, known: Arc<KnownTools>, usage: Arc<Usage>) -> Self {
        Self { desk, policy, known, usage, memory: Mutex::default() }
    }

    fn rule(&self, call: &Call) -> Option<Caching> {
        self.policy.caching(call.upstream.as_str(), call.tool()?)
    }

    /// What is asked for; `None` if the result may not be given again.
    fn asked(&self, call: &Call, params: &[u8]) -> Result<Option<Asked>, ToolError> {
        let (Some(caching), Some(tool)) = (self.rule(call), call.tool()) else { return Ok(None) };
        if !caching.is_for_unmarked && !self.known.only_reads(&call.upstream, tool) {
            return Ok(None);
        }
        // A call that is more than a name and arguments may be a task, and is not looked into.
        let is_plain = |key: &[u8]| [&b"name"[..], b"arguments", b"_meta"].contains(&key);
        if walk::members(params).into_iter().flatten().any(|(key, _)| !is_plain(key)) {
            return Ok(None);
        }
        let [arguments] = scan::members(params, ["arguments"]);
        let arguments = arguments.unwrap_or(b"{}");
        let (is_refresh, without) = self.without_refresh(call, arguments)?;
        let rewritten = without.as_ref().map(|without| {
            let start = arguments.as_ptr().addr() - params.as_ptr().addr();
            let (before, after) = (&params[..start], &params[start + arguments.len()..]);
            [before, without, after].concat()
        });
        let canonical = canonical::of(without.as_deref().unwrap_or(arguments));
        let key = self.key(call, tool, &canonical);
        Ok(Some(Asked { key, is_refresh, rewritten }))
    }

    /// True if a call asks for a new result, perhaps, and only a list of tools can tell whether that is for us.
    fn must_ask_whose(&self, call: &Call, params: &[u8]) -> bool {
        let [arguments] = scan::members(params, ["arguments"]);
        let is_known = |tool: &str| self.known.knows(&call.upstream, tool);
        arguments.is_some_and(|arguments| json::without(arguments, REFRESH).is_some())
            && self.rule(call).is_some()
            && !call.tool().is_some_and(is_known)
    }

    /// Says whether a new result is asked for. If the argument that says so is ours, the arguments without it
    /// come along.
    fn without_refresh(
        &self,
        call: &Call,
        arguments: &[u8],
    ) -> Result<(bool, Option<Vec<u8>>), ToolError> {
        let Some((wish, without)) = json::without(arguments, REFRESH) else {
            return Ok((false, None));
        };
        let schema = self.known.schema(&call.upstream, call.tool().unwrap_or_default());
        let is_ours = schema.is_some_and(|schema| schema["properties"].get(REFRESH).is_none());
        match wish {
            _ if !is_ours => Ok((false, None)),
            b"true" => Ok((true, Some(without))),
            b"false" => Ok((false, Some(without))),
            other => refuse!(
                "{REFRESH} must be true or false, not {}: true asks for a new result.",
                shown(&serde_json::from_slice(other).unwrap_or_default())
            ),
        }
    }

    /// Whatever makes a difference to what a call gets.
    fn key(&self, call: &Call, tool: &str, arguments: &[u8]) -> Key {
        let Viewer { principal, session, project, scope } = self.policy.viewer(call);
        // What a summary names must be seen by whoever gets it.
        let place = match scope {
            Scope::All => None,
            Scope::Project => project,
            Scope::Session => session,
        };
        let era = match call.era {
            Era::Unknown => "unknown",
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        };
        let parts = [
            principal.as_str(),
            place.as_deref().unwrap_or_default(),
            call.client.as_deref().unwrap_or_default(),
            era,
            call.upstream.as_str(),
            tool,
        ];
        Key::of(parts.iter().map(|part| part.as_bytes()).chain([arguments]))
    }

    /// A result that is still good for a call.
    fn remembered(&self, call: &Call, key: &Key, now: Instant) -> Option<Entry> {
        let age = Duration::from_secs(self.rule(call)?.seconds);
        // Links in a result that is given again are good for a while yet.
        let age = self.desk.links().lifetime().map_or(age, |lifetime| age.min(lifetime / 2));
        let entry = self.memory.lock().get(key, now, age)?;
        if let Some(dataset) = &entry.kept_as {
            // A summary is of use while there is something behind it.
            let is_there = self.desk.seen_by(self.policy.viewer(call)).dataset(dataset).is_ok();
            if !is_there {
                return None;
            }
        }
        Some(entry)
    }
}

impl Interceptor for Cache {
    fn name(&self) -> &'static str {
        "cache"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        match moment {
            Moment::Call(call, _) => self.rule(call).is_some(),
            Moment::Answer(SubjectKind::Result, call, bytes) => {
                *bytes <= MAX_ENTRY_BYTES && call.noted::<Key>().is_some()
            }
            Moment::Answer(SubjectKind::ToolList, ..) => {
                self.known.are_learnt_by_cache(&self.policy)
            }
            Moment::Answer(SubjectKind::Handshake, ..) => false,
        }
    }

    fn on_call(
        &self,
        call: &Call,
        params: &Payload,
        caller: &Caller,
    ) -> Result<CallVerdict, HookError> {
        let json = params.to_vec()?;
        if self.must_ask_whose(call, &json) {
            self.known.ask(caller);
        }
        let Asked { key, is_refresh, rewritten } = match self.asked(call, &json) {
            Ok(Some(asked)) => asked,
            Ok(None) => return Ok(CallVerdict::Forward),
            Err(error) => return Ok(CallVerdict::Answer(Reply::error(&error.told()).into_json())),
        };
        // Programs and pages get a new result each time: they have no place for its age, and want all of it.
        if call.is_inner() {
            return Ok(rewritten.map_or(CallVerdict::Forward, CallVerdict::Rewrite));
        }
        if !is_refresh && let Some(entry) = self.remembered(call, &key, Instant::now()) {
            self.usage.gave_again(call);
            let age = entry.since.elapsed();
            if let Some(dataset) = entry.kept_as {
                call.note(KeptAs(dataset));
            }
            return Ok(CallVerdict::Answer(told::with_age(&entry.json, age)));
        }
        call.note(key);
        Ok(rewritten.map_or(CallVerdict::Forward, CallVerdict::Rewrite))
    }

    fn on_result(
        &self,
        call: &Call,
        result: &Payload,
        _caller: &Caller,
    ) -> Result<Verdict, HookError> {
        let Some(key) = call.noted::<Key>() else { return Ok(Verdict::Pass) };
        let json = result.to_vec()?;
        let [is_error] = scan::members(&json, ["isError"]);
        if is_error != Some(b"true") {
            let kept_as = call.noted::<KeptAs>().map(|kept| kept.0.clone());
            let entry = Entry { json: json.into(), kept_as, since: Instant::now() };
            self.memory.lock().put((*key).clone(), entry);
        }
        Ok(Verdict::Pass)
    }

    fn on_tool_list(&self, _call: &Call, list: &Payload) -> Result<Verdict, HookError> {
        let json = list.to_vec()?;
        self.known.learn(&json);
        Ok(Verdict::Pass)
    }
}
