//! `forebay query`, `read`, `export` and `plot`, over what a wrapped server has given.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use forebay_store::{Durability, Filter, Store};
use forebay_testkit::peer::{Peer, eventually};
use serde_json::{Value, json};

use crate::{
    capture::{capturing, newest},
    forebay, home, text_of,
};

/// The demo's server behind Forebay, which keeps things in a home of its own.
fn shop(test: &str) -> (Peer, PathBuf) {
    let home = home().join(test);
    let _ = fs::remove_dir_all(&home);
    let mut command = forebay(["wrap", "--name", "shop", "--"]);
    command.arg(env!("CARGO_BIN_EXE_forebay")).arg("demo-server").env("FOREBAY_HOME", &home);
    (Peer::start(&mut command), home)
}

fn call(peer: &mut Peer, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    peer.ask(&call.to_string())
}

/// A home with the orders, the customers and the log of the shop. It is made once.
fn kept() -> &'static Path {
    static KEPT: OnceLock<PathBuf> = OnceLock::new();
    KEPT.get_or_init(|| {
        let (mut peer, home) = shop("asking");
        for tool in ["list_orders", "export_customers", "read_log"] {
            let said = text_of(&call(&mut peer, tool, &json!({})));
            assert!(said.starts_with("Large response detected"), "{said}");
        }
        peer.close_input();
        peer.wait();
        home
    })
}

/// The name of what a tool has given.
fn id_of(tool: &str) -> String {
    let store = Store::open(kept(), Durability::default()).unwrap();
    let filter = Filter { tool: Some(tool.to_owned()), ..Filter::default() };
    store.list(&filter).unwrap().remove(0).id.to_string()
}

/// What a command says, what it says on stderr, and its code.
fn said(arguments: &[&str]) -> (String, String, Option<i32>) {
    ended(forebay(arguments).env("FOREBAY_HOME", kept()))
}

fn ended(command: &mut Command) -> (String, String, Option<i32>) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// What a command says that has nothing to complain about.
fn fine(arguments: &[&str]) -> String {
    let (stdout, stderr, code) = said(arguments);
    assert_eq!((stderr.as_str(), code), ("", Some(0)), "{arguments:?}");
    stdout
}

/// Everything that is said, for a snapshot.
fn session(commands: &[&[&str]]) -> String {
    let shown = commands.iter().map(|arguments| {
        let (stdout, stderr, code) = said(arguments);
        let stderr = if stderr.is_empty() { stderr } else { format!("stderr: {stderr}") };
        format!("$ forebay {}\n{stdout}{stderr}=> {}\n", arguments.join(" "), code.unwrap())
    });
    let all = shown.collect::<Vec<_>>().join("\n");
    let names = [("list_orders", "ORDERS"), ("export_customers", "CUSTOMERS"), ("read_log", "LOG")];
    names.iter().fold(all, |all, (tool, name)| {
        let id = id_of(tool);
        all.replace(&id, &format!("dataset_{name}")).replace(&id[8..], name)
    })
}

#[test]
fn a_tools_name_can_be_read_exported_and_drawn() {
    let by_name = fine(&["read", "list_orders", "--limit", "3"]);
    assert_eq!(by_name, fine(&["read", &id_of("list_orders"), "--limit", "3"]));
    let rows = fine(&["query", "--dataset", "list_orders", "SELECT count(*) AS n FROM dataset"]);
    assert!(rows.contains("5000"), "{rows}");
    let (nothing, told, code) = said(&["read", "list_order"]);
    assert_eq!((nothing.as_str(), code), ("", Some(3)), "{told}");
    assert!(told.starts_with("forebay: list_order is neither a dataset nor a tool"), "{told}");
    let (_, told, code) = said(&["read", "dataset_zzzzzzzz"]);
    assert_eq!(code, Some(3), "{told}");
}

#[test]
fn a_query_gives_a_table_and_says_what_it_leaves_out() {
    let values = "SELECT NULL AS nothing, '' AS empty, 'null' AS word, 12345678901234567890 AS big, \
                  {'a': [1, NULL]} AS nested, 'two' || chr(10) || 'lines' || chr(27) || '[2J' AS odd";
    let asked = session(&[
        &[
            "query",
            "SELECT status, count(*) AS orders, sum(quantity) FROM list_orders GROUP BY 1 ORDER BY 2",
        ],
        &["query", "SELECT id, country FROM list_orders", "--limit", "3"],
        &["query", "FROM list_orders WHERE false"],
        &["query", values],
        &["query", "--dataset", &id_of("export_customers")[8..], "SELECT max(id) FROM dataset"],
        &["query", "SELECT stauts FROM list_orders"],
        &["query", "FROM nothing_of_that_name"],
        &["query", "FROM dataset"],
        &["query", "--dataset", "nonsense", "FROM dataset"],
        &["query", "DROP TABLE list_orders"],
    ]);
    insta::assert_snapshot!("query", asked);
    let all = fine(&["query", "SELECT id FROM list_orders ORDER BY id"]);
    assert_eq!(all.lines().filter(|line| line.parse::<u32>().is_ok()).count(), 100);
    assert!(all.contains("\nThe first 100 rows; `--limit` shows more"), "{all}");
}

#[test]
fn programs_get_all_rows_or_are_told_that_they_do_not() {
    let json =
        fine(&["query", "SELECT id, coupon, [id] AS ids FROM list_orders ORDER BY id", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(rows.len(), 5_000);
    assert_eq!(rows[7], json!({"id": 100_007, "coupon": rows[7]["coupon"], "ids": [100_007]}));
    let columns = "SELECT id, NULL AS a, '' AS b, [1, 2] AS c FROM list_orders ORDER BY id";
    let csv = fine(&["query", columns, "--csv"]);
    assert_eq!(csv.lines().count(), 5_001);
    assert!(csv.starts_with("id,a,b,c\n100000,,\"\",\"[1,2]\"\n"), "{}", &csv[..100]);

    let (csv, told, code) = said(&["query", "FROM list_orders", "--csv", "--limit", "7"]);
    assert_eq!((csv.lines().count(), code), (8, Some(0)));
    assert_eq!(told, "forebay: only the first 7 rows are given; `--limit` asks for more\n");
    assert_eq!(fine(&["query", "SELECT 1 AS a", "--csv", "--limit", "1"]), "a\n1\n");
    let mut limited = forebay(["query", "SELECT id FROM list_orders", "--json"]);
    let limited = limited.env("FOREBAY_HOME", kept()).env("FOREBAY_QUERY_MAX_ROWS", "2000");
    let (json, told, _) = ended(limited);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&json).unwrap().len(), 2_000);
    assert!(told.contains("only the first 2,000 rows"), "{told}");
}

#[test]
fn a_query_may_come_on_standard_input() {
    let mut command = forebay(["query", "-", "--csv"]);
    command.env("FOREBAY_HOME", kept()).stdout(Stdio::piped());
    let mut peer = Peer::start(&mut command);
    peer.send("SELECT count(*) AS orders");
    peer.send("FROM list_orders -- all of them");
    peer.close_input();
    assert_eq!((peer.next_line(), peer.next_line()), ("orders".to_owned(), "5000".to_owned()));
}

#[test]
fn records_and_texts_are_read_in_every_way() {
    let (orders, log) = (id_of("list_orders"), id_of("read_log"));
    let (orders, log) = (orders.as_str(), log.as_str());
    let read = session(&[
        &["read", &orders[8..], "--limit", "2"],
        &[
            "read", orders, "--fields", "total,id", "--sort", "-total", "--page", "2", "--limit",
            "3",
        ],
        &[
            "read",
            orders,
            "--fields",
            "id,status,coupon",
            "--filter",
            "status=refunded",
            "--filter",
            "coupon!=null",
            "--filter",
            "id>=101000",
            "--filter",
            "country~^(DE|AT)$",
        ],
        &["read", orders, "--filter", "id<100000"],
        &["read", log, "--limit", "2", "--offset", "3998"],
        &["read", log, "--lines", "7-8"],
        &["read", log, "--bytes", "0-23"],
        &["read", log, "--grep", "ERROR", "--limit", "2", "--context", "1"],
        &["read", log, "--grep", "no such thing"],
        &["read", orders, "--filter", "country"],
        &["read", orders, "--fields", "contry"],
        &["read", orders, "--filter", "id=many"],
        &["read", orders, "--lines", "1-2", "--fields", "id"],
        &["read", "dataset_zzzzzzzz"],
        &["read", &format!("{}_authors", &orders[8..])],
    ]);
    insta::assert_snapshot!("read", read);
}

#[test]
fn a_text_is_read_as_it_is_and_what_is_said_about_it_goes_elsewhere() {
    let (mut peer, store) = capturing("asking_text");
    peer.ask(&crate::call(1, "prose", 100_000));
    let dataset = newest(&store);
    let line = "It was the best of times, and so on.";
    let lines = fs::read_to_string(dataset.path(0)).unwrap().lines().count();
    let mut read = forebay(["read", dataset.id().as_str(), "--limit", "2"]);
    let total = format!("{},{:03}", lines / 1_000, lines % 1_000);
    let place = format!("forebay: lines 1 to 2 of {total}; `--page 2` goes on\n");
    let home = home().join("asking_text");
    let both = ended(read.env("FOREBAY_HOME", &home));
    assert_eq!(both, (format!("{line}\n{line}\n"), place, Some(0)));
    let mut fields = forebay(["read", dataset.id().as_str(), "--fields", "a"]);
    let (_, told, code) = ended(fields.env("FOREBAY_HOME", &home));
    assert!(told.contains("read it with --lines or --grep") && code == Some(4), "{told}");
}

#[test]
fn what_is_read_as_json_is_what_the_tool_replies() {
    let (mut peer, home) = shop("asking_same");
    call(&mut peer, "list_orders", &json!({}));
    let store = Store::open(&home, Durability::default()).unwrap();
    let id = store.list(&Filter::default()).unwrap().remove(0).id;
    let arguments = json!({"dataset_id": id.as_str(), "limit": 5, "sort": "-total",
        "fields": ["id", "total"], "filter": {"quantity": {"gte": "2"}}});
    let reply = text_of(&call(&mut peer, "read-saved-dataset", &arguments));
    let mut read = forebay(["read", id.as_str(), "--limit", "5", "--sort", "-total", "--json"]);
    read.args(["--fields", "id,total", "--filter", "quantity>=2"]).env("FOREBAY_HOME", &home);
    assert_eq!(ended(&mut read), (format!("{reply}\n"), String::new(), Some(0)));
}

#[test]
fn files_are_written_in_every_form_and_never_over_another() {
    let folder = home().join("asking_files");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let orders = id_of("list_orders");
    for name in ["a.csv", "a.parquet", "a.json", "a.ndjson", "a.xlsx"] {
        let said = fine(&["export", &orders, "--output", &file(name)]);
        let bytes = fs::metadata(file(name)).unwrap().len();
        assert!(said.starts_with(&format!("5,000 rows written to {} (", file(name))), "{said}");
        assert!(bytes > 10_000, "{name} has {bytes} bytes");
    }
    assert_eq!(fs::read_to_string(file("a.ndjson")).unwrap().lines().count(), 5_000);
    let (_, said_again, code) = said(&["export", &orders, "--output", &file("a.csv")]);
    let expected = format!("forebay: {} exists already: choose another name.\n", file("a.csv"));
    assert_eq!((said_again, code), (expected, Some(4)));
    let query = "SELECT country, count(*) AS orders FROM list_orders GROUP BY 1";
    let one = fine(&["export", "--query", query, "--format", "csv"]);
    let (_, path) = one.trim_end().split_once(" written to ").unwrap();
    let path = Path::new(path.rsplit_once(" (").unwrap().0);
    assert!(one.starts_with("8 rows") && path.starts_with(kept().join("datasets")), "{one}");
    assert!(fs::read_to_string(path).unwrap().starts_with("country,orders\n"));

    let plot = ["plot", "--query", query, "--chart", "bar", "--x", "country", "--y", "orders"];
    for (name, start) in [("a.svg", &b"<svg"[..]), ("a.png", b"\x89PNG")] {
        let output = file(name);
        let said = fine(&[&plot[..], &["--output", &output]].concat());
        assert_eq!(said, format!("8 rows drawn in {output}\n"));
        assert!(fs::read(&output).unwrap().starts_with(start));
        let (_, told, code) = self::said(&[&plot[..], &["--output", &output]].concat());
        assert!(told.contains("exists already") && code == Some(4), "{told}");
    }
    for entry in fs::read_dir(&folder).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "for its owner alone");
    }
    let streamed = fine(&["export", "--query", query, "--format", "csv", "--output", "-"]);
    assert!(
        streamed.starts_with("country,orders\n") && streamed.lines().count() == 9,
        "{streamed}"
    );
    let (_, told, code) = said(&["export", &orders, "--output", "-"]);
    assert!(told.contains("`--format`") && code == Some(2), "{told}");
    assert!(!Path::new("-").exists(), "no file is called so");
    let drawn = fine(&plot);
    assert!(drawn.trim_end().ends_with("_data.svg"), "{drawn}");
    for (mistake, expected) in [
        (&["export", &orders][..], 2),
        (&["export", "--format", "csv"], 2),
        (&["export", &orders, "--output", "/nowhere/a.csv"], 4),
        (&["export", &orders, "--output", "/proc/a.csv"], 4),
        (&["plot", &orders, "--chart", "line", "--x", "id", "--output", "/proc/a.svg"], 4),
        (&["export", "list_nothing", "--output", &file("b.csv")], 3),
        (&["plot", &orders, "--chart", "bar", "--x", "contry"], 4),
        (&["plot", &orders, "--chart", "pie", "--x", "country"], 2),
        (&["plot", &orders, "--chart", "bar", "--x", "country", "--output", "a.pdf"], 2),
    ] {
        let (stdout, told, code) = said(mistake);
        assert_eq!((stdout.as_str(), code), ("", Some(expected)), "{told}");
        assert_eq!(told.matches("forebay: ").count(), 1, "{told}");
        let is_raw =
            ["IO Error", ".export", ".chart", "os error"].iter().any(|it| told.contains(it));
        assert!(!is_raw, "{told}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 7, "nothing half-made is left");
}

#[test]
fn the_result_of_a_query_is_shown_with_it_and_has_no_original() {
    let (mut peer, home) = shop("asking_result");
    call(&mut peer, "list_orders", &json!({}));
    let query = "SELECT id, total\nFROM list_orders ORDER BY total DESC";
    call(&mut peer, "analyze-with-duckdb", &json!({"query": query}));
    peer.close_input();
    peer.wait();
    let store = Store::open(&home, Durability::default()).unwrap();
    let result = store.list(&Filter::default()).unwrap().remove(0).id;
    let id = result.as_str();
    let datasets =
        |action: &str| ended(forebay(["datasets", action, id]).env("FOREBAY_HOME", &home));
    let (shown, _, _) = datasets("show");
    let after_size = shown.split_once("\nRecords ").unwrap().1;
    let settled = after_size.replace(home.to_str().unwrap(), "HOME").replace(id, "dataset_ID");
    let day = store.dataset(&result).unwrap().metadata().timestamp.strftime("%Y/%m/%d").to_string();
    insta::assert_snapshot!("result", settled.replace(&day, "DAY"));
    let (nothing, told, code) = datasets("original");
    assert_eq!((nothing.as_str(), code), ("", Some(4)));
    assert!(told.contains("is the result of a query") && told.contains("forebay export"), "{told}");
    let (path, _, _) = datasets("path");
    assert!(fs::read(path.trim_end()).unwrap().starts_with(b"PAR1"), "{path}");
    let mut read = forebay(["read", id, "--limit", "1", "--fields", "id"]);
    assert!(ended(read.env("FOREBAY_HOME", &home)).0.starts_with("    id\n1"));
}

#[test]
fn an_interrupt_ends_a_query_and_leaves_nothing_behind() {
    let (mut peer, home) = shop("asking_interrupted");
    call(&mut peer, "list_orders", &json!({}));
    peer.close_input();
    peer.wait();
    let query = "SELECT count(*) FROM list_orders a, list_orders b, list_orders c, list_orders d \
                 WHERE a.total + b.total > c.total + d.total";
    let mut command = forebay(["query", query]);
    let mut asking = command
        .env("FOREBAY_HOME", &home)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let spill = home.join("spill");
    let has_worker = || fs::read_dir(&spill).is_ok_and(|mut found| found.next().is_some());
    eventually("a worker begins", has_worker);
    let id = asking.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(asking.wait().unwrap().code(), Some(130));
    let output = asking.wait_with_output().unwrap();
    assert_eq!((output.stdout, output.stderr), (Vec::new(), Vec::new()));
    eventually("the worker ends", || !has_worker());
}
