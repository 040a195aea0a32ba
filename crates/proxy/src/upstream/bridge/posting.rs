//! What the client has sent, as it is posted: which headers it needs, and who waits for what.

use std::sync::Arc;

use forebay_wire::{Envelope, Id, Kind, Line};
use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT, CONTENT_TYPE},
};

use crate::{
    body::{Body, Message, Source},
    protocol::methods,
    session,
    streamable::tool_headers::ToolHeaders,
};

/// A line of the client's.
#[derive(Debug)]
pub(super) struct Posting {
    pub(super) kind: PostingKind,
    /// The requests in it.
    pub(super) requests: Vec<Id>,
    /// It is a request of the modern era, which stands for itself.
    pub(super) is_modern: bool,
    /// It asks for the list of tools.
    pub(super) lists_tools: bool,
    headers: HeaderMap,
    body: Arc<Body>,
}

/// What a line needs besides being posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PostingKind {
    /// Opens a legacy session.
    Initialize,
    /// Says that it is open.
    Initialized,
    /// Is answered when it is.
    Call,
    /// Is answered when it ends, for which nobody waits.
    Subscription,
    /// Takes a request back.
    Cancelled(Id),
    /// Is not answered.
    OneWay,
}

impl Posting {
    /// Reads what is to be known; `None` if the line is blank.
    pub(super) fn of(body: Body, tools: &ToolHeaders) -> Option<Self> {
        let line = body.line();
        if line == Line::Blank {
            return None;
        }
        let requests = requests(&line);
        let mut headers = HeaderMap::new();
        let (mut is_modern, mut lists_tools) = (false, false);
        let kind = match &line {
            Line::Message(envelope) => {
                let source = Source::Held(&body);
                is_modern = tools.say_again(envelope, source, &mut headers);
                lists_tools = envelope.method.as_deref() == Some("tools/list");
                kind(envelope, source)
            }
            Line::Batch(_) if !requests.is_empty() => PostingKind::Call,
            Line::Batch(_) | Line::Other | Line::Blank => PostingKind::OneWay,
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        Some(Self { kind, requests, is_modern, lists_tools, headers, body: Arc::new(body) })
    }

    pub(super) fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    pub(super) fn message(&self) -> Message {
        Message::whole(self.body.clone())
    }
}

/// The requests in a line.
pub(super) fn requests(line: &Line) -> Vec<Id> {
    let id = |envelope: &Envelope| match envelope.kind() {
        Kind::Request { id, .. } => Some(id.clone()),
        Kind::Notification { .. } | Kind::Response { .. } | Kind::Other => None,
    };
    line.messages().iter().filter_map(id).collect()
}

fn kind(envelope: &Envelope, source: Source<'_>) -> PostingKind {
    match envelope.kind() {
        Kind::Request { method: "initialize", .. } => PostingKind::Initialize,
        Kind::Request { method: methods::LISTEN, .. } => PostingKind::Subscription,
        Kind::Request { .. } => PostingKind::Call,
        Kind::Notification { method: "notifications/initialized" } => PostingKind::Initialized,
        Kind::Notification { method: methods::CANCELLED } => {
            session::cancelled_request(envelope, source)
                .map_or(PostingKind::OneWay, PostingKind::Cancelled)
        }
        Kind::Notification { .. } | Kind::Response { .. } | Kind::Other => PostingKind::OneWay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posting(line: &str) -> Posting {
        let mut tools = ToolHeaders::default();
        tools.learn(
            br#"{"tools":[{"name":"t","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]}"#,
        );
        Posting::of(Body::Memory(line.as_bytes().to_vec()), &tools).unwrap()
    }

    fn header(posting: &Posting, name: &str) -> Option<String> {
        Some(posting.headers().get(name)?.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_modern_request_says_in_headers_what_its_body_says() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        let call = posting(&format!(
            r#"{{"id":1,"method":"tools/call","params":{{"name":"t","arguments":{{"a":"é"}},{meta}}}}}"#
        ));
        assert!(call.is_modern);
        let headers = ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-a"];
        assert_eq!(
            headers.map(|name| header(&call, name).unwrap()),
            ["2026-07-28", "tools/call", "t", "=?base64?w6k=?="]
        );
        let read = posting(&format!(
            r#"{{"id":1,"method":"resources/read","params":{{"uri":"test://x","name":"n",{meta}}}}}"#
        ));
        assert_eq!(header(&read, "mcp-name").as_deref(), Some("test://x"));
        let task = posting(&format!(
            r#"{{"id":1,"method":"tasks/get","params":{{"taskId":"42",{meta}}}}}"#
        ));
        assert_eq!(header(&task, "mcp-name").as_deref(), Some("42"));
        let list = posting(&format!(r#"{{"id":1,"method":"tools/list","params":{{{meta}}}}}"#));
        assert_eq!(header(&list, "mcp-name"), None);
        assert!(list.lists_tools);
    }

    #[test]
    fn a_legacy_request_says_nothing_in_headers() {
        let call = posting(r#"{"id":1,"method":"tools/call","params":{"name":"t","_meta":{}}}"#);
        assert!(!call.is_modern);
        assert_eq!(header(&call, "mcp-method"), None);
        assert_eq!(header(&call, "content-type").as_deref(), Some("application/json"));
    }

    #[test]
    fn what_a_line_needs_is_seen() {
        let cases = [
            (r#"{"id":1,"method":"initialize"}"#, PostingKind::Initialize),
            (r#"{"method":"notifications/initialized"}"#, PostingKind::Initialized),
            (r#"{"id":1,"method":"ping"}"#, PostingKind::Call),
            (r#"{"id":1,"method":"subscriptions/listen"}"#, PostingKind::Subscription),
            (
                r#"{"method":"notifications/cancelled","params":{"requestId":"7"}}"#,
                PostingKind::Cancelled(Id::parse(b"\"7\"").unwrap()),
            ),
            (r#"{"method":"notifications/cancelled"}"#, PostingKind::OneWay),
            (r#"{"id":1,"result":{}}"#, PostingKind::OneWay),
            (r#"[{"id":1,"method":"ping"},{"method":"x"}]"#, PostingKind::Call),
            (r#"[{"method":"x"}]"#, PostingKind::OneWay),
            ("42", PostingKind::OneWay),
        ];
        for (line, expected) in cases {
            assert_eq!(posting(line).kind, expected, "{line}");
        }
        assert!(Posting::of(Body::Memory(b" \n".to_vec()), &ToolHeaders::default()).is_none());
    }
}
