//! TOML in which somebody has written since: a key belongs to the header above it, whatever goes or comes back there.

use std::fs;

use super::{Machine, only_outcome};
use crate::{Outcome, form::Form, value::Value};

fn value(text: &str) -> Value {
    Form::Toml.read(text).unwrap().value()
}

#[test]
fn a_key_behind_our_entry_goes_with_it_and_into_no_other_table() {
    let text = "[mcp_servers.a]\ncommand = \"a\"\n\n[other]\nx = 1\n";
    let machine = Machine::new();
    let path = machine.place("codex", "config.toml", text.as_bytes());
    for install in [Machine::install, Machine::install_gateway] {
        install(&machine);
        let now = fs::read_to_string(&path).unwrap();
        assert!(now.trim_end().ends_with(']'), "our entry is the last: {now}");
        fs::write(&path, format!("{now}startup_timeout_sec = 20\n")).unwrap();
        assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
        let now = fs::read_to_string(&path).unwrap();
        assert!(value(&now).says_the_same_as(&value(text)), "{now}");
        assert!(machine.left_over().is_empty());
        fs::write(&path, text).unwrap();
    }
}
