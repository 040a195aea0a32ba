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
mod session;
mod shelves;
mod small;

use std::{fs, io::Write as _, path::PathBuf, time::Duration};

use forebay_testkit::programs;

/// Measures something, and adds it to the report.
type Part = fn(&Home, &mut String);

fn main() {
    let home = Home::new();
    // Cargo adds an option of its own.
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let parts: [(&str, Part); 3] =
        [("million", million::report), ("shelves", shelves::report), ("small", small::report)];
    for (name, part) in parts {
        if !wanted.is_empty() && !wanted.iter().any(|word| word == name) {
            continue;
        }
        let mut report = String::new();
        part(&home, &mut report);
        std::io::stdout().write_all(report.as_bytes()).expect("stdout");
    }
}

/// Stores for the benchmark alone.
struct Home(PathBuf);

impl Home {
    fn new() -> Self {
        let path = programs::target_directory().join("bench-home-query");
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    /// One of them, which is empty at first.
    fn store(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
