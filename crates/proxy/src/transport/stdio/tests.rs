//! A session with a real upstream, between pipes that a client would hold.

use std::io::{Write, pipe};

use super::*;
use crate::{
    chain::{CallVerdict, Deadlines},
    testing::{Hooks, relay},
};

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
    let command = Command {
        program: "cat".into(),
        arguments: Vec::new(),
        environment: Vec::new(),
        directory: None,
    };
    let grace = Duration::from_secs(60);
    let (input, mut client_writes) = pipe().unwrap();
    let (client_reads, output) = pipe().unwrap();
    let (events, inbox) = mpsc::sync_channel(64);
    let pump = Pump {
        relay: Arc::new(relay(vec![Arc::new(hooks)], Deadlines::default())),
        client: Arc::new(Outlet::new(output.into())),
        upstream: Arc::new(Outlet::closed()),
        crew: Arc::default(),
        spool: Spool { max_memory_bytes: 1_000, directory: "/dev/null/nowhere".into() },
        events,
        is_delivering: Arc::default(),
    };
    let settings = Settings { grace, spool: pump.spool.clone() };
    let started =
        upstream::start(Upstream::Command(command), pump.relay.upstream(), &settings).unwrap();
    let session = Wrapped::begin(pump, Inlet::new(input.into()), started).unwrap();

    writeln!(client_writes, r#"{{"id":1,"method":"tools/call","params":{{"name":"t"}}}}"#).unwrap();
    begins.recv().unwrap();
    drop((client_writes, client_reads));
    heard.recv().unwrap();
    // Nothing is left to be waited for: the upstream sees the end of its input.
    assert!(matches!(session.run(&inbox, grace), Ended::Upstream(status) if status.success()));
}
