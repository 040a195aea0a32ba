//! How a conversation opens: what is said to an upstream, and what a client is told of all of them.

use forebay_wire::Id;
use serde_json::{Map, Value, json};

use super::{
    asking::Asking,
    member::{Member, State},
};
use crate::protocol::{Era, REVISIONS, methods::PROTOCOL_VERSION};

/// The revision that is spoken with modern upstreams and clients.
pub(super) const MODERN: &str = REVISIONS[4];
/// The legacy revisions that clients may ask for, the newest first.
const LEGACY: [&str; 4] = [REVISIONS[3], REVISIONS[2], REVISIONS[1], REVISIONS[0]];

const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(super) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// What a client has told about itself.
#[derive(Debug, Default)]
pub(super) struct Client {
    pub(super) era: Era,
    revision: Option<String>,
    info: Option<Value>,
    capabilities: Option<Value>,
    /// The level of the log that a legacy client has asked for.
    pub(super) log_level: Option<String>,
}

impl Client {
    /// Takes note of what a request says about its client.
    pub(super) fn notes(&mut self, asking: &Asking) {
        match asking.method.as_str() {
            "initialize" => {
                let mut params = asking.params();
                self.era = Era::Legacy;
                self.revision = params["protocolVersion"].as_str().map(str::to_owned);
                self.info = Some(params["clientInfo"].take());
                self.capabilities = Some(params["capabilities"].take());
            }
            // What a client can do does not change from one request to the next, as a rule; reading it of
            // each would cost more than it tells.
            _ if asking.era == Era::Modern && self.capabilities.is_none() => {
                let mut meta = asking.params()["_meta"].take();
                self.era = Era::Modern;
                self.info = Some(meta[CLIENT_INFO].take());
                self.capabilities = Some(meta[CLIENT_CAPABILITIES].take());
            }
            _ => {}
        }
    }

    /// True once the client has said something about itself.
    pub(super) fn has_said_hello(&self) -> bool {
        self.era != Era::Unknown
    }

    /// The legacy revision that is spoken.
    fn revision(&self) -> &str {
        let asked = self.revision.as_deref();
        asked.filter(|asked| LEGACY.contains(asked)).unwrap_or(LEGACY[0])
    }

    fn info(&self) -> Value {
        let own = || json!({ "name": "forebay", "version": env!("CARGO_PKG_VERSION") });
        self.info.clone().filter(Value::is_object).unwrap_or_else(own)
    }

    fn capabilities(&self) -> Value {
        self.capabilities.clone().filter(Value::is_object).unwrap_or_else(|| json!({}))
    }

    /// What a modern upstream wants to be told with each request, as members of `_meta`.
    pub(super) fn meta(&self) -> String {
        let mut members = format!(
            r#""{PROTOCOL_VERSION}":"{MODERN}","{CLIENT_INFO}":{},"{CLIENT_CAPABILITIES}":{}"#,
            self.info(),
            self.capabilities()
        );
        if let Some(level) = &self.log_level {
            let level = Value::from(level.as_str());
            members.extend([r#",""#, super::asking::LOG_LEVEL, r#"":"#, &level.to_string()]);
        }
        members
    }

    pub(super) fn initialize(&self, alias: u64) -> Vec<u8> {
        let params = json!({
            "protocolVersion": self.revision(),
            "capabilities": self.capabilities(),
            "clientInfo": self.info(),
        });
        request(alias, "initialize", &params.to_string())
    }

    pub(super) fn discover(&self, alias: u64) -> Vec<u8> {
        request(alias, "server/discover", &format!(r#"{{"_meta":{{{}}}}}"#, self.meta()))
    }

    /// The answer to a client that opens, from all upstreams.
    pub(super) fn welcome(&self, era: Era, members: &[&Member]) -> Value {
        let mut capabilities = Map::new();
        for member in members {
            match &member.capabilities {
                Value::Object(told) => unite(&mut capabilities, told),
                // What is not there yet may have anything.
                _ if matches!(member.state, State::Idle | State::Starting) => {
                    let possible = json!({
                        "prompts": {}, "resources": { "subscribe": true }, "completions": {}, "logging": {},
                        "tasks": { "requests": { "tools": { "call": {} } } },
                        "extensions": { "io.modelcontextprotocol/tasks": {} },
                    });
                    unite(&mut capabilities, possible.as_object().unwrap_or(&Map::new()));
                }
                _ => {}
            }
        }
        capabilities.entry("tools").or_insert_with(|| json!({}));
        for kind in ["tools", "prompts", "resources"] {
            if let Some(Value::Object(capability)) = capabilities.get_mut(kind) {
                capability.insert("listChanged".to_owned(), true.into());
            }
        }
        let info = match members {
            [sole] if sole.info.is_object() => sole.info.clone(),
            _ => json!({ "name": "forebay", "version": env!("CARGO_PKG_VERSION") }),
        };
        let mut welcome = match era {
            Era::Modern => {
                capabilities.remove("tasks");
                json!({
                    "resultType": "complete",
                    "supportedVersions": [MODERN],
                    "capabilities": capabilities,
                    "ttlMs": 0,
                    "cacheScope": "private",
                    "_meta": { SERVER_INFO: info },
                })
            }
            Era::Unknown | Era::Legacy => {
                capabilities.remove("extensions");
                json!({
                    "protocolVersion": self.revision(),
                    "capabilities": capabilities,
                    "serverInfo": info,
                })
            }
        };
        if let Some(instructions) = instructions(members) {
            welcome["instructions"] = instructions.into();
        }
        welcome
    }
}

/// What the upstreams want models to know, each under its name if there are several.
fn instructions(members: &[&Member]) -> Option<String> {
    if let [sole] = members {
        return sole.instructions.clone();
    }
    let told = members.iter().filter_map(|member| {
        let text = member.instructions.as_deref()?.trim();
        (!text.is_empty()).then(|| format!("# {}\n\n{text}", member.settings.name))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("\n\n"))
}

/// Adds what one upstream can do to what others can.
fn unite(all: &mut Map<String, Value>, told: &Map<String, Value>) {
    for (key, value) in told {
        match (all.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => unite(known, more),
            (Some(known @ Value::Bool(false)), Value::Bool(true)) => *known = true.into(),
            (Some(_), _) => {}
            (None, value) => drop(all.insert(key.clone(), value.clone())),
        }
    }
}

/// A request of our own.
pub(super) fn request(alias: u64, method: &str, params: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{alias},"method":"{method}","params":{params}}}"#)
        .into_bytes()
}

/// A notification of our own.
pub(super) fn notification(method: &str, params: &str) -> Vec<u8> {
    let params = if params.is_empty() { String::new() } else { format!(r#","params":{params}"#) };
    format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#).into_bytes()
}

/// Says that nobody waits for a request any more.
pub(super) fn cancelled(id: &str, why: &str) -> Vec<u8> {
    let params = format!(r#"{{"requestId":{id},"reason":{}}}"#, Value::from(why));
    notification("notifications/cancelled", &params)
}

/// An answer of our own, without a line break.
pub(super) fn answer(id: &Id, result: &[u8]) -> Vec<u8> {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{},"result":"#, id.as_json());
    [head.as_bytes(), result, b"}"].concat()
}

/// An error of our own, without a line break.
pub(super) fn error(id: &Id, code: i32, message: &str) -> Vec<u8> {
    forebay_wire::reply::error(Some(id), code, message).trim_ascii_end().to_vec()
}
