//! Puts the parts together: which interceptors stand in the chain, and where things are kept.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Context, Result};
use forebay_intercept::{Keeper, Policy, Usage};
use forebay_proxy::{
    body::Spool,
    chain::{Chain, Deadlines, Interceptor},
    record::Recorder,
    relay::Relay,
    router::{Router, UpstreamName},
};
use forebay_store::{Durability, Store};

/// A message up to this long is never written to disk.
const MAX_MEMORY_BYTES: usize = 4 * 1024 * 1024;

/// The whole way between one client and one upstream; with a policy, large results are kept, and
/// all are counted.
pub(crate) fn relay(
    upstream: UpstreamName,
    policy: Option<Policy>,
    recorder: Option<Recorder>,
) -> Result<(Relay, Option<Arc<Usage>>)> {
    let router = Router::sole(upstream);
    let Some(policy) = policy else {
        return Ok((Relay::new(router, Chain::default(), recorder), None));
    };
    let store = Arc::new(store()?);
    let usage = Arc::new(usage(store.clone()));
    let keeper: Arc<dyn Interceptor> = Arc::new(Keeper::new(store, policy, usage.clone()));
    let chain = Chain::new([keeper], Deadlines::default());
    Ok((Relay::new(router, chain, recorder), Some(usage)))
}

fn usage(store: Arc<Store>) -> Usage {
    Usage::new(move |upstream, tool, counts| Ok(store.add_usage(upstream, tool, counts)?))
}

/// What has been kept.
pub(crate) fn store() -> Result<Store> {
    let home = home();
    Store::open(&home, Durability::default())
        .with_context(|| format!("cannot open the store in `{}`", home.display()))
}

/// Where messages that are too long for memory are kept while they pass.
pub(crate) fn spool() -> Spool {
    Spool { max_memory_bytes: MAX_MEMORY_BYTES, directory: home().join("spool") }
}

/// The directory for everything that Forebay keeps: `FOREBAY_HOME`, or `~/.forebay`.
fn home() -> PathBuf {
    let given = std::env::var_os("FOREBAY_HOME").filter(|path| !path.is_empty());
    given.map_or_else(
        || std::env::home_dir().unwrap_or_else(std::env::temp_dir).join(".forebay"),
        PathBuf::from,
    )
}
