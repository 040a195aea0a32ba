//! A process on the other end of two pipes: a client's view of a server, line by line.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

/// Nothing in a test takes this long unless it hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A started process.
pub struct Peer {
    /// The process.
    pub child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Receiver<String>,
}

impl Peer {
    /// Starts `command` and reads its output as it comes.
    pub fn start(command: &mut Command) -> Self {
        let (mut peer, output) = Self::start_without_reading(command);
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut reader = BufReader::with_capacity(1 << 16, output);
            loop {
                let mut line = Vec::new();
                match reader.read_until(b'\n', &mut line) {
                    Ok(count) if count > 0 => drop(sender.send(line)),
                    _ => break,
                }
            }
        });
        peer.lines = lines;
        peer
    }

    /// Starts `command` and leaves its output to the caller.
    pub fn start_without_reading(command: &mut Command) -> (Self, ChildStdout) {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let output = child.stdout.take().expect("stdout is piped");
        let mut errors = child.stderr.take().expect("stderr is piped");
        let (sender, stderr) = mpsc::channel();
        thread::spawn(move || {
            let mut text = Vec::new();
            let _ = errors.read_to_end(&mut text);
            let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
        });
        let input = child.stdin.take();
        let (_, lines) = mpsc::channel();
        (Self { child, input, lines, stderr }, output)
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.input().write_all(bytes).expect("the peer reads");
    }

    /// The process's input, to write to it directly.
    pub fn input(&mut self) -> &mut ChildStdin {
        self.input.as_mut().expect("the input is open")
    }

    /// Takes the process's input, to write to it from another thread.
    pub fn take_input(&mut self) -> ChildStdin {
        self.input.take().expect("the input is open")
    }

    /// Closes the process's input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// The next line, without its terminator; panics if none comes.
    pub fn next_line(&self) -> String {
        let mut line = self.next_bytes().expect("another line before the end");
        line.pop_if(|byte| *byte == b'\n');
        String::from_utf8(line).expect("a line of text")
    }

    /// The next line as it came; `None` at the end.
    pub fn next_bytes(&self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line within {PATIENCE:?}"),
        }
    }

    /// Sends a line and returns the next one that comes.
    pub fn ask(&mut self, line: &str) -> String {
        self.send(line);
        self.next_line()
    }

    /// Waits for the end of the process.
    pub fn wait(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "the process does not end");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the end of the process and returns all that it wrote to stderr.
    pub fn wait_for_stderr(&mut self) -> String {
        self.wait();
        self.stderr.recv_timeout(PATIENCE).expect("stderr ends with the process")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `condition` holds; panics with `what` if it never does.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "never happened: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// True while a process with this id runs (a zombie does not).
pub fn is_running(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().unwrap_or_default().trim_start().chars().next();
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}
