//! How fast what was kept is fetched over HTTP, beside nginx with the same files.
//!
//! `cargo bench --bench outputs` measures in one run, in turns, and prints as ratios: megabytes per second of
//! a file of ten megabytes and requests per second of one of four kilobytes, with 1 and with 8 clients, from
//! `forebay serve` under `/outputs/` and from nginx (`sendfile on`).

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

mod common;

use std::{
    fmt::Write as _,
    fs,
    io::{Read, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant, SystemTime},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use common::{Home, nginx, target};
use forebay_store::{Dataset, Description, Durability, Store};
use forebay_testkit::{http::HttpPeer, programs};

/// A file that is fetched.
struct File {
    bytes: usize,
    /// How often each client fetches it in a round.
    times: usize,
    /// What is to be reached beside nginx, if anything is.
    goal: Option<&'static str>,
}

const FILES: [File; 2] = [
    File { bytes: 10_000_000, times: 30, goal: Some("≥ 0.5") },
    // What is found out before the first byte is sent is most of this.
    File { bytes: 4_096, times: 2_000, goal: None },
];
const CLIENTS: [usize; 2] = [1, 8];
const ROUNDS: usize = 7;
const SECRET: [u8; 32] = [7; 32];

/// Something to fetch, and where from.
struct Source {
    address: SocketAddr,
    path: String,
}

fn main() {
    let home = Home::new("outputs");
    let store = home.store("kept");
    let datasets = FILES.map(|file| keep(&store, file.bytes));
    fs::write(store.join("outputs.key"), SECRET).expect("a file");
    let forebay = forebay(&store);
    let nginx = nginx(&datasets);
    let mut report = "\nwhat was kept, over HTTP\n".to_owned();
    if nginx.is_none() {
        report.push_str("  nginx cannot be had here\n");
    }
    for (file, dataset) in FILES.iter().zip(&datasets) {
        let ours = Source { address: forebay.address(), path: signed(dataset) };
        let path = dataset.path(0);
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let theirs = nginx
            .as_ref()
            .map(|server| Source { address: server.address(), path: format!("/{name}") });
        for clients in CLIENTS {
            measure(&mut report, &ours, theirs.as_ref(), file, clients);
        }
    }
    std::io::stdout().write_all(report.as_bytes()).expect("stdout");
}

/// Fetches from both in turns, and adds the medians to the report.
fn measure(
    report: &mut String,
    ours: &Source,
    theirs: Option<&Source>,
    file: &File,
    clients: usize,
) {
    let File { bytes, times, goal } = *file;
    let sources: Vec<&Source> = [ours].into_iter().chain(theirs).collect();
    let mut rounds = vec![Vec::new(); sources.len()];
    for round in 0..=ROUNDS {
        for (source, seen) in sources.iter().zip(&mut rounds) {
            let took = fetch_all(source, bytes, times, clients);
            // The first round is to warm up.
            if round > 0 {
                seen.push(took);
            }
        }
    }
    let speeds: Vec<f64> = rounds
        .iter_mut()
        .map(|seen| {
            seen.sort_unstable();
            (times * clients) as f64 / seen[seen.len() / 2].as_secs_f64()
        })
        .collect();
    for (name, speed) in ["forebay", "nginx"].iter().zip(&speeds) {
        let megabytes = speed * bytes as f64 / 1e6;
        let _ = writeln!(
            report,
            "  {bytes:>8} bytes, {clients} at once  {name:<8} {megabytes:>8.0} MB/s {speed:>8.0} requests/s"
        );
    }
    if let ([ours, theirs], Some(goal)) = (&speeds[..], goal) {
        let what = format!("{bytes} bytes, {clients} at once, forebay / nginx");
        target(report, &what, ours / theirs, goal);
    }
}

/// Has so many clients fetch a file so many times, each on one connection; returns how long that took.
fn fetch_all(source: &Source, bytes: usize, times: usize, clients: usize) -> Duration {
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                let mut connection = TcpStream::connect(source.address).expect("a connection");
                connection.set_nodelay(true).expect("a socket");
                let mut buffer = vec![0; 1 << 18];
                for _ in 0..times {
                    fetch(&mut connection, source, bytes, &mut buffer);
                }
            });
        }
    });
    started.elapsed()
}

fn fetch(connection: &mut TcpStream, source: &Source, bytes: usize, buffer: &mut [u8]) {
    let Source { address, path } = source;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    connection.write_all(request.as_bytes()).expect("the server reads");
    let mut filled = 0;
    let head = loop {
        let count = connection.read(&mut buffer[filled..]).expect("the server writes");
        assert!(count > 0, "the server answers");
        filled += count;
        if let Some(at) = buffer[..filled].windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    assert!(buffer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..head]));
    let mut left = bytes - (filled - head);
    while left > 0 {
        let count = connection.read(buffer).expect("the server writes");
        assert!(count > 0, "the answer is whole");
        left -= count;
    }
}

/// Keeps something of so many bytes that cannot be compressed.
fn keep(home: &Path, bytes: usize) -> Dataset {
    let store = Store::open(home, Durability::RightAfter).expect("a store");
    let mut noise = vec![0; bytes];
    blake3::Hasher::new().finalize_xof().fill(&mut noise);
    let mut capture = store.capture().expect("a capture");
    capture.start_part("bin").expect("a part").write_all(&noise).expect("a file");
    capture.commit(Description::default()).expect("a dataset")
}

fn forebay(home: &Path) -> HttpPeer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(["serve", "--listen", "127.0.0.1:0"]).env("FOREBAY_HOME", home);
    command.env("FOREBAY_OUTPUTS_REQUESTS_PER_MINUTE", "0");
    HttpPeer::start(command.arg("--").arg(programs::fixture_upstream()))
}

/// nginx with the files of the datasets, which lie in one folder unless midnight has passed.
fn nginx(datasets: &[Dataset]) -> Option<HttpPeer> {
    let folder = datasets.first()?.path(0).parent()?.display().to_string();
    nginx::start("files", |address| {
        format!("sendfile on; tcp_nopush on; server {{ listen {address}; root {folder}; }}")
    })
}

/// The path of what a dataset holds, signed as Forebay does it.
fn signed(dataset: &Dataset) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time");
    let until = (now.as_secs() + 3_600).to_be_bytes();
    let id = dataset.id().as_str();
    let parts = [&b"forebay outputs, version 1"[..], id.as_bytes(), &0_u64.to_be_bytes(), &until];
    let hash = blake3::keyed_hash(&SECRET, &parts.concat());
    let key = URL_SAFE_NO_PAD.encode([&until[3..], &hash.as_bytes()[..16]].concat());
    format!("/outputs/{id}/{key}")
}
