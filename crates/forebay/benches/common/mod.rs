//! What the benchmarks share: a server to ask, and how figures are printed.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]
#![expect(dead_code, reason = "not every benchmark uses all of it")]

use std::{
    fmt::Write as _,
    fs,
    io::{Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

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

    /// Sends a call and returns its answer.
    pub(crate) fn answer_to(&mut self, call: &[u8]) -> Vec<u8> {
        self.input.write_all(&[call, b"\n"].concat()).expect("the server reads");
        let mut answer = Vec::new();
        while answer.last() != Some(&b'\n') {
            let count = self.output.read(&mut self.buffer).expect("the server writes");
            assert!(count > 0, "the server answers");
            answer.extend_from_slice(&self.buffer[..count]);
        }
        answer
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
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a running process");
    let line = status.lines().find(|line| line.starts_with(field)).expect("the field");
    let kib: f64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number");
    kib / 1024.0
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
