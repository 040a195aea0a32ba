//! How long the pages take, with 100,000 datasets on the shelf and a table of a million rows.
//!
//! `cargo bench --bench page` prints the median and the 95th percentile of each page, from the request to the last byte, on
//! one connection after the other, and fails if a median is over 200 ms. The first request of each is told apart: it may
//! make rows or start a worker. What looks at the whole machine, or asks for it anew, is told and not judged. What is
//! sought is found by words: vectors of so much would take hours to make.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]

mod common;

use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use common::{
    Home,
    copies::{self, Copies, Payloads, Rows, VARIABLES, tool},
    millis,
    session::Session,
};
use forebay_store::{DatasetId, Durability, Store, Tag};
use jiff::SignedDuration;
use serde_json::Value;

const DATASETS: u64 = 100_000;
const RECORDS: u64 = 1_000_000;
/// How many records with lists in them another table has.
const NESTED: u64 = 50_000;
/// How many datasets have a tag.
const TAGGED: u64 = 500;
const TIMES: usize = 41;
/// Of what takes long.
const FEW_TIMES: usize = 5;
/// A page may take so long.
const LIMIT: Duration = Duration::from_millis(200);

/// Whether a page has to be quick.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judged {
    Yes,
    /// It is asked to look at everything anew.
    No,
}

/// `forebay page`.
struct Page {
    child: Child,
    address: SocketAddr,
    token: String,
}

fn main() -> ExitCode {
    let home = Home::new("page");
    let store = home.store("kept");
    let (large, nested) = fill(&store);
    let page = Page::start(&store);
    let mut report = format!(
        "\npages, {DATASETS} datasets and a table of {RECORDS} rows      first      p50      p95\n"
    );
    let mut missed = 0;
    for (name, path, judged) in pages(&page, &large, &nested) {
        let (first, _) = page.get(&path);
        let count = if judged == Judged::Yes { TIMES } else { FEW_TIMES };
        let mut times: Vec<Duration> = (0..count).map(|_| page.get(&path).0).collect();
        times.sort_unstable();
        let (p50, p95) = (times[count / 2], times[count * 95 / 100]);
        let is_missed = judged == Judged::Yes && p50 > LIMIT;
        missed += u64::from(is_missed);
        let verdict = match judged {
            Judged::Yes if is_missed => "  MISSED",
            Judged::Yes => "",
            Judged::No => "  not judged",
        };
        let _ = writeln!(
            report,
            "  {name:<58} {:>8.1} {:>8.1} {:>8.1} ms{verdict}",
            millis(first),
            millis(p50),
            millis(p95)
        );
    }
    std::io::stdout().write_all(report.as_bytes()).expect("stdout");
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Fills a store and indexes it; returns the names of the large table and of the one with lists in it.
fn fill(store: &Path) -> (String, String) {
    let copies = Copies {
        count: DATASETS,
        over: SignedDuration::from_hours(24 * 29),
        tools: 20,
        records: 30,
        payloads: Payloads::Shared,
        rows: Rows::ToBeMade,
    };
    copies::fill(store, &copies);
    // The catalog of so many is made before anybody waits for an answer.
    let mut list = forebay(store, &["datasets", "list"]);
    let listed = list.stdout(Stdio::null()).status().expect("forebay");
    assert!(listed.success(), "they are in the catalog");
    let mut session = Session::start(store, &VARIABLES);
    let large = session.keep_records(RECORDS).id().to_string();
    let nested = session.keep("nested", NESTED).id().to_string();
    drop(session);
    let opened = Store::open(store, Durability::RightAfter).expect("a store");
    let tag = Tag::parse("late").expect("a tag");
    for index in 0..TAGGED {
        let id = DatasetId::parse(&copies::name(index * 100)).expect("a name");
        opened.tag(&id, std::slice::from_ref(&tag), &[]).expect("a tagged dataset");
    }
    drop(opened);
    let indexed = forebay(store, &["index", "rebuild"]).status().expect("forebay");
    assert!(indexed.success(), "it is indexed");
    (large, nested)
}

/// Every page, with its address.
fn pages(page: &Page, large: &str, nested: &str) -> Vec<(&'static str, String, Judged)> {
    let of = |below: &str| format!("/dataset/{large}{below}");
    let sql = "sql=SELECT%20status%2C%20count(*)%20AS%20n%20FROM%20dataset%20GROUP%20BY%20ALL";
    let few = "sql=SELECT%20*%20FROM%20dataset%20LIMIT%201000";
    let (_, told) = page.get(&format!("/dataset/{nested}.json"));
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let inner = told["dataset"]["tables"][1]["suffix"].as_str().expect("an inner table");
    let of_inner = |more: &str| format!("/dataset/{nested}/rows?table={inner}{more}");
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d");
    let judged = [
        ("now", "/".to_owned()),
        ("shelf", "/shelf".to_owned()),
        ("shelf, last page", format!("/shelf?page={}", DATASETS / 50)),
        ("shelf, a tool", format!("/shelf?tool={}", tool(3))),
        ("shelf, by size", "/shelf?sort=size".to_owned()),
        ("shelf, a day", format!("/shelf?day={today}")),
        ("shelf, a tag", "/shelf?tag=late".to_owned()),
        ("shelf, sought", "/shelf?q=order".to_owned()),
        ("shelf, sought in a tool", format!("/shelf?q=order&tool={}", tool(3))),
        ("shelf, sought with a tag", "/shelf?q=order&tag=late".to_owned()),
        ("shelf, sought on a day", format!("/shelf?q=order&day={today}")),
        ("shelf, sought in all by their size", "/shelf?q=order&min=1".to_owned()),
        ("dataset", of("")),
        ("original, deep inside", of("/original?from=80000000")),
        ("rows", of("/rows")),
        ("rows, sorted", of("/rows?sort=-total")),
        ("rows, filtered, with facets", of("/rows?where=eq:status=active")),
        ("rows, sorted, deep inside", of("/rows?sort=total&page=10000")),
        ("rows of an inner table", of_inner("")),
        ("rows of an inner table, deep inside", of_inner("&page=500")),
        ("fields, with charts", of("/fields")),
        ("SQL", of(&format!("/sql?{sql}"))),
        ("SQL with a chart", of(&format!("/sql?{sql}&chart=bar&x=status&y=n"))),
        ("a file of 1,000 rows", of(&format!("/export?form=csv&{few}"))),
        ("savings", "/savings".to_owned()),
        ("servers", "/servers".to_owned()),
        ("settings", "/settings".to_owned()),
        ("doctor, as it was last", "/doctor".to_owned()),
    ];
    let told = [
        ("a file of all rows", of("/export?form=csv")),
        ("doctor, looking again", "/doctor?again=1".to_owned()),
    ];
    let judged = judged.map(|(name, path)| (name, path, Judged::Yes));
    let told = told.map(|(name, path)| (name, path, Judged::No));
    judged.into_iter().chain(told).collect()
}

/// `forebay` over a store, with nothing that makes vectors.
fn forebay(store: &Path, arguments: &[&str]) -> Command {
    let mut forebay = Command::new(env!("CARGO_BIN_EXE_forebay"));
    forebay.args(arguments).env("FOREBAY_HOME", store).envs(VARIABLES);
    forebay.env("FOREBAY_SEARCH_EMBEDDER", "none");
    forebay
}

impl Page {
    fn start(home: &Path) -> Self {
        let mut child = forebay(home, &["page"]).stdout(Stdio::piped()).spawn().expect("forebay");
        let mut line = String::new();
        let output = child.stdout.take().expect("stdout");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let (_, place) = line.trim().split_once("http://").expect("an address");
        let (address, token) = place.split_once("/?token=").expect("a token");
        let address = address.parse().expect("an address");
        Self { address, token: token.to_owned(), child }
    }

    /// Fetches a page; returns how long that took, and what it holds.
    fn get(&self, path: &str) -> (Duration, String) {
        let Self { address, token, .. } = self;
        let started = Instant::now();
        let mut stream = TcpStream::connect(address).expect("a connection");
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n\r\n"
        )
        .expect("a request");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let time = started.elapsed();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        (time, body.to_owned())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
