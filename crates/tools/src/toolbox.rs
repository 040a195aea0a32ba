//! The injected tools on the way between a client and its upstream: they are added to the list of
//! tools, and their calls are answered here.

use std::{ops::Range, sync::Arc, time::Duration};

use forebay_intercept::{AfterCapture, Policy, ReplyIfPassed, Usage};
use forebay_proxy::{
    body::Payload,
    chain::{CallVerdict, Caller, HookError, Interceptor, Moment, Verdict},
    router::UpstreamName,
    session::{Call, SubjectKind},
};
use forebay_store::{Counts, Dataset, DatasetId};
use forebay_wire::walk;
use serde_json::Value;

use crate::{
    Desk, ToolError, analyze,
    arguments::Arguments,
    artifact_context,
    asked::Asked,
    budget::Budget,
    catalogue::{Catalogue, Sole},
    definitions::{SEPARATOR, Tool},
    error::refuse,
    events, export,
    jobs::{Board, status},
    list,
    on_demand::{self, Exposure, STANDING_FOR_ALL, call, search},
    preparation::Preparation,
    read,
    reply::Reply,
    run_code::{Around, Programs, Ran},
    semantic_search,
    servers::{self, NoServers, Servers},
    visualize,
    waiting::Waiting,
    workspace,
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
pub(crate) const ERROR_TOKENS: u64 = 1_500;

/// Adds tools to those of an upstream, and answers their calls.
pub struct Toolbox {
    desk: Desk,
    offer: Offer,
    policy: Policy,
    preparation: Preparation,
    behind: Option<Behind>,
    usage: Option<Arc<Usage>>,
    programs: Option<Programs>,
    catalogue: Arc<Catalogue>,
    board: Option<Arc<Board>>,
}

/// What stands behind a gateway.
#[derive(Clone)]
pub struct Behind {
    /// The servers.
    pub servers: Arc<dyn Servers>,
    /// Which of their tools are listed.
    pub exposure: Exposure,
}

/// How a dataset is passed on.
const PASSING: &str = "Pass it to another tool as \"forebay://dataset/ID\".";

impl Toolbox {
    /// A toolbox for a client whose limits `policy` knows.
    pub fn new(desk: Desk, offer: Offer, policy: Policy, preparation: Preparation) -> Self {
        let (behind, usage, programs, board) = (None, None, None, None);
        let catalogue = Arc::new(Catalogue::new(Arc::new(NoServers)));
        Self { desk, offer, policy, preparation, behind, usage, programs, catalogue, board }
    }

    /// The same, in front of one server.
    #[must_use]
    pub fn in_front_of_one(self, server: UpstreamName) -> Self {
        Self { catalogue: Arc::new(Catalogue::new(Arc::new(Sole::new(server)))), ..self }
    }

    /// The same, which runs programs, if it offers to.
    #[must_use]
    pub fn running(self, programs: Programs) -> Self {
        Self { programs: Some(programs), ..self }
    }

    /// The same, which tells of the jobs on a board. Wherever calls become jobs, that is offered, whatever else is.
    #[must_use]
    pub fn telling_of(mut self, board: Arc<Board>) -> Self {
        self.offer.tools.push(Tool::RunStatus);
        Self { board: Some(board), ..self }
    }

    /// The same in front of many servers, of which it can tell.
    #[must_use]
    pub fn in_front_of(mut self, behind: Behind) -> Self {
        self.offer.tools.push(Tool::Servers);
        let catalogue = Arc::new(Catalogue::new(behind.servers.clone()));
        Self { behind: Some(behind), catalogue, ..self }
    }

    /// The same, which has counted what it tells, and what it keeps out of the lists of tools.
    #[must_use]
    pub fn counting(self, usage: Arc<Usage>) -> Self {
        Self { usage: Some(usage), ..self }
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
                Tool::Search => {
                    search::answer(&arguments, budget, self.servers(), desk.finder().ok())
                }
                Tool::SemanticSearch => semantic_search::answer(&desk, &arguments, budget),
                Tool::ArtifactContext => artifact_context::answer(&desk, &arguments, budget),
                Tool::SearchWorkspace => workspace::search::answer(&desk, &arguments, budget),
                Tool::WorkspaceFile => workspace::file::answer(&desk, &arguments, budget, &waiting),
                Tool::RunStatus => match &self.board {
                    Some(board) => status::answer(board, &desk, &arguments, caller),
                    None => refuse!("No calls become jobs here."),
                },
                // One has become another call, the other is answered by a program.
                Tool::Call | Tool::RunCode => Ok(Reply::default()),
            }
        });
        outcome.unwrap_or_else(|error| self.error(&error, call))
    }

    /// Makes the call of a tool that is not listed the one that it stands for.
    fn call_through(&self, call: &Call, params: &Payload) -> Result<CallVerdict, HookError> {
        let json = params.to_vec()?;
        Ok(match call::meant(&json, self.servers()) {
            Ok(params) => CallVerdict::Rewrite(params),
            Err(error) => self.answered(Tool::Call, self.error(&error, call)),
        })
    }

    fn error(&self, error: &ToolError, call: &Call) -> Reply {
        let told = self.desk.without_paths(error.told());
        Reply::error(&self.error_budget(call).cut(&told))
    }

    fn error_budget(&self, call: &Call) -> Budget {
        let (_, bytes) = self.policy.reply_limit(call.client.as_deref());
        Budget { tokens: ERROR_TOKENS, bytes }
    }

    /// Runs a program.
    fn run_code(&self, given: Value, call: &Call, caller: &Caller) -> CallVerdict {
        let around = Around {
            catalogue: &self.catalogue,
            desk: self.desk.seen_by(self.policy.viewer(call)),
            policy: &self.policy,
            call,
            caller,
            budget: self.error_budget(call),
        };
        let what = Asked::of(&given).what;
        let run = match &self.programs {
            Some(programs) => programs.answer(given, &around),
            None => refuse!("No programs are run here."),
        };
        let ran = run.unwrap_or_else(|error| Ran::Answer(self.error(&error, call)));
        let (Ran::Result(reply) | Ran::Answer(reply)) = &ran;
        self.note_asked(call, Tool::RunCode, &what, reply.datasets());
        match ran {
            Ran::Answer(reply) => self.answered(Tool::RunCode, reply),
            Ran::Result(reply) => {
                let json = reply.into_json();
                let tokens = self.policy.tokenizer.about(&json);
                // The keeper knows whether the model gets it or a summary.
                call.note(ReplyIfPassed { tool: Tool::RunCode.name(), tokens });
                CallVerdict::Result(json)
            }
        }
    }

    /// A reply on its way to the model, counted.
    fn answered(&self, tool: Tool, reply: Reply) -> CallVerdict {
        let json = reply.into_json();
        if let Some(usage) = &self.usage {
            usage.replied(tool.name(), self.policy.tokenizer.about(&json));
        }
        CallVerdict::Answer(json)
    }

    /// Notes of which datasets a tool was asked, and what.
    fn note_asked(&self, call: &Call, tool: Tool, what: &str, datasets: &[DatasetId]) {
        if let Some(usage) = &self.usage {
            usage.asked(call, tool.name(), what, datasets);
        }
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
                ..Counts::default()
            },
        );
    }

    /// Counts what our own tools cost in a list.
    fn count_offered(&self, added: &[String]) {
        let tokenizer = self.policy.tokenizer;
        if let Some(usage) = self.usage.as_ref().filter(|_| !added.is_empty()) {
            usage.offered(tokenizer.about(added.join(",").as_bytes()));
        }
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
            Tool::ArtifactContext => {
                let wanted =
                    arguments.number("maxTokens", artifact_context::LEAST_TOKENS, u64::MAX)?;
                Some(wanted.unwrap_or(artifact_context::DEFAULT_TOKENS))
            }
            // It is limited by its characters.
            Tool::WorkspaceFile => Some(most),
            Tool::List
            | Tool::Export
            | Tool::Visualize
            | Tool::RunCode
            | Tool::Servers
            | Tool::RunStatus
            | Tool::SemanticSearch
            | Tool::SearchWorkspace
            | Tool::Call => None,
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
            Moment::Call(call, _) => self.owns(call),
            Moment::Answer(SubjectKind::ToolList, ..) => true,
            Moment::Answer(SubjectKind::Result | SubjectKind::Handshake, ..) => false,
        }
    }

    fn owns(&self, call: &Call) -> bool {
        call.called().is_some_and(|name| self.tool(name).is_some()) || self.theirs(call).is_some()
    }

    fn patience(&self, call: &Call) -> Option<Duration> {
        match call.called().and_then(|name| self.tool(name))? {
            Tool::RunCode => self.programs.as_ref().map(Programs::patience),
            Tool::RunStatus => self.board.as_deref().map(status::patience),
            Tool::Analyze
            | Tool::List
            | Tool::Read
            | Tool::Export
            | Tool::Visualize
            | Tool::Servers
            | Tool::Search
            | Tool::SemanticSearch
            | Tool::ArtifactContext
            | Tool::SearchWorkspace
            | Tool::WorkspaceFile
            | Tool::Call => None,
        }
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
        let (reply, asked) = match serde_json::from_reader::<_, Value>(params.reader()) {
            Ok(mut params) if tool == Tool::RunCode => {
                return Ok(self.run_code(params["arguments"].take(), call, caller));
            }
            Ok(mut params) => {
                let given = params["arguments"].take();
                let asked = Asked::of(&given);
                (self.answer(tool, call, given, caller), asked)
            }
            Err(error) => {
                let told = format!("The arguments cannot be read: {error}.");
                (Reply::error(&told), Asked::default())
            }
        };
        let reply = if call.takes_links() { reply } else { reply.without_links() };
        self.note_asked(call, tool, &asked.what, &asked.datasets_with(&reply));
        Ok(self.answered(tool, reply))
    }

    fn on_tool_list(&self, call: &Call, list: &Payload) -> Result<Verdict, HookError> {
        let mut json = list.to_vec()?;
        let Some(found) = List::read(&json) else { return Ok(Verdict::Pass) };
        self.catalogue.forget();
        if let Some(behind) =
            self.behind.as_ref().filter(|it| it.exposure.hides(&json, self.policy.tokenizer))
        {
            let shown = self.standing_for_all(behind);
            self.count_hidden(call, &json[found.start..found.end], &shown);
            let all = [shown, self.added()].concat().join(",");
            self.count_offered(&self.added());
            json.splice(found.start..found.end, all.into_bytes());
            return Ok(Verdict::Replace(json));
        }
        // From the end, so that what stands before keeps its place. All of ours are on the last page.
        if !found.has_next {
            let separator = if found.names.is_empty() { "" } else { "," };
            let added = self.added();
            self.count_offered(&added);
            let added = format!("{separator}{}", added.join(","));
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
        let passing = self.policy.references.is_enabled.then_some(PASSING);
        let advice = (!letters.is_empty()).then(|| format!("{letters}."));
        advice.iter().map(String::as_str).chain(passing).collect::<Vec<_>>().join(" ")
    }

    fn kept(&self, dataset: &Dataset) {
        /// The rows of less are made by its first query, which hardly notices; most is never asked.
        const MIN_BYTES: u64 = 4 * 1024 * 1024;
        if dataset.metadata().bytes() >= MIN_BYTES && !dataset.is_of_files() {
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

/// The same toolbox, where it stands in the chain and after a capture.
pub fn placed(toolbox: Toolbox) -> (Arc<dyn Interceptor>, Arc<dyn AfterCapture>) {
    let toolbox = Arc::new(toolbox);
    (toolbox.clone(), toolbox)
}

#[cfg(test)]
mod tests;
