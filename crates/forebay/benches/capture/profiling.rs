//! How fast the records of a result are looked through, beside a parse that keeps them.

use std::{fmt::Write as _, hint::black_box, io::Write as _, time::Instant};

use crate::{
    call,
    common::{Home, median, target},
    forebay,
};

const RECORDS: u64 = 50_000;
const ROUNDS: usize = 7;

pub(crate) fn report(home: &Home, report: &mut String) {
    let store = home.store("profile");
    let mut server = forebay(&store, &["--no-capture"]);
    let answer: serde_json::Value =
        serde_json::from_slice(&server.answer_to(&call(1, "records", RECORDS))).expect("JSON");
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text block");
    let store =
        forebay_store::Store::open(&store, forebay_store::Durability::RightAfter).expect("a store");
    let mut capture = store.capture().expect("a capture");
    let part = capture.start_part("json").expect("a part");
    part.write_all(text.as_bytes()).expect("a disk");
    let payload = capture.map_last_part().expect("a map");
    let rate = |work: &dyn Fn()| {
        let times = (0..ROUNDS).map(|_| {
            let started = Instant::now();
            work();
            started.elapsed()
        });
        text.len() as f64 / median(times.collect()).as_secs_f64() / 1e6
    };
    let profiled = rate(&|| drop(black_box(forebay_records::describe(black_box(&payload)))));
    let parsed = rate(&|| {
        drop(black_box(serde_json::from_str::<serde_json::Value>(black_box(text))));
    });
    let _ = writeln!(report, "\nprofile {profiled:.0} MB/s; serde_json::Value {parsed:.0} MB/s");
    target(report, "profile / parse", profiled / parsed, "> 1");
}
