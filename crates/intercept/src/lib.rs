//! The five stages, in their order: detect → capture → profile → summarise → replace.
//!
//! Hop 5 of a result's way. A result that is too large for the model is written to the store,
//! looked through once, and replaced by a summary that names where the whole is kept. Whatever goes
//! wrong on the way, the original passes: the chain sees to that.

mod capture;
mod detect;
mod events;
mod policy;
mod profile;
mod replace;
mod result;
mod summarise;
mod tokens;
mod unescape;

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use forebay_proxy::{
    body::Payload,
    chain::{HookError, Interceptor, Moment, Verdict},
    session::{Call, SubjectKind},
};
use forebay_store::Store;

pub use capture::{CaptureError, restore};
pub use policy::Policy;

/// How many tokens `text` has for today's models (o200k).
pub fn tokens(text: &str) -> u64 {
    tokens::up_to(u64::MAX, text).unwrap_or_default()
}

/// Keeps large results.
pub struct Keeper {
    store: Arc<Store>,
    policy: Policy,
    /// Tools that draw an interface of their own from their result, as the list of tools says.
    exempt: Mutex<HashSet<String>>,
}

impl Keeper {
    /// An interceptor that keeps results in `store` as `policy` says.
    pub fn new(store: Arc<Store>, policy: Policy) -> Self {
        Self { store, policy, exempt: Mutex::default() }
    }
}

impl Keeper {
    fn is_exempt(&self, call: &Call) -> bool {
        let exempt = self.exempt.lock().unwrap_or_else(PoisonError::into_inner);
        call.tool().is_none_or(|tool| self.policy.excludes(tool) || exempt.contains(tool))
    }
}

impl Interceptor for Keeper {
    fn name(&self) -> &'static str {
        "keeper"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        match moment {
            Moment::Call(_) => false,
            // A token is a byte at least: what has no more bytes than tokens are allowed passes.
            Moment::Answer(SubjectKind::Result, call, bytes) => {
                *bytes > self.policy.threshold_tokens && !self.is_exempt(call)
            }
            Moment::Answer(SubjectKind::ToolList, ..) => true,
            Moment::Answer(SubjectKind::Handshake, ..) => false,
        }
    }

    fn on_result(&self, call: &Call, payload: &Payload) -> Result<Verdict, HookError> {
        let result = result::ToolResult::read(payload)?;
        let Some(weight) = detect::oversized(&result, call, &self.policy)? else {
            return Ok(Verdict::Pass);
        };
        let captured = capture::keep(&result, &self.store)?;
        let profile = profile::of(&captured)?;
        let dataset = captured.commit(call, &result, &profile, weight)?;
        let summary = summarise::within(self.policy.summary_tokens, &dataset, &profile);
        Ok(Verdict::Replace(replace::result(&result, &dataset, &profile, &summary)?))
    }

    fn on_tool_list(&self, _call: &Call, list: &Payload) -> Result<Verdict, HookError> {
        let list = replace::in_memory(list)?;
        let mut exempt = self.exempt.lock().unwrap_or_else(PoisonError::into_inner);
        exempt.extend(replace::tools_with_interface(&list));
        let may_be_replaced = |tool: &str| !self.policy.excludes(tool) && !exempt.contains(tool);
        let changed = replace::tool_list(&list, may_be_replaced);
        Ok(changed.map_or(Verdict::Pass, Verdict::Replace))
    }
}

#[cfg(test)]
mod tests;
