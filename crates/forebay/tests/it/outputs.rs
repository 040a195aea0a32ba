//! Outputs over HTTP: exact bytes for whoever has the URL, nothing for anybody else, and nothing that acts.

mod browser;
mod fetching;
mod forging;
mod many;
mod ways;

use std::{fs, io::Write, path::Path, process::Command, time::SystemTime};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use forebay_store::{Dataset, Description, Durability, Store};
use forebay_testkit::{
    http::{Connection, Head, HttpPeer},
    programs,
};
use tempfile::TempDir;

use crate::forebay;

const SECRET: [u8; 32] = *b"a secret that the tests may know";
const HOUR: u64 = 3_600;

/// A home with a secret that the test knows, and what is kept there.
struct Kept {
    home: TempDir,
    dataset: Dataset,
}

/// Keeps one dataset with these payloads: how the name of each ends, and what it holds.
fn kept(payloads: &[(&str, &[u8])]) -> Kept {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("outputs.key"), SECRET).unwrap();
    let dataset = keep(home.path(), payloads);
    Kept { home, dataset }
}

fn keep(home: &Path, payloads: &[(&str, &[u8])]) -> Dataset {
    let store = Store::open(home, Durability::default()).unwrap();
    let mut capture = store.capture().unwrap();
    for (ending, bytes) in payloads {
        capture.start_part(ending).unwrap().write_all(bytes).unwrap();
    }
    capture.commit(Description::default()).unwrap()
}

impl Kept {
    /// The path of a payload, good for an hour.
    fn path(&self, block: usize) -> String {
        path(&self.dataset, block, now() + HOUR, &SECRET)
    }

    /// `forebay serve` of what is kept, with these settings.
    fn serve(&self, variables: &[(&str, &str)]) -> HttpPeer {
        self.serve_with(variables, &[])
    }

    fn serve_with(&self, variables: &[(&str, &str)], flags: &[&str]) -> HttpPeer {
        let mut command = forebay(["serve", "--listen", "127.0.0.1:0"]);
        command.env("FOREBAY_HOME", self.home.path()).envs(variables.iter().copied()).args(flags);
        HttpPeer::start(command.arg("--").arg(programs::fixture_upstream()))
    }
}

/// The path of a payload, signed as Forebay does it.
fn path(dataset: &Dataset, block: usize, until: u64, secret: &[u8; 32]) -> String {
    let (name, key) = (name(dataset, block), key(dataset.id().as_str(), block, until, secret));
    format!("/outputs/{name}/{key}")
}

fn name(dataset: &Dataset, block: usize) -> String {
    if block == 0 { dataset.id().to_string() } else { format!("{}.{block}", dataset.id()) }
}

fn key(id: &str, block: usize, until: u64, secret: &[u8; 32]) -> String {
    let signed = [
        b"forebay outputs, version 1",
        id.as_bytes(),
        &(block as u64).to_be_bytes(),
        &until.to_be_bytes(),
    ];
    let hash = blake3::keyed_hash(secret, &signed.concat());
    URL_SAFE_NO_PAD.encode([&until.to_be_bytes()[3..], &hash.as_bytes()[..16]].concat())
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

/// Sends a request, and gives what comes back.
fn ask(peer: &HttpPeer, method: &str, path: &str, headers: &[(&str, &str)]) -> (Head, Vec<u8>) {
    answered(peer.connect(), method, path, headers)
}

fn answered(
    mut connection: Connection,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> (Head, Vec<u8>) {
    let headers = [headers, &[("Connection", "close")]].concat();
    connection.send(method, path, &headers, b"");
    let head = connection.head();
    let body = if method == "HEAD" { Vec::new() } else { connection.body().unwrap() };
    (head, body)
}

/// The SHA-256 of a file, as another program computes it.
fn sha256(file: &Path) -> String {
    let output = Command::new("sha256sum").arg(file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

/// Bytes that look like nothing, always the same.
fn noise(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().finalize_xof().fill(&mut bytes);
    bytes
}
