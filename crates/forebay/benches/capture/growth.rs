//! Time and memory up to 1 GiB, and in other forms than a list of records.

use std::fmt::Write as _;

use crate::{
    call,
    common::{Home, resident, target},
    forebay,
};

const LIST_BYTES: [u64; 4] = [10 << 20, 100 << 20, 400 << 20, 1 << 30];
const FORM_BYTES: u64 = 300 << 20;

pub(crate) fn report(home: &Home, report: &mut String) {
    let store = home.store("growth");
    let lists = LIST_BYTES.map(|bytes| ("bytes", bytes));
    let forms = ["results", "csv", "log", "prose"].map(|form| (form, FORM_BYTES));
    let mut most: f64 = 0.0;
    let _ = writeln!(report, "\nkept result            time       MB/s   resident");
    for (tool, bytes) in lists.into_iter().chain(forms) {
        let mut server = forebay(&store, &[]);
        // The tokenizer is loaded with the first result that needs it.
        server.ask(&call(1, "bytes", 1 << 20));
        let time = server.ask(&call(2, tool, bytes));
        let peak = resident(server.child.id(), "VmHWM");
        most = most.max(peak);
        let form = if tool == "bytes" { "list" } else { tool };
        let _ = writeln!(
            report,
            "  {form:<7} {:>5} MiB {:>8.2} s {:>8.0} {peak:>6.0} MiB",
            bytes >> 20,
            time.as_secs_f64(),
            bytes as f64 / time.as_secs_f64() / 1e6,
        );
    }
    target(report, "resident at most, MiB", most, "≤ 128");
}
