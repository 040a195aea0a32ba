//! What people do between `forebay install` and `forebay uninstall`, and what the doctor says meanwhile.

use std::{fs, process::Command};

use forebay_testkit::{http::HttpPeer, programs};
use serde_json::{Value, json};

use super::{CURSOR, Home, tools, with_fixture};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;

/// The findings of the doctor about clients: state, text, and the command or the words that say what to do.
fn clients(home: &Home) -> Vec<(String, String, String)> {
    let mut command = home.forebay(&["doctor", "--no-start", "--json"]);
    let output = command.current_dir(home.path(".")).output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = told["findings"].as_array().unwrap().iter();
    let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let of_clients = all.filter(|it| it["area"] == "clients");
    let to_do = |it: &Value| text(it, "mend") + &text(it, "advice");
    of_clients.map(|it| (text(it, "state"), text(it, "text"), to_do(it))).collect()
}

#[test]
fn servers_behind_a_gateway_survive_that_its_entry_is_removed() {
    let home = Home::new();
    let text = with_fixture();
    home.write(CURSOR, &text);
    home.done(&["install", "--gateway", "--yes"]);
    let found = clients(&home);
    assert!(
        found.iter().any(|(state, text, _)| state == "ok" && text.contains("1 server behind")),
        "{found:?}"
    );
    let (said, code) = home.run(&["install", "--yes"]);
    assert!(code == 0 && said.contains("Nothing has been written."), "{said}");
    home.write(CURSOR, "{\n  \"mcpServers\": {}\n}\n");
    let said = home.done(&["uninstall", "--yes"]);
    assert!(said.contains("each server has what it had"), "{said}");
    let now: Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
    let before: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(now, before);
    assert_eq!(fs::read_dir(home.path(".forebay")).unwrap().count(), 0, "and nothing else is left");
}

#[test]
fn what_is_missing_or_forgotten_is_told_and_is_a_failure() {
    let home = Home::new();
    home.write(CURSOR, &with_fixture());
    home.done(&["install", "--yes"]);
    fs::rename(home.path(".cursor"), home.path("away")).unwrap();
    let (said, code) = home.run(&["uninstall", "--yes"]);
    assert!(
        code == 1 && said.contains("--forget") && !said.contains("Start the clients"),
        "{said}"
    );
    fs::rename(home.path("away"), home.path(".cursor")).unwrap();

    let ledger = home.path(".forebay/installed.json");
    fs::rename(&ledger, home.path("ledger")).unwrap();
    let (said, code) = home.run(&["uninstall", "--yes"]);
    assert!(code == 1 && said.contains("`fixture`, `forebay` start Forebay"), "{said}");
    fs::rename(home.path("ledger"), &ledger).unwrap();
    home.done(&["uninstall", "--yes"]);
    assert_eq!(home.read(CURSOR), with_fixture());

    let entry = json!({"command": "forebay", "args": ["gateway", "--no-servers"]});
    home.write(CURSOR, &json!({"mcpServers": {"forebay": entry}}).to_string());
    let (said, code) = home.run(&["uninstall", "--yes"]);
    assert!(code == 1 && said.contains("`forebay` starts Forebay, and what stood"), "{said}");
}

#[test]
fn what_is_restored_of_a_file_is_told_beside_what_is_left_to_do() {
    let home = Home::new();
    let servers = json!({"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}});
    home.write(CURSOR, &servers.to_string());
    home.done(&["install", "--yes"]);
    let now = home.read(CURSOR);
    home.write(CURSOR, &now.replacen("\"none\"", "\"all\"", 1));
    let (said, code) = home.run(&["uninstall", "--yes"]);
    assert!(code == 1 && said.contains("`a` still has Forebay in front"), "{said}");
    assert!(said.contains("each other server has what it had"), "{said}");
    assert!(said.contains("Start the clients anew once that is done"), "{said}");
    assert!(home.read(CURSOR).contains(r#""b":{"command":"b"}"#), "{said}");
}

#[test]
fn entries_that_were_changed_are_told_with_what_to_do_about_each() {
    let home = Home::new();
    let servers = json!({"mcpServers": {
        "near": {"command": "run"},
        "far": {"url": "http://127.0.0.1:1/mcp", "headers": {"X-Key": "s3cret-value"}}
    }});
    home.write(CURSOR, &servers.to_string());
    home.done(&["install", "--yes"]);
    let now = home.read(CURSOR);
    home.write(
        CURSOR,
        &now.replace("\"none\"", "\"all\"").replace("--no-servers", "--servers=mine"),
    );
    let (said, code) = home.run(&["uninstall", "--yes"]);
    assert_eq!(code, 1, "{said}");
    for advice in [
        "`near` still has Forebay in front: take `forebay wrap … --` out",
        "`far` still has Forebay in front: write its URL and headers",
        "`forebay` is Forebay itself: delete the entry",
    ] {
        assert!(said.contains(advice), "{said}");
    }
    let copy = said.split("as it was is `").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    assert_eq!(fs::read_to_string(copy).unwrap(), servers.to_string());
}

#[test]
fn a_program_that_has_moved_is_a_problem_and_install_mends_it() {
    let home = Home::new();
    home.write(CURSOR, &with_fixture());
    let moved = home.path("bin/forebay");
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_forebay"), &moved).unwrap();
    home.done(&["install", "--yes", "--program", moved.to_str().unwrap()]);
    fs::remove_file(&moved).unwrap();
    let found = clients(&home);
    let problem = found.iter().find(|(state, ..)| state == "problem");
    let (_, text, mend) = problem.unwrap_or_else(|| panic!("{found:?}"));
    assert!(text.contains("`fixture`, `forebay` cannot start"), "{text}");
    assert_eq!(mend, "forebay install --client cursor");
    let said = home.done(&["install", "--yes", "--client", "cursor"]);
    assert!(said.contains("starts the Forebay that is there now"), "{said}");
    assert!(clients(&home).iter().all(|(state, ..)| state == "ok"));
    let mut server = home.start(CURSOR, "fixture");
    assert!(tools(&mut server).contains(&"records".to_owned()));
    home.done(&["uninstall", "--yes"]);
    assert_eq!(home.read(CURSOR), with_fixture());
}

#[test]
fn a_key_in_a_url_reaches_the_server_and_no_command_line() {
    let upstream =
        HttpPeer::start(Command::new(programs::fixture_upstream()).args(["--http", "127.0.0.1:0"]));
    let home = Home::new();
    let url = format!("{}?key=s3cret-value", upstream.url());
    home.write(CURSOR, &json!({"mcpServers": {"far": {"url": url}}}).to_string());
    for arguments in [&["install", "--dry-run"][..], &["install", "--yes"]] {
        let said = home.done(arguments);
        assert!(said.contains("far") && !said.contains("s3cret-value"), "{said}");
    }
    let mut server = home.start(CURSOR, "far");
    let answer = server.ask(INITIALIZE);
    assert!(answer.contains("protocolVersion"), "{answer}");
    let line = fs::read(format!("/proc/{}/cmdline", server.child.id())).unwrap();
    let line = String::from_utf8(line).unwrap();
    assert!(line.contains("--url-env") && !line.contains("s3cret-value"), "{line}");

    let mut check = home.forebay(&["config", "--check"]);
    check.env("FOREBAY_URL", &url).env("FOREBAY_HEADER_X_KEY", "x");
    let output = check.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "All settings are in order.\n");
    let (said, code) = home.run(&["wrap", "--url-env", "NO_SUCH_VARIABLE"]);
    assert!(code == 2 && said.contains("the variable `NO_SUCH_VARIABLE`"), "{said}");
}

#[test]
fn tools_that_a_client_hides_are_hidden_behind_a_gateway() {
    const GEMINI: &str = ".gemini/settings.json";
    let home = Home::new();
    let entry = json!({"command": programs::fixture_upstream(), "includeTools": ["echo", "records"], "excludeTools": ["records"]});
    home.write(GEMINI, &json!({"mcpServers": {"fixture": entry}}).to_string());
    home.done(&["install", "--gateway", "--yes"]);
    let mut gateway = home.start(GEMINI, "forebay");
    gateway.ask(INITIALIZE);
    gateway.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let offered = tools(&mut gateway);
    assert!(offered.iter().any(|name| name.ends_with("echo")), "{offered:?}");
    assert!(
        !offered.iter().any(|name| name.ends_with("records") || name.ends_with("bytes")),
        "{offered:?}"
    );
}

#[test]
fn a_lost_entry_of_ours_is_a_problem_and_install_puts_it_back() {
    let home = Home::new();
    home.write(CURSOR, &with_fixture());
    home.done(&["install", "--yes"]);
    let mut now: Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
    let ours = now["mcpServers"].as_object_mut().unwrap().remove("forebay").unwrap();
    home.write(CURSOR, &now.to_string());
    let problem = || {
        let found = clients(&home);
        found.into_iter().find(|(state, ..)| state == "problem").map(|(_, text, mend)| (text, mend))
    };
    let (text, mend) = problem().unwrap();
    assert!(text.contains("there is no entry `forebay`"), "{text}");
    assert_eq!(mend, "forebay install --client cursor");
    let said = home.done(&["install", "--yes", "--client", "cursor"]);
    assert!(said.contains("forebay  is new: it offers the tools"), "{said}");
    assert_eq!(problem(), None);

    let mut off = ours;
    off["disabled"] = json!(true);
    now["mcpServers"]["forebay"] = off;
    let file = home.write(CURSOR, &now.to_string());
    let (text, mend) = problem().unwrap();
    assert!(text.contains("the entry `forebay` is switched off"), "{text}");
    assert_eq!(mend, format!("Switch it on in Cursor, or in {}.", file.display()));

    now["mcpServers"]["forebay"] = json!({"command": "other"});
    home.write(CURSOR, &now.to_string());
    let (text, mend) = problem().unwrap();
    assert!(text.contains("another server has the name `forebay`"), "{text}");
    assert_eq!(mend, format!("Rename that server in {}.", file.display()));
}

#[test]
fn tools_that_a_list_of_the_client_switches_off_are_a_problem() {
    const COPILOT: &str = ".copilot/mcp-config.json";
    let home = Home::new();
    let entry = json!({"type": "local", "command": programs::fixture_upstream(), "tools": ["*"]});
    home.write(COPILOT, &json!({"mcpServers": {"fixture": entry}}).to_string());
    home.done(&["install", "--yes"]);
    assert!(clients(&home).iter().all(|(state, ..)| state == "ok"));
    let list = home.write(".copilot/settings.json", r#"{"disabledMcpServers": ["forebay"]}"#);
    let found = clients(&home);
    let problem = found.iter().find(|(state, ..)| state == "problem");
    let (_, text, mend) = problem.unwrap_or_else(|| panic!("{found:?}"));
    let list = format!("`disabledMcpServers` in `{}` keeps the entry `forebay`", list.display());
    assert!(text.contains(&list) && mend == "Allow `forebay` in that list.", "{text} {mend}");
}

#[test]
fn what_install_would_leave_alone_is_not_advised() {
    let home = Home::new();
    home.write(CURSOR, &json!({"mcpServers": {"ftp": {"url": "ftp://localhost/"}}}).to_string());
    let found = clients(&home);
    let [(state, text, mend)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((state.as_str(), mend.as_str()), ("ok", ""), "{text}");
    assert!(text.contains("left alone: `ftp` (Forebay could not start with it: `url`"), "{text}");
}

#[test]
fn what_the_doctor_advises_for_a_projects_file_names_the_project() {
    let home = Home::new();
    home.write("project/.mcp.json", &with_fixture());
    let project = home.path("project").canonicalize().unwrap();
    let mut command = home.forebay(&["doctor", "--no-start", "--json"]);
    let output = command.current_dir(&project).output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = told["findings"].as_array().unwrap();
    let mends: Vec<&Value> =
        all.iter().filter(|it| it["area"] == "clients").map(|it| &it["mend"]).collect();
    let mend = format!("forebay install --client claude-code --project {}", project.display());
    assert_eq!(mends, [&json!(mend)]);
    home.done(&[
        "install",
        "--client",
        "claude-code",
        "--project",
        project.to_str().unwrap(),
        "--yes",
    ]);
    assert!(home.read("project/.mcp.json").contains("wrap"));
}

#[test]
fn the_servers_of_a_gateway_of_which_nothing_is_remembered_are_told() {
    let home = Home::new();
    home.write(CURSOR, &with_fixture());
    home.done(&["install", "--gateway", "--yes"]);
    fs::remove_file(home.path(".forebay/installed.json")).unwrap();
    let file = fs::read_dir(home.path(".forebay/clients")).unwrap().next().unwrap().unwrap();
    let file = file.path().display().to_string();
    let (said, code) = home.run(&["uninstall", "--yes"]);
    assert!(code == 1 && said.contains(&format!("behind it are in `{file}`")), "{said}");
    home.write(CURSOR, &with_fixture());
    let (said, code) = home.run(&["install", "--gateway", "--yes"]);
    assert!(code == 1 && said.contains(&file), "{said}");
    assert!(fs::read_to_string(&file).unwrap().contains("fixture"));
}

#[test]
fn entries_that_are_older_than_what_is_remembered_are_a_failure() {
    let home = Home::new();
    home.write(CURSOR, &with_fixture());
    home.done(&["install", "--yes"]);
    fs::remove_file(home.path(".forebay/installed.json")).unwrap();
    let mut now: Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
    now["mcpServers"]["new"] = json!({"command": "run"});
    home.write(CURSOR, &now.to_string());
    home.done(&["install", "--yes"]);
    let (said, code) = home.run(&["uninstall", "--yes"]);
    assert!(code == 1 && said.contains("but `fixture`, `forebay` start Forebay still"), "{said}");
}

#[test]
fn entries_that_could_not_start_are_left_alone() {
    let home = Home::new();
    let servers = json!({"mcpServers": {
        "ftp": {"url": "ftp://localhost/"},
        "lines": {"url": "http://localhost/", "headers": {"X-Key": "s3cret\nlines"}},
        "type": {"type": "stdio", "url": "http://localhost/"},
        "empty": {"url": ""},
    }});
    home.write(CURSOR, &servers.to_string());
    let said = home.done(&["install", "--yes"]);
    for (name, why) in [
        ("ftp", "Forebay could not start with it: `url` "),
        ("lines", "Forebay could not start with it: `headers.X-Key` has what no header can have"),
        ("type", "its `type` is `stdio`, and it has a URL"),
        ("empty", "its `url` is written in a way"),
    ] {
        let line = said.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        assert!(line.contains(&format!("left alone: {why}")), "{said}");
    }
    assert!(!said.contains("s3cret"), "{said}");
    assert_eq!(home.read(CURSOR), servers.to_string());
}
