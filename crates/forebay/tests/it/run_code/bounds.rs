//! What a program may take, how it is stopped, and what it may not call.

use std::{
    fs,
    time::{Duration, Instant},
};

use forebay_testkit::{http::Era, peer::PATIENCE, real};
use serde_json::json;

use super::{failure, run, texts, value, wrap, wrapped};
use crate::gateway::client::Client;

#[test]
fn limits_are_settings_and_are_named_when_they_are_met() {
    let settings =
        "[code]\nwall_seconds = 8\nmemory_bytes = \"32 MB\"\nmax_calls = 20\noutput_bytes = 2000\n";
    let (_home, mut client) = wrapped(Era::Legacy, settings);
    for (code, expected) in [
        ("while (true) {}", "code.wall_seconds"),
        (
            "const all = []; while (true) all.push('x'.repeat(100000) + all.length)",
            "code.memory_bytes",
        ),
        (
            "for (let n = 0; n < 10000; n++) await tools.orders.records({ count: 1 })",
            "code.max_calls",
        ),
        ("return 'x'.repeat(100000)", "code.output_bytes"),
    ] {
        let told = failure(&mut client, code);
        assert!(told.contains(expected), "{code}: {told}");
    }
    let cut = run(&mut client, "for (let n = 0; n < 1000; n++) console.log('line ' + n); return 1");
    let all = texts(&cut).join("\n");
    assert!(all.contains("bytes more were logged and are left out"), "{all}");
    assert_eq!(value(&mut client, "return 1 + 1"), "2", "the session goes on");
}

#[test]
fn a_client_may_ask_for_less_time() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    let answer = client.call("run_code", &json!({"code": "while (true) {}", "timeout_seconds": 1}));
    assert!(texts(&answer["result"])[0].contains("stopped after 1 s"), "{answer}");
    let answer = client.call("run_code", &json!({"code": "return 1", "timeout_seconds": 100}));
    assert!(texts(&answer["result"])[0].contains("from 1 to 60"), "{answer}");
}

#[test]
fn a_program_that_is_cancelled_ends_with_its_calls() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    let code = "await Promise.all([1, 2].map(n => callMCPTool('orders', 'records', { count: n, progress: 1, hold: 'gate' + n })))";
    let id = client.send(
        "tools/call",
        &json!({
        "name": "run_code", "arguments": { "code": code }, "_meta": { "progressToken": "t" } }),
    );
    // Both calls have reached the upstream before the program is cancelled.
    for _ in 0..2 {
        client.told("notifications/progress");
    }
    client.tell("notifications/cancelled", &json!({ "requestId": id }));
    let started = Instant::now();
    while client.text("cancelled", &json!({})) != "2" {
        assert!(started.elapsed() < PATIENCE, "the upstream hears of both");
    }
}

#[test]
fn progress_of_calls_is_passed_on() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    let id = client.send("tools/call", &json!({
        "name": "run_code",
        "arguments": { "code": "await tools.orders.records({ count: 1, progress: 2 }); return 1" },
        "_meta": { "progressToken": "mine" },
    }));
    let told = client.told("notifications/progress");
    assert_eq!(told["params"]["progressToken"], "mine", "{told}");
    assert!(told["params"]["message"].as_str().unwrap().starts_with("orders.records: 1"), "{told}");
    assert_eq!(client.response(id)["result"]["content"][0]["text"], "1");
}

#[test]
fn an_engine_that_dies_costs_the_session_nothing() {
    let (home, mut client) = wrapped(Era::Legacy, "");
    let code = "await callMCPTool('orders', 'records', { count: 1, hold: 'gate' })";
    let id = client.send("tools/call", &json!({"name": "run_code", "arguments": {"code": code}}));
    let worker = worker_of(client.peer.child.id());
    rustix::process::kill_process(worker, rustix::process::Signal::KILL).unwrap();
    let answer = client.response(id);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    client.text("release", &json!({"name": "gate"}));
    assert_eq!(value(&mut client, "return (await tools.orders.records({ count: 2 })).length"), "3");
    drop(home);
}

#[test]
fn a_program_that_computes_ends_when_forebay_is_killed() {
    let settings = "[code]\nwall_seconds = 3000\ncpu_seconds = 3000\n";
    let (_home, mut client) = wrapped(Era::Legacy, settings);
    let code = "await tools.orders.records({ count: 1, progress: 1 }); while (true) {}";
    client.send(
        "tools/call",
        &json!({
        "name": "run_code", "arguments": { "code": code }, "_meta": { "progressToken": "t" } }),
    );
    client.told("notifications/progress");
    let worker = worker_of(client.peer.child.id());
    client.peer.child.kill().unwrap();
    let started = Instant::now();
    while rustix::process::test_kill_process(worker).is_ok() && !is_zombie(worker) {
        assert!(started.elapsed() < PATIENCE, "nobody waits for it any more");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// True if a process has ended, and nobody has asked how.
fn is_zombie(process: rustix::process::Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
}

/// The process that programs of the one with this id run in, once there is one.
fn worker_of(parent: u32) -> rustix::process::Pid {
    let started = Instant::now();
    loop {
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Ok(id) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let of = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let is_worker = command.split(|byte| *byte == 0).any(|word| word == b"code-worker");
            if is_worker && of == Some(parent.to_string().as_str()) {
                return rustix::process::Pid::from_raw(id).unwrap();
            }
        }
        assert!(started.elapsed() < PATIENCE, "there is none");
    }
}

#[test]
fn a_tool_that_is_marked_as_destructive_is_refused_unless_the_settings_allow_it() {
    let Some(node) = real::node("run_code::destructive") else { return };
    let code = |path: &str| {
        format!("return await tools.orders.write_file({{ path: {path:?}, content: 'x' }})")
    };
    for (settings, is_allowed) in [("", false), ("[code]\ndestructive_tools = true\n", true)] {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("written.txt");
        let mut command = wrap(&home, settings);
        command.arg("--").args(node.server("server-filesystem")).arg(home.path());
        let mut client = Client::start(Era::Legacy, &mut command);
        let result = run(&mut client, &code(file.to_str().unwrap()));
        assert_eq!(file.exists(), is_allowed, "{result}");
        if !is_allowed {
            let told = texts(&result)[0];
            assert!(told.contains("code.destructive_tools = true"), "{told}");
        }
        client.end();
    }
}
