//! Files and folders for their owner alone, and whether others can get at what is there.

use std::{
    env,
    fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::Mode,
    process::{geteuid, umask},
};

use crate::ownership;

const FILE: u32 = 0o600;
const FOLDER: u32 = 0o700;

/// Makes a folder that only its owner can enter, and those above it that are missing. One that is there stays as
/// it is.
pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(path)
}

/// What a folder has that only its owner can enter.
pub fn of_a_folder() -> Permissions {
    Permissions::from_mode(FOLDER)
}

/// The folder among the temporary files that only this user can enter, made if it is not there. Its name begins
/// with `name`.
pub fn temporary_folder(name: &str) -> io::Result<PathBuf> {
    let folder = env::temp_dir().join(format!("{name}-{}", geteuid().as_raw()));
    match DirBuilder::new().mode(FOLDER).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Others may make a folder of this name, too.
    let found = fs::symlink_metadata(&folder)?;
    if found.is_dir() && ownership::is_ours(&found) && found.mode() & 0o777 == FOLDER {
        return Ok(folder);
    }
    let said = format!("`{}` is not this user's own folder", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, said))
}

/// Has a file that is made with these options be for its owner alone. One that is there stays as it is.
pub fn file(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(FILE)
}

/// Takes a file from all but its owner.
pub fn make_private(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(FILE))
}

/// Has whatever this process makes from now on be for its owner alone, whoever in it makes it.
pub fn make_all_private() {
    umask(Mode::from_raw_mode(0o077));
}

/// True if anybody but its owner can do anything with a file or a folder, as far as that is up to itself.
pub fn is_open_to_others(found: &Metadata) -> bool {
    found.mode() & 0o077 != 0
}

/// True if others can enter the folder of a file, and read the file. Links are followed.
pub fn can_be_read_by_others(file: &Path) -> bool {
    let mode = |path: &Path| fs::metadata(path).map_or(0, |found| found.mode());
    mode(file) & 0o044 != 0 && file.parent().is_some_and(|folder| mode(folder) & 0o011 != 0)
}

/// True if nobody but this user or the administrator owns a file or can write to it.
pub fn is_trustworthy(file: &Metadata) -> bool {
    (file.uid() == 0 || ownership::is_ours(file)) && file.mode() & 0o022 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    fn set(path: &Path, bits: u32) {
        fs::set_permissions(path, Permissions::from_mode(bits)).unwrap();
    }

    #[test]
    fn what_is_made_is_for_its_owner_alone_and_what_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        make_folder(&deep).unwrap();
        assert_eq!((bits(&deep), bits(&folder.path().join("a"))), (0o700, 0o700));
        set(&deep, 0o755);
        make_folder(&deep).unwrap();
        assert_eq!(bits(&deep), 0o755);
        let path = deep.join("file");
        let made = file(OpenOptions::new().write(true).create_new(true)).open(&path).unwrap();
        assert_eq!(bits(&path), 0o600);
        set(&path, 0o644);
        file(OpenOptions::new().write(true).create(true).truncate(false)).open(&path).unwrap();
        assert_eq!(bits(&path), 0o644);
        make_private(&made).unwrap();
        assert_eq!(bits(&path), 0o600);
    }

    #[test]
    fn who_else_can_get_at_a_file_is_told_by_its_mode_and_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        // The file's mode, its folder's, whether it is open, can be read, and can be trusted.
        let cases = [
            (0o600, 0o755, false, false, true),
            (0o644, 0o755, true, true, true),
            (0o644, 0o700, true, false, true),
            (0o620, 0o755, true, false, false),
            (0o666, 0o711, true, true, false),
        ];
        for (mode, around, is_open, is_read, is_ours) in cases {
            set(&path, mode);
            set(folder.path(), around);
            let found = fs::metadata(&path).unwrap();
            assert_eq!(
                (is_open_to_others(&found), can_be_read_by_others(&path), is_trustworthy(&found)),
                (is_open, is_read, is_ours),
                "{mode:o} in {around:o}"
            );
        }
        assert!(!can_be_read_by_others(&folder.path().join("missing")));
    }
}
