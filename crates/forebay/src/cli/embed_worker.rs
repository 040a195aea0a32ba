//! The process that the embedding model runs in, which nobody starts by hand.

use std::process::ExitCode;

use anyhow::Result;
use forebay_system::signals;

use crate::memory;

/// Answers what comes on standard input.
pub(crate) fn run() -> Result<ExitCode> {
    memory::without_threads();
    // Ctrl-C is for whoever asks.
    signals::leave_interrupts_to_others()?;
    forebay_embed::serve()?;
    Ok(ExitCode::SUCCESS)
}
