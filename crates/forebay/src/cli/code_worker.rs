//! The process that programs run in, which nobody starts by hand.

use std::process::ExitCode;

use anyhow::Result;
use forebay_system::signals;

use crate::memory;

/// Runs what comes on standard input.
pub(crate) fn run() -> Result<ExitCode> {
    memory::without_threads();
    // Ctrl-C is for whoever asks, and who says what becomes of the program.
    signals::leave_interrupts_to_others()?;
    forebay_sandbox::serve()?;
    Ok(ExitCode::SUCCESS)
}
