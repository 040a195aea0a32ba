//! Official clients, which hold results against output schemas, take a job in the place of a result.

use std::{fs, process::Command};

use forebay_testkit::real;
use serde_json::Value;

use crate::without_settings;

/// Runs a client that calls a tool and asks about its job until that has ended.
fn gets_its_result_from_a_job(client: &[String], upstream: &[String]) {
    for output_schema in ["drop", "widen"] {
        let home = tempfile::tempdir().unwrap();
        let settings = format!("output_schema = {output_schema:?}\n[tools.\"*\"]\njob_after = 0\n");
        fs::write(home.path().join("forebay.toml"), settings).unwrap();
        let mut command = Command::new(&client[0]);
        without_settings(&mut command).env("FOREBAY_HOME", home.path()).args(&client[1..]);
        command.args(["--", env!("CARGO_BIN_EXE_forebay"), "wrap", "--grace", "0.1", "--"]);
        let output = command.args(upstream).env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        for (tool, is_large) in [("orders", true), ("few", false)] {
            let outcome = &report[tool];
            let notice = &outcome["notice"]["structuredContent"];
            assert_eq!(notice["status"], "running", "{outcome}");
            assert!(notice["job_id"].as_str().unwrap().starts_with("job_"), "{outcome}");
            let status = &outcome["status"]["content"];
            let told: Value = serde_json::from_str(status[0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(told["status"], "completed", "{outcome}");
            assert_eq!(told["dataset_id"].is_string(), is_large, "{outcome}");
            assert!(outcome["status"].to_string().len() < 2_100, "{outcome}");
        }
    }
}

fn words(script: Vec<String>, more: &[&str]) -> Vec<String> {
    script.into_iter().chain(more.iter().map(|word| (*word).to_owned())).collect()
}

#[test]
fn typescript_sdk() {
    let Some(node) = real::node("jobs typescript_sdk") else { return };
    let client =
        words(node.script("clients/ts_jobs.mjs"), &["sdk", "orders,few", "--era", "legacy"]);
    let upstream = words(node.script("servers/ts_large.mjs"), &["sdk"]);
    gets_its_result_from_a_job(&client, &upstream);
}

#[test]
fn typescript_client_modern() {
    let Some(node) = real::node("jobs typescript_client_modern") else { return };
    let client =
        words(node.script("clients/ts_jobs.mjs"), &["client", "orders,few", "--era", "modern"]);
    let upstream = words(node.script("servers/ts_large.mjs"), &["server"]);
    gets_its_result_from_a_job(&client, &upstream);
}

#[test]
fn python_sdk() {
    let test = "jobs python_sdk";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let client = words(python.script("clients/py_jobs.py"), &["orders,few", "--era", "legacy"]);
    let upstream = words(node.script("servers/ts_large.mjs"), &["sdk"]);
    gets_its_result_from_a_job(&client, &upstream);
}
