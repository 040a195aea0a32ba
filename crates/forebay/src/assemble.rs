//! Puts the parts together: which interceptors stand in the chain, and where things are kept.

use std::sync::{Arc, atomic::AtomicBool};

use anyhow::{Context, Result};
use forebay_intercept::{Keeper, Usage};
use forebay_proxy::{
    body::Spool,
    chain::{Chain, Deadlines, Interceptor},
    record::Recorder,
    relay::Relay,
    router::{Router, UpstreamName},
};
use forebay_query::{Limits, Service};
use forebay_store::{Shelf, Store};

use crate::config::Config;

/// A message up to this long is never written to disk.
const MAX_MEMORY_BYTES: usize = 16 * 1024 * 1024;

/// The whole way between one client and one upstream. Unless that is turned off, large results are
/// kept, and all are counted.
pub(crate) fn relay(
    upstream: UpstreamName,
    config: Config,
    recorder: Option<Recorder>,
) -> (Relay, Option<Arc<Usage>>) {
    let router = Router::sole(upstream);
    if !config.enabled {
        return (Relay::new(router, Chain::default(), recorder), None);
    }
    let shelf = Shelf::new(&config.persist_location, config.durability(), config.retention());
    let shelf = Arc::new(shelf);
    // What was kept before is tidied up meanwhile.
    shelf.tidy_if_due();
    let usage = Arc::new(usage(shelf.clone()));
    let keeper: Arc<dyn Interceptor> = Arc::new(Keeper::new(shelf, config.policy, usage.clone()));
    let chain = Chain::new([keeper], Deadlines::default());
    (Relay::new(router, chain, recorder), Some(usage))
}

fn usage(shelf: Arc<Shelf>) -> Usage {
    Usage::new(move |upstream, tool, counts| {
        Ok(shelf.store()?.add_usage(upstream, tool, counts)?)
    })
}

/// What answers queries over what has been kept, in processes of their own.
pub(crate) fn service(config: &Config) -> Result<Service> {
    let program = std::env::current_exe().context("the program's own file is not found")?;
    let arguments = vec!["query-worker".into()];
    Ok(Service::new(&config.persist_location, Limits::default(), program, arguments))
}

/// Answers queries, in the process that is for that.
pub(crate) fn serve_queries() -> Result<()> {
    /// Not among those that the library names on every system.
    const SIGXFSZ: i32 = 25;
    // A file that grows past its limit is an error of that write, not the end.
    let ignored = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, ignored)?;
    Ok(forebay_query::serve(&|payload, facts, out| {
        let written = match facts {
            Some(facts) => forebay_intercept::write_rows(payload, facts, out),
            None => forebay_intercept::write_lines(payload, out),
        }?;
        Ok((written.rows, written.longest_line))
    })?)
}

/// What has been kept.
pub(crate) fn store(config: &Config) -> Result<Store> {
    let home = &config.persist_location;
    Store::open(home, config.durability())
        .with_context(|| format!("cannot open the store in `{}`", home.display()))
}

/// Where messages that are too long for memory are kept while they pass.
pub(crate) fn spool(config: &Config) -> Spool {
    Spool { max_memory_bytes: MAX_MEMORY_BYTES, directory: config.persist_location.join("spool") }
}
