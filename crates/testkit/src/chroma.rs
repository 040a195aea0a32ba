//! A Chroma server, which can be ended and started again over the same data.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::{http::Connection, peer::eventually, real::Python};

/// So many ports are tried.
const TRIES: u32 = 5;

/// A server on this machine, with its data in a folder.
pub struct Chroma {
    python: &'static Python,
    folder: PathBuf,
    address: SocketAddr,
    child: Option<Child>,
}

impl Chroma {
    /// Starts one, and waits until it answers.
    pub fn start(python: &'static Python, folder: &Path) -> Self {
        let mut server =
            Self { python, folder: folder.to_owned(), address: free_address(), child: None };
        let mut tries = 1;
        while !server.run() {
            assert!(tries < TRIES, "Chroma ends as soon as it is started");
            tries += 1;
            server.address = free_address();
        }
        server
    }

    /// Starts it again, where it was before.
    pub fn start_again(&mut self) {
        eventually("Chroma has its place back", || self.run());
    }

    /// Runs it, and waits until it answers. `false` if it has ended before, as it does where another has its port.
    fn run(&mut self) -> bool {
        let words = self.python.script("servers/chroma.py");
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("run").arg("--path").arg(&self.folder);
        command.args(["--host", "127.0.0.1", "--port", &self.address.port().to_string()]);
        command.env("ANONYMIZED_TELEMETRY", "False").env("HOME", &self.folder);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(quiet.spawn().expect("Chroma starts"));
        let mut has_ended = false;
        eventually("Chroma answers, or ends", || {
            let child = self.child.as_mut().expect("it was started");
            has_ended = child.try_wait().expect("a child can be waited for").is_some();
            has_ended || self.answers()
        });
        !has_ended
    }

    /// True if it answers. Whoever else has its port may say anything.
    fn answers(&self) -> bool {
        if TcpStream::connect(self.address).is_err() {
            return false;
        }
        let mut connection = Connection::open(self.address);
        connection.send("GET", "/api/v2/heartbeat", &[("Connection", "close")], b"");
        connection.try_head().is_ok_and(|head| head.status == 200)
    }

    /// Kills it.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it says to a request below `/api/v2`.
    pub fn ask(&self, method: &str, path: &str, body: &[u8]) -> (u16, Value) {
        let mut connection = Connection::open(self.address);
        let headers = [("Content-Type", "application/json"), ("Connection", "close")];
        connection.send(method, &format!("/api/v2/{path}"), &headers, body);
        (connection.head().status, connection.json())
    }

    /// What it says to a request about the collections of its database.
    pub fn ask_of_collections(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let path = format!("tenants/default_tenant/databases/default_database/collections{path}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.ask(method, &path, body.as_bytes())
    }
}

/// An address that was free a moment ago: Chroma is told one, since it does not say which it was given.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

impl Drop for Chroma {
    fn drop(&mut self) {
        self.kill();
    }
}
