//! What passes, held against what clients take: which of them would cut it.

use forebay_clients::ClientState;
use forebay_intercept::{CLIENT_LIMITS, ClientLimit, DEFAULT_THRESHOLD, Takes, When};
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
    // A client may have several files.
    let mut here: Vec<&str> = Vec::new();
    for client in clients {
        if !here.contains(&client.title) {
            here.push(client.title);
        }
    }
    let mut findings = in_general(policy.threshold, &here);
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

/// What holds where nothing is said of a tool or a server, for each client that was found.
fn in_general(set: Option<u64>, here: &[&str]) -> Vec<Finding> {
    let too_high = set.and_then(|set| too_high(set, "threshold", here));
    let tokens = grouped(set.unwrap_or(DEFAULT_THRESHOLD));
    if here.is_empty() {
        let less = match set {
            Some(_) => "",
            None => ", and less to clients that are known to take less",
        };
        let text = format!("Results of up to {tokens} tokens pass{less}.");
        return vec![too_high.unwrap_or_else(|| found(State::Ok, text))];
    }
    let takes_all = |limit: &&ClientLimit| set.is_none_or(|set| limit.takes.tokens() >= set);
    let (known, unknown): (Vec<&str>, Vec<&str>) =
        here.iter().partition(|&&client| CLIENT_LIMITS.iter().any(|it| it.client == client));
    let known = CLIENT_LIMITS.iter().filter(|it| known.contains(&it.client)).filter(takes_all);
    let mut findings: Vec<Finding> = too_high.into_iter().collect();
    findings.extend(known.map(|limit| found(State::Ok, not_cut(limit, set))));
    if !unknown.is_empty() {
        let clients = unknown.join(", ");
        let text = format!(
            "What a client takes before it cuts is not known of {clients}; up to {tokens} tokens pass."
        );
        findings.push(found(State::Note, text));
    }
    findings
}

/// What a client takes that is given no more than that.
fn not_cut(limit: &ClientLimit, set: Option<u64>) -> String {
    let (client, takes) = (limit.client, taken(limit.takes));
    if limit.given_bytes().is_some() && set.is_none() {
        return format!("{client} takes {takes}; no more passes to it, so it cuts none.");
    }
    let tokens = grouped(set.unwrap_or(DEFAULT_THRESHOLD));
    format!("{client} takes {takes}; up to {tokens} tokens pass, so it cuts none.")
}

/// So many bytes are held against tokens.
fn taken(takes: Takes) -> String {
    match takes {
        Takes::Bytes(bytes) => {
            format!("{} bytes, about {} tokens", grouped(bytes), grouped(takes.tokens()))
        }
        Takes::Tokens(tokens) => format!("{} tokens", grouped(tokens)),
    }
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
    let advice = format!("Leave it out of the settings, or write {least} or less.");
    Some(found(state, text).advised(advice))
}

fn told(limit: &ClientLimit) -> String {
    let ClientLimit { client, takes, beyond, .. } = limit;
    format!("{client} takes {} and {beyond}", taken(*takes))
}

fn found(state: State, text: impl Into<String>) -> Finding {
    Finding::new(Area::Limits, state, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(set: Option<u64>, here: &[&str]) -> Vec<(State, String)> {
        in_general(set, here).into_iter().map(|it| (it.state, it.text)).collect()
    }

    #[test]
    fn each_client_is_named_with_what_it_takes_and_those_that_are_not_known_are_said_so() {
        let here = ["Zed", "Codex", "Cline", "Claude Desktop", "Cursor"];
        let ok = |text: &str| (State::Ok, text.to_owned());
        let unknown = |tokens: &str| {
            let text = "What a client takes before it cuts is not known of Zed, Cursor; up to";
            (State::Note, format!("{text} {tokens} tokens pass."))
        };
        let desktop = |tokens: &str| {
            let takes = "Claude Desktop takes 150,000 bytes, about 37,500 tokens";
            (State::Ok, format!("{takes}; up to {tokens} tokens pass, so it cuts none."))
        };
        assert_eq!(
            told(None, &here),
            [
                ok(
                    "Cline takes 8,000 bytes, about 2,000 tokens; no more passes to it, so it cuts none."
                ),
                ok("Codex takes 10,000 tokens; up to 8,192 tokens pass, so it cuts none."),
                desktop("8,192"),
                unknown("8,192"),
            ]
        );
        let [(State::Warning, cut), whole, other] = &told(Some(12_000), &here)[..] else {
            panic!("{:#?}", told(Some(12_000), &here))
        };
        assert!(
            cut.contains("12,000 tokens pass, more than clients on this machine take"),
            "{cut}"
        );
        assert!(cut.contains("Cline takes 8,000 bytes") && cut.contains("Codex takes"), "{cut}");
        assert!(!cut.contains("Claude Desktop"), "{cut}");
        assert_eq!((whole, other), (&desktop("12,000"), &unknown("12,000")));
    }

    #[test]
    fn where_no_client_was_found_nothing_is_claimed_of_one() {
        let less =
            "Results of up to 8,192 tokens pass, and less to clients that are known to take less.";
        assert_eq!(told(None, &[]), [(State::Ok, less.to_owned())]);
        assert_eq!(told(Some(9), &[]), [(State::Ok, "Results of up to 9 tokens pass.".to_owned())]);
        assert!(
            matches!(&told(Some(9_000), &[])[..], [(State::Note, who)] if who.contains("Cline"))
        );
    }
}
