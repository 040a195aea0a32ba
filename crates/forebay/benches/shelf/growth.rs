//! What is asked of a shelf every day, with few datasets on it and with many.

use std::{
    fmt::Write as _,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde_json::{Value, json};

use crate::{
    common::{
        Home,
        copies::{self, Copies, Payloads, Rows, VARIABLES, name, tool},
        median, millis, processes,
        session::Session,
    },
    lines::{self, Growth, Line},
};

const STARTS: usize = 5;
const CALLS: usize = 31;
/// Of those on the shelf, so many that a payload takes one block of the disk.
const RECORDS: u64 = 30;
/// Of what is kept meanwhile, for 60 KB.
const NEW_RECORDS: u64 = 400;

/// The shelves: their names, how many datasets are on them, and over which time they were kept.
const SHELVES: [(&str, u64, Over); 4] = [
    ("100", 100, Over::Days(29)),
    ("10,000", 10_000, Over::Days(29)),
    ("100,000 in 30 days", 100_000, Over::Days(29)),
    ("100,000 in one day", 100_000, Over::Today),
];

#[derive(Clone, Copy)]
enum Over {
    Days(i64),
    Today,
}

pub(crate) fn report(home: &Home, report: &mut String) {
    let shelves = Shelves(SHELVES.map(|(name, count, over)| {
        let shelf = home.store(name);
        let started = Instant::now();
        let copies = Copies {
            count,
            over: over.duration(),
            tools: 5,
            records: RECORDS,
            payloads: Payloads::Own,
            rows: Rows::Made,
        };
        copies::fill(&shelf, &copies);
        let _ = writeln!(report, "{name}: made in {:.1} s", started.elapsed().as_secs_f64());
        shelf
    }));
    let mut lines = shelves.once("catalog made anew", &["datasets", "list"]).to_vec();
    for (shelf, (_, count, _)) in shelves.0.iter().zip(SHELVES) {
        copies::check(shelf, count);
    }
    lines.extend(shelves.first_touches());
    lines.push(shelves.often("`datasets list`", &["datasets", "list"]));
    lines.push(shelves.often("`stats`", &["stats"]));
    lines.extend(shelves.once("`datasets gc`", &["datasets", "gc"]));
    lines.extend(shelves.warm());
    lines::write(&SHELVES.map(|(name, ..)| name.to_owned()), &lines, report);
}

impl Over {
    fn duration(self) -> SignedDuration {
        match self {
            Self::Days(days) => SignedDuration::from_hours(24 * days),
            Self::Today => {
                let now = Timestamp::now();
                let midnight = now.to_zoned(TimeZone::UTC).start_of_day().expect("a day");
                now.duration_since(midnight.timestamp())
            }
        }
    }
}

/// Everything is asked of all of them in turns, so that whatever else the machine does falls on all.
struct Shelves([PathBuf; 4]);

impl Shelves {
    /// A command that is run once: its time and the memory that it takes.
    fn once(&self, what: &str, arguments: &[&str]) -> [Line; 2] {
        let taken = self.0.each_ref().map(|shelf| processes::run(&mut forebay(shelf, arguments)));
        let line = |what: String, unit, figure: fn(&processes::Taken) -> f64| Line {
            what,
            unit,
            figures: taken.iter().map(figure).collect(),
            growth: Growth::Free,
        };
        [
            line(what.to_owned(), "ms", |taken| millis(taken.time)),
            line("  its peak memory".to_owned(), "MiB", |taken| taken.peak),
        ]
    }

    /// A command that is run a few times.
    fn often(&self, what: &str, arguments: &[&str]) -> Line {
        self.in_turns(what, STARTS, |shelf| processes::run(&mut forebay(shelf, arguments)).time)
    }

    /// The first thing that a session asks.
    fn first_touches(&self) -> Vec<Line> {
        let mut kept = NEW_RECORDS;
        let lines = asked().into_iter().map(|(what, tool, mut arguments)| {
            let what = format!("first of a session: {what}");
            self.in_turns(&what, STARTS, |shelf| {
                make_new(&mut arguments, &mut kept);
                Session::start(shelf, &VARIABLES).time(tool, &arguments)
            })
        });
        lines.collect()
    }

    /// What a session asks after that.
    fn warm(&self) -> Vec<Line> {
        let mut sessions = self.0.each_ref().map(|shelf| Session::start(shelf, &VARIABLES));
        let mut kept = NEW_RECORDS + 100;
        let mut asked = asked();
        for session in &mut sessions {
            for (_, tool, arguments) in &mut asked {
                make_new(arguments, &mut kept);
                session.time(tool, arguments);
            }
        }
        // They tidy a moment after their start, at a low priority.
        for session in &sessions {
            processes::wait_until_quiet(session.process());
        }
        let mut times = vec![[const { Vec::new() }; 4]; asked.len()];
        for _ in 0..CALLS {
            for ((_, tool, arguments), times) in asked.iter_mut().zip(&mut times) {
                for (session, times) in sessions.iter_mut().zip(times) {
                    make_new(arguments, &mut kept);
                    times.push(session.time(tool, arguments));
                }
            }
        }
        let lines = asked.iter().zip(times);
        lines.map(|((what, ..), times)| line(&format!("after that: {what}"), times)).collect()
    }

    fn in_turns(
        &self,
        what: &str,
        calls: usize,
        mut ask: impl FnMut(&PathBuf) -> Duration,
    ) -> Line {
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..calls {
            for (shelf, times) in self.0.iter().zip(&mut times) {
                times.push(ask(shelf));
            }
        }
        line(what, times)
    }
}

fn line(what: &str, times: [Vec<Duration>; 4]) -> Line {
    let figures = times.map(|times| millis(median(times))).to_vec();
    Line { what: what.to_owned(), unit: "ms", figures, growth: Growth::Judged }
}

/// What a session asks: in words, the tool and its arguments.
fn asked() -> Vec<(&'static str, &'static str, Value)> {
    // The latest of its tool, so that all that is read and queried is one dataset: a database reaches
    // only what it was made for, and another one would be made at each turn.
    let query = format!("SELECT count(*) FROM {}", tool(0));
    vec![
        ("list", "list-saved-datasets", json!({})),
        ("query by a tool's name", "analyze-with-duckdb", json!({"query": query})),
        ("read", "read-saved-dataset", json!({"dataset_id": name(0)})),
        ("capture", "records", json!({"count": NEW_RECORDS})),
    ]
}

/// What is kept is another result each time.
fn make_new(arguments: &mut Value, kept: &mut u64) {
    if let Some(count) = arguments.get_mut("count") {
        *kept += 1;
        *count = (*kept).into();
    }
}

fn forebay(shelf: &PathBuf, arguments: &[&str]) -> Command {
    let mut forebay = Command::new(env!("CARGO_BIN_EXE_forebay"));
    forebay.args(arguments).env("FOREBAY_HOME", shelf).envs(VARIABLES);
    forebay
}
