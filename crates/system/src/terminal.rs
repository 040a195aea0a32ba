//! The terminal that somebody sits at.

use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;

/// How many characters a line of a terminal has; `None` if it is no terminal or does not say.
pub fn columns(terminal: &impl AsFd) -> Option<usize> {
    let size = tcgetwinsize(terminal).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
