//! Puts the parts together: which interceptors stand in the chain, and where things are kept.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use forebay_intercept::{Keeper, Usage};
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
use forebay_store::{Counts, Shelf, Store};
use forebay_tools::{Behind, Desk, Exposure, Preparation, Toolbox};

use crate::{config::Config, traces::Traces};

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
}

/// What has been noted of what passed, and must be written or sent before the program ends.
#[derive(Default)]
pub(crate) struct Notes {
    usage: Option<Arc<Usage>>,
    traces: Option<Arc<Traces>>,
}

impl Notes {
    /// Writes and sends all of it; returns when that is done, or cannot be.
    pub(crate) fn write_down(&self) {
        if let Some(usage) = &self.usage {
            usage.write_down();
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
    Beside { recorder, behind, metrics }: Beside,
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
        return Ok((Relay::new(router, chain, recorder), Notes { usage: None, traces }));
    }
    let started_in = std::env::current_dir().ok();
    config.policy.directory = started_in.map(|path| path.to_string_lossy().into_owned());
    let shelf = shelf(&config);
    // What was kept before is tidied up meanwhile.
    shelf.tidy_if_due();
    let usage = Arc::new(usage(shelf.clone()));
    let keeper = Keeper::new(shelf.clone(), config.policy.clone(), router.clone(), usage.clone())
        .telling(telemetry.clone());
    let lists_all = behind.as_ref().is_none_or(|behind| behind.exposure == Exposure::All);
    let is_toolless = config.offer.tools.is_empty() && lists_all;
    let chain: Vec<Arc<dyn Interceptor>> = if is_toolless {
        vec![Arc::new(keeper)]
    } else {
        let preparation = Preparation::with(preparing_service(&config)?);
        let desk = desk(&config, shelf)?;
        let toolbox = Toolbox::new(desk, config.offer, config.policy, preparation);
        let toolbox = match behind {
            Some(behind) => toolbox.in_front_of(behind, usage.clone()),
            None => toolbox,
        };
        let (toolbox, after_capture) = forebay_tools::placed(toolbox);
        vec![toolbox, Arc::new(keeper.followed_by(after_capture))]
    };
    let chain = Chain::new(chain, Deadlines::default()).telling(telemetry);
    Ok((Relay::new(router, chain, recorder), Notes { usage: Some(usage), traces }))
}

/// Where what was kept is looked at.
pub(crate) fn desk(config: &Config, shelf: Arc<Shelf>) -> Result<Desk> {
    let service = service(config, config.query.clone(), &[])?;
    Ok(Desk::new(&config.persist_location, shelf, service).with_formulas(config.formulas))
}

/// What is kept, opened when it is needed.
pub(crate) fn shelf(config: &Config) -> Arc<Shelf> {
    Arc::new(Shelf::new(&config.persist_location, config.durability(), config.retention()))
}

fn usage(shelf: Arc<Shelf>) -> Usage {
    let write = move |counts: &[(&str, &str, Counts)]| {
        shelf.store()?.enter_new(counts)?;
        shelf.tidy_if_due();
        Ok(())
    };
    Usage::new(write)
}

/// What answers queries over what has been kept, in processes of their own.
fn service(config: &Config, limits: Limits, flags: &[&str]) -> Result<Service> {
    // The file itself, even if another has taken its name since.
    let running = PathBuf::from("/proc/self/exe");
    let program = if running.exists() {
        running
    } else {
        std::env::current_exe().context("the program's own file is not found")?
    };
    let arguments = ["query-worker"].iter().chain(flags).map(Into::into).collect();
    Ok(Service::new(&config.persist_location, limits, program, arguments))
}

/// What prepares results for queries, and gives way to everything else.
fn preparing_service(config: &Config) -> Result<Service> {
    let limits = Limits { idle: PREPARATION_IDLE, ..config.query.clone() };
    service(config, limits, &["--background"])
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
