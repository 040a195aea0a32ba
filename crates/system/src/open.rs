//! Opening what anybody may have put at a path: a pipe, or a link that leads elsewhere.

use std::{fs::OpenOptions, io, os::unix::fs::OpenOptionsExt};

/// Opens a pipe at once. As usual it would wait until somebody is at the other end.
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(libc::O_NONBLOCK)
}

/// The same, and a link is not followed: to open one is an error, which [`is_for_a_link`] knows.
pub fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
}

/// True if nothing was opened because it is a link.
pub fn is_for_a_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ELOOP)
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::symlink, process::Command};

    use super::*;

    #[test]
    fn a_pipe_is_not_waited_for_and_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, link] = ["pipe", "link"].map(|name| folder.path().join(name));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link] {
            let opened = without_waiting(OpenOptions::new().read(true)).open(path).unwrap();
            assert!(!opened.metadata().unwrap().is_file());
        }
        assert!(without_following(OpenOptions::new().read(true)).open(&pipe).is_ok());
        let error = without_following(OpenOptions::new().read(true)).open(&link).unwrap_err();
        assert!(is_for_a_link(&error), "{error}");
        let missing = folder.path().join("missing");
        let error = without_following(OpenOptions::new().read(true)).open(missing).unwrap_err();
        assert!(!is_for_a_link(&error), "{error}");
    }
}
