//! Files as they are written here: each at once or not at all, with the mode and the owner that they had.
//!
//! All that touches a disk goes through [`Disk`], one step at a time, so that tests can stop after any step.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use forebay_system::{open, ownership, private, rename};

/// No client's file is longer.
const MAX_BYTES: u64 = 64 << 20;

/// The steps that change something.
pub(crate) trait Disk {
    /// Makes a file with this in it, which is on the disk when this returns. It is as `like`, or else for its
    /// owner alone.
    fn make(&self, path: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<()>;
    /// Moves a file over another.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Has two files change places.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The machine's own.
#[derive(Debug)]
pub(crate) struct RealDisk;

/// What came of replacing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replaced {
    Done,
    /// It does not hold any more what it was expected to; it stays as it is.
    Changed,
}

impl Disk for RealDisk {
    fn make(&self, path: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<()> {
        let mut file = private::file(OpenOptions::new().write(true).create_new(true)).open(path)?;
        file.write_all(bytes)?;
        if let Some(former) = like {
            ownership::take_over(&file, &fs::metadata(former)?)?;
        }
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        sync_folder(to)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        rename::exchange(one, other)?;
        sync_folder(other)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

/// Puts `after` into the file at `path` if it still holds `before`. Where the system can, the check comes with
/// the change, so that nothing is lost that somebody else writes meanwhile.
pub(crate) fn replace(
    disk: &dyn Disk,
    path: &Path,
    before: &[u8],
    after: &[u8],
) -> io::Result<Replaced> {
    let fresh = beside(path);
    remove_if_there(disk, &fresh)?;
    // A file that nobody may write to is not replaced by one that looks the same.
    OpenOptions::new().append(true).open(path)?;
    disk.make(&fresh, after, Some(path)).inspect_err(|_| discard(disk, &fresh))?;
    if read(path).inspect_err(|_| discard(disk, &fresh))? != before {
        disk.remove(&fresh)?;
        return Ok(Replaced::Changed);
    }
    // They may have changed places though this was not known to reach the disk; then it is not ours that lies there.
    if let Err(error) = disk.exchange(&fresh, path)
        && read(&fresh).is_ok_and(|bytes| bytes == after)
    {
        // Not every file system can.
        let is_impossible = rename::is_impossible(&error);
        let renamed = if is_impossible { disk.rename(&fresh, path) } else { Err(error) };
        renamed.inspect_err(|_| discard(disk, &fresh))?;
        return Ok(Replaced::Done);
    }
    let replaced = if read(&fresh)? == before {
        Replaced::Done
    } else {
        give_back(disk, path, &fresh, after)?;
        Replaced::Changed
    };
    disk.remove(&fresh)?;
    Ok(replaced)
}

/// Puts what somebody else wrote, which lies in `fresh` now, back into its place, where `ours` should still be. If
/// it is not, they have written again, and that is what belongs there.
fn give_back(disk: &dyn Disk, path: &Path, fresh: &Path, ours: &[u8]) -> io::Result<()> {
    let mut expected = ours.to_vec();
    loop {
        let theirs = read(fresh)?;
        disk.exchange(fresh, path)?;
        if read(fresh)? == expected {
            return Ok(());
        }
        expected = theirs;
    }
}

/// Writes a file of our own, for its owner alone.
pub(crate) fn write(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        private::make_folder(folder)?;
    }
    let fresh = beside(path);
    remove_if_there(disk, &fresh)?;
    let written = disk.make(&fresh, bytes, None).and_then(|()| disk.rename(&fresh, path));
    written.inspect_err(|_| discard(disk, &fresh))
}

/// Removes what was to take the place of a file, which may hold keys, when something has failed that is told instead.
fn discard(disk: &dyn Disk, fresh: &Path) {
    let _ = remove_if_there(disk, fresh);
}

pub(crate) fn remove_if_there(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(_) => disk.remove(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// The bytes of a file. What is no file, or far too long, is an error.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = open::without_waiting(OpenOptions::new().read(true)).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it is longer than 64 MiB"));
    }
    Ok(bytes)
}

/// Where a file is written before it takes its place. There is one at a time: whoever writes has the lock.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.forebay-new"))
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => rename::sync_folder(folder),
        None => Ok(()),
    }
}
