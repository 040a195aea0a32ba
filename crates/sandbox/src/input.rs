//! What a worker reads, as whoever tells it something sees it: nobody ever waits for the worker.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Write},
    process::ChildStdin,
    sync::Arc,
    thread,
};

use forebay_system::pipes;
use parking_lot::Mutex;

/// The pipe that a worker reads from. What it does not take at once is written by a thread, which is there only
/// while it is needed: to wake one for each answer would take longer than most calls.
pub(crate) struct Input {
    pipe: ChildStdin,
    waiting: Mutex<Waiting>,
}

/// What the pipe has not taken yet.
#[derive(Default)]
struct Waiting {
    frames: VecDeque<Vec<u8>>,
    /// How much of the first one is written.
    written: usize,
    /// A thread writes them.
    has_thread: bool,
}

impl Input {
    pub(crate) fn new(pipe: ChildStdin) -> io::Result<Arc<Self>> {
        pipes::do_not_wait(&pipe)?;
        Ok(Arc::new(Self { pipe, waiting: Mutex::default() }))
    }

    /// Sends a frame. A worker that has ended is heard of from its output.
    pub(crate) fn send(self: &Arc<Self>, frame: Vec<u8>) {
        let mut waiting = self.waiting.lock();
        waiting.frames.push_back(frame);
        if waiting.has_thread || waiting.write_to(&self.pipe) {
            return;
        }
        waiting.has_thread = true;
        drop(waiting);
        let input = self.clone();
        let spawned =
            thread::Builder::new().name("sandbox".to_owned()).spawn(move || input.write_rest());
        if spawned.is_err() {
            self.write_rest();
        }
    }

    fn write_rest(&self) {
        loop {
            pipes::wait_to_write(&self.pipe);
            let mut waiting = self.waiting.lock();
            if waiting.write_to(&self.pipe) {
                waiting.has_thread = false;
                return;
            }
        }
    }
}

impl Waiting {
    /// Writes what the pipe takes. True if nothing is left to write.
    fn write_to(&mut self, mut pipe: &ChildStdin) -> bool {
        while let Some(frame) = self.frames.front() {
            match pipe.write(&frame[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                // Nobody will ever read it.
                Err(_) => {
                    self.frames.clear();
                    self.written = 0;
                    return true;
                }
            }
            if self.written == frame.len() {
                self.frames.pop_front();
                self.written = 0;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn what_the_pipe_does_not_take_at_once_follows_in_order_without_anybody_waiting() {
        let mut child = Command::new("cat");
        let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = Input::new(child.stdin.take().unwrap()).unwrap();
        let mut expected = Vec::new();
        // Nobody reads yet, and two pipes hold much less.
        for number in 0..100_u8 {
            let frame = vec![number; 10_000 * usize::from(number)];
            expected.extend_from_slice(&frame);
            input.send(frame);
        }
        let mut output = child.stdout.take().unwrap();
        let mut read = vec![0; expected.len()];
        output.read_exact(&mut read).unwrap();
        assert!(read == expected);
        input.send(b"more".to_vec());
        let mut more = [0; 4];
        output.read_exact(&mut more).unwrap();
        assert_eq!(&more, b"more");
        drop(input);
        child.wait().unwrap();
    }

    #[test]
    fn to_one_that_has_ended_nothing_is_written() {
        let mut child = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        let input = Input::new(child.stdin.take().unwrap()).unwrap();
        child.wait().unwrap();
        for _ in 0..3 {
            input.send(vec![0; 1 << 20]);
        }
        assert!(input.waiting.lock().frames.is_empty());
    }
}
