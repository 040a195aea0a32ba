//! What passes, in numbers, for whoever watches over an endpoint: Prometheus' text.

use std::sync::atomic::{AtomicUsize, Ordering};

use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use crate::{
    protocol::Call,
    telemetry::{Outcome, Telemetry},
    upstream::{Standing, State},
};

/// What is counted.
pub struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    /// How many tools have been counted, about.
    tools: AtomicUsize,
    seconds: Family<ServerLabel, Histogram>,
    captured: Family<ServerLabel, Counter>,
    captured_bytes: Family<ServerLabel, Counter>,
    tokens_kept_out: Family<ServerLabel, Counter>,
    failed_open: Family<FailureLabels, Counter>,
    sessions: Gauge,
    servers: Family<StateLabels, Gauge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    server: String,
    tool: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ServerLabel {
    server: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FailureLabels {
    interceptor: &'static str,
    hook: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    server: String,
    state: &'static str,
}

/// Clients may call tools that do not exist, as many as they like; these are counted apart, further ones
/// together.
const TOOLS: usize = 2_000;
const OTHER: &str = "(other)";

/// From a millisecond, about, to what most clients wait for.
const SECONDS: [f64; 12] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 60.0, 300.0];

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("forebay"),
            calls: Family::default(),
            tools: AtomicUsize::new(0),
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            captured: Family::default(),
            captured_bytes: Family::default(),
            tokens_kept_out: Family::default(),
            failed_open: Family::default(),
            sessions: Gauge::default(),
            servers: Family::default(),
        };
        let all = &mut metrics.registry;
        all.register("calls", "Tool calls that were answered", metrics.calls.clone());
        let help = "How long tool calls took, from the client's question to the server's answer";
        all.register_with_unit("call_duration", help, Unit::Seconds, metrics.seconds.clone());
        all.register("captured", "Results that were kept", metrics.captured.clone());
        let help = "What the results that were kept have";
        all.register_with_unit("captured", help, Unit::Bytes, metrics.captured_bytes.clone());
        let help = "Tokens of results that were kept, less those of their summaries";
        all.register("tokens_kept_out", help, metrics.tokens_kept_out.clone());
        let help = "Failures of our own after which what a server had said passed unchanged";
        all.register("failed_open", help, metrics.failed_open.clone());
        all.register("sessions", "Sessions under way", metrics.sessions.clone());
        let help = "1 for the state that a server behind a gateway is in";
        all.register("server_state", help, metrics.servers.clone());
        metrics
    }
}

impl Telemetry for Metrics {
    fn answered(&self, call: &Call, outcome: Outcome) {
        let Some(tool) = call.tool() else { return };
        let outcome = match outcome {
            Outcome::Result => "result",
            Outcome::Error => "error",
        };
        let server = call.upstream.to_string();
        let labels = CallLabels { server: server.clone(), tool: tool.to_owned(), outcome };
        self.count_call(labels);
        let seconds = call.asked_at.elapsed().as_secs_f64();
        self.seconds.get_or_create(&ServerLabel { server }).observe(seconds);
    }

    fn kept(&self, call: &Call, bytes: u64, tokens_kept_out: u64) {
        let label = ServerLabel { server: call.upstream.to_string() };
        self.captured.get_or_create(&label).inc();
        self.captured_bytes.get_or_create(&label).inc_by(bytes);
        self.tokens_kept_out.get_or_create(&label).inc_by(tokens_kept_out);
    }

    fn failed_open(&self, interceptor: &'static str, hook: &str) {
        let labels = FailureLabels { interceptor, hook: hook.to_owned() };
        self.failed_open.get_or_create(&labels).inc();
    }
}

impl Metrics {
    fn count_call(&self, labels: CallLabels) {
        if let Some(known) = self.calls.get(&labels) {
            known.inc();
            return;
        }
        let has_room = self.tools.fetch_add(1, Ordering::Relaxed) < TOOLS;
        let labels =
            if has_room { labels } else { CallLabels { tool: OTHER.to_owned(), ..labels } };
        self.calls.get_or_create(&labels).inc();
    }

    /// All of it, as Prometheus reads it.
    pub(crate) fn text(&self, sessions: usize, standings: &[Standing]) -> String {
        self.sessions.set(i64::try_from(sessions).unwrap_or(i64::MAX));
        // Those that are not there any more are told no longer.
        self.servers.clear();
        for standing in standings {
            for (state, name) in State::ALL {
                let labels = StateLabels { server: standing.name.to_string(), state: name };
                self.servers.get_or_create(&labels).set((state == standing.state).into());
            }
        }
        let mut written = String::new();
        // Writing to a text does not fail.
        let _ = text::encode(&mut written, &self.registry);
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{router::UpstreamName, testing};

    #[test]
    fn what_was_counted_is_told_as_prometheus_reads_it() {
        let metrics = Metrics::default();
        let call = testing::call("re\"cords");
        metrics.answered(&call, Outcome::Result);
        metrics.answered(&call, Outcome::Result);
        metrics.answered(&call, Outcome::Error);
        metrics.kept(&call, 1_000, 200);
        metrics.failed_open("keeper", "on_result");
        let down = Standing {
            name: UpstreamName::new("git"),
            state: State::Down,
            revision: None,
            tools: None,
            last_error: None,
        };
        let text = metrics.text(3, &[down]);
        let server = call.upstream.as_str();
        for line in [
            format!(
                r#"forebay_calls_total{{server="{server}",tool="re\"cords",outcome="result"}} 2"#
            ),
            format!(
                r#"forebay_calls_total{{server="{server}",tool="re\"cords",outcome="error"}} 1"#
            ),
            format!(r#"forebay_call_duration_seconds_count{{server="{server}"}} 3"#),
            format!(r#"forebay_captured_bytes_total{{server="{server}"}} 1000"#),
            format!(r#"forebay_tokens_kept_out_total{{server="{server}"}} 200"#),
            r#"forebay_failed_open_total{interceptor="keeper",hook="on_result"} 1"#.to_owned(),
            r#"forebay_server_state{server="git",state="down"} 1"#.to_owned(),
            r#"forebay_server_state{server="git",state="open"} 0"#.to_owned(),
            "forebay_sessions 3".to_owned(),
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        assert!(!metrics.text(0, &[]).contains("forebay_server_state{"));
    }

    #[test]
    fn tools_beyond_number_are_counted_together() {
        let metrics = Metrics::default();
        for number in 0..TOOLS + 10 {
            metrics.answered(&testing::call(&format!("t{number}")), Outcome::Error);
        }
        let text = metrics.text(0, &[]);
        let others = text.lines().find(|line| line.contains(OTHER)).unwrap();
        assert!(others.ends_with(" 10"), "{others}");
    }
}
