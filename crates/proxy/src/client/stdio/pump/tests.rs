//! A pump between real pipes, with interceptors in the chain.

use std::{
    io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe},
    sync::Mutex,
    thread::{self, JoinHandle},
    time::Duration,
};

use super::*;
use crate::{
    body::Payload,
    chain::{CallVerdict, Caller, Deadlines, HookError, Interceptor, Moment, Verdict},
    session::Call,
    testing::{Hooks, Marker, relay},
};

/// Both directions of a session, and the ends that the client and the upstream would hold.
struct Session {
    client_writes: Option<PipeWriter>,
    client_reads: BufReader<PipeReader>,
    upstream_writes: Option<PipeWriter>,
    upstream_reads: BufReader<PipeReader>,
    threads: Vec<JoinHandle<()>>,
    _spool: tempfile::TempDir,
}

impl Session {
    fn with(interceptor: impl Interceptor) -> Self {
        Self::with_deadlines(interceptor, Deadlines::default())
    }

    fn with_deadlines(interceptor: impl Interceptor, deadlines: Deadlines) -> Self {
        let spool = tempfile::tempdir().unwrap();
        let (client_out, client_writes) = pipe().unwrap();
        let (client_reads, client_in) = pipe().unwrap();
        let (upstream_out, upstream_writes) = pipe().unwrap();
        let (upstream_reads, upstream_in) = pipe().unwrap();
        let pump = Pump {
            relay: Arc::new(relay(vec![Arc::new(interceptor)], deadlines)),
            client: Arc::new(Outlet::new(client_in.into())),
            upstream: Arc::new(Outlet::new(upstream_in.into())),
            crew: Arc::default(),
            spool: Spool::new(100_000, u64::MAX, spool.path()),
            events: mpsc::sync_channel(64).0,
            is_delivering: Arc::default(),
        };
        let back = pump.clone();
        let threads = vec![
            thread::spawn(move || pump.run_from_client(Inlet::new(client_out.into()))),
            thread::spawn(move || back.run_from_upstream(Inlet::new(upstream_out.into()))),
        ];
        Self {
            client_writes: Some(client_writes),
            client_reads: BufReader::new(client_reads),
            upstream_writes: Some(upstream_writes),
            upstream_reads: BufReader::new(upstream_reads),
            threads,
            _spool: spool,
        }
    }

    fn client_sends(&mut self, line: &str) {
        writeln!(self.client_writes.as_mut().unwrap(), "{line}").unwrap();
    }

    fn client_calls(&mut self, line: &str) {
        self.client_sends(line);
        assert_eq!(next(&mut self.upstream_reads), line);
    }

    fn upstream_sends(&mut self, line: &str) {
        writeln!(self.upstream_writes.as_mut().unwrap(), "{line}").unwrap();
    }

    fn client_gets(&mut self, line: &str) {
        let got = next(&mut self.client_reads);
        assert!(got == line, "expected {line:.200}\n     got {got:.200}");
    }

    /// Both sides close; the pumps end.
    fn end(mut self) {
        self.client_writes = None;
        self.upstream_writes = None;
        for thread in self.threads {
            thread.join().unwrap();
        }
    }
}

fn next(reader: &mut BufReader<PipeReader>) -> String {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    line.trim_end_matches('\n').to_owned()
}

fn call(id: u32) -> String {
    format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"t"}}}}"#)
}

fn result(id: u32, bytes: usize) -> String {
    format!(r#"{{"result":{{"content":"{}"}},"id":{id}}}"#, "x".repeat(bytes))
}

#[test]
fn a_result_of_any_size_is_shown_to_the_chain() {
    let mut session = Session::with(Marker);
    for bytes in [10, 70_000, 99_000, 101_000, 3_000_000] {
        session.client_calls(&call(1));
        session.upstream_sends(&result(1, bytes));
        session.client_gets(r#"{"result":"<result of t>","id":1}"#);
        // What is not asked for passes, held or not.
        session.upstream_sends(&result(2, bytes));
        session.client_gets(&result(2, bytes));
    }
    session.end();
}

#[test]
fn a_spooled_result_is_read_from_disk() {
    let hooks = Hooks {
        result: Some(Box::new(|_, result| {
            assert!(result.in_memory().is_none());
            let mut text = String::new();
            result.reader().read_to_string(&mut text)?;
            Ok(Verdict::Replace(format!("{}", text.matches('x').count()).into_bytes()))
        })),
        ..Hooks::default()
    };
    let mut session = Session::with(hooks);
    session.client_calls(&call(1));
    session.upstream_sends(&result(1, 2_000_000));
    session.client_gets(r#"{"result":2000000,"id":1}"#);
    session.end();
}

#[test]
fn other_messages_overtake_a_result_that_takes_long() {
    let (release, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let hooks = Hooks {
        result: Some(Box::new(move |_, _| {
            wait.lock().unwrap().recv()?;
            Ok(Verdict::Replace(b"1".to_vec()))
        })),
        ..Hooks::default()
    };
    let mut session = Session::with(hooks);
    session.client_calls(&call(1));
    session.upstream_sends(&result(1, 10));
    let progress = r#"{"method":"notifications/progress","params":{}}"#;
    session.upstream_sends(progress);
    session.client_gets(progress);
    release.send(()).unwrap();
    session.client_gets(r#"{"result":1,"id":1}"#);
    session.end();
}

#[test]
fn nothing_overtakes_the_handshake() {
    let mut session = Session::with(Marker);
    session.client_calls(r#"{"id":0,"method":"initialize"}"#);
    session.upstream_sends("{\"id\":0,\"result\":{}}\n{\"method\":\"notifications/message\"}");
    session.client_gets(r#"{"id":0,"result":"<Legacy handshake>"}"#);
    session.client_gets(r#"{"method":"notifications/message"}"#);
    session.end();
}

#[test]
fn a_result_in_the_chain_is_delivered_though_the_upstream_has_closed() {
    let mut session = Session::with(Marker);
    session.client_calls(&call(1));
    session.upstream_sends(&result(1, 10));
    session.upstream_writes = None;
    session.client_gets(r#"{"result":"<result of t>","id":1}"#);
    session.end();
}

/// Calls of the tool `ours`, the only one that the hooks watch.
fn our_call(id: u32) -> String {
    format!(
        r#"{{"id":{id},"method":"tools/call","params":{{"name":"ours","_meta":{{"progressToken":{id}}}}}}}"#
    )
}

fn cancel(id: u32) -> String {
    format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

/// An owner whose calls last until they are cancelled, and what becomes of them.
fn lasting() -> (Owner, mpsc::Receiver<String>) {
    let (report, reports) = mpsc::channel();
    let owner = Owner(Box::new(move |call, caller| {
        let (sender, cancelled) = mpsc::channel();
        caller.on_cancel(move || sender.send(()).unwrap());
        report.send(format!("{} begun", call.id.as_json()))?;
        cancelled.recv()?;
        report.send(format!("{} cancelled", call.id.as_json()))?;
        Ok(CallVerdict::Answer(b"\"too late\"".to_vec()))
    }));
    (owner, reports)
}

type OwnHook = dyn Fn(&Call, &Caller) -> Result<CallVerdict, HookError> + Send + Sync;

/// Owns the tool `ours`, and watches nothing else.
struct Owner(Box<OwnHook>);

impl Interceptor for Owner {
    fn name(&self) -> &'static str {
        "owner"
    }

    fn watches(&self, _: &Moment<'_>) -> bool {
        false
    }

    fn owns(&self, call: &Call) -> bool {
        call.tool() == Some("ours")
    }

    fn on_call(&self, call: &Call, _: &Payload, caller: &Caller) -> Result<CallVerdict, HookError> {
        (self.0)(call, caller)
    }
}

#[test]
fn a_cancelled_call_gets_no_answer_and_its_hook_hears_it() {
    let (owner, reports) = lasting();
    let mut session = Session::with(owner);
    session.client_sends(&our_call(1));
    assert_eq!(reports.recv().unwrap(), "1 begun");
    session.client_sends(&cancel(1));
    assert_eq!(reports.recv().unwrap(), "1 cancelled");
    // The next thing that either side gets is something else.
    session.client_calls(&call(2));
    session.upstream_sends(&result(2, 10));
    session.client_gets(&result(2, 10));
    session.end();
}

#[test]
fn a_cancel_gets_through_however_many_calls_are_in_the_chain() {
    let (owner, reports) = lasting();
    let mut session = Session::with(owner);
    for id in 1..=32 {
        session.client_sends(&our_call(id));
        assert_eq!(reports.recv().unwrap(), format!("{id} begun"));
    }
    for id in 33..=100 {
        session.client_sends(&our_call(id));
        let turned_away = next(&mut session.client_reads);
        assert!(turned_away.contains("`ours` was not started: too many calls"), "{turned_away}");
        assert!(turned_away.contains(&format!(r#""id":{id},"#)), "{turned_away}");
    }
    session.client_calls(&call(101));
    for id in 1..=32 {
        session.client_sends(&cancel(id));
        assert_eq!(reports.recv().unwrap(), format!("{id} cancelled"));
    }
    session.upstream_sends(&result(101, 10));
    session.client_gets(&result(101, 10));
    session.end();
}

#[test]
fn progress_arrives_while_the_hook_works_and_before_the_answer() {
    let (proceed, proceeds) = mpsc::channel::<()>();
    let proceeds = Mutex::new(proceeds);
    let mut session = Session::with(Owner(Box::new(move |_, caller| {
        let proceeds = proceeds.lock().unwrap();
        for step in 1..=3 {
            caller.progress(f64::from(step), Some(3.0), "");
            proceeds.recv()?;
        }
        Ok(CallVerdict::Answer(b"{}".to_vec()))
    })));
    session.client_sends(&our_call(1));
    for step in 1..=3 {
        session.client_gets(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"progress":{step},"total":3}}}}"#
        ));
        // Other lines go their way meanwhile.
        session.upstream_sends(&result(9, 100_000));
        session.client_gets(&result(9, 100_000));
        proceed.send(()).unwrap();
    }
    session.client_gets(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    session.end();
}

#[test]
fn a_late_call_of_ones_own_is_answered_with_an_error() {
    let (owner, reports) = lasting();
    let brief = Deadlines { call: Duration::from_millis(50), ..Deadlines::default() };
    let mut session = Session::with_deadlines(owner, brief);
    session.client_sends(&our_call(1));
    let answer = next(&mut session.client_reads);
    assert!(answer.starts_with(r#"{"jsonrpc":"2.0","id":1,"result":{"content":"#), "{answer}");
    assert!(answer.contains("not done after 50ms") && answer.contains(r#""isError":true"#));
    assert_eq!(reports.recv().unwrap(), "1 begun");
    assert_eq!(reports.recv().unwrap(), "1 cancelled");
    session.client_calls(&call(2));
    session.end();
}
