//! Servers in clients' files that Forebay stands in front of: each is started once, as its client would start it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{Found, doctor, found, new_home};
use crate::gateway::fixture;

/// A person with clients, and where their servers say that they were started.
struct Person {
    home: PathBuf,
    folder: PathBuf,
    log: PathBuf,
}

impl Person {
    fn new(test: &str) -> Self {
        let home = new_home(test);
        let folder = home.join("person");
        fs::create_dir_all(&folder).unwrap();
        let log = home.join("started.txt");
        Self { home, folder, log }
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        let file = self.folder.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    fn write_servers(&self, file: &str, servers: &Value) -> PathBuf {
        self.write(file, &json!({ "mcpServers": servers }).to_string())
    }

    /// The words of a server that writes down that it was started, and its variable `TOKEN`.
    fn logging(&self) -> Vec<String> {
        let script = "echo \"started $TOKEN\" >> \"$0\"; exec \"$1\"";
        let log = self.log.to_str().unwrap();
        let mut words = ["sh", "-c", script, log].map(str::to_owned).to_vec();
        words.extend(fixture(&[]));
        words
    }

    fn started(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn doctor(&self, arguments: &[&str], folder: &Path) -> Found {
        let mut command = doctor(&self.home, arguments);
        command.env("HOME", &self.folder).current_dir(folder).env_remove("XDG_CONFIG_HOME");
        command.env_remove("NOT_SET").env("SET", "hush");
        found(&mut command)
    }
}

/// An entry as `forebay install` writes it.
fn wrapped(name: &str, words: &[String]) -> Value {
    let own = ["wrap", "--tools", "none", "--name", name, "--"].map(str::to_owned);
    let words = [&own[..], words].concat();
    json!({ "command": env!("CARGO_BIN_EXE_forebay"), "args": words })
}

fn with_environment(mut entry: Value, environment: &Value) -> Value {
    entry["env"] = environment.clone();
    entry
}

#[test]
fn servers_of_clients_are_started_each_once_and_told() {
    let person = Person::new("fronted");
    let good = with_environment(wrapped("good", &person.logging()), &json!({"TOKEN": "${SET}"}));
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let cursor = person.write_servers(
        ".cursor/mcp.json",
        &json!({
            "good": good,
            "broken": wrapped("broken", &words(&["sh", "-c", "exit 3"])),
            "asking": with_environment(
                wrapped("asking", &person.logging()), &json!({"TOKEN": "${input:token}"}),
            ),
            "lacking": with_environment(
                wrapped("lacking", &person.logging()), &json!({"TOKEN": "${env:NOT_SET}"}),
            ),
            "bare": {"command": "sh", "args": person.logging()[1..]},
            "forebay": {"command": env!("CARGO_BIN_EXE_forebay"), "args": ["gateway", "--no-servers"]},
        }),
    );
    person.write_servers(".codeium/windsurf/mcp_config.json", &json!({ "good": good }));
    let program = env!("CARGO_BIN_EXE_forebay");
    person.write(
        ".codex/config.toml",
        &format!(
            "[mcp_servers.far]\ncommand = \"{program}\"\n\
             args = [\"wrap\", \"--tools\", \"none\", \"--name\", \"far\", \"--url-env\", \"FOREBAY_URL\"]\n\
             env = {{ FOREBAY_URL = \"http://127.0.0.1:9/mcp?key=hush\" }}\n"
        ),
    );
    let moved = person
        .write_servers("clients/gemini.json", &json!({"moved": {"command": fixture(&[])[0]}}));
    person.write_servers(
        ".gemini/settings.json",
        &json!({"forebay": {"command": program, "args": ["gateway", "--servers", moved]}}),
    );

    let told = person.doctor(&[], &person.folder);
    assert_eq!(person.started(), ["started hush"], "once, and with its variable");
    let text = |state: &str, start: &str| {
        let all = told.of("servers", state);
        let one = all.iter().find(|it| it["text"].as_str().unwrap().starts_with(start));
        (*one.unwrap_or_else(|| panic!("{state}, {start}: {:#?}", told.findings))).clone()
    };
    assert!(text("ok", "`good` (Cursor, Windsurf) works, with ")["mend"].is_null());
    text("ok", "`moved` (Gemini CLI) works, with ");
    let broken = text("problem", "`broken` (Cursor) cannot be used: ");
    assert!(broken["text"].as_str().unwrap().contains("exited with code 3"), "{broken}");
    let advice = format!(
        "Correct its entry in {}; `forebay doctor` tells whether it works then.",
        cursor.display()
    );
    assert_eq!((&broken["advice"], &broken["mend"]), (&json!(advice), &Value::Null));
    text("problem", "`far` (Codex) cannot be used: ");
    let asking = text("note", "`asking` (Cursor) is not started: ");
    assert!(asking["text"].as_str().unwrap().contains("nobody can be asked for `${input:…}`"));
    let lacking = text("note", "`lacking` (Cursor) is not started: ");
    assert!(lacking["text"].as_str().unwrap().contains("`NOT_SET` is not set"), "{lacking}");
    let all = serde_json::to_string(&told.findings).unwrap();
    assert!(!all.contains("hush") && told.of("servers", "ok").len() == 2, "{all}");

    let left = person.doctor(&["--no-start"], &person.folder);
    let (names, mend) = left.one("servers", "note");
    assert!(names.starts_with("6 servers behind Forebay in clients' files, not started now: "));
    assert!(names.contains("`good` (Cursor, Windsurf)") && mend == "forebay doctor", "{names}");
    assert_eq!(person.started().len(), 1);
}

#[test]
fn what_stands_in_a_projects_file_is_not_started() {
    let person = Person::new("fronted_project");
    let project = person.folder.join("project");
    let servers = json!({ "theirs": wrapped("theirs", &person.logging()) });
    person.write_servers("project/.mcp.json", &servers);
    let told = person.doctor(&[], &project);
    let (text, _) = told.one("servers", "note");
    let why = "it stands in a project's file, which may be the work of others";
    assert_eq!(text, format!("`theirs` (Claude Code) is not started: {why}."));
    assert_eq!(person.started(), [] as [String; 0]);
}
