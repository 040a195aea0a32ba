//! What it costs to ask for what was kept, beside what DuckDB takes on its own.
//!
//! `cargo bench --bench query` measures in one run, and prints as ratios: a query over a captured
//! result of a million records, beside DuckDB from PyPI on the same payload and on the same rows;
//! listing and reading with 10,000 datasets beside 100; a small query; memory while rows are made and
//! at rest. With `-- million`, `-- shelves` or `-- small` it measures only that.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

#[path = "../common/mod.rs"]
mod common;
mod million;
mod shelves;
mod small;

use common::Home;

fn main() {
    common::run(
        &Home::new("query"),
        &[("million", million::report), ("shelves", shelves::report), ("small", small::report)],
    );
}
