//! Jobs outlive the sessions and connections in which they began, as far as their upstream does.

use forebay_testkit::http::{Era, HttpPeer, McpHttpClient};
use serde_json::{Value, json};

use super::{AT_ONCE, bytes, command, remote, told};
use crate::transports::Transport;

const COUNT: &str = "[tools.count]\n";

fn job_of(client: &mut McpHttpClient, arguments: &Value) -> String {
    let answer = client.call_tool("count", arguments);
    assert!(bytes(&answer) < 500, "{answer}");
    told(&answer)["job_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn ended(client: &mut McpHttpClient, job: &str) -> Value {
    let question = json!({ "job_id": job, "wait_seconds": 40 });
    let answer = client.call_tool("get_run_status", &question);
    assert_ne!(told(&answer)["status"], "running", "{answer}");
    answer
}

#[test]
fn a_job_at_a_server_elsewhere_outlives_its_session() {
    for era in [Era::Legacy, Era::Modern] {
        let (home, upstream) = (tempfile::tempdir().unwrap(), remote());
        let mut command = command(home.path(), &format!("{COUNT}{AT_ONCE}"), Transport::Http);
        let forebay = HttpPeer::start(command.args(["--url", &upstream.url()]));
        let mut first = McpHttpClient::of(era, &forebay);
        let job = job_of(&mut first, &json!({ "hold": "gate" }));
        upstream.eventually("the upstream is at work", |stats| stats["held"] == json!(["gate"]));
        // It loses its connection without a word.
        drop(first);
        let mut second = McpHttpClient::of(era, &forebay);
        let running = second.call_tool("get_run_status", &json!({ "job_id": job }));
        assert_eq!(told(&running)["status"], "running", "{running}");
        let again = told(&second.call_tool("count", &json!({ "hold": "gate" })));
        assert_eq!(again["job_id"], job, "whoever asks for the same work is told of the job");
        second.call_tool("release", &json!({ "name": "gate" }));
        let answer = ended(&mut second, &job);
        assert_eq!(told(&answer)["status"], "completed", "{answer}");
    }
}

#[test]
fn a_child_works_on_until_its_jobs_have_ended_after_its_session_has() {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path(), &format!("{COUNT}{AT_ONCE}"), Transport::Http);
    let fixture = forebay_testkit::programs::fixture_upstream();
    let forebay = HttpPeer::start(command.arg("--").arg(fixture).arg("--receives"));
    let mut first = McpHttpClient::legacy(&forebay);
    let job = job_of(&mut first, &json!({ "delay": 1_500, "of": 1 }));
    assert_eq!(first.delete(), 204);
    assert_eq!(first.start("tools/list", &json!({})).head.status, 404, "the session has ended");
    let mut second = McpHttpClient::legacy(&forebay);
    let answer = ended(&mut second, &job);
    assert_eq!(told(&answer)["status"], "completed", "{answer}");
    let result = answer["result"]["content"][1]["text"].as_str().unwrap();
    assert!(result.starts_with("1: "), "{result}");
}

#[test]
fn an_idle_session_is_not_ended_while_a_job_runs_in_it() {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path(), &format!("{COUNT}{AT_ONCE}"), Transport::Http);
    let fixture = forebay_testkit::programs::fixture_upstream();
    command.args(["--idle", "3"]);
    let forebay = HttpPeer::start(command.arg("--").arg(fixture).arg("--receives"));
    let mut first = McpHttpClient::legacy(&forebay);
    let job = job_of(&mut first, &json!({ "delay": 8_000 }));
    let mut second = McpHttpClient::legacy(&forebay);
    let answer = ended(&mut second, &job);
    assert_eq!(told(&answer)["status"], "completed", "{answer}");
}

#[test]
fn modern_clients_share_a_child_and_its_jobs() {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path(), &format!("{COUNT}{AT_ONCE}"), Transport::Http);
    let fixture = forebay_testkit::programs::fixture_upstream();
    let forebay = HttpPeer::start(command.arg("--").arg(fixture).arg("--receives"));
    let mut first = McpHttpClient::modern(&forebay);
    let job = job_of(&mut first, &json!({ "hold": "gate" }));
    drop(first);
    let mut second = McpHttpClient::modern(&forebay);
    second.call_tool("release", &json!({ "name": "gate" }));
    assert_eq!(told(&ended(&mut second, &job))["status"], "completed");
}
