//! Real results of real servers: what Forebay says of them is true, nothing of them is lost, and
//! little of them is left for the model to read.
//!
//! The data are published by others, and taken from their packages when the test runs. What is true
//! of them is computed a second time by `facts.py`, which shares nothing with Forebay;
//! `items.json` beside it says what a person would call the records.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    thread,
};

use forebay_testkit::{
    peer::Peer,
    programs,
    real::{self, Gathered},
};
use serde_json::{Value, json};

use crate::{forebay, home, without_settings};

/// A shorter result is not held against the summary's length.
const MIN_BYTES: usize = 5_000;
/// Below this every result of that length is kept.
const THRESHOLD_TOKENS: &str = "500";
const FEWER_TOKENS_PER_CENT: f64 = 98.0;
const LARGE_TOKENS: u64 = 1_000_000;
const WORKERS: usize = 2;
const SHOWN_DIFFERENCES: usize = 5;

/// What became of an item.
struct Outcome {
    name: String,
    format: String,
    records: u64,
    reachable: u64,
    /// What a client shows the model of the result itself, and of its replacement.
    content: Tokens,
    structured: Tokens,
    differences: Vec<String>,
}

#[derive(Default)]
struct Tokens {
    before: u64,
    after: u64,
}

/// A server, asked directly and through Forebay.
struct Pair {
    direct: Peer,
    wrapped: Peer,
}

struct Corpus<'a> {
    node: &'a real::Node,
    python: &'a real::Python,
    home: PathBuf,
}

#[test]
fn the_facts_of_real_results_are_true_and_every_record_is_kept() {
    let test = "the_facts_of_real_results_are_true_and_every_record_is_kept";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let Some(items) = real::corpus(test, node, python) else { return };
    let corpus = Corpus { node, python, home: home().join("corpus") };
    let _ = fs::remove_dir_all(&corpus.home);
    fs::create_dir_all(&corpus.home).unwrap();

    let outcomes = corpus.outcomes(&items);
    let table = table(&outcomes);
    fs::write(programs::target_directory().join("corpus.md"), &table).unwrap();

    let wrong: Vec<String> = outcomes.iter().filter_map(Outcome::complaint).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), outcomes.len(), wrong.join("\n"));
    for tokens in [Outcome::content, Outcome::structured] {
        let fewer = total(&outcomes, tokens).fewer_per_cent();
        assert!(fewer >= FEWER_TOKENS_PER_CENT, "{fewer:.1} % fewer tokens\n{table}");
    }
}

#[test]
fn the_independent_computation_finds_every_wrong_fact() {
    let test = "the_independent_computation_finds_every_wrong_fact";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let Some(_) = real::corpus(test, node, python) else { return };
    let output = script(python, "corpus/test_facts.py").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

impl Corpus<'_> {
    /// What became of each item, in their order.
    fn outcomes(&self, items: &[Gathered]) -> Vec<Outcome> {
        let queue = Mutex::new(items.iter().enumerate());
        let done = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    let mut filesystem = self.start(&self.filesystem());
                    let mut git = self.start(&self.python.module("mcp_server_git"));
                    loop {
                        let Some((place, item)) = queue.lock().unwrap().next() else { break };
                        let servers = match item.server.as_str() {
                            "git" => &mut git,
                            _ => &mut filesystem,
                        };
                        if let Some(outcome) = self.outcome(servers, item) {
                            done.lock().unwrap().push((place, outcome));
                        }
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap();
        done.sort_by_key(|(place, _)| *place);
        done.into_iter().map(|(_, outcome)| outcome).collect()
    }

    fn filesystem(&self) -> Vec<String> {
        let root = real::root().display().to_string();
        [self.node.server("server-filesystem"), vec![root]].concat()
    }

    fn start(&self, server: &[String]) -> Pair {
        let mut direct = Command::new(&server[0]);
        let mut wrapped = capturing();
        wrapped.args(server).env("FOREBAY_HOME", &self.home);
        Pair { direct: opened(direct.args(&server[1..])), wrapped: opened(&mut wrapped) }
    }

    /// Calls the server of an item both ways and compares; `None` if the result is short.
    fn outcome(&self, servers: &mut Pair, item: &Gathered) -> Option<Outcome> {
        let original = result_of(&mut servers.direct, item);
        let text = shown_text(&original);
        if text.len() < MIN_BYTES {
            return None;
        }
        let replaced = result_of(&mut servers.wrapped, item);
        let content = Tokens::of(text, shown_text(&replaced));
        let mut outcome = Outcome {
            name: item.name.clone(),
            format: String::new(),
            records: 0,
            reachable: 0,
            structured: content.structured(&replaced),
            content,
            differences: Vec::new(),
        };
        match dataset_in(shown_text(&replaced)) {
            Some(id) => self.check(&mut outcome, &id, &original, shown_text(&replaced)),
            None => outcome.differences.push("it was not kept".to_owned()),
        }
        Some(outcome)
    }

    /// Compares what was kept with the original, its facts with those computed anew, and what SQL
    /// has of the paths that are told. Runs the queries that the summary suggests.
    fn check(&self, outcome: &mut Outcome, id: &str, original: &Value, summary: &str) {
        let whole: Value = serde_json::from_slice(&self.datasets(&["original"], id)).unwrap();
        if whole != *original {
            outcome.differences.push("the restored result is another".to_owned());
        }
        let file = |ending: &str| self.home.join(format!("{id}.{ending}"));
        let metadata = self.datasets(&["show", "--json"], id);
        // The figure may come from samples; structured content that differs adds to it.
        let said = serde_json::from_slice::<Value>(&metadata).unwrap()["tokens"].as_u64().unwrap();
        let (least, most) = (outcome.content.before * 95 / 100, outcome.content.before * 105 / 100);
        if said < least || (said > most && original.get("structuredContent").is_none()) {
            let counted = outcome.content.before;
            outcome.differences.push(format!("~{said} tokens, of which there are {counted}"));
        }
        fs::write(file("metadata"), metadata).unwrap();
        fs::write(file("original"), shown_text(original)).unwrap();
        fs::write(file("summary"), summary).unwrap();
        let kept = String::from_utf8(self.datasets(&["path"], id)).unwrap();
        let mut facts = script(self.python, "corpus/facts.py");
        let output = without_settings(&mut facts)
            .env("FOREBAY_HOME", &self.home)
            .arg(env!("CARGO_BIN_EXE_forebay"))
            .args([&file("metadata"), Path::new(kept.trim_end())])
            .args([&file("original"), &file("summary")])
            .arg(real::source("corpus/items.json"))
            .arg(&outcome.name)
            .output()
            .unwrap();
        let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
            let why = String::from_utf8_lossy(&output.stderr);
            outcome.differences.push(format!("facts.py failed: {}", why.trim_end()));
            return;
        };
        let differences = report["differences"].as_array().unwrap();
        outcome.differences.extend(differences.iter().map(|one| one.as_str().unwrap().to_owned()));
        report["format"].as_str().unwrap_or("?").clone_into(&mut outcome.format);
        outcome.records = report["records"].as_u64().unwrap();
        outcome.reachable = report["reachable"].as_u64().unwrap();
    }

    fn datasets(&self, action: &[&str], id: &str) -> Vec<u8> {
        let mut command = forebay(["datasets"]);
        command.args(action).arg(id);
        let output = command.env("FOREBAY_HOME", &self.home).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }
}

/// `forebay wrap` that keeps even middling results; the server's command follows.
fn capturing() -> Command {
    forebay(["wrap", "--grace", "0.1", "--threshold", THRESHOLD_TOKENS, "--"])
}

fn script(python: &real::Python, path: &str) -> Command {
    let words = python.script(path);
    let mut command = Command::new(&words[0]);
    // Scripts run where they lie; nothing is left beside them.
    command.arg("-B").args(&words[1..]).env("PYTHONPATH", real::root().join("data"));
    command
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
            let result = message["result"].take();
            assert!(result.is_object() && result["isError"] != true, "{method}: {message}{result}");
            return result;
        }
    }
}

fn shown_text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// The name of the dataset that a summary points to.
fn dataset_in(summary: &str) -> Option<String> {
    let start = summary.find("dataset_")?;
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    Some(summary[start..].chars().take_while(|character| is_part(*character)).collect())
}

impl Tokens {
    fn of(before: &str, after: &str) -> Self {
        Self { before: forebay_records::tokens(before), after: forebay_records::tokens(after) }
    }

    /// Structured content instead of text; nothing, if the tool gives none.
    fn structured(&self, replaced: &Value) -> Self {
        // These servers' structured content is the same text, with escapes: no shorter.
        let after = replaced.get("structuredContent").map(ToString::to_string);
        after.map_or_else(Self::default, |after| Self {
            before: self.before,
            after: forebay_records::tokens(&after),
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    fn fewer_per_cent(&self) -> f64 {
        100.0 * (1.0 - self.after as f64 / self.before as f64)
    }
}

impl Outcome {
    fn content(&self) -> &Tokens {
        &self.content
    }

    fn structured(&self) -> &Tokens {
        &self.structured
    }

    /// What is wrong, in short.
    fn complaint(&self) -> Option<String> {
        let mut differences = self.differences.clone();
        if self.records == 0 || self.reachable != self.records {
            differences.push(format!("{} of {} records are kept", self.reachable, self.records));
        }
        let left_out = differences.len().saturating_sub(SHOWN_DIFFERENCES);
        differences.truncate(SHOWN_DIFFERENCES);
        if left_out > 0 {
            differences.push(format!("and {left_out} more"));
        }
        let short = |text: &String| text.chars().take(300).collect::<String>();
        let lines: Vec<String> = differences.iter().map(short).collect();
        (!lines.is_empty()).then(|| format!("{}\n    {}", self.name, lines.join("\n    ")))
    }
}

fn total<'a>(
    outcomes: impl IntoIterator<Item = &'a Outcome>,
    tokens: fn(&Outcome) -> &Tokens,
) -> Tokens {
    outcomes.into_iter().map(tokens).fold(Tokens::default(), |sum, one| Tokens {
        before: sum.before + one.before,
        after: sum.after + one.after,
    })
}

/// The outcomes as Markdown.
fn table(outcomes: &[Outcome]) -> String {
    let mut out = "| Result | Format | Records | Tokens before | after | Fewer | Records kept |\n\
                   |---|---|--:|--:|--:|--:|--:|\n"
        .to_owned();
    for outcome in outcomes {
        let Outcome { name, format, records, reachable, content, .. } = outcome;
        let (before, after, fewer) = (content.before, content.after, content.fewer_per_cent());
        let share = 100 * reachable / (*records).max(1);
        let _ = writeln!(
            out,
            "| {name} | {format} | {records} | {before} | {after} | {fewer:.1} % | {share} % |"
        );
    }
    let mut sum = |name: &str, tokens: Tokens| {
        let (Tokens { before, after }, fewer) = (&tokens, tokens.fewer_per_cent());
        let _ = writeln!(out, "| **{name}** | | | {before} | {after} | {fewer:.2} % | |");
    };
    sum("All", total(outcomes, Outcome::content));
    sum("All, as structured content", total(outcomes, Outcome::structured));
    // The largest results are most of the sum; this is what the others come to.
    let is_small = |outcome: &&Outcome| outcome.content.before < LARGE_TOKENS;
    sum("Those under a million tokens", total(outcomes.iter().filter(is_small), Outcome::content));
    out
}
