//! Listing and reading with many datasets on the shelf, beside few.

use std::{
    fmt::Write as _,
    path::Path,
    time::{Duration, Instant},
};

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::common::{
    Home,
    copies::{self, Copies, Payloads, Rows, VARIABLES, name, tool},
    median, millis, processes, ratio,
    session::Session,
    target,
};

const SIZES: [u64; 2] = [100, 10_000];
const RECORDS: u64 = 5_000;
const DAYS: i64 = 60;
const CALLS: usize = 51;

pub(crate) fn report(home: &Home, report: &mut String) {
    let mut shelves = SIZES.map(|size| {
        let store = home.store(&size.to_string());
        let started = Instant::now();
        let over = SignedDuration::from_hours(24 * DAYS);
        let copies = Copies {
            count: size,
            over,
            tools: 5,
            records: RECORDS,
            payloads: Payloads::Shared,
            rows: Rows::Made,
        };
        copies::fill(&store, &copies);
        copies::check(&store, size);
        let _ = writeln!(
            report,
            "\n{size} datasets over {DAYS} days, made in {:.1} s",
            started.elapsed().as_secs_f64()
        );
        Shelf::open(&store, size, report)
    });
    let _ =
        writeln!(report, "\n  warm, p50                       {:>8}   {:>8}", SIZES[0], SIZES[1]);
    let mut times = vec![[const { Vec::new() }; 2]; shelves[0].asked.len()];
    // In turns, so that whatever else the machine does falls on all of them.
    for _ in 0..CALLS {
        for (index, times) in times.iter_mut().enumerate() {
            for (shelf, times) in shelves.iter_mut().zip(times) {
                times.push(shelf.time(index));
            }
        }
    }
    let mut ratios = Vec::new();
    for ((name, ..), times) in shelves[0].asked.iter().zip(times) {
        let [few, many] = times.map(median);
        let _ = writeln!(report, "    {name:<28} {:>8.2} ms {:>8.2} ms", millis(few), millis(many));
        ratios.push((name, ratio(many, few)));
    }
    for (name, value) in ratios {
        target(report, name, value, "≤ 2");
    }
}

/// A session with a shelf, and what it is asked.
struct Shelf {
    session: Session,
    asked: Vec<(&'static str, &'static str, Value)>,
}

impl Shelf {
    /// Starts a session and asks everything once.
    fn open(home: &Path, size: u64, report: &mut String) -> Self {
        const LIMIT: u64 = 20;
        let (list, read) = ("list-saved-datasets", "read-saved-dataset");
        // The latest of its tool, so that all that is read and queried is one dataset: a database
        // reaches only what it was made for, and another one would be made at each turn.
        let (dataset, deep) = (name(3), RECORDS / LIMIT - 10);
        let asked = vec![
            ("list, first page", list, json!({})),
            ("list, last page", list, json!({"page": size / LIMIT})),
            ("list, of a tool", list, json!({"filter": {"tool": tool(3)}})),
            ("read, first page", read, json!({"dataset_id": dataset})),
            ("read, a deep page", read, json!({"dataset_id": dataset, "page": deep})),
            (
                "query, by a tool's name",
                "analyze-with-duckdb",
                json!({
                    "query": format!("SELECT count(*) FROM {}", tool(3)),
                }),
            ),
        ];
        let mut shelf = Self { session: Session::start(home, &VARIABLES), asked };
        for index in 0..shelf.asked.len() {
            let cold = millis(shelf.time(index));
            let _ = writeln!(report, "    {:<28} {cold:>8.2} ms at first", shelf.asked[index].0);
        }
        // A session tidies a moment after its start, at a low priority.
        processes::wait_until_quiet(shelf.session.process());
        shelf
    }

    fn time(&mut self, index: usize) -> Duration {
        let (_, tool, arguments) = &self.asked[index];
        self.session.time(tool, arguments)
    }
}
