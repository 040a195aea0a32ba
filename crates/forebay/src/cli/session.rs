//! A session on standard input and output, from what is prepared for it to an exit code.

use std::{
    io::{self, IsTerminal},
    process::{ExitCode, ExitStatus},
};

use anyhow::{Result, bail};
use forebay_proxy::{
    ProxyError,
    client::stdio::{self, Ended, Settings},
    relay::Relay,
    upstream::Upstream,
};
use forebay_system::{exit, signals};

use crate::{
    assemble::Notes,
    observe::{self, Blame},
};

/// What is said when a command cannot be found or started, as shells do.
const NOT_FOUND: u8 = 127;
const NOT_STARTED: u8 = 126;

/// All that a session needs.
pub(crate) struct Prepared {
    pub(crate) upstream: Upstream,
    pub(crate) relay: Relay,
    pub(crate) notes: Notes,
    pub(crate) settings: Settings,
}

/// Runs a session to its end, or tells the client why there is none.
pub(crate) fn run(prepared: Result<Prepared>) -> Result<ExitCode> {
    let Prepared { upstream, relay, notes, settings } = match prepared {
        Ok(prepared) => prepared,
        // A person at a terminal reads the error on stderr; a client asks and gets an answer.
        Err(error) if io::stdin().is_terminal() => return Err(error),
        Err(error) => {
            // First here: a client that ends us at once may have its log read.
            let code = crate::fail(&error);
            stdio::refuse(format!("Forebay cannot start: {error:#}"))?;
            return Ok(code);
        }
    };
    let ended = stdio::wrap(upstream, relay, &settings)?;
    // Before we end as the server did, which may be by a signal.
    notes.write_down();
    match ended {
        Ended::Upstream(status) => Ok(end_like(status)),
        Ended::LeftBehind => bail!("the server could not be ended"),
        Ended::NotStarted(error) => Ok(say_not_started(&error)),
    }
}

/// Ends as the server did: with its code, or by its signal.
fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(code) = status.code() {
        return ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX));
    }
    if let Some(signal) = exit::signal_of(status) {
        // Does not return, except for a signal that it does not know.
        signals::end_by(signal);
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    ExitCode::FAILURE
}

fn say_not_started(error: &ProxyError) -> ExitCode {
    observe::fail(&error.to_string(), Blame::Ours);
    match error {
        ProxyError::UpstreamStart { source, .. }
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            ExitCode::from(NOT_FOUND)
        }
        _ => ExitCode::from(NOT_STARTED),
    }
}
