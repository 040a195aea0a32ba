//! Puts the parts together: which interceptors stand in the chain, and where things are kept.

use std::path::PathBuf;

use forebay_proxy::{
    body::Spool,
    chain::Chain,
    record::Recorder,
    relay::Relay,
    router::{Router, UpstreamName},
};

/// A message up to this long is never written to disk.
const MAX_MEMORY_BYTES: usize = 4 * 1024 * 1024;

/// The whole way between one client and one upstream.
pub(crate) fn relay(upstream: UpstreamName, recorder: Option<Recorder>) -> Relay {
    let router = Router::sole(upstream);
    let chain = Chain::default();
    Relay::new(router, chain, recorder)
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
