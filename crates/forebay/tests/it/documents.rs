//! Documents that are made from the code, and facts that the documents state about it.

mod circles;
mod system;

use std::{collections::BTreeSet, fmt::Write as _, fs, path::PathBuf, process::Command};

use crate::forebay;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a generated document with the one in the repository, or writes it if `FOREBAY_BLESS` is
/// set.
pub(crate) fn is_current(path: &str, generated: &str) {
    let file = repository().join(path);
    if std::env::var_os("FOREBAY_BLESS").is_some() {
        fs::write(&file, generated).unwrap();
    }
    let present = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        present == generated,
        "{path} is stale: run the tests once with FOREBAY_BLESS=1 and commit it"
    );
}

#[test]
fn the_command_line_reference_is_current() {
    let mut reference = "# The command line\n\n\
                         Made from the program's own help; a test fails when it is stale.\n"
        .to_owned();
    add_help(&mut reference, &[]);
    is_current("docs/cli.md", &reference);
}

/// Adds the help of a command, then that of all below it, as the program lists them.
fn add_help(reference: &mut String, command: &[&str]) {
    let output =
        forebay(command.iter().copied().chain(["--help"])).env("COLUMNS", "100").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let help = text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let name = [&["forebay"], command].concat().join(" ");
    let level = if command.len() > 1 { "###" } else { "##" };
    write!(reference, "\n{level} `{name}`\n\n```text\n{help}\n```\n").unwrap();
    let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default().split("\n\n").next();
    // What stands two columns in is a name; deeper lies what goes on from the line before.
    let names = listed.unwrap_or_default().lines().filter_map(|line| {
        let name = line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?;
        name.split(' ').next().filter(|name| *name != "help")
    });
    for name in names {
        add_help(reference, &[command, &[name]].concat());
    }
}

#[test]
fn the_reference_has_every_command() {
    let page = fs::read_to_string(repository().join("docs/cli.md")).unwrap();
    for command in ["wrap", "auth login", "auth logout", "datasets list", "datasets gc", "config"] {
        assert!(page.contains(&format!("# `forebay {command}`")), "{command}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= 110), "help is wrapped");
}

#[test]
fn what_the_tests_need_they_fetch() {
    let made = fs::read_to_string(repository().join("crates/testkit/peers/corpus/items.json"));
    assert!(!made.unwrap().contains("--offline"), "on a new machine nothing is there yet");
}

#[test]
fn the_reference_of_settings_is_current() {
    let printed = |arguments: &[&str]| {
        String::from_utf8(forebay(arguments).output().unwrap().stdout).unwrap()
    };
    is_current("docs/configuration.md", &printed(&["config", "--reference"]));
    is_current("docs/forebay.schema.json", &printed(&["config", "--schema"]));
}

#[test]
fn crates_depend_only_on_those_below_them() {
    let allowed = [
        ("chart", vec![]),
        ("clients", vec!["system", "text"]),
        ("embed", vec!["services", "system", "worker"]),
        (
            "forebay",
            vec![
                "clients",
                "embed",
                "insight",
                "intercept",
                "page",
                "proxy",
                "query",
                "records",
                "sandbox",
                "search",
                "services",
                "store",
                "system",
                "text",
                "tools",
            ],
        ),
        ("insight", vec!["embed", "intercept", "proxy", "records", "services", "store", "text"]),
        ("intercept", vec!["proxy", "records", "store", "text", "wire"]),
        ("page", vec!["proxy", "query", "store", "text", "tokens", "tools"]),
        ("proxy", vec!["system", "wire"]),
        ("query", vec!["records", "store", "system", "text", "worker"]),
        ("records", vec!["store", "text", "tokens", "wire"]),
        ("sandbox", vec!["system", "worker"]),
        ("search", vec!["embed", "records", "services", "store", "system", "text", "wire"]),
        ("services", vec![]),
        ("store", vec!["system"]),
        ("system", vec![]),
        ("testkit", vec!["wire"]),
        ("text", vec![]),
        ("tokens", vec![]),
        (
            "tools",
            vec![
                "chart",
                "intercept",
                "proxy",
                "query",
                "records",
                "sandbox",
                "search",
                "store",
                "system",
                "text",
                "wire",
            ],
        ),
        ("wire", vec![]),
        ("worker", vec!["system"]),
    ];
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let directory = entry.unwrap().path();
        let name = directory.file_name().unwrap().to_str().unwrap().to_owned();
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        let section = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let section = section.split("\n[").next().unwrap_or_default();
        let ours: BTreeSet<&str> = section
            .lines()
            .filter_map(|line| line.strip_prefix("forebay-")?.split(['.', ' ']).next())
            .collect();
        let expected = allowed.iter().find(|(known, _)| *known == name);
        let (_, expected) = expected.unwrap_or_else(|| panic!("`{name}` is not in the code map"));
        assert_eq!(ours, expected.iter().copied().collect(), "{name}");
    }
}

#[test]
fn dependencies_are_freely_licensed_and_none_is_linked_twice() {
    let cargo = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO")).args(arguments).current_dir(repository()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let free = [
        "MIT",
        "Apache-2.0",
        "Unicode-3.0",
        "Zlib",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "ISC",
        "CC0-1.0",
        "CDLA-Permissive-2.0",
        "BSL-1.0",
    ];
    let metadata: serde_json::Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version=1", "--locked"])).unwrap();
    for package in metadata["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or("none").replace(['(', ')'], "");
        let is_free = licence.split(" AND ").all(|all| {
            all.replace('/', " OR ").split(" OR ").any(|one| free.contains(&one.trim()))
        });
        assert!(is_free, "{} is licensed under {licence}", package["name"]);
    }
    // What DuckDB's crate brings is behind in these.
    let behind_duckdb = [
        "foldhash",
        "getrandom",
        "hashbrown",
        "hashlink",
        "linux-raw-sys",
        "num-bigint",
        "rustix",
        "syn",
    ];
    // What draws charts is behind oxc in the first; the others are one version, used by its macros, too.
    let beside_oxc = ["miniz_oxide", "fastrand", "phf"];
    // What rmcp's OAuth brings is behind in these, and all but reqwest in the last.
    let behind_oauth = ["cpufeatures", "thiserror", "thiserror-impl", "base64"];
    // This is one version, used by askama's macros, too.
    let beside_askama = ["winnow"];
    let twice = cargo(&["tree", "--duplicates", "--edges=normal", "--package=forebay", "--locked"]);
    let names = twice.lines().filter(|line| line.starts_with(|first: char| first.is_alphabetic()));
    let names: BTreeSet<&str> = names.filter_map(|line| line.split(' ').next()).collect();
    let behind: BTreeSet<&str> = behind_duckdb
        .into_iter()
        .chain(behind_oauth)
        .chain(beside_oxc)
        .chain(beside_askama)
        .collect();
    assert_eq!(names, behind, "one version of each");
}
