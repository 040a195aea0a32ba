//! What this program is made of.

use super::{Area, Finding, State};
use crate::version::Build;

pub(super) fn examine() -> Vec<Finding> {
    let Build { version, commit, target, profile, rustc, duckdb, model, catalog, protocol } =
        Build::of_this_program();
    let [oldest, .., newest] = protocol;
    let found = |text: String| Finding::new(Area::Versions, State::Ok, text);
    let model = model.unwrap_or("none");
    vec![
        found(format!(
            "forebay {version}, commit {commit}, for {target}, {profile}, by rustc {rustc}."
        )),
        found(format!(
            "DuckDB {duckdb}, embedding model {model}, catalog of version {catalog}, protocol {oldest} to \
             {newest}."
        )),
    ]
}
