//! `forebay demo`, as somebody curious runs it.

use std::{fs, path::PathBuf};

use crate::{forebay, home};

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
    let list = forebay(["datasets", "list"]).env("FOREBAY_HOME", kept).output().unwrap();
    assert_eq!(String::from_utf8(list.stdout).unwrap().lines().count(), 1 + 3);
}
