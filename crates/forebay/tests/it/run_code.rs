//! `run_code`: programs that call the tools of the servers behind, on every way there is to a server.

mod bounds;
mod datasets;
mod never;
mod real;
mod transports;

use std::process::Command;

use forebay_testkit::{http::Era, programs};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{forebay, gateway::client::Client};

/// A client of `forebay wrap` in front of the fixture, with these settings.
fn wrapped(era: Era, settings: &str) -> (TempDir, Client) {
    let home = tempfile::tempdir().unwrap();
    let client = wrapped_at(&home, era, settings);
    (home, client)
}

/// The same at a home that others may have used before.
fn wrapped_at(home: &TempDir, era: Era, settings: &str) -> Client {
    let mut command = wrap(home, settings);
    command.arg("--").arg(programs::fixture_upstream());
    Client::start(era, &mut command)
}

/// `forebay wrap` that offers all tools, the server called `orders`.
fn wrap(home: &TempDir, settings: &str) -> Command {
    std::fs::write(home.path().join("forebay.toml"), settings).unwrap();
    let mut command = forebay(["wrap", "--tools", "full", "--name", "orders"]);
    command.env("FOREBAY_HOME", home.path());
    command
}

/// Runs a program, and gives its result.
fn run(client: &mut Client, code: &str) -> Value {
    let answer = client.call("run_code", &json!({ "code": code }));
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].clone()
}

/// The texts of a result.
fn texts(result: &Value) -> Vec<&str> {
    let blocks = result["content"].as_array().unwrap_or_else(|| panic!("{result}"));
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

/// The one text of the result of a program that came to its end.
fn value(client: &mut Client, code: &str) -> String {
    let result = run(client, code);
    assert_ne!(result["isError"], true, "{result}");
    let [text] = texts(&result)[..] else { panic!("{result}") };
    text.to_owned()
}

/// What is said of a program that failed.
fn failure(client: &mut Client, code: &str) -> String {
    let result = run(client, code);
    assert_eq!(result["isError"], true, "{result}");
    let [text] = texts(&result)[..] else { panic!("{result}") };
    text.to_owned()
}

#[test]
fn a_program_works_on_whole_results_and_only_its_value_comes_back() {
    for era in [Era::Legacy, Era::Modern] {
        let (_home, mut client) = wrapped(era, "");
        // The first record of the fixture's has the request's id, and nothing else.
        let counted = "const [, ...rows] = await tools.orders.records({ count: 5000 });\n\
                       return rows.filter(row => row.id % 2 === 0).length";
        assert_eq!(value(&mut client, counted), "2500");
        let at_once = "const all = await Promise.all([1, 2, 3].map(n => callMCPTool('orders', 'records', { count: n })));\n\
                       return all.map(rows => rows.length)";
        assert_eq!(value(&mut client, at_once), "[2,3,4]");
        client.end();
    }
}

#[test]
fn typescript_runs_and_what_is_logged_comes_beside_the_value() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    let result = run(
        &mut client,
        "interface Row { id: number; name: string }\n\
         const [, ...rows]: Row[] = await tools.orders.records({ count: 3 });\n\
         for (const row of rows) console.log(row.id, row.name.length > 0);\n\
         return rows.map((row): number => row.id)",
    );
    let [value, logged] = texts(&result)[..] else { panic!("{result}") };
    assert_eq!(value.matches(',').count(), 2, "{value}");
    assert_eq!(logged.lines().count(), 3, "{logged}");
}

#[test]
fn a_value_that_is_too_large_is_kept_and_summarised() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    let code = "return (await tools.orders.records({ count: 5000 })).map(row => ({ id: row.id, name: row.name }))";
    let summary = value(&mut client, code);
    assert!(summary.starts_with("Large response detected (5001 records"), "{summary}");
    let id = crate::gateway::dataset_in(&summary).to_owned();
    let counted = client
        .text("analyze-with-duckdb", &json!({"query": format!("SELECT count(*) AS n FROM {id}")}));
    assert!(counted.contains("5001"), "{counted}");
    let by_tool =
        client.text("analyze-with-duckdb", &json!({"query": "SELECT count(*) AS n FROM run_code"}));
    assert!(by_tool.contains("5001"), "{by_tool}");
    let told = client.text("read-saved-dataset", &json!({"dataset_id": id, "summary_only": true}));
    assert!(told.contains("tools.orders.records"), "the program is what it was made with: {told}");
}

#[test]
fn help_shows_what_can_be_called_with_types() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    let all = value(&mut client, "return help()");
    assert!(all.starts_with("Servers: orders."), "{all}");
    let server = value(&mut client, "return help('orders')");
    assert!(
        server.contains("tools.orders.records(args?: { count?: number }): Promise<any>"),
        "{server}"
    );
    let tool = value(&mut client, "return help('orders.bytes')");
    assert!(tool.starts_with("tools.orders.bytes(args?: { count?: number })"), "{tool}");
    let none = failure(&mut client, "await help('nobody')");
    assert!(none.contains("The servers are: orders."), "{none}");
}

#[test]
fn a_mistake_is_told_with_its_place_and_what_to_write() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    for (code, expected) in [
        ("const x = ;", vec!["line 1, column 11", "const x = ;"]),
        ("\n\nreturn missing.name", vec!["line 3", "missing is not defined"]),
        (
            "const rows = tools.orders.records({ count: 2 });\nreturn rows.length",
            vec!["not awaited", "line 2"],
        ),
        ("return await tools.orders.recrods({})", vec!["Did you mean records?", "line 1"]),
        ("return await tools.ordrs.records({})", vec!["The servers are: orders."]),
        ("return await callMCPTool('orders')", vec!["callMCPTool(server, tool, args): tool"]),
        ("import fs from 'fs'; return 1", vec!["no modules", "tools"]),
        ("const x = require('fs')", vec!["no modules"]),
        (
            "const rows = await tools.orders.records({ count: 2 });\nreturn rows.items.length",
            vec!["line 2", "orders.records gave a list of 3"],
        ),
    ] {
        let told = failure(&mut client, code);
        for part in expected {
            assert!(told.contains(part), "{code}: {told}");
        }
    }
    let silent = value(&mut client, "await tools.orders.records({ count: 1 })\nlet x = 1");
    assert!(silent.contains("gave nothing: return what"), "{silent}");
}

#[test]
fn a_failing_tool_throws_and_can_be_caught() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    let told = failure(
        &mut client,
        "await tools.orders.records({ count: 1 });\nawait tools.orders.file({ path: '/nowhere' })",
    );
    assert!(told.contains("orders has no tool file"), "{told}");
    let caught = value(
        &mut client,
        "try { await callMCPTool('orders', 'nothing') } catch (error) { return 'caught ' + error.message }",
    );
    assert!(caught.starts_with("caught orders has no tool nothing."), "{caught}");
}

#[test]
fn a_task_in_the_place_of_a_result_is_an_error() {
    // The client takes tasks, and a program cannot.
    let (_home, mut client) = wrapped(Era::Modern, "");
    let code = "return await callMCPTool('orders', 'records', { count: 1, task: true })";
    let told = failure(&mut client, code);
    assert!(told.contains("a task of the server's") && told.contains("directly"), "{told}");
}

#[test]
fn what_would_give_another_answer_than_elsewhere_is_refused() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    for code in [
        "return new Date(0).toLocaleString('en-US', { timeZone: 'Asia/Tokyo' })",
        "return (0.25).toLocaleString(undefined, { style: 'percent' })",
        "return ['b', 'A'].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }))",
    ] {
        let told = failure(&mut client, code);
        assert!(told.contains("no locales and time zones"), "{code}: {told}");
    }
}

#[test]
fn a_value_is_given_even_if_what_else_is_under_way_is_given_up() {
    let (_home, mut client) = wrapped(Era::Legacy, "[code]\nwall_seconds = 5\n");
    let code = "const late = new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 60000));\n\
                return (await Promise.race([tools.orders.records({ count: 1 }), late])).length";
    let result = run(&mut client, code);
    let [value, note] = texts(&result)[..] else { panic!("{result}") };
    assert_eq!((value, result.get("isError")), ("2", None), "{result}");
    assert!(note.starts_with("What was still under way was given up."), "{note}");
}
