//! A client on stdio, of either era, that keeps whatever comes until it is asked for.

use std::{
    process::Command,
    thread,
    time::{Duration, Instant},
};

use forebay_testkit::{
    http::Era,
    peer::{PATIENCE, Peer},
};
use serde_json::{Value, json};

pub(crate) struct Client {
    pub(crate) peer: Peer,
    era: Era,
    last_id: u64,
    /// What has come and nobody has asked for yet.
    kept: Vec<Value>,
}

impl Client {
    pub(crate) fn start(era: Era, command: &mut Command) -> Self {
        let mut client = Self { peer: Peer::start(command), era, last_id: 0, kept: Vec::new() };
        if era == Era::Legacy {
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "sampling": {}, "elicitation": {} },
                "clientInfo": { "name": "testkit", "version": "1" },
            });
            let answer = client.ask("initialize", &params);
            assert!(answer["result"]["capabilities"]["tools"].is_object(), "{answer}");
            client.tell("notifications/initialized", &json!({}));
        }
        client
    }

    /// Sends a request and gives its response, the whole message.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.response(id)
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Calls a tool and gives the text of its result.
    pub(crate) fn text(&mut self, tool: &str, arguments: &Value) -> String {
        text_of(&self.call(tool, arguments))
    }

    /// Sends a request and gives its id.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let mut params = params.clone();
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "testkit", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({
                "sampling": {}, "elicitation": {},
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            });
        }
        self.write(&json!({ "id": self.last_id, "method": method, "params": params }));
        self.last_id
    }

    pub(crate) fn tell(&mut self, method: &str, params: &Value) {
        self.write(&json!({ "method": method, "params": params }));
    }

    /// Answers what a server has asked.
    pub(crate) fn reply(&mut self, question: &Value, result: &Value) {
        self.write(&json!({ "id": question["id"], "result": result }));
    }

    /// Waits for the response to a request.
    pub(crate) fn response(&mut self, id: u64) -> Value {
        self.until(|message| message["id"] == id && message["method"].is_null())
    }

    /// Waits for a request or notification with this method.
    pub(crate) fn told(&mut self, method: &str) -> Value {
        self.until(|message| message["method"] == method)
    }

    /// Takes the first message that is meant, of those that have come or will.
    pub(crate) fn until(&mut self, is_meant: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&is_meant) {
            return self.kept.remove(at);
        }
        loop {
            let message: Value = serde_json::from_str(&self.peer.next_line()).unwrap();
            if is_meant(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    /// Forgets what has come so far, and gives it.
    pub(crate) fn take_kept(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.kept)
    }

    /// The names of all tools, in their order.
    pub(crate) fn tools(&mut self) -> Vec<String> {
        let list = self.ask("tools/list", &json!({}));
        let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// What `list_servers` says of a server.
    pub(crate) fn standing(&mut self, server: &str) -> Value {
        let text = self.text("list_servers", &json!({}));
        let told: Value = serde_json::from_str(&text).unwrap();
        let servers = told["servers"].as_array().unwrap();
        servers.iter().find(|it| it["name"] == server).unwrap_or(&Value::Null).clone()
    }

    /// Waits until `list_servers` says of a server what it should.
    pub(crate) fn until_standing(
        &mut self,
        server: &str,
        what: &str,
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        let started = Instant::now();
        loop {
            let standing = self.standing(server);
            if is_so(&standing) {
                return standing;
            }
            assert!(started.elapsed() < PATIENCE, "`{server}` never is {what}: {standing}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until these servers can be asked, and their tools are known.
    pub(crate) fn until_open(&mut self, servers: &[&str]) {
        for server in servers {
            self.until_standing(server, "open", |it| it["state"] == "open" && it["tools"].is_u64());
        }
    }

    /// Leaves as a client does, and waits until the gateway has ended, too.
    pub(crate) fn end(mut self) {
        self.peer.close_input();
        assert!(self.peer.wait().success());
    }

    fn write(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        self.peer.send(&message.to_string());
    }
}

/// The text of a result.
pub(crate) fn text_of(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// The message of an error.
pub(crate) fn error_of(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"))
}
