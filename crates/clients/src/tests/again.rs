//! A second install over a file that has Forebay in it: the file from before the first one is not lost.

use std::{fs, path::Path};

use super::{Machine, only_outcome};
use crate::{LeftOver, Outcome, Remains, Request, install};

const TWO: &str = r#"{
  "mcpServers": {
    // the first
    "a": { "command": "a" },
    "b": { "command": "b" } // said of it
  }
}
"#;

/// The file with one server more in front of the others.
fn with_new(text: &str) -> String {
    let table = "\"mcpServers\": {\n";
    assert!(text.contains(table), "{text}");
    text.replacen(table, &format!("{table}    \"new\": {{ \"command\": \"n\" }},\n"), 1)
}

fn rewrite(path: &Path, change: impl FnOnce(&str) -> String) {
    let changed = change(&fs::read_to_string(path).unwrap());
    fs::write(path, changed).unwrap();
}

#[test]
fn two_installs_of_a_file_that_nobody_else_changes_give_the_original_back() {
    for (client, name, text) in [
        ("cursor", "mcp.json", TWO),
        (
            "codex",
            "config.toml",
            "[mcp_servers.a]\ncommand = 'a' # it\n[mcp_servers.b]\ncommand = 'b'",
        ),
    ] {
        let machine = Machine::new();
        let path = machine.place(client, name, text.as_bytes());
        for server in ["b", "a"] {
            let request = Request { servers: vec![server.to_owned()], ..machine.request() };
            assert!(install(&machine.environment(), &request).unwrap()[0].is_change());
        }
        assert!(machine.install_as(&machine.program())[0].is_change(), "the program has moved");
        assert_eq!(*only_outcome(&machine.uninstall()), Outcome::Original);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert!(machine.left_over().is_empty());
    }
}

#[test]
fn the_copy_stays_though_not_all_can_be_undone_before_a_second_install() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", TWO.as_bytes());
    machine.install();
    rewrite(&path, |now| with_new(now).replacen(r#""--", "a"]"#, r#""--", "a", "-v"]"#, 1));
    assert!(machine.install()[0].is_change());
    let restored = machine.uninstall();
    let left = LeftOver { name: "a".to_owned(), what: Remains::Started };
    assert_eq!(*only_outcome(&restored), Outcome::Partly(vec![left]));
    let copy = restored[0].copy.as_ref().unwrap();
    assert_eq!(fs::read_to_string(copy).unwrap(), TWO);
    rewrite(&path, |now| now.replacen(r#""a", "-v"]"#, r#""a"]"#, 1));
    machine.uninstall();
    assert_eq!(fs::read_to_string(&path).unwrap(), with_new(TWO));
    assert!(machine.left_over().is_empty());
}

#[test]
fn the_layout_comes_back_though_a_gateways_file_is_installed_again() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", TWO.as_bytes());
    machine.install_gateway();
    rewrite(&path, with_new);
    assert!(machine.install()[0].is_change());
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    assert_eq!(fs::read_to_string(&path).unwrap(), with_new(TWO));
    assert!(machine.left_over().is_empty());
}

#[test]
fn what_was_written_so_before_the_first_install_is_known_after_the_second() {
    let machine = Machine::new();
    let mine =
        r#""mine": { "command": "/opt/forebay", "args": ["wrap", "--tools", "none", "--", "x"] }"#;
    let text = TWO.replacen(r#""a": {"#, &format!("{mine},\n    \"a\": {{"), 1);
    let path = machine.place("cursor", "mcp.json", text.as_bytes());
    machine.install_as(Path::new("/opt/forebay"));
    rewrite(&path, with_new);
    assert!(machine.install_as(Path::new("/opt/forebay"))[0].is_change());
    rewrite(&path, |now| format!("{now}\n"));
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", with_new(&text)));
    assert!(machine.left_over().is_empty());
}
