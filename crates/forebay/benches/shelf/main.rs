//! What a full shelf costs.
//!
//! `cargo bench --bench shelf` measures in one run, and prints with what is to be reached:
//!
//! - `growth`: opening, listing, querying, reading and keeping with 100 datasets on the shelf, 10,000,
//!   100,000 in 30 days and 100,000 in one day; tidying up, and making the catalog anew
//! - `history`: a query over all results of a tool, of which there are 1,000 and 10,000
//! - `million`: the same as `growth` with a million datasets, and only if it is asked for
//!
//! With such a name as an argument (`-- history`), it measures only that. The shelves take 3 GB of the
//! disk for a while, a million 7 GB and a quarter of an hour.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]

#[path = "../common/mod.rs"]
mod common;
mod growth;
mod history;
mod lines;
mod million;

use common::{Home, Part};

fn main() {
    let mut parts: Vec<(&str, Part)> =
        vec![("growth", growth::report), ("history", history::report)];
    if std::env::args().any(|word| word == "million") {
        parts.push(("million", million::report));
    }
    common::run(&Home::new("shelf"), &parts);
}
