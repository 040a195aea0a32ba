//! The log file in the home, which all processes on the machine append to.
//!
//! Clients hide what a server says on stderr, so what goes wrong is written here, too. Nothing depends on it: a
//! line that cannot be written is dropped.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use forebay_store::lock_file;
use forebay_system::{identity::FileId, open, private};
use parking_lot::Mutex;

/// A file of this size gets no more lines.
const MAX_BYTES: u64 = 1 << 20;
/// How many files there are, the one that is written to included.
const FILES: usize = 3;

/// The file, opened when the first line is written.
pub(super) struct LogFile {
    home: PathBuf,
    without_home: WithoutHome,
    open: Mutex<Option<File>>,
}

/// What is done if there is no home yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WithoutHome {
    /// It is made.
    Make,
    /// Nothing is written: who only looks makes nothing.
    Drop,
}

impl LogFile {
    pub(super) fn new(home: PathBuf, without_home: WithoutHome) -> Self {
        Self { home, without_home, open: Mutex::default() }
    }

    /// Appends a line, which ends with a line break, if that can be done.
    pub(super) fn append(&self, line: &str) {
        let mut open = self.open.lock();
        *open = self.append_to(open.take(), line).ok();
    }

    fn append_to(&self, open: Option<File>, line: &str) -> io::Result<File> {
        let path = path(&self.home, 0);
        let mut file = match open {
            Some(file) if is_at(&file, &path)? => file,
            // Another process has given it another name, or somebody has removed it.
            Some(_) | None => self.open(&path)?,
        };
        if file.metadata()?.len() >= MAX_BYTES {
            file = self.begin_anew(file, &path)?;
        }
        // A single write: the kernel puts it at the end whole, whoever else writes.
        let _ = file.write(line.as_bytes())?;
        Ok(file)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        if self.without_home == WithoutHome::Drop && !self.home.exists() {
            return Err(io::ErrorKind::NotFound.into());
        }
        private::make_folder(&folder(&self.home))?;
        // Never through a link that somebody has put there, and no pipe is waited for.
        let mut options = OpenOptions::new();
        let options = private::file(options.append(true).create(true));
        let file = open::without_following(options).open(path)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// Gives a full file, and those before it, the next number, and begins another. One process does; the
    /// others write to the full one until it is done.
    fn begin_anew(&self, full: File, current: &Path) -> io::Result<File> {
        let lock = lock_file(&folder(&self.home).join("rotating.lock"))?;
        if lock.try_lock().is_err() {
            return Ok(full);
        }
        // Another may have done it before we had the lock.
        if is_at(&full, current)? {
            for number in (1..FILES).rev() {
                match fs::rename(path(&self.home, number - 1), path(&self.home, number)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        self.open(current)
    }
}

/// The files that there may be, the newest first.
pub(super) fn paths(home: &Path) -> impl Iterator<Item = PathBuf> {
    (0..FILES).map(|number| path(home, number))
}

/// Where the file is, or an older one.
fn path(home: &Path, number: usize) -> PathBuf {
    match number {
        0 => folder(home).join("forebay.log"),
        older => folder(home).join(format!("forebay.log.{older}")),
    }
}

fn folder(home: &Path) -> PathBuf {
    home.join("logs")
}

/// True if the file that is open is the one with this name.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    Ok(FileId::at(path) == Some(FileId::of(&file.metadata()?)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn log(home: &Path, without_home: WithoutHome) -> LogFile {
        LogFile::new(home.to_owned(), without_home)
    }

    #[test]
    fn a_file_is_made_with_the_first_line_and_is_its_owners() {
        let parent = tempfile::tempdir().unwrap();
        let home = parent.path().join("home");
        log(&home, WithoutHome::Drop).append("a\n");
        assert!(!home.exists(), "who only looks makes nothing");
        let made = log(&home, WithoutHome::Make);
        assert!(!home.exists(), "nothing is logged yet");
        made.append("a\n");
        log(&home, WithoutHome::Drop).append("b\n");
        assert_eq!(fs::read_to_string(path(&home, 0)).unwrap(), "a\nb\n");
        let bits = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((bits(&path(&home, 0)), bits(&folder(&home))), (0o600, 0o700));
    }

    #[test]
    fn a_full_file_gets_a_number_and_three_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let (one, other) =
            (log(home.path(), WithoutHome::Make), log(home.path(), WithoutHome::Make));
        let line = format!("{}\n", "x".repeat(1 << 10));
        for _ in 0..(5 << 10) {
            one.append(&line);
            other.append(&line);
        }
        let found = |number| fs::metadata(path(home.path(), number)).map(|it| it.len()).ok();
        for number in 0..FILES {
            let bytes = found(number).unwrap();
            assert!((1..MAX_BYTES + 3 * line.len() as u64).contains(&bytes), "{number}: {bytes}");
        }
        assert_eq!(found(FILES), None);
    }

    #[test]
    fn what_is_no_file_is_left_alone_and_one_that_is_removed_is_made_again() {
        let home = tempfile::tempdir().unwrap();
        let file = log(home.path(), WithoutHome::Make);
        file.append("a\n");
        fs::remove_file(path(home.path(), 0)).unwrap();
        file.append("b\n");
        assert_eq!(fs::read_to_string(path(home.path(), 0)).unwrap(), "b\n");
        fs::remove_file(path(home.path(), 0)).unwrap();
        let elsewhere = home.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, path(home.path(), 0)).unwrap();
        file.append("c\n");
        assert!(!elsewhere.exists());
    }
}
