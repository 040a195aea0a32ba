//! What was kept, as resources: beside those of the upstream, on every transport and in both eras.

use std::process::Command;

use forebay_store::{Description, Durability, Store};
use forebay_testkit::{
    http::{Era, HttpPeer},
    programs,
};
use serde_json::{Value, json};

use crate::{
    forebay,
    transports::{Client, Transport, handle},
};

#[test]
fn resources_on_stdio_legacy() {
    on_every_upstream(Transport::Stdio, Era::Legacy);
}

#[test]
fn resources_on_stdio_modern() {
    on_every_upstream(Transport::Stdio, Era::Modern);
}

#[test]
fn resources_over_http_legacy() {
    on_every_upstream(Transport::Http, Era::Legacy);
}

#[test]
fn resources_over_http_modern() {
    on_every_upstream(Transport::Http, Era::Modern);
}

fn on_every_upstream(from: Transport, era: Era) {
    for to in [Transport::Stdio, Transport::Http] {
        for has_resources in [true, false] {
            let mut stage = Stage::new(from, to, era, has_resources, &[]);
            stage.lists_and_reads(has_resources);
            stage.client.end();
        }
    }
}

/// A fixture, Forebay in front of it, and a client.
struct Stage {
    client: Client,
    home: tempfile::TempDir,
    _remote: Option<HttpPeer>,
}

impl Stage {
    fn new(
        from: Transport,
        to: Transport,
        era: Era,
        has_resources: bool,
        options: &[&str],
    ) -> Self {
        let home = tempfile::tempdir().unwrap();
        let rich = if has_resources { &["--rich"][..] } else { &[] };
        let mut fixture = Command::new(programs::fixture_upstream());
        fixture.args(["--http", "127.0.0.1:0"]).args(rich).env("FIXTURE", "one");
        let remote = matches!(to, Transport::Http).then(|| HttpPeer::start(&mut fixture));
        let mut command = forebay(match from {
            Transport::Stdio => vec!["wrap", "--grace", "0.2"],
            Transport::Http => vec!["serve", "--listen", "127.0.0.1:0", "--grace", "2"],
        });
        command.env("FOREBAY_HOME", home.path()).env("FIXTURE", "one").args(options);
        match &remote {
            Some(remote) => command.args(["--url", &remote.url()]),
            None => command.arg("--").arg(programs::fixture_upstream()).args(rich),
        };
        let mut client = Client::start(from, era, &mut command);
        if era == Era::Modern {
            let found = client.ask("server/discover", &json!({}));
            assert!(found["result"]["capabilities"]["resources"].is_object(), "{found}");
        }
        Self { client, home, _remote: remote }
    }

    fn list(&mut self) -> Vec<Value> {
        let answer = self.client.ask("resources/list", &json!({}));
        answer["result"]["resources"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    fn read(&mut self, uri: &str) -> Value {
        self.client.ask("resources/read", &json!({ "uri": uri }))
    }

    fn text(&mut self, uri: &str) -> String {
        let answer = self.read(uri);
        let content = &answer["result"]["contents"][0];
        assert_eq!(content["uri"], uri, "{}", answer["error"]);
        content["text"].as_str().unwrap_or_else(|| panic!("{}", answer["error"])).to_owned()
    }

    fn error(&mut self, uri: &str) -> String {
        let answer = self.read(uri);
        answer["error"]["message"].as_str().expect("an error").to_owned()
    }

    fn lists_and_reads(&mut self, has_resources: bool) {
        let theirs = if has_resources { &["note://one"][..] } else { &[] };
        let uris = |list: &[Value]| -> Vec<String> {
            list.iter().map(|it| it["uri"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(uris(&self.list()), theirs, "nothing has been kept");
        let first = handle(&self.client.call("records", &json!({ "count": 3_000 }), json!({})));
        let second = handle(&self.client.call("records", &json!({ "count": 2_000 }), json!({})));
        let list = self.list();
        let ours = [&second, &first].map(|id| format!("forebay://dataset/{id}?block=0"));
        let theirs = theirs.iter().map(|it| (*it).to_owned());
        assert_eq!(uris(&list), theirs.chain(ours.clone()).collect::<Vec<_>>(), "newest first");
        let listed = list.last().unwrap();
        assert_eq!(listed["mimeType"], "application/json");
        assert!(listed["title"].as_str().unwrap().contains("3001 records"), "{listed}");

        let templates = self.client.ask("resources/templates/list", &json!({}));
        let templates = templates["result"]["resourceTemplates"].as_array().unwrap();
        assert_eq!(templates.len(), 1 + usize::from(has_resources), "{templates:?}");

        let whole = self.text(&ours[1]);
        assert_eq!(whole.len() as u64, listed["size"].as_u64().unwrap());
        let records: Vec<Value> = serde_json::from_str(&whole).unwrap();
        assert_eq!(records.len(), 3_001);
        let part = self.text(&format!("{}&bytes=10-29", ours[1]));
        assert_eq!(part, whole[10..30]);
        assert_eq!(
            self.text(&format!("forebay://dataset/{first}?bytes=-5")),
            whole[whole.len() - 5..]
        );

        let message = self.error(&format!("{}&bytes=9-1", ours[1]));
        assert!(message.contains("write bytes=FROM-TO"), "{message}");
        let message = self.error(&format!("{}&rows=1-2", ours[1]));
        assert!(message.contains("A resource has no rows"), "{message}");
        let message = self.error(&format!("forebay://dataset/{first}?block=7"));
        assert!(message.contains("has no block 7: it has 1 block"), "{message}");
        let message = self.error(&format!("forebay://dataset/{first}?block=-1"));
        assert!(message.contains("with one block, counted from 0"), "{message}");
        let message = self.error("forebay://dataset/dataset_22222222");
        assert!(message.contains("There is no dataset dataset_22222222"), "{message}");
        if has_resources {
            assert_eq!(self.text("note://one"), "note://one as one has it");
        }
    }
}

#[test]
fn a_list_that_is_long_has_pages_and_is_not_disturbed_by_what_comes_meanwhile() {
    let mut stage = Stage::new(Transport::Stdio, Transport::Stdio, Era::Legacy, true, &[]);
    for _ in 0..103 {
        stage.client.call("records", &json!({ "count": 400 }), json!({}));
    }
    let first = stage.client.ask("resources/list", &json!({}))["result"].clone();
    assert_eq!(first["resources"].as_array().unwrap().len(), 101, "a page, behind the other's");
    stage.client.call("records", &json!({ "count": 400 }), json!({}));
    let rest = stage.client.ask("resources/list", &json!({ "cursor": first["nextCursor"] }));
    let rest = &rest["result"];
    assert_eq!(rest["resources"].as_array().unwrap().len(), 3, "{rest}");
    assert!(rest.get("nextCursor").is_none(), "{rest}");
    let all = [&first, rest].map(|page| page["resources"].as_array().unwrap().clone()).concat();
    let uris: std::collections::HashSet<_> = all.iter().map(|it| it["uri"].to_string()).collect();
    assert_eq!(uris.len(), 104, "each once");
    stage.client.end();
}

#[test]
fn whoever_has_listed_is_told_of_more() {
    let mut stage = Stage::new(Transport::Stdio, Transport::Stdio, Era::Legacy, false, &[]);
    stage.client.call("records", &json!({ "count": 400 }), json!({}));
    assert!(changes(&mut stage.client).is_empty(), "nobody has listed");
    stage.list();
    stage.client.call("records", &json!({ "count": 400 }), json!({}));
    let mut told = Vec::new();
    // It is told beside the answer, which may come first.
    while told.is_empty() {
        stage.client.ask("ping", &json!({}));
        told = changes(&mut stage.client);
    }
    assert_eq!(told.len(), 1);
    stage.client.end();
}

fn changes(client: &mut Client) -> Vec<Value> {
    let mut told = client.told();
    told.retain(|it| it["method"] == "notifications/resources/list_changed");
    told
}

#[test]
fn what_is_too_long_is_read_in_parts() {
    let options = ["--threshold", "100"];
    let mut stage = Stage::new(Transport::Stdio, Transport::Stdio, Era::Legacy, false, &options);
    let id = handle(&stage.client.call("bytes", &json!({ "count": 14_000_000 }), json!({})));
    let uri = format!("forebay://dataset/{id}?block=0");
    let message = stage.error(&uri);
    let part = format!("{uri}&bytes=0-9999999");
    assert!(message.contains("more than are read at once (10000000)"), "{message}");
    assert!(message.contains(&part), "{message}");
    assert_eq!(stage.text(&part).len(), 10_000_000);
    stage.client.end();
}

#[test]
fn without_tools_what_was_kept_is_read_and_not_listed() {
    let options = ["--tools", "none"];
    let mut stage = Stage::new(Transport::Stdio, Transport::Stdio, Era::Legacy, true, &options);
    let id = handle(&stage.client.call("records", &json!({ "count": 400 }), json!({})));
    assert_eq!(stage.list().len(), 1, "the server's own");
    let text = stage.text(&format!("forebay://dataset/{id}"));
    assert_eq!(serde_json::from_str::<Vec<Value>>(&text).unwrap().len(), 401);
    stage.client.end();
}

#[test]
fn a_part_of_what_is_damaged_elsewhere_is_not_given() {
    let mut stage = Stage::new(Transport::Stdio, Transport::Stdio, Era::Legacy, false, &[]);
    let id = handle(&stage.client.call("records", &json!({ "count": 3_000 }), json!({})));
    let uri = format!("forebay://dataset/{id}?block=0&bytes=0-9");
    assert_eq!(stage.text(&uri).len(), 10);
    let mut command = forebay(["datasets", "path", &id]);
    let path = command.env("FOREBAY_HOME", stage.home.path()).output().unwrap().stdout;
    let path = String::from_utf8(path).unwrap();
    let mut bytes = std::fs::read(path.trim()).unwrap();
    bytes[50_000] ^= 1;
    std::fs::write(path.trim(), bytes).unwrap();
    let message = stage.error(&uri);
    assert!(!message.is_empty());
    stage.client.end();
}

#[test]
fn what_a_url_leads_to_is_read_in_parts_too() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("forebay.toml"), "[resources]\nmax_bytes = 10000\n").unwrap();
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0", "--grace", "2", "--"]);
    command.arg(programs::fixture_upstream()).env("FOREBAY_HOME", home.path());
    let client = Client::start(Transport::Http, Era::Legacy, &mut command);
    let mut stage = Stage { client, home, _remote: None };
    let kept = stage.client.call("records", &json!({ "count": 3_000 }), json!({}));
    let blocks = kept["result"]["content"].as_array().unwrap();
    let link = blocks.iter().find(|block| block["type"] == "resource_link").unwrap();
    let url = link["uri"].as_str().unwrap();
    assert!(url.starts_with("http://"), "{url}");
    let message = stage.error(url);
    let part = format!("{url}?bytes=0-9999");
    assert!(message.contains(&part), "{message}");
    let text = stage.text(&part);
    assert_eq!(text.len(), 10_000);
    assert_eq!(stage.text(&format!("{url}?bytes=100-199")), text[100..200]);
    let message = stage.error(&format!("{url}?bytes=1-10001"));
    assert!(message.contains(&part), "{message}");
    stage.client.end();
}

#[test]
fn a_forebay_behind_this_one_lists_all_of_its_own() {
    let (outer, inner) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let settings = "scope = \"all\"\n";
    for home in [&outer, &inner] {
        std::fs::write(home.path().join("forebay.toml"), settings).unwrap();
    }
    let kept = |home: &tempfile::TempDir, payloads: usize| {
        let store = Store::open(home.path(), Durability::default()).unwrap();
        let mut capture = store.capture().unwrap();
        for number in 0..payloads {
            let part = capture.start_part("txt").unwrap();
            std::io::Write::write_all(part, number.to_string().as_bytes()).unwrap();
        }
        capture.commit(Description::default()).unwrap();
    };
    kept(&inner, 150);
    kept(&outer, 120);
    let mut command = forebay(["wrap", "--grace", "0.5", "--", "env"]);
    command.env("FOREBAY_HOME", outer.path());
    command.arg(format!("FOREBAY_HOME={}", inner.path().display()));
    command.args([env!("CARGO_BIN_EXE_forebay"), "wrap", "--grace", "0.2", "--"]);
    let client = Client::start(
        Transport::Stdio,
        Era::Legacy,
        command.arg(programs::fixture_upstream()).arg("--rich"),
    );
    let mut stage = Stage { client, home: outer, _remote: None };
    let (mut sizes, mut uris) = (Vec::new(), std::collections::HashSet::new());
    let mut params = json!({});
    loop {
        let page = stage.client.ask("resources/list", &params)["result"].clone();
        let listed = page["resources"].as_array().unwrap_or_else(|| panic!("{page}"));
        sizes.push(listed.len());
        uris.extend(listed.iter().map(|it| it["uri"].to_string()));
        if page["nextCursor"].is_null() {
            break;
        }
        params = json!({ "cursor": page["nextCursor"] });
    }
    assert_eq!(sizes, [101, 150, 20], "the server's and the inner one's first, then ours");
    assert_eq!(uris.len(), 271, "each once");
    stage.client.end();
}
