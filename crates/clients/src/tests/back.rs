//! The way back where something is not as it was left: files that are missing, entries under other names, a program
//! that has moved, an install that failed.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{Machine, only_outcome};
use crate::{
    Fate, LeftOver, Missing, Mode, Outcome, Remains, Remnant, Request, Run, ToolsLack,
    disk::{Disk, RealDisk},
    install::install_on,
    remnants, uninstall,
};

const ONE: &str = r#"{
  "mcpServers": {
    "c": { "command": "run", "args": ["1"] }
  }
}
"#;

fn left_over(name: &str, what: Remains) -> Outcome {
    Outcome::Partly(vec![LeftOver { name: name.to_owned(), what }])
}

#[test]
fn a_file_that_is_away_for_a_moment_is_not_forgotten() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", ONE.as_bytes());
    machine.install();
    let (folder, away) = (path.parent().unwrap(), machine.folder.path().join("away"));
    fs::rename(folder, &away).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::Missing);
    fs::rename(&away, folder).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::Original);
    assert_eq!(fs::read_to_string(&path).unwrap(), ONE);
    assert!(machine.left_over().is_empty());

    machine.install();
    fs::remove_file(&path).unwrap();
    let forget = |run| uninstall(&machine.home(), &[], Missing::Forget, run).unwrap();
    assert_eq!(*only_outcome(&forget(Run::Dry)), Outcome::Forgotten);
    assert!(!machine.left_over().is_empty());
    assert_eq!(*only_outcome(&forget(Run::Real)), Outcome::Forgotten);
    assert!(machine.left_over().is_empty());
}

#[test]
fn a_wrapped_server_under_another_name_is_restored() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", ONE.as_bytes());
    machine.install();
    let now = fs::read_to_string(&path).unwrap();
    fs::write(&path, now.replace(r#""c": {"#, r#""cnew": {"#)).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    assert_eq!(fs::read_to_string(&path).unwrap(), ONE.replace(r#""c": {"#, r#""cnew": {"#));
    assert!(machine.left_over().is_empty());
}

#[test]
fn a_wrapped_server_of_which_nothing_is_known_is_named() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", ONE.as_bytes());
    machine.install();
    let now = fs::read_to_string(&path).unwrap();
    let changed =
        now.replace(r#""c": {"#, r#""cnew": {"#).replace(r#""run", "1""#, r#""run", "2""#);
    fs::write(&path, &changed).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), left_over("cnew", Remains::Started));
    let now = fs::read_to_string(&path).unwrap();
    assert!(now.contains(r#""run", "2""#) && !now.contains("gateway"), "{now}");
    assert!(!machine.left_over().is_empty(), "it is still known");
    // Once it is out by hand, nothing is left.
    fs::write(&path, ONE.replace(r#""c""#, r#""cnew""#)).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::Nothing);
    assert!(machine.left_over().is_empty());
}

#[test]
fn what_was_written_so_before_is_nobody_elses_business() {
    let machine = Machine::new();
    let text = r#"{"mcpServers":{"mine":{"command":"/opt/forebay","args":["wrap","--tools","none","--","x"]},"c":{"command":"c"}}}"#;
    let path = machine.place("cursor", "mcp.json", text.as_bytes());
    machine.install_as(Path::new("/opt/forebay"));
    let now = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{now}\n")).unwrap();
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{text}\n"));
    assert!(machine.left_over().is_empty());
}

#[test]
fn what_is_forgotten_is_found_in_the_files() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", ONE.as_bytes());
    machine.install();
    fs::remove_file(machine.home().join("installed.json")).unwrap();
    assert!(machine.uninstall().is_empty());
    let names = vec!["c".to_owned(), "forebay".to_owned()];
    let path = path.canonicalize().unwrap();
    let want = Remnant { title: "Cursor", path, names, servers: Vec::new() };
    assert_eq!(remnants(&machine.environment(), &[], None), [want]);
    assert!(remnants(&machine.environment(), &["kiro".to_owned()], None).is_empty());
}

#[test]
fn bytes_are_spoken_of_only_where_they_are_the_same() {
    let machine = Machine::new();
    let text = r#"{
  "mcpServers": {
    "c": { "command": "run" },
    "v": { "command": "run", "env": { "K": "${K}" } }
  }
}
"#;
    let path = machine.place("cursor", "mcp.json", text.as_bytes());
    machine.install_gateway();
    let now = fs::read_to_string(&path).unwrap();
    fs::write(&path, now + "\n").unwrap();
    assert_eq!(machine.install()[0].servers[0].fate, Fate::Wrap);
    assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{text}\n"));
}

#[test]
fn a_program_that_has_moved_is_found_again_and_all_can_be_undone() {
    for (client, name, text) in [
        ("cursor", "mcp.json", ONE),
        ("codex", "config.toml", "[mcp_servers.c]\ncommand = \"run\"\n"),
        ("opencode", "opencode.json", r#"{"mcp":{"c":{"type":"local","command":["run"]}}}"#),
    ] {
        for mode in [Mode::Wrap, Mode::Gateway] {
            let machine = Machine::new();
            let path = machine.place(client, name, text.as_bytes());
            let request =
                Request { mode, program: "/no/where/forebay".to_owned(), ..machine.request() };
            crate::install(&machine.environment(), &request).unwrap();
            let program = machine.program();
            let plans = machine.install_as(&program);
            assert!(
                plans[0].servers.iter().all(|it| it.fate == Fate::Mend),
                "{:?}",
                plans[0].servers
            );
            let now = fs::read_to_string(&path).unwrap();
            assert!(!now.contains("/no/where") && now.contains("bin/forebay"), "{now}");
            assert!(!machine.install_as(&program)[0].is_change());
            fs::write(&path, now + "\n").unwrap();
            assert_eq!(*only_outcome(&machine.uninstall()), Outcome::EntryByEntry);
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{text}\n"));
            assert!(machine.left_over().is_empty());
        }
    }
}

/// A disk on which no client's file can be written.
struct Sealed {
    ours: PathBuf,
}

impl Disk for Sealed {
    fn make(&self, path: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<()> {
        if !path.starts_with(&self.ours) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        RealDisk.make(path, bytes, like)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        RealDisk.exchange(one, other)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }
}

#[test]
fn an_install_that_fails_leaves_nothing() {
    for mode in [Mode::Wrap, Mode::Gateway] {
        let machine = Machine::new();
        let path = machine.place("cursor", "mcp.json", ONE.as_bytes());
        let request = Request { mode, ..machine.request() };
        let sealed = Sealed { ours: machine.home() };
        let plans = install_on(&sealed, &machine.environment(), &request).unwrap();
        let refusal = plans[0].refusal.as_deref().unwrap_or_default();
        assert!(refusal.starts_with("it cannot be written"), "{refusal}");
        assert!(!plans[0].is_change());
        assert_eq!(fs::read_to_string(&path).unwrap(), ONE);
        assert!(!machine.home().exists(), "{:?}", machine.left_over());
    }
}

#[test]
fn the_lock_is_for_its_owner_and_goes_with_the_last_file() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::new();
    machine.place("cursor", "mcp.json", ONE.as_bytes());
    machine.install();
    let lock = machine.home().join("installed.lock");
    assert_eq!(fs::metadata(&lock).unwrap().permissions().mode() & 0o777, 0o600);
    machine.uninstall();
    assert!(!lock.exists());
}

/// A file with a second key of the same name, as somebody may write it after an install.
fn doubled(client: &str, name: &str, text: &str, second: &str) -> (Machine, PathBuf, String) {
    let machine = Machine::new();
    let path = machine.place(client, name, text.as_bytes());
    machine.install();
    let now = fs::read_to_string(&path).unwrap();
    let doubled = format!("{},{second}}}\n", now.trim_end().strip_suffix('}').unwrap());
    fs::write(&path, &doubled).unwrap();
    (machine, path, doubled)
}

#[test]
fn a_key_that_stands_twice_keeps_the_way_back() {
    let projects = r#"{"projects":{"/a":{"mcpServers":{"x":{"command":"x"}}}}}"#;
    for (client, name, text, second) in [
        ("cursor", "mcp.json", ONE, r#""mcpServers":{}"#),
        ("claude-code", ".claude.json", ONE, r#""mcpServers":{}"#),
        ("claude-code", ".claude.json", projects, r#""projects":{}"#),
        ("claude-code", ".claude.json", projects, r#""projects":{"/b":{}}"#),
        (
            "opencode",
            "opencode.json",
            r#"{"mcp":{"c":{"type":"local","command":["run"]}}}"#,
            r#""mcp":{}"#,
        ),
    ] {
        let (machine, path, doubled) = doubled(client, name, text, second);
        let key = second.split('"').nth(1).unwrap();
        let restored = machine.uninstall();
        assert!(
            matches!(only_outcome(&restored), Outcome::Refused(why) if why.starts_with(&format!("`{key}` stands twice"))),
            "{client}: {restored:?}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), doubled);
        assert!(!machine.left_over().is_empty(), "it is still known");
        // Once that is mended, the way back is there.
        fs::write(&path, doubled.replacen(&format!(",{second}"), "", 1)).unwrap();
        machine.uninstall();
        let now = fs::read_to_string(&path).unwrap();
        assert_eq!(now.trim_end(), text.trim_end(), "{client}");
        assert!(machine.left_over().is_empty());
    }
}

#[test]
fn the_entry_with_the_tools_is_put_back() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", ONE.as_bytes());
    let program = machine.program();
    machine.install_as(&program);
    let now = fs::read_to_string(&path).unwrap();
    let lacks_tools =
        || crate::survey(&machine.environment(), None, |_| Ok(()))[0].lacks_tools.clone();
    assert_eq!(lacks_tools(), None);
    let ours = ["mcpServers".to_owned(), "forebay".to_owned()];
    let without = crate::json::remove(&now, &ours).unwrap().into_text(&now);
    fs::write(&path, &without).unwrap();
    assert_eq!(lacks_tools(), Some(ToolsLack::Missing));
    let plans = machine.install_as(&program);
    let fates: Vec<&Fate> = plans[0].servers.iter().map(|it| &it.fate).collect();
    assert_eq!(fates, [&Fate::Wrapped, &Fate::Add]);
    assert_eq!(lacks_tools(), None);
    assert!(!machine.install_as(&program)[0].is_change());

    // One that is switched off stays so, and nothing more is cut that nobody could read.
    let off = fs::read_to_string(&path).unwrap().replacen(
        r#""forebay": {"#,
        r#""new": { "command": "n" }, "forebay": { "disabled": true, "#,
        1,
    );
    fs::write(&path, &off).unwrap();
    assert_eq!(lacks_tools(), Some(ToolsLack::Off));
    let plans = machine.install_as(&program);
    let left = plans[0].servers.iter().find(|it| it.name == "new").map(|it| &it.fate);
    assert_eq!(left, Some(&Fate::Left(crate::Reason::ToolsOff)));
    assert_eq!(fs::read_to_string(&path).unwrap(), off);
}

#[test]
fn the_tools_are_added_unless_the_same_table_offers_them() {
    let program = "/usr/bin/forebay";
    let added = |client: &str, text: &str| {
        let machine = Machine::new();
        machine.place(client, "mcp.json", text.as_bytes());
        let plans = machine.install();
        plans[0].servers.iter().any(|it| it.fate == Fate::Add)
    };
    let entry = |word: &str| format!(r#"{{"command":"{program}","args":["{word}"]}}"#);
    let of_project = |word: &str| {
        format!(
            r#"{{"mcpServers":{{"a":{{"command":"a"}}}},"projects":{{"/p":{{"mcpServers":{{"fb":{}}}}}}}}}"#,
            entry(word)
        )
    };
    assert!(added("claude-code", &of_project("gateway")), "it is for one project alone");
    let beside =
        |word: &str| format!(r#"{{"mcpServers":{{"a":{{"command":"a"}},"fb":{}}}}}"#, entry(word));
    assert!(!added("cursor", &beside("gateway")));
    assert!(added("cursor", &beside("serve")), "it offers no tools to this client");
}

#[test]
fn copies_of_an_install_of_which_nothing_is_remembered_stay() {
    let machine = Machine::new();
    machine.place("cursor", "mcp.json", ONE.as_bytes());
    machine.install();
    fs::remove_file(machine.home().join("installed.json")).unwrap();
    let copies = || {
        let entries = fs::read_dir(machine.home().join("installed")).into_iter().flatten();
        entries.map(|it| it.unwrap().path()).collect::<Vec<_>>()
    };
    let [copy] = &copies()[..] else { panic!() };
    machine.place("gemini", "settings.json", br#"{"mcpServers":{"g":{"command":"g"}}}"#);
    machine.install();
    assert_eq!(fs::read_to_string(copy).unwrap(), ONE);
    machine.uninstall();
    assert_eq!(fs::read_to_string(copy).unwrap(), ONE);
    assert_eq!(copies().len(), 1, "what is remembered is swept");
}

#[test]
fn servers_of_a_gateway_of_which_nothing_is_remembered_are_not_overwritten() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", ONE.as_bytes());
    machine.install_gateway();
    fs::remove_file(machine.home().join("installed.json")).unwrap();
    let file =
        fs::read_dir(machine.home().join("clients")).unwrap().next().unwrap().unwrap().path();
    let kept = fs::read_to_string(&file).unwrap();
    assert_eq!(remnants(&machine.environment(), &[], None)[0].servers, std::slice::from_ref(&file));
    fs::write(&path, r#"{"mcpServers":{"n":{"command":"n"}}}"#).unwrap();
    let refusal = machine.install_gateway()[0].refusal.clone().unwrap_or_default();
    assert!(refusal.contains(&file.display().to_string()), "{refusal}");
    assert_eq!(fs::read_to_string(&file).unwrap(), kept);
}

#[test]
fn entries_of_an_install_of_which_nothing_is_remembered_are_named() {
    let machine = Machine::new();
    let path = machine.place("cursor", "mcp.json", ONE.as_bytes());
    machine.install();
    fs::remove_file(machine.home().join("installed.json")).unwrap();
    let now = fs::read_to_string(&path).unwrap();
    let more = now.replacen(r#""c": {"#, r#""n": { "command": "n" }, "c": {"#, 1);
    fs::write(&path, &more).unwrap();
    machine.install();
    let dry = uninstall(&machine.home(), &[], Missing::Keep, Run::Dry).unwrap();
    assert_eq!(dry[0].still, ["c", "forebay"]);
    let restored = machine.uninstall();
    assert_eq!(*only_outcome(&restored), Outcome::Original);
    assert_eq!(restored[0].still, ["c", "forebay"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), more);
}

#[test]
fn comments_within_a_server_that_others_have_changed_come_back() {
    for (client, name, text, (before, after)) in [
        (
            "vscode",
            "mcp.json",
            "{\n  \"servers\": {\n    \"c\": {\n      \"command\": \"npx\", // mine\n      \"args\": [\n        \
             \"-y\", // do not ask\n        /* pinned */ \"pkg@1.1\"\n      ]\n    }\n  }\n}\n",
            ("\"command\":", "\"cwd\": \"/x\",\n      \"command\":"),
        ),
        (
            "codex",
            "config.toml",
            "[mcp_servers.c]\r\ncommand = 'npx' # mine\r\nargs = [\r\n  '-y', # do not ask\r\n  \"pkg@1.1\", # \
             pinned\r\n]\r\n",
            ("command =", "cwd = \"/x\"\r\ncommand ="),
        ),
        (
            "codex",
            "config.toml",
            "[mcp_servers]\nc.command = 'npx'\nc.args = [\n  '-y', # do not ask\n]\n",
            ("c.command =", "c.cwd = \"/x\"\nc.command ="),
        ),
    ] {
        let machine = Machine::new();
        let path = machine.place(client, name, text.as_bytes());
        machine.install();
        let now = fs::read_to_string(&path).unwrap();
        fs::write(&path, now.replacen(before, after, 1)).unwrap();
        let restored = machine.uninstall();
        assert_eq!(*only_outcome(&restored), Outcome::EntryByEntry, "{client}");
        assert!(!restored[0].loses_comments, "{client}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text.replacen(before, after, 1), "{client}");
        assert!(machine.left_over().is_empty());
    }
}

#[test]
fn a_comment_that_cannot_be_put_back_is_told() {
    let machine = Machine::new();
    let text = "[mcp_servers.far]\nurl = \"http://localhost:1/mcp\"\n\
                http_headers = { A = \"x\" } # as agreed\n";
    let path = machine.place("codex", "config.toml", text.as_bytes());
    machine.install();
    let now = fs::read_to_string(&path).unwrap();
    fs::write(&path, now.replacen("command =", "cwd = \"/x\"\ncommand =", 1)).unwrap();
    let restored = machine.uninstall();
    assert_eq!(*only_outcome(&restored), Outcome::EntryByEntry);
    assert!(restored[0].loses_comments);
    assert!(!fs::read_to_string(&path).unwrap().contains("as agreed"));
}

#[test]
fn a_name_that_stands_twice_is_told_once() {
    let machine = Machine::new();
    let ours = r#"{"command":"/usr/bin/forebay","args":["gateway","--no-servers"]}"#;
    let text = format!(
        r#"{{"mcpServers":{{"forebay":{ours},"forebay":{ours},"a":{{"command":"a"}},"a":{{"command":"b"}}}}}}"#
    );
    machine.place("cursor", "mcp.json", text.as_bytes());
    assert_eq!(remnants(&machine.environment(), &[], None)[0].names, ["forebay"]);
    let planned = crate::plan::plan(&machine.environment(), &machine.request()).unwrap();
    let names: Vec<&str> = planned[0].servers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["forebay", "a"]);
}

#[test]
fn comments_within_a_server_behind_a_gateway_come_back_to_a_file_written_anew() {
    let machine = Machine::new();
    let words = "[\n        \"-y\", // do not ask\n        \"pkg\"\n      ]";
    let text = format!(
        "{{\n  \"mcpServers\": {{\n    \"c\": {{\n      \"command\": \"npx\",\n      \"args\": {words}\n    }}\n  }}\n}}\n"
    );
    let path = machine.place("cursor", "mcp.json", text.as_bytes());
    machine.install_gateway();
    let now = crate::json::read(&fs::read_to_string(&path).unwrap()).unwrap().value();
    fs::write(&path, crate::json::line(&now)).unwrap();
    let restored = machine.uninstall();
    assert_eq!(*only_outcome(&restored), Outcome::EntryByEntry);
    assert!(!restored[0].loses_comments);
    let now = fs::read_to_string(&path).unwrap();
    assert!(now.contains(&format!("\"args\": {words}")), "{now}");
}
