//! Something that looks like a child process and is none: it runs on a thread beside a session, joined to it
//! by two pipes. Lines in, lines out.

mod lines;

use std::{future::Future, io, thread};

use forebay_system::pipes::End;
use parking_lot::Mutex;
use tokio::{net::unix::pipe, sync::watch};

pub(crate) use self::lines::{Incoming, Lane, Lines};
use crate::body::Spool;

/// Something that has just been started.
pub(crate) struct Started {
    pub(crate) running: Running,
    pub(crate) input: End,
    pub(crate) output: End,
}

/// Something under way.
pub(crate) struct Running {
    stop: watch::Sender<Stop>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

/// Whether it is to end before its input does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stop {
    /// It is not.
    No,
    /// It says what is left to say, and ends.
    Soon,
    /// It ends.
    Now,
}

/// The session's side as seen from there.
pub(crate) struct Session {
    pub(crate) lines: Lines,
    pub(crate) lane: Lane,
    pub(crate) stop: watch::Receiver<Stop>,
}

/// Starts what `run` does with a session, on a thread called `name`.
pub(crate) fn start<F: Future<Output = ()>>(
    name: &str,
    spool: Spool,
    run: impl FnOnce(Session) -> F + Send + 'static,
) -> io::Result<Started> {
    let (from_client, input) = io::pipe()?;
    let (output, to_client) = io::pipe()?;
    let (stop, stopped) = watch::channel(Stop::No);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (source, sink) = {
        let _inside = runtime.enter();
        let source = pipe::Receiver::from_owned_fd(from_client.into())?;
        (source, pipe::Sender::from_owned_fd(to_client.into())?)
    };
    let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
        let session =
            Session { lines: Lines::new(source, spool), lane: Lane::new(sink), stop: stopped };
        runtime.block_on(run(session));
        // Someone who looks up a name is not waited for.
        runtime.shutdown_background();
    })?;
    let running = Running { stop, thread: Mutex::new(Some(thread)) };
    Ok(Started { running, input: input.into(), output: output.into() })
}

impl Running {
    pub(crate) fn stop(&self, stop: Stop) {
        self.stop.send_if_modified(|current| {
            let is_sooner = stop > *current;
            *current = (*current).max(stop);
            is_sooner
        });
    }

    /// Waits until it has ended.
    pub(crate) async fn has_ended(&self) {
        // Whoever runs it holds the other end.
        self.stop.closed().await;
    }

    /// The thread that it runs on, for the first who asks.
    pub(crate) fn thread(&self) -> Option<thread::JoinHandle<()>> {
        self.thread.lock().take()
    }
}

/// Waits until we are told to stop that soon, or nobody can tell us any more.
pub(crate) async fn told(stop: &mut watch::Receiver<Stop>, how: Stop) {
    let _ = stop.wait_for(|told| *told >= how).await;
}
