//! An end between any two steps: a file is as it was or as it is to be, and can be restored.

use std::{
    cell::Cell,
    fs, io,
    path::{Path, PathBuf},
};

use super::{Machine, only_outcome};
use crate::{
    Missing, Mode, Outcome, Request, Run,
    disk::{Disk, RealDisk},
    install::{install, install_on, uninstall_on},
};

/// A disk of a process that is killed: after so many steps, nothing is done any more. The step during which it
/// ends is done by half where it can be.
struct Dying {
    left: Cell<usize>,
}

impl Dying {
    fn after(steps: usize) -> Self {
        Self { left: Cell::new(steps) }
    }

    fn step(&self, whole: impl FnOnce() -> io::Result<()>, half: impl FnOnce()) -> io::Result<()> {
        let killed = || Err(io::Error::other("killed"));
        match self.left.get() {
            0 => killed(),
            left => {
                self.left.set(left - 1);
                if left == 1 {
                    half();
                    return killed();
                }
                whole()
            }
        }
    }
}

impl Disk for Dying {
    fn make(&self, path: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<()> {
        let half = || drop(fs::write(path, &bytes[..bytes.len() / 2]));
        self.step(|| RealDisk.make(path, bytes, like), half)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|| RealDisk.rename(from, to), || ())
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.step(|| RealDisk.exchange(one, other), || ())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(|| RealDisk.remove(path), || ())
    }
}

const FILES: [(&str, &str, &str); 2] = [
    ("cursor", "mcp.json", "{\n  \"mcpServers\": { \"a\": { \"command\": \"a\" } } // mine\n}"),
    ("codex", "config.toml", "[mcp_servers.b]\r\ncommand = \"b\"\r\n"),
];

/// A file, what is in it, and what becomes of that.
type Planned = (PathBuf, Vec<u8>, Vec<u8>);

/// A machine with both files, and what is asked for there.
fn prepared(mode: Mode) -> (Machine, Request, Vec<Planned>) {
    let machine = Machine::new();
    let request = Request { mode, ..machine.request() };
    let paths = FILES.map(|(client, name, text)| machine.place(client, name, text.as_bytes()));
    let plans = crate::plan::plan(&machine.environment(), &request).unwrap();
    let files = paths.into_iter().map(|path| {
        let plan = plans.iter().find(|plan| plan.path == path).unwrap();
        (path, plan.before.clone(), plan.after.clone())
    });
    let files = files.collect();
    (machine, request, files)
}

/// True once the disk lived to the end.
fn lived(disk: &Dying) -> bool {
    disk.left.get() > 0
}

/// Runs a case with a disk that dies after 0 steps, after 1 and so on, until one has lived to the end, and gives how
/// many steps that took.
fn dying_anywhere(mut case: impl FnMut(&Dying)) -> usize {
    for steps in 0.. {
        let disk = Dying::after(steps);
        case(&disk);
        if lived(&disk) {
            return steps;
        }
    }
    unreachable!()
}

fn install_that_ends_anywhere(mode: Mode, tries_again: bool) -> usize {
    dying_anywhere(|disk| {
        let steps = disk.left.get();
        let (machine, request, files) = prepared(mode);
        let ended = install_on(disk, &machine.environment(), &request);
        assert!(ended.is_ok() || !lived(disk), "after {steps}");
        for (path, old, new) in &files {
            let now = fs::read(path).unwrap();
            assert!(now == *old || now == *new, "after {steps}: {}", String::from_utf8_lossy(&now));
        }
        if tries_again {
            // Who tries again gets there.
            install(&machine.environment(), &request).unwrap();
            for (path, _, new) in &files {
                assert!(fs::read(path).unwrap() == *new, "after {steps}");
            }
        }
        for restored in machine.uninstall() {
            let is_fine = matches!(restored.outcome, Outcome::Original | Outcome::Nothing);
            assert!(is_fine, "after {steps}: {restored:?}");
        }
        nothing_is_left(&machine, &files, steps);
    })
}

/// Nothing beside the files either: what is kept of them, or half of a new one, may hold keys.
fn nothing_is_left(machine: &Machine, files: &[Planned], steps: usize) {
    for (path, old, _) in files {
        assert!(fs::read(path).unwrap() == *old, "after {steps}");
        let beside = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "nothing is left beside it after {steps}");
    }
    assert!(machine.left_over().is_empty(), "after {steps}: {:?}", machine.left_over());
}

#[test]
fn an_install_that_ends_anywhere_leaves_the_old_or_the_new_file_and_can_be_undone() {
    for tries_again in [false, true] {
        let wrap = install_that_ends_anywhere(Mode::Wrap, tries_again);
        let gateway = install_that_ends_anywhere(Mode::Gateway, tries_again);
        assert!(wrap > 12 && gateway > wrap, "{wrap} {gateway}");
    }
}

#[test]
fn an_uninstall_that_ends_anywhere_can_be_taken_up_again() {
    let steps = [Mode::Wrap, Mode::Gateway].map(|mode| {
        dying_anywhere(|disk| {
            let steps = disk.left.get();
            let (machine, request, files) = prepared(mode);
            install(&machine.environment(), &request).unwrap();
            let _ = uninstall_on(disk, &machine.home(), &[], Missing::Keep, Run::Real);
            for (path, old, new) in &files {
                let now = fs::read(path).unwrap();
                assert!(now == *old || now == *new, "after {steps}");
            }
            machine.uninstall();
            nothing_is_left(&machine, &files, steps);
        })
    });
    assert!(steps[0] > 8 && steps[1] > steps[0], "{steps:?}");
}

#[test]
fn a_second_install_that_ends_anywhere_can_be_undone() {
    let mut steps = 0;
    loop {
        let machine = Machine::new();
        let path = machine.place("cursor", "mcp.json", br#"{"mcpServers":{"a":{"command":"a"}}}"#);
        machine.install();
        let now = fs::read_to_string(&path).unwrap();
        let more = now
            .replacen('{', r#"{"x":1,"#, 1)
            .replace(r#""mcpServers":{"#, r#""mcpServers":{"new":{"command":"n"},"#);
        fs::write(&path, more).unwrap();
        let disk = Dying::after(steps);
        let _ = install_on(&disk, &machine.environment(), &machine.request());
        let restored = machine.uninstall();
        let is_fine = matches!(only_outcome(&restored), Outcome::Original | Outcome::EntryByEntry);
        assert!(is_fine, "after {steps}: {restored:?}");
        let want = r#"{"x":1,"mcpServers":{"new":{"command":"n"},"a":{"command":"a"}}}"#;
        assert_eq!(fs::read_to_string(&path).unwrap(), want, "after {steps}");
        if lived(&disk) {
            break;
        }
        steps += 1;
    }
    assert!(steps > 6, "{steps}");
}
