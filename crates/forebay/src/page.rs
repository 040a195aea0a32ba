//! What the page is told by the program: settings, servers, and what is not as it should be.

use std::{path::PathBuf, sync::Arc};

use forebay_page::{
    Around, Examination, Finding, HeldSetting, KnownServer, KnownTool, Live, SeenServer,
    SettingsInForce, Weight,
};
use forebay_proxy::{
    chain::with_causes,
    upstream::{GroupSettings, Memory, State},
};
use forebay_search::Search;
use forebay_store::{Retention, Shelf, Tally};
use forebay_text::counted;
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    config::{
        Config, Sources, in_force,
        servers::{Server, Start},
    },
    doctor::{self, ReadWords, Servers},
    gateway::{Remembered, Sighting},
};

/// What this process knows.
pub(crate) struct Program {
    config: Config,
    sources: Sources,
    shelf: Arc<Shelf>,
    search: Option<Arc<Search>>,
    /// Reads the command lines of clients' entries.
    read: ReadWords,
    running: Running,
    /// The file that servers are taken from, if not from the settings.
    servers_file: Option<PathBuf>,
}

/// Which servers are under way in this process.
pub(crate) enum Running {
    /// None.
    Nothing,
    /// Those of a gateway.
    Group(Arc<GroupSettings>),
    /// One command, which is started for each session.
    ForEachSession(Sole),
    /// None: it stands in front of one that is elsewhere.
    Elsewhere(Sole),
}

/// A server that stands in no settings.
pub(crate) struct Sole {
    pub(crate) name: String,
    /// How it is reached, without what may be secret.
    pub(crate) reached_by: String,
}

impl Program {
    /// The settings and where they come from, and what is kept as it is looked at here.
    pub(crate) fn new(
        config: Config,
        sources: Sources,
        shelf: Arc<Shelf>,
        search: Option<Arc<Search>>,
        read: ReadWords,
    ) -> Self {
        let running = Running::Nothing;
        Self { config, sources, shelf, search, read, running, servers_file: None }
    }

    /// The same, in a process that has servers under way.
    pub(crate) fn with_servers(self, running: Running, servers_file: Option<PathBuf>) -> Self {
        Self { running, servers_file, ..self }
    }

    fn check(&self, server: &str) -> String {
        let file = self.servers_file.as_ref();
        let file = file.map(|file| format!(" --servers {}", doctor::quoted(file)));
        format!("forebay servers check {}{}", doctor::quoted(server), file.unwrap_or_default())
    }

    /// What to do about a server that does not work.
    fn correct(&self, server: &str) -> String {
        let place = match &self.servers_file {
            Some(file) => format!("its entry in {}", file.display()),
            None => format!("`[servers.{server}]` in the settings"),
        };
        format!("Correct {place}; `{}` tells whether it works then.", self.check(server))
    }

    /// How the index of what was kept stands, if there is one and it is behind.
    fn of_index(&self) -> Option<Finding> {
        let told = |text| Finding {
            area: "Index",
            weight: Weight::Warning,
            text,
            mend: Some("forebay index rebuild".to_owned()),
            advice: None,
        };
        let counts = match self.search.as_ref()?.counts() {
            Ok(counts) => counts,
            Err(error) => {
                return Some(told(format!("It cannot be read: {}.", with_causes(&error))));
            }
        };
        if counts.waiting > FEW_WAITING {
            let waiting = counted(counts.waiting, "dataset");
            return Some(told(format!(
                "{waiting} not indexed yet: until then they are found by neither words nor meaning."
            )));
        }
        (counts.failures > 0).then(|| {
            let (times, indexed) =
                (counted(counts.failures, "time"), counted(counts.documents, "dataset"));
            told(format!("Not all could be indexed: it failed {times}; {indexed} are indexed."))
        })
    }

    /// The providers of models that failed today more often than not.
    fn of_models(&self) -> Vec<Finding> {
        let tallies = self.shelf.store().and_then(|store| store.tallies(Some(1)));
        let tallies = tallies.unwrap_or_default();
        let count = |subject: &str, what: &str| {
            let tally = tallies.iter().find(|it| it.subject == subject && it.what == what);
            tally.map_or(0, |tally| tally.count)
        };
        let asked = tallies.iter().filter(|it| it.what == "calls");
        let failing = asked.filter_map(|Tally { subject, count: calls, .. }| {
            let provider = subject.strip_prefix(forebay_insight::SUBJECT)?;
            let failed = count(subject, "failures") + count(subject, "late");
            (failed * 2 > *calls).then(|| Finding {
                area: "Findings",
                weight: Weight::Warning,
                text: format!(
                    "{provider} does not say what large results show: {failed} of {} failed today, or came late.",
                    counted(*calls, "call")
                ),
                mend: None,
                advice: Some(
                    "Correct what `summaries` says of it in the settings; `forebay stats --days 1` counts what failed."
                        .to_owned(),
                ),
            })
        });
        failing.collect()
    }

    /// The servers that cannot be started.
    fn of_servers(&self) -> Vec<Finding> {
        let enabled = self.config.servers.iter().filter(|server| server.is_enabled);
        let lacking = enabled.flat_map(|server| {
            server.lacks.iter().map(|lack| Finding {
                area: "Servers",
                weight: Weight::Problem,
                text: format!("`{}` cannot start: {lack}", server.name),
                mend: None,
                advice: Some(self.correct(&server.name)),
            })
        });
        let standings = match &self.running {
            Running::Group(live) if live.is_under_way() => Some(live.standings()),
            Running::Group(_)
            | Running::Nothing
            | Running::ForEachSession(_)
            | Running::Elsewhere(_) => None,
        };
        let down = standings.iter().flat_map(|all| all.iter()).filter(|it| it.state == State::Down);
        let down = down.map(|standing| Finding {
            area: "Servers",
            weight: Weight::Problem,
            text: match &standing.last_error {
                Some(why) => format!("`{}` is down: {why}", standing.name),
                None => format!("`{}` is down.", standing.name),
            },
            mend: None,
            advice: Some(self.correct(standing.name.as_str())),
        });
        lacking.chain(down).collect()
    }
}

/// So many datasets wait for a moment whenever something is kept.
const FEW_WAITING: u64 = 20;

impl Around for Program {
    fn home(&self) -> PathBuf {
        self.config.persist_location.clone()
    }

    fn retention(&self) -> Retention {
        self.config.retention()
    }

    fn settings(&self) -> SettingsInForce {
        match in_force::of(&self.sources) {
            Ok(held) => {
                let settings = held.settings.into_iter().map(|held| HeldSetting {
                    key: held.key,
                    value: held.value,
                    from: held.from,
                });
                SettingsInForce { file: held.file, settings: settings.collect() }
            }
            Err(problems) => SettingsInForce { file: problems.to_string(), settings: Vec::new() },
        }
    }

    fn servers(&self) -> Vec<KnownServer> {
        let remembered = Remembered::new(&self.config.persist_location);
        let tools = |server: &Server| {
            remembered.tools(&Remembered::key(server)).and_then(|list| tools(&list))
        };
        let seen = |server: &Server| {
            let Sighting { at, revision, error } = remembered.sighting(server)?;
            Some(SeenServer { at, revision, error })
        };
        let sole = match &self.running {
            Running::ForEachSession(sole) => Some((sole, "starts for each session")),
            Running::Elsewhere(sole) => Some((sole, "runs elsewhere")),
            Running::Nothing | Running::Group(_) => None,
        };
        let sole = sole.map(|(sole, state)| KnownServer {
            name: sole.name.clone(),
            reached_by: sole.reached_by.clone(),
            clients: Vec::new(),
            state: state.to_owned(),
            lacks: Vec::new(),
            tools: None,
            seen: None,
        });
        // A group begins when a client connects, and ends with it.
        let is_awaited = match &self.running {
            Running::Group(group) => !group.is_under_way(),
            Running::Nothing | Running::ForEachSession(_) | Running::Elsewhere(_) => false,
        };
        let of_settings = self.config.servers.iter().map(|server| KnownServer {
            name: server.name.clone(),
            reached_by: server.reached_by(),
            clients: Vec::new(),
            state: match (server.is_enabled, server.start) {
                (false, _) => "starts never",
                (true, _) if is_awaited => "not started: no client is connected",
                (true, Start::Eager) => "starts at once",
                (true, Start::Lazy) => "starts when needed",
            }
            .to_owned(),
            lacks: server.lacks.clone(),
            tools: tools(server),
            seen: seen(server),
        });
        let of_clients =
            doctor::fronted_here(&self.config, self.read).into_iter().map(|one| KnownServer {
                state: "started by its client".to_owned(),
                lacks: Vec::new(),
                tools: one.server.as_ref().ok().and_then(tools),
                seen: one.server.as_ref().ok().and_then(seen),
                name: one.name,
                reached_by: one.reached_by,
                clients: one.clients,
            });
        sole.into_iter().chain(of_settings).chain(of_clients).collect()
    }

    fn live(&self) -> Live {
        match &self.running {
            Running::Nothing => Live::Nothing,
            Running::Group(group) => Live::Group(group.clone()),
            Running::ForEachSession(_) => Live::ForEachSession,
            Running::Elsewhere(_) => Live::Elsewhere,
        }
    }

    fn check_command(&self, server: &str) -> Option<String> {
        let is_known = self.config.servers.iter().any(|known| known.name == server);
        is_known.then(|| self.check(server))
    }

    fn attention(&self) -> Vec<Finding> {
        let mut findings = self.of_servers();
        findings.extend(self.of_index());
        findings.extend(self.of_models());
        findings
    }

    fn examination(&self) -> Examination {
        let examined = doctor::examine(&self.sources, Servers::Leave, self.read);
        let found = examined.into_iter().map(|found| Finding {
            area: found.area.title(),
            weight: match found.state {
                doctor::State::Problem => Weight::Problem,
                doctor::State::Warning => Weight::Warning,
                doctor::State::Note => Weight::Note,
                doctor::State::Ok => Weight::Ok,
            },
            text: found.text,
            mend: found.mend,
            advice: found.advice,
        });
        // The doctor starts servers to see how they stand; here some are under way.
        let findings: Vec<Finding> = found.chain(self.of_servers()).collect();
        let count = |weight| findings.iter().filter(|it| it.weight == weight).count() as u64;
        let verdict = doctor::verdict(count(Weight::Problem), count(Weight::Warning));
        Examination { at: Timestamp::now(), verdict, findings }
    }
}

/// The tools of a list, each with what its definition costs.
fn tools(list: &[u8]) -> Option<Vec<KnownTool>> {
    let list: Value = serde_json::from_slice(list).ok()?;
    let tools = list["tools"].as_array()?.iter().map(|tool| KnownTool {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        tokens: forebay_records::tokens(&tool.to_string()),
    });
    Some(tools.collect())
}
