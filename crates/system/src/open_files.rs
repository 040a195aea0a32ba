//! How many files we may have open, and that children may have as many as if we were not there.

use std::{os::unix::process::CommandExt, process::Command, sync::OnceLock};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What we were granted before we asked for more.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Asks for all that can be had. A client may keep two connections open for as long as it lives, and
/// what a shell grants a process is soon used up.
pub fn allow_many() {
    let before = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: before.maximum, ..before };
    // If it is not granted we do with fewer.
    if before.current != before.maximum && setrlimit(Resource::Nofile, wanted).is_ok() {
        let _ = BEFORE.set(before);
    }
}

/// Gives a child what it would have without us: some programs close all that they may have open.
pub fn as_before(process: &mut Command) {
    if let Some(before) = BEFORE.get() {
        let in_child = || Ok(setrlimit(Resource::Nofile, *before)?);
        #[expect(
            unsafe_code,
            reason = "the closure makes a system call only: no allocation, no locks"
        )]
        unsafe {
            process.pre_exec(in_child);
        }
    }
}
