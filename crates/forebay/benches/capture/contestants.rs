//! What stands between a client and the fixture, and how it is called.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use forebay_testkit::{programs, real};

use crate::{call, common::Server, forebay};

const COMPRESSOR: &str = "0.38.2";
const FASTMCP: &str = "4.1.2";

/// A process that passes on what the fixture gives, or makes something of it.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    pub(crate) server: Server,
    call: fn(usize, &str, u64) -> Vec<u8>,
    calls: usize,
}

impl Contestant {
    /// Forebay, keeping nothing.
    pub(crate) fn relay(store: &Path) -> Self {
        Self::new("relayed", forebay(store, &["--no-capture"]), call)
    }

    /// Forebay as it comes.
    pub(crate) fn keeper(store: &Path) -> Self {
        Self::new("kept", forebay(store, &[]), call)
    }

    /// `mcp-compressor --shrinkfit` from PyPI, if it can be had.
    pub(crate) fn compressor() -> Option<Self> {
        let name = "mcp-compressor";
        let mut command = Command::new(real::python_program(name, COMPRESSOR)?);
        command.args(["--shrinkfit", "--server-name", "fixture", "--"]);
        Some(Self::peer(name, &mut command, call_of_compressor))
    }

    /// The proxy of `fastmcp` from PyPI, if it can be had.
    pub(crate) fn fastmcp() -> Option<Self> {
        let name = "fastmcp";
        let mut command = Command::new(real::python_with(name, FASTMCP)?);
        command.arg(real::source("bench/fastmcp_stdio.py"));
        Some(Self::peer(name, &mut command, call))
    }

    fn peer(
        name: &'static str,
        command: &mut Command,
        call: fn(usize, &str, u64) -> Vec<u8>,
    ) -> Self {
        let command = command.arg(programs::fixture_upstream()).stderr(Stdio::null());
        Self::new(name, Server::start(command), call)
    }

    fn new(name: &'static str, mut server: Server, call: fn(usize, &str, u64) -> Vec<u8>) -> Self {
        server.initialize();
        Self { name, server, call, calls: 0 }
    }

    /// Has the fixture's tool called; returns how long that took.
    pub(crate) fn time(&mut self, tool: &str, count: u64) -> Duration {
        let call = self.next_call(tool, count);
        self.server.ask(&call)
    }

    /// Has the fixture's tool called; returns how long the reply is.
    pub(crate) fn reply_bytes(&mut self, tool: &str, count: u64) -> usize {
        let call = self.next_call(tool, count);
        let reply = self.server.answer_to(&call);
        let start = String::from_utf8_lossy(&reply[..reply.len().min(500)]);
        let is_result = start.contains("\"result\"") && !start.contains("\"isError\":true");
        assert!(is_result, "{}: {start}", self.name);
        reply.len()
    }

    /// No two have the same id, and so no two results are equal.
    fn next_call(&mut self, tool: &str, count: u64) -> Vec<u8> {
        self.calls += 1;
        (self.call)(self.calls, tool, count)
    }
}

fn call_of_compressor(id: usize, tool: &str, count: u64) -> Vec<u8> {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"fixture_invoke_tool","arguments":{{"tool_name":"{tool}","tool_input":{{"count":{count}}}}}}}}}"#
    )
    .into_bytes()
}
