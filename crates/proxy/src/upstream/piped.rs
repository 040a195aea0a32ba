//! An upstream at the end of two pipes: a child process, a bridge to a server elsewhere, or a group of them.
//! Each takes lines, gives lines, can be told to end, and ends.

use std::{process::ExitStatus, thread::JoinHandle, time::Duration};

use forebay_system::{
    exit,
    group::Exit as ProcessExit,
    pipes::{self, End},
    signals::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM},
};

use super::{
    Upstream,
    beside::{self, Stop},
    bridge,
    child::{self, Process},
    group,
};
use crate::{ProxyError, body::Spool, events, pipe::Inlet, router::UpstreamName};

/// An upstream that has just been started.
pub(crate) struct Started {
    pub(crate) running: Running,
    pub(crate) input: End,
    pub(crate) output: Inlet,
}

/// An upstream under way.
pub(crate) enum Running {
    Process(Process),
    Beside(beside::Running),
}

/// An upstream's end, to be waited for.
pub(crate) enum Exit {
    Process(ProcessExit),
    Beside(Option<JoinHandle<()>>),
}

pub(crate) fn start(
    upstream: Upstream,
    name: &UpstreamName,
    grace: Duration,
    spool: Spool,
) -> Result<Started, ProxyError> {
    let (running, input, output) = match upstream {
        Upstream::Command(command) => {
            let started = child::start(&command, name, grace, None)?;
            (Running::Process(started.process), started.input, started.output)
        }
        Upstream::Remote(remote) => {
            beside(bridge::start(*remote, spool).map_err(ProxyError::Setup)?)
        }
        Upstream::Group(settings) => {
            beside(group::start(settings, spool, grace).map_err(ProxyError::Setup)?)
        }
    };
    Ok(Started { running, input, output })
}

fn beside(started: beside::Started) -> (Running, End, Inlet) {
    pipes::widen(&started.output);
    (Running::Beside(started.running), started.input, Inlet::new(started.output))
}

impl Running {
    /// Passes a signal on, as far as there is someone to get it.
    pub(crate) fn signal(&self, signal: i32, name: &UpstreamName, why: &str) {
        match self {
            Self::Process(process) => {
                events::upstream_signalled(name, signal, why);
                process.signal(signal);
            }
            Self::Beside(running) => match signal {
                SIGTERM | SIGINT | SIGHUP | SIGQUIT => running.stop(Stop::Soon),
                SIGKILL => running.stop(Stop::Now),
                _ => {}
            },
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Process(process) => Exit::Process(process.exit()),
            Self::Beside(running) => Exit::Beside(running.thread()),
        }
    }

    /// How its end is told: a process ends in some way, what is beside us is merely not there any more.
    pub(crate) fn ending<'a>(&self, how: &'a str) -> &'a str {
        match self {
            Self::Process(_) => how,
            Self::Beside(_) => "is no longer connected",
        }
    }

    /// Lets go of what has ended.
    pub(crate) fn release(&self) {
        match self {
            Self::Process(process) => drop(process.release()),
            Self::Beside(_) => {}
        }
    }
}

impl Exit {
    /// Waits for the end.
    pub(crate) fn wait(self) -> Option<ExitStatus> {
        match self {
            Self::Process(exit) => exit.wait(),
            Self::Beside(thread) => {
                let code = u8::from(thread?.join().is_err());
                Some(exit::with_code(code))
            }
        }
    }
}
