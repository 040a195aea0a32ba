//! The injected tools on the way between a client and its upstream: they are added to the list of
//! tools, and their calls are answered here.

use std::{io, ops::Range, sync::Arc};

use forebay_intercept::{AfterCapture, Policy, Usage};
use forebay_proxy::{
    body::Payload,
    chain::{CallVerdict, Caller, HookError, Interceptor, Moment, Verdict},
    router::UpstreamName,
    session::{Call, SubjectKind},
};
use forebay_query::Observer;
use forebay_store::{Counts, Dataset};
use forebay_wire::walk;
use serde_json::Value;

use crate::{
    Desk, ToolError, analyze,
    arguments::Arguments,
    budget::Budget,
    definitions::Tool,
    events, export, list,
    on_demand::{self, Exposure, STANDING_FOR_ALL, call, search},
    preparation::Preparation,
    read,
    reply::Reply,
    servers::{self, NoServers, Servers},
    visualize,
};

/// How the tools are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Which tools, in the order in which they are listed.
    pub tools: Vec<Tool>,
    /// What stands before the names of our tools.
    pub prefix: String,
    /// How many tokens a reply may have, if the call does not say.
    pub reply_tokens: u64,
}

impl Offer {
    /// What a tool of ours is called.
    pub fn name_of(&self, tool: Tool) -> String {
        format!("{}{}", self.prefix, tool.name())
    }
}

impl Default for Offer {
    fn default() -> Self {
        Self { tools: Tool::CORE.to_vec(), prefix: String::new(), reply_tokens: 4_000 }
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
    behind: Option<Behind>,
    usage: Option<Arc<Usage>>,
}

/// What stands behind a gateway.
#[derive(Clone)]
pub struct Behind {
    /// The servers.
    pub servers: Arc<dyn Servers>,
    /// Which of their tools are listed.
    pub exposure: Exposure,
}

/// What stands between the name of an upstream and that of a tool.
const SEPARATOR: &str = "__";

impl Toolbox {
    /// A toolbox for a client whose limits `policy` knows.
    pub fn new(desk: Desk, offer: Offer, policy: Policy, preparation: Preparation) -> Self {
        Self { desk, offer, policy, preparation, behind: None, usage: None }
    }

    /// The same in front of many servers, of which it can tell. What it keeps out of the lists of their tools
    /// is counted.
    #[must_use]
    pub fn in_front_of(mut self, behind: Behind, usage: Arc<Usage>) -> Self {
        self.offer.tools.push(Tool::Servers);
        Self { behind: Some(behind), usage: Some(usage), ..self }
    }

    /// The tool of ours that has this name. Whatever an upstream has, ours are called the same in every
    /// process, whether or not it has seen a list of tools.
    fn tool(&self, name: &str) -> Option<Tool> {
        let plain = name.strip_prefix(self.offer.prefix.as_str())?;
        let is_on_demand = self.behind.as_ref().is_some_and(|it| it.exposure.is_on_demand());
        let others: &[Tool] = if is_on_demand { &STANDING_FOR_ALL } else { &[] };
        self.offer.tools.iter().chain(others).copied().find(|tool| tool.name() == plain)
    }

    /// The upstream's own name of a tool that is offered under another, because one of ours has it.
    fn theirs<'c>(&self, call: &'c Call) -> Option<&'c str> {
        // What a router knows is not called so because of us.
        let name = call.called().filter(|called| call.tool() == Some(*called))?;
        let (_, plain) = name.split_once(SEPARATOR)?;
        (self.tool(plain).is_some() && name == beside_ours(&call.upstream, plain)).then_some(plain)
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
                Tool::Servers => servers::answer(&desk, self.servers()),
                Tool::Search => search::answer(&arguments, budget, self.servers()),
                // It has become another call.
                Tool::Call => Ok(Reply::default()),
            }
        });
        outcome.unwrap_or_else(|error| self.error(&error, call))
    }

    /// Makes the call of a tool that is not listed the one that it stands for.
    fn call_through(&self, call: &Call, params: &Payload) -> Result<CallVerdict, HookError> {
        let mut json = Vec::new();
        io::copy(&mut params.reader(), &mut json)?;
        Ok(match call::meant(&json, self.servers()) {
            Ok(params) => CallVerdict::Rewrite(params),
            Err(error) => CallVerdict::Answer(self.error(&error, call).into_json()),
        })
    }

    fn error(&self, error: &ToolError, call: &Call) -> Reply {
        let (_, bytes) = self.policy.reply_limit(call.client.as_deref());
        Reply::error(&Budget { tokens: ERROR_TOKENS, bytes }.cut(&error.told()))
    }

    fn servers(&self) -> &dyn Servers {
        self.behind.as_ref().map_or(&NoServers, |behind| &*behind.servers)
    }

    /// The definitions of the tools that are added to those of an upstream.
    fn added(&self) -> Vec<String> {
        self.offer.tools.iter().map(|tool| tool.definition(&self.offer.name_of(*tool))).collect()
    }

    /// The definitions of the tools that stand for those of all servers.
    fn standing_for_all(&self, behind: &Behind) -> Vec<String> {
        let definition = |tool: Tool| tool.definition(&self.offer.name_of(tool));
        let shown =
            STANDING_FOR_ALL.map(|tool| on_demand::definition(&definition(tool), &behind.servers));
        shown.to_vec()
    }

    /// Counts what is kept out of a list of tools.
    fn count_hidden(&self, call: &Call, hidden: &[u8], shown: &[String]) {
        let Some(usage) = &self.usage else { return };
        let tokenizer = self.policy.tokenizer;
        usage.listed(
            call,
            Counts {
                results: 1,
                bytes: hidden.len() as u64,
                captured: 1,
                captured_tokens: tokenizer.about(hidden),
                given_tokens: tokenizer.about(shown.join(",").as_bytes()),
            },
        );
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
            Tool::Analyze | Tool::Read | Tool::Search => {
                arguments.number("max_tokens", LEAST, u64::MAX)?
            }
            Tool::List | Tool::Export | Tool::Visualize | Tool::Servers | Tool::Call => None,
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
        call.called().is_some_and(|name| self.tool(name).is_some()) || self.theirs(call).is_some()
    }

    fn on_call(
        &self,
        call: &Call,
        params: &Payload,
        caller: &Caller,
    ) -> Result<CallVerdict, HookError> {
        if let Some(plain) = self.theirs(call) {
            let mut params: Value = serde_json::from_reader(params.reader())?;
            params["name"] = plain.into();
            return Ok(CallVerdict::Rewrite(params.to_string().into_bytes()));
        }
        let Some(tool) = call.called().and_then(|name| self.tool(name)) else {
            return Ok(CallVerdict::Forward);
        };
        if tool == Tool::Call {
            return self.call_through(call, params);
        }
        let reply = match serde_json::from_reader::<_, Value>(params.reader()) {
            Ok(mut params) => self.answer(tool, call, params["arguments"].take(), caller),
            Err(error) => Reply::error(&format!("The arguments cannot be read: {error}.")),
        };
        Ok(CallVerdict::Answer(reply.into_json()))
    }

    fn on_tool_list(&self, call: &Call, list: &Payload) -> Result<Verdict, HookError> {
        let mut json = Vec::new();
        io::copy(&mut list.reader(), &mut json)?;
        let Some(found) = List::read(&json) else { return Ok(Verdict::Pass) };
        if let Some(behind) =
            self.behind.as_ref().filter(|it| it.exposure.hides(&json, self.policy.tokenizer))
        {
            let shown = self.standing_for_all(behind);
            self.count_hidden(call, &json[found.start..found.end], &shown);
            let all = [shown, self.added()].concat().join(",");
            json.splice(found.start..found.end, all.into_bytes());
            return Ok(Verdict::Replace(json));
        }
        // From the end, so that what stands before keeps its place. All of ours are on the last page.
        if !found.has_next {
            let separator = if found.names.is_empty() { "" } else { "," };
            let added = format!("{separator}{}", self.added().join(","));
            json.splice(found.end..found.end, added.into_bytes());
        }
        for Named { name, span } in found.names.into_iter().rev() {
            if self.tool(&name).is_some() {
                let other = beside_ours(&call.upstream, &name);
                events::tool_renamed(&call.upstream, &name, &other);
                json.splice(span, Value::from(other).to_string().into_bytes());
            }
        }
        Ok(Verdict::Replace(json))
    }
}

impl AfterCapture for Toolbox {
    fn advice(&self) -> String {
        let has = |tool: Tool| self.offer.tools.contains(&tool);
        let mut ways = Vec::new();
        if has(Tool::Analyze) {
            ways.push(format!("query it with {}", self.offer.name_of(Tool::Analyze)));
        }
        if has(Tool::Read) {
            ways.push(format!("page or search it with {}", self.offer.name_of(Tool::Read)));
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

/// What an upstream's tool is called that has the name of one of ours: what a gateway calls it.
fn beside_ours(upstream: &UpstreamName, tool: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let upstream = upstream.as_str().chars().map(|letter| if fits(letter) { letter } else { '-' });
    upstream.chain(SEPARATOR.chars()).chain(tool.chars()).collect()
}

/// A page of a list of tools.
struct List {
    names: Vec<Named>,
    has_next: bool,
    /// Where the list of tools begins, behind its opening bracket.
    start: usize,
    /// Where it ends: at its closing bracket.
    end: usize,
}

/// A tool's name, and where it is written.
struct Named {
    name: String,
    span: Range<usize>,
}

impl List {
    fn read(json: &[u8]) -> Option<Self> {
        let place = |part: &[u8]| {
            let start = part.as_ptr().addr() - json.as_ptr().addr();
            start..start + part.len()
        };
        let member = |name: &[u8]| walk::members(json)?.find(|(key, _)| *key == name);
        let (_, tools) = member(b"tools")?;
        let names = walk::elements(tools)?.map(|tool| {
            let name = walk::members(tool).and_then(|mut members| {
                members.find_map(|(key, value)| (key == b"name").then_some(value))
            });
            // What has no name is of no interest, but it is there.
            let written = name.unwrap_or(tool);
            let name = serde_json::from_slice(written).unwrap_or_default();
            Named { name, span: place(written) }
        });
        Some(Self {
            names: names.collect(),
            has_next: member(b"nextCursor").is_some_and(|(_, cursor)| cursor != b"null"),
            start: place(tools).start + 1,
            end: place(tools).end - 1,
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
