//! A query over a captured result of a million records, beside DuckDB on its own.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use forebay_query::Limits;
use forebay_store::Dataset;
use forebay_testkit::real;
use serde_json::{Value, json};

use crate::common::{
    Home, Server, median, millis, ratio, resident,
    session::{Session, wait_for},
    target,
};

/// The DuckDB that is our own, too.
const DUCKDB: &str = "1.5.6";
const RECORDS: u64 = 1_000_000;
const CALLS: usize = 31;
/// Reading a payload takes a second or more.
const PAYLOAD_CALLS: usize = 5;

pub(crate) fn report(home: &Home, report: &mut String) {
    let mut session = Session::start(&home.store("million"), &[]);
    let dataset = session.keep_records(RECORDS);
    let kept = Instant::now();
    let megabytes = dataset.metadata().bytes() as f64 / 1e6;
    let _ = writeln!(report, "{RECORDS} records, {megabytes:.1} MB");
    rows_in_background(&session, &dataset, kept, report);
    rows_in_query(&mut session, &dataset, report);
    beside_duckdb(&mut session, &dataset, report);
}

/// How long after the reply the rows are there that nobody has asked for yet.
fn rows_in_background(session: &Session, dataset: &Dataset, kept: Instant, report: &mut String) {
    let (_, worker) = wait_for("a worker starts", || session.workers().first().copied());
    let started = Instant::now();
    let rows = dataset.rows_path(0);
    wait_for("the rows are made", || rows.exists().then_some(()));
    let size = fs::metadata(&rows).map_or(0.0, |file| file.len() as f64 / 1e6);
    let _ = writeln!(
        report,
        "  rows made in the background: {:.2} s after the reply, {:.2} s of work, {size:.1} MB",
        kept.elapsed().as_secs_f64(),
        started.elapsed().as_secs_f64(),
    );
    target(report, "  its peak memory, MiB", resident(worker, "VmHWM"), "≤ 954");
}

/// How long the first query takes if the rows are not there.
fn rows_in_query(session: &mut Session, dataset: &Dataset, report: &mut String) {
    wait_for("the worker in the background ends", || session.workers().is_empty().then_some(()));
    fs::remove_file(dataset.rows_path(0)).expect("rows");
    let first = session.time("analyze-with-duckdb", &query(dataset.id().as_str()));
    let worker = session.workers()[0];
    let _ = writeln!(report, "  a query that makes them first: {:.2} s", first.as_secs_f64());
    target(report, "  its peak memory, MiB", resident(worker, "VmHWM"), "≤ 954");
}

fn beside_duckdb(session: &mut Session, dataset: &Dataset, report: &mut String) {
    let ours = query(dataset.id().as_str());
    let path = |path: &Path| path.to_str().expect("a path that is text").to_owned();
    let payload = sql(&format!("read_json_auto('{}')", path(&dataset.path(0))));
    let rows = sql(&format!("read_parquet('{}')", path(&dataset.rows_path(0))));
    let Some(mut duckdb) = duckdb() else {
        let _ = writeln!(report, "  DuckDB on its own: not measured, it could not be installed");
        return;
    };
    check(session, dataset, &mut duckdb, [&payload, &rows]);
    let (mut by_us, mut by_payload, mut by_rows) = (Vec::new(), Vec::new(), Vec::new());
    // In turns, so that whatever else the machine does falls on all of them.
    for round in 0..CALLS {
        by_us.push(session.time("analyze-with-duckdb", &ours));
        by_rows.push(duckdb.ask(rows.as_bytes()));
        if round % (CALLS / PAYLOAD_CALLS) == 0 {
            by_payload.push(duckdb.ask(payload.as_bytes()));
        }
    }
    let (by_us, by_payload, by_rows) = (median(by_us), median(by_payload), median(by_rows));
    let _ = writeln!(report, "  a group-by                             p50");
    let mut row = |name: &str, time: Duration| {
        let _ = writeln!(report, "    {name:<30} {:>9.2} ms", millis(time));
    };
    row("analyze-with-duckdb", by_us);
    row("DuckDB, read_json_auto", by_payload);
    row("DuckDB, the same rows", by_rows);
    target(report, "read_json_auto / ours", ratio(by_payload, by_us), "≥ 10");
    target(report, "ours / the same rows", ratio(by_us, by_rows), "≤ 1.5");
}

/// All three give the same.
fn check(session: &mut Session, dataset: &Dataset, duckdb: &mut Server, others: [&str; 2]) {
    let mut ours = query(dataset.id().as_str());
    ours["format"] = "json".into();
    let (_, reply) = session.call("analyze-with-duckdb", &ours);
    let rows: Vec<Value> = serde_json::from_str(&reply).expect("JSON");
    let names = ["city", "status", "orders", "total", "newest"];
    let rows: Value = rows
        .iter()
        .map(|row| names.iter().map(|name| row[name].clone()).collect::<Value>())
        .collect();
    for other in others {
        let theirs: Value =
            serde_json::from_slice(&duckdb.answer_to(other.as_bytes())).expect("JSON");
        assert_eq!(rows, theirs, "{other}");
    }
}

/// A process with the DuckDB of PyPI that may take as much as ours.
fn duckdb() -> Option<Server> {
    let Limits { memory_bytes, threads, .. } = Limits::default();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut command = Command::new(real::python_with("duckdb", DUCKDB)?);
    command
        .arg(real::source("bench/duckdb_session.py"))
        .arg(format!("{memory_bytes}B"))
        .arg(threads.min(cores).to_string());
    Some(Server::start(&mut command))
}

fn query(table: &str) -> Value {
    json!({"query": sql(table)})
}

fn sql(table: &str) -> String {
    format!(
        "SELECT city, status, count(*) AS orders, round(sum(total), 2) AS total, \
         CAST(max(created_at) AS VARCHAR) AS newest FROM {table} GROUP BY city, status ORDER BY ALL"
    )
}
