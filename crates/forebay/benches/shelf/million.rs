//! A shelf of a million datasets: what it still does at once, and what takes long.

use std::{fmt::Write as _, path::Path, process::Command, time::Instant};

use jiff::SignedDuration;
use serde_json::json;

use crate::common::{
    Home,
    copies::{self, Copies, Payloads, Rows, VARIABLES, name, tool},
    median, millis, processes,
    session::Session,
};

const COUNT: u64 = 1_000_000;
const STARTS: usize = 5;

pub(crate) fn report(home: &Home, report: &mut String) {
    let shelf = home.store("million");
    let started = Instant::now();
    let copies = Copies {
        count: COUNT,
        over: SignedDuration::from_hours(24 * 29),
        tools: 5,
        records: 30,
        payloads: Payloads::Shared,
        rows: Rows::ToBeMade,
    };
    copies::fill(&shelf, &copies);
    let _ =
        writeln!(report, "\n{COUNT} datasets: made in {:.0} s", started.elapsed().as_secs_f64());
    for (what, arguments) in [
        ("catalog made anew", &["datasets", "list"][..]),
        ("`datasets list`", &["datasets", "list"]),
        ("`stats`", &["stats"]),
    ] {
        command(what, &shelf, arguments, report);
    }
    copies::check(&shelf, COUNT);
    let query = format!("SELECT count(*) FROM {}", tool(0));
    for (what, tool, arguments) in [
        ("list", "list-saved-datasets", json!({})),
        ("query by a tool's name", "analyze-with-duckdb", json!({"query": query})),
        ("read", "read-saved-dataset", json!({"dataset_id": name(0)})),
        ("capture", "records", json!({"count": 400})),
    ] {
        let times = (0..STARTS).map(|_| Session::start(&shelf, &VARIABLES).time(tool, &arguments));
        let time = millis(median(times.collect()));
        let _ = writeln!(report, "  first of a session: {what:<24} {time:>9.1} ms");
    }
    command("`datasets gc`", &shelf, &["datasets", "gc"], report);
    let catalog = std::fs::metadata(shelf.join("catalog.db")).map_or(0, |file| file.len());
    let _ = writeln!(report, "  catalog: {} MB", catalog / 1_000_000);
}

/// Runs a command once, and tells what it took.
fn command(what: &str, shelf: &Path, arguments: &[&str], report: &mut String) {
    let mut forebay = Command::new(env!("CARGO_BIN_EXE_forebay"));
    forebay.args(arguments).env("FOREBAY_HOME", shelf).envs(VARIABLES);
    let taken = processes::run(&mut forebay);
    let (time, peak) = (millis(taken.time), taken.peak);
    let _ = writeln!(report, "  {what:<44} {time:>9.1} ms, {peak:.0} MiB at most");
}
