//! What a child says on stderr, heard on its way to ours: the end of it often says why the child has ended.

use std::{
    io::{self, Read, Write},
    process::Stdio,
    sync::Arc,
    thread,
    time::Duration,
};

use parking_lot::{Condvar, Mutex};

/// As much of the end is kept.
const KEPT_BYTES: usize = 16 * 1024;

/// Hears one child after another, and keeps what the first of them says that says something: those that are started
/// after it has failed say the same, and may be ended in the middle of it.
#[derive(Clone, Default)]
pub(crate) struct Listener(Arc<Heard>);

#[derive(Default)]
struct Heard {
    state: Mutex<State>,
    has_closed: Condvar,
}

#[derive(Default)]
struct State {
    /// The end of what was said.
    tail: Vec<u8>,
    /// Which child has said it.
    speaker: Option<usize>,
    /// How many children have been started, and how many of them have closed it.
    started: usize,
    closed: usize,
}

impl Listener {
    /// The stderr for a child that is about to start. What it says is heard on a thread, and passed on.
    pub(crate) fn ear(&self) -> io::Result<Stdio> {
        let (mut child, ear) = io::pipe()?;
        let heard = self.0.clone();
        let number = heard.state.lock().next();
        let hearing = move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = child.read(&mut buffer) {
                // If ours is closed, the child is heard nevertheless, and is not held up.
                let _ = io::stderr().write_all(&buffer[..count]);
                heard.state.lock().take(number, &buffer[..count]);
            }
            heard.state.lock().closed += 1;
            heard.has_closed.notify_all();
        };
        thread::Builder::new().name("stderr".to_owned()).spawn(hearing)?;
        Ok(ear.into())
    }

    /// The end of what was said, once all children have closed it or `patience` has run out: what a child has
    /// started in turn may hold it open.
    pub(crate) fn said(&self, patience: Duration) -> String {
        let mut state = self.0.state.lock();
        let is_open = |state: &mut State| state.closed < state.started;
        self.0.has_closed.wait_while_for(&mut state, is_open, patience);
        String::from_utf8_lossy(&state.tail).into_owned()
    }
}

impl State {
    fn next(&mut self) -> usize {
        self.started += 1;
        self.started
    }

    fn take(&mut self, child: usize, said: &[u8]) {
        if *self.speaker.get_or_insert(child) != child {
            return;
        }
        self.tail.extend_from_slice(said);
        let surplus = self.tail.len().saturating_sub(KEPT_BYTES);
        self.tail.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_end_of_what_the_first_says_is_kept() {
        let listener = Listener::default();
        let script = "i=0; while [ $i -lt 3000 ]; do echo \"line $i\"; i=$((i + 1)); done >&2";
        for script in ["true", script, "echo last >&2"] {
            let ear = listener.ear().unwrap();
            Command::new("sh").args(["-c", script]).stderr(ear).status().unwrap();
            listener.said(Duration::from_secs(10));
        }
        let said = listener.said(Duration::ZERO);
        assert_eq!(said.len(), KEPT_BYTES);
        assert!(said.ends_with("line 2999\n") && !said.contains("line 10\n"), "{said}");
    }
}
