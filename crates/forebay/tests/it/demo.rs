//! `forebay demo`, as somebody curious runs it.

use std::{collections::HashMap, fs, os::unix::fs::PermissionsExt, path::PathBuf};

use forebay_testkit::peer::Peer;
use serde_json::Value;

use crate::{forebay, home, text_of};

/// What the demo prints, with a folder of its own for temporary files.
fn demo(test: &str, arguments: &[&str]) -> (String, PathBuf) {
    let temporary = home().join(test);
    let _ = fs::remove_dir_all(&temporary);
    fs::create_dir_all(&temporary).unwrap();
    let mut command = forebay(["demo"]);
    command.args(arguments).env("TMPDIR", &temporary).env("RUST_LOG", "off");
    command.env("FOREBAY_HOME", temporary.join("untouched"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!temporary.join("untouched").exists(), "the user's own datasets are left alone");
    (String::from_utf8(output.stdout).unwrap(), temporary)
}

/// The tokens on the lines that begin with `how`.
fn tokens(shown: &str, how: &str) -> Vec<u64> {
    let lines = shown.lines().filter_map(|line| line.trim_start().strip_prefix(how));
    lines.map(|line| number(line.split(" tokens").next().unwrap())).collect()
}

/// The last word, as a number.
fn number(text: &str) -> u64 {
    text.split_whitespace().last().unwrap().replace(',', "").parse().unwrap()
}

/// What the demo's query gives, computed from what the server says.
fn revenue_by_country() -> Vec<String> {
    let mut server = Peer::start(&mut forebay(["demo-server"]));
    let mut ask = |tool: &str| text_of(&server.ask(&crate::call(1, tool, 0)));
    let customers = ask("export_customers");
    let country_of: HashMap<&str, &str> = customers
        .lines()
        .map(|line| (line.split(',').next().unwrap(), line.rsplit(',').nth(3).unwrap()))
        .collect();
    let orders: Value = serde_json::from_str(&ask("list_orders")).unwrap();
    let mut revenue: HashMap<&str, (u64, f64)> = HashMap::new();
    for order in orders["results"].as_array().unwrap() {
        if order["status"] == "delivered" {
            let country = country_of[order["customer_id"].to_string().as_str()];
            let (count, total) = revenue.entry(country).or_default();
            *count += 1;
            *total += order["total"].as_f64().unwrap();
        }
    }
    let mut rows: Vec<(&str, u64, f64)> =
        revenue.into_iter().map(|(country, (count, total))| (country, count, total)).collect();
    rows.sort_by(|one, other| other.2.total_cmp(&one.2));
    let rows = rows.into_iter().take(5);
    let lines = rows.map(|(country, count, total)| format!("{country},{count},{total:.0}"));
    std::iter::once("country,orders,revenue".to_owned()).chain(lines).collect()
}

#[test]
fn the_demo_shows_what_a_model_gets_and_leaves_nothing() {
    let (shown, temporary) = demo("demo", &[]);
    let (before, after) = (tokens(&shown, "on its own"), tokens(&shown, "with Forebay"));
    let untouched = tokens(&shown, "either way");
    assert_eq!((before.len(), after.len(), untouched.len()), (3, 3, 1), "{shown}");
    assert!(after.iter().all(|tokens| *tokens <= 600), "{shown}");

    let total = shown.lines().find(|line| line.contains(" tokens → ")).unwrap();
    let (total_before, rest) = total.split_once(" tokens → ").unwrap();
    let (total_after, _) = rest.split_once(':').unwrap();
    assert_eq!(number(total_before), before.iter().chain(&untouched).sum::<u64>(), "{shown}");
    assert_eq!(number(total_after), after.iter().chain(&untouched).sum::<u64>(), "{shown}");
    assert_eq!(shown.matches("Large response detected (").count(), 3, "{shown}");
    assert!(shown.contains("3 results read from the disk again"), "{shown}");
    let answer = shown.split("the answer ").nth(1).unwrap();
    let answer = answer.lines().filter_map(|line| line.trim_start().strip_prefix("│ "));
    assert_eq!(answer.collect::<Vec<_>>(), revenue_by_country(), "{shown}");

    assert!(!shown.contains('\u{1b}'), "no colours where there is no terminal");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert_eq!(fs::read_dir(temporary).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn what_the_demo_keeps_on_request_can_be_listed() {
    let (shown, temporary) = demo("demo_kept", &["--keep"]);
    let command = shown.lines().find_map(|line| line.trim().strip_prefix("FOREBAY_HOME="));
    let kept = command.unwrap().split(' ').next().unwrap();
    assert!(PathBuf::from(kept).starts_with(&temporary), "{shown}");
    let mode = fs::metadata(kept).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "and by nobody else");
    let list = forebay(["datasets", "list"]).env("FOREBAY_HOME", kept).output().unwrap();
    assert_eq!(String::from_utf8(list.stdout).unwrap().lines().count(), 1 + 3);
    let mut query = forebay(["query", "SELECT count(*) AS orders FROM list_orders"]);
    let found = query.env("FOREBAY_HOME", kept).output().unwrap();
    assert_eq!(String::from_utf8(found.stdout).unwrap(), "orders\n  5000\n");
}
