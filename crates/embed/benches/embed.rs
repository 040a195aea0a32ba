//! What an embedding costs.
//!
//! `cargo bench --bench embed -p forebay-embed` measures: the first vector, with the start of the process and the
//! loading of the model; a question of a dozen words and a passage of two hundred pieces, when the process is there;
//! passages a second, on the one thread of the index and the two of whoever waits; the memory of that process, and of
//! the one that asks; and the size of a program that holds the model and nothing else.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use forebay_embed::{Embedder, Local, token_count};

const ROUNDS: usize = 50;
const QUESTION: &str = "which customers have cancelled their subscription since march?";
const IDLE: Duration = Duration::from_secs(5);

fn main() {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_embed-worker"));
    let size = fs::metadata(&program).expect("the program").len();
    let local = Local::new(program, Vec::new(), IDLE);
    let (queries, indexing) = (local.for_queries(), local.for_indexing());
    let passage =
        "The forebay of a dam takes the flood and lets through what the turbine can use. "
            .repeat(11);
    let mut report = String::new();
    let before = resident("self", "VmRSS");
    let _ = writeln!(
        report,
        "the first vector           {:>8.1} ms",
        millis(time(&*queries, QUESTION))
    );
    for (threads, embedder) in [(2, &queries), (1, &indexing)] {
        for text in [QUESTION, &passage] {
            time(&**embedder, text);
            let (pieces, p50) = (token_count(text), median(&**embedder, text));
            let rate = 1.0 / p50.as_secs_f64();
            let _ = writeln!(
                report,
                "{pieces:>3} pieces, {threads} thread(s)     {:>8.1} ms {rate:>8.1} a second",
                millis(p50)
            );
        }
    }
    let worker = worker().expect("a process");
    let [all, own, file] = ["VmRSS", "RssAnon", "RssFile"].map(|what| resident(&worker, what));
    let _ = writeln!(
        report,
        "the process of the model   {all:>8.1} MiB: {own:.1} its own, {file:.1} of files"
    );
    let during = resident("self", "VmRSS");
    while self::worker().is_some() {
        thread::sleep(Duration::from_millis(50));
    }
    let after = resident("self", "VmRSS");
    let _ = writeln!(
        report,
        "who asks, before           {before:>8.1} MiB, {during:.1} with it, {after:.1} without"
    );
    let _ = writeln!(
        report,
        "a program with the model   {:>8.1} MiB",
        f64::from(u32::try_from(size / 1024).expect("less than 4 TB")) / 1024.0
    );
    std::io::stdout().write_all(report.as_bytes()).expect("stdout");
}

fn time(embedder: &dyn Embedder, text: &str) -> Duration {
    let started = Instant::now();
    embedder.embed(&[text]).expect("a vector");
    started.elapsed()
}

fn median(embedder: &dyn Embedder, text: &str) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| time(embedder, text)).collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// What a process has in memory, in MiB.
fn resident(id: &str, what: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    number.expect("a number") / 1024.0
}

/// A process of the model's, if there is one.
fn worker() -> Option<String> {
    fs::read_dir("/proc").expect("/proc").flatten().find_map(|entry| {
        let id = entry.file_name().to_str()?.to_owned();
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse::<u32>().ok()?;
        (parent == std::process::id()).then_some(id)
    })
}
