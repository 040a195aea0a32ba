//! An MCP client on stdio: it starts a server, shakes hands, and calls tools.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// A server that has been started and greeted.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    /// Starts a server and shakes hands with it.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("the server has no output")?);
        let mut client = Self { child, input, output, asked: 0 };
        client.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "forebay-demo", "version": env!("CARGO_PKG_VERSION")},
            }),
        )?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// The names of the server's tools.
    pub(crate) fn tools(&mut self) -> Result<Vec<String>> {
        let list = self.ask("tools/list", &json!({}))?;
        let tools = list["tools"].as_array().into_iter().flatten();
        Ok(tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect())
    }

    /// The result of a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Closes the server's input and waits for its end.
    pub(crate) fn end(mut self) -> Result<()> {
        self.input = None;
        let status = self.child.wait()?;
        if !status.success() {
            bail!("the server ended with {status}");
        }
        Ok(())
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the server has ended without an answer to `{method}`");
        }
        let mut answer: Value = serde_json::from_str(&line)?;
        if answer["id"] != id || answer.get("result").is_none() {
            bail!("the server did not answer `{method}`: {}", answer["error"]["message"]);
        }
        Ok(answer["result"].take())
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().context("the server's input is closed")?;
        Ok(writeln!(input, "{message}")?)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // In vain if it has ended; if we stop half-way, it must not stay behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
