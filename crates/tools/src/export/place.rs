//! Where a file is written: a name that nobody has, given to it when it is whole, and in words why there
//! can be none.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use forebay_query::QueryError;
use forebay_system::private;

use crate::{
    Desk, ToolError,
    desk::{Unnamed, unique},
    error::refuse,
};

/// Creates a file that only its owner may read; fails if there is one.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    private::file(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// The folder of a file that is to be written: of `path`, where there must be none, or one for what has no
/// place yet.
pub(crate) fn folder_of(desk: &Desk, path: Option<&Path>) -> Result<PathBuf, ToolError> {
    let Some(path) = path else { return Ok(desk.scratch()?.canonicalize()?) };
    if path.exists() {
        return refuse!("{} exists already: choose another name.", path.display());
    }
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = match folder.canonicalize() {
        Ok(folder) if folder.is_dir() => folder,
        _ => return refuse!("There is no folder {}: make it first.", folder.display()),
    };
    // Before anything is asked: whatever writes the file would tell it in its own words.
    match create(&Unnamed(folder.join(format!(".probe-{}", unique()))).0) {
        Ok(_) => Ok(folder),
        Err(error) => Err(unwritable(path, &error)),
    }
}

/// An error while `partial` was written, told of what it was to become.
pub(super) fn of_target(error: ToolError, partial: &Path, target: &Path) -> ToolError {
    match error {
        ToolError::File(error) => unwritable(target, &error),
        ToolError::Query(QueryError::Refused(text)) => {
            match text.split_once(&format!("\"{}\": ", partial.display())) {
                Some((_, why)) => unwritable(target, &io::Error::other(why)),
                None => QueryError::Refused(text).into(),
            }
        }
        other => other,
    }
}

/// Says why there can be no file at `path`.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> ToolError {
    let error = error.to_string();
    let why = error.split(" (os error").next().unwrap_or_default();
    ToolError::Refused(format!("{} cannot be written: {why}.", path.display()))
}

/// Gives a file its name, if nobody else has taken it since.
pub(crate) fn placed(file: &Path, path: &Path) -> Result<PathBuf, ToolError> {
    fs::hard_link(file, path).map_err(|error| unwritable(path, &error))?;
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_is_told_by_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("partial");
        fs::write(&file, "new").unwrap();
        let long = folder.path().join("x".repeat(300));
        let expected = format!("{} cannot be written: File name too long.", long.display());
        assert_eq!(placed(&file, &long).unwrap_err().told(), expected);

        let full = format!("IO Error: Could not write file \"{}\": No space left", file.display());
        let told = |text: &str| {
            let error = QueryError::Refused(text.to_owned()).into();
            of_target(error, &file, Path::new("a.csv")).told()
        };
        assert_eq!(told(&full), "a.csv cannot be written: No space left.");
        assert_eq!(told("There is no table x."), "There is no table x.");
        let full = ToolError::File(io::Error::from_raw_os_error(28));
        let expected = "a.csv cannot be written: No space left on device.";
        assert_eq!(of_target(full, &file, Path::new("a.csv")).told(), expected);
    }
}
