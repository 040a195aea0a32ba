//! Files as they are, and as they are to be: planned first, then written, each at once or not at all.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Component, Path, PathBuf},
};

use anyhow::{Context, Result};
use forebay_system::ownership;

use crate::{cli::exit::Exit, regular};

/// A file, and what becomes of it.
#[derive(Debug)]
pub(super) struct Step {
    /// What it is called, as somebody would.
    pub(super) name: String,
    /// Where it really lies.
    path: PathBuf,
    /// What is in it; `None` if it is not there.
    pub(super) before: Option<Vec<u8>>,
    /// What will be in it; `None` if it will not be there.
    pub(super) after: Option<Vec<u8>>,
    /// What happens, in words.
    pub(super) told: &'static str,
}

/// A file as it is found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) bytes: Option<Vec<u8>>,
    /// True if it is reached by a link, which would lead nowhere without it.
    pub(super) is_linked: bool,
}

impl Found {
    /// The file of this name, in a folder. A link is followed to where it leads.
    pub(super) fn at(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(name);
        let is_linked = fs::symlink_metadata(&path).is_ok_and(|it| it.is_symlink());
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_linked => {
                return Ok(Self { name: name.to_owned(), path, bytes: None, is_linked });
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read `{name}`")),
        };
        let bytes = regular::contents(&real).with_context(|| format!("cannot read `{name}`"))?;
        // A file that nobody may write to is not replaced by one that looks the same.
        let may_write = OpenOptions::new().append(true).open(&real);
        may_write.with_context(|| format!("cannot write to `{name}`"))?;
        Ok(Self { name: name.to_owned(), path: real, bytes: Some(bytes), is_linked })
    }

    /// What becomes of it.
    pub(super) fn becomes(self, after: Option<Vec<u8>>, told: &'static str) -> Step {
        Step { name: self.name, path: self.path, before: self.bytes, after, told }
    }

    /// It stays as it is.
    pub(super) fn stays(self, told: &'static str) -> Step {
        let after = self.bytes.clone();
        self.becomes(after, told)
    }
}

impl Step {
    /// True if something changes.
    pub(super) fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Has it happen, unless the file has changed since it was read.
    pub(super) fn take(&self) -> Result<()> {
        if !self.is_change() {
            return Ok(());
        }
        if fs::read(&self.path).ok() != self.before {
            let name = &self.name;
            return Err(Exit::Failed
                .told(format!("`{name}` has just been changed by somebody else; run this again")));
        }
        let done = match &self.after {
            Some(bytes) => replace(&self.path, bytes),
            None => fs::remove_file(&self.path),
        };
        done.with_context(|| format!("cannot write `{}`", self.name))
    }

    /// The lines that go and those that come, marked as in a patch.
    pub(super) fn difference(&self) -> Vec<String> {
        let lines = |bytes: &Option<Vec<u8>>| -> Vec<String> {
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            text.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect()
        };
        let (before, after) = (lines(&self.before), lines(&self.after));
        let same = |pair: &(&String, &String)| pair.0 == pair.1;
        let start = before.iter().zip(&after).take_while(same).count();
        let (before, after) = (&before[start..], &after[start..]);
        let end = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
        let gone = before[..before.len() - end].iter().map(|line| format!("-{line}"));
        let come = after[..after.len() - end].iter().map(|line| format!("+{line}"));
        gone.chain(come).collect()
    }
}

/// True if a file of this name lies in a folder, or would, wherever links lead.
pub(super) fn is_within(folder: &Path, name: &str) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let path = folder.join(name);
    // What does not exist yet leads nowhere else, as long as it does not lead up.
    let missing_leads_up = |missing: &Path| {
        missing.components().any(|it| !matches!(it, Component::Normal(_) | Component::CurDir))
    };
    let there = path.ancestors().find_map(|it| Some((it, it.canonicalize().ok()?)));
    there.is_some_and(|(known, real)| {
        let missing = path.strip_prefix(known).unwrap_or(Path::new(""));
        real.starts_with(&folder) && !missing_leads_up(missing)
    })
}

/// Writes a file beside its place and moves it there. It keeps the mode and the owner of what was there.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut fresh = tempfile::Builder::new()
        .prefix(".forebay-")
        // As any new file: less what the user's mask takes.
        .permissions(ownership::usual_permissions())
        .tempfile_in(folder)?;
    fresh.write_all(bytes)?;
    let former = match fs::metadata(path) {
        Ok(former) => former,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fresh.as_file().sync_all()?;
            return fresh.persist_noclobber(path).map(drop).map_err(|error| error.error);
        }
        Err(error) => return Err(error),
    };
    ownership::take_over(fresh.as_file(), &former)?;
    fresh.as_file().sync_all()?;
    fresh.persist(path).map(drop).map_err(|error| error.error)
}
