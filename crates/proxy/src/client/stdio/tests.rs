//! A session with a real upstream, between pipes that a client would hold.

use std::{
    io::{PipeReader, PipeWriter, Write, pipe},
    sync::Mutex,
};

use super::*;
use crate::{
    chain::{CallVerdict, Deadlines, Verdict},
    testing::{Hooks, relay},
    upstream::Command,
};

const GRACE: Duration = Duration::from_secs(60);

/// A session with an upstream that says whatever it is told.
fn session_with_cat(
    hooks: Hooks,
    input: PipeReader,
    output: PipeWriter,
) -> (Wrapped, mpsc::Receiver<Event>) {
    let command = Command {
        program: "cat".into(),
        arguments: Vec::new(),
        environment: Vec::new(),
        directory: None,
    };
    // No hook is late.
    let hour = Duration::from_secs(60 * 60);
    let deadlines = Deadlines { call: hour, result: hour, ..Deadlines::default() };
    let (events, inbox) = mpsc::sync_channel(64);
    let pump = Pump {
        relay: Arc::new(relay(vec![Arc::new(hooks)], deadlines)),
        client: Arc::new(Outlet::new(output.into())),
        upstream: Arc::new(Outlet::closed()),
        crew: Arc::default(),
        spool: Spool::of_memory(1_000),
        events,
        is_delivering: Arc::default(),
    };
    let (name, spool) = (pump.relay.upstream().clone(), pump.spool.clone());
    let started = piped::start(Upstream::Command(command), &name, GRACE, spool).unwrap();
    (Wrapped::begin(pump, Inlet::new(input.into()), started).unwrap(), inbox)
}

#[test]
fn a_client_that_is_gone_is_not_worked_for() {
    let (begun, begins) = mpsc::channel();
    let (report, heard) = mpsc::channel();
    let hooks = Hooks {
        call: Some(Box::new(move |_, _, caller| {
            let (sender, cancelled) = mpsc::channel();
            caller.on_cancel(move || sender.send(()).unwrap());
            begun.send(())?;
            cancelled.recv()?;
            report.send(())?;
            Ok(CallVerdict::Forward)
        })),
        ..Hooks::default()
    };
    let (input, mut client_writes) = pipe().unwrap();
    let (client_reads, output) = pipe().unwrap();
    let (session, inbox) = session_with_cat(hooks, input, output);

    writeln!(client_writes, r#"{{"id":1,"method":"tools/call","params":{{"name":"t"}}}}"#).unwrap();
    begins.recv().unwrap();
    drop((client_writes, client_reads));
    heard.recv().unwrap();
    // Nothing is left to be waited for: the upstream sees the end of its input.
    assert!(matches!(session.run(&inbox, GRACE), Ended::Upstream(status) if status.success()));
}

#[test]
fn a_capture_for_nobody_does_not_keep_us() {
    let (begun, begins) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let hooks = Hooks {
        result: Some(Box::new(move |_, _| {
            begun.send(())?;
            // As long as the test lasts.
            let _ = released.lock().unwrap().recv();
            Ok(Verdict::Pass)
        })),
        ..Hooks::default()
    };
    let (input, mut client_writes) = pipe().unwrap();
    let (client_reads, output) = pipe().unwrap();
    let (session, inbox) = session_with_cat(hooks, input, output);

    // What it says comes back from the upstream: the second line as the answer to the first.
    writeln!(client_writes, r#"{{"id":1,"method":"tools/call","params":{{"name":"t"}}}}"#).unwrap();
    writeln!(client_writes, r#"{{"id":1,"result":{{}}}}"#).unwrap();
    begins.recv().unwrap();
    drop((client_writes, client_reads));
    assert!(matches!(session.run(&inbox, GRACE), Ended::Upstream(status) if status.success()));
    drop(release);
}
