//! How a process has ended: with a code, or by a signal.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

/// The signal that has ended the process, if one has.
pub fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// The status of a process that has ended with this code.
pub fn with_code(code: u8) -> ExitStatus {
    ExitStatus::from_raw(i32::from(code) << 8)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_code_and_a_signal_are_told_apart() {
        let ended = |script: &str| Command::new("sh").args(["-c", script]).status().unwrap();
        assert_eq!(ended("exit 7"), with_code(7));
        assert_eq!((with_code(7).code(), signal_of(with_code(7))), (Some(7), None));
        let killed = ended("kill -s KILL $$");
        assert_eq!((killed.code(), signal_of(killed)), (None, Some(9)));
    }
}
