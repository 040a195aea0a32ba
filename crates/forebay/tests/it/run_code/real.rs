//! Programs over real servers of npm and PyPI, run by the official clients.

use std::{fs, path::Path, process::Command};

use forebay_testkit::{http::Era, real};
use serde_json::{Value, json};

use crate::{forebay, gateway::client::Client, without_settings};

const FILES: usize = 10;
const ORDERS: usize = 50;

/// A folder with orders in files, and a gateway's settings with three servers that reach it.
struct Desk {
    home: tempfile::TempDir,
    node: &'static real::Node,
    python: &'static real::Python,
}

impl Desk {
    fn new(test: &str) -> Option<Self> {
        let (node, python) = (real::node(test)?, real::python(test)?);
        let sqlite = real::python_for_sqlite(test)?;
        let home = tempfile::tempdir().unwrap();
        let orders = home.path().join("orders");
        fs::create_dir(&orders).unwrap();
        for file in 0..FILES {
            let all: Vec<Value> = (0..ORDERS).map(|n| order(file * ORDERS + n)).collect();
            fs::write(orders.join(format!("day-{file}.json")), json!(all).to_string()).unwrap();
        }
        let entry = |words: Vec<String>, more: &[&str]| {
            let words: Vec<String> =
                words.into_iter().chain(more.iter().map(|&word| word.to_owned())).collect();
            json!({ "command": words[0], "args": words[1..] })
        };
        let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
        let servers = json!({ "mcpServers": {
            "filesystem": entry(node.server("server-filesystem"), &[&path("orders")]),
            "sqlite": entry(sqlite.program("mcp-server-sqlite"), &["--db-path", &path("data.db")]),
            "time": entry(python.module("mcp_server_time"), &["--local-timezone", "UTC"]),
        }});
        fs::write(home.path().join("mcp.json"), servers.to_string()).unwrap();
        let settings = "injected_tools = \"full\"\n[code]\ndestructive_tools = true\n";
        fs::write(home.path().join("forebay.toml"), settings).unwrap();
        Some(Self { home, node, python })
    }

    fn words(&self) -> [String; 3] {
        let servers = self.home.path().join("mcp.json").to_str().unwrap().to_owned();
        ["gateway".to_owned(), "--servers".to_owned(), servers]
    }

    fn orders(&self) -> &Path {
        self.home.path()
    }

    /// A program that reads all files, sums them up with the help of all three servers, and has what it found
    /// written back without ever holding it as a text.
    fn program(&self) -> String {
        let folder = self.orders().join("orders");
        let folder = folder.to_str().unwrap();
        format!(
            "interface Order {{ id: number; status: string; total: number }}\n\
             const folder = {folder:?};\n\
             const listing = await tools.filesystem.list_directory({{ path: folder }});\n\
             const names: string[] = listing.content.match(/day-\\d+\\.json/g);\n\
             const files = await Promise.all(names.map(name => tools.filesystem.read_text_file({{ path: `${{folder}}/${{name}}` }})));\n\
             const orders: Order[] = files.flatMap(file => JSON.parse(file.content));\n\
             await tools.sqlite.create_table({{ query: 'CREATE TABLE IF NOT EXISTS totals (status TEXT, total REAL)' }});\n\
             const totals = new Map<string, number>();\n\
             for (const order of orders) totals.set(order.status, (totals.get(order.status) ?? 0) + order.total);\n\
             for (const [status, total] of totals)\n\
               await tools.sqlite.write_query({{ query: `INSERT INTO totals VALUES ('${{status}}', ${{total}})` }});\n\
             const noon = await tools.time.convert_time({{ source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Tokyo' }});\n\
             const saved = await datasets.save('order_totals', [...totals].map(([status, total]) => ({{ status, total }})));\n\
             await tools.filesystem.write_file({{ path: folder + '/totals.json', content: `forebay://dataset/${{saved.id}}` }});\n\
             return {{ orders: orders.length, kinds: totals.size, tokyo: noon.target.datetime.slice(11, 16) }}"
        )
    }
}

/// Amounts that are exact as floats.
fn order(id: usize) -> Value {
    let status = ["open", "paid", "sent"][id % 3];
    let total = f64::from(u8::try_from(id % 7).unwrap()) + 0.25;
    json!({ "id": id, "status": status, "total": total })
}

fn expected_totals() -> Value {
    let mut totals: Vec<(String, f64)> = Vec::new();
    for id in 0..FILES * ORDERS {
        let order = order(id);
        let (status, total) = (order["status"].as_str().unwrap(), order["total"].as_f64().unwrap());
        match totals.iter_mut().find(|(name, _)| name == status) {
            Some((_, sum)) => *sum += total,
            None => totals.push((status.to_owned(), total)),
        }
    }
    totals.iter().map(|(status, total)| json!({ "status": status, "total": total })).collect()
}

#[test]
fn a_program_over_three_servers_by_the_official_clients() {
    let Some(desk) = Desk::new("a_program_over_three_servers_by_the_official_clients") else {
        return;
    };
    let plan = json!({
        "servers": ["filesystem", "sqlite", "time"],
        "calls": [["run_code", { "code": desk.program() }]],
        "prompts": [], "resources": [],
    });
    let scripts = [
        (desk.python.script("clients/py_gateway.py"), "legacy"),
        (desk.node.script("clients/ts_gateway.mjs"), "modern"),
    ];
    for (script, era) in scripts {
        let written = desk.orders().join("orders/totals.json");
        let _ = fs::remove_file(&written);
        let mut command = Command::new(&script[0]);
        command.args(&script[1..]).args(["--era", era, "--plan", &plan.to_string(), "--"]);
        command.arg(env!("CARGO_BIN_EXE_forebay")).args(desk.words());
        without_settings(&mut command).env("FOREBAY_HOME", desk.home.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let told = report["calls"][0].as_str().unwrap();
        let value: Value = serde_json::from_str(told).unwrap_or_else(|_| panic!("{told}"));
        assert_eq!(value, json!({ "orders": FILES * ORDERS, "kinds": 3, "tokyo": "21:00" }));
        let written: Value = serde_json::from_slice(&fs::read(written).unwrap()).unwrap();
        assert_eq!(written, expected_totals(), "what was kept is what was written");
    }
}

/// What a model pays for a call: what it writes, and what it reads.
fn tokens(call: &Value, result: &Value) -> u64 {
    forebay_records::tokens(&call.to_string()) + forebay_records::tokens(&result.to_string())
}

#[test]
fn fifty_calls_in_a_program_cost_the_model_less_than_three_hundred_tokens() {
    let Some(desk) = Desk::new("fifty_calls_in_a_program") else { return };
    let mut command = forebay(desk.words());
    let mut client = Client::start(Era::Legacy, command.env("FOREBAY_HOME", desk.home.path()));
    client.until_open(&["filesystem"]);
    let folder = desk.orders().join("orders");
    let folder = folder.to_str().unwrap();
    let code = format!(
        "const calls = Array.from({{ length: 50 }}, (_, n) => tools.filesystem.read_text_file({{ path: `{folder}/day-${{n % 10}}.json` }}));\n\
         const files = await Promise.all(calls);\n\
         return files.flatMap(file => JSON.parse(file.content)).reduce((sum, order) => sum + order.total, 0)"
    );
    let call = json!({ "name": "run_code", "arguments": { "code": code } });
    let answer = client.ask("tools/call", &call);
    let result = &answer["result"]["content"];
    let sum: f64 = (0..FILES * ORDERS).map(|id| order(id)["total"].as_f64().unwrap()).sum();
    assert_eq!(result[0]["text"], json!(5.0 * sum).to_string().trim_end_matches(".0"), "{answer}");
    let program = tokens(&call, result);
    let mut single = 0;
    for n in 0..50 {
        let arguments = json!({ "path": format!("{folder}/day-{}.json", n % 10) });
        let call = json!({ "name": "filesystem__read_text_file", "arguments": arguments });
        let answer = client.ask("tools/call", &call);
        single += tokens(&call, &answer["result"]["content"]);
    }
    eprintln!(
        "a program: {program} tokens, 1 call; the same by single calls: {single} tokens, 50 calls"
    );
    assert!(program < 300, "{program} tokens");
    assert!(single > 100 * program, "{single} tokens by single calls, {program} by a program");
    client.end();
}
