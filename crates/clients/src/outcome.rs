//! What is told of a file when Forebay has been taken out of it.

use std::path::PathBuf;

/// What became of a file when Forebay was taken out.
#[derive(Debug)]
pub struct Restored {
    /// The client's name, as people call it.
    pub title: String,
    /// The file.
    pub path: PathBuf,
    /// What happened.
    pub outcome: Outcome,
    /// Entries that start Forebay still: they stood there before all that is remembered.
    pub still: Vec<String>,
    /// What would change, as a patch; values of variables and headers are masked.
    pub difference: String,
    /// True if comments within entries could not be put back.
    pub loses_comments: bool,
    /// The copy of the file as it was, if there is one as long as something is left to do.
    pub copy: Option<PathBuf>,
}

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is as it was, byte for byte.
    Original,
    /// Others have changed it since; ours is out of it.
    EntryByEntry,
    /// There was nothing of ours in it any more.
    Nothing,
    /// It is not there; what is known of it is kept.
    Missing,
    /// It is not there, and nothing is known of it any more.
    Forgotten,
    /// These stay, because somebody has changed them since.
    Partly(Vec<LeftOver>),
    /// It stays as it is, for this reason.
    Refused(String),
}

/// An entry that stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOver {
    /// Its name.
    pub name: String,
    /// What is left of it.
    pub what: Remains,
}

/// What is left of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remains {
    /// Forebay is in front of a server that is started.
    Started,
    /// Forebay is in front of a server that is elsewhere.
    Remote,
    /// It is Forebay itself.
    Forebay,
    /// A server that was moved behind a gateway could not be put back.
    Moved,
}

/// Whether something is done or only told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// It is done.
    Real,
    /// Nothing is written.
    Dry,
}

/// What becomes of what is known of files that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// It is kept: the file may come back.
    Keep,
    /// It is removed.
    Forget,
}
