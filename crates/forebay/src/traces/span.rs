//! A tool call as a span, and spans as OTLP writes them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use forebay_proxy::{
    protocol::{Call, Era},
    telemetry::Outcome,
};
use serde_json::{Value, json};

/// A tool call from its question to its answer.
#[derive(Debug)]
pub(super) struct Span {
    parent: Parent,
    id: [u8; 8],
    server: String,
    tool: String,
    client: Option<String>,
    session: String,
    is_modern: bool,
    is_error: bool,
    began: Duration,
    ended: Duration,
}

/// The trace that a span belongs to, and the span above it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parent {
    trace: String,
    span: Option<String>,
    is_sampled: bool,
}

impl Span {
    /// The span of a call that was just answered; `None` if its client does not want one.
    pub(super) fn of(call: &Call, outcome: Outcome) -> Option<Self> {
        let tool = call.tool()?.to_owned();
        let parent = call.trace_parent.as_deref().and_then(Parent::read);
        let parent = match parent {
            Some(parent) => parent,
            None => Parent { trace: hex(&random::<16>()?), span: None, is_sampled: true },
        };
        let ended = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        parent.is_sampled.then_some(())?;
        Some(Self {
            parent,
            id: random()?,
            server: call.upstream.to_string(),
            tool,
            client: call.client.as_deref().map(str::to_owned),
            session: call.session.to_string(),
            is_modern: call.era == Era::Modern,
            is_error: outcome == Outcome::Error,
            began: ended.saturating_sub(call.asked_at.elapsed()),
            ended,
        })
    }

    fn json(&self) -> Value {
        /// A span of whoever is asked.
        const SERVER: u8 = 2;
        const ERROR: u8 = 2;
        let text = |key: &str, text: &str| json!({"key": key, "value": {"stringValue": text}});
        let mut attributes = vec![
            text("rpc.system", "jsonrpc"),
            text("mcp.method.name", "tools/call"),
            text("gen_ai.tool.name", &self.tool),
            text("forebay.server", &self.server),
            text("mcp.session.id", &self.session),
            text("forebay.era", if self.is_modern { "modern" } else { "legacy" }),
        ];
        attributes.extend(self.client.iter().map(|client| text("forebay.client", client)));
        let mut span = json!({
            "traceId": self.parent.trace,
            "spanId": hex(&self.id),
            "name": format!("tools/call {}", self.tool),
            "kind": SERVER,
            "startTimeUnixNano": self.began.as_nanos().to_string(),
            "endTimeUnixNano": self.ended.as_nanos().to_string(),
            "attributes": attributes,
        });
        if let Some(parent) = &self.parent.span {
            span["parentSpanId"] = parent.as_str().into();
        }
        if self.is_error {
            span["status"] = json!({"code": ERROR});
        }
        span
    }
}

/// What is sent of spans.
pub(super) fn request(spans: &[Span]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let text = |key: &str, text: &str| json!({"key": key, "value": {"stringValue": text}});
    let resource = json!({
        "attributes": [text("service.name", "forebay"), text("service.version", version)],
    });
    let spans: Vec<Value> = spans.iter().map(Span::json).collect();
    let scope = json!({"name": "forebay", "version": version});
    json!({"resourceSpans": [{
        "resource": resource,
        "scopeSpans": [{"scope": scope, "spans": spans}],
    }]})
    .to_string()
}

impl Parent {
    /// Reads W3C's `traceparent`: version, trace, span and flags.
    fn read(text: &str) -> Option<Self> {
        let is_hex = |part: &str, length: usize| {
            let is_small = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            part.len() == length && part.bytes().all(is_small)
        };
        let mut parts = text.split('-');
        let (version, trace, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // A later version may have more parts; the first has not.
        let is_whole = version != "00" || parts.next().is_none();
        let is_sound = is_hex(version, 2)
            && version != "ff"
            && is_hex(trace, 32)
            && is_hex(span, 16)
            && is_hex(flags, 2)
            && [trace, span].iter().all(|id| id.bytes().any(|byte| byte != b'0'));
        (is_whole && is_sound).then(|| Self {
            trace: trace.to_owned(),
            span: Some(span.to_owned()),
            is_sampled: u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1),
        })
    }
}

fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_taken_up_only_as_it_is_to_be_written() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let read = |text: &str| Parent::read(text);
        let parent = read(&format!("00-{trace}-b7ad6b7169203331-01")).unwrap();
        assert_eq!((parent.trace.as_str(), parent.is_sampled), (trace, true));
        assert_eq!(parent.span.as_deref(), Some("b7ad6b7169203331"));
        assert!(!read(&format!("00-{trace}-b7ad6b7169203331-00")).unwrap().is_sampled);
        assert!(read(&format!("01-{trace}-b7ad6b7169203331-01-more")).is_some());
        for odd in [
            "",
            "00",
            &format!("00-{trace}-b7ad6b7169203331"),
            &format!("ff-{trace}-b7ad6b7169203331-01"),
            &format!("00-{trace}-0000000000000000-01"),
            &format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)),
            &format!("00-{}-b7ad6b7169203331-01", trace.to_uppercase()),
            &format!("00-{trace}-b7ad6b7169203331-01-more"),
        ] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_span_is_written_as_otlp_has_it() {
        let parent = Parent { trace: "a".repeat(32), span: Some("b".repeat(16)), is_sampled: true };
        let span = Span {
            parent,
            id: [1, 2, 3, 4, 5, 6, 7, 255],
            server: "git".to_owned(),
            tool: "log".to_owned(),
            client: None,
            session: "s".to_owned(),
            is_modern: true,
            is_error: true,
            began: Duration::from_nanos(1_700_000_000_000_000_001),
            ended: Duration::from_nanos(1_700_000_000_000_000_009),
        };
        let request: Value = serde_json::from_str(&request(&[span])).unwrap();
        let written = &request["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert_eq!(written["spanId"], "01020304050607ff");
        assert_eq!(written["parentSpanId"], "b".repeat(16));
        // As texts: JSON's numbers do not hold them.
        assert_eq!(written["startTimeUnixNano"], "1700000000000000001");
        assert_eq!(written["status"]["code"], 2);
        assert_eq!(written["name"], "tools/call log");
    }
}
