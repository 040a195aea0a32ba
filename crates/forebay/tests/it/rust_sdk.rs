//! The official Rust SDK through Forebay: what it reports must be what it reports without it.
//!
//! The same comparison as in `clients.rs`, but this client runs in the test itself. It exercises
//! what the SDK offers, with the server itself and with Forebay in between, and reports what it
//! saw. Times, ids and the number of repeated notifications are left out.

#![expect(deprecated, reason = "what the modern era deprecates is part of what is tested")]

pub(crate) mod client;
mod through_serve;

use std::process::Command;

use forebay_testkit::real;
use rmcp::{
    ClientLifecycleMode,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelTaskRequest,
        ClientRequest, GetTaskParams, LoggingLevel, PingRequest, ProtocolVersion,
        RequestMetaObject, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
        TaskPayload, UnsubscribeRequestParams,
    },
};
use serde_json::{Value, json};

use self::client::{Server, Session, in_time, outcome};
use crate::{clients::without_our_resources, forebay};

const LEGACY: &str = "server tools resources prompts completion progress cancellation sampling \
    elicitation roots logging subscriptions ping";
const MODERN: &str = "server discover tools resources prompts completion progress cancellation \
    sampling elicitation roots inputRequired subscriptions logging";

const ODD_TEXT: &str = "héllo ✓ \0 \"quoted\" \\ 😀";
const COUNTER: &str = "counter://value";

#[test]
fn rust_sdk_legacy() {
    let Some(node) = real::node("rust_sdk_legacy") else { return };
    sees_the_same(&ClientLifecycleMode::Initialize, &node.everything(), LEGACY);
}

#[test]
fn rust_sdk_modern() {
    let Some(node) = real::node("rust_sdk_modern") else { return };
    sees_the_same(&discover(), &node.script("servers/ts_modern.mjs"), MODERN);
}

#[test]
fn rust_sdk_modern_with_tasks() {
    let Some(python) = real::python("rust_sdk_modern_with_tasks") else { return };
    let features = format!("{MODERN} tasks");
    sees_the_same(&discover(), &python.script("servers/py_server.py"), &features);
}

#[test]
fn rust_sdk_probes_and_falls_back() {
    let Some(node) = real::node("rust_sdk_probes_and_falls_back") else { return };
    sees_the_same(&probe(), &node.everything(), LEGACY);
}

/// Runs the client with `server`, directly and through Forebay, and compares the reports.
fn sees_the_same(lifecycle: &ClientLifecycleMode, server: &[String], features: &str) {
    let through = |options: &[&str]| {
        let mut forebay = forebay([&["wrap"], options, &["--"]].concat());
        forebay.args(server);
        report(lifecycle, Server::Command(forebay))
    };
    let mut alone = Command::new(&server[0]);
    alone.args(&server[1..]);
    let direct = report(lifecycle, Server::Command(alone));
    all_the_same(&through(&["--no-capture"]), &direct, features);
    the_same_but_for_tools(&through(&[]), &direct, features);
}

fn all_the_same(through: &Value, direct: &Value, features: &str) {
    for feature in features.split_whitespace() {
        assert!(!direct[feature].is_null(), "`{feature}` was exercised: {direct}");
        assert_eq!(through[feature], direct[feature], "`{feature}` differs through Forebay");
    }
    assert_eq!(through, direct);
}

/// With large results kept, only what has to do with tools may differ, and that there are more resources.
fn the_same_but_for_tools(through: &Value, direct: &Value, features: &str) {
    let through = without_our_resources(through, direct);
    for feature in features.split_whitespace().filter(|feature| *feature != "tools") {
        assert_eq!(through[feature], direct[feature], "`{feature}` differs when results are kept");
    }
}

fn report(lifecycle: &ClientLifecycleMode, server: Server) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let session = Session::open(lifecycle.clone(), server).await;
        let info = session.service.peer_info().unwrap();
        let mut report = if info.protocol_version.has_initialize() {
            legacy(&session).await
        } else {
            modern(&session).await
        };
        report["server"] = json!(*info);
        session.close().await;
        report
    })
}

pub(crate) fn discover() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: modern_only() }
}

fn probe() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto { preferred_versions: modern_only(), legacy_version: None }
}

fn modern_only() -> Vec<ProtocolVersion> {
    vec![ProtocolVersion::V_2026_07_28]
}

// ---- Legacy, with server-everything ----

async fn legacy(session: &Session) -> Value {
    let service = &session.service;
    // Short, because the server goes on with it although it is cancelled, and ends only then.
    let long = "trigger-long-running-operation";
    let ping = ClientRequest::PingRequest(PingRequest::default());
    json!({
        "tools": {
            "list": outcome(service.list_tools(None)).await,
            "echo": session.call("echo", json!({ "message": ODD_TEXT })).await,
            "echoLarge": session.call("echo", json!({ "message": "x".repeat(200_000) })).await,
            "sum": session.call("get-sum", json!({ "a": 1.5, "b": 1_u64 << 40 })).await,
            "structured": session
                .call("get-structured-content", json!({ "location": "Chicago" }))
                .await,
            "image": session.call("get-tiny-image", json!({})).await,
            "links": session.call("get-resource-links", json!({ "count": 3 })).await,
            "badArguments": session.call("get-sum", json!({ "a": "one" })).await,
            "unknown": session.call("no-such-tool", json!({})).await,
        },
        "resources": {
            "list": outcome(service.list_resources(None)).await,
            "templates": outcome(service.list_resource_templates(None)).await,
            "text": session.read("demo://resource/static/document/features.md").await,
            "missing": session.read("demo://resource/none").await,
        },
        "prompts": {
            "list": outcome(service.list_prompts(None)).await,
            "withArguments": session.prompt("args-prompt", json!({ "city": "Zürich" })).await,
            "missing": session.prompt("no-such-prompt", json!({})).await,
        },
        "completion": session.complete("completable-prompt", "department", "S").await,
        "progress": progress(session, long, json!({ "duration": 0.5, "steps": 5 })).await,
        "cancellation": cancellation(session, long, json!({ "duration": 1, "steps": 10 })).await,
        "sampling": {
            "result": session.call("trigger-sampling-request", json!({ "prompt": "haiku" })).await,
            "asked": session.seen(|state| json!(state.sampled)),
        },
        "elicitation": legacy_elicitation(session).await,
        "roots": legacy_roots(session).await,
        "logging": legacy_logging(session).await,
        "subscriptions": legacy_subscriptions(session).await,
        "ping": outcome(service.send_request(ping)).await,
    })
}

async fn legacy_elicitation(session: &Session) -> Value {
    let mut url = json!({ "url": "https://example.invalid/", "elicitationId": "fixed-id" });
    let form = session.call("trigger-elicitation-request", json!({})).await;
    let asked = session.call("trigger-url-elicitation", url.clone()).await;
    url["errorPath"] = json!(true);
    let mut required = session.call("trigger-url-elicitation", url).await;
    // This elicitation's id is random.
    required["error"]["data"]["elicitations"][0]["elicitationId"].take();
    json!({
        "form": form,
        "url": asked,
        "urlRequired": required,
        "asked": session.seen(|state| json!(state.elicited)),
    })
}

async fn legacy_roots(session: &Session) -> Value {
    let first = session.call("get-roots-list", json!({})).await;
    session.set_roots(vec!["file:///one", "file:///two"]).await;
    // The server asks again and logs it.
    let asked = |log: &Value| log.to_string().contains("2 root(s)");
    session.until(|state| state.logs.iter().any(asked)).await;
    json!({ "first": first, "second": session.call("get-roots-list", json!({})).await })
}

async fn legacy_logging(session: &Session) -> Value {
    let level = SetLevelRequestParams::new(LoggingLevel::Debug);
    let set_level = outcome(session.service.set_level(level)).await;
    // The level of a simulated message is random: only that one came is a fact.
    let simulated = |log: &Value| log["data"].as_str().is_some_and(|data| data.contains("level"));
    session.call("toggle-simulated-logging", json!({})).await;
    session.until(|state| state.logs.iter().any(simulated)).await;
    session.call("toggle-simulated-logging", json!({})).await;
    json!({ "setLevel": set_level, "received": true })
}

async fn legacy_subscriptions(session: &Session) -> Value {
    let uri = "demo://resource/dynamic/text/1";
    let subscribe = session.service.subscribe(SubscribeRequestParams::new(uri));
    let subscribed = outcome(subscribe).await;
    session.call("toggle-subscriber-updates", json!({})).await;
    session.until(|state| state.updated.iter().any(|updated| updated == uri)).await;
    session.call("toggle-subscriber-updates", json!({})).await;
    let unsubscribe = session.service.unsubscribe(UnsubscribeRequestParams::new(uri));
    json!({
        "subscribed": subscribed,
        "updated": session.seen(|state| json!(state.updated[0])),
        "unsubscribed": outcome(unsubscribe).await,
    })
}

// ---- Modern, with servers/ts_modern.mjs and servers/py_server.py ----

async fn modern(session: &Session) -> Value {
    let service = &session.service;
    json!({
        "discover": outcome(service.discover(RequestMetaObject::new())).await,
        "tools": {
            "list": outcome(service.list_tools(None)).await,
            "echo": session.call("echo", json!({ "message": ODD_TEXT })).await,
            "echoLarge": session.call("echo", json!({ "message": "x".repeat(200_000) })).await,
            "object": session.call("weather", json!({ "city": "Zürich" })).await,
            "array": session.call("rows", json!({ "count": 3 })).await,
            "media": session.call("media", json!({})).await,
            "failure": session.call("fail", json!({})).await,
            "badArguments": session.call("weather", json!({ "city": 1 })).await,
            "unknown": session.call("no-such-tool", json!({})).await,
        },
        "resources": {
            "list": outcome(service.list_resources(None)).await,
            "templates": outcome(service.list_resource_templates(None)).await,
            "text": session.read(COUNTER).await,
            "blob": session.read("bytes://all").await,
            "template": session.read("note://tea").await,
            "missing": session.read("none://here").await,
        },
        "prompts": {
            "list": outcome(service.list_prompts(None)).await,
            "withArguments": session.prompt("greet", json!({ "name": "Zoë" })).await,
            "missing": session.prompt("no-such-prompt", json!({})).await,
        },
        "completion": session.complete("greet", "name", "A").await,
        "progress": progress(session, "slow", json!({ "steps": 5, "stepMs": 50 })).await,
        "cancellation": {
            "client": cancellation(session, "slow", json!({ "steps": 1_000, "stepMs": 50 })).await,
            "server": in_time(cancellation_seen_by_server(session)).await,
        },
        "sampling": {
            "result": session.call("sample", json!({})).await,
            "asked": session.seen(|state| json!(state.sampled)),
        },
        "elicitation": {
            "result": session.call("ask", json!({})).await,
            "asked": session.seen(|state| json!(state.elicited)),
        },
        "roots": session.call("roots", json!({})).await,
        "inputRequired": input_required(session).await,
        "subscriptions": modern_subscriptions(session).await,
        "logging": modern_logging(session).await,
        "tasks": modern_tasks(session).await,
    })
}

async fn cancellation_seen_by_server(session: &Session) -> Value {
    loop {
        let stats = session.call("stats", json!({})).await;
        if stats["result"]["structuredContent"]["cancelled"] != 0 {
            return stats;
        }
    }
}

/// The first round of `ask`, to see what the server really sends.
async fn input_required(session: &Session) -> Value {
    let round = session.service.call_tool_once(CallToolRequestParams::new("ask"));
    let CallToolResponse::InputRequired(result) = in_time(round).await.unwrap() else {
        panic!("`ask` needs input");
    };
    // The state is opaque, and may be encrypted: only its presence is a fact.
    json!({ "requests": result.input_requests, "state": result.request_state.is_some() })
}

async fn modern_subscriptions(session: &Session) -> Value {
    let filter = SubscriptionFilter::builder().tools_list_changed().resource_subscription(COUNTER);
    let mut subscription = in_time(session.service.listen(filter.build())).await.unwrap();
    let mut events = Vec::new();
    for tool in ["bump", "announce"] {
        session.call(tool, json!({})).await;
        let event = json!(in_time(subscription.next()).await.unwrap());
        events.push(json!({ "method": event["method"], "uri": event["params"]["uri"] }));
    }
    let value = session.read(COUNTER).await;
    in_time(subscription.cancel()).await.unwrap();
    json!({
        "acknowledged": subscription.acknowledged(),
        "events": events,
        "value": value,
        "afterwards": session.call("bump", json!({})).await,
    })
}

async fn modern_logging(session: &Session) -> Value {
    // In this era a request asks for logs itself, by a key of its `_meta`.
    let quiet = session.call("log", json!({})).await;
    let mut loud = CallToolRequestParams::new("log");
    loud.meta.get_or_insert_default().set_log_level(LoggingLevel::Debug);
    let result = outcome(session.service.call_tool(loud)).await;
    session.until(|state| !state.logs.is_empty()).await;
    json!({ "quiet": quiet, "result": result, "logs": session.seen(|state| json!(state.logs)) })
}

async fn modern_tasks(session: &Session) -> Value {
    let service = &session.service;
    if !service.peer_info().unwrap().capabilities.supports_tasks() {
        return Value::Null;
    }
    let finished = start_task(session).await;
    let cancelled = start_task(session).await;
    // Not `cancel_task`, which takes an acknowledgement that has `_meta` for a tool's result.
    let cancel = CancelTaskRequest::new(CancelTaskParams::new(&cancelled));
    json!({
        "finished": in_time(states_of_task(session, &finished)).await,
        "cancel": outcome(service.send_request(ClientRequest::CancelTaskRequest(cancel))).await,
        "cancelled": in_time(states_of_task(session, &cancelled)).await,
        "unknown": outcome(service.get_task(GetTaskParams::new("none"))).await,
    })
}

/// Calls `job` and returns the id of the task that it is answered with.
async fn start_task(session: &Session) -> String {
    let call = session.service.call_tool_once(CallToolRequestParams::new("job"));
    let CallToolResponse::Task(created) = in_time(call).await.unwrap() else {
        panic!("`job` is answered with a task");
    };
    created.task.task_id
}

/// Polls until the task has ended: the states it went through, and its result.
async fn states_of_task(session: &Session, id: &str) -> Value {
    let mut states = Vec::new();
    loop {
        let task = session.service.get_task(GetTaskParams::new(id)).await.unwrap().task;
        states.push(task.status());
        if let TaskPayload::Completed { result } = task.payload {
            return json!({ "states": states, "result": result });
        }
        if task.task.status.is_terminal() {
            return json!({ "states": states });
        }
    }
}

// ---- Both eras ----

async fn progress(session: &Session, tool: &'static str, arguments: Value) -> Value {
    let call = session.start(tool, arguments).await;
    let token = call.progress_token.clone();
    let result = outcome(call.await_response()).await;
    // The SDK hands notifications on beside the call, so the last may come after the result.
    session.until(|state| state.progress.get(&token).is_some_and(|values| values.len() == 5)).await;
    json!({ "values": session.seen(|state| json!(state.progress[&token])), "result": result })
}

/// Cancels once the call is known to be under way.
async fn cancellation(session: &Session, tool: &'static str, arguments: Value) -> Value {
    let call = session.start(tool, arguments).await;
    let token = call.progress_token.clone();
    session.until(|state| state.progress.contains_key(&token)).await;
    json!({
        "cancelled": outcome(call.cancel(Some("no longer wanted".to_owned()))).await,
        "afterwards": session.call("echo", json!({ "message": "still here" })).await,
    })
}
