//! Servers behind a gateway: what goes there, and how it comes back.

use std::{fs, path::PathBuf};

use super::{Machine, only_outcome};
use crate::{Fate, Mode, Outcome, Reason, Request, install, value::Value};

const THREE: &str = r#"{
  "mcpServers": {
    // the first
    "a": { "command": "a", "env": { "K": "s3cret" } },
    // stays: ${V} is the client's
    "v": { "command": "v", "args": ["${V}"] },
    /* the last */
    "b": {
      "command": "b" // said of it
    }
  }
}
"#;

fn gateway_file(machine: &Machine) -> PathBuf {
    let mut files = fs::read_dir(machine.home().join("clients")).unwrap();
    files.next().unwrap().unwrap().path()
}

fn value(text: &str) -> Value {
    crate::json::read(text).unwrap().value()
}

#[test]
fn servers_come_back_when_somebody_has_removed_our_entry() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", THREE.as_bytes());
    machine.install_gateway();
    let now = fs::read_to_string(&path).unwrap();
    let ours = crate::json::remove(&now, &["mcpServers".to_owned(), "forebay".to_owned()]).unwrap();
    let without = ours.into_text(&now);
    fs::write(&path, &without).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    assert_eq!(fs::read_to_string(&path).unwrap(), THREE, "with the comments");
    assert!(machine.left_over().is_empty());

    // As Claude Code does it: the file is written anew.
    machine.install_gateway();
    fs::write(&path, r#"{"mcpServers":{"v":{"command":"v","args":["${V}"]}}}"#).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    let now = fs::read_to_string(&path).unwrap();
    assert!(value(&now).says_the_same_as(&value(THREE)), "{now}");

    // And the last one goes with its table.
    machine.install_gateway();
    fs::write(&path, "{}\n").unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    let now = fs::read_to_string(&path).unwrap();
    assert!(now.contains("\n    \"a\": {") && now.contains("s3cret"), "{now}");
    assert!(now.contains("\"command\": \"b\" // said of it"), "in its own words: {now}");
    assert!(machine.left_over().is_empty());
}

#[test]
fn what_cannot_be_put_back_is_kept() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", THREE.as_bytes());
    machine.install_gateway();
    fs::write(&path, r#"{"mcpServers":[]}"#).unwrap();
    let restored = machine.uninstall();
    assert!(matches!(only_outcome(&restored), Outcome::Partly(_)), "{restored:?}");
    assert!(fs::read_to_string(gateway_file(&machine)).unwrap().contains("s3cret"));
    let copy = restored[0].copy.as_ref().unwrap();
    assert_eq!(fs::read_to_string(copy).unwrap(), THREE);
    fs::write(&path, THREE).unwrap();
    machine.uninstall();
    assert_eq!(fs::read_to_string(&path).unwrap(), THREE);
    assert!(machine.left_over().is_empty());
}

#[test]
fn comments_and_layout_come_back_though_a_server_was_added() {
    for (from, to) in [
        ("    }\n  }\n}\n", "    },\n    \"new\": { \"command\": \"n\" }\n  }\n}\n"),
        ("\"mcpServers\": {\n", "\"mcpServers\": {\n    \"new\": { \"command\": \"n\" },\n"),
    ] {
        let machine = Machine::new();
        let path = machine.place("cursor", "mcp.json", THREE.as_bytes());
        machine.install_gateway();
        let now = fs::read_to_string(&path).unwrap();
        assert!(now.contains(from), "{now}");
        fs::write(&path, now.replacen(from, to, 1)).unwrap();
        assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
        assert_eq!(fs::read_to_string(&path).unwrap(), THREE.replacen(from, to, 1));
        assert!(machine.left_over().is_empty());
    }
}

#[test]
fn what_is_said_of_a_server_that_stays_does_so() {
    let text = "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" }, // goes\n    // stays\n    \"v\": { \"command\": \"${V}\" }\n  }\n}\n";
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", text.as_bytes());
    machine.install_gateway();
    let now = fs::read_to_string(&path).unwrap();
    assert!(now.contains("{\n    // stays\n    \"v\"") && !now.contains("goes"), "{now}");
    machine.uninstall();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn comments_come_back_in_toml_too() {
    let text = "# mine\n[mcp_servers.a] # first\ncommand = \"a\"\n\n# the second\n[mcp_servers.b]\ncommand = \"b\"\n\n[other]\nx = 1\n";
    let machine = Machine::new();
    let path = machine.place("codex", "config.toml", text.as_bytes());
    machine.install_gateway();
    let now = fs::read_to_string(&path).unwrap();
    let new = "\n[mcp_servers.new]\ncommand = \"n\"\n";
    fs::write(&path, format!("{now}{new}")).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{text}{new}"));
}

#[test]
fn what_was_changed_in_the_gateways_file_comes_back() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", THREE.as_bytes());
    machine.install_gateway();
    let file = gateway_file(&machine);
    let ours = fs::read_to_string(&file).unwrap();
    let changed = ours
        .replace("s3cret", "changed")
        .replace("\"mcpServers\": {", "\"mcpServers\": { \"n\": { \"command\": \"n\" },");
    fs::write(&file, changed).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    let now = fs::read_to_string(&path).unwrap();
    assert!(now.contains("// the first") && now.contains("// said of it"), "{now}");
    let value = value(&now);
    let servers = value.get("mcpServers").unwrap();
    let key = servers.get("a").unwrap().get("env").unwrap().get("K").unwrap();
    assert_eq!(key.as_text(), Some("changed"), "{now}");
    assert_eq!(servers.get("n").unwrap().get("command").unwrap().as_text(), Some("n"));
    assert!(machine.left_over().is_empty());

    fs::write(&path, THREE).unwrap();
    machine.install_gateway();
    fs::write(gateway_file(&machine), "{ no").unwrap();
    let restored = machine.uninstall();
    assert!(matches!(only_outcome(&restored), Outcome::Refused(why) if why.contains("clients/")));
    assert!(!machine.left_over().is_empty());
}

#[test]
fn who_has_wrapped_servers_is_told_to_take_that_out_first() {
    let machine = Machine::new();
    machine.place("cursor", "mcp.json", br#"{"mcpServers":{"a":{"command":"a"}}}"#);
    machine.install();
    let refusal = machine.install_gateway()[0].refusal.clone().unwrap_or_default();
    assert!(refusal.contains("forebay uninstall"), "{refusal}");
}

#[test]
fn which_tools_are_offered_goes_behind_the_gateway_or_the_server_stays() {
    let moved = |client: &str, name: &str, text: &str| {
        let machine = Machine::new();
        machine.place(client, name, text.as_bytes());
        let plans = machine.install_gateway();
        match &plans[0].servers[0].fate {
            Fate::Move => Ok(fs::read_to_string(gateway_file(&machine)).unwrap()),
            Fate::Left(Reason::Tools(key)) => Err(key.clone()),
            other => panic!("{other:?}"),
        }
    };
    let json = |keys: &str| format!(r#"{{"mcpServers":{{"a":{{"command":"a",{keys}}}}}}}"#);
    let allow = r#""allow_tools": ["x", "y"]"#;
    let deny = r#""deny_tools": ["x"]"#;
    for (client, keys, want) in [
        ("gemini", r#""includeTools":["x","y"],"excludeTools":["x"]"#, Ok(vec![allow, deny])),
        ("gemini", r#""includeTools":[]"#, Err("includeTools")),
        ("gemini", r#""includeTools":["x(1)"]"#, Err("includeTools")),
        ("gemini", r#""trust":false"#, Ok(vec![])),
        ("gemini", r#""trust":true"#, Err("trust")),
        ("kiro", r#""disabledTools":["x"],"autoApprove":[]"#, Ok(vec![deny])),
        ("kiro", r#""autoApprove":["x"]"#, Err("autoApprove")),
        ("cline", r#""autoApprove":["x"]"#, Err("autoApprove")),
        ("roo", r#""alwaysAllow":["x"]"#, Err("alwaysAllow")),
        ("copilot", r#""type":"local","tools":["x","y"]"#, Ok(vec![allow])),
        ("copilot", r#""type":"local","tools":["*"]"#, Ok(vec![])),
        ("copilot", r#""type":"local","tools":[]"#, Err("tools")),
    ] {
        match (moved(client, "mcp.json", &json(keys)), want) {
            (Ok(made), Ok(want)) => {
                assert!(want.iter().all(|it| made.contains(it)), "{client} {keys}: {made}");
                assert_eq!(made.matches("_tools").count(), want.len(), "{client} {keys}: {made}");
            }
            (made, want) => assert_eq!(made, want.map(|_| String::new()).map_err(str::to_owned)),
        }
    }
    let toml = |keys: &str| format!("[mcp_servers.a]\ncommand = \"a\"\n{keys}\n");
    let made = moved(
        "codex",
        "config.toml",
        &toml("enabled_tools = [\"x\", \"y\"]\ndisabled_tools = [\"x\"]"),
    );
    assert!(made.is_ok_and(|made| made.contains(allow) && made.contains(deny)));
    let approval = toml("[mcp_servers.a.tools.x]\napproval_mode = \"prompt\"");
    assert_eq!(moved("codex", "config.toml", &approval), Err("tools".to_owned()));
}

#[test]
fn what_a_gateway_would_pass_over_stays_with_the_client() {
    let machine = Machine::new();
    let text = r#"{"mcpServers":{"odd":{"command":"a","cwd":"./odd"},"b":{"command":"b"}}}"#;
    let path = machine.place("cursor", "mcp.json", text.as_bytes());
    let reads = |file: &str| {
        if file.contains("./odd") { Err("`cwd` is no path".to_owned()) } else { Ok(()) }
    };
    let request = Request { mode: Mode::Gateway, gateway_reads: reads, ..machine.request() };
    let plans = install(&machine.environment(), &request).unwrap();
    let reason = Reason::NotForGateway("`cwd` is no path".to_owned());
    assert_eq!(plans[0].servers[0].fate, Fate::Left(reason));
    assert_eq!(plans[0].servers[1].fate, Fate::Move);
    assert!(fs::read_to_string(&path).unwrap().contains(r#""odd":{"command":"a","cwd":"./odd"}"#));
    assert!(!fs::read_to_string(gateway_file(&machine)).unwrap().contains("odd"));
    machine.uninstall();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn what_clients_write_in_other_words_goes_behind_the_gateway() {
    let machine = Machine::new();
    let json = r#"{"mcpServers":{"a":{"command":"a","env":{"PORT":8080,"ON":true,"K":"k"}}}}"#;
    let path = machine.place("cursor", "mcp.json", json.as_bytes());
    machine.install_gateway();
    let made = fs::read_to_string(gateway_file(&machine)).unwrap();
    let entry = value(&made);
    let entry = entry.get("mcpServers").unwrap().get("a").unwrap();
    assert!(
        entry.says_the_same_as(&value(
            r#"{"command":"a","env":{"PORT":"8080","ON":"true","K":"k"}}"#
        ))
    );
    machine.uninstall();
    assert_eq!(fs::read_to_string(path).unwrap(), json);

    for (theirs, ours) in [
        ("tool_timeout_sec = 7", r#"{"command":"a","timeout":7}"#),
        ("tool_timeout_sec = 7.5", r#"{"command":"a","timeout":8}"#),
        ("tool_timeout_sec = 7200.0", r#"{"command":"a","timeout":7200000}"#),
        ("startup_timeout_sec = 20", r#"{"command":"a","start_timeout":20}"#),
        ("startup_timeout_ms = 1500", r#"{"command":"a","start_timeout":2}"#),
        (
            "startup_timeout_ms = 1500\nstartup_timeout_sec = 9",
            r#"{"command":"a","start_timeout":9}"#,
        ),
    ] {
        let machine = Machine::new();
        let toml = format!("[mcp_servers.a]\ncommand = \"a\"\n{theirs}\n");
        let path = machine.place("codex", "config.toml", toml.as_bytes());
        machine.install_gateway();
        let file = gateway_file(&machine);
        let made = fs::read_to_string(&file).unwrap();
        let servers = value(&made);
        let entry = servers.get("mcpServers").unwrap().get("a").unwrap();
        assert!(entry.says_the_same_as(&value(ours)), "{theirs}: {made}");
        machine.uninstall();
        assert_eq!(fs::read_to_string(&path).unwrap(), toml);
    }
}

#[test]
fn patience_that_was_changed_behind_the_gateway_comes_back_to_codex() {
    let machine = Machine::new();
    let toml = "[mcp_servers.a]\ncommand = \"a\"\ntool_timeout_sec = 7\n";
    let path = machine.place("codex", "config.toml", toml.as_bytes());
    machine.install_gateway();
    let file = gateway_file(&machine);
    let made = fs::read_to_string(&file).unwrap().replace("\"timeout\": 7", "\"timeout\": 90");
    fs::write(&file, made).unwrap();
    machine.uninstall();
    let now = fs::read_to_string(path).unwrap();
    assert!(now.contains("tool_timeout_sec = 90") && !now.contains("\ntimeout"), "{now}");
}

#[test]
fn servers_that_stand_behind_a_gateway_alone_are_not_overwritten() {
    let machine = Machine::new();
    let text = r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#;
    let path = machine.place("cursor", "mcp.json", text.as_bytes());
    machine.install_gateway();
    let file = gateway_file(&machine);
    let changed = fs::read_to_string(&file).unwrap().replace(r#""b""#, r#""b2""#);
    fs::write(&file, &changed).unwrap();
    let with_ours = fs::read_to_string(&path).unwrap();
    let added = with_ours.replace(r#""mcpServers":{"#, r#""mcpServers":{"new":{"command":"n"},"#);
    for now in [
        added.as_str(),
        r#"{"mcpServers":{"new":{"command":"n"}}}"#,
        r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#,
    ] {
        fs::write(&path, now).unwrap();
        let refusal = machine.install_gateway()[0].refusal.clone().unwrap_or_default();
        assert!(refusal.contains("run `forebay uninstall` first"), "{refusal}");
        assert_eq!(fs::read_to_string(&file).unwrap(), changed);
        assert_eq!(fs::read_to_string(&path).unwrap(), now);
    }
    fs::write(&path, r#"{"mcpServers":{"new":{"command":"n"}}}"#).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    let want =
        r#"{"mcpServers":{"new":{"command":"n"},"a":{"command":"a"},"b2":{"command":"b2"}}}"#;
    let now = fs::read_to_string(&path).unwrap();
    assert!(value(&now).says_the_same_as(&value(want)), "{now}");
    machine.install_gateway();
    assert_eq!(fs::read_to_string(gateway_file(&machine)).unwrap().matches("command").count(), 3);
}

#[test]
fn who_has_written_all_servers_anew_can_have_them_behind_the_gateway_again() {
    let machine = Machine::new();
    let text = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
    let path = machine.place("cursor", "mcp.json", text.as_bytes());
    machine.install_gateway();
    let more = r#"{"mcpServers":{"a":{"command":"a"},"new":{"command":"n"}}}"#;
    fs::write(&path, more).unwrap();
    assert_eq!(machine.install_gateway()[0].refusal, None);
    let file = gateway_file(&machine);
    let ours = fs::read_to_string(&file).unwrap();
    fs::write(&file, ours.replace(r#""command": "n""#, r#""command": "m""#)).unwrap();
    machine.uninstall();
    let now = fs::read_to_string(&path).unwrap();
    let want = more.replace(r#""command":"n""#, r#""command":"m""#);
    assert!(value(&now).says_the_same_as(&value(&want)), "{now}");
    assert!(machine.left_over().is_empty());
}

/// A gateway's file that was changed, and then the client's, each by one replacement.
fn changed_in_both(
    behind: (&str, &str),
    here: (&str, &str),
) -> (Machine, PathBuf, Vec<crate::Restored>) {
    let machine = Machine::new();
    let text = r#"{"mcpServers":{"a":{"command":"a","args":["1"],"cwd":"/a"}}}"#;
    let path = machine.place("cursor", "mcp.json", text.as_bytes());
    machine.install_gateway();
    for (path, (from, to)) in [(&gateway_file(&machine), behind), (&path, here)] {
        let now = fs::read_to_string(path).unwrap();
        assert!(now.contains(from), "{now}");
        fs::write(path, now.replacen(from, to, 1)).unwrap();
    }
    let restored = machine.uninstall();
    (machine, path, restored)
}

#[test]
fn what_was_changed_alike_here_and_behind_the_gateway_is_done() {
    let table = "\"mcpServers\": {";
    let a = r#""a": { "command": "a", "args": ["1"], "cwd": "/b" },"#;
    for (behind, here, want) in [
        (
            (table, format!("{table} \"n\": {{ \"command\": \"n\" }},")),
            r#""n": { "command": "n", "type": "stdio" },"#,
            r#"{"a":{"command":"a","args":["1"],"cwd":"/a"},"n":{"command":"n","type":"stdio"}}"#,
        ),
        (("/a\"", "/b\"".to_owned()), a, r#"{"a":{"command":"a","args":["1"],"cwd":"/b"}}"#),
        (
            ("\"cwd\": \"/a\"", "\"cwd\": \"/b\", \"timeout\": 7".to_owned()),
            a,
            r#"{"a":{"command":"a","args":["1"],"cwd":"/b","timeout":7}}"#,
        ),
        (
            ("\"cwd\"", "\"env\": { \"P\": \"1\" }, \"cwd\"".to_owned()),
            r#""a": { "command": "a", "args": ["1"], "env": { "P": 1 }, "cwd": "/a" },"#,
            r#"{"a":{"command":"a","args":["1"],"env":{"P":1},"cwd":"/a"}}"#,
        ),
    ] {
        let table = "\"mcpServers\":{";
        let here = (table, format!("{table}{here}"));
        let (machine, path, restored) = changed_in_both((behind.0, &behind.1), (here.0, &here.1));
        assert_eq!(*only_outcome(&restored), Outcome::EntryByEntry);
        let now = value(&fs::read_to_string(path).unwrap());
        assert!(now.get("mcpServers").unwrap().says_the_same_as(&value(want)), "{now:?}");
        assert!(machine.left_over().is_empty());
    }
}

#[test]
fn what_was_changed_otherwise_here_and_behind_the_gateway_can_be_made_the_same() {
    let (table, ours) = ("\"mcpServers\": {", "\"mcpServers\":{");
    for (behind, here, mended) in [
        (
            ("/a\"", "/b\""),
            "\"a\":{\"command\":\"a\",\"args\":[\"1\"],\"cwd\":\"/c\"},",
            ("/c\"", "/b\""),
        ),
        (
            (table, &*format!("{table} \"n\": {{ \"command\": \"n\" }},")),
            "\"n\":{\"command\":\"m\"},",
            ("\"m\"", "\"n\""),
        ),
    ] {
        let here = format!("{ours}{here}");
        let (machine, path, restored) = changed_in_both(behind, (ours, &here));
        let file = gateway_file(&machine).display().to_string();
        assert!(
            matches!(only_outcome(&restored), Outcome::Refused(why) if why.contains(&file)),
            "{restored:?}"
        );
        let now = fs::read_to_string(&path).unwrap();
        assert!(now.contains(&here), "{now}");
        fs::write(&path, now.replacen(mended.0, mended.1, 1)).unwrap();
        assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
        let now = fs::read_to_string(&path).unwrap();
        assert!(now.contains(mended.1) && !now.contains("gateway"), "{now}");
        assert!(machine.left_over().is_empty());
    }
}

const GOOSES: &str = "extensions:\n  a:\n    enabled: true\n    type: stdio\n    name: a\n    cmd: a\n    args: []\n    \
                      timeout: 7200\n  b:\n    enabled: true\n    type: stdio\n    name: b\n    cmd: b\n    args: []\n    \
                      timeout: null\n    available_tools: []\n";

#[test]
fn goose_waits_for_a_gateway_as_long_as_for_the_most_patient_server() {
    let machine = Machine::new();
    let path = machine.place("goose", "config.yaml", GOOSES.as_bytes());
    machine.install_gateway();
    let file = fs::read_to_string(gateway_file(&machine)).unwrap();
    let servers = value(&file);
    let server = |name: &str| servers.get("mcpServers").unwrap().get(name).unwrap().clone();
    // A gateway takes more than an hour for milliseconds.
    assert_eq!(server("a").get("timeout"), Some(&Value::Plain("7200000".to_owned())));
    assert_eq!(server("b").get("timeout"), None);
    let written = fs::read_to_string(&path).unwrap();
    assert!(
        written.contains("args: [\"gateway\"") && written.contains("timeout: 7200\n"),
        "{written}"
    );
    fs::write(gateway_file(&machine), file.replace("7200000", "5400000")).unwrap();
    machine.uninstall();
    assert_eq!(fs::read_to_string(&path).unwrap(), GOOSES.replace("7200", "5400"));
}

#[test]
fn what_was_added_behind_a_gateway_comes_back_as_goose_wants_it() {
    let machine = Machine::new();
    let path = machine.place("goose", "config.yaml", GOOSES.as_bytes());
    machine.install_gateway();
    let file = gateway_file(&machine);
    let more = r#""mcpServers": {
    "x": { "command": "x", "disabled": true },
    "z": { "type": "http", "url": "http://127.0.0.1/mcp" },"#;
    let text = fs::read_to_string(&file).unwrap().replacen("\"mcpServers\": {", more, 1);
    fs::write(&file, text).unwrap();
    machine.uninstall();
    let now = fs::read_to_string(&path).unwrap();
    let x = "  x:\n    enabled: false\n    name: \"x\"\n    type: \"stdio\"\n    cmd: \"x\"\n    args: []\n";
    let z = "  z:\n    enabled: true\n    name: \"z\"\n    type: \"streamable_http\"\n    uri: \"http://127.0.0.1/mcp\"\n";
    assert!(now.starts_with(GOOSES) && now.contains(x) && now.contains(z), "{now}");
}

#[test]
fn servers_come_back_where_nothing_is_left_of_their_table() {
    let machine = Machine::new();
    let path = machine.place("goose", "config.yaml", GOOSES.as_bytes());
    machine.install_gateway();
    for empty in ["extensions:\n", "extensions: {}\n", "extensions: ~ # none\n", "{}\n", ""] {
        fs::write(&path, empty).unwrap();
        let told = crate::uninstall(&machine.home(), &[], crate::Missing::Keep, crate::Run::Dry);
        assert_eq!(*only_outcome(&told.unwrap()), Outcome::EntryByEntry, "{empty}");
    }
    fs::write(&path, "extensions:\n").unwrap();
    machine.uninstall();
    assert_eq!(fs::read_to_string(&path).unwrap(), GOOSES);
}
