//! What a full shelf costs.
//!
//! `cargo bench --bench shelf` measures in one run, and prints with what is to be reached:
//!
//! - `growth`: opening, listing, querying, reading and keeping with 100 datasets on the shelf, 10,000,
//!   100,000 in 30 days and 100,000 in one day; tidying up, and making the catalog anew
//! - `history`: a query over all results of a tool, of which there are 1,000 and 10,000
//!
//! With such a name as an argument (`-- history`), it measures only that. The shelves take 3 GB of the
//! disk for a while.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]

#[path = "../common/mod.rs"]
mod common;
mod growth;
mod history;
mod lines;

use common::Home;

fn main() {
    common::run(&Home::new("shelf"), &[("growth", growth::report), ("history", history::report)]);
}
