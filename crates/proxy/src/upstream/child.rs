//! Starts the upstream and makes sure that it never outlives us.
//!
//! The child leads a process group of its own, so that a signal reaches what it starts in turn
//! (`npx` starts `node`). If we are killed, the kernel sends the child SIGTERM where it can do that
//! (Linux), and a guard, a sleeping `sh` outside both groups, ends whatever is left of its group.

use std::{
    env,
    ffi::OsString,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Child, Command as ProcessCommand, ExitStatus, Stdio},
    time::Duration,
};

use forebay_system::{
    access, exit,
    group::{self, Exit, Group},
    open_files,
    pipes::{self, End},
    signals,
};
use parking_lot::Mutex;

use super::stderr::Listener;
use crate::{ProxyError, events, pipe::Inlet, router::UpstreamName};

/// An upstream's command line.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program, looked up in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What is added to the environment that we have ourselves.
    pub environment: Vec<(OsString, OsString)>,
    /// The directory it is started in; ours if not given.
    pub directory: Option<PathBuf>,
}

/// An upstream that has just been started.
pub(crate) struct Started {
    pub(crate) process: Process,
    pub(crate) input: End,
    pub(crate) output: Inlet,
}

/// The upstream's process and its group.
pub(crate) struct Process {
    group: Group,
    /// Not reaped until we end: as long as it is a zombie, nobody else can get its id, and a
    /// signal cannot hit a stranger.
    child: Mutex<Child>,
    /// The guard acts when its input closes, which happens however we end.
    guard: Option<Mutex<Child>>,
}

/// Starts `command` with pipes for its input and output; its stderr is ours, or goes there by way of a listener.
pub(crate) fn start(
    command: &Command,
    name: &UpstreamName,
    grace: Duration,
    listener: Option<&Listener>,
) -> Result<Started, ProxyError> {
    let failed = |source: io::Error| ProxyError::UpstreamStart {
        name: name.clone(),
        hint: hint(command, &source),
        source,
    };
    let mut process = ProcessCommand::new(&command.program);
    process
        .args(&command.arguments)
        .envs(command.environment.iter().map(|(key, value)| (key, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(listener.map_or(Ok(Stdio::inherit()), Listener::ear).map_err(ProxyError::Setup)?);
    group::lead(&mut process);
    if let Some(directory) = &command.directory {
        process.current_dir(directory);
    }
    group::end_with_parent(&mut process);
    open_files::as_before(&mut process);
    let mut child = process.spawn().map_err(failed)?;
    events::upstream_started(name, child.id());
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(ProxyError::Setup(io::ErrorKind::BrokenPipe.into()));
    };
    pipes::widen(&output);
    let group = Group::of(&child);
    let guard = guard(child.id(), grace).inspect_err(events::guard_missing).ok();
    Ok(Started {
        process: Process { group, child: Mutex::new(child), guard: guard.map(Mutex::new) },
        input: input.into(),
        output: Inlet::new(output.into()),
    })
}

impl Process {
    /// Sends a signal to the upstream and what it has started.
    pub(crate) fn signal(&self, signal: i32) {
        self.group.signal(signal);
    }

    /// Reaps an upstream that has ended, and sends the guard home if nothing is left of its group;
    /// `false` if something is.
    pub(crate) fn release(&self) -> bool {
        let reaped = self.child.lock().try_wait();
        let is_gone = self.group.is_gone();
        if let (Ok(Some(_)), true, Some(guard)) = (reaped, is_gone, &self.guard) {
            let mut guard = guard.lock();
            if guard.stdin.take().is_some_and(|mut input| input.write_all(b"\n").is_ok()) {
                let _ = guard.wait();
            }
        }
        is_gone
    }

    /// The upstream's exit, to be waited for.
    pub(crate) fn exit(&self) -> Exit {
        self.group.exit()
    }
}

/// How an upstream ended, as the end of a sentence.
pub(crate) fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), exit::signal_of(status)) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => {
            format!("was ended by signal {signal} ({})", signals::name(signal))
        }
        (None, None) => format!("ended ({status})"),
    }
}

/// Starts the guard: if its input closes without a line having come, it ends the process group, as
/// far as there is anything left of it.
fn guard(group: u32, grace: Duration) -> io::Result<Child> {
    let script = format!(
        "trap '' HUP INT QUIT TERM; read -r _ && exit 0; \
         kill -s TERM -- -{group} || exit 0; left={}; \
         while [ $left -gt 0 ]; do kill -s 0 -- -{group} || exit 0; sleep 1; left=$((left - 1)); done; \
         kill -s KILL -- -{group}",
        grace.as_secs().max(1)
    );
    let mut guard = ProcessCommand::new("sh");
    guard
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/");
    group::lead(&mut guard).spawn()
}

/// Says what would keep a command from being started, as far as that can be seen: a session that is
/// opened later would fail with it.
pub(crate) fn check(command: &Command, name: &UpstreamName) -> Result<(), ProxyError> {
    let found = match &command.directory {
        Some(directory) if !directory.is_dir() => Err(io::ErrorKind::NotFound),
        _ => find(command),
    };
    found.map_err(|kind| {
        let source = io::Error::from(kind);
        ProxyError::UpstreamStart { name: name.clone(), hint: hint(command, &source), source }
    })
}

/// Looks for the program where the system would.
fn find(command: &Command) -> Result<(), io::ErrorKind> {
    let program = Path::new(&command.program);
    if command.program.as_encoded_bytes().contains(&b'/') {
        let directory = command.directory.as_deref().unwrap_or(Path::new(""));
        return may_be_started(&directory.join(program));
    }
    let given = command.environment.iter().rev().find(|(key, _)| key == "PATH");
    let Some(path) = given.map(|(_, value)| value.clone()).or_else(|| env::var_os("PATH")) else {
        // Then the system has a list of its own.
        return Ok(());
    };
    let mut why = io::ErrorKind::NotFound;
    for directory in env::split_paths(&path) {
        match may_be_started(&directory.join(program)) {
            Ok(()) => return Ok(()),
            Err(io::ErrorKind::PermissionDenied) => why = io::ErrorKind::PermissionDenied,
            Err(_) => {}
        }
    }
    Err(why)
}

fn may_be_started(file: &Path) -> Result<(), io::ErrorKind> {
    let metadata = file.metadata().map_err(|error| error.kind())?;
    let is_startable = metadata.is_file() && access::can_execute(file);
    if is_startable { Ok(()) } else { Err(io::ErrorKind::PermissionDenied) }
}

/// What to check when a command cannot be started.
fn hint(command: &Command, error: &io::Error) -> String {
    let program = command.program.to_string_lossy();
    match (error.kind(), &command.directory) {
        (_, Some(directory)) if !directory.is_dir() => {
            format!("there is no directory `{}`", directory.display())
        }
        (io::ErrorKind::NotFound, _) if program.contains('/') => {
            format!("there is no file `{program}`, or it names an interpreter that is not there")
        }
        (io::ErrorKind::NotFound, _) => {
            format!("there is no `{program}` in PATH; install it or give its full path")
        }
        (io::ErrorKind::PermissionDenied, _) => {
            format!("`{program}` may not be executed; check its permissions")
        }
        _ => format!("`{program}`: {error}"),
    }
}
