//! Random nested records go through the program: for every path that it names, SQL answers what an
//! independent computation in Python gives, and what is told of the path is true.
//!
//! The scripts are in `crates/testkit/peers/nested`; `check.py` says how to run more cases by hand.

use std::{fs, io::Write, process::Command};

use forebay_testkit::real;

use crate::home;

/// The seeds are the same in every run.
const CASES: &str = "1000";

#[test]
fn sql_answers_truly_for_every_path_that_is_told_of_nested_records() {
    let test = "sql_answers_truly_for_every_path_that_is_told_of_nested_records";
    let Some(report) = run(test, "check.py", &["--cases", CASES]) else { return };
    // How much was compared, and with which seeds.
    let last = report.lines().last().unwrap_or_default();
    let _ = writeln!(std::io::stderr(), "{last}");
}

#[test]
fn a_wrong_answer_about_nested_records_is_found() {
    run("a_wrong_answer_about_nested_records_is_found", "test_check.py", &[]);
}

/// What a script prints, which must succeed; `None` if there is no Python.
fn run(test: &str, script: &str, arguments: &[&str]) -> Option<String> {
    let python = real::python(test)?;
    let home = home().join("nested").join(script);
    let _ = fs::remove_dir_all(&home);
    let words = python.script(&format!("nested/{script}"));
    let output = Command::new(&words[0])
        // Scripts run where they lie; nothing is left beside them.
        .args(["-B", &words[1], env!("CARGO_BIN_EXE_forebay")])
        .arg(home)
        .args(arguments)
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let trouble = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}{trouble}");
    Some(report)
}
