//! The official Rust SDK in front of many servers; it reports what `clients/ts_gateway.mjs` does.

use std::time::{Duration, Instant};

use forebay_testkit::{http::Era, peer::PATIENCE};
use rmcp::ClientLifecycleMode;
use serde_json::{Value, json};

use super::eight::{Eight, Target};
use crate::rust_sdk::{
    client::{Server, Session, outcome},
    discover,
};

pub(super) fn report(era: Era, target: &Target, eight: &Eight, plan: &Value) -> Value {
    let lifecycle = match era {
        Era::Legacy => ClientLifecycleMode::Initialize,
        Era::Modern => discover(),
    };
    let server = match target {
        Target::Stdio => Server::Command(eight.command(&["gateway"])),
        Target::Url(url) => Server::Url(url.clone()),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let session = Session::open(lifecycle, server).await;
        let report = exercise(&session, plan).await;
        session.close().await;
        report
    })
}

async fn exercise(session: &Session, plan: &Value) -> Value {
    let service = &session.service;
    // In the modern era nothing else says that somebody is there: it is what starts the servers.
    outcome(service.list_tools(None)).await;
    let started = Instant::now();
    while !every_server_is_open(session, plan).await {
        assert!(started.elapsed() < PATIENCE, "all servers open");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let version = service.peer_info().unwrap().protocol_version.clone();
    let tools = outcome(service.list_tools(None)).await;
    let prompts = outcome(service.list_prompts(None)).await;
    let resources = outcome(service.list_resources(None)).await;
    let (mut calls, mut got, mut read) = (Vec::new(), Vec::new(), Vec::new());
    for call in plan["calls"].as_array().unwrap() {
        let tool = call[0].as_str().unwrap().to_owned();
        calls
            .push(session.call(tool, call[1].clone()).await["result"]["content"][0]["text"].take());
    }
    for prompt in plan["prompts"].as_array().unwrap() {
        let mut answer = session.prompt(prompt[0].as_str().unwrap(), prompt[1].clone()).await;
        got.push(answer["result"]["messages"][0]["content"]["text"].take());
    }
    for uri in plan["resources"].as_array().unwrap() {
        let mut answer = session.read(uri.as_str().unwrap()).await;
        read.push(answer["result"]["contents"][0]["text"].take());
    }
    json!({
        "version": version,
        "tools": each(&tools["result"]["tools"], "name"),
        "prompts": each(&prompts["result"]["prompts"], "name"),
        "resources": each(&resources["result"]["resources"], "uri"),
        "calls": calls,
        "gotPrompts": got,
        "readResources": read,
    })
}

async fn every_server_is_open(session: &Session, plan: &Value) -> bool {
    let told = session.call("list_servers", json!({})).await;
    let text = told["result"]["content"][0]["text"].as_str().unwrap();
    let told: Value = serde_json::from_str(text).unwrap();
    let is_open = |name: &Value| {
        let mut servers = told["servers"].as_array().unwrap().iter();
        servers.any(|it| it["name"] == *name && it["state"] == "open" && it["tools"].is_u64())
    };
    plan["servers"].as_array().unwrap().iter().all(is_open)
}

fn each(list: &Value, key: &str) -> Vec<Value> {
    list.as_array().unwrap().iter().map(|it| it[key].clone()).collect()
}
