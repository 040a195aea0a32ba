//! One step that fails, after which all goes on: nothing half-written stays beside a file, and what is told is true.

use std::{
    cell::Cell,
    fs, io,
    path::{Path, PathBuf},
};

use super::Machine;
use crate::{
    Missing, Mode, Request, Run,
    disk::{Disk, RealDisk},
    install::{install_on, uninstall_on},
};

const TEXT: &str = "{\n  \"mcpServers\": { \"a\": { \"command\": \"a\" } } // mine\n}";

/// What has become of the step that fails.
#[derive(Clone, Copy, PartialEq)]
enum Failure {
    /// A file has half of what belongs into it, and nothing else was done.
    Half,
    /// It is done, but is not known to be on the disk.
    Unsynced,
}

/// A disk on which one step fails.
struct Stumbling {
    left: Cell<usize>,
    failure: Failure,
    /// True if it was the removal of a file that failed.
    is_removal: Cell<bool>,
}

impl Stumbling {
    fn step(&self, whole: impl FnOnce() -> io::Result<()>, half: impl FnOnce()) -> io::Result<()> {
        let left = self.left.get();
        self.left.set(left.wrapping_sub(1));
        match (left, self.failure) {
            (0, Failure::Half) => half(),
            (0, Failure::Unsynced) => whole()?,
            (_, _) => return whole(),
        }
        Err(io::ErrorKind::StorageFull.into())
    }

    fn has_failed(&self) -> bool {
        self.left.get() > usize::MAX / 2
    }
}

impl Disk for Stumbling {
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
        self.is_removal.set(self.is_removal.get() || self.left.get() == 0);
        self.step(|| RealDisk.remove(path), || ())
    }
}

/// The files below a folder that were to take the place of others.
fn unfinished(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let found = |path: PathBuf| match path.is_dir() {
        true => unfinished(&path),
        false if path.extension().is_some_and(|it| it == "forebay-new") => vec![path],
        false => Vec::new(),
    };
    paths.flat_map(found).collect()
}

/// Runs a case with each step failing in turn, in each way, and gives how many there were.
fn failing_anywhere(case: impl Fn(&Machine, &Request, &Path, &Stumbling)) -> usize {
    let mut count = 0;
    for mode in [Mode::Wrap, Mode::Gateway] {
        for failure in [Failure::Half, Failure::Unsynced] {
            for steps in 0.. {
                let machine = Machine::new();
                let path = machine.place("cursor", "mcp.json", TEXT.as_bytes());
                let request = Request { mode, ..machine.request() };
                let is_removal = Cell::new(false);
                let disk = Stumbling { left: Cell::new(steps), failure, is_removal };
                case(&machine, &request, &path, &disk);
                if !disk.has_failed() {
                    break;
                }
                // What cannot be removed stays until somebody can.
                let left = unfinished(machine.folder.path());
                assert!(disk.is_removal.get() || left.is_empty(), "after {steps}: {left:?}");
                machine.uninstall();
                assert_eq!(fs::read_to_string(&path).unwrap(), TEXT, "after {steps}");
                count += 1;
            }
        }
    }
    count
}

#[test]
fn an_install_in_which_a_step_fails_leaves_nothing_unfinished() {
    let count = failing_anywhere(|machine, request, path, disk| {
        let planned = crate::plan::plan(&machine.environment(), request).unwrap().remove(0);
        let done = install_on(disk, &machine.environment(), request);
        let now = fs::read(path).unwrap();
        let is_done = done.as_ref().is_ok_and(|plans| plans[0].is_change());
        assert!(now == if is_done { planned.after } else { planned.before }, "{done:?}");
        if let Some(refusal) = done.as_ref().ok().and_then(|plans| plans[0].refusal.as_ref()) {
            assert!(refusal.contains(&io::ErrorKind::StorageFull.to_string()), "{refusal}");
        }
    });
    assert!(count > 24, "{count}");
}

#[test]
fn an_uninstall_in_which_a_step_fails_leaves_nothing_unfinished() {
    let count = failing_anywhere(|machine, request, path, disk| {
        crate::install(&machine.environment(), request).unwrap();
        let written = fs::read(path).unwrap();
        let _ = uninstall_on(disk, &machine.home(), &[], Missing::Keep, Run::Real);
        let now = fs::read(path).unwrap();
        assert!(now == TEXT.as_bytes() || now == written);
    });
    assert!(count > 12, "{count}");
}
