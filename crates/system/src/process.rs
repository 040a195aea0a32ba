//! What the system says of processes: this one, and others by their id.

use std::{env, fs, io, path::PathBuf, time::Duration};

use rustix::{
    io::Errno,
    process::{Pid, test_kill_process},
    time::{ClockId, clock_gettime},
};

/// This very program's file, even if another has taken its name since.
pub fn own_program() -> io::Result<PathBuf> {
    // Only Linux has it.
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { Ok(running) } else { env::current_exe() }
}

/// The time that this process has computed, on all of its threads.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// True if there is no process with this id.
pub fn is_gone(id: u32) -> bool {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    id.is_some_and(|id| test_kill_process(id) == Err(Errno::SRCH))
}

/// True if a process is stopped, as by SIGSTOP. Only Linux says so.
pub fn is_stopped(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    matches!(state, Some('T' | 't'))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_there_until_it_has_been_waited_for() {
        assert!(!is_gone(std::process::id()) && !is_stopped(std::process::id()));
        let mut child = Command::new("true").spawn().unwrap();
        assert!(!is_gone(child.id()), "it is not waited for yet");
        child.wait().unwrap();
        assert!(is_gone(child.id()));
        assert!(!is_gone(0) && !is_gone(u32::MAX), "no process has such an id");
    }

    #[test]
    fn this_program_has_a_file_and_has_computed() {
        assert!(own_program().unwrap().exists());
        assert!(cpu_time() > Duration::ZERO);
    }
}
