//! The way back where something is not as it was left: files that are missing, entries under other names, a program
//! that has moved, an install that failed.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{Machine, only_outcome};
use crate::{
    Fate, LeftOver, Missing, Mode, Outcome, Remains, Remnant, Request, Run,
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
    let want = Remnant { title: "Cursor", path, names };
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
