//! What can go wrong with running a program that is not of the program's doing.

use std::io;

/// An error of a sandbox's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The program was cancelled.
    #[error("The program was cancelled.")]
    Cancelled,
    /// So many programs run that there was no turn for this one.
    #[error(
        "The program was not begun: {0} others were running all the time that it could wait, as many as \
         code.runs_at_once allows. Nothing was called. Try again when they have ended."
    )]
    Busy(usize),
    /// The worker ended before the program did.
    #[error(
        "The engine that ran the program ended before the program did: the program took more memory or \
         stack than it may have, or the engine is at fault. What it had called has been done; nothing \
         else is lost, and the next program will run."
    )]
    Ended,
    /// The worker does not go on.
    #[error(
        "The engine that ran the program was stopped from outside, or heeded no limit, and has been \
         ended. What the program had called has been done. Try again."
    )]
    Stopped,
    /// The worker could not be started.
    #[error("The engine for programs cannot be started")]
    NotStarted(#[source] io::Error),
    /// What the worker said cannot be understood.
    #[error("The engine for programs could not be talked to")]
    Pipe(#[from] io::Error),
}
