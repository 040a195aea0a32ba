//! The process that queries run in, which nobody starts by hand.

use std::{
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Result;
use clap::Args;
use signal_hook::consts::SIGINT;

/// How a worker runs.
#[derive(Debug, Args)]
pub(crate) struct WorkerArguments {
    /// Give way to everything else
    #[arg(long)]
    pub(crate) background: bool,
}

/// Answers what comes on standard input.
pub(crate) fn run(arguments: &WorkerArguments) -> Result<ExitCode> {
    /// Not among those that the library names on every system.
    const SIGXFSZ: i32 = 25;
    if arguments.background {
        let _ = rustix::process::setpriority_process(None, 19);
    }
    let ignored = Arc::new(AtomicBool::new(false));
    // A file that grows past its limit is an error of that write, not the end.
    signal_hook::flag::register(SIGXFSZ, ignored.clone())?;
    // Ctrl-C is for whoever asks, and who says what becomes of the question.
    signal_hook::flag::register(SIGINT, ignored)?;
    forebay_query::serve()?;
    Ok(ExitCode::SUCCESS)
}
