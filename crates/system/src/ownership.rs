//! Whose a file is, and what a file takes over from the one that it replaces.

use std::{
    fs::{File, Metadata, Permissions},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt, fchown},
};

use rustix::process::geteuid;

/// True if this user is the owner of a file.
pub fn is_ours(file: &Metadata) -> bool {
    file.uid() == geteuid().as_raw()
}

/// Gives a new file the owner and the permissions of the one that it is to replace.
pub fn take_over(fresh: &File, former: &Metadata) -> io::Result<()> {
    let own = fresh.metadata()?;
    if (own.uid(), own.gid()) != (former.uid(), former.gid()) {
        fchown(fresh, Some(former.uid()), Some(former.gid()))?;
    }
    fresh.set_permissions(former.permissions())
}

/// The permissions that any new file is made with, before the user's mask takes some of them.
pub fn usual_permissions() -> Permissions {
    Permissions::from_mode(0o666)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_new_file_takes_over_the_permissions_of_the_former() {
        let folder = tempfile::tempdir().unwrap();
        let [former, fresh] = ["former", "fresh"].map(|name| folder.path().join(name));
        fs::write(&former, "").unwrap();
        fs::set_permissions(&former, Permissions::from_mode(0o640)).unwrap();
        let file = File::create(&fresh).unwrap();
        let former = fs::metadata(&former).unwrap();
        take_over(&file, &former).unwrap();
        let (taken, owner) = (fs::metadata(&fresh).unwrap(), is_ours(&former));
        assert_eq!(taken.permissions().mode() & 0o777, 0o640);
        assert!(owner && is_ours(&taken));
    }
}
