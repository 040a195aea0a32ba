//! Servers: how each stands, its tools and what their definitions cost.

use std::sync::Arc;

use askama::Template;
use forebay_proxy::upstream::{OfferedTool, Standing, State};
use forebay_store::{Counts, Filter};
use forebay_text::{counted, grouped};
use serde::Serialize;

use crate::{
    KnownServer, KnownTool, Live, Pages,
    frame::{Frame, Section},
    problem::Problem,
};

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
    lacks: Vec<String>,
    tools: Option<Vec<KnownTool>>,
    definition_tokens: Option<u64>,
    results: u64,
    kept: u64,
    datasets: u64,
    #[serde(skip)]
    class: &'static str,
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
        let usage = store.usage(None)?;
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
}

impl Server {
    fn of(name: String, about: &About<'_>, counts: Counts, datasets: u64) -> Self {
        let About { standing, offered, known } = about;
        let (state, class) = match (standing.map(|it| it.state), known.first()) {
            (Some(state), _) => (state.as_str().to_owned(), class(state)),
            (None, Some(known)) if !known.lacks.is_empty() => ("cannot start".to_owned(), "bad"),
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
            revision: standing.and_then(|it| it.revision.clone()),
            reached_by: own.first().map(|it| it.reached_by.clone()),
            clients: of_clients.collect(),
            last_error: standing.and_then(|it| it.last_error.clone()),
            lacks: own.iter().flat_map(|it| it.lacks.clone()).collect(),
            definition_tokens: tools.as_ref().map(|all| all.iter().map(|it| it.tokens).sum()),
            tools,
            results: counts.results,
            kept: counts.captured,
            datasets,
            name,
        }
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
