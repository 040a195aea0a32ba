//! What this program is, for whoever reports a problem with it.

use std::sync::LazyLock;

use forebay_embed::{Local, MODEL};
use serde::Serialize;

/// The parts that differ from one build to another.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Build {
    pub(crate) version: &'static str,
    /// The commit with its day, or what was said in its place when it was built.
    pub(crate) commit: &'static str,
    pub(crate) target: &'static str,
    pub(crate) profile: &'static str,
    pub(crate) rustc: &'static str,
    pub(crate) duckdb: &'static str,
    /// The embedding model; `None` if it was built without.
    pub(crate) model: Option<&'static str>,
    /// The version of the catalog in a store.
    pub(crate) catalog: i32,
    /// The revisions of the protocol that are known, the oldest first.
    pub(crate) protocol: [&'static str; 5],
}

impl Build {
    pub(crate) fn of_this_program() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("BUILT_COMMIT"),
            target: env!("BUILT_TARGET"),
            profile: env!("BUILT_PROFILE"),
            rustc: env!("BUILT_RUSTC"),
            duckdb: forebay_query::DUCKDB_VERSION,
            model: Local::is_inside().then_some(MODEL),
            catalog: forebay_store::CATALOG_VERSION,
            protocol: forebay_proxy::protocol::REVISIONS,
        }
    }
}

/// What `--version` says after the program's name; `-V` says the first line of it.
pub(crate) fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let Build { version, commit, target, profile, rustc, duckdb, model, catalog, protocol } =
            Build::of_this_program();
        let [oldest, .., newest] = protocol;
        format!(
            "{version}\ncommit:   {commit}\ntarget:   {target}, {profile}\nrustc:    {rustc}\nDuckDB:   \
             {duckdb}\nmodel:    {}\ncatalog:  version {catalog}\nprotocol: {oldest} to {newest}",
            model.unwrap_or("none: it was built without")
        )
    });
    &TEXT
}
