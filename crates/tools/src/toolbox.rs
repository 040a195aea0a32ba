//! The injected tools on the way between a client and its upstream: they are added to the list of
//! tools, and their calls are answered here.

use std::{
    collections::HashSet,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use forebay_intercept::{AfterCapture, Policy};
use forebay_proxy::{
    body::Payload,
    chain::{CallVerdict, Caller, HookError, Interceptor, Moment, Verdict},
    session::{Call, SubjectKind},
};
use forebay_query::Observer;
use forebay_store::Dataset;
use forebay_wire::walk;
use serde_json::Value;

use crate::{
    Desk, ToolError, analyze, arguments::Arguments, budget::Budget, definitions::Tool, export,
    list, preparation::Preparation, read, reply::Reply, visualize,
};

/// How the tools are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Which tools, in the order in which they are listed.
    pub tools: Vec<Tool>,
    /// What stands before a tool's name if the upstream has one of the same.
    pub prefix: String,
    /// How many tokens a reply may have, if the call does not say.
    pub reply_tokens: u64,
}

impl Default for Offer {
    fn default() -> Self {
        Self { tools: Tool::CORE.to_vec(), prefix: "forebay-".to_owned(), reply_tokens: 4_000 }
    }
}

/// How many tokens an error may have; a part of it may be data.
const ERROR_TOKENS: u64 = 1_500;

/// Adds tools to those of an upstream, and answers their calls.
pub struct Toolbox {
    desk: Desk,
    offer: Offer,
    policy: Policy,
    preparation: Preparation,
    /// The names of the upstream's own tools, as far as they have been listed.
    taken: Mutex<HashSet<String>>,
}

impl Toolbox {
    /// A toolbox for a client whose limits `policy` knows.
    pub fn new(desk: Desk, offer: Offer, policy: Policy, preparation: Preparation) -> Self {
        Self { desk, offer, policy, preparation, taken: Mutex::default() }
    }

    /// The tool that a call is of, if it is one of ours.
    fn tool(&self, call: &Call) -> Option<Tool> {
        let name = call.tool()?;
        // Most calls are not.
        let may_be_ours = self.offer.tools.iter().any(|tool| name.ends_with(tool.name()));
        let ours = || self.offer.tools.iter().copied().find(|tool| self.name_of(*tool) == name);
        if may_be_ours { ours() } else { None }
    }

    /// What a tool is called beside those of the upstream.
    fn name_of(&self, tool: Tool) -> String {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut name = tool.name().to_owned();
        while taken.contains(&name) && !self.offer.prefix.is_empty() {
            name.insert_str(0, &self.offer.prefix);
        }
        name
    }

    fn answer(&self, tool: Tool, call: &Call, given: Value, caller: &Caller) -> Reply {
        let waiting = Waiting(caller);
        let desk = self.desk.seen_by(self.policy.viewer(call));
        let outcome = Arguments::new(tool, given).and_then(|arguments| {
            let budget = self.budget(tool, &arguments, call.client.as_deref())?;
            match tool {
                Tool::Analyze => analyze::answer(&desk, &arguments, budget, &waiting),
                Tool::List => list::answer(&desk, &arguments, budget),
                Tool::Read => read::answer(&desk, &arguments, budget, &waiting),
                Tool::Export => export::answer(&desk, &arguments, &waiting),
                Tool::Visualize => visualize::answer(&desk, &arguments, &waiting),
            }
        });
        outcome.unwrap_or_else(|error| {
            let (_, bytes) = self.policy.reply_limit(call.client.as_deref());
            Reply::error(&Budget { tokens: ERROR_TOKENS, bytes }.cut(&error.told()))
        })
    }

    /// How long a reply may be: what the call says, up to what the client takes.
    fn budget(
        &self,
        tool: Tool,
        arguments: &Arguments,
        client: Option<&str>,
    ) -> Result<Budget, ToolError> {
        /// A reply of fewer would have no room for anything but its frame.
        const LEAST: u64 = 200;
        let (most, bytes) = self.policy.reply_limit(client);
        let wanted = match tool {
            Tool::Analyze | Tool::Read => arguments.number("max_tokens", LEAST, u64::MAX)?,
            Tool::List | Tool::Export | Tool::Visualize => None,
        };
        let tokens = wanted.unwrap_or(self.offer.reply_tokens).min(most.max(LEAST));
        Ok(Budget { tokens, bytes })
    }
}

impl Interceptor for Toolbox {
    fn name(&self) -> &'static str {
        "tools"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        match moment {
            Moment::Call(call) => self.owns(call),
            Moment::Answer(SubjectKind::ToolList, ..) => true,
            Moment::Answer(SubjectKind::Result | SubjectKind::Handshake, ..) => false,
        }
    }

    fn owns(&self, call: &Call) -> bool {
        self.tool(call).is_some()
    }

    fn on_call(
        &self,
        call: &Call,
        params: &Payload,
        caller: &Caller,
    ) -> Result<CallVerdict, HookError> {
        let Some(tool) = self.tool(call) else { return Ok(CallVerdict::Forward) };
        let reply = match serde_json::from_reader::<_, Value>(params.reader()) {
            Ok(mut params) => self.answer(tool, call, params["arguments"].take(), caller),
            Err(error) => Reply::error(&format!("The arguments cannot be read: {error}.")),
        };
        Ok(CallVerdict::Answer(reply.into_json()))
    }

    fn on_tool_list(&self, _call: &Call, list: &Payload) -> Result<Verdict, HookError> {
        let mut json = Vec::new();
        io::copy(&mut list.reader(), &mut json)?;
        let Some(found) = List::read(&json) else { return Ok(Verdict::Pass) };
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).extend(found.names);
        // All of ours are on one page, the last.
        if found.has_next {
            return Ok(Verdict::Pass);
        }
        let mut added: Vec<String> = Vec::new();
        for tool in &self.offer.tools {
            added.push(tool.definition(&self.name_of(*tool)));
        }
        let separator = if found.is_empty { "" } else { "," };
        let added = format!("{separator}{}", added.join(","));
        json.splice(found.end..found.end, added.into_bytes());
        Ok(Verdict::Replace(json))
    }
}

impl AfterCapture for Toolbox {
    fn advice(&self) -> String {
        let has = |tool: Tool| self.offer.tools.contains(&tool);
        let mut ways = Vec::new();
        if has(Tool::Analyze) {
            ways.push(format!("query it with {}", self.name_of(Tool::Analyze)));
        }
        if has(Tool::Read) {
            ways.push(format!("page or search it with {}", self.name_of(Tool::Read)));
        }
        let mut letters = ways.join(", ");
        if let Some(first) = letters.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        if letters.is_empty() { letters } else { format!("{letters}.") }
    }

    fn kept(&self, dataset: &Dataset) {
        /// The rows of less are made by its first query, which hardly notices; most is never asked.
        const MIN_BYTES: u64 = 4 * 1024 * 1024;
        if dataset.metadata().bytes() >= MIN_BYTES {
            self.preparation.soon(dataset.id().clone());
        }
    }
}

/// A page of a list of tools.
struct List {
    names: Vec<String>,
    is_empty: bool,
    has_next: bool,
    /// Where the list of tools ends: at its closing bracket.
    end: usize,
}

impl List {
    fn read(json: &[u8]) -> Option<Self> {
        let member = |name: &[u8]| walk::members(json)?.find(|(key, _)| *key == name);
        let (_, tools) = member(b"tools")?;
        let names = walk::elements(tools)?.filter_map(|tool| {
            let (_, name) = walk::members(tool)?.find(|(key, _)| *key == b"name")?;
            serde_json::from_slice(name).ok()
        });
        let end = tools.as_ptr().addr() - json.as_ptr().addr() + tools.len() - 1;
        Some(Self {
            names: names.collect(),
            is_empty: walk::elements(tools)?.next().is_none(),
            has_next: member(b"nextCursor").is_some_and(|(_, cursor)| cursor != b"null"),
            end,
        })
    }
}

/// The client that waits for an answer.
struct Waiting<'a>(&'a Caller);

impl Observer for Waiting<'_> {
    fn progress(&self, done: f64, message: &str) {
        const WHOLE: f64 = 100.0;
        self.0.progress((done * WHOLE).round(), Some(WHOLE), message);
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// The same toolbox, where it stands in the chain and after a capture.
pub fn placed(toolbox: Toolbox) -> (Arc<dyn Interceptor>, Arc<dyn AfterCapture>) {
    let toolbox = Arc::new(toolbox);
    (toolbox.clone(), toolbox)
}

#[cfg(test)]
mod tests;
