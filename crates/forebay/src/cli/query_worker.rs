//! The process that queries run in, which nobody starts by hand.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use forebay_system::{priority, signals};

/// How a worker runs.
#[derive(Debug, Args)]
pub(crate) struct WorkerArguments {
    /// Give way to everything else
    #[arg(long)]
    pub(crate) background: bool,
}

/// Answers what comes on standard input.
pub(crate) fn run(arguments: &WorkerArguments) -> Result<ExitCode> {
    if arguments.background {
        priority::process_gives_way();
    }
    signals::survive_file_limit()?;
    // Ctrl-C is for whoever asks, and who says what becomes of the question.
    signals::leave_interrupts_to_others()?;
    forebay_query::serve()?;
    Ok(ExitCode::SUCCESS)
}
