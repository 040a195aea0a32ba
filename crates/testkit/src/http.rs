//! The other end of an HTTP connection, on plain sockets: what is sent is what the test says, and
//! what comes is seen as it comes.
//!
//! [`HttpPeer`] is a started server, [`Connection`] one socket to it, [`McpHttpClient`] a client that
//! speaks MCP over such sockets.

mod client;
mod connection;

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::Instant,
};

use serde_json::Value;

use crate::{
    peer::{PATIENCE, eventually},
    programs,
};

pub use client::{Era, Exchange, McpHttpClient};
pub use connection::{Connection, Event, Head};

/// A started server that has said where it listens.
pub struct HttpPeer {
    /// The process.
    pub child: Child,
    address: SocketAddr,
    stderr: Arc<Mutex<String>>,
    stderr_ended: Receiver<()>,
}

impl HttpPeer {
    /// Starts `command` and waits until it says `listening on …`, on stdout or on stderr.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let (said, address) = mpsc::channel();
        let output = child.stdout.take().expect("stdout is piped");
        thread::spawn({
            let said = said.clone();
            move || read_lines(output, &said, |_| ())
        });
        let errors = child.stderr.take().expect("stderr is piped");
        let stderr = Arc::new(Mutex::new(String::new()));
        let (ending, stderr_ended) = mpsc::channel();
        thread::spawn({
            let stderr = Arc::clone(&stderr);
            move || {
                let keep = |line: &str| {
                    stderr.lock().unwrap_or_else(PoisonError::into_inner).push_str(line);
                };
                read_lines(errors, &said, keep);
                let _ = ending.send(());
            }
        });
        let address = match address.recv_timeout(PATIENCE) {
            Ok(address) => address,
            Err(RecvTimeoutError::Disconnected) => {
                let _ = stderr_ended.recv_timeout(PATIENCE);
                panic!("it ended without listening: {}", stderr.lock().expect("the text"))
            }
            Err(RecvTimeoutError::Timeout) => panic!("it does not listen within {PATIENCE:?}"),
        };
        Self { child, address, stderr, stderr_ended }
    }

    /// Starts the fixture upstream.
    pub fn fixture() -> Self {
        Self::start(Command::new(programs::fixture_upstream()).args(["--http", "127.0.0.1:0"]))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of its MCP endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Opens a connection.
    pub fn connect(&self) -> Connection {
        Connection::open(self.address)
    }

    /// What the fixture upstream counts.
    pub fn stats(&self) -> Value {
        let mut connection = self.connect();
        connection.send("GET", "/stats", &[("Connection", "close")], b"");
        assert_eq!(connection.head().status, 200, "the fixture counts");
        connection.json()
    }

    /// Waits until what the fixture upstream counts is as it should be.
    pub fn eventually(&self, what: &str, condition: impl Fn(&Value) -> bool) {
        eventually(what, || condition(&self.stats()));
    }

    /// What it has written to stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().expect("the text").clone()
    }

    /// Waits for the end of the process and returns all that it wrote to stderr.
    pub fn wait_for_stderr(&mut self) -> String {
        self.wait();
        let _ = self.stderr_ended.recv_timeout(PATIENCE);
        self.stderr()
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Tells the process to end.
    pub fn terminate(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(id).status().expect("kill").success());
    }

    /// Waits for the end of the process.
    pub fn wait(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "the process does not end");
            thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

impl Drop for HttpPeer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads lines to their end, keeps each, and says the address that one of them names.
fn read_lines(output: impl Read, said: &Sender<SocketAddr>, keep: impl Fn(&str)) {
    let mut lines = BufReader::new(output);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let text = String::from_utf8_lossy(&line);
        keep(&text);
        if let Some(address) = listening(&text) {
            let _ = said.send(address);
        }
        line.clear();
    }
}

/// The address in `listening on ADDRESS`, `listening on http://ADDRESS/mcp` or `listening on port PORT`.
fn listening(line: &str) -> Option<SocketAddr> {
    let (_, place) = line.split_once("listening on ")?;
    if let Some(port) = place.strip_prefix("port ") {
        return Some(SocketAddr::from(([127, 0, 0, 1], port.trim().parse().ok()?)));
    }
    let place = place.split_whitespace().next()?;
    let place = place.strip_prefix("http://").unwrap_or(place);
    place.split('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests;
