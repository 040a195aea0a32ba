//! Servers: how each stands, when it was last called, its tools and what their definitions cost.

use std::sync::Arc;

use askama::Template;
use forebay_proxy::upstream::{OfferedTool, Standing, State};
use forebay_store::{Counts, Event, Filter, Outcome};
use forebay_text::{counted, grouped};
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    KnownServer, KnownTool, Live, Pages, SeenServer,
    frame::{Frame, Section},
    problem::Problem,
    visible::{named, visible},
};

/// More calls are not remembered.
const ALL_CALLS: u64 = 1_000;

/// Why a server cannot be started anew from here, if that is so.
pub(crate) fn why_not_anew(live: &Live) -> Option<&'static str> {
    match live {
        Live::Group(_) => None,
        Live::ForEachSession => Some(
            "This forebay serve stands in front of one command, which it starts for each session and not anew from \
             here: let the client connect again, or start forebay serve again.",
        ),
        Live::Elsewhere => Some(
            "This forebay serve stands in front of a server that runs elsewhere, and cannot start it anew.",
        ),
        Live::Nothing => Some(
            "Servers do not run in this process. The page of a forebay serve in front of the servers of the settings, or \
             of a file, can start them anew; behind wrap and gateway the client does.",
        ),
    }
}

/// All servers that are known.
#[derive(Template, Serialize)]
#[template(path = "servers.html")]
pub(crate) struct Servers {
    #[serde(skip)]
    frame: Frame,
    /// Whether the servers run in this process.
    is_live: bool,
    #[serde(skip)]
    why_not_anew: Option<&'static str>,
    servers: Vec<Server>,
}

/// A server.
#[derive(Serialize)]
pub(crate) struct Server {
    name: String,
    state: String,
    /// Whether it is under way in this process, and can be started anew.
    is_live: bool,
    revision: Option<String>,
    reached_by: Option<String>,
    /// The clients that have it behind Forebay, and how.
    clients: Vec<InClients>,
    last_error: Option<String>,
    /// When the doctor last started it.
    seen_at: Option<Timestamp>,
    last_call: Option<Called>,
    last_failure: Option<Called>,
    lacks: Vec<String>,
    tools: Option<Vec<KnownTool>>,
    definition_tokens: Option<u64>,
    results: u64,
    kept: u64,
    datasets: u64,
    #[serde(skip)]
    class: &'static str,
}

/// A call that a server answered.
#[derive(Serialize)]
struct Called {
    at: Timestamp,
    tool: String,
    client: String,
    outcome: &'static str,
    why: String,
}

/// Clients that have a server behind Forebay.
#[derive(Serialize)]
pub(crate) struct InClients {
    clients: Vec<&'static str>,
    reached_by: String,
}

impl Servers {
    pub(crate) fn of(pages: &Pages) -> Result<Self, Problem> {
        let store = pages.desk.store()?;
        let (usage, calls) = (store.usage(None)?, store.recent(ALL_CALLS)?);
        let live = pages.around.live();
        let standings = live.standings();
        let offered = match &live {
            Live::Group(group) => group.tools(),
            Live::ForEachSession | Live::Elsewhere | Live::Nothing => Arc::default(),
        };
        let known = pages.around.servers();
        let mut names: Vec<String> = standings.iter().map(|it| it.name.to_string()).collect();
        let others = known.iter().map(|it| it.name.clone());
        for name in others.chain(usage.iter().map(|it| it.server.clone())) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut servers = Vec::new();
        for name in names {
            let mut counts = Counts::default();
            usage.iter().filter(|it| it.server == name).for_each(|it| counts += it.counts);
            let filter = Filter { server: Some(name.clone()), ..Filter::default() };
            let about = About {
                standing: standings.iter().find(|it| it.name.as_str() == name),
                offered: offered.iter().filter(|it| it.server.as_str() == name).collect(),
                known: known.iter().filter(|it| it.name == name).collect(),
                calls: calls.iter().filter(|it| it.server == name).collect(),
            };
            servers.push(Server::of(name, &about, counts, store.count(&filter)?));
        }
        let frame = Frame::new(Section::Servers, "Servers");
        let why_not_anew = why_not_anew(&live);
        Ok(Self { frame, is_live: why_not_anew.is_none(), why_not_anew, servers })
    }
}

/// What is known of a server, from whom.
struct About<'a> {
    standing: Option<&'a Standing>,
    offered: Vec<&'a OfferedTool>,
    /// Several, where clients have other servers by the same name.
    known: Vec<&'a KnownServer>,
    /// The last one first.
    calls: Vec<&'a Event>,
}

impl About<'_> {
    /// How it stood when the doctor last started it.
    fn seen(&self) -> Option<&SeenServer> {
        self.known.iter().filter_map(|it| it.seen.as_ref()).max_by_key(|seen| seen.at)
    }

    /// What went wrong last when it was started, unless it has worked since.
    fn last_error(&self) -> Option<String> {
        if let Some(standing) = self.standing {
            return standing.last_error.clone();
        }
        let seen = self.seen()?;
        let works = |call: &&Event| call.outcome != Outcome::Failed && call.at > seen.at;
        seen.error.clone().filter(|_| !self.calls.iter().copied().any(|call| works(&call)))
    }

    /// The revision that it speaks, or spoke when it was last there.
    fn revision(&self) -> Option<String> {
        let now = self.standing.and_then(|it| it.revision.clone());
        now.or_else(|| self.seen()?.revision.clone())
    }

    fn last_failure(&self) -> Option<Called> {
        let failed = self.calls.iter().find(|call| call.outcome == Outcome::Failed);
        failed.map(|call| Called::of(call))
    }
}

impl Server {
    fn of(name: String, about: &About<'_>, counts: Counts, datasets: u64) -> Self {
        let About { standing, offered, known, calls } = about;
        let last_error = about.last_error();
        let (state, class) = match (standing.map(|it| it.state), known.first()) {
            (Some(state), _) => (state.as_str().to_owned(), class(state)),
            (None, Some(known)) if !known.lacks.is_empty() => ("cannot start".to_owned(), "bad"),
            (None, Some(known)) if last_error.is_some() => (known.state.clone(), "bad"),
            (None, Some(known)) => (known.state.clone(), "idle"),
            (None, None) => ("known from what passed".to_owned(), "idle"),
        };
        let offered: Vec<KnownTool> = offered.iter().map(|tool| KnownTool::of(tool)).collect();
        let remembered = known.iter().find_map(|known| known.tools.clone());
        let (of_clients, own): (Vec<&KnownServer>, Vec<&KnownServer>) =
            known.iter().copied().partition(|it| !it.clients.is_empty());
        let of_clients = of_clients
            .into_iter()
            .map(|it| InClients { clients: it.clients.clone(), reached_by: it.reached_by.clone() });
        let tools = if offered.is_empty() { remembered } else { Some(offered) };
        Self {
            state,
            class,
            is_live: standing.is_some(),
            revision: about.revision(),
            reached_by: own.first().map(|it| it.reached_by.clone()),
            clients: of_clients.collect(),
            last_error,
            seen_at: about.seen().map(|seen| seen.at),
            last_call: calls.first().map(|call| Called::of(call)),
            last_failure: about.last_failure(),
            lacks: own.iter().flat_map(|it| it.lacks.clone()).collect(),
            definition_tokens: tools.as_ref().map(|all| all.iter().map(|it| it.tokens).sum()),
            tools,
            results: counts.results,
            kept: counts.captured,
            datasets,
            name,
        }
    }

    fn speaks(&self) -> String {
        match &self.revision {
            Some(revision) => format!("speaks {revision}"),
            None => "which revision it speaks is not known".to_owned(),
        }
    }

    fn called(&self) -> String {
        let called = match &self.last_call {
            Some(call) => format!("last called {}", call.told()),
            None => "no call is remembered".to_owned(),
        };
        let looked = self.seen_at.map(|at| format!(" · last started by the doctor {}", minute(at)));
        called + &looked.unwrap_or_default()
    }

    fn shelf_link(&self) -> String {
        crate::given::Given::default().and("server", &self.name).at("/shelf")
    }

    fn figures(&self) -> String {
        let results = counted(self.results, "result");
        format!("{results}, {} kept, {} on the shelf", grouped(self.kept), grouped(self.datasets))
    }

    fn cost(&self) -> String {
        let (Some(known), Some(tokens)) = (&self.tools, self.definition_tokens) else {
            return "which tools it has is not known yet".to_owned();
        };
        let tools = counted(known.len() as u64, "tool");
        format!("{tools}, {} in every list", counted(tokens, "token"))
    }

    /// The tools, the most costly first.
    fn by_cost(&self) -> Vec<&KnownTool> {
        let mut all: Vec<&KnownTool> = self.tools.iter().flatten().collect();
        all.sort_by_key(|tool| std::cmp::Reverse(tool.tokens));
        all
    }
}

impl Called {
    fn of(call: &Event) -> Self {
        let Event { at, tool, client, outcome, why, .. } = call.clone();
        Self { at, tool, client, outcome: outcome.name(), why }
    }

    /// When, what and for whom.
    fn told(&self) -> String {
        let (at, tool) = (minute(self.at), named(&self.tool));
        match self.client.as_str() {
            "" => format!("{at}: {tool}"),
            client => format!("{at}: {tool}, for {}", named(client)),
        }
    }

    fn failed(&self) -> String {
        format!("Last failed {}: {}.", self.told(), visible(&self.why))
    }
}

/// A time as people read it.
fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

impl InClients {
    fn told(&self) -> String {
        self.clients.join(", ")
    }
}

impl KnownTool {
    fn of(tool: &OfferedTool) -> Self {
        let definition = String::from_utf8_lossy(&tool.definition);
        Self { name: tool.own.to_string(), tokens: forebay_tokens::count(&definition) }
    }

    fn cost(&self) -> String {
        grouped(self.tokens)
    }
}

fn class(state: State) -> &'static str {
    match state {
        State::Open => "good",
        State::Idle => "idle",
        State::Starting => "idle",
        State::Down => "bad",
    }
}
