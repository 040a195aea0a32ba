//! A query over a few thousand records, and what remains of it in memory.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::common::{
    Home, median, millis, resident,
    session::{Session, wait_for},
};

const RECORDS: u64 = 5_000;
const CALLS: usize = 101;
const STARTS: usize = 7;
const ANALYZE: &str = "analyze-with-duckdb";

pub(crate) fn report(home: &Home, report: &mut String) {
    let store = home.store("small");
    let mut session = Session::start(&store, &[]);
    let dataset = session.keep_records(RECORDS);
    wait_for("its rows are made", || dataset.rows_path(0).exists().then_some(()));
    let query = json!({"query": format!("SELECT count(*) FROM {}", dataset.id())});
    let cold =
        median((0..STARTS).map(|_| Session::start(&store, &[]).time(ANALYZE, &query)).collect());
    session.time(ANALYZE, &query);
    let warm = median((0..CALLS).map(|_| session.time(ANALYZE, &query)).collect());
    let _ = writeln!(
        report,
        "\ncount(*) of {RECORDS} records, p50: {:.2} ms, {:.1} ms with the start of a worker",
        millis(warm),
        millis(cold)
    );
    drop(session);
    at_rest(Session::start(&store, &[("FOREBAY_QUERY_IDLE_TIME", "1")]), &query, report);
}

/// What a session holds after a query, and when it has been left alone for a second.
fn at_rest(mut session: Session, query: &Value, report: &mut String) {
    let before = resident(session.process(), "VmRSS");
    session.time(ANALYZE, query);
    let worker = session.workers()[0];
    let _ = writeln!(
        report,
        "  resident: forebay {before:.1} MiB before, {:.1} MiB after; its worker {:.1} MiB",
        resident(session.process(), "VmRSS"),
        resident(worker, "VmRSS"),
    );
    let (time, ()) = wait_for("the worker ends", || session.workers().is_empty().then_some(()));
    let _ = writeln!(
        report,
        "  the worker has ended {:.1} s after it (idle time 1 s); forebay {:.1} MiB",
        time.as_secs_f64(),
        resident(session.process(), "VmRSS"),
    );
}
