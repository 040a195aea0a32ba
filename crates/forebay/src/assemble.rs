//! Puts the parts together: which interceptors stand in the chain, and where things are kept.

mod meaning;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result};
use forebay_insight::Insights;
use forebay_intercept::{Keeper, Links, Outputs as Urls, Policy, Usage};
use forebay_proxy::{
    body::Spool,
    chain::{Chain, Deadlines, Interceptor},
    metrics::Metrics,
    record::Recorder,
    relay::Relay,
    router::Router,
    telemetry::Telemetry,
};
use forebay_query::{Limits, Service};
use forebay_sandbox::Sandbox;
use forebay_search::Search;
use forebay_store::{JobFolder, Noted, Passed, Shelf, Store};
use forebay_system::process;
use forebay_tools::{
    Behind, Board, Cache, Desk, Exposure, Jobs, KnownTools, Listing, Pager, Preparation, Programs,
    References, Resources, Tool, Toolbox,
};

use crate::{config::Config, outputs::Outputs, traces::Traces};

use self::meaning::search_and_insights;
pub(crate) use self::meaning::{embedders, forget_gone, search};

/// A message up to this long is never written to disk.
const MAX_MEMORY_BYTES: usize = 16 * 1024 * 1024;

/// A process that prepares what was kept ends soon after it has nothing to do.
const PREPARATION_IDLE: Duration = Duration::from_secs(5);

/// What else there may be to a relay.
#[derive(Default)]
pub(crate) struct Beside {
    /// Writes down all that passes.
    pub(crate) recorder: Option<Recorder>,
    /// The servers behind a gateway.
    pub(crate) behind: Option<Behind>,
    /// Where what passes is counted.
    pub(crate) metrics: Option<Arc<Metrics>>,
    /// What gives URLs of what is kept.
    pub(crate) outputs: Option<Arc<Outputs>>,
}

/// What has been noted of what passed, and must be written or sent before the program ends.
#[derive(Default)]
pub(crate) struct Notes {
    usage: Option<Arc<Usage>>,
    insights: Option<Arc<Insights>>,
    traces: Option<Arc<Traces>>,
    /// Indexes what is kept for as long as it is held.
    search: Option<Arc<Search>>,
}

impl Notes {
    /// What finds what was kept by its meaning.
    pub(crate) fn search(&self) -> Option<Arc<Search>> {
        self.search.clone()
    }

    /// Writes and sends all of it; returns when that is done, or cannot be.
    pub(crate) fn write_down(&self) {
        if let Some(usage) = &self.usage {
            usage.write_down();
        }
        if let Some(insights) = &self.insights {
            insights.end();
        }
        if let Some(traces) = &self.traces {
            traces.send_all();
        }
    }
}

/// The whole way between clients and one upstream, or many. Unless that is turned off, large results are
/// kept, all are counted, and tools are added that look at what was kept.
pub(crate) fn relay(
    router: Router,
    mut config: Config,
    Beside { recorder, behind, metrics, outputs }: Beside,
) -> Result<(Relay, Notes)> {
    let traces = match &config.traces_url {
        Some(url) => Some(Arc::new(Traces::start(url, config.ca_file.as_deref())?)),
        None => None,
    };
    let mut telemetry: Vec<Arc<dyn Telemetry>> = Vec::new();
    telemetry.extend(metrics.map(|it| it as Arc<dyn Telemetry>));
    telemetry.extend(traces.clone().map(|it| it as Arc<dyn Telemetry>));
    if !config.enabled {
        let chain = Chain::default().telling(telemetry);
        let notes = Notes { traces, ..Notes::default() };
        return Ok((Relay::new(router, chain, recorder), notes));
    }
    let started_in = std::env::current_dir().ok();
    config.policy.directory = started_in.map(|path| path.to_string_lossy().into_owned());
    let of_outputs = outputs.as_ref().map(|outputs| outputs.shelf().clone());
    let shelf = of_outputs.unwrap_or_else(|| shelf(&config));
    let links = Links::new(outputs.map(|it| it as Arc<dyn Urls>), config.policy.clients);
    // What was kept before is tidied up meanwhile.
    shelf.tidy_if_due();
    let (search, insights) = search_and_insights(&config, &shelf)?;
    if let Some(search) = &search {
        search.follow();
    }
    let usage = Arc::new(usage(shelf.clone()));
    let keeper = Keeper::new(shelf.clone(), config.policy.clone(), router.clone(), usage.clone())
        .telling(telemetry.clone())
        .linking(links.clone());
    let insights = insights.map(Arc::new);
    let keeper = match &insights {
        Some(insights) => keeper.read_by(insights.clone()),
        None => keeper,
    };
    let lists_all = behind.as_ref().is_none_or(|behind| behind.exposure == Exposure::All);
    let has_jobs = config.jobs.argument || config.policy.has_jobs();
    let is_toolless = config.offer.tools.is_empty() && lists_all && !has_jobs;
    let desk = desk(&config, shelf.clone(), search.clone())?.linking(links);
    let pager = (!config.paging.is_off()).then(|| {
        let paging = config.paging.clone();
        Pager::new(paging, config.policy.clone(), router.clone(), shelf.clone())
    });
    let between = between(&config.policy, &desk, behind.as_ref(), pager, &usage);
    let mut chain: Vec<Arc<dyn Interceptor>> = Vec::new();
    if config.resources.is_enabled {
        let listing = if is_toolless { Listing::Unlisted } else { Listing::Listed };
        let (policy, max_bytes) = (config.policy.clone(), config.resources.max_bytes);
        chain.push(Arc::new(Resources::new(desk.clone(), policy, listing, max_bytes, &shelf)));
    }
    if is_toolless {
        chain.extend(between);
        chain.push(Arc::new(keeper));
    } else {
        let preparation = Preparation::with(preparing_service(&config)?);
        let programs = programs(&config)?;
        let board = has_jobs.then(|| Arc::new(board(&config)));
        let policy = config.policy.clone();
        let toolbox = Toolbox::new(desk, config.offer, config.policy, preparation);
        let toolbox = match behind {
            Some(behind) => toolbox.in_front_of(behind),
            None => toolbox.in_front_of_one(router.whole().clone()),
        };
        let toolbox = toolbox.running(programs).counting(usage.clone());
        let toolbox = match &board {
            Some(board) => toolbox.telling_of(board.clone()),
            None => toolbox,
        };
        let (toolbox, after_capture) = forebay_tools::placed(toolbox);
        let keeper = Arc::new(keeper.followed_by(after_capture));
        chain.push(toolbox);
        if let Some(board) = board {
            chain.push(Arc::new(Jobs::new(board, policy, router.clone(), keeper.clone())));
        }
        chain.extend(between);
        chain.push(keeper);
    }
    telemetry.push(usage.clone());
    let chain = Chain::new(chain, Deadlines::default()).telling(telemetry);
    Ok((
        Relay::new(router, chain, recorder),
        Notes { usage: Some(usage), insights, traces, search },
    ))
}

/// What stands between the tools and the keeper.
fn between(
    policy: &Policy,
    desk: &Desk,
    behind: Option<&Behind>,
    pager: Option<Pager>,
    usage: &Arc<Usage>,
) -> Vec<Arc<dyn Interceptor>> {
    let known = behind.map(|behind| KnownTools::of(behind.servers.clone())).unwrap_or_default();
    let known = Arc::new(known);
    let mut between: Vec<Arc<dyn Interceptor>> = Vec::new();
    if policy.references.is_enabled {
        let references = References::new(desk.clone(), policy.clone(), known.clone());
        between.push(Arc::new(references.noting(usage.clone())));
    }
    between.extend(pager.map(|pager| Arc::new(pager) as Arc<dyn Interceptor>));
    if policy.has_caching() {
        let usage = usage.clone();
        between.push(Arc::new(Cache::new(desk.clone(), policy.clone(), known, usage)));
    }
    between
}

/// Where calls are found that have become jobs.
fn board(config: &Config) -> Board {
    let folder = JobFolder::of(&config.persist_location);
    Board::new(folder, config.jobs.clone(), config.offer.name_of(Tool::RunStatus))
}

/// Where what was kept is looked at, and found by its meaning with `search`.
pub(crate) fn desk(
    config: &Config,
    shelf: Arc<Shelf>,
    search: Option<Arc<Search>>,
) -> Result<Desk> {
    let service = service(&config.persist_location, config.query.clone(), &[])?;
    let desk = Desk::new(&config.persist_location, shelf, service).with_formulas(config.formulas);
    Ok(match search {
        Some(search) => desk.finding_by(search),
        None => desk,
    })
}

/// What is kept, as it is offered over HTTP.
pub(crate) fn outputs(config: &Config) -> Arc<Outputs> {
    Arc::new(Outputs::new(config, shelf(config)))
}

/// What is kept, opened when it is needed.
pub(crate) fn shelf(config: &Config) -> Arc<Shelf> {
    Arc::new(Shelf::new(&config.persist_location, config.durability(), config.retention()))
}

fn usage(shelf: Arc<Shelf>) -> Usage {
    let write = move |passed: &[Passed<'_>], noted: &Noted| {
        shelf.store()?.enter_new_and_note(passed, noted)?;
        shelf.tidy_if_due();
        Ok(())
    };
    Usage::new(write)
}

/// What runs programs, in processes of their own.
fn programs(config: &Config) -> Result<Programs> {
    let sandbox = Sandbox::new(config.code.clone(), own_program()?, vec!["code-worker".into()]);
    Ok(Programs::new(sandbox, config.destructive))
}

fn own_program() -> Result<PathBuf> {
    process::own_program().context("the program's own file is not found")
}

/// What answers queries over what has been kept in `home`, in processes of their own.
pub(crate) fn service(home: &Path, limits: Limits, flags: &[&str]) -> Result<Service> {
    let program = own_program()?;
    let arguments = ["query-worker"].iter().chain(flags).map(Into::into).collect();
    Ok(Service::new(home, limits, program, arguments))
}

/// What prepares results for queries, and gives way to everything else.
fn preparing_service(config: &Config) -> Result<Service> {
    let limits = Limits { idle: PREPARATION_IDLE, ..config.query.clone() };
    service(&config.persist_location, limits, &["--background"])
}

/// What has been kept. Nothing is made if there is nothing.
pub(crate) fn store(config: &Config) -> Result<Store> {
    let home = &config.persist_location;
    Store::open_to_read(home, config.durability())
        .with_context(|| format!("cannot open the store in `{}`", home.display()))
}

/// Where messages that are too long for memory are kept while they pass.
pub(crate) fn spool(config: &Config) -> Spool {
    let directory = config.persist_location.join("spool");
    Spool::new(MAX_MEMORY_BYTES, config.max_spool_bytes, directory)
}
