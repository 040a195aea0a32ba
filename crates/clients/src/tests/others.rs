//! Others who change the same files, and files that are not as they should be.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    thread,
};

use super::{Machine, only_outcome};
use crate::{
    ClientsError, Fate, LeftOver, Missing, Mode, Outcome, Reason, Remains, Request, Run, Scope,
    Standing, install, plan::plan, survey, uninstall,
};

const TWO: &str = r#"{
  "mcpServers": {
    "a": { "command": "a", "args": ["1"] },
    "b": { "url": "https://b.example/mcp", "headers": { "X-Key": "secret" } }
  }
}
"#;

fn changed(machine: &Machine, text: &str, from: &str, to: &str) -> (Vec<crate::Restored>, String) {
    let path = machine.place("cursor", "mcp.json", text.as_bytes());
    machine.install();
    let now = fs::read_to_string(&path).unwrap();
    assert!(now.contains(from), "{now}");
    fs::write(&path, now.replacen(from, to, 1)).unwrap();
    let restored = machine.uninstall();
    (restored, fs::read_to_string(&path).unwrap())
}

#[test]
fn what_somebody_adds_to_a_wrapped_entry_stays() {
    let machine = Machine::new();
    let (restored, now) = changed(&machine, TWO, r#""a": { "#, r#""a": { "disabled": true, "#);
    assert_eq!(*only_outcome(&restored), Outcome::EntryByEntry);
    let want = TWO.replace(r#""a": { "#, r#""a": { "disabled": true, "#);
    assert_eq!(now, want);
}

#[test]
fn what_somebody_adds_to_a_remote_entry_stays() {
    let machine = Machine::new();
    let (restored, now) = changed(&machine, TWO, r#""b": { "#, r#""b": { "disabled": true, "#);
    assert_eq!(*only_outcome(&restored), Outcome::EntryByEntry);
    assert_eq!(now, TWO.replace(r#""b": { "#, r#""b": { "disabled": true, "#));
}

#[test]
fn a_wrapped_entry_that_somebody_changed_is_named_and_stays() {
    let machine = Machine::new();
    let (restored, now) =
        changed(&machine, TWO, r#""none", "--name", "a""#, r#""none", "--name", "z""#);
    assert_eq!(
        *only_outcome(&restored),
        Outcome::Partly(vec![LeftOver { name: "a".to_owned(), what: Remains::Started }])
    );
    assert!(restored[0].copy.as_ref().is_some_and(|copy| fs::read_to_string(copy).unwrap() == TWO));
    assert!(now.contains(r#""z", "--", "a", "1"]"#) && now.contains("https://b.example"), "{now}");
    assert!(!now.contains(r#""forebay": "#), "{now}");
    // It is still known, and can be undone once it is as it was.
    let path = machine.environment().home.join(".cursor/mcp.json");
    fs::write(&path, now.replace(r#""z""#, r#""a""#)).unwrap();
    machine.uninstall();
    assert_eq!(fs::read_to_string(&path).unwrap(), TWO);
    assert!(machine.left_over().is_empty());
}

#[test]
fn an_entry_that_somebody_replaced_or_took_out_is_theirs() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", TWO.as_bytes());
    machine.install();
    fs::write(&path, r#"{"mcpServers":{"a":{"command":"mine"}}}"#).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::Nothing);
    assert_eq!(fs::read_to_string(&path).unwrap(), r#"{"mcpServers":{"a":{"command":"mine"}}}"#);
    assert!(machine.left_over().is_empty());
}

#[test]
fn a_server_that_came_later_is_wrapped_later_and_all_is_taken_out() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", TWO.as_bytes());
    machine.install();
    let more = |text: &str| {
        text.replacen(
            "\"mcpServers\": {\n",
            "\"mcpServers\": {\n    \"new\": { \"command\": \"n\" },\n",
            1,
        )
    };
    fs::write(&path, more(&fs::read_to_string(&path).unwrap())).unwrap();
    let plans = machine.install();
    let fates: Vec<(&str, &Fate)> =
        plans[0].servers.iter().map(|it| (it.name.as_str(), &it.fate)).collect();
    let want = [
        ("new", &Fate::Wrap),
        ("a", &Fate::Wrapped),
        ("b", &Fate::Wrapped),
        ("forebay", &Fate::Forebay),
    ];
    assert_eq!(fates, want);
    // Nobody has ever written this file, so nothing is said of bytes.
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    assert_eq!(fs::read_to_string(&path).unwrap(), more(TWO));
}

#[test]
fn what_cannot_be_understood_is_refused_and_stays() {
    for (client, name, text) in [
        ("cursor", "mcp.json", &b"{ \"mcpServers\": { \"a\": "[..]),
        ("cursor", "mcp.json", b"[1, 2]"),
        ("cursor", "mcp.json", b"\xff\xfe{\0}\0"),
        ("cursor", "mcp.json", br#"{"mcpServers": [1]}"#),
        ("cursor", "mcp.json", br#"{"mcpServers": {}, "mcpServers": {"a": {"command": "a"}}}"#),
        (
            "codex",
            "config.toml",
            b"[mcp_servers.a]\ncommand = \"a\"\n[mcp_servers.a]\ncommand = \"b\"\n",
        ),
        ("codex", "config.toml", b"mcp_servers = 1\n"),
    ] {
        let machine = Machine::new();
        let path = machine.place(client, name, text);
        let plans = machine.install();
        assert!(plans[0].refusal.is_some(), "{}", String::from_utf8_lossy(text));
        assert!(fs::read(&path).unwrap() == text);
        assert!(machine.left_over().is_empty());
    }
}

#[test]
fn an_unreadable_file_is_told_of_when_it_is_to_be_restored() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", TWO.as_bytes());
    machine.install();
    fs::write(&path, "{ not json").unwrap();
    let restored = machine.uninstall();
    assert!(matches!(only_outcome(&restored), Outcome::Refused(_)), "{restored:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ not json");
    assert!(!machine.left_over().is_empty(), "it is still known");
    fs::write(&path, TWO).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::Nothing);
    assert!(machine.left_over().is_empty());
}

#[test]
fn links_and_modes_survive() {
    let machine = Machine::new();
    let link = machine.place("cursor", "mcp.json", b"");
    let real = machine.folder.path().join("dotfiles.json");
    fs::write(&real, TWO).unwrap();
    fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).unwrap();
    fs::remove_file(&link).unwrap();
    symlink(&real, &link).unwrap();
    machine.install();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("/usr/bin/forebay"));
    assert_eq!(mode(&real), 0o640);
    assert_eq!(mode(&machine.home().join("installed.json")), 0o600);
    assert_eq!(mode(&machine.home()), 0o700);
    let copies = fs::read_dir(machine.home().join("installed")).unwrap();
    for copy in copies.map(|it| it.unwrap().path()) {
        assert_eq!(mode(&copy), 0o600);
    }
    machine.uninstall();
    assert_eq!(fs::read_to_string(&real).unwrap(), TWO);
    assert_eq!(mode(&real), 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn a_file_that_may_not_be_written_stays() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", TWO.as_bytes());
    fs::set_permissions(&path, PermissionsExt::from_mode(0o400)).unwrap();
    let plans = machine.install();
    // Who may write to everything may write to this.
    if fs::OpenOptions::new().append(true).open(&path).is_err() {
        assert!(plans[0].refusal.is_some(), "{plans:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), TWO);
        assert!(machine.left_over().is_empty());
    }
}

#[test]
fn two_installs_at_once_do_not_lose_each_others_change() {
    for _ in 0..8 {
        let machine = Machine::new();
        let cursor = machine.place("cursor", "mcp.json", TWO.as_bytes());
        let kiro = machine.place("kiro", "mcp.json", TWO.as_bytes());
        thread::scope(|scope| {
            for (clients, servers) in
                [("cursor", "a"), ("cursor", "b"), ("kiro", "a"), ("kiro", "b")]
            {
                let request = Request {
                    clients: vec![clients.to_owned()],
                    servers: vec![servers.to_owned()],
                    ..machine.request()
                };
                let environment = machine.environment();
                scope.spawn(move || install(&environment, &request).unwrap());
            }
        });
        for path in [&cursor, &kiro] {
            let text = fs::read_to_string(path).unwrap();
            assert_eq!(text.matches("\"wrap\"").count(), 2, "{text}");
            assert_eq!(text.matches("\"gateway\"").count(), 1, "{text}");
        }
        assert_eq!(machine.uninstall().len(), 2);
        assert_eq!(fs::read_to_string(&cursor).unwrap(), TWO);
        assert_eq!(fs::read_to_string(&kiro).unwrap(), TWO);
    }
}

#[test]
fn a_client_that_writes_meanwhile_loses_nothing() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", TWO.as_bytes());
    let texts = || (0..200).map(|count| TWO.replacen('{', &format!("{{ \"count\": {count},"), 1));
    let (environment, request) = (machine.environment(), machine.request());
    thread::scope(|scope| {
        scope.spawn(|| {
            // As clients do: beside and renamed, if it is still what was read.
            for text in texts() {
                let fresh = path.with_extension("client");
                fs::write(&fresh, &text).unwrap();
                fs::rename(&fresh, &path).unwrap();
            }
        });
        scope.spawn(|| {
            for _ in 0..20 {
                install(&environment, &request).unwrap();
            }
        });
    });
    // The last that the client wrote is in it, with ours or without.
    machine.uninstall();
    assert_eq!(fs::read_to_string(&path).unwrap(), texts().next_back().unwrap());
}

#[test]
fn a_policy_or_a_taken_name_keeps_all_as_it_is() {
    let machine = Machine::new();
    let text = r#"{"mcpServers":{"a":{"type":"stdio","command":"a"}}}"#;
    machine.place("claude-code", ".claude.json", text.as_bytes());
    let settings = machine.environment().home.join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, r#"{"deniedMcpServers": [{"serverCommand": ["a"]}]}"#).unwrap();
    let taken = r#"{"mcpServers":{"a":{"command":"a"},"forebay":{"command":"other"}}}"#;
    machine.place("cursor", "mcp.json", taken.as_bytes());
    let plans = machine.install();
    let policy = Reason::Policy(settings.display().to_string());
    assert_eq!(plans[0].servers[0].fate, Fate::Left(policy));
    assert_eq!(plans[1].servers[0].fate, Fate::Left(Reason::NameTaken));
    assert!(plans.iter().all(|plan| !plan.is_change()));

    fs::write(&settings, r#"{"permissions": {}}"#).unwrap();
    assert_eq!(machine.install()[0].servers[0].fate, Fate::Wrap);
}

#[test]
fn a_policy_counts_wherever_claude_code_reads_one() {
    let machine = Machine::new();
    let (mine, other) = (machine.folder.path().join("mine"), machine.folder.path().join("other"));
    let text = format!(
        r#"{{"mcpServers":{{"all":{{"command":"a"}}}},"projects":{{"{}":{{"mcpServers":{{"m":{{"command":"m"}}}}}},"{}":{{"mcpServers":{{"o":{{"command":"o"}}}}}}}}}}"#,
        mine.display(),
        other.display()
    );
    machine.place("claude-code", "claude.json", text.as_bytes());
    let rule = r#"{"deniedMcpServers": [{ "serverCommand": ["a"] }]}"#;
    let fates = || {
        let plans = plan(&machine.environment(), &machine.request()).unwrap();
        let servers = plans[0].servers.iter().filter(|server| server.name != "forebay");
        servers.map(|server| (server.name.clone(), server.fate.clone())).collect::<Vec<_>>()
    };
    let expect = |file: &Path, reason: fn(String) -> Reason, left: &[&str]| {
        let reason = Fate::Left(reason(file.display().to_string()));
        let want = ["all", "m", "o"].map(|name| {
            let fate = if left.contains(&name) { reason.clone() } else { Fate::Wrap };
            (name.to_owned(), fate)
        });
        assert_eq!(fates(), want, "{}", file.display());
    };
    let managed = machine.environment().root.join("etc/claude-code/managed-settings.d/50-it.json");
    // Servers of the person run in that project, too, and those of another do not.
    for (file, left) in [
        (managed, &["all", "m", "o"][..]),
        (mine.join(".claude/settings.json"), &["all", "m"]),
        (mine.join(".claude/settings.local.json"), &["all", "m"]),
        (other.join(".claude/settings.json"), &["all", "o"]),
    ] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, rule).unwrap();
        expect(&file, Reason::Policy, left);
        fs::write(&file, "{ no").unwrap();
        expect(&file, Reason::PerhapsPolicy, left);
        fs::remove_file(&file).unwrap();
        // It is there and cannot be read, whoever tries.
        fs::create_dir(&file).unwrap();
        expect(&file, Reason::PerhapsPolicy, left);
        fs::remove_dir(&file).unwrap();
        expect(&file, Reason::Policy, &[]);
    }

    fs::write(mine.join(".mcp.json"), r#"{"mcpServers":{"p":{"command":"p"}}}"#).unwrap();
    let file = mine.join(".claude/settings.json");
    fs::write(&file, rule).unwrap();
    let request = Request { scope: Scope::Project(mine.clone()), ..machine.request() };
    let plans = plan(&machine.environment(), &request).unwrap();
    let reason = Reason::Policy(file.display().to_string());
    assert_eq!(plans[0].servers[0].fate, Fate::Left(reason));
}

#[test]
fn files_of_a_project_are_left_alone_unless_they_are_asked_for() {
    let machine = Machine::new();
    let project = machine.folder.path().join("project");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join(".mcp.json"), r#"{"mcpServers":{"a":{"command":"a"}}}"#).unwrap();
    assert!(machine.install().is_empty());
    let request = Request { scope: Scope::Project(project.clone()), ..machine.request() };
    let plans = install(&machine.environment(), &request).unwrap();
    assert_eq!((plans.len(), plans[0].title), (1, "Claude Code"));
    assert!(fs::read_to_string(project.join(".mcp.json")).unwrap().contains("wrap"));
    machine.uninstall();
    let now = fs::read_to_string(project.join(".mcp.json")).unwrap();
    assert_eq!(now, r#"{"mcpServers":{"a":{"command":"a"}}}"#);
}

#[test]
fn a_patch_shows_no_value_of_a_variable_or_a_header() {
    let machine = Machine::new();
    let text = TWO.replace(r#"["1"]"#, r#"["1"], "env": { "KEY": "hush", "N": 1 }"#);
    machine.place("cursor", "mcp.json", text.as_bytes());
    let plans = plan(&machine.environment(), &machine.request()).unwrap();
    let patch = plans[0].difference();
    assert!(patch.contains("FOREBAY_HEADER_X_KEY") && patch.contains("***"), "{patch}");
    assert!(!patch.contains("secret") && !patch.contains("hush"), "{patch}");
    machine.install();
    let told = uninstall(&machine.home(), &[], Missing::Keep, Run::Dry).unwrap();
    assert!(!told[0].difference.is_empty() && !told[0].difference.contains("secret"));
}

#[test]
fn only_what_is_named_is_changed() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", TWO.as_bytes());
    machine.place("kiro", "mcp.json", TWO.as_bytes());
    let request = Request {
        clients: vec!["cursor".to_owned()],
        servers: vec!["b".to_owned()],
        ..machine.request()
    };
    let plans = install(&machine.environment(), &request).unwrap();
    assert_eq!(plans.len(), 1);
    assert_eq!(plans[0].servers[0].fate, Fate::NotNamed);
    assert!(
        fs::read_to_string(&path).unwrap().contains(r#""a": { "command": "a", "args": ["1"] }"#)
    );
    let unknown = Request { clients: vec!["emacs".to_owned()], ..machine.request() };
    let ended = install(&machine.environment(), &unknown);
    assert!(matches!(ended, Err(ClientsError::UnknownClient { .. })));
}

#[test]
fn servers_behind_a_gateway_are_in_a_file_of_ours_that_goes_again() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", TWO.as_bytes());
    let request = Request { mode: Mode::Gateway, ..machine.request() };
    let plans = install(&machine.environment(), &request).unwrap();
    let fates: Vec<&Fate> = plans[0].servers.iter().map(|it| &it.fate).collect();
    assert_eq!(fates, [&Fate::Move, &Fate::Move, &Fate::Add]);
    let now = fs::read_to_string(&path).unwrap();
    assert!(!now.contains("b.example") && now.contains("\"gateway\", \"--servers\""), "{now}");
    let folder = machine.home().join("clients");
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    let ours = fs::read_to_string(&files[0]).unwrap();
    assert!(ours.contains("https://b.example/mcp") && ours.contains("\"secret\""), "{ours}");
    assert_eq!(fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    machine.uninstall();
    assert_eq!(fs::read_to_string(&path).unwrap(), TWO);
    assert!(!folder.exists());
}

#[test]
fn a_survey_says_what_stands_where() {
    let machine = Machine::new();
    machine.place("cursor", "mcp.json", TWO.as_bytes());
    machine.place("codex", "config.toml", b"= 1");
    let states = survey(&machine.environment(), None, |_| Ok(()));
    assert_eq!(states[0].servers[0].standing, Standing::NotWrapped);
    assert!(states[1].unreadable.is_some());
    let program = machine.program();
    machine.install_as(&program);
    let standings = || -> Vec<Standing> {
        let states = survey(&machine.environment(), None, |_| Ok(()));
        states[0].servers.iter().map(|it| it.standing.clone()).collect()
    };
    assert_eq!(standings(), [Standing::Wrapped, Standing::Wrapped, Standing::Forebay]);
    let json = serde_json::to_value(&survey(&machine.environment(), None, |_| Ok(()))[0]).unwrap();
    assert_eq!(json["servers"][0], serde_json::json!({ "name": "a", "state": "wrapped" }));

    machine.uninstall();
    let program = program.to_str().unwrap().to_owned();
    let request = Request { mode: Mode::Gateway, program: program.clone(), ..machine.request() };
    install(&machine.environment(), &request).unwrap();
    let behind = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(standings(), [Standing::Gateway(behind)]);
    let servers = machine.home().join("clients");
    fs::rename(&servers, machine.home().join("away")).unwrap();
    assert!(matches!(&standings()[..], [Standing::LostServers(_)]), "{:?}", standings());
    fs::rename(machine.home().join("away"), servers).unwrap();
    fs::remove_file(&program).unwrap();
    assert_eq!(standings(), [Standing::Lost(program)]);
}

const SAID: &str = r#"{
  // the servers
  "mcpServers": {
    "a": { "command": "a" }, // said of a
    // above b
    "b": { "command": "b" } // said of b
    // below b
  }
}
"#;

/// What is said in a line.
fn remark(line: &str) -> Option<String> {
    let said = &line[line.find("//").or(line.find("/*"))?..];
    let end = said.find("*/").map_or(said.len(), |end| end + 2);
    Some(said[..end].to_owned())
}

#[test]
fn what_somebody_says_in_a_file_stays_in_it() {
    let trailing = SAID.replace("} // said of b", "}, // said of b");
    let plain = SAID.replace(" // said of b\n    // below b", "");
    for text in [SAID, &trailing, &plain] {
        for (from, to) in [
            ("said of b", "said of b, and more"),
            ("below b", "below b, and more"),
            ("\"forebay\": {", "// my own\n    \"forebay\": {"),
            ("\"forebay\": {", "/* my own */ \"forebay\": {"),
            ("\"forebay\": {", "\"new\": { \"command\": \"n\" }, // my own\n    \"forebay\": {"),
            ("\"--\", \"b\"]\n    },", "\"--\", \"b\"]\n    }, // IMPORTANT"),
            ("\"--\", \"b\"] },", "\"--\", \"b\"] }, // IMPORTANT"),
        ] {
            let machine = Machine::new();
            let path = machine.place("cursor", "mcp.json", text.as_bytes());
            machine.install();
            let now = fs::read_to_string(&path).unwrap();
            fs::write(&path, now.replacen(from, to, 1)).unwrap();
            let is_changed = now.contains(from);
            machine.uninstall();
            let after = fs::read_to_string(&path).unwrap();
            let said = |text: &str| text.lines().filter_map(remark).collect::<Vec<_>>();
            let want = said(&now.replacen(from, to, 1));
            let told = format!("{from} -> {to}:\n{after}");
            assert_eq!(said(&after), want, "{told}");
            assert!(!after.contains("forebay\""), "{told}");
            if !is_changed {
                assert_eq!(after, text);
            }
            let commas = |text: &str| text.matches("},").count();
            let is_new = usize::from(is_changed && to.contains("new"));
            assert_eq!(commas(&after), commas(text) + is_new, "{told}");
        }
    }
}

#[test]
fn a_comment_behind_the_entry_of_ours_stays() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", SAID.as_bytes());
    machine.install();
    let now = fs::read_to_string(&path).unwrap();
    let ours = now.find("\"forebay\"").unwrap();
    let end = ours + now[ours..].find("\n    }").unwrap() + "\n    }".len();
    let more = ", // mine\n    \"c\": { \"command\": \"c\" }";
    fs::write(&path, format!("{}{more}{}", &now[..end], &now[end..])).unwrap();
    machine.uninstall();
    let want = SAID.replace(
        "} // said of b",
        "}, // said of b\n    // mine\n    \"c\": { \"command\": \"c\" }",
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), want);
}

#[test]
fn what_is_said_behind_the_table_of_servers_stays_behind_it() {
    let opening = "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" }";
    for (closing, said, behind) in [
        (
            " /* of a */ }, /* of more */\n  \"more\": {}\n}\n",
            ", /* of a */",
            " }, /* of more */\n  \"more\": {}\n}\n",
        ),
        (
            ", /* of a */ }, /* of more */\n  \"more\": {}\n}\n",
            ", /* of a */",
            ", }, /* of more */\n  \"more\": {}\n}\n",
        ),
        (" /*/\n of it */ } /* of all */\n}\n", ",", " /*/\n of it */ } /* of all */\n}\n"),
    ] {
        let machine = Machine::new();
        let text = format!("{opening}{closing}");
        let path = machine.place("cursor", "mcp.json", text.as_bytes());
        assert_eq!(machine.install()[0].refusal, None, "{text}");
        let now = fs::read_to_string(&path).unwrap();
        let root = crate::json::read(&now).unwrap().value();
        let servers = root.get("mcpServers").unwrap();
        assert!(servers.get("a").is_some() && servers.get("forebay").is_some(), "{now}");
        assert!(now.contains(&format!("\"--\", \"a\"] }}{said}\n")), "{now}");
        assert!(now.ends_with(behind), "{now}");
        fs::write(&path, format!("// mine\n{now}")).unwrap();
        assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("// mine\n{text}"));
    }
}
