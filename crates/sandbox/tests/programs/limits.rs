//! What a program may take, and what happens to workers that go wrong.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc, Barrier,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use forebay_sandbox::{Answer, Host, HostCall, Limits, Sandbox, SandboxError};
use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{LONG, desk, run_with, sandbox, small};

/// A sandbox whose workers can be told from all others.
fn marked(limits: Limits) -> (Sandbox, String) {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::SeqCst);
    let mark = format!("worker-{}-{number}", std::process::id());
    let program = PathBuf::from(env!("CARGO_BIN_EXE_sandbox-worker"));
    (Sandbox::new(limits, program, vec![mark.clone().into()]), mark)
}

/// The processes that were started with a mark, and have not ended.
fn workers(mark: &str) -> Vec<Pid> {
    let ids = fs::read_dir("/proc").unwrap().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_marked = |id: &i32| {
        fs::read(format!("/proc/{id}/cmdline"))
            .is_ok_and(|line| line.ends_with(format!("\0{mark}\0").as_bytes()))
    };
    ids.filter(is_marked).filter_map(Pid::from_raw).collect()
}

/// Sends its worker a signal when a function is called, and does not answer.
struct Signals {
    mark: String,
    signal: Signal,
}

impl Host for Signals {
    fn call(&self, _called: HostCall, answer: Answer) {
        for worker in workers(&self.mark) {
            kill_process(worker, self.signal).unwrap();
        }
        // A worker that is stopped does not read it, and nobody waits for that.
        answer.give(&vec![b' '; 1 << 20]);
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

#[test]
fn what_was_logged_before_a_limit_is_kept() {
    let limits = Limits { cpu: Duration::from_millis(300), wall: LONG, ..small() };
    let sandbox = sandbox(limits);
    let cases = [
        ("for (;;) {}", "code.cpu_seconds"),
        // A loop of the engine's own, which is never interrupted.
        ("Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)", "code.cpu_seconds"),
        ("new Array(1e8).fill(1)", "code.memory_bytes"),
        ("for (;;) await tools.a.items()", "code.max_calls"),
        ("const f = () => f(); f()", "code.memory_bytes"),
        ("return 'x'.repeat(1e5)", "code.output_bytes"),
    ];
    for (source, key) in cases {
        let run = run_with(&sandbox, &format!("console.log('before');\n{source}"));
        assert_eq!(run.logged, ["before"], "{source}");
        let failure = run.failure.unwrap();
        assert!(failure.message.contains(key), "{source}: {failure}");
        assert!(failure.hint.is_some(), "{source}: {failure}");
        assert_eq!(run.value, None, "{source}");
    }
}

#[test]
fn output_beyond_its_limit_is_left_out_and_counted() {
    let sandbox = sandbox(Limits { wall: LONG, ..small() });
    let run = run_with(
        &sandbox,
        "console.log('x'.repeat(9000)); console.log('ü'.repeat(1000)); console.log('more'); 1",
    );
    assert_eq!(run.value.as_deref(), Some("1"));
    let lengths: Vec<_> = run.logged.iter().map(String::len).collect();
    assert_eq!(lengths, [9000, 998]);
    assert_eq!(run.left_out_bytes, 1002 + 4);
}

#[test]
fn ten_thousand_calls_are_as_many_as_may_be_made() {
    let sandbox = sandbox(Limits { wall: LONG, ..small() });
    for (source, made) in [
        ("for (let i = 0; i < 10000; i++) await tools.a.items()", 50),
        ("for (let i = 0; i < 10000; i++) { try { await tools.a.items() } catch {} }", 50),
        // They are made when the program waits; it is stopped before.
        ("await Promise.all(Array.from({ length: 10000 }, () => tools.a.items()))", 0),
    ] {
        let desk = desk();
        let host: Arc<dyn Host> = desk.clone();
        let run = sandbox.run(source, LONG, &host).unwrap();
        assert!(run.failure.unwrap().message.contains("code.max_calls"), "{source}");
        assert_eq!(desk.called.lock().unwrap().len(), made, "{source}");
        assert_eq!(run.calls, 50);
    }
}

#[test]
fn a_worker_is_used_again_and_ends_when_nothing_comes() {
    let (sandbox, mark) = marked(Limits { idle: Duration::from_secs(20), ..Limits::default() });
    assert_eq!(run_with(&sandbox, "1").value.as_deref(), Some("1"));
    let first = workers(&mark);
    assert_eq!(first.len(), 1);
    assert_eq!(run_with(&sandbox, "2").value.as_deref(), Some("2"));
    assert!(run_with(&sandbox, "throw 1").failure.is_some());
    assert_eq!(workers(&mark), first);
    let (sandbox, mark) = marked(Limits { idle: Duration::from_millis(1), ..Limits::default() });
    assert_eq!(run_with(&sandbox, "1").value.as_deref(), Some("1"));
    wait_until(|| workers(&mark).is_empty());
    assert_eq!(run_with(&sandbox, "2").value.as_deref(), Some("2"));
}

#[test]
fn a_worker_that_is_killed_costs_one_program() {
    let (sandbox, mark) = marked(Limits::default());
    assert_eq!(run_with(&sandbox, "1").value.as_deref(), Some("1"));
    let host: Arc<dyn Host> = Arc::new(Signals { mark: mark.clone(), signal: Signal::KILL });
    let run = sandbox.run("console.log('before'); await tools.a.b()", LONG, &host).unwrap();
    assert_eq!((run.logged.as_slice(), run.calls), (["before".to_owned()].as_slice(), 1));
    assert_eq!(run.failure.unwrap().message, SandboxError::Ended.to_string());
    assert_eq!(run_with(&sandbox, "2").value.as_deref(), Some("2"));
    // One that is killed while it has nothing to do costs none.
    for worker in workers(&mark) {
        kill_process(worker, Signal::KILL).unwrap();
    }
    assert_eq!(run_with(&sandbox, "3").value.as_deref(), Some("3"));
}

#[test]
fn a_worker_that_is_stopped_is_ended() {
    let (sandbox, mark) = marked(Limits::default());
    let host: Arc<dyn Host> = Arc::new(Signals { mark: mark.clone(), signal: Signal::STOP });
    let run = sandbox.run("await tools.a.b()", LONG, &host).unwrap();
    assert_eq!(run.failure.unwrap().message, SandboxError::Stopped.to_string());
    assert_eq!(workers(&mark), []);
    assert_eq!(run_with(&sandbox, "2").value.as_deref(), Some("2"));
}

#[test]
fn a_source_that_is_nested_without_end_costs_one_program() {
    let sandbox = sandbox(Limits::default());
    for nested in
        ["!", "[", "(", "{", "a=>", "if(1)", "x?", "`${", "f(", "[{a:", "() => {", "-", "<T>"]
    {
        let source = nested.repeat(250_000 / nested.len());
        let host: Arc<dyn Host> = desk();
        // How deep the parser can go depends on how it was built.
        match sandbox.run(&source, LONG, &host) {
            Ok(run) => assert!(run.failure.is_some(), "{nested}"),
            Err(error) => assert!(matches!(error, SandboxError::Ended), "{nested}: {error}"),
        }
        assert_eq!(run_with(&sandbox, "2").value.as_deref(), Some("2"));
    }
}

#[test]
fn a_program_that_is_too_long_is_refused() {
    let source = format!("'{}'", "x".repeat(300_000));
    let failure = run_with(&sandbox(Limits::default()), &source).failure.unwrap();
    assert!(failure.message.contains("300002 bytes"), "{failure}");
}

#[test]
fn a_program_that_is_cancelled_ends_whatever_it_does() {
    for source in ["await tools.a.hold()", "tools.a.hold(); await sleep(1); for (;;) {}"] {
        let (sandbox, mark) = marked(Limits::default());
        let desk = desk();
        let host: Arc<dyn Host> = desk.clone();
        let outcome = thread::scope(|scope| {
            let run = scope.spawn(|| sandbox.run(source, LONG, &host));
            wait_until(|| !desk.called.lock().unwrap().is_empty());
            desk.is_cancelled.store(true, Ordering::SeqCst);
            run.join().unwrap()
        });
        assert!(matches!(outcome, Err(SandboxError::Cancelled)), "{outcome:?}");
        assert_eq!(workers(&mark), []);
        assert_eq!(run_with(&sandbox, "2").value.as_deref(), Some("2"));
        // An answer that comes too late goes nowhere.
        desk.held.lock().unwrap().drain(..).for_each(|answer| answer.give(b"1"));
        assert_eq!(
            run_with(&sandbox, "await tools.a.items().then((r) => r.items)").value.as_deref(),
            Some("[1,2,3]")
        );
    }
}

#[test]
fn programs_beyond_the_limit_wait_their_turn() {
    let limits = Limits { runs_at_once: 2, ..Limits::default() };
    let (sandbox, mark) = marked(limits);
    let desk = desk();
    let host: Arc<dyn Host> = desk.clone();
    let begun = Barrier::new(5);
    thread::scope(|scope| {
        let run = || {
            begun.wait();
            sandbox.run("await tools.a.hold()", LONG, &host).unwrap().value
        };
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        begun.wait();
        // Two are under way, and who waits can leave.
        wait_until(|| desk.held.lock().unwrap().len() == 2);
        let impatient = crate::harness::desk();
        impatient.is_cancelled.store(true, Ordering::SeqCst);
        let impatient: Arc<dyn Host> = impatient;
        let left = sandbox.run("1", LONG, &impatient);
        assert!(matches!(left, Err(SandboxError::Cancelled)), "{left:?}");
        assert_eq!(workers(&mark).len(), 2);
        for answered in 0..4 {
            wait_until(|| !desk.held.lock().unwrap().is_empty());
            let answer = desk.held.lock().unwrap().remove(0);
            answer.give(answered.to_string().as_bytes());
        }
        let mut values: Vec<_> = runs.into_iter().map(|run| run.join().unwrap().unwrap()).collect();
        values.sort();
        assert_eq!(values, ["0", "1", "2", "3"]);
    });
    assert_eq!(desk.most_held.load(Ordering::SeqCst), 2);
}

#[test]
fn a_worker_that_cannot_be_started_is_an_error() {
    let sandbox = Sandbox::new(Limits::default(), PathBuf::from("/nowhere/at-all"), Vec::new());
    let host: Arc<dyn Host> = desk();
    assert!(matches!(sandbox.run("1", LONG, &host), Err(SandboxError::NotStarted(_))));
    // One that ends at once, and says nothing.
    let sandbox = Sandbox::new(Limits::default(), PathBuf::from("/bin/true"), Vec::new());
    assert!(matches!(sandbox.run("1", LONG, &host), Err(SandboxError::Ended)));
}

fn wait_until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "it did not come about");
        thread::sleep(Duration::from_millis(1));
    }
}
