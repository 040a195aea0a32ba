//! A Chroma server, which can be ended and started again over the same data.

use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::{http::Connection, peer::eventually, real::Python};

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
        // It does not say which port it was given, so it is told one that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut server = Self { python, folder: folder.to_owned(), address, child: None };
        server.start_again();
        server
    }

    /// Starts it again, where it was before.
    pub fn start_again(&mut self) {
        let words = self.python.script("servers/chroma.py");
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("run").arg("--path").arg(&self.folder);
        command.args(["--host", "127.0.0.1", "--port", &self.address.port().to_string()]);
        command.env("ANONYMIZED_TELEMETRY", "False").env("HOME", &self.folder);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(quiet.spawn().expect("Chroma starts"));
        let address = self.address;
        let is_open = || std::net::TcpStream::connect(address).is_ok();
        eventually("Chroma answers", || is_open() && self.ask("GET", "heartbeat", b"").0 == 200);
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

impl Drop for Chroma {
    fn drop(&mut self) {
        self.kill();
    }
}
