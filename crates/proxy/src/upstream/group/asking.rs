//! A request of a client's on its way to an upstream: what is read of it, and what is changed in it.

use std::{
    io::{BufReader, Read},
    ops::Range,
    sync::Arc,
};

use forebay_wire::{Envelope, Id, scan};

use crate::{
    body::{Body, Message, Payload, Source},
    protocol::{
        Era,
        methods::{PROTOCOL_VERSION, text},
    },
};

pub(super) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A client's request.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) era: Era,
    /// What it is about: a tool, a prompt, a resource or a task.
    pub(super) subject: Option<Written>,
    /// The token under which the client expects progress.
    pub(super) token: Option<Written>,
    pub(super) wants_log: bool,
    /// The call is to become a task, as legacy clients ask for it.
    pub(super) wants_task: bool,
    /// What an answer before gave the client to come back with.
    pub(super) state: Option<String>,
    body: Arc<Body>,
    span: Range<u64>,
    id_at: Range<u64>,
    params: Option<Range<u64>>,
    meta: Option<Range<u64>>,
}

/// A text, or a token, and where it is written.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) json: Vec<u8>,
    pub(super) at: Range<u64>,
}

/// What is put into a request besides what the client has said.
#[derive(Debug, Default)]
pub(super) struct Added {
    /// Members of `_meta`.
    pub(super) meta: String,
    /// Members of `params`.
    pub(super) params: String,
}

impl Written {
    fn of(value: Option<scan::Value>) -> Option<Self> {
        let scan::Value { span, scalar } = value?;
        Some(Self { json: scalar?, at: span })
    }

    pub(super) fn text(&self) -> Option<String> {
        text(Some(self.json.clone()))
    }

    pub(super) fn id(&self) -> Option<Id> {
        Id::parse(&self.json)
    }
}

impl Asking {
    /// Reads a request; `None` if it is none.
    pub(super) fn read(envelope: &Envelope, body: &Arc<Body>) -> Option<Self> {
        let id = envelope.request()?.clone();
        let method = envelope.method.clone()?;
        let source = Source::Held(body);
        let [id_at] = source.members(&envelope.span, ["id"]);
        let keys = ["name", "uri", "ref", "taskId", "task", "requestState", "_meta"];
        let params = envelope.params.clone();
        let [name, uri, reference, task_id, task, state, meta] =
            params.as_ref().map_or([const { None }; 7], |params| source.members(params, keys));
        let [token, revision, log_level] = meta.as_ref().map_or([const { None }; 3], |meta| {
            source.members(&meta.span, ["progressToken", PROTOCOL_VERSION, LOG_LEVEL])
        });
        let subject = match method.as_str() {
            "tools/call" | "prompts/get" => Written::of(name),
            "completion/complete" => reference.and_then(|reference| {
                let [name, uri] = source.members(&reference.span, ["name", "uri"]);
                Written::of(name).or(Written::of(uri))
            }),
            _ if method.starts_with("resources/") => Written::of(uri),
            _ if method.starts_with("tasks/") => Written::of(task_id),
            _ => None,
        };
        Some(Self {
            id,
            era: if revision.is_some() || method == "server/discover" {
                Era::Modern
            } else {
                Era::Legacy
            },
            subject,
            token: Written::of(token),
            wants_log: log_level.is_some(),
            wants_task: task.is_some(),
            state: state.and_then(|state| text(state.scalar)),
            body: body.clone(),
            span: envelope.span.clone(),
            id_at: id_at?.span,
            params,
            meta: meta.map(|meta| meta.span),
            method,
        })
    }

    /// What is written in it, as JSON: its parameters, if they are in memory.
    pub(super) fn params(&self) -> serde_json::Value {
        let json = self.params.as_ref().and_then(|span| Source::Held(&self.body).in_memory(span));
        json.and_then(|json| serde_json::from_slice(json).ok()).unwrap_or_default()
    }

    /// The line for an upstream that knows it as `alias`, and what it is about by `own`.
    pub(super) fn line(&self, alias: u64, own: Option<&str>, added: &Added) -> Message {
        let alias = alias.to_string();
        let mut edits = vec![(self.id_at.clone(), alias.clone())];
        edits.extend(self.token.iter().map(|token| (token.at.clone(), alias.clone())));
        if let (Some(own), Some(subject)) = (own, &self.subject) {
            edits.push((subject.at.clone(), serde_json::Value::from(own).to_string()));
        }
        edits.extend(self.insertions(added));
        let whole = Message::of(vec![Payload::new(self.body.clone(), self.span.clone())]);
        edits.iter().fold(whole, |line, (span, text)| line.with(&self.body, span, text))
    }

    fn insertions(&self, Added { meta, params }: &Added) -> Vec<(Range<u64>, String)> {
        let mut inserted = Vec::new();
        let new_meta = match &self.meta {
            Some(span) => {
                inserted.extend(self.inside(span, meta));
                String::new()
            }
            None if meta.is_empty() => String::new(),
            None => format!(r#""_meta":{{{meta}}}"#),
        };
        let separator = if new_meta.is_empty() || params.is_empty() { "" } else { "," };
        let members = format!("{params}{separator}{new_meta}");
        match &self.params {
            Some(span) => inserted.extend(self.inside(span, &members)),
            None if members.is_empty() => {}
            None => {
                let end = self.span.end - 1;
                inserted.push((end..end, format!(r#","params":{{{members}}}"#)));
            }
        }
        inserted
    }

    /// Members that are put at the beginning of the object at `span`.
    fn inside(&self, span: &Range<u64>, members: &str) -> Option<(Range<u64>, String)> {
        if members.is_empty() {
            return None;
        }
        let start = span.start + 1;
        let separator = if is_empty(&self.body, span) { "" } else { "," };
        Some((start..start, format!("{members}{separator}")))
    }
}

/// True if the object at `span` has no members.
pub(super) fn is_empty(body: &Arc<Body>, span: &Range<u64>) -> bool {
    let inner = Payload::new(body.clone(), span.start + 1..span.end);
    let mut bytes = BufReader::new(inner.reader()).bytes().map_while(Result::ok);
    bytes.find(|byte| !byte.is_ascii_whitespace()) == Some(b'}')
}

#[cfg(test)]
mod tests {
    use forebay_wire::Line;

    use super::*;

    fn asking(json: &str) -> Asking {
        let body = Arc::new(Body::Memory(json.as_bytes().to_vec()));
        let Line::Message(envelope) = body.line() else { panic!("{json}") };
        Asking::read(&envelope, &body).unwrap()
    }

    fn line(json: &str, own: Option<&str>, meta: &str, params: &str) -> String {
        let added = Added { meta: meta.to_owned(), params: params.to_owned() };
        let line = asking(json).line(7, own, &added);
        String::from_utf8(line.into_bytes().unwrap()).unwrap()
    }

    #[test]
    fn what_a_request_is_about_is_read_where_its_method_has_it() {
        let about = |json: &str| asking(json).subject.and_then(|subject| subject.text());
        let name = r#"{"name":"n","uri":"u","taskId":"t","ref":{"type":"ref/prompt","name":"r"}}"#;
        let cases = [
            ("tools/call", "n"),
            ("prompts/get", "n"),
            ("resources/read", "u"),
            ("tasks/get", "t"),
            ("completion/complete", "r"),
        ];
        for (method, expected) in cases {
            let json = format!(r#"{{"id":1,"method":"{method}","params":{name}}}"#);
            assert_eq!(about(&json).as_deref(), Some(expected), "{method}");
        }
        assert_eq!(about(r#"{"id":1,"method":"other","params":{"name":"n"}}"#), None);
    }

    #[test]
    fn the_line_has_our_id_and_token_and_the_upstreams_name() {
        assert_eq!(
            line(
                r#"{"id":"a","method":"tools/call","params":{"_meta":{"progressToken":"t"},"name":"x__y","arguments":{"name":"x__y"}}}"#,
                Some("y"),
                "",
                "",
            ),
            r#"{"id":7,"method":"tools/call","params":{"_meta":{"progressToken":7},"name":"y","arguments":{"name":"x__y"}}}"#
        );
    }

    #[test]
    fn what_is_added_finds_its_place() {
        let cases = [
            (
                r#"{"id":1,"method":"m"}"#,
                r#"{"id":7,"method":"m","params":{"p":1,"_meta":{"m":2}}}"#,
            ),
            (
                r#"{"id":1,"method":"m","params":{ }}"#,
                r#"{"id":7,"method":"m","params":{"p":1,"_meta":{"m":2} }}"#,
            ),
            (
                r#"{"params":{"a":0},"id":1,"method":"m"}"#,
                r#"{"params":{"p":1,"_meta":{"m":2},"a":0},"id":7,"method":"m"}"#,
            ),
            (
                r#"{"id":1,"method":"m","params":{"_meta":{}}}"#,
                r#"{"id":7,"method":"m","params":{"p":1,"_meta":{"m":2}}}"#,
            ),
            (
                r#"{"id":1,"method":"m","params":{"a":0,"_meta":{"b":1}}}"#,
                r#"{"id":7,"method":"m","params":{"p":1,"a":0,"_meta":{"m":2,"b":1}}}"#,
            ),
        ];
        for (json, expected) in cases {
            assert_eq!(line(json, None, r#""m":2"#, r#""p":1"#), expected);
        }
    }
}
