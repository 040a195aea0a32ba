//! Names of files that change at once, and when they have reached the disk.

use std::{fs::File, io, path::Path};

use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};

/// Has two files change places.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// True if [`exchange`] has failed because it cannot be done here: not every file system can.
pub fn is_impossible(error: &io::Error) -> bool {
    let impossible = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP];
    Errno::from_io_error(error).is_some_and(|error| impossible.contains(&error))
}

/// Gives a file another name, unless that is taken.
pub fn to_free(from: &Path, to: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

/// Waits until the names in a folder are on the disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_change_places_and_no_name_is_taken_from_another() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        fs::write(&one, "1").unwrap();
        fs::write(&other, "2").unwrap();
        exchange(&one, &other).unwrap();
        assert_eq!([&one, &other].map(|it| fs::read_to_string(it).unwrap()), ["2", "1"]);
        let taken = to_free(&one, &other).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert!(!is_impossible(&taken) && is_impossible(&Errno::NOSYS.into()));
        to_free(&one, &folder.path().join("free")).unwrap();
        assert!(!one.exists());
        sync_folder(folder.path()).unwrap();
    }
}
