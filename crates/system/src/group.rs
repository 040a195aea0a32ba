//! A process together with all that it starts in turn, so that a signal reaches them all.

use std::{
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, ExitStatus},
};

use rustix::{
    io::Errno,
    process::{
        Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
    },
};

/// A process that leads a group, and the group. Until the process is reaped nobody else gets its id, and a signal
/// cannot hit a stranger.
#[derive(Debug, Clone, Copy)]
pub struct Group(Option<Pid>);

/// The end of a process, to be waited for.
#[derive(Debug, Clone, Copy)]
pub struct Exit(Option<Pid>);

/// Has a process that is about to be started lead a group of its own. What is typed at the terminal, as Ctrl-C,
/// does not reach it.
pub fn lead(process: &mut Command) -> &mut Command {
    process.process_group(0)
}

/// Has the kernel end a process with SIGTERM when the thread that starts it ends.
#[cfg(target_os = "linux")]
pub fn end_with_parent(process: &mut Command) {
    use std::io;

    use rustix::process::{getpid, getppid, set_parent_process_death_signal};

    let parent = getpid();
    let in_child = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // We may have ended between the fork and the line above.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::NotConnected.into()) }
    };
    #[expect(unsafe_code, reason = "the closure makes system calls only: no allocation, no locks")]
    unsafe {
        process.pre_exec(in_child);
    }
}

/// Only Linux can do that.
#[cfg(not(target_os = "linux"))]
pub fn end_with_parent(_process: &mut Command) {}

impl Group {
    /// The group of a process that was started to [`lead`] it.
    pub fn of(leader: &Child) -> Self {
        Self(i32::try_from(leader.id()).ok().and_then(Pid::from_raw))
    }

    /// Sends a signal to all of it.
    pub fn signal(self, signal: i32) {
        if let (Some(group), Some(signal)) = (self.0, Signal::from_named_raw(signal)) {
            // It fails only if nobody is left to be signalled.
            let _ = kill_process_group(group, signal);
        }
    }

    /// True if nothing is left of it.
    pub fn is_gone(self) -> bool {
        self.0.is_some_and(|id| test_kill_process_group(id) == Err(Errno::SRCH))
    }

    /// The end of its leader.
    pub fn exit(self) -> Exit {
        Exit(self.0)
    }
}

impl Exit {
    /// Waits for the process to end, and leaves it to be reaped.
    pub fn wait(self) -> Option<ExitStatus> {
        loop {
            match self.look(WaitIdOptions::empty()) {
                Ok(None) | Err(Errno::INTR) => {}
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
    }

    /// How the process has ended, if it has; it is left to be reaped.
    pub fn has_come(self) -> Option<ExitStatus> {
        match self.look(WaitIdOptions::NOHANG) {
            Ok(status) => status,
            // There is no such process any more.
            Err(_) => Some(ExitStatus::default()),
        }
    }

    fn look(self, how: WaitIdOptions) -> Result<Option<ExitStatus>, Errno> {
        let id = self.0.ok_or(Errno::CHILD)?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | how;
        let Some(status) = waitid(WaitId::Pid(id), options)? else { return Ok(None) };
        let code = status.exit_status().map(|code| code << 8);
        Ok(code.or(status.terminating_signal()).map(ExitStatus::from_raw))
    }
}
