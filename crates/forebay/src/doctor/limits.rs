//! What passes, held against what clients take: which of them would cut it.

use forebay_clients::ClientState;
use forebay_intercept::{CLIENT_LIMITS, ClientLimit, DEFAULT_THRESHOLD, Policy, Takes, When};
use forebay_text::grouped;

use super::{Area, Finding, State};
use crate::config::Config;

pub(super) fn examine(config: &Config, clients: &[ClientState]) -> Vec<Finding> {
    if !config.enabled {
        let text =
            "Nothing is kept: `enabled` is false, and clients cut what is too large for them.";
        return vec![found(State::Note, text)];
    }
    let policy = &config.policy;
    let here: Vec<&str> = clients.iter().map(|client| client.title).collect();
    let mut findings = vec![in_general(policy, &here)];
    for server in &config.servers {
        if let Some(threshold) = server.keeping.threshold {
            let whose = format!("servers.{}.threshold", server.name);
            findings.extend(too_high(threshold, &whose, &here));
        }
    }
    let of_servers = config.servers.iter().flat_map(|server| &server.keeping.tools);
    for rule in policy.tools.iter().chain(of_servers) {
        if let Some(When::Over(threshold)) = rule.when {
            let whose = format!("threshold of the tools `{}`", rule.pattern.as_str());
            findings.extend(too_high(threshold, &whose, &here));
        }
    }
    let excluded = policy.excluded_tools.iter();
    let never = policy.tools.iter().filter(|rule| rule.when == Some(When::Never));
    let passing = excluded.chain(never.map(|rule| &rule.pattern));
    let passing: Vec<String> = passing.map(|tool| format!("`{}`", tool.as_str())).collect();
    if !passing.is_empty() {
        let tools = passing.join(", ");
        let text = format!("Results of {tools} always pass, however large; clients cut them.");
        findings.push(found(State::Note, text));
    }
    findings
}

/// What holds where nothing is said of a tool or a server.
fn in_general(policy: &Policy, here: &[&str]) -> Finding {
    if let Some(threshold) = policy.threshold {
        return too_high(threshold, "threshold", here).unwrap_or_else(|| {
            let tokens = grouped(threshold);
            found(
                State::Ok,
                format!("Results of up to {tokens} tokens pass; no client found here is known to cut them."),
            )
        });
    }
    let tokens = grouped(DEFAULT_THRESHOLD);
    let text = format!(
        "Results of up to {tokens} tokens pass, and fewer to clients that are known to take less: none cuts them."
    );
    found(State::Ok, text)
}

/// Who would cut a result just below the threshold: of the clients that are here or, if none is known to be, of all.
fn too_high(threshold: u64, whose: &str, here: &[&str]) -> Option<Finding> {
    let is_here = |limit: &&ClientLimit| here.is_empty() || here.contains(&limit.client);
    let cuts = |limit: &&ClientLimit| limit.takes.tokens() < threshold;
    let cutting: Vec<&ClientLimit> = CLIENT_LIMITS.iter().filter(is_here).filter(cuts).collect();
    let least = cutting.iter().map(|limit| limit.takes.tokens()).min()?;
    let (state, who) = if here.is_empty() {
        (State::Note, "some clients take")
    } else {
        (State::Warning, "clients on this machine take")
    };
    let told: Vec<String> = cutting.into_iter().map(told).collect();
    let threshold = grouped(threshold);
    let text =
        format!("`{whose}` lets {threshold} tokens pass, more than {who}: {}.", told.join("; "));
    let advice = format!("leave it out of the settings, or write {least} or less");
    Some(found(state, text).mended_by(advice))
}

fn told(limit: &ClientLimit) -> String {
    let ClientLimit { client, takes, beyond } = limit;
    let takes = match takes {
        Takes::Bytes(bytes) => format!("{} bytes", grouped(*bytes)),
        Takes::Tokens(tokens) => format!("{} tokens", grouped(*tokens)),
    };
    format!("{client} takes {takes} and {beyond}")
}

fn found(state: State, text: impl Into<String>) -> Finding {
    Finding::new(Area::Limits, state, text)
}
