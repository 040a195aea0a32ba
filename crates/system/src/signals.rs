//! Signals that come to this process: heeded, left to others, and passed on.
//!
//! Whoever serves over HTTP awaits them in `proxy`, with the async runtime.

use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
};

pub use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2},
    iterator::Signals,
};
use signal_hook::{flag, low_level};

/// Not among those that the library names on every system.
const SIGXFSZ: i32 = 25;

/// What a signal is called, such as `SIGTERM`.
pub fn name(signal: i32) -> &'static str {
    low_level::signal_name(signal).unwrap_or("unknown")
}

/// Those of `signals` that whoever started us does not want ignored (`nohup`). Only Linux tells; elsewhere it is
/// all of them.
pub fn not_ignored(mut signals: Vec<i32>) -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok())
        .unwrap_or(0);
    signals.retain(|signal| ignored & (1 << (signal - 1)) == 0);
    signals
}

/// Goes on when Ctrl-C is typed, which is for whoever started us.
pub fn leave_interrupts_to_others() -> io::Result<()> {
    heed_not(SIGINT)
}

/// Makes a file that grows past its limit an error of that write, and not the end of this process.
pub fn survive_file_limit() -> io::Result<()> {
    heed_not(SIGXFSZ)
}

/// Has Ctrl-C set this. If it is set already, Ctrl-C ends the program.
pub fn set_on_interrupt(is_interrupted: &Arc<AtomicBool>) -> io::Result<()> {
    flag::register_conditional_default(SIGINT, is_interrupted.clone())?;
    flag::register(SIGINT, is_interrupted.clone())?;
    Ok(())
}

/// Ends this process by a signal, as if nobody had asked to hear of it. Returns only if the signal is one that
/// ends nobody, or is not known.
pub fn end_by(signal: i32) {
    let _ = low_level::emulate_default_handler(signal);
}

fn heed_not(signal: i32) -> io::Result<()> {
    flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_has_its_name_and_what_is_ignored_is_left_out() {
        /// Rust's own runtime has a process ignore it.
        const SIGPIPE: i32 = 13;
        assert_eq!((name(SIGTERM), name(12_345)), ("SIGTERM", "unknown"));
        assert_eq!(not_ignored(vec![SIGUSR1, SIGPIPE]), [SIGUSR1]);
    }
}
