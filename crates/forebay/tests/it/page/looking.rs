//! What the pages show: the same as their twins, and the same as the commands.

use std::fmt::Write as _;

use serde_json::json;

use super::{Page, index, keep, keep_file};

#[test]
fn the_shelf_tells_datasets_apart_by_server_tool_day_and_size() {
    let page = Page::of(&[("records", 50), ("records", 400), ("nested", 60)]);
    let all = page.json("/shelf.json");
    assert_eq!((&all["total"], &all["fitting"]), (&json!(3), &json!(3)));
    assert_eq!(all["datasets"][0]["tool"], "nested", "the newest first");
    assert_eq!(page.json("/shelf.json?tool=records")["fitting"], 2);
    assert_eq!(page.json("/shelf.json?tool=records&server=another")["fitting"], 0);
    assert_eq!(page.json("/shelf.json?day=2001-01-01")["fitting"], 0);
    let day = all["datasets"][0]["timestamp"].as_str().unwrap()[..10].to_owned();
    assert!(page.json(&format!("/shelf.json?day={day}"))["fitting"].as_u64().unwrap() > 0);
    let largest = page.json("/shelf.json?sort=size")["datasets"][0]["bytes"].as_u64().unwrap();
    let bytes = all["datasets"].as_array().unwrap().iter().map(|it| it["bytes"].as_u64().unwrap());
    assert_eq!(Some(largest), bytes.max());
    assert_eq!(page.json(&format!("/shelf.json?min={largest}"))["fitting"], 1);
    let tools = all["facets"].as_array().unwrap().iter().find(|it| it["name"] == "tool").unwrap();
    let told = json!([
        {"value": "records", "datasets": 2, "is_chosen": false},
        {"value": "nested", "datasets": 1, "is_chosen": false},
    ]);
    assert_eq!(tools["values"], told);
    let shown = page.get("/shelf?tool=records").text;
    assert!(shown.contains("2 of 3 datasets") && shown.contains("tool: records"), "{shown}");
    assert_eq!(page.get("/shelf?day=nonsense").head.status, 400);
}

#[test]
fn what_the_model_got_stands_beside_the_original() {
    let home = tempfile::tempdir().unwrap();
    keep(home.path(), &[("records", 50)]);
    let page = Page::at(home);
    let id = page.ids().remove(0);
    let told = page.json(&format!("/dataset/{id}.json"));
    let summary = told["summary"].as_str().unwrap();
    assert!(summary.starts_with("Large response detected (51 records"), "{summary}");
    assert!(summary.contains(&id));
    let original = told["excerpt"]["lines"][0].as_str().unwrap();
    assert!(original.starts_with("[{\"id\":"), "{original}");
    let shown = page.get(&format!("/dataset/{id}")).text;
    assert!(shown.contains("Large response detected") && shown.contains("tokens kept out"));
    let whole = page.get(&format!("/dataset/{id}/file/0"));
    assert_eq!(whole.head.header("content-security-policy"), Some("sandbox; default-src 'none'"));
    let mut command = crate::forebay(["read", &id, "--bytes", "0-"]);
    let read = command.env("FOREBAY_HOME", page.home.path()).output().unwrap();
    assert_eq!(whole.text.trim(), String::from_utf8(read.stdout).unwrap().trim());
}

#[test]
fn rows_are_sorted_filtered_and_paged_and_inner_tables_too() {
    let page = Page::of(&[("records", 120), ("nested", 60)]);
    let ids = page.ids();
    let (nested, flat) = (&ids[0], &ids[1]);
    let rows = page.json(&format!("/dataset/{flat}/rows.json"));
    assert_eq!((&rows["total"], rows["rows"].as_array().unwrap().len()), (&json!(121), 50));
    let column = |rows: &serde_json::Value, name: &str| {
        let names = rows["columns"].as_array().unwrap();
        let at = names.iter().position(|it| it["name"] == name).unwrap();
        let before = rows["rows"][0].as_array().unwrap().len() - names.len();
        let cell = |row: &serde_json::Value| row[before + at].clone();
        rows["rows"].as_array().unwrap().iter().map(cell).collect::<Vec<_>>()
    };
    let down = page.json(&format!("/dataset/{flat}/rows.json?sort=-id&page=3"));
    let ids_down = column(&down, "id");
    assert_eq!(ids_down.len(), 21);
    assert!(ids_down[0].as_i64() > ids_down[1].as_i64(), "{ids_down:?}");
    // Those from 111 on, however the first record is numbered.
    let few = page.json(&format!("/dataset/{flat}/rows.json?where=gt:id=110"));
    assert_eq!(few["total"], 10);
    let form = page.get(&format!("/dataset/{flat}/rows?field=id&op=gt&value=110"));
    let place = form.head.header("location").unwrap();
    assert_eq!(form.head.status, 303);
    assert!(page.get(place).text.contains("of 10 rows"), "{place}");
    let sql = few["sql"].as_str().unwrap();
    let again = page.json(&format!("/dataset/{flat}/sql.json?sql={}", encoded(sql)));
    assert_eq!(again["result"]["rows"].as_array().unwrap().len(), 10, "{sql}");
    assert_eq!(page.get(&format!("/dataset/{flat}/rows?sort=nonsense")).head.status, 400);
    let tables = page.json(&format!("/dataset/{nested}.json"))["dataset"]["tables"].clone();
    let inner = tables[1]["suffix"].as_str().unwrap();
    let of_inner = page.json(&format!("/dataset/{nested}/rows.json?table={inner}"));
    assert_eq!(of_inner["total"], tables[1]["records"]);
    assert!(!of_inner["rows"].as_array().unwrap().is_empty());
}

#[test]
fn sql_charts_and_files_are_of_the_same_rows() {
    let page = Page::of(&[("records", 120)]);
    let id = page.ids().remove(0);
    let sql = encoded("SELECT status, count(*) AS n FROM dataset GROUP BY ALL ORDER BY ALL");
    let asked = page.json(&format!("/dataset/{id}/sql.json?sql={sql}&chart=bar&x=status&y=n"));
    assert!(asked["error"].is_null() && asked["chart"]["is_drawn"] == true, "{asked}");
    let total: u64 =
        asked["result"]["rows"].as_array().unwrap().iter().map(|it| it[1].as_u64().unwrap()).sum();
    assert_eq!(total, 121);
    let chart = page.get(asked["chart"]["address"].as_str().unwrap());
    assert_eq!(chart.head.header("content-type"), Some("image/svg+xml"));
    assert!(chart.text.starts_with("<svg"), "{}", &chart.text[..80]);
    let preset = r#"<option value="n" selected>n</option>"#;
    let before = page.get(&format!("/dataset/{id}/sql?sql={sql}")).text;
    assert!(before.contains(preset), "numbers are offered as y: {before}");
    let counted = page.get(&format!("/dataset/{id}/sql?sql={sql}&chart=bar&x=status&y=")).text;
    assert!(!counted.contains(preset), "what was chosen stays chosen");
    let csv = page.get(&format!("/dataset/{id}/export?form=csv&sql={sql}"));
    assert!(csv.text.starts_with("status,n\n"), "{}", csv.text);
    let saved = csv.head.header("content-disposition").unwrap();
    assert!(saved.starts_with("attachment; filename=\""), "{saved}");
    let whole = page.get(&format!("/dataset/{id}/export?form=ndjson"));
    assert_eq!(whole.text.lines().count(), 121);
    for refused in ["SELECT * FROM read_csv('/etc/passwd')", "DROP TABLE dataset", "SELEC 1"] {
        let answer = page.get(&format!("/dataset/{id}/sql.json?sql={}", encoded(refused)));
        assert_eq!(answer.head.status, 400, "{refused}: {}", answer.text);
        let asked: serde_json::Value = serde_json::from_str(&answer.text).unwrap();
        assert!(asked["error"].is_string() && asked["result"].is_null(), "{refused}: {asked}");
    }
    let fields = page.json(&format!("/dataset/{id}/fields.json"));
    let measured =
        fields["fields"].as_array().unwrap().iter().find(|it| it["name"] == "id").unwrap();
    let ranges: u64 =
        measured["ranges"].as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(ranges, 121, "every value lies in a range");
}

#[test]
fn calls_questions_and_costs_are_told() {
    let home = tempfile::tempdir().unwrap();
    let mut command = crate::wrapped_fixture();
    let mut peer = forebay_testkit::peer::Peer::start(
        command.env("FOREBAY_HOME", home.path()).env("FOREBAY_THRESHOLD", "100"),
    );
    peer.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    peer.ask(&crate::call(2, "echo", 0));
    let kept = crate::text_of(&peer.ask(&crate::call(3, "records", 90)));
    let id = kept.split_whitespace().find(|word| word.starts_with("dataset_")).unwrap();
    let id = id.trim_end_matches('.').to_owned();
    let sql = format!("SELECT max(id) FROM {id}");
    let ask = json!({"name": "analyze-with-duckdb", "arguments": {"query": sql}});
    let ask = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": ask});
    peer.ask(&ask.to_string());
    let by_tool = json!({"name": "analyze-with-duckdb", "arguments": {"query": "SELECT min(id) FROM records"}});
    let by_tool = json!({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": by_tool});
    peer.ask(&by_tool.to_string());
    let passed =
        json!({"name": "echo", "arguments": {"rows": format!("forebay://dataset/{id}?rows=0-1")}});
    let passed = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": passed});
    peer.ask(&passed.to_string());
    peer.close_input();
    peer.wait();
    let page = Page::at(home);
    let now = page.json("/now.json");
    let calls = now["calls"].as_array().unwrap();
    let told = |tool: &str| {
        let call = calls.iter().find(|call| call["tool"] == tool);
        let call = call.unwrap_or_else(|| panic!("{tool}: {calls:#?}"));
        (call["outcome"].as_str().unwrap().to_owned(), call["why"].as_str().unwrap().to_owned())
    };
    assert_eq!(told("echo"), ("passed".to_owned(), "short enough".to_owned()));
    assert_eq!(told("records"), ("kept".to_owned(), "too large for the model".to_owned()));
    let kept = calls.iter().find(|call| call["tool"] == "records").unwrap();
    assert_eq!(kept["dataset"], id.as_str());
    let asked = page.json(&format!("/dataset/{id}.json"))["asked"].clone();
    let asked: Vec<(&str, &str)> = asked
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["tool"].as_str().unwrap(), it["what"].as_str().unwrap()))
        .collect();
    let expected = [
        ("fixture.echo", &*format!("rows: forebay://dataset/{id}?rows=0-1")),
        ("analyze-with-duckdb", "SELECT min(id) FROM records"),
        ("analyze-with-duckdb", &sql),
    ];
    assert_eq!(asked, expected, "the last one first");
    let savings = page.json("/savings.json?price=3");
    let number = |name: &str| savings[name].as_i64().unwrap();
    assert!(number("reply_tokens") > 0 && number("definition_tokens") > 0, "{savings}");
    let net = number("captured_tokens")
        - number("summary_tokens")
        - number("reply_tokens")
        - number("definition_tokens");
    assert_eq!(number("net_tokens"), net);
    let money = savings["money"].as_f64().unwrap();
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    let expected = net as f64 * 3.0 / 1e6;
    assert!((money - expected).abs() < 1e-9);
    let stats =
        crate::forebay(["stats", "--json"]).env("FOREBAY_HOME", page.home.path()).output().unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&stats.stdout).unwrap();
    for figure in ["captured_tokens", "reply_tokens", "definition_tokens", "net_tokens"] {
        assert_eq!(stats["total"][figure], savings[figure], "{figure}");
    }
    assert_eq!(stats["total"]["given_tokens"], savings["summary_tokens"]);
    assert_eq!(now["today"]["net_tokens"], net, "all of it was today");
    let days = savings["by_day"].as_array().unwrap();
    assert_eq!((days.len(), &days[0]["net_tokens"]), (1, &json!(net)));
    let told = crate::forebay(["stats"]).env("FOREBAY_HOME", page.home.path()).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let sum = format!("= {net} net tokens kept out").replace('-', "−");
    assert!(told.replace(',', "").contains(&sum), "{told}");
}

#[test]
fn what_a_program_asks_is_told_and_what_it_replies_is_counted() {
    let home = tempfile::tempdir().unwrap();
    let mut command = crate::forebay(["wrap", "--tools", "full"]);
    command.env("FOREBAY_HOME", home.path()).env("FOREBAY_THRESHOLD", "100");
    command.arg("--").arg(forebay_testkit::programs::fixture_upstream());
    let mut peer = forebay_testkit::peer::Peer::start(&mut command);
    peer.ask(&crate::call(1, "records", 90));
    let mut run = |id: u32, code: &str| {
        let params = json!({"name": "run_code", "arguments": {"code": code}});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        crate::text_of(&peer.ask(&call.to_string()))
    };
    let short = "return (await datasets.query('SELECT count(*) AS n FROM records'))[0].n";
    assert_eq!(run(2, short), "91");
    let failing = "await datasets.read('records'); throw new Error('no more')";
    assert!(run(3, failing).contains("no more"));
    let long = "return (await datasets.read('records')).concat(await datasets.read('records'))";
    assert!(run(4, long).contains("Large response detected"));
    let refused = "await datasets.query('FROM dataset_22222222')";
    assert!(run(5, refused).contains("dataset_22222222"));
    peer.close_input();
    peer.wait();
    let page = Page::at(home);
    let kept = page.ids().pop().unwrap();
    let asked = page.json(&format!("/dataset/{kept}.json"))["asked"].clone();
    let asked: Vec<(&str, &str)> = asked
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["tool"].as_str().unwrap(), it["what"].as_str().unwrap()))
        .collect();
    let expected = [("run_code", long), ("run_code", failing), ("run_code", short)];
    assert_eq!(asked, expected, "each once, the last one first");
    let tallies = page.store().tallies(None).unwrap();
    let replies = tallies.iter().find(|it| it.subject == "run_code").expect("counted replies");
    let summary = page.json(&format!("/dataset/{}.json", page.ids()[0]))["summary_tokens"].clone();
    // What was kept has a summary in its place, which is taken off as one; the other three are replies.
    assert!(summary.as_u64().unwrap() > 200, "{summary}");
    assert!((30..300).contains(&replies.count), "{replies:?}");
    assert_eq!(page.json("/savings.json")["reply_tokens"], replies.count);
}

#[test]
fn settings_servers_and_findings_are_told_without_secrets() {
    let home = tempfile::tempdir().unwrap();
    keep(home.path(), &[("records", 50)]);
    let settings = "threshold = 4321\n[servers.git]\ncommand = \"uvx\"\nargs = [\"--api-key\", \"hunter2\", \"--password=hunter2\", \"postgresql://a:hunter2@db/x\"]\nenv = { KEY = \"hunter2\" }\n\
                    [servers.web]\nurl = \"https://u:hunter2@example.com/mcp?key=hunter2\"\n\
                    [servers.lame]\ncommand = \"x\"\nargs = [\"${env:NOT_THERE}\"]\n";
    std::fs::write(home.path().join("forebay.toml"), settings).unwrap();
    let page = Page::at(home);
    let held = page.json("/settings.json");
    let threshold = held["settings"].as_array().unwrap().iter().find(|it| it["key"] == "threshold");
    assert_eq!(threshold.unwrap()["value"], "4321");
    let servers = page.json("/servers.json");
    let names: Vec<&str> = servers["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[..2], ["git", "web"]);
    assert!(names.contains(&"fixture"), "known from what passed: {names:?}");
    for path in ["/settings", "/settings.json", "/servers", "/servers.json", "/doctor", "/"] {
        let text = page.get(path).text;
        assert!(!text.contains("hunter2"), "{path}");
    }
    assert!(page.get("/servers").text.contains("uvx --api-key *** --password=***"));
    for command in [&["servers"][..], &["config"], &["config", "--json"]] {
        let said = crate::forebay(command.iter()).env("FOREBAY_HOME", page.home.path()).output();
        let said = String::from_utf8(said.unwrap().stdout).unwrap();
        assert!(said.contains("--api-key") && !said.contains("hunter2"), "{command:?}: {said}");
    }
    assert_eq!(page.post("/servers", "restart=git").head.status, 400, "they do not run here");
    let findings = page.json("/doctor.json")["findings"].to_string();
    assert!(
        findings.contains("all are whole.") && findings.contains("answers queries"),
        "{findings}"
    );
}

#[test]
fn a_result_full_of_markup_stays_text() {
    let home = tempfile::tempdir().unwrap();
    let hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>";
    let rows: Vec<_> =
        (0..40).map(|id| json!({"id": id, hostile: hostile, "b": hostile})).collect();
    keep_file(home.path(), &serde_json::to_string(&rows).unwrap());
    let page = Page::at(home);
    let id = page.ids().remove(0);
    page.post(&format!("/dataset/{id}/tag"), "tag=fine");
    let sql = encoded("SELECT * FROM dataset");
    let query = encoded(hostile);
    let paths = [
        format!("/dataset/{id}"),
        format!("/dataset/{id}/rows?where=eq:b={query}"),
        format!("/dataset/{id}/fields"),
        format!("/dataset/{id}/original"),
        format!("/dataset/{id}/sql?sql={sql}"),
        format!("/dataset/{id}/sql?sql={query}"),
        format!("/shelf?q={query}"),
        format!("/shelf?tool={query}&tag={query}&server={query}"),
        format!("/dataset/{query}"),
        "/shelf".to_owned(),
        "/".to_owned(),
    ];
    for path in paths {
        let text = page.get(&path).text;
        assert!(!text.contains("<script>") && !text.contains("<img src=x"), "{path}: {text}");
    }
    let shown = page.get(&format!("/dataset/{id}/rows")).text;
    assert!(shown.contains("&#60;script&#62;") || shown.contains("&lt;script&gt;"), "{shown}");
}

/// A text as it stands in an address.
pub(super) fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        let _ = write!(all, "%{byte:02X}");
        all
    })
}

#[test]
fn a_page_deep_in_an_order_is_what_the_order_says() {
    let page = Page::of(&[("records", 12_000)]);
    let id = page.ids().remove(0);
    let rows = page.json(&format!("/dataset/{id}/rows.json?sort=-id&page=239&limit=50"));
    let names = rows["columns"].as_array().unwrap();
    let at = names.iter().position(|it| it["name"] == "id").unwrap();
    let before = rows["rows"][0].as_array().unwrap().len() - names.len();
    let cells = rows["rows"].as_array().unwrap().iter();
    let ids: Vec<u64> = cells.map(|row| row[before + at].as_u64().unwrap()).collect();
    // 12,001 records, of which one is numbered as another is: the last pages hold the least numbers.
    assert_eq!(ids.len(), 50);
    assert!(ids.windows(2).all(|pair| pair[0] >= pair[1]), "{ids:?}");
    assert!((100..=101).contains(&ids[0]), "{ids:?}");
}

#[test]
fn what_is_not_understood_is_refused() {
    let page = Page::of(&[("records", 60)]);
    let id = page.ids().remove(0);
    let rows = format!("/dataset/{id}/rows");
    let refused = [
        format!("{rows}?where=garbage"),
        format!("{rows}?where=eq:id"),
        format!("{rows}?page=abc"),
        format!("{rows}?page=-1"),
        format!("{rows}?limit=many"),
        format!("/dataset/{id}/original?from=x"),
        "/shelf?min=abc".to_owned(),
        "/shelf?page=0".to_owned(),
        "/shelf?sort=colour".to_owned(),
        "/savings?price=abc".to_owned(),
        "/savings?days=x".to_owned(),
    ];
    for path in refused {
        let answer = page.get(&path);
        assert_eq!(answer.head.status, 400, "{path}: {}", answer.text);
    }
    assert_eq!(page.json(&format!("{rows}.json?where=is_null:id"))["total"], 0);
    let of_value = page.get(&format!("{rows}?where=eq:id=abc"));
    assert_eq!(of_value.head.status, 400);
    assert!(
        of_value.text.contains("The field id holds whole numbers; abc is none"),
        "{}",
        of_value.text
    );
    assert!(!of_value.text.contains("Conversion Error"), "{}", of_value.text);
    assert!(of_value.text.contains("value=\"abc\"") && of_value.text.contains("Add filter"));
}

#[test]
fn facets_and_pages_of_the_shelf_tell_what_would_be_listed() {
    let home = tempfile::tempdir().unwrap();
    // Whether an embedder answers in time is a matter of how busy the machine is.
    std::fs::write(home.path().join("forebay.toml"), "[search]\nembedder = \"none\"\n").unwrap();
    keep(home.path(), &[("records", 50), ("records", 60), ("nested", 60)]);
    index(home.path());
    let page = Page::at(home);
    let ids = page.ids();
    page.post(&format!("/dataset/{}/tag", ids[1]), "tag=late");
    let tagged = page.json("/shelf.json?tag=late");
    let facet = |shelf: &serde_json::Value, name: &str| {
        let mut facets = shelf["facets"].as_array().unwrap().iter();
        facets.find(|it| it["name"] == name).map_or(json!([]), |it| it["values"].clone())
    };
    assert_eq!(tagged["fitting"], 1);
    let tools = facet(&tagged, "tool");
    assert_eq!((tools.as_array().unwrap().len(), &tools[0]["datasets"]), (1, &json!(1)));
    let days = facet(&tagged, "day");
    assert_eq!(days[0]["datasets"], 1);
    assert_eq!(facet(&tagged, "tag")[0]["is_chosen"], true);
    let behind = page.get("/shelf?page=99").text;
    assert!(behind.contains("There is no page 99: 3 datasets on 1 page."), "{behind}");
    assert!(!behind.contains("Nothing that fits"), "{behind}");
    let found = page.json("/shelf.json?q=records");
    let listed = found["datasets"].as_array().unwrap().len();
    let counted: u64 = facet(&found, "tool")
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["datasets"].as_u64().unwrap())
        .sum();
    assert_eq!(counted, listed as u64, "the facets are of what is found");
    assert!(listed > 0 && found["order"] == "words", "{found}");
    let shown = page.get("/shelf?q=records").text;
    let order = "<b>how well the words fit</b>";
    assert!(shown.contains(order) && !shown.contains("<b>time</b>"), "{shown}");
}

#[test]
fn the_lines_of_a_text_are_counted() {
    let home = tempfile::tempdir().unwrap();
    let line = |number| format!("Nobody has put what is said in line {number} into columns.\n");
    keep_file(home.path(), &(0..80).map(line).collect::<String>());
    let page = Page::at(home);
    let id = page.ids().remove(0);
    let rows = page.json(&format!("/dataset/{id}/rows.json"));
    let shown = rows["rows"].as_array().unwrap().len() as u64;
    assert!(shown > 0 && rows["total"].as_u64().unwrap() >= shown, "{rows}");
}

#[test]
fn very_wide_tables_are_shown_in_parts() {
    let home = tempfile::tempdir().unwrap();
    let row = |row: u64| {
        let members = (0..250).map(|column| format!("\"c{column}\":{}", row * column));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    let rows: Vec<String> = (0..20).map(row).collect();
    keep_file(home.path(), &format!("[{}]", rows.join(",")));
    let page = Page::at(home);
    let id = page.ids().remove(0);
    let first = page.json(&format!("/dataset/{id}/rows.json"));
    assert_eq!(
        (first["columns"].as_array().unwrap().len(), &first["column_count"]),
        (100, &json!(250))
    );
    let last = page.json(&format!("/dataset/{id}/rows.json?columns=201&sort=-c1"));
    assert_eq!(
        (last["columns"].as_array().unwrap().len(), &last["columns"][0]["name"]),
        (50, &json!("c200"))
    );
    let shown = page.get(&format!("/dataset/{id}/rows")).text;
    assert!(shown.contains("Columns 1–100 of 250 columns"), "{shown}");
    let fields = page.json(&format!("/dataset/{id}/fields.json?page=3"));
    assert_eq!((fields["fields"].as_array().unwrap().len(), &fields["total"]), (50, &json!(250)));
    assert_eq!(page.get(&format!("/dataset/{id}/fields?page=4")).head.status, 400);
}

#[test]
fn what_cannot_be_seen_in_values_is_shown() {
    let home = tempfile::tempdir().unwrap();
    let rows: Vec<_> = (0..30)
        .map(|id| json!({"id": id, "a": "x\u{202e}gpj", "": "", "a.b": 1, "a_b": 2}))
        .collect();
    keep_file(home.path(), &serde_json::to_string(&rows).unwrap());
    let page = Page::at(home);
    let id = page.ids().remove(0);
    for path in [format!("/dataset/{id}/rows"), format!("/dataset/{id}/fields")] {
        let shown = page.get(&path).text;
        assert!(shown.contains("⟨U+202E⟩") && !shown.contains('\u{202e}'), "{path}: {shown}");
        assert!(shown.contains("“empty”"), "{path}: {shown}");
    }
    let rows = page.get(&format!("/dataset/{id}/rows")).text;
    assert!(rows.contains("<td class=\"text void\">"), "{rows}");
}

#[test]
fn a_query_ends_when_whoever_asked_has_left() {
    let home = tempfile::tempdir().unwrap();
    keep(home.path(), &[("records", 50)]);
    std::fs::write(home.path().join("forebay.toml"), "[query]\ntime_limit = 100\n").unwrap();
    let page = Page::at(home);
    let id = page.ids().remove(0);
    let endless = "SELECT sum(a.range * b.range) FROM range(9000000) a, range(9000000) b";
    let (cookie, address) = (page.cookie(), page.address);
    // More than are worked on at a time, for longer than anybody waits here.
    for _ in 0..6 {
        let mut connection = forebay_testkit::http::Connection::open(address);
        let request = format!(
            "GET /dataset/{id}/sql?sql={} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n",
            encoded(endless)
        );
        connection.send_bytes(request.as_bytes());
    }
    let asked = page.json(&format!("/dataset/{id}/sql.json?sql={}", encoded("SELECT 6 * 7")));
    assert_eq!(asked["result"]["rows"], json!([[42]]), "{asked}");
}
