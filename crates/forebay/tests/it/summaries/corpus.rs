//! Real results of real servers: with a model beside the summary, little of them is left to read.

use std::{fmt::Write as _, process::Command};

use forebay_testkit::{
    peer::Peer,
    programs,
    real::{self, Gathered},
};
use serde_json::{Value, json};

use super::{Model, findings, said_by, shown};
use crate::{forebay, home};

/// A shorter result is not held against what stands in its place.
const MIN_BYTES: usize = 5_000;
const FEWER_TOKENS_PER_CENT: f64 = 70.0;

#[test]
fn real_results_have_far_fewer_tokens_with_what_a_model_says() {
    let test = "real_results_have_far_fewer_tokens_with_what_a_model_says";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let Some(items) = real::corpus(test, node, python) else { return };
    let model = Model::answering(|asked| (200, said_by("openai", &findings(&shown(&asked.body)))));
    let store = home().join("summaries/corpus");
    let _ = std::fs::remove_dir_all(&store);
    let filesystem =
        [node.server("server-filesystem"), vec![real::root().display().to_string()]].concat();
    let git = python.module("mcp_server_git");
    let mut servers = [filesystem, git].map(|server| {
        let mut direct = Command::new(&server[0]);
        let mut wrapped = forebay(["wrap", "--grace", "0.1", "--"]);
        wrapped.args(&server).env("FOREBAY_HOME", &store);
        wrapped.env("FOREBAY_SUMMARIES_PROVIDER", "openai");
        wrapped.env("FOREBAY_SUMMARIES_URL", &model.url);
        // It is about how long what is said is, not how soon.
        wrapped.env("FOREBAY_SUMMARIES_DEADLINE_SECONDS", "20");
        (opened(direct.args(&server[1..])), opened(&mut wrapped))
    });
    let (mut all_before, mut all_after, mut all_share, mut read) = (0, 0, 0.0, 0);
    let mut worst = Vec::new();
    for item in &items {
        let (direct, wrapped) = &mut servers[usize::from(item.server == "git")];
        let original = result_of(direct, item);
        let given = original["content"][0]["text"].as_str().unwrap();
        if given.len() < MIN_BYTES {
            continue;
        }
        let replaced = result_of(wrapped, item);
        let told = replaced["content"][0]["text"].as_str().unwrap();
        // The same countries come in several forms.
        assert!(told.contains("Key findings (by gpt-4.1-mini"), "{}: {told}", item.name);
        let (before, after) = (forebay_records::tokens(given), forebay_records::tokens(told));
        let fewer = fewer_per_cent(before, after);
        worst.push((fewer, before, after, item.name.clone()));
        (all_before, all_after, all_share, read) =
            (all_before + before, all_after + after, all_share + fewer, read + 1);
    }
    worst.sort_by(|one, other| one.0.total_cmp(&other.0));
    let below = worst.iter().filter(|it| it.0 < FEWER_TOKENS_PER_CENT).count();
    let mut figures = format!(
        "{read} results: {:.1} % fewer tokens together, {:.1} % in the mean; {below} with less than {FEWER_TOKENS_PER_CENT} %\n",
        fewer_per_cent(all_before, all_after),
        all_share / f64::from(read),
    );
    for (fewer, before, after, name) in worst.iter().take(5) {
        let _ = writeln!(figures, "{fewer:.1} % ({before} to {after}): {name}");
    }
    std::fs::write(programs::target_directory().join("summaries-tokens.txt"), figures).unwrap();
    assert!(read > 20, "{read}");
    assert_eq!(below, 0, "{:?}", &worst[..below.min(10)]);
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
fn fewer_per_cent(before: u64, after: u64) -> f64 {
    100.0 * (1.0 - after as f64 / before as f64)
}

/// A server after its handshake.
fn opened(command: &mut Command) -> Peer {
    let mut peer = Peer::start(command);
    let client = json!({"name": "corpus", "version": "0"});
    let parameters =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    ask(&mut peer, "initialize", &parameters);
    peer.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    peer
}

fn result_of(peer: &mut Peer, item: &Gathered) -> Value {
    ask(peer, "tools/call", &json!({"name": item.tool, "arguments": item.arguments}))
}

/// The result of a request; what else the server says in between is passed over.
fn ask(peer: &mut Peer, method: &str, parameters: &Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
    peer.send(&request.to_string());
    loop {
        let mut message: Value = serde_json::from_str(&peer.next_line()).unwrap();
        if message["id"] == 1 && message.get("method").is_none() {
            return message["result"].take();
        }
    }
}
