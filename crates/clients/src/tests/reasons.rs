//! Servers that Forebay could not stand in front of, or that may not work behind it.

use super::Machine;
use crate::{Fate, Reason, plan::plan};

/// What becomes of the only server in a client's file.
fn fate(client: &str, name: &str, text: &str) -> Fate {
    let machine = Machine::new();
    machine.place(client, name, text.as_bytes());
    let plans = plan(&machine.environment(), &machine.request()).unwrap();
    assert_eq!(plans[0].refusal, None, "{text}");
    plans[0].servers[0].fate.clone()
}

#[test]
fn a_server_that_is_started_with_a_debugger_is_left_alone() {
    for (more, want) in [
        (r#""dev":{"watch":"src/**","debug":{"type":"node"}}"#, Fate::Left(Reason::Debugged)),
        (r#""dev":{"debug":{"type":"debugpy"}}"#, Fate::Left(Reason::Debugged)),
        (r#""dev":{"watch":"src/**"}"#, Fate::Wrap),
        (r#""dev":{"debug":null}"#, Fate::Wrap),
        (r#""dev":{"debug":false}"#, Fate::Wrap),
    ] {
        let text = format!(r#"{{"servers":{{"a":{{"command":"node","args":["a.js"],{more}}}}}}}"#);
        assert_eq!(fate("vscode", "mcp.json", &text), want, "{text}");
    }
}
