//! What clients say of servers beside their entries: servers that are off stay off, and the tools are where they can
//! run.

use std::{fs, path::Path};

use super::Machine;
use crate::{Fate, Reason, Request, Scope, ToolsLack, plan::plan, survey};

/// What becomes of the server `a` of a client behind a gateway, with these other files in the home.
fn fate_of_a(client: &str, text: &str, others: &[(&str, &str)]) -> Fate {
    let machine = Machine::new();
    machine.place(client, "mcp.json", text.as_bytes());
    place_at_home(&machine, others);
    let plans = machine.install_gateway();
    plans[0].servers.iter().find(|it| it.name == "a").unwrap().fate.clone()
}

fn place_at_home(machine: &Machine, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = machine.environment().home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn what_a_client_has_switched_off_by_its_name_stays_with_it() {
    let one = r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#;
    let with = |more: &str| one.replacen('{', &format!("{{{more},"), 1);
    let copilot = ".copilot/settings.json";
    let enablement = ".gemini/mcp-server-enablement.json";
    let claude = ".claude/settings.json";
    let mcpjson = r#"{"disabledMcpjsonServers":["a"]}"#.to_owned();
    let deny = |rule: &str| format!(r#"{{"permissions":{{"deny":["{rule}"]}}}}"#);
    let project = |more: &str| with(&format!(r#""projects":{{"/p":{{{more}}}}}"#));
    let off = |fate: &Fate| matches!(fate, Fate::Left(Reason::SwitchedOff(_)));
    for (client, text, file, other, is_off) in [
        ("copilot", one.to_owned(), copilot, r#"{"disabledMcpServers":["a"]}"#.to_owned(), true),
        ("copilot", one.to_owned(), copilot, r#"{"disabledMcpServers":["b"]}"#.to_owned(), false),
        ("gemini", with(r#""mcp":{"excluded":["A"]}"#), "x", String::new(), true),
        ("gemini", with(r#""mcp":{"excluded":["b"]}"#), "x", String::new(), false),
        ("gemini", with(r#""mcp":{"allowed":["b","forebay"]}"#), "x", String::new(), true),
        ("gemini", with(r#""mcp":{"allowed":["a","forebay"]}"#), "x", String::new(), false),
        ("gemini", one.to_owned(), enablement, r#"{"a":{"enabled":false}}"#.to_owned(), true),
        ("gemini", one.to_owned(), enablement, r#"{"a":{"enabled":true}}"#.to_owned(), false),
        ("gemini", with(r#""a":{"enabled":false}"#), "x", String::new(), false),
        ("claude-code", project(r#""disabledMcpServers":["a"]"#), "x", String::new(), true),
        ("claude-code", project(r#""disabledMcpServers":["b"]"#), "x", String::new(), false),
        // Those are of `.mcp.json` alone.
        ("claude-code", project(r#""disabledMcpjsonServers":["a"]"#), claude, mcpjson, false),
        ("claude-code", one.to_owned(), claude, deny("mcp__a"), true),
        ("claude-code", one.to_owned(), claude, deny("mcp__a__drop"), true),
        ("claude-code", one.to_owned(), claude, deny("mcp__*"), true),
        ("claude-code", one.to_owned(), claude, deny("mcp__ab__drop"), false),
        ("claude-code", one.to_owned(), claude, deny("Bash(rm:*)"), false),
    ] {
        let fate = fate_of_a(client, &text, &[(file, &other)]);
        assert_eq!(off(&fate), is_off, "{client} {text} {other}: {fate:?}");
        assert_eq!(fate == Fate::Move, !is_off, "{client} {text} {other}: {fate:?}");
    }
}

#[test]
fn the_list_that_says_so_is_named() {
    let text = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
    let settings = (".copilot/settings.json", r#"{"disabledMcpServers":["a"]}"#);
    let Fate::Left(reason) = fate_of_a("copilot", text, &[settings]) else { panic!() };
    let told = reason.to_string();
    assert!(told.starts_with("`disabledMcpServers` in `/"), "{told}");
    assert!(told.contains(".copilot/settings.json` says that it does not run"), "{told}");
}

#[test]
fn a_list_that_keeps_the_tools_from_running_keeps_all_as_it_is() {
    let one = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
    let with = |more: &str| one.replacen('{', &format!("{{{more},"), 1);
    let gemini = |list: &str| with(&format!(r#""mcp":{{{list}}}"#));
    let enablement = ".gemini/mcp-server-enablement.json";
    for (client, text, (file, other), is_obstacle) in [
        ("gemini", gemini(r#""allowed":["a"]"#), ("x", ""), true),
        ("gemini", gemini(r#""allowed":[]"#), ("x", ""), true),
        ("gemini", gemini(r#""excluded":["forebay"]"#), ("x", ""), true),
        ("gemini", gemini(r#""allowed":["a","forebay"]"#), ("x", ""), false),
        ("gemini", gemini(r#""excluded":["b"]"#), ("x", ""), false),
        ("gemini", one.to_owned(), (enablement, r#"{"forebay":{"enabled":false}}"#), true),
        ("gemini", one.to_owned(), (enablement, r#"{"a":{"enabled":false}}"#), false),
        (
            "copilot",
            one.to_owned(),
            (".copilot/settings.json", r#"{"disabledMcpServers":["forebay"]}"#),
            true,
        ),
        (
            "copilot",
            one.to_owned(),
            (".copilot/config.json", r#"{"disabledMcpServers":["a"]}"#),
            false,
        ),
        // In one project it does not run, and in all others it does.
        (
            "claude-code",
            with(r#""projects":{"/p":{"disabledMcpServers":["forebay"]}}"#),
            (".claude/settings.json", r#"{"disabledMcpjsonServers":["forebay"]}"#),
            false,
        ),
    ] {
        let machine = Machine::new();
        let path = machine.place(client, "mcp.json", text.as_bytes());
        place_at_home(&machine, &[(file, other)]);
        let plans = machine.install();
        let is_left = matches!(&plans[0].servers[0].fate, Fate::Left(Reason::ToolsBlocked(_)));
        assert_eq!(is_left, is_obstacle, "{text} {other}: {:?}", plans[0].servers);
        assert_eq!(fs::read_to_string(&path).unwrap() == text, is_obstacle, "{text} {other}");
    }
}

#[test]
fn what_is_said_of_servers_of_a_project_concerns_its_file_alone() {
    let list = r#"{"disabledMcpjsonServers":["forebay"]}"#;
    let one = r#"{"mcpServers":{"a":{"type":"stdio","command":"a"}}}"#;
    let machine = Machine::new();
    let project = machine.folder.path().join("project");
    fs::create_dir_all(project.join(".claude")).unwrap();
    fs::write(project.join(".mcp.json"), one).unwrap();
    let of_project = || {
        let request = Request { scope: Scope::Project(project.clone()), ..machine.request() };
        let plans = plan(&machine.environment(), &request).unwrap();
        plans[0].servers[0].fate.clone()
    };
    let claudes = |key: &str, folder: &str| {
        let of_folder = format!(r#"{{"{folder}":{{"{key}":["forebay"]}}}}"#);
        let text = one.replacen('{', &format!(r#"{{"projects":{of_folder},"#), 1);
        machine.place("claude-code", "claude.json", text.as_bytes())
    };
    let own = || {
        let plans = plan(&machine.environment(), &machine.request()).unwrap();
        plans[0].servers[0].fate.clone()
    };
    let folder = project.display().to_string();
    for key in ["disabledMcpServers", "disabledMcpjsonServers"] {
        let file = claudes(key, &folder);
        let told = format!("`projects.*.{key}` in `{}`", file.display());
        assert_eq!(of_project(), Fate::Left(Reason::ToolsBlocked(told)));
        assert_eq!(own(), Fate::Wrap, "{key}");
        claudes(key, "/another");
        assert_eq!((of_project(), own()), (Fate::Wrap, Fate::Wrap), "{key}");
    }
    // And where the project itself says so.
    let settings = project.join(".claude/settings.json");
    fs::write(&settings, list).unwrap();
    claudes("other", &folder);
    let told = format!("`disabledMcpjsonServers` in `{}`", settings.display());
    assert_eq!(of_project(), Fate::Left(Reason::ToolsBlocked(told)));
    assert_eq!(own(), Fate::Wrap);
}

/// Why nothing offers the tools, by the survey of all files of one client.
fn lacks(machine: &Machine, project: Option<&Path>) -> Vec<Option<ToolsLack>> {
    let states = survey(&machine.environment(), project, |_| Ok(()));
    states.into_iter().map(|it| it.lacks_tools).collect()
}

#[test]
fn tools_that_a_list_keeps_from_running_are_lacking() {
    let one = r#"{"mcpServers":{"a":{"type":"local","command":"a"}}}"#;
    for (client, file, list, place) in [
        (
            "copilot",
            ".copilot/settings.json",
            r#"{"disabledMcpServers":["forebay"]}"#,
            "`disabledMcpServers` in ",
        ),
        ("gemini", ".gemini/mcp-server-enablement.json", r#"{"forebay":{"enabled":false}}"#, ""),
    ] {
        let machine = Machine::new();
        machine.place(client, "mcp.json", one.as_bytes());
        machine.install_as(&machine.program());
        assert_eq!(lacks(&machine, None), [None]);
        place_at_home(&machine, &[(file, list)]);
        let file = machine.environment().home.join(file);
        let told = format!("{place}`{}`", file.display());
        assert_eq!(lacks(&machine, None), [Some(ToolsLack::Blocked(told))]);
    }
}

#[test]
fn tools_that_the_person_has_are_not_lacking_in_a_project() {
    let one = r#"{"mcpServers":{"a":{"type":"stdio","command":"a"}}}"#;
    let machine = Machine::new();
    let project = machine.folder.path().join("project");
    fs::create_dir_all(&project).unwrap();
    let wrapped = one.replace(
        r#""command":"a""#,
        r#""command":"forebay","args":["wrap","--tools","none","--","a"]"#,
    );
    let file = project.join(".mcp.json");
    fs::write(&file, &wrapped).unwrap();
    let own = machine.place("claude-code", "claude.json", one.as_bytes());
    assert_eq!(lacks(&machine, Some(&project)), [None, Some(ToolsLack::Missing)]);
    machine.install_as(&machine.program());
    assert_eq!(lacks(&machine, Some(&project)), [None, None]);
    // Unless it is off there.
    let installed = fs::read_to_string(&own).unwrap();
    let off = format!(
        r#"{{"projects":{{"{}":{{"disabledMcpServers":["forebay"]}}}},"#,
        project.display()
    );
    fs::write(&own, installed.replacen('{', &off, 1)).unwrap();
    let [None, Some(ToolsLack::Blocked(_))] = &lacks(&machine, Some(&project))[..] else {
        panic!("{:?}", lacks(&machine, Some(&project)))
    };
    fs::write(&own, installed).unwrap();
    // Or its name is another's in the project.
    let taken = wrapped.replacen(r#""a":"#, r#""forebay":{"command":"other"},"a":"#, 1);
    fs::write(&file, taken).unwrap();
    assert_eq!(lacks(&machine, Some(&project)), [None, Some(ToolsLack::Taken)]);
}
