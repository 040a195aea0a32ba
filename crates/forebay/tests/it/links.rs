//! The flow that a client once broke on: a tool that tells of its progress, and then answers with two images of
//! 2 MB and 300 KB of JSON. Official clients follow what they get instead, in both eras, on stdio and over HTTP.

use std::{collections::BTreeSet, fs, process::Command, sync::OnceLock};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use forebay_testkit::{
    http::{Era, HttpPeer},
    peer::{Peer, eventually},
    programs, real,
};
use serde_json::{Value, json};

use crate::{
    forebay,
    transports::{Client, Transport},
    without_settings,
};

/// No reply is longer.
const MAX_REPLY_BYTES: u64 = 10_000;
const PROGRESS: u64 = 3;

#[test]
fn python_follows_links_on_stdio() {
    let Some(python) = real::python("python_follows_links_on_stdio") else { return };
    follows_links_on_stdio(&python.script("clients/py_links.py"));
}

#[test]
fn python_follows_links_over_http() {
    let Some(python) = real::python("python_follows_links_over_http") else { return };
    follows_links_over_http(&python.script("clients/py_links.py"));
}

#[test]
fn typescript_follows_links_on_stdio() {
    let Some(node) = real::node("typescript_follows_links_on_stdio") else { return };
    follows_links_on_stdio(&node.script("clients/ts_links.mjs"));
}

#[test]
fn typescript_follows_links_over_http() {
    let Some(node) = real::node("typescript_follows_links_over_http") else { return };
    follows_links_over_http(&node.script("clients/ts_links.mjs"));
}

/// By address, which `resources/read` takes, and by URL.
fn follows_links_on_stdio(client: &[String]) {
    for era in ["legacy", "modern"] {
        for outputs in [&[][..], &["--outputs"]] {
            let home = tempfile::tempdir().unwrap();
            let program = env!("CARGO_BIN_EXE_forebay");
            let fixture = programs::fixture_upstream();
            let mut command = Command::new(&client[0]);
            command.args(&client[1..]).args(plan(era)).args(["--", program, "wrap"]).args(outputs);
            without_settings(command.arg("--").arg(fixture)).env("FOREBAY_HOME", home.path());
            let report = reported(&mut command);
            let form = if outputs.is_empty() { "forebay://dataset/" } else { "http://127.0.0.1:" };
            all_is_there(&report, form);
        }
    }
}

fn follows_links_over_http(client: &[String]) {
    for era in ["legacy", "modern"] {
        let home = tempfile::tempdir().unwrap();
        let mut command = forebay(vec!["serve", "--listen", "127.0.0.1:0", "--"]);
        command.arg(programs::fixture_upstream()).env("FOREBAY_HOME", home.path());
        let serving = HttpPeer::start(&mut command);
        let mut command = Command::new(&client[0]);
        command.args(&client[1..]).args(plan(era)).args(["--", &serving.url()]);
        let report = reported(&mut command);
        all_is_there(&report, &format!("http://{}/outputs/", serving.address()));
        assert!(fs::metadata(home.path().join("outputs.key")).is_ok());
    }
}

fn plan(era: &str) -> [String; 6] {
    let arguments = json!({ "progress": PROGRESS }).to_string();
    ["--era", era, "--tool", "flood", "--arguments", &arguments].map(str::to_owned)
}

fn reported(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The whole flow over HTTP, as it comes and by polling. Every reply is short, what is linked to is what the tool
/// gave, and its URLs are gone after their time. Prints how long each reply was.
#[test]
fn the_flow_that_broke_a_client() {
    let home = tempfile::tempdir().unwrap();
    let serve = |link_seconds: u32| {
        let settings =
            format!("[outputs]\nlink_seconds = {link_seconds}\n[jobs]\nargument = true\n");
        fs::write(home.path().join("forebay.toml"), settings).unwrap();
        let words = vec!["serve", "--listen", "127.0.0.1:0", "--name", "fixture", "--"];
        let mut command = forebay(words);
        command.arg(programs::fixture_upstream()).arg("--receives");
        Client::start(Transport::Http, Era::Legacy, command.env("FOREBAY_HOME", home.path()))
    };
    let progress = json!({ "progressToken": "mine" });

    let mut brief = serve(1);
    let links = links_of(&brief.call("flood", &json!({}), json!({})));
    eventually("the links are gone", || links.iter().all(|link| status(link) == "410"));
    brief.end();

    let mut client = serve(3600);
    let mut sizes = Vec::new();
    let mut measured = |what: &'static str, most: usize, answer: &Value| {
        let bytes = answer["result"].to_string().len();
        assert!(bytes < most, "{what}: {bytes} bytes");
        sizes.push((what, bytes, most));
    };
    let direct = client.call("flood", &json!({ "progress": PROGRESS }), progress.clone());
    let told: usize = client.told().iter().map(|line| line.to_string().len()).sum();
    measured("the whole reply", 10_000, &direct);
    assert!(told + direct.to_string().len() < 10_000, "progress included");
    all_links_hold(&direct);

    let asked = json!({ "hold": "gate", "progress": PROGRESS, "job_after": 0 });
    let begun = client.call("flood", &asked, progress);
    measured("a call becomes a job", 500, &begun);
    let job = begun["result"]["structuredContent"]["job_id"].clone();
    let running = client.call("get_run_status", &json!({ "job_id": job }), json!({}));
    measured("the job runs", 500, &running);
    assert_eq!(parsed(&running)["status"], "running");
    client.call("release", &json!({ "name": "gate" }), json!({}));
    let asked = json!({ "job_id": job, "wait_seconds": 30 });
    let ended = client.call("get_run_status", &asked, json!({}));
    measured("the job is completed", 2_000, &ended);
    assert_eq!(parsed(&ended)["status"], "completed");
    all_links_hold(&ended);
    client.end();

    eprintln!("| reply | bytes | fewer than |\n|---|---|---|");
    for (what, bytes, most) in sizes {
        eprintln!("| {what} | {bytes} | {most} |");
    }
}

/// Each link of an answer leads to what the tool gave, and none is missing.
fn all_links_hold(answer: &Value) {
    let hashes =
        |all: &[Vec<u8>]| -> BTreeSet<String> { all.iter().map(|it| sha256(it)).collect() };
    let fetched: Vec<Vec<u8>> = links_of(answer).iter().map(|link| fetched(link)).collect();
    assert_eq!(hashes(&fetched), hashes(originals()), "{answer}");
}

fn parsed(answer: &Value) -> Value {
    serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
}

fn links_of(answer: &Value) -> Vec<String> {
    let blocks = answer["result"]["content"].as_array().unwrap();
    let links = blocks.iter().filter(|block| block["type"] == "resource_link");
    links.map(|link| link["uri"].as_str().unwrap().to_owned()).collect()
}

fn fetched(url: &str) -> Vec<u8> {
    let output = Command::new("curl").args(["--silent", "--fail", url]).output().unwrap();
    assert!(output.status.success(), "{url}: {}", output.status);
    output.stdout
}

fn status(url: &str) -> String {
    let words = ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", url];
    String::from_utf8(Command::new("curl").args(words).output().unwrap().stdout).unwrap()
}

/// What the tool itself gives: the payload of each block, in their order.
fn originals() -> &'static [Vec<u8>] {
    static ORIGINALS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    ORIGINALS.get_or_init(|| {
        let mut fixture = Peer::start(&mut Command::new(programs::fixture_upstream()));
        let params = json!({ "name": "flood", "arguments": {} });
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let answer: Value = serde_json::from_str(&fixture.ask(&request.to_string())).unwrap();
        let blocks = answer["result"]["content"].as_array().unwrap();
        let payload = |block: &Value| match block["data"].as_str() {
            Some(data) => BASE64_STANDARD.decode(data).unwrap(),
            None => block["text"].as_str().unwrap().as_bytes().to_vec(),
        };
        blocks.iter().map(payload).collect()
    })
}

fn all_is_there(report: &Value, form: &str) {
    assert!(report["bytes"].as_u64().unwrap() < MAX_REPLY_BYTES, "{}", report["bytes"]);
    assert_eq!(report["progress"], PROGRESS, "it came before the result");
    let links = report["links"].as_array().unwrap();
    assert_eq!(links.len(), 3, "{report}");
    for (link, original) in links.iter().zip(originals()) {
        let uri = link["uri"].as_str().unwrap();
        assert!(uri.starts_with(form), "{uri}");
        assert_eq!(link["size"], original.len(), "{link}");
        let expected = sha256(original);
        assert_eq!(link["read"], expected, "{link}");
        assert_eq!(link["part"]["sha256"], sha256(&original[1_000..5_000]), "{link}");
        if uri.starts_with("http") {
            assert_eq!(link["fetched"]["sha256"], expected, "{link}");
            assert_eq!(
                (&link["fetched"]["status"], &link["part"]["status"]),
                (&json!(200), &json!(206))
            );
            assert_eq!(link["fetched"]["length"], original.len(), "{link}");
        }
    }
}

/// As the system's own program says.
fn sha256(bytes: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    let output = Command::new("sha256sum").arg(file.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    said.split_whitespace().next().unwrap().to_owned()
}
