//! What the benchmarks share: a server to ask, a place for stores, and how figures are printed.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]
#![expect(dead_code, reason = "not every benchmark uses all of it")]

pub(crate) mod copies;
pub(crate) mod nginx;
pub(crate) mod processes;
pub(crate) mod session;

use std::{
    fmt::Write as _,
    fs,
    io::{Read, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use forebay_testkit::programs;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

/// Measures something, and adds it to the report.
pub(crate) type Part = fn(&Home, &mut String);

/// Runs those parts of a benchmark that its arguments name, or all; each is printed when it is done.
pub(crate) fn run(home: &Home, parts: &[(&str, Part)]) {
    // Cargo adds an option of its own.
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for word in &wanted {
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        assert!(names.contains(&word.as_str()), "`{word}` is none of {names:?}");
    }
    for (name, part) in parts {
        if !wanted.is_empty() && !wanted.iter().any(|word| word == name) {
            continue;
        }
        let mut report = String::new();
        part(home, &mut report);
        std::io::stdout().write_all(report.as_bytes()).expect("stdout");
    }
}

/// Stores for one benchmark alone, removed at its end.
pub(crate) struct Home(PathBuf);

impl Home {
    pub(crate) fn new(benchmark: &str) -> Self {
        let path = programs::target_directory().join(format!("bench-home-{benchmark}"));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    /// One of them, which is empty at first.
    pub(crate) fn store(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How long anything may take that is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A process that answers calls.
pub(crate) struct Server {
    pub(crate) child: Child,
    input: ChildStdin,
    output: ChildStdout,
    buffer: Vec<u8>,
}

impl Server {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take().expect("stdin is piped");
        let output = child.stdout.take().expect("stdout is piped");
        Self { child, input, output, buffer: vec![0; 1 << 18] }
    }

    /// Sends a call and reads up to the end of its answer; returns how long that took.
    pub(crate) fn ask(&mut self, call: &[u8]) -> Duration {
        let line = [call, b"\n"].concat();
        let started = Instant::now();
        self.input.write_all(&line).expect("the server reads");
        self.read_answer();
        started.elapsed()
    }

    /// Sends `count` calls, never more than `at_once` of them unanswered; returns how long that took.
    pub(crate) fn ask_many(&mut self, call: &[u8], count: usize, at_once: usize) -> Duration {
        let line = [call, b"\n"].concat();
        let started = Instant::now();
        let (mut sent, mut answered) = (0, 0);
        while answered < count {
            let more = (count - sent).min(answered + at_once - sent);
            if more > 0 {
                self.input.write_all(&line.repeat(more)).expect("the server reads");
                sent += more;
            }
            let read = self.output.read(&mut self.buffer).expect("the server writes");
            assert!(read > 0, "the server answers");
            answered += self.buffer[..read].split(|byte| *byte == b'\n').count() - 1;
        }
        started.elapsed()
    }

    /// Sends a call and returns its answer.
    pub(crate) fn answer_to(&mut self, call: &[u8]) -> Vec<u8> {
        self.answer_within(call, PATIENCE).expect("the server answers in time")
    }

    /// Says who asks, as the protocol wants it.
    pub(crate) fn initialize(&mut self) {
        self.answer_to(br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#);
        self.tell(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// Sends a call and returns its answer; `None` if it is not there in time.
    pub(crate) fn answer_within(&mut self, call: &[u8], patience: Duration) -> Option<Vec<u8>> {
        self.tell(call);
        self.lines_within(patience)
    }

    /// Sends a call and returns the answer with that id, whatever else is said before.
    pub(crate) fn answer_among(&mut self, call: &[u8], id: &Value) -> Value {
        self.tell(call);
        loop {
            let lines = self.lines_within(PATIENCE).expect("the server answers in time");
            let mut lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let answer = lines.find_map(|line| {
                let message: Value = serde_json::from_slice(line).expect("JSON");
                (message["id"] == *id && message["method"].is_null()).then_some(message)
            });
            if let Some(answer) = answer {
                return answer;
            }
        }
    }

    /// What is said next, up to the end of a line.
    fn lines_within(&mut self, patience: Duration) -> Option<Vec<u8>> {
        let deadline = Instant::now() + patience;
        let mut answer = Vec::new();
        while answer.last() != Some(&b'\n') {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).expect("a few minutes");
            let mut readable = [PollFd::new(&self.output, PollFlags::IN)];
            if poll(&mut readable, Some(&left)).expect("a pipe") == 0 {
                return None;
            }
            let count = self.output.read(&mut self.buffer).expect("the server writes");
            assert!(count > 0, "the server answers");
            answer.extend_from_slice(&self.buffer[..count]);
        }
        Some(answer)
    }

    /// Sends a notification.
    pub(crate) fn tell(&mut self, notification: &[u8]) {
        self.input.write_all(&[notification, b"\n"].concat()).expect("the server reads");
    }

    fn read_answer(&mut self) {
        loop {
            let count = self.output.read(&mut self.buffer).expect("the server writes");
            assert!(count > 0, "the server answers");
            if self.buffer[count - 1] == b'\n' {
                return;
            }
        }
    }

    /// Sends a call of about `bytes` bytes, without holding it in memory.
    pub(crate) fn send_huge(&mut self, bytes: u64) -> Duration {
        let started = Instant::now();
        let block = vec![b'x'; 1 << 20];
        self.input
            .write_all(br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":""#)
            .expect("the server reads");
        for _ in 0..bytes >> 20 {
            self.input.write_all(&block).expect("the server reads");
        }
        self.input.write_all(b"\"}}}\n").expect("the server reads");
        self.read_answer();
        started.elapsed()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // What it started ends by itself once its input is closed.
        thread::sleep(Duration::from_millis(5));
    }
}

/// A line of `/proc/PID/status`, in MiB.
pub(crate) fn resident(pid: u32, field: &str) -> f64 {
    processes::memory(pid, field).expect("a running process")
}

/// Tells a figure, and whether it is as it should be: `≤ 1.5`, for one.
pub(crate) fn target(report: &mut String, what: &str, value: f64, target: &str) {
    let (sign, limit) = target.split_once(' ').expect("a sign and a limit");
    let limit: f64 = limit.parse().expect("a number");
    let is_reached = match sign {
        "≤" => value <= limit,
        "≥" => value >= limit,
        ">" => value > limit,
        _ => panic!("{target} says nothing"),
    };
    let verdict = if is_reached { "reached" } else { "MISSED" };
    let _ = writeln!(report, "  {what}: {value:.2} (to reach: {target}; {verdict})");
}

pub(crate) fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
