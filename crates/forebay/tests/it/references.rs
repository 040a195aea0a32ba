//! Arguments by reference: what one server has given reaches another without the model.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use forebay_testkit::{
    http::{Era, HttpPeer},
    peer::{PATIENCE, Peer},
    programs,
};
use serde_json::{Value, json};

use crate::{
    forebay,
    transports::{Client, Transport, handle, text_of},
};

/// How long a result is with its escapes; without them it has 5 MB.
const BYTES: u64 = 6_000_000;

#[test]
fn a_result_of_5_mb_goes_from_server_to_server_for_a_legacy_client_on_stdio() {
    on_every_pair(Transport::Stdio, Era::Legacy);
}

#[test]
fn a_result_of_5_mb_goes_from_server_to_server_for_a_modern_client_on_stdio() {
    on_every_pair(Transport::Stdio, Era::Modern);
}

#[test]
fn a_result_of_5_mb_goes_from_server_to_server_for_a_legacy_client_over_http() {
    on_every_pair(Transport::Http, Era::Legacy);
}

#[test]
fn a_result_of_5_mb_goes_from_server_to_server_for_a_modern_client_over_http() {
    on_every_pair(Transport::Http, Era::Modern);
}

fn on_every_pair(from: Transport, era: Era) {
    let expected = what_is_given();
    for source in [Transport::Stdio, Transport::Http] {
        for target in [Transport::Stdio, Transport::Http] {
            let mut stage = Stage::new(from, era, &[("one", source), ("two", target)], "");
            let id = handle(&stage.call("one__bytes", &json!({ "count": BYTES })));
            let arguments = json!({
                "text": format!("forebay://dataset/{id}"), "list": { "$dataset": id }, "any": 1.0
            });
            let told = text_of(&stage.call("two__receive", &arguments));
            // Texts are equal byte by byte, and this JSON has no line breaks that could change.
            let hash = blake3::hash(expected.as_bytes()).to_hex();
            let length = expected.len();
            assert!(length > 5_000_000, "{length}");
            assert!(told.contains(&format!("text text {length} {hash}\n")), "{told}");
            assert!(told.contains(&format!("list json {length} {hash}\n")), "{told}");
            assert!(told.contains("any json 3 "), "all else is as it was: {told}");
            stage.end();
        }
    }
}

/// What `bytes` gives, as a client without Forebay gets it.
fn what_is_given() -> String {
    let mut fixture = Peer::start(&mut Command::new(programs::fixture_upstream()));
    let params = json!({ "name": "bytes", "arguments": { "count": BYTES } });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answer = fixture.ask(&request.to_string());
    text_of(&serde_json::from_str(&answer).unwrap())
}

/// A gateway in front of fixtures, and a client.
struct Stage {
    home: tempfile::TempDir,
    client: Client,
    /// They end with it.
    _remotes: Vec<HttpPeer>,
}

impl Stage {
    fn new(from: Transport, era: Era, servers: &[(&str, Transport)], settings: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut settings = settings.to_owned();
        let mut remotes = Vec::new();
        for (name, transport) in servers {
            let program = programs::fixture_upstream();
            let program = program.to_str().unwrap();
            let _ = match transport {
                Transport::Stdio => {
                    writeln!(
                        settings,
                        "[servers.{name}]\ncommand = {program:?}\nargs = [\"--receives\"]"
                    )
                }
                Transport::Http => {
                    let mut command = Command::new(program);
                    let remote =
                        HttpPeer::start(command.args(["--http", "127.0.0.1:0", "--receives"]));
                    let url = remote.url();
                    remotes.push(remote);
                    writeln!(settings, "[servers.{name}]\nurl = {url:?}")
                }
            };
        }
        fs::write(home.path().join("forebay.toml"), settings).unwrap();
        let mut command = forebay(match from {
            Transport::Stdio => vec!["gateway"],
            Transport::Http => vec!["serve", "--listen", "127.0.0.1:0", "--grace", "2"],
        });
        let mut client = Client::start(from, era, command.env("FOREBAY_HOME", home.path()));
        for (name, _) in servers {
            until_open(&mut client, name);
        }
        Self { home, client, _remotes: remotes }
    }

    /// With one client on stdio and two servers there.
    fn plain(settings: &str) -> Self {
        let servers = [("one", Transport::Stdio), ("two", Transport::Stdio)];
        Self::new(Transport::Stdio, Era::Legacy, &servers, settings)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.client.call(tool, arguments, json!({}))
    }

    /// Keeps a result, and gives its name and what it is.
    fn keep(&mut self, tool: &str, arguments: &Value) -> (String, Vec<u8>) {
        let id = handle(&self.call(tool, arguments));
        let payload = payload(self.home.path(), &id);
        (id, payload)
    }

    /// What `receive` says of an argument.
    fn received(&mut self, argument: &str, value: impl Into<Value>) -> String {
        let value: Value = value.into();
        let told = text_of(&self.call("two__receive", &json!({ argument: value })));
        told.trim_end().to_owned()
    }

    /// Why a call is refused. Nothing has been sent.
    fn refused(&mut self, argument: &str, value: &Value) -> String {
        let before = text_of(&self.call("two__received", &json!({})));
        let answer = self.call("two__receive", &json!({ argument: value }));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(text_of(&self.call("two__received", &json!({}))), before, "{answer}");
        let told = text_of(&answer);
        assert!(told.contains("nothing was sent"), "{told}");
        told
    }

    fn end(self) -> tempfile::TempDir {
        self.client.end();
        self.home
    }
}

fn until_open(client: &mut Client, server: &str) {
    // In the modern era they are started when they are needed.
    assert!(client.ask("tools/list", &json!({}))["result"]["tools"].is_array());
    let started = Instant::now();
    loop {
        let told = text_of(&client.call("list_servers", &json!({}), json!({})));
        let told: Value = serde_json::from_str(&told).unwrap();
        let servers = told["servers"].as_array().unwrap();
        if servers.iter().any(|it| it["name"] == server && it["tools"].is_u64()) {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{told}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The file of a dataset's payload.
fn payload(home: &Path, id: &str) -> Vec<u8> {
    let shown = forebay(["datasets", "show", id, "--json"]).env("FOREBAY_HOME", home).output();
    let shown = shown.unwrap();
    let metadata: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let file = metadata["parts"][0]["file"].as_str().unwrap().to_owned();
    let mut folders = vec![home.join("datasets")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().unwrap().to_str() == Some(&file) {
                return fs::read(path).unwrap();
            }
        }
    }
    panic!("{file} is not there");
}

fn hashed(name: &str, kind: &str, bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    format!("{name} {kind} {} {}", bytes.len(), blake3::hash(bytes).to_hex())
}

#[test]
fn what_is_given_is_what_was_kept_in_the_form_that_the_parameter_takes() {
    let mut stage = Stage::plain("");
    let (id, payload) = stage.keep("one__records", &json!({ "count": 2_000 }));
    let reference = format!("forebay://dataset/{id}");
    assert_eq!(stage.received("text", json!(reference)), hashed("text", "text", &payload));
    assert_eq!(stage.received("list", json!(reference)), hashed("list", "json", &payload));
    // Where the schema says nothing, the spelling does.
    assert_eq!(stage.received("any", json!(reference)), hashed("any", "text", &payload));
    let object = json!({ "$dataset": id });
    assert_eq!(stage.received("any", object.clone()), hashed("any", "json", &payload));
    let nested = stage.received("nested", json!({ "text": reference }));
    assert_eq!(nested, hashed("text", "text", &payload));
    // A text in which a reference stands is a text.
    for text in [format!("see {reference}"), format!(" {reference}"), format!("{reference}\n")] {
        assert_eq!(stage.received("text", json!(text)), hashed("text", "text", &text));
    }
    // The tool whose latest result it is may be named as clients know it.
    for name in ["records", "one.records", "one__records"] {
        let told = stage.received("text", json!({ "$dataset": name }));
        assert_eq!(told, hashed("text", "text", &payload), "{name}");
    }
    let told = stage.refused("text", &json!({ "$dataset": "two__records" }));
    assert!(told.contains("two__records is neither"), "{told}");
    let (csv, payload) = stage.keep("one__csv", &json!({ "count": 100_000 }));
    let told = stage.received("text", json!(format!("forebay://dataset/{csv}")));
    assert_eq!(told, hashed("text", "text", &payload));
    stage.end();
}

#[test]
fn a_selection_is_what_reading_and_querying_give() {
    let mut stage = Stage::plain("");
    let (id, payload) = stage.keep("one__records", &json!({ "count": 1_000 }));
    let records: Vec<Value> = serde_json::from_slice(&payload).unwrap();
    let reference = |selection: &str| json!(format!("forebay://dataset/{id}?{selection}"));
    let of = |range: std::ops::RangeInclusive<usize>, fields: &[&str]| {
        let record = |record: &Value| {
            let members = fields.iter().map(|field| format!("{}:{}", json!(field), record[field]));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        };
        format!("[{}]", records[range].iter().map(record).collect::<Vec<_>>().join(","))
    };
    let told = stage.received("list", reference("fields=id&rows=10-19"));
    assert_eq!(told, hashed("list", "json", of(10..=19, &["id"])));
    let told = stage
        .received("list", json!({ "$dataset": id, "select": { "rows": 999, "fields": ["id"] } }));
    assert_eq!(told, hashed("list", "json", of(999..=999, &["id"])));
    let told = stage.received("number", reference("pointer=/7/id"));
    assert_eq!(told, hashed("number", "json", records[7]["id"].to_string()));
    let sum: i64 = records.iter().map(|record| record["id"].as_i64().unwrap()).sum();
    let told = stage.received("number", reference("sql=SELECT sum(id)::BIGINT AS n FROM dataset"));
    assert_eq!(told, hashed("number", "json", sum.to_string()));
    let query = reference("sql=SELECT id FROM data WHERE id <= 3 ORDER BY id&format=csv");
    let ids: Vec<String> = records.iter().map(|record| record["id"].to_string()).collect();
    let mut least: Vec<i64> =
        ids.iter().map(|id| id.parse().unwrap()).filter(|id| *id <= 3).collect();
    least.sort_unstable();
    let lines: Vec<String> = least.iter().map(ToString::to_string).collect();
    let csv = format!("id\n{}", lines.join("\n"));
    assert_eq!(stage.received("text", query), hashed("text", "text", csv));
    let told = stage.received("text", reference("rows=0-2&fields=id&format=text"));
    assert_eq!(told, hashed("text", "text", ids[..3].join("\n")));
    stage.end();
}

#[test]
fn a_reference_that_cannot_be_resolved_says_why_and_nothing_is_sent() {
    let mut stage = Stage::plain("[references]\nmax_bytes = 100_000\n");
    let (id, payload) = stage.keep("one__records", &json!({ "count": 1_000 }));
    let (small, _) = stage.keep("one__csv", &json!({ "count": 60_000 }));
    let reference = |selection: &str| json!(format!("forebay://dataset/{id}{selection}"));
    for (value, expected) in [
        (json!("forebay://dataset/dataset_22222222"), "There is no dataset dataset_22222222"),
        (json!("forebay://dataset/ID"), "ID is neither a dataset nor a tool"),
        (json!({ "$dataset": id, "selct": {} }), "only select beside it"),
        (reference("?rows=5000-"), "past the end"),
        (reference("?fields=nothing"), "There is no field nothing"),
        (reference("?pointer=/9999"), "There is nothing at /9999"),
        (reference("?sql=DROP TABLE dataset"), "SELECT"),
        (reference("?format=xml"), "json, csv or text"),
        (reference("?block=7"), "there is no block 7"),
    ] {
        let told = stage.refused("text", &value);
        assert!(told.contains(expected) && told.contains("argument text"), "{value}: {told}");
    }
    let told = stage.refused("text", &reference(""));
    let size = format!("It has {} bytes", payload.len());
    assert!(told.contains(&size) && told.contains("references.max_bytes"), "{told}");
    let two =
        [json!(format!("forebay://dataset/{small}")), json!(format!("forebay://dataset/{small}"))];
    let told = stage.refused("list", &json!(two));
    assert!(told.contains("argument list[1]") && told.contains("other references have"), "{told}");
    let told = stage.refused("list", &json!(format!("forebay://dataset/{small}")));
    assert!(told.contains("It is no JSON") && told.contains("format=json"), "{told}");
    let told = stage.refused("path", &json!(format!("forebay://dataset/{small}")));
    assert!(told.contains("servers.two.shares_disk"), "{told}");
    stage.end();
}

#[test]
fn a_part_may_be_given_of_what_is_too_long_as_a_whole() {
    let mut stage = Stage::plain("[references]\nmax_bytes = 1_000\n");
    let (id, payload) = stage.keep("one__prose", &json!({ "count": 400_000 }));
    let lines: Vec<&[u8]> = payload.split_inclusive(|byte| *byte == b'\n').collect();
    let rows = |rows: &str| json!(format!("forebay://dataset/{id}?rows={rows}"));
    let told = stage.received("text", rows("7000-7002"));
    assert_eq!(told, hashed("text", "text", lines[7_000..=7_002].concat()));
    let told = stage.refused("text", &rows("7000-"));
    assert!(told.contains("more bytes than that"), "{told}");
    let told = stage.refused("text", &rows("1000000-"));
    assert!(told.contains("no lines from 1000000 on"), "{told}");
    let (id, payload) = stage.keep("one__records", &json!({ "count": 1_000 }));
    let records: Vec<Value> = serde_json::from_slice(&payload).unwrap();
    let at = |pointer: &str| json!(format!("forebay://dataset/{id}?pointer={pointer}"));
    let told = stage.received("number", at("/999/id"));
    assert_eq!(told, hashed("number", "json", records[999]["id"].to_string()));
    let told = stage.refused("text", &at(""));
    assert!(told.contains("references.max_bytes"), "{told}");
    stage.end();
}

#[test]
fn tools_can_be_excluded_and_all_of_it_can_be_turned_off() {
    let text = json!("forebay://dataset/dataset_22222222");
    let as_it_is = hashed("text", "text", "forebay://dataset/dataset_22222222");
    for settings in ["[tools.receive]\nreferences = false\n", "[references]\nenabled = false\n"] {
        let mut stage = Stage::plain(settings);
        assert_eq!(stage.received("text", text.clone()), as_it_is, "{settings}");
        stage.end();
    }
}

#[test]
fn a_server_that_shares_the_disk_gets_a_file_that_goes_away_with_the_call() {
    let settings =
        "[tools.receive]\npath_arguments = [\"path\"]\n[references]\nshares_disk = true\n";
    let mut stage = Stage::plain(settings);
    let (id, payload) = stage.keep("one__records", &json!({ "count": 1_000 }));
    let told = stage.received("path", json!(format!("forebay://dataset/{id}")));
    assert_eq!(told, hashed("path", "file", &payload));
    let told = stage
        .received("path", json!(format!("forebay://dataset/{id}?sql=SELECT 1 AS a&format=csv")));
    assert_eq!(told, hashed("path", "file", "a\n1"));
    let home = stage.end();
    assert_eq!(fs::read_dir(home.path().join("references")).unwrap().count(), 0);
}

#[test]
fn what_a_session_may_not_see_it_cannot_pass_on() {
    let mut stage = Stage::plain("scope = \"session\"\n");
    let (id, _) = stage.keep("one__records", &json!({ "count": 1_000 }));
    let mut command = forebay(["gateway"]);
    let mut other = Client::start(
        Transport::Stdio,
        Era::Legacy,
        command.env("FOREBAY_HOME", stage.home.path()),
    );
    until_open(&mut other, "two");
    let arguments = json!({ "text": format!("forebay://dataset/{id}") });
    let answer = other.call("two__receive", &arguments, json!({}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let told = text_of(&answer);
    assert!(told.contains(&format!("There is no dataset {id}")), "{told}");
    assert_eq!(text_of(&other.call("two__received", &json!({}), json!({}))), "0");
    assert!(stage.received("text", arguments["text"].clone()).starts_with("text text "));
    other.end();
    stage.end();
}

#[test]
fn a_dataset_tells_what_it_was_made_from_and_keeps_the_reference() {
    let mut stage = Stage::plain("[tools.echo]\nalways = true\n");
    let (id, _) = stage.keep("one__records", &json!({ "count": 1_000 }));
    let reference = format!("forebay://dataset/{id}");
    let (made, _) = stage.keep("two__echo", &json!({ "text": reference }));
    let listed =
        text_of(&stage.call("list-saved-datasets", &json!({ "filter": { "tool": "echo" } })));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let entry = &listed["results"][0];
    assert_eq!((&entry["dataset_id"], &entry["made_from"]), (&json!(made), &json!([id])));
    assert_eq!(entry["arguments"], json!({ "text": reference }));
    let arguments = json!({ "dataset_id": made, "summary_only": true });
    let read = text_of(&stage.call("read-saved-dataset", &arguments));
    let read: Value = serde_json::from_str(&read).unwrap();
    assert_eq!(read["made_from"], json!([id]));
    let shown =
        forebay(["datasets", "show", &made]).env("FOREBAY_HOME", stage.home.path()).output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    assert!(shown.contains(&format!("Made from  {id}\n")), "{shown}");
    stage.end();
}

#[test]
fn a_tool_that_is_not_listed_takes_references_as_any_other() {
    let mut stage = Stage::plain("[gateway]\nexpose = \"search\"\n");
    let call = |tool: &str, arguments: &Value| json!({ "server": "two", "tool": tool, "arguments": arguments });
    let answer = stage.call("call_tool", &call("records", &json!({ "count": 1_000 })));
    let id = handle(&answer);
    let payload = payload(stage.home.path(), &id);
    let arguments = call("receive", &json!({ "list": { "$dataset": id } }));
    let told = text_of(&stage.call("call_tool", &arguments));
    assert_eq!(told.trim_end(), hashed("list", "json", &payload));
    stage.end();
}

#[test]
fn the_summary_tells_the_form() {
    let mut stage = Stage::plain("");
    let text = text_of(&stage.call("one__records", &json!({ "count": 1_000 })));
    assert!(text.contains("Pass it to another tool as \"forebay://dataset/ID\"."), "{text}");
    stage.end();
}

#[test]
fn a_single_server_takes_references_by_the_schemas_it_has_listed() {
    let home = tempfile::tempdir().unwrap();
    let mut command = forebay(["wrap", "--grace", "0.2", "--"]);
    command.arg(programs::fixture_upstream()).arg("--receives").env("FOREBAY_HOME", home.path());
    let mut client = Client::start(Transport::Stdio, Era::Legacy, &mut command);
    let id = handle(&client.call("records", &json!({ "count": 1_000 }), json!({})));
    let payload = payload(home.path(), &id);
    let arguments = json!({ "list": format!("forebay://dataset/{id}") });
    // Nothing has been listed: a text stands for a text.
    let told = text_of(&client.call("receive", &arguments, json!({})));
    assert_eq!(told.trim_end(), hashed("list", "text", &payload));
    assert!(client.ask("tools/list", &json!({}))["result"]["tools"].is_array());
    let told = text_of(&client.call("receive", &arguments, json!({})));
    assert_eq!(told.trim_end(), hashed("list", "json", &payload));
    client.end();
}
