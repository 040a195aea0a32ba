//! A query over all results of a tool, whose rows nobody has made before.

use std::{fmt::Write as _, time::Duration};

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::common::{
    Home,
    copies::{self, Copies, ORIGINALS, Payloads, Rows, VARIABLES, tool},
    median, millis,
    session::Session,
    target,
};

/// How many results; at first and after that, in milliseconds, it is to take no longer than this.
type Case = (u64, Option<[&'static str; 2]>);

const CASES: [Case; 2] = [(1_000, None), (10_000, Some(["≤ 10000", "≤ 100"]))];
/// Of 60 KB.
const RECORDS: u64 = 400;
const CALLS: usize = 7;
const PATIENCE: Duration = Duration::from_secs(120);
/// What takes longer than this is not asked as often.
const LONG: Duration = Duration::from_secs(2);

pub(crate) fn report(home: &Home, report: &mut String) {
    let _ = writeln!(report, "\n  a count over TOOL_history");
    for (results, targets) in CASES {
        let shelf = home.store(&format!("history of {results}"));
        let count = results + ORIGINALS;
        let copies = Copies {
            count,
            over: SignedDuration::from_hours(12),
            tools: 1,
            records: RECORDS,
            payloads: Payloads::Own,
            rows: Rows::ToBeMade,
        };
        copies::fill(&shelf, &copies);
        copies::check(&shelf, count);
        // As long as a query may be given.
        let variables = [VARIABLES.as_slice(), &[("FOREBAY_QUERY_TIME_LIMIT", "100")]].concat();
        let start = || Session::start(&shelf, &variables);
        let mut session = start();
        let first = ask(&mut session, results);
        // One that may still be busy with the first would say nothing of a second.
        if first.is_err() {
            session = start();
        }
        let after = ask(&mut session, results).map(|time| {
            let calls = if time < LONG { CALLS } else { 1 };
            let more = (1..calls).filter_map(|_| ask(&mut session, results).ok());
            median(more.chain([time]).collect())
        });
        for (index, (when, time)) in [("at first", first), ("after that", after)].iter().enumerate()
        {
            let what = format!("{results} results, {when}");
            match (time, targets) {
                (Ok(time), Some(targets)) => {
                    target(report, &format!("  {what}, ms"), millis(*time), targets[index]);
                }
                (Ok(time), None) => {
                    let _ = writeln!(report, "    {what}, ms: {:.2}", millis(*time));
                }
                (Err(why), _) => {
                    let _ = writeln!(report, "    {what}: {why} (MISSED)");
                }
            }
        }
    }
}

/// Counts the records of all results; returns how long that took, or why it is not known.
fn ask(session: &mut Session, results: u64) -> Result<Duration, String> {
    let query = format!("SELECT count(*) AS n FROM {}_history", tool(0));
    let arguments = json!({"query": query, "format": "json"});
    let (time, reply) = session.try_call("analyze-with-duckdb", &arguments, PATIENCE)?;
    // The fixture puts one more in front.
    let expected = results * (RECORDS + 1);
    let rows: Value = serde_json::from_str(&reply).map_err(|_| reply.clone())?;
    if rows[0]["n"] == expected { Ok(time) } else { Err(format!("{rows} instead of {expected}")) }
}
