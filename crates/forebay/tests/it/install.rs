//! `forebay install` and `forebay uninstall`: files of clients in a home of their own, and what the clients see
//! in them then.

mod real_clients;
mod way_back;

use std::{
    fs,
    io::Write,
    os::unix::{fs::symlink, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use forebay_testkit::{
    http::HttpPeer,
    peer::{Peer, eventually},
    programs, real,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{call, forebay, text_of};

/// Somebody's home, with what clients keep in it.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// `forebay` as somebody in this home runs it.
    fn forebay(&self, arguments: &[&str]) -> Command {
        let mut command = forebay(arguments);
        self.at_home(&mut command);
        command.env("FOREBAY_HOME", self.path(".forebay"));
        command
    }

    /// Makes this the home of a command, and of nobody else's clients.
    fn at_home<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for variable in [
            "XDG_CONFIG_HOME",
            "CODEX_HOME",
            "CLAUDE_CONFIG_DIR",
            "COPILOT_HOME",
            "CLINE_MCP_SETTINGS_PATH",
        ] {
            command.env_remove(variable);
        }
        command.env("HOME", self.folder.path()).stdin(Stdio::null())
    }

    /// What is said on both sides, and what it ends with.
    fn run(&self, arguments: &[&str]) -> (String, i32) {
        let output = self.forebay(arguments).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (said, output.status.code().unwrap())
    }

    fn done(&self, arguments: &[&str]) -> String {
        let (said, code) = self.run(arguments);
        assert_eq!(code, 0, "{said}");
        said
    }

    /// Starts a server as a client would, by its entry.
    fn start(&self, file: &str, name: &str) -> Peer {
        let root: Value = serde_json::from_str(&self.read(file)).unwrap();
        let entry = &root["mcpServers"][name];
        let words = entry["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
        let mut command = Command::new(entry["command"].as_str().unwrap());
        command
            .args(words)
            .env("HOME", self.folder.path())
            .env("FOREBAY_HOME", self.path(".forebay"));
        for (key, value) in entry["env"].as_object().into_iter().flatten() {
            command.env(key, value.as_str().unwrap());
        }
        Peer::start(&mut command)
    }
}

const CURSOR: &str = ".cursor/mcp.json";

/// A file with one server, the fixture.
fn with_fixture() -> String {
    let fixture = programs::fixture_upstream();
    format!(
        "{{\n  \"mcpServers\": {{\n    \"fixture\": {{ \"command\": {}, \"env\": {{ \"FIXTURE\": \"kept\" }} }}\n  }}\n}}\n",
        json!(fixture)
    )
}

fn tools(peer: &mut Peer) -> Vec<String> {
    let listed = peer.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_would_be_done_is_shown_and_nothing_is_written_without_leave() {
    let home = Home::new();
    let text = with_fixture();
    home.write(CURSOR, &text);
    let said = home.done(&["install", "--dry-run"]);
    assert!(said.contains("Cursor") && said.contains("+++ "), "{said}");
    assert!(said.contains("\"wrap\", \"--tools\", \"none\", \"--name\", \"fixture\""), "{said}");
    assert!(!said.contains("kept"), "values of variables are masked: {said}");
    assert!(said.ends_with("Nothing has been written.\n"), "{said}");

    let (said, code) = home.run(&["install"]);
    assert_eq!(code, 4, "{said}");
    assert!(
        said.ends_with("this would change 1 file; say `--yes` to do so without being asked\n"),
        "{said}"
    );
    assert_eq!(home.read(CURSOR), text);
    assert!(!home.path(".forebay/installed.json").exists());
}

#[test]
fn wrapped_servers_answer_and_one_entry_has_the_tools() {
    let home = Home::new();
    let text = with_fixture();
    home.write(CURSOR, &text);
    let said = home.done(&["install", "--yes"]);
    assert!(said.contains("fixture  has Forebay in front now\n"), "{said}");
    assert!(said.contains("forebay  is new: it offers the tools\n"), "{said}");

    let mut server = home.start(CURSOR, "fixture");
    assert_eq!(text_of(&server.ask(&call(1, "environment", 0))), "kept");
    assert_eq!(tools(&mut server), ["echo", "bytes", "records"], "and none of ours");
    let summary = text_of(&server.ask(&call(2, "records", 5_000)));
    assert!(summary.starts_with("Large response detected"), "{summary}");

    // What the one has kept, the other can be asked. It has no servers, whatever the settings name.
    let settings = format!("[servers.other]\ncommand = {}\n", json!(programs::fixture_upstream()));
    home.write(".forebay/forebay.toml", &settings);
    let mut ours = home.start(CURSOR, "forebay");
    let offered = tools(&mut ours);
    assert!(offered.contains(&"analyze-with-duckdb".to_owned()), "{offered:?}");
    assert!(!offered.iter().any(|name| name.ends_with("records")), "{offered:?}");
    let id = summary.split("saved as ").nth(1).unwrap().split('.').next().unwrap();
    let asked = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "analyze-with-duckdb", "arguments": {"query": format!("SELECT count(*) AS n FROM {id}")}}});
    let answer = ours.ask(&asked.to_string());
    assert!(answer.contains("n\\n500"), "{answer}");

    assert!(home.done(&["install", "--yes"]).contains("Nothing has been written."));
    let said = home.done(&["uninstall", "--yes"]);
    assert!(said.contains("as it was before, byte for byte"), "{said}");
    assert_eq!(home.read(CURSOR), text);
    let said = home.done(&["uninstall", "--yes"]);
    assert_eq!(said, "Forebay is in no file that `forebay install` has written.\n");
}

#[test]
fn a_header_reaches_the_server_and_no_command_line() {
    let upstream =
        HttpPeer::start(Command::new(programs::fixture_upstream()).args(["--http", "127.0.0.1:0"]));
    let home = Home::new();
    let entry = json!({"mcpServers": {"far": {"url": upstream.url(), "headers": {"X-Key": "s3cret-value"}}}});
    let text = entry.to_string();
    home.write(CURSOR, &text);
    assert!(!home.done(&["install", "--dry-run"]).contains("s3cret-value"));
    assert!(!home.done(&["install", "--yes"]).contains("s3cret-value"));
    let mut server = home.start(CURSOR, "far");
    server.ask(&call(1, "environment", 0));
    assert_eq!(upstream.stats()["last_post"]["x-key"], "s3cret-value");
    let line = fs::read(format!("/proc/{}/cmdline", server.child.id())).unwrap();
    let line = String::from_utf8(line).unwrap();
    assert!(line.contains("--header-env") && !line.contains("s3cret-value"), "{line}");

    let ledger = fs::metadata(home.path(".forebay/installed.json")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&ledger.permissions()) & 0o777, 0o600);
    home.done(&["uninstall", "--yes"]);
    assert_eq!(home.read(CURSOR), text);
}

#[test]
fn a_missing_variable_of_a_header_is_told_by_its_name() {
    let home = Home::new();
    let (said, code) = home.run(&[
        "wrap",
        "--url",
        "http://127.0.0.1:1/mcp",
        "--header-env",
        "X-Key=NO_SUCH_VARIABLE",
    ]);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("the variable `NO_SUCH_VARIABLE`, which has the header `x-key`, is not set"),
        "{said}"
    );
}

#[test]
fn a_header_whose_variable_has_no_value_is_left_out_where_that_is_allowed() {
    let upstream =
        HttpPeer::start(Command::new(programs::fixture_upstream()).args(["--http", "127.0.0.1:0"]));
    let home = Home::new();
    let url = upstream.url();
    let words = ["wrap", "--url", &url, "--header-env", "X-Key=NO_SUCH_VARIABLE?"];
    let mut server = Peer::start(home.forebay(&words).env_remove("NO_SUCH_VARIABLE"));
    server.ask(&call(1, "environment", 0));
    assert!(upstream.stats()["last_post"]["x-key"].is_null(), "{}", upstream.stats());
    let mut server = Peer::start(home.forebay(&words).env("NO_SUCH_VARIABLE", "there"));
    server.ask(&call(1, "environment", 0));
    assert_eq!(upstream.stats()["last_post"]["x-key"], "there");
}

/// The gateway that was installed, with a session.
fn gateway(home: &Home) -> Peer {
    let mut gateway = home.start(CURSOR, "forebay");
    let initialize = r#"{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
    gateway.ask(initialize);
    gateway.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    gateway
}

#[test]
fn all_servers_can_stand_behind_one_entry() {
    let home = Home::new();
    let text = with_fixture();
    home.write(CURSOR, &text);
    let said = home.done(&["install", "--gateway", "--yes"]);
    assert!(said.contains("fixture  stands behind the gateway now"), "{said}");
    let mut gateway = gateway(&home);
    let offered = tools(&mut gateway);
    let records = offered.iter().find(|name| name.ends_with("records"));
    let answer = gateway.ask(&call(2, records.unwrap_or_else(|| panic!("{offered:?}")), 1));
    assert!(text_of(&answer).contains("Customer"), "{answer}");
    home.done(&["uninstall", "--yes"]);
    assert_eq!(home.read(CURSOR), text);
    assert!(!home.path(".forebay/clients").exists());
}

#[test]
fn what_is_not_here_is_told() {
    let home = Home::new();
    for (arguments, code, said) in [
        (&["install"][..], 3, "no client has servers here; known are claude-code, "),
        (
            &["install", "--client", "emacs"],
            3,
            "there is no client `emacs`; known are claude-code, ",
        ),
        (&["install", "--project", "/nowhere"], 3, "there is no folder `/nowhere`"),
        (
            &["install", "--program", "/nowhere/forebay"],
            3,
            "there is no program `/nowhere/forebay`",
        ),
        (&["install", "--project", "/nowhere", "--gateway"], 2, "leave out --gateway"),
        (&["uninstall", "--client", "emacs"], 3, "there is no client `emacs`"),
    ] {
        let (told, ended) = home.run(arguments);
        assert_eq!(ended, code, "{told}");
        assert!(told.contains(said), "{told}");
    }
    home.write(CURSOR, &with_fixture());
    let (told, code) = home.run(&["install", "--server", "nobody"]);
    assert!(code == 3 && told.contains("no client has a server `nobody`"), "{told}");
    home.write(CURSOR, "{ \"mcpServers\": { ");
    home.write(".gemini/settings.json", "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}");
    let (told, code) = home.run(&["install", "--yes"]);
    assert!(
        code == 1 && told.contains("it cannot be understood, and is left as it is; line 1"),
        "{told}"
    );
    assert_eq!(home.read(CURSOR), "{ \"mcpServers\": { ");
    assert!(home.read(".gemini/settings.json").contains("wrap"), "others are seen to");
}

#[test]
fn installs_at_once_do_not_lose_each_others_change() {
    let home = Home::new();
    let servers: Vec<String> =
        (0..6).map(|it| format!("\"s{it}\": {{ \"command\": \"c{it}\" }}")).collect();
    let text = format!("{{\"mcpServers\": {{ {} }}}}", servers.join(", "));
    home.write(CURSOR, &text);
    thread::scope(|scope| {
        for it in 0..6 {
            let home = &home;
            scope.spawn(move || home.done(&["install", "--yes", "--server", &format!("s{it}")]));
        }
    });
    let now = home.read(CURSOR);
    assert_eq!(now.matches("\"wrap\"").count(), 6, "{now}");
    assert_eq!(now.matches("\"forebay\":").count(), 1, "{now}");
    home.done(&["uninstall", "--yes"]);
    assert_eq!(home.read(CURSOR), text);
}

/// How far an install has come, as others see it.
type HasCome = fn(&Home) -> bool;

#[test]
fn an_install_that_is_killed_leaves_the_old_or_the_new_file() {
    let home = Home::new();
    let text = with_fixture();
    home.write(CURSOR, &text);
    home.done(&["install", "--yes"]);
    let new = home.read(CURSOR);
    home.done(&["uninstall", "--yes"]);
    let moments: [(HasCome, Option<bool>); 4] = [
        (|home| home.path(".forebay/installed.json").exists(), None),
        (|home| home.path(".forebay/installed").exists(), None),
        (|home| home.path(".cursor/.mcp.json.forebay-new").exists(), None),
        (|home| home.read(CURSOR).contains("wrap"), Some(true)),
    ];

    // Nothing is written while somebody else has the lock.
    let lock = home.write(".forebay/installed.lock", "");
    let lock = fs::File::options().write(true).open(lock).unwrap();
    lock.lock().unwrap();
    let mut child = home.forebay(&["install", "--yes"]).stdout(Stdio::null()).spawn().unwrap();
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    assert_eq!(home.read(CURSOR), text);
    drop(lock);

    for (has_come, is_new) in moments {
        let mut child = home.forebay(&["install", "--yes"]).stdout(Stdio::null()).spawn().unwrap();
        // What is there for a moment alone may be missed; then it is killed at the end.
        while !has_come(&home) && child.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = home.read(CURSOR);
        assert!(now == text || now == new, "{now}");
        assert!(is_new.is_none_or(|is_new| is_new == (now == new)), "{now}");
        home.done(&["uninstall", "--yes"]);
        assert_eq!(home.read(CURSOR), text);
        let left = |folder: &str| -> Vec<_> {
            let entries = fs::read_dir(home.path(folder)).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        };
        assert_eq!(left(".cursor"), ["mcp.json"]);
        let is_ours = |name: &String| name.contains("installed") || name == "clients";
        assert!(!left(".forebay").iter().any(is_ours), "{:?}", left(".forebay"));
    }
}

#[test]
fn what_a_gateway_would_pass_over_stays_where_it_is() {
    let home = Home::new();
    let fixture = json!(programs::fixture_upstream());
    let text = format!(
        r#"{{"mcpServers":{{
  "near": {{ "command": {fixture}, "cwd": "./near" }},
  "never": {{ "command": {fixture}, "timeout": 0 }},
  "by-part": {{ "command": {fixture}, "timeout": {{ "call": 5 }} }},
  "number": {{ "command": {fixture}, "args": ["--rich"], "env": {{ "FIXTURE": 8080 }} }}
}}}}"#
    );
    home.write(CURSOR, &text);
    let said = home.done(&["install", "--gateway", "--yes"]);
    for (name, why) in [("near", "`cwd` "), ("never", "`timeout` "), ("by-part", "`timeout` ")] {
        let line = said.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        assert!(line.contains("left alone: a gateway could not start it so: "), "{said}");
        assert!(line.contains(why), "{said}");
    }
    assert!(said.contains("number   stands behind the gateway now"), "{said}");
    let now: Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
    let mut left: Vec<&String> = now["mcpServers"].as_object().unwrap().keys().collect();
    left.sort();
    assert_eq!(left, ["by-part", "forebay", "near", "never"]);

    let mut gateway = gateway(&home);
    let offered = tools(&mut gateway);
    let environment = call(2, "number__environment", 0);
    assert_eq!(text_of(&gateway.ask(&environment)), "8080", "{offered:?}");
    home.done(&["uninstall", "--yes"]);
    assert_eq!(home.read(CURSOR), text);
}

/// As nvm, and as fnm, which has a folder for each shell.
#[test]
fn a_program_that_belongs_to_a_version_of_node_is_taken_and_that_is_said() {
    for (prefix, shell) in [
        (".nvm/versions/node/v22.11.0", None),
        ("fnm/node-versions/v22.11.0/installation", Some("fnm_multishells/12_1700000000000")),
    ] {
        let home = Home::new();
        let text = with_fixture();
        home.write(CURSOR, &text);
        home.write(&format!("{prefix}/bin/node"), "");
        let program = home.path(&format!("{prefix}/bin/forebay"));
        symlink(env!("CARGO_BIN_EXE_forebay"), &program).unwrap();
        let bin = match shell {
            Some(shell) => {
                fs::create_dir_all(home.path(shell).parent().unwrap()).unwrap();
                symlink(home.path(prefix), home.path(shell)).unwrap();
                home.path(shell).join("bin")
            }
            None => home.path(prefix).join("bin"),
        };
        let mut command = Command::new(bin.join("forebay"));
        home.at_home(crate::without_settings(&mut command).args(["install", "--yes"]));
        let output =
            command.env("FOREBAY_HOME", home.path(".forebay")).env("PATH", &bin).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success(), "{said}");
        assert!(said.contains("belongs to a version of Node. If that is removed,"), "{said}");
        let entry: Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
        let written = entry["mcpServers"]["fixture"]["command"].as_str().unwrap();
        let lasting = program.parent().unwrap().canonicalize().unwrap().join("forebay");
        assert_eq!(Path::new(written), if shell.is_some() { &lasting } else { &program });
    }
}

#[test]
fn a_person_is_asked_at_a_terminal() {
    let Some(script) = real::script("a_person_is_asked_at_a_terminal") else { return };
    let home = Home::new();
    let text = with_fixture();
    home.write(CURSOR, &text);
    for (answer, is_done) in [("n\n", false), ("y\n", true)] {
        let mut command = Command::new(script);
        home.at_home(&mut command);
        let line = format!("{} install", env!("CARGO_BIN_EXE_forebay"));
        command.env("FOREBAY_HOME", home.path(".forebay")).args(["-qec", &line, "/dev/null"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let said = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.contains("Change 1 file? [y/N]"), "{said}");
        eventually("what was answered is heeded", || (home.read(CURSOR) != text) == is_done);
    }
}
