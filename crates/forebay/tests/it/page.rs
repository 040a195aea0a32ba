//! The page: who may see it, what it shows, and what can be changed on it.

mod asking;
mod browser;
mod changing;
mod data;
mod entering;
mod looking;
mod searching;
mod servers;

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
};

use forebay_store::{Durability, Filter, Store};
use forebay_testkit::{
    http::{Connection, Head},
    peer::Peer,
    programs,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{call, forebay, wrapped_fixture};

/// A page over a home of its own.
struct Page {
    home: TempDir,
    process: std::process::Child,
    address: SocketAddr,
    token: String,
}

/// An answer as a browser would see it.
struct Answer {
    head: Head,
    text: String,
}

impl Page {
    /// `forebay page` of a home in which these results of the fixture's were kept.
    fn of(results: &[(&str, u64)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        keep(home.path(), results);
        Self::at(home)
    }

    fn at(home: TempDir) -> Self {
        Self::started(home, &mut forebay(["page"]))
    }

    fn started(home: TempDir, command: &mut Command) -> Self {
        let mut process = command
            .env("FOREBAY_HOME", home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let (_, place) = line.trim().split_once("listening on http://").unwrap();
        let (address, token) = place.split_once("/?token=").unwrap();
        let (address, token) = (address.parse().unwrap(), token.to_owned());
        Self { home, process, address, token }
    }

    /// The address that lets in whoever opens it.
    fn opening(&self) -> String {
        format!("http://{}/?token={}", self.address, self.token)
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        ask(self.address, method, path, headers, body)
    }

    /// The cookie, as a browser sends it.
    fn cookie(&self) -> String {
        let answer = self.ask("GET", &format!("/?token={}", self.token), &[], "");
        assert_eq!((answer.head.status, answer.head.header("location")), (200, None));
        let cookie = answer.head.header("set-cookie").unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// A page as somebody sees it who was let in.
    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[("Cookie", &self.cookie())], "")
    }

    /// The twin of a page.
    fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.head.status, 200, "{path}: {}", answer.text);
        assert_eq!(answer.head.header("content-type"), Some("application/json"));
        serde_json::from_str(&answer.text).unwrap()
    }

    /// A form, as the page sends it.
    fn post(&self, path: &str, form: &str) -> Answer {
        let origin = format!("http://{}", self.address);
        let headers = [
            ("Cookie", self.cookie()),
            ("Origin", origin),
            ("Content-Type", "application/x-www-form-urlencoded".to_owned()),
        ];
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        self.ask("POST", path, &headers, form)
    }

    fn store(&self) -> Store {
        Store::open(self.home.path(), Durability::default()).unwrap()
    }

    /// The names of all datasets, the newest first.
    fn ids(&self) -> Vec<String> {
        let all = self.store().list(&Filter::default()).unwrap();
        all.into_iter().map(|entry| entry.id.to_string()).collect()
    }
}

/// Asks for a page at an address.
fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut connection = Connection::open(address);
    let has_host = headers.iter().any(|(name, _)| *name == "Host");
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !has_host {
        let _ = write!(request, "Host: {address}\r\n");
    }
    for (name, value) in headers {
        let _ = write!(request, "{name}: {value}\r\n");
    }
    let _ = write!(request, "Content-Length: {}\r\n\r\n{body}", body.len());
    connection.send_bytes(request.as_bytes());
    let head = connection.head();
    let text = String::from_utf8_lossy(&connection.body().unwrap()).into_owned();
    Answer { head, text }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Keeps results of the fixture's, through `wrap`.
fn keep(home: &Path, results: &[(&str, u64)]) {
    let mut command = wrapped_fixture();
    let mut peer = Peer::start(command.env("FOREBAY_HOME", home).env("FOREBAY_THRESHOLD", "100"));
    for (number, (tool, count)) in (1..).zip(results) {
        peer.ask(&call(number, tool, *count));
    }
    peer.close_input();
    peer.wait();
}

/// Has all that is kept indexed: what is sought must be there to be found, however busy the machine is.
fn index(home: &Path) {
    // By words: the program may have been built without its embedding model.
    let mut command = forebay(["index", "rebuild"]);
    command.env("FOREBAY_HOME", home).env("FOREBAY_SEARCH_EMBEDDER", "none");
    let indexed = command.output().unwrap();
    assert!(indexed.status.success(), "{indexed:?}");
}

/// Keeps what a file holds, as the result of a tool.
fn keep_file(home: &Path, text: &str) {
    let file = home.join("given.txt");
    fs::write(&file, text).unwrap();
    let mut command = wrapped_fixture();
    let mut peer = Peer::start(command.env("FOREBAY_HOME", home).env("FOREBAY_THRESHOLD", "10"));
    let params = json!({"name": "file", "arguments": {"path": file}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    peer.ask(&call.to_string());
    peer.close_input();
    peer.wait();
}

/// `forebay serve` of a home.
fn serving(home: &Path, flags: &[&str]) -> forebay_testkit::http::HttpPeer {
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0"]);
    command.env("FOREBAY_HOME", home).args(flags).arg("--").arg(programs::fixture_upstream());
    forebay_testkit::http::HttpPeer::start(&mut command)
}
