//! Calls that take long become jobs: what clients are told, how long that is, and what ends them.

mod ending_sessions;
mod endings;
mod keeping;
mod limits;
mod official;

use std::{collections::BTreeSet, fs, path::Path, process::Command, time::Instant};

use forebay_testkit::{
    http::{Era, HttpPeer},
    peer::PATIENCE,
    programs,
};
use serde_json::{Value, json};

use crate::{
    forebay,
    transports::{Client, Transport},
};

/// Every way to a client, in either era.
const WAYS: [(Transport, Era); 4] = [
    (Transport::Stdio, Era::Legacy),
    (Transport::Stdio, Era::Modern),
    (Transport::Http, Era::Legacy),
    (Transport::Http, Era::Modern),
];

/// A call becomes a job at once.
const AT_ONCE: &str = "job_after = 0\n";
/// No call in a test takes that long.
const LATE: &str = "job_after = 600\n";

/// Forebay in front of the fixture upstream.
fn command(home: &Path, settings: &str, from: Transport) -> Command {
    fs::write(home.join("forebay.toml"), settings).unwrap();
    let mut command = forebay(match from {
        Transport::Stdio => vec!["wrap", "--grace", "0.2"],
        Transport::Http => vec!["serve", "--listen", "127.0.0.1:0", "--grace", "2"],
    });
    command.env("FOREBAY_HOME", home).args(["--name", "fixture"]);
    command
}

fn start(home: &Path, settings: &str, from: Transport, era: Era) -> Client {
    let mut command = command(home, settings, from);
    command.arg("--").arg(programs::fixture_upstream()).arg("--receives");
    Client::start(from, era, &mut command)
}

fn on_stdio(home: &Path, settings: &str) -> Client {
    start(home, settings, Transport::Stdio, Era::Legacy)
}

/// The fixture upstream over HTTP.
fn remote() -> HttpPeer {
    let mut command = Command::new(programs::fixture_upstream());
    HttpPeer::start(command.args(["--http", "127.0.0.1:0", "--receives"]))
}

fn call(client: &mut Client, tool: &str, arguments: &Value) -> Value {
    client.call(tool, arguments, json!({}))
}

/// What the first block of a reply says, which is JSON.
fn told(answer: &Value) -> Value {
    let text = answer["result"]["content"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{answer}")))
        .unwrap_or_else(|_| panic!("{answer}"))
}

/// How long a result is, as JSON.
fn bytes(answer: &Value) -> usize {
    answer["result"].to_string().len()
}

/// The job that a call has become.
fn job_of(answer: &Value) -> String {
    assert!(bytes(answer) < 500, "{answer}");
    let told = told(answer);
    assert_eq!(
        (&told["status"], &told),
        (&json!("running"), &answer["result"]["structuredContent"])
    );
    assert!(told["message"].as_str().unwrap().contains("get_run_status"), "{told}");
    let members: Vec<&String> = told.as_object().unwrap().keys().collect();
    assert_eq!(members, ["job_id", "message", "status"]);
    told["job_id"].as_str().unwrap().to_owned()
}

/// What is said of a job, if it has ended within a minute; and the whole answer.
fn ended(client: &mut Client, job: &str) -> (Value, Value) {
    let question = json!({ "job_id": job, "wait_seconds": 40 });
    let answer = call(client, "get_run_status", &question);
    assert!(bytes(&answer) < 2_000, "{}: {answer}", bytes(&answer));
    let told = told(&answer);
    assert_eq!(told["job_id"], job);
    assert_ne!(told["status"], "running", "{told}");
    (told, answer)
}

fn now(client: &mut Client, job: &str) -> Value {
    let answer = call(client, "get_run_status", &json!({ "job_id": job }));
    let told = told(&answer);
    let most = if told["status"] == "running" { 500 } else { 2_000 };
    assert!(bytes(&answer) < most, "{answer}");
    told
}

/// Asks again and again until a condition holds.
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "never happened: {what}");
    }
}

fn release(client: &mut Client, name: &str) {
    call(client, "release", &json!({ "name": name }));
}

#[test]
fn a_call_that_is_answered_in_time_passes_as_it_would_have() {
    for (from, era) in WAYS {
        let home = tempfile::tempdir().unwrap();
        let mut plain = start(home.path(), "", from, era);
        let other = tempfile::tempdir().unwrap();
        let mut client = start(other.path(), &format!("[tools.\"*\"]\n{LATE}"), from, era);
        for (tool, arguments) in [
            ("csv", json!({ "count": 100 })),
            ("count", json!({ "of": 12_345_678_901_234_567_890_u64 })),
            ("fail", json!({})),
        ] {
            let expected = call(&mut plain, tool, &arguments);
            assert_eq!(call(&mut client, tool, &arguments)["result"], expected["result"], "{tool}");
        }
        let asks = json!({ "ask": "elicitation/create" });
        if era == Era::Modern {
            let expected = call(&mut plain, "echo", &asks)["result"].clone();
            assert_eq!(expected["resultType"], "input_required");
            assert_eq!(call(&mut client, "echo", &asks)["result"], expected);
        }
        let answer = client.call("csv", &json!({ "progress": 3 }), json!({ "progressToken": "p" }));
        assert!(answer["result"]["content"].is_array(), "{answer}");
        let progress: Vec<Value> = client.told();
        let steps: Vec<&Value> = progress.iter().map(|it| &it["params"]["progress"]).collect();
        assert_eq!(steps, [&json!(1), &json!(2), &json!(3)], "{progress:?}");
        assert!(progress.iter().all(|it| it["params"]["progressToken"] == "p"), "{progress:?}");
        let kept = call(&mut client, "records", &json!({ "count": 3_000 }));
        assert!(crate::transports::handle(&kept).starts_with("dataset_"));
        plain.end();
        client.end();
    }
}

/// The whole life of a job, and of the same work asked for again.
fn lives(mut client: Client) {
    let work = json!({ "of": { "a": 1, "b": [2] }, "hold": "gate", "progress": 2 });
    let job = job_of(&call(&mut client, "count", &work));
    let progress = json!({ "done": 2.0, "total": 2.0, "message": "step 2" });
    until("its progress is told", || now(&mut client, &job)["progress"] == progress);
    let again = json!({ "progress": 2, "of": { "b": [2], "a": 1 }, "hold": "gate" });
    let answer = call(&mut client, "count", &again);
    assert_eq!(job_of(&answer), job, "the same work is being done already");
    let other = json!({ "of": "other", "hold": "gate" });
    let other = job_of(&call(&mut client, "count", &other));
    assert_ne!(other, job);
    release(&mut client, "gate");
    let (told, answer) = ended(&mut client, &job);
    assert_eq!(told["status"], "completed", "{told}");
    let result = answer["result"]["content"][1]["text"].as_str().unwrap();
    assert!(result.starts_with("1: "), "the tool was called once for it: {result}");
    let (_, answer) = ended(&mut client, &other);
    let result = answer["result"]["content"][1]["text"].as_str().unwrap();
    assert!(result.starts_with("2: "), "{result}");
    let anew = job_of(&call(&mut client, "count", &work));
    assert!(![&job, &other].contains(&&anew), "what has ended is asked for anew");
    let (_, answer) = ended(&mut client, &anew);
    assert!(answer["result"]["content"][1]["text"].as_str().unwrap().starts_with("3: "));
    assert_eq!(now(&mut client, &job)["status"], "completed", "and is still told of");
    client.end();
}

#[test]
fn a_slow_call_becomes_a_job_in_front_of_a_command() {
    for (from, era) in WAYS {
        let home = tempfile::tempdir().unwrap();
        lives(start(home.path(), &format!("[tools.count]\n{AT_ONCE}"), from, era));
    }
}

#[test]
fn a_slow_call_becomes_a_job_in_front_of_a_server_elsewhere() {
    for (from, era) in WAYS {
        let (home, remote) = (tempfile::tempdir().unwrap(), remote());
        let mut command = command(home.path(), &format!("[tools.count]\n{AT_ONCE}"), from);
        lives(Client::start(from, era, command.args(["--url", &remote.url()])));
    }
}

#[test]
fn a_slow_call_becomes_a_job_behind_a_gateway_and_by_its_own_name_there() {
    for (from, era) in WAYS {
        let home = tempfile::tempdir().unwrap();
        let fixture = programs::fixture_upstream();
        let settings = format!(
            "[servers.one]\ncommand = {fixture:?}\nargs = [\"--receives\"]\n\
             [servers.one.tools.count]\n{AT_ONCE}\
             [servers.two]\ncommand = {fixture:?}\nargs = [\"--receives\"]\n\
             [gateway]\nprefix = \"where_needed\"\n"
        );
        fs::write(home.path().join("forebay.toml"), settings).unwrap();
        let mut command = forebay(match from {
            Transport::Stdio => vec!["gateway"],
            Transport::Http => vec!["serve", "--listen", "127.0.0.1:0", "--grace", "2"],
        });
        let mut client = Client::start(from, era, command.env("FOREBAY_HOME", home.path()));
        client.ask("tools/list", &json!({}));
        let two = call(&mut client, "two__count", &json!({ "of": 1 }));
        assert_eq!(two["result"]["content"][0]["text"], "1: {\"of\":1}", "{two}");
        let job = job_of(&call(&mut client, "one__count", &json!({ "of": 1, "delay": 300 })));
        assert_eq!(now(&mut client, &job)["tool"], "one__count");
        let (told, answer) = ended(&mut client, &job);
        assert_eq!(told["status"], "completed", "{answer}");
        client.end();
    }
}

#[test]
fn a_call_becomes_a_job_when_its_time_is_up() {
    let home = tempfile::tempdir().unwrap();
    let mut client = on_stdio(home.path(), "[tools.count]\njob_after = 4\n");
    let work = json!({ "hold": "gate", "progress": 2 });
    let answer = client.call("count", &work, json!({ "progressToken": "mine" }));
    let job = job_of(&answer);
    assert_eq!(client.told().len(), 2, "while the client waits, it hears how far it is");
    assert_eq!(now(&mut client, &job)["progress"]["done"], 2.0);
    release(&mut client, "gate");
    assert_eq!(ended(&mut client, &job).0["status"], "completed");
    client.end();
}

#[test]
fn the_same_work_is_done_once_however_many_ask_at_once() {
    let home = tempfile::tempdir().unwrap();
    let mut client = on_stdio(home.path(), &format!("[tools.echo]\n{AT_ONCE}"));
    let Client::Stdio { peer, .. } = &mut client else { panic!("on stdio") };
    let params = json!({ "name": "echo", "arguments": { "hold": "gate", "text": "x" } });
    for id in 100..124 {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        peer.send(&call.to_string());
    }
    let mut answers = (100..124).map(|_| serde_json::from_str(&peer.next_line()).unwrap());
    let jobs: BTreeSet<String> = answers.by_ref().map(|answer: Value| job_of(&answer)).collect();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    release(&mut client, "gate");
    client.end();
}

#[test]
fn what_a_result_says_beside_its_texts_is_told() {
    let home = tempfile::tempdir().unwrap();
    let mut client = on_stdio(home.path(), &format!("[tools.members]\n{AT_ONCE}"));
    let mut told = |members: &str| {
        let path = home.path().join("members.json");
        fs::write(&path, members).unwrap();
        let job = job_of(&call(&mut client, "members", &json!({ "path": path })));
        ended(&mut client, &job).0
    };
    let see = told(r#""content":[{"type":"text","text":"see"}],"structuredContent":{"answer":42}"#);
    assert_eq!(see["result"]["answer"], 42, "{see}");
    let failed = told(r#""content":[],"isError":true"#);
    assert_eq!(failed["status"], "failed");
    assert!(failed["error"].as_str().unwrap().contains("says nothing in words"), "{failed}");
    let failed = told(
        r#""content":[{"type":"text","text":"no"}],"structuredContent":{"code":7},"isError":true"#,
    );
    assert_eq!(failed["error"], "no\n{\"code\":7}");
    client.end();
}

#[test]
fn a_server_that_dies_fails_its_job_while_somebody_waits() {
    let home = tempfile::tempdir().unwrap();
    let mut client = on_stdio(home.path(), &format!("[tools.echo]\n{AT_ONCE}"));
    let job = job_of(&call(&mut client, "echo", &json!({ "hold": "gate" })));
    let asked =
        json!({ "name": "get_run_status", "arguments": { "job_id": job, "wait_seconds": 50 } });
    let question = json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": asked });
    let Client::Stdio { peer, .. } = &mut client else { panic!("on stdio") };
    peer.send(&question.to_string());
    // Messages are read in their order: once this one is answered, the question has been read.
    let pid = call(&mut client, "pid", &json!({}))["result"]["content"][0]["text"].clone();
    let pid = pid.as_str().unwrap().trim_matches('"');
    assert!(Command::new("kill").args(["-9", pid]).status().unwrap().success());
    let Client::Stdio { peer, .. } = &mut client else { panic!("on stdio") };
    let answer: Value = serde_json::from_str(&peer.next_line()).unwrap();
    assert_eq!(
        (&answer["id"], &told(&answer)["status"]),
        (&json!(900), &json!("failed")),
        "{answer}"
    );
}

#[test]
fn a_long_result_is_kept_and_told_with_a_link_and_a_summary() {
    for (from, era) in WAYS {
        let home = tempfile::tempdir().unwrap();
        let mut client = start(home.path(), &format!("[tools.\"*\"]\n{AT_ONCE}"), from, era);
        // One that would have been kept, and one that would have passed.
        for count in [3_000, 40] {
            let job = job_of(&call(&mut client, "records", &json!({ "count": count })));
            let (told, answer) = ended(&mut client, &job);
            let dataset = told["dataset_id"].as_str().unwrap_or_else(|| panic!("{answer}"));
            let blocks = answer["result"]["content"].as_array().unwrap();
            let summary = blocks[1]["text"].as_str().unwrap();
            // The tool tells of the call in a record of its own.
            let records = count + 1;
            assert!(summary.contains(&format!("{records} records")), "{summary}");
            let link = blocks.iter().find(|block| block["type"] == "resource_link").unwrap();
            let uri = link["uri"].as_str().unwrap();
            let is_url = matches!(from, Transport::Http);
            assert_eq!(uri.starts_with("http://"), is_url, "{uri}");
            assert!(uri.contains(dataset), "{uri}");
            let size = link["size"].as_u64().unwrap();
            assert!(size > count * 20, "{link}");
            let query = json!({ "query": format!("SELECT count(*) AS n FROM {dataset}") });
            let counted = call(&mut client, "analyze-with-duckdb", &query);
            let rows = counted["result"]["content"][0]["text"].as_str().unwrap();
            assert_eq!(rows, format!("n\n{records}"));
        }
        client.end();
    }
}

#[test]
fn a_question_that_waits_is_answered_when_the_job_ends() {
    let home = tempfile::tempdir().unwrap();
    let mut client = on_stdio(home.path(), &format!("[tools.count]\n{AT_ONCE}"));
    let job = job_of(&call(&mut client, "count", &json!({ "hold": "gate" })));
    let Client::Stdio { peer, .. } = &mut client else { unreachable!() };
    let ask = |id: u32, tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    peer.send(&ask(801, "get_run_status", json!({ "job_id": job, "wait_seconds": 50 })));
    peer.send(&ask(802, "get_run_status", json!({ "job_id": job, "wait_seconds": 50 })));
    // One who has given up waiting hears nothing.
    let gone = json!({ "requestId": 802 });
    peer.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": gone })
            .to_string(),
    );
    peer.send(&ask(803, "release", json!({ "name": "gate" })));
    let mut answers = std::collections::HashMap::new();
    while answers.len() < 2 {
        let message: Value = serde_json::from_str(&peer.next_line()).unwrap();
        answers.insert(message["id"].as_u64().unwrap(), message);
    }
    assert!(answers.contains_key(&803), "{answers:?}");
    assert_eq!(told(&answers[&801])["status"], "completed", "{answers:?}");
    client.end();
}

#[test]
fn the_argument_asks_for_a_job_and_the_server_does_not_see_it() {
    let home = tempfile::tempdir().unwrap();
    let mut client = on_stdio(home.path(), "[jobs]\nargument = true\n[tools.csv]\nnever = true\n");
    let list = client.ask("tools/list", &json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    let named = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    let argument = |name: &str| &named(name)["inputSchema"]["properties"]["job_after"]["type"];
    assert_eq!((argument("echo"), argument("count")), (&json!("integer"), &json!("integer")));
    assert!(argument("csv").is_null(), "its results are never kept");
    assert!(argument("get_run_status").is_null() && argument("read-saved-dataset").is_null());
    let plain = call(&mut client, "count", &json!({ "of": 1 }));
    assert_eq!(plain["result"]["content"][0]["text"], "1: {\"of\":1}");
    let in_time = call(&mut client, "count", &json!({ "of": 1, "job_after": 600 }));
    assert_eq!(in_time["result"]["content"][0]["text"], "2: {\"of\":1}");
    let job = job_of(&call(&mut client, "count", &json!({ "job_after": 0, "of": 1 })));
    let (_, answer) = ended(&mut client, &job);
    assert_eq!(answer["result"]["content"][1]["text"], "3: {\"of\":1}");
    let wrong = call(&mut client, "count", &json!({ "job_after": "soon" }));
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    let never = call(&mut client, "csv", &json!({ "count": 10, "job_after": 0 }));
    assert!(never["result"]["structuredContent"].is_null(), "{never}");
    client.end();
}

#[test]
fn where_no_call_becomes_a_job_nothing_is_added() {
    let home = tempfile::tempdir().unwrap();
    let names = |settings: &str| {
        let mut client = on_stdio(home.path(), settings);
        let list = client.ask("tools/list", &json!({}));
        client.end();
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let has = |names: &[String]| names.iter().any(|name| name == "get_run_status");
    assert!(!has(&names("")));
    assert!(!has(&names("injected_tools = \"full\"\n")));
    assert!(has(&names("injected_tools = \"none\"\n[tools.x]\njob_after = 9\n")));
    assert!(!home.path().join("jobs").exists(), "nothing has become one");
}

#[test]
fn native_tasks_are_left_alone_where_both_sides_speak_them() {
    for (from, era) in WAYS {
        let home = tempfile::tempdir().unwrap();
        let mut client = start(home.path(), &format!("[tools.\"*\"]\n{AT_ONCE}"), from, era);
        let params = match (from, era) {
            (_, Era::Legacy) => json!({ "name": "count", "arguments": {}, "task": {} }),
            // This client says of itself that it takes tasks, the one on stdio does not.
            (Transport::Http, Era::Modern) => {
                client.ask("server/discover", &json!({}));
                json!({ "name": "count", "arguments": { "task": true } })
            }
            (Transport::Stdio, Era::Modern) => {
                client.ask("server/discover", &json!({}));
                let plain = call(&mut client, "count", &json!({ "of": 1 }));
                job_of(&plain);
                client.end();
                continue;
            }
        };
        let created = client.ask("tools/call", &params);
        let result = &created["result"];
        let task = result["taskId"].as_str().or(result["task"]["taskId"].as_str());
        assert!(task.is_some_and(|id| id.starts_with("task-")), "{created}");
        client.end();
    }
}
