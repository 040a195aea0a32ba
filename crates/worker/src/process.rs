//! A worker as whoever starts it sees it.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use forebay_system::process::is_stopped;

/// How often it is looked whether a process has been stopped.
const GLANCE: Duration = Duration::from_millis(500);

/// A worker that was started.
pub struct Started {
    /// The process.
    pub child: Child,
    /// What it reads.
    pub input: ChildStdin,
    /// What it says.
    pub output: ChildStdout,
}

/// Starts `program arguments…` with these variables of our environment and no others.
pub fn start(program: &Path, arguments: &[OsString], variables: &[&str]) -> io::Result<Started> {
    let is_needed = |name: &OsStr| variables.iter().any(|needed| name == OsStr::new(needed));
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| is_needed(name)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let missing = || io::Error::other("a pipe is missing");
    let input = child.stdin.take().ok_or_else(missing)?;
    let output = child.stdout.take().ok_or_else(missing)?;
    Ok(Started { child, input, output })
}

/// Whether a process is stopped, as by SIGSTOP, and stays so.
#[derive(Debug, Default)]
pub struct Stopped {
    looked: Option<Instant>,
    was_stopped: bool,
}

impl Stopped {
    /// True if the process was stopped at two looks in a row: one that is about to go on is not.
    pub fn is_for_long(&mut self, id: u32) -> bool {
        let now = Instant::now();
        if self.looked.get_or_insert(now).elapsed() < GLANCE {
            return false;
        }
        self.looked = Some(now);
        let before = self.was_stopped;
        // Only Linux says so; elsewhere the limits of time hold.
        self.was_stopped = is_stopped(id);
        before && self.was_stopped
    }
}
