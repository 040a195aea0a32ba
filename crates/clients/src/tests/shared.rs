//! One file that several clients read, by a link or by the same path.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::{Machine, only_outcome};
use crate::{
    Environment, Fate, FilePlan, Missing, Mode, Outcome, Request, Run, Standing, install,
    ledger::Ledger, plan::plan, survey, uninstall,
};

const ONE_TABLE: &str = "{\n  // ours\n  \"mcpServers\": { \"a\": { \"command\": \"a\" } }\n}\n";
const TWO_TABLES: &str = r#"{
  "servers": { "s": { "command": "s" } }, // VS Code's
  "mcpServers": { "a": { "command": "a" } }
}
"#;

/// A machine on which a second client's file is a link to the first's.
fn linked(first: &str, second: &str, text: &str) -> (Machine, PathBuf) {
    let machine = Machine::new();
    let path = machine.place(first, "mcp.json", text.as_bytes());
    let link = machine.place(second, "mcp.json", b"");
    fs::remove_file(&link).unwrap();
    symlink(&path, link).unwrap();
    (machine, path)
}

fn fates(plan: &FilePlan) -> Vec<&Fate> {
    plan.servers.iter().map(|server| &server.fate).collect()
}

fn rewrite(path: &Path, from: &str, to: &str) {
    let now = fs::read_to_string(path).unwrap();
    assert!(now.contains(from), "{now}");
    fs::write(path, now.replacen(from, to, 1)).unwrap();
}

fn installed_once(machine: &Machine, environment: &Environment, names: [&str; 2]) {
    let planned = plan(environment, &machine.request()).unwrap();
    assert_eq!(planned.iter().map(FilePlan::is_change).collect::<Vec<_>>(), [true, false]);
    let done = install(environment, &machine.request()).unwrap();
    for plans in [&planned, &done] {
        assert_eq!(fates(&plans[0]), [&Fate::Wrap, &Fate::Add]);
        assert_eq!(fates(&plans[1]), [&Fate::Wrapped, &Fate::Forebay]);
    }
    assert_eq!(Ledger::load(&machine.home()).unwrap().files.len(), 1);
    for name in names {
        let told = uninstall(&machine.home(), &[name.to_owned()], Missing::Keep, Run::Dry).unwrap();
        assert_eq!(*only_outcome(&told), Outcome::Original, "{name}");
    }
}

#[test]
fn servers_that_two_clients_share_are_wrapped_once_and_come_back_by_either_name() {
    let (machine, path) = linked("cursor", "kiro", ONE_TABLE);
    let standing = |state: crate::ClientState| state.servers[0].standing.clone();
    let states = survey(&machine.environment(), None, |_| Ok(()));
    let standings: Vec<Standing> = states.into_iter().map(standing).collect();
    assert_eq!(standings, [Standing::NotWrapped, Standing::NotWrapped]);

    installed_once(&machine, &machine.environment(), ["cursor", "kiro"]);
    assert!(!machine.install().iter().any(FilePlan::is_change));
    rewrite(&path, "\"mcpServers\": {", "\"mcpServers\": { \"new\": { \"command\": \"n\" },");
    let request = Request { clients: vec!["kiro".to_owned()], ..machine.request() };
    assert!(install(&machine.environment(), &request).unwrap()[0].is_change());
    let cursor = ["cursor".to_owned()];
    let restored = uninstall(&machine.home(), &cursor, Missing::Keep, Run::Real).unwrap();
    assert_eq!(*only_outcome(&restored), Outcome::EntryByEntry);
    assert_eq!(restored[0].title, "Kiro, Cursor");
    let want = ONE_TABLE.replace("\": { \"a\"", "\": { \"new\": { \"command\": \"n\" }, \"a\"");
    assert_eq!(fs::read_to_string(&path).unwrap(), want);
    assert!(machine.left_over().is_empty());
}

#[test]
fn a_path_that_a_variable_gives_to_a_second_client_is_that_of_both() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", ONE_TABLE.as_bytes());
    let mut environment = machine.environment();
    environment.variables.insert("CLINE_MCP_SETTINGS_PATH".into(), path.clone().into());
    installed_once(&machine, &environment, ["cursor", "cline"]);
    machine.uninstall();
    assert_eq!(fs::read_to_string(&path).unwrap(), ONE_TABLE);
}

#[test]
fn each_of_two_clients_has_its_own_servers_in_a_file() {
    let (machine, path) = linked("cursor", "vscode", TWO_TABLES);
    let planned = plan(&machine.environment(), &machine.request()).unwrap();
    let done = machine.install();
    for plans in [&planned, &done] {
        assert!(plans.iter().all(|plan| fates(plan) == [&Fate::Wrap, &Fate::Add]), "{plans:?}");
    }
    let written = fs::read(&path).unwrap();
    assert!(planned[1].after == written && planned[1].before == planned[0].after);
    assert!(!machine.install().iter().any(FilePlan::is_change));
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::Original);
    assert_eq!(fs::read_to_string(&path).unwrap(), TWO_TABLES);

    // Entries are found under other names, whichever client has them.
    machine.install();
    rewrite(&path, "\"a\": {", "\"anew\": {");
    rewrite(&path, "\"s\": {", "\"snew\": {");
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    let want = TWO_TABLES.replace("\"a\": {", "\"anew\": {").replace("\"s\": {", "\"snew\": {");
    assert_eq!(fs::read_to_string(&path).unwrap(), want);
    assert!(machine.left_over().is_empty());
}

#[test]
fn what_was_changed_behind_two_gateways_comes_back_to_the_client_it_is_of() {
    let text = r#"{
  "context_servers": { "s": { "url": "http://localhost:1/mcp" } },
  "mcpServers": { "a": { "serverUrl": "http://localhost:2/mcp" } }
}
"#;
    let (machine, path) = linked("windsurf", "zed", text);
    let request = Request { mode: Mode::Gateway, ..machine.request() };
    let plans = install(&machine.environment(), &request).unwrap();
    assert!(plans.iter().all(|plan| fates(plan) == [&Fate::Move, &Fate::Add]), "{plans:?}");
    for file in fs::read_dir(machine.home().join("clients")).unwrap() {
        rewrite(&file.unwrap().path(), "/mcp\"", "/new\"");
    }
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    assert_eq!(fs::read_to_string(&path).unwrap(), text.replace("/mcp\"", "/new\""));
    assert!(machine.left_over().is_empty());
}
