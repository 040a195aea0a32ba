//! Files as clients and people write them, in `tests/corpus`.

use std::{collections::BTreeMap, fs, path::Path};

use super::{Machine, only_outcome};
use crate::{
    Fate, Mode, Outcome, Request, catalogue::CLIENTS, document::text_of, form::Form, install,
    plan::plan, value::Value,
};

/// All files: client, name, bytes.
fn files() -> Vec<(String, String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut found = Vec::new();
    for client in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        for file in fs::read_dir(&client).unwrap().map(|entry| entry.unwrap().path()) {
            found.push((name(&client), name(&file), fs::read(&file).unwrap()));
        }
    }
    found.sort();
    found
}

fn form(client: &str) -> Form {
    CLIENTS.iter().find(|it| it.name == client).unwrap().form
}

fn value(client: &str, bytes: &[u8]) -> Value {
    let (_, text) = text_of(bytes).unwrap();
    form(client).read(text).unwrap().value()
}

#[test]
fn every_client_has_files_and_there_are_many() {
    let files = files();
    assert!(files.len() >= 60, "{}", files.len());
    for client in CLIENTS {
        assert!(files.iter().any(|(name, ..)| name == client.name), "{}", client.name);
    }
}

#[test]
fn what_is_installed_and_taken_out_is_as_it_was_byte_for_byte() {
    let mut changed = 0;
    for mode in [Mode::Wrap, Mode::Gateway] {
        for (client, name, bytes) in files() {
            let machine = Machine::new();
            let path = machine.place(&client, &name, &bytes);
            let request = Request { mode, ..machine.request() };
            let plans = install(&machine.environment(), &request).unwrap();
            assert_eq!(plans.len(), 1, "{client}/{name}");
            assert_eq!(plans[0].refusal, None, "{client}/{name}");
            let made = fs::read(&path).unwrap();
            assert_eq!(made != bytes, plans[0].is_change(), "{client}/{name}");
            let restored = machine.uninstall();
            assert!(fs::read(&path).unwrap() == bytes, "{client}/{name}");
            if made != bytes {
                changed += 1;
                assert_eq!(*only_outcome(&restored), Outcome::Original);
            }
            assert!(machine.left_over().is_empty(), "{:?}", machine.left_over());
            let beside = fs::read_dir(path.parent().unwrap()).unwrap().count();
            assert_eq!(beside, 1, "nothing is left beside {client}/{name}");
        }
    }
    assert!(changed > 110, "{changed}");
}

#[test]
fn what_others_change_elsewhere_stays_when_ours_is_taken_out() {
    let mut changed = 0;
    for mode in [Mode::Wrap, Mode::Gateway] {
        for (client, name, bytes) in files() {
            let machine = Machine::new();
            let path = machine.place(&client, &name, &bytes);
            let request = Request { mode, ..machine.request() };
            if !install(&machine.environment(), &request).unwrap()[0].is_change() {
                continue;
            }
            // Somebody writes something at the beginning.
            let elsewhere = |bytes: &[u8]| {
                let text = std::str::from_utf8(bytes).unwrap();
                let (mark, with) = match form(&client) {
                    Form::Json => ("{", "{ \"elsewhere\": [1],"),
                    Form::Toml => ("", "# elsewhere\nelsewhere = [1]\n"),
                    Form::Yaml => ("extensions:", "# elsewhere\nelsewhere: [1]\nextensions:"),
                };
                let at = text_of(bytes).unwrap().0.len();
                let at = at + text[at..].find(mark).unwrap();
                [&text[..at], with, &text[at + mark.len()..]].concat().into_bytes()
            };
            let after = elsewhere(&fs::read(&path).unwrap());
            fs::write(&path, after).unwrap();
            let restored = machine.uninstall();
            let now = fs::read(&path).unwrap();
            assert_eq!(*only_outcome(&restored), Outcome::EntryByEntry, "{client}/{name}");
            assert_eq!(
                String::from_utf8(now).unwrap(),
                String::from_utf8(elsewhere(&bytes)).unwrap(),
                "{client}/{name}"
            );
            assert!(machine.left_over().is_empty(), "{:?}", machine.left_over());
            changed += 1;
        }
    }
    assert!(changed > 110, "{changed}");
}

#[test]
fn a_file_that_its_client_has_written_anew_says_again_what_it_said() {
    let mut changed = 0;
    for mode in [Mode::Wrap, Mode::Gateway] {
        for (client, name, bytes) in files() {
            let machine = Machine::new();
            let path = machine.place(&client, &name, &bytes);
            let request = Request { mode, ..machine.request() };
            if !install(&machine.environment(), &request).unwrap()[0].is_change() {
                continue;
            }
            let made = fs::read(&path).unwrap();
            let anew = match form(&client) {
                Form::Json => crate::json::block(&value(&client, &made), "", "   ", "\n"),
                // As Codex does: comments stay, ends of lines do not.
                Form::Toml => String::from_utf8(made).unwrap().replace("\r\n", "\n") + "\n",
                // As Goose does: nothing stays but what it says.
                Form::Yaml => {
                    let Value::Table(members) = value(&client, &made) else { unreachable!() };
                    let lines = members.iter();
                    let line = |(key, value): &(String, Value)| {
                        crate::yaml::block(key, value, "", "  ", "\n") + "\n"
                    };
                    lines.map(line).collect()
                }
            };
            let is_as_written = fs::read(&path).unwrap() == anew.as_bytes();
            fs::write(&path, anew).unwrap();
            let restored = machine.uninstall();
            let want = if is_as_written { Outcome::Original } else { Outcome::EntryByEntry };
            assert_eq!(*only_outcome(&restored), want, "{client}/{name}");
            let now = value(&client, &fs::read(&path).unwrap());
            let before = value(&client, &bytes);
            let is_doubled = name.starts_with("doubled");
            assert!(is_doubled || now.says_the_same_as(&before), "{client}/{name}: {now:?}");
            changed += 1;
        }
    }
    assert!(changed > 110, "{changed}");
}

#[test]
fn installing_twice_changes_nothing_the_second_time() {
    for (client, name, bytes) in files() {
        let machine = Machine::new();
        let path = machine.place(&client, &name, &bytes);
        machine.install();
        let made = fs::read(&path).unwrap();
        let plans = machine.install();
        assert!(!plans[0].is_change(), "{client}/{name}");
        let is_new = |fate: &Fate| matches!(fate, Fate::Wrap | Fate::Add);
        assert!(!plans[0].servers.iter().any(|it| is_new(&it.fate)), "{client}/{name}");
        assert!(fs::read(&path).unwrap() == made);
    }
}

#[test]
fn what_becomes_of_every_file() {
    let mut told = std::collections::BTreeMap::<String, Vec<String>>::new();
    for (client, name, bytes) in files() {
        let machine = Machine::new();
        machine.place(&client, &name, &bytes);
        let plans = plan(&machine.environment(), &machine.request()).unwrap();
        let lines = told.entry(client).or_default();
        lines.push(format!("=== {name}"));
        for server in &plans[0].servers {
            let project = server.project.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
            let fate = match &server.fate {
                Fate::Left(reason) => format!("left alone: {reason}"),
                other => format!("{other:?}"),
            };
            lines.push(format!("{}{project}: {fate}", server.name));
        }
        let patch = plans[0].difference();
        lines.extend(patch.lines().skip(2).map(|line| line.trim_end().to_owned()));
    }
    for (client, told) in told {
        insta::assert_snapshot!(client, told.join("\n"));
    }
}

/// A server as Goose reads it.
#[derive(Debug, serde::Deserialize)]
struct GoosesEntry {
    enabled: bool,
    name: String,
    r#type: String,
    cmd: Option<String>,
    args: Option<Vec<String>>,
    #[serde(default)]
    envs: BTreeMap<String, String>,
}

#[test]
fn goose_reads_what_is_written() {
    let mut wrapped = 0;
    for (client, name, bytes) in files().into_iter().filter(|(client, ..)| client == "goose") {
        let machine = Machine::new();
        let path = machine.place(&client, &name, &bytes);
        let plans = machine.install();
        let written = fs::read_to_string(path).unwrap();
        let written = written.trim_start_matches('\u{feff}');
        for server in plans[0].servers.iter().filter(|it| matches!(it.fate, Fate::Wrap | Fate::Add))
        {
            let read: serde_yaml::Value = serde_yaml::from_str(written).unwrap();
            let mut entry = read["extensions"][&server.name].clone();
            // It has one that YAML takes for a number, as Goose does.
            if name == "numbers-and-quotes.yaml" && server.name == "texts" {
                entry.as_mapping_mut().unwrap().remove("envs");
            }
            let entry: GoosesEntry = serde_yaml::from_value(entry).unwrap();
            assert_eq!(entry.cmd.as_deref(), Some("/usr/bin/forebay"), "{name}");
            let words = entry.args.unwrap();
            let is_ours = words.starts_with(&["wrap".to_owned()]) || server.name == "forebay";
            assert!(is_ours && entry.r#type == "stdio" && !entry.name.is_empty(), "{name}");
            let is_remote = words.iter().any(|word| word == "--url-env");
            assert!(!is_remote || entry.envs.contains_key("FOREBAY_URL"), "{name}");
            assert!(entry.enabled || server.name == "git log");
            wrapped += 1;
        }
    }
    assert!(wrapped > 12, "{wrapped}");
}
