//! A client that speaks MCP over HTTP, in either era, one request at a time or several at once.

use std::{io, net::SocketAddr};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{Connection, Event, Head, HttpPeer};

/// Which family of revisions a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// 2025-11-25: `initialize`, a session.
    Legacy,
    /// 2026-07-28: each request for itself.
    Modern,
}

/// A client.
#[derive(Debug)]
pub struct McpHttpClient {
    /// Headers that every request has besides those it must have.
    pub headers: Vec<(String, String)>,
    /// All that came in [`McpHttpClient::call`] besides the responses.
    pub notifications: Vec<Value>,
    address: SocketAddr,
    era: Era,
    session: Option<String>,
    last_id: u64,
    /// The connection that `call` uses again and again.
    connection: Option<Connection>,
}

/// A request that was sent, and what comes of it.
#[derive(Debug)]
pub struct Exchange {
    /// The request's id.
    pub id: Value,
    /// The beginning of the response.
    pub head: Head,
    /// The id of the last event that had one.
    pub last_event_id: Option<String>,
    /// What the body is read from.
    pub connection: Connection,
    has_ended: bool,
}

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

impl McpHttpClient {
    /// A client that begins a session.
    pub fn legacy(server: &HttpPeer) -> Self {
        let mut client = Self::new(server, Era::Legacy);
        let exchange = client.start(
            "initialize",
            &json!({"protocolVersion": LEGACY, "capabilities": {"sampling": {}, "elicitation": {}},
                "clientInfo": {"name": "testkit", "version": "1"}}),
        );
        client.session = exchange.head.header("mcp-session-id").map(str::to_owned);
        let response = exchange.response();
        assert!(response["result"].is_object(), "a session begins: {response}");
        assert_eq!(client.tell("notifications/initialized", &json!({})), 202);
        client
    }

    /// A client that needs no beginning.
    pub fn modern(server: &HttpPeer) -> Self {
        Self::new(server, Era::Modern)
    }

    /// A client of either era.
    pub fn of(era: Era, server: &HttpPeer) -> Self {
        match era {
            Era::Legacy => Self::legacy(server),
            Era::Modern => Self::modern(server),
        }
    }

    /// The session's id, if there is one.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Sends a request and gives its response, the whole message.
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        let connection = self.connection.take();
        let connection = connection.unwrap_or_else(|| Connection::open(self.address));
        let mut exchange = self.start_on(connection, method, params);
        loop {
            let message = exchange.next_message().expect("a whole response");
            let message = message.expect("a response before the end");
            if message["id"] == exchange.id && message["method"].is_null() {
                self.connection = Some(exchange.connection);
                return message;
            }
            self.notifications.push(message);
        }
    }

    /// Calls a tool and gives the response, the whole message.
    pub fn call_tool(&mut self, name: &str, arguments: &Value) -> Value {
        self.call("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// Sends a request on a connection of its own, and waits for the beginning of the response.
    pub fn start(&mut self, method: &str, params: &Value) -> Exchange {
        self.start_on(Connection::open(self.address), method, params)
    }

    /// Sends a request on a connection of its own, and waits for nothing: the request's id, and the
    /// connection, whose head is still to be read.
    pub fn send(&mut self, method: &str, params: &Value) -> (Value, Connection) {
        let mut connection = Connection::open(self.address);
        let id = self.send_on(&mut connection, method, params);
        (id, connection)
    }

    /// Sends a notification and gives the status.
    pub fn tell(&mut self, method: &str, params: &Value) -> u16 {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": self.params(params)});
        self.post(&message)
    }

    /// Answers a request of the server and gives the status.
    pub fn answer(&mut self, id: &Value, result: &Value) -> u16 {
        self.post(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    /// Opens the stream of a session (legacy), from `last_event_id` on if there is one.
    pub fn listen(&mut self, last_event_id: Option<&str>) -> Exchange {
        let mut headers = self.headers(None);
        headers.push(("Accept".to_owned(), "text/event-stream".to_owned()));
        headers.extend(last_event_id.map(|id| ("Last-Event-ID".to_owned(), id.to_owned())));
        let mut connection = Connection::open(self.address);
        connection.send("GET", "/mcp", &borrowed(&headers), b"");
        Exchange::on(connection, Value::Null)
    }

    /// Ends the session (legacy) and gives the status.
    pub fn delete(&mut self) -> u16 {
        let headers = self.headers(None);
        let mut connection = Connection::open(self.address);
        connection.send("DELETE", "/mcp", &borrowed(&headers), b"");
        connection.head().status
    }

    fn new(server: &HttpPeer, era: Era) -> Self {
        Self {
            headers: Vec::new(),
            notifications: Vec::new(),
            address: server.address(),
            era,
            session: None,
            last_id: 0,
            connection: None,
        }
    }

    fn start_on(&mut self, mut connection: Connection, method: &str, params: &Value) -> Exchange {
        let id = self.send_on(&mut connection, method, params);
        Exchange::on(connection, id)
    }

    fn send_on(&mut self, connection: &mut Connection, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let params = self.params(params);
        let message =
            json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        self.post_on(connection, &message);
        self.last_id.into()
    }

    fn post(&mut self, message: &Value) -> u16 {
        let mut connection = Connection::open(self.address);
        self.post_on(&mut connection, message);
        connection.head().status
    }

    fn post_on(&self, connection: &mut Connection, message: &Value) {
        let mut headers = self.headers(Some(message));
        headers.extend([
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ]);
        connection.send("POST", "/mcp", &borrowed(&headers), message.to_string().as_bytes());
    }

    /// The parameters with what the era asks of each request.
    fn params(&self, params: &Value) -> Value {
        let mut params = params.clone();
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "testkit", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] =
                json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        }
        params
    }

    fn headers(&self, message: Option<&Value>) -> Vec<(String, String)> {
        let mut headers = self.headers.clone();
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        match self.era {
            Era::Legacy => {
                if let Some(session) = &self.session {
                    add("Mcp-Session-Id", session);
                    add("MCP-Protocol-Version", LEGACY);
                }
            }
            Era::Modern => {
                add("MCP-Protocol-Version", MODERN);
                let method = message.and_then(|message| message["method"].as_str());
                let params = message.map(|message| &message["params"]);
                let name = match method.unwrap_or_default() {
                    "tools/call" | "prompts/get" => "name",
                    "resources/read" => "uri",
                    "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
                    _ => "",
                };
                if let Some(method) = method {
                    add("Mcp-Method", method);
                }
                if let Some(name) = params.and_then(|params| params[name].as_str()) {
                    add("Mcp-Name", &encoded(name));
                }
            }
        }
        headers
    }
}

impl Exchange {
    fn on(mut connection: Connection, id: Value) -> Self {
        let head = connection.head();
        Self { id, head, last_event_id: None, connection, has_ended: false }
    }

    /// The next event of a stream, `None` at its end.
    pub fn next_event(&mut self) -> io::Result<Option<Event>> {
        let event = self.connection.next_event()?;
        if let Some(id) = event.as_ref().and_then(|event| event.id.clone()) {
            self.last_event_id = Some(id);
        }
        Ok(event)
    }

    /// The next message, of an event or as the whole body; `None` at the end. Events without data,
    /// which only have an id, are passed over.
    pub fn next_message(&mut self) -> io::Result<Option<Value>> {
        if !self.head.is_stream() {
            if std::mem::replace(&mut self.has_ended, true) {
                return Ok(None);
            }
            let body = self.connection.body()?;
            return Ok(Some(serde_json::from_slice(&body)?));
        }
        while let Some(event) = self.next_event()? {
            if !event.data.is_empty() {
                return Ok(Some(serde_json::from_str(&event.data)?));
            }
        }
        Ok(None)
    }

    /// Reads up to the response.
    pub fn response(mut self) -> Value {
        loop {
            let message = self.next_message().expect("a whole response");
            let message = message.expect("a response before the end");
            if message["method"].is_null() {
                return message;
            }
        }
    }
}

/// A header's value that says `name`.
fn encoded(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| matches!(byte, 0x20..=0x7e)) && name.trim() == name;
    let is_marked = name.starts_with("=?base64?") && name.ends_with("?=");
    if is_plain && !is_marked {
        return name.to_owned();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(name))
}

fn borrowed(headers: &[(String, String)]) -> Vec<(&str, &str)> {
    headers.iter().map(|(name, value)| (&**name, &**value)).collect()
}
