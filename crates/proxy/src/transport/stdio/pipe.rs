//! The two ends of a pipe (or socket, or file) that a session reads from and writes to.

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Write},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU64, Ordering},
    },
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use crate::body::Message;

/// Where lines come from.
#[derive(Debug)]
pub(super) struct Inlet(File);

/// Where lines go to. Lines of several threads do not mix.
#[derive(Debug)]
pub(super) struct Outlet {
    file: Mutex<Option<File>>,
    lines_sent: AtomicU64,
}

/// A line that is being written in pieces; others wait until it is dropped.
pub(super) struct OpenLine<'a> {
    file: MutexGuard<'a, Option<File>>,
    outlet: &'a Outlet,
}

impl Inlet {
    pub(super) fn new(descriptor: OwnedFd) -> Self {
        Self(File::from(descriptor))
    }

    pub(super) fn stdin() -> io::Result<Self> {
        Ok(Self::new(io::stdin().as_fd().try_clone_to_owned()?))
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Reads what there is, or waits for it; 0 at the end. A peer that vanished is an end too.
    pub(super) fn read(&self, buffer: &mut [u8]) -> usize {
        loop {
            match (&self.0).read(buffer) {
                Ok(count) => return count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(self.0.as_fd(), PollFlags::IN);
                }
                Err(_) => return 0,
            }
        }
    }

    /// Waits until the other end has been closed, whether or not everything has been read. For a
    /// file, which has no other end, that is for ever.
    pub(super) fn wait_for_hang_up(&self) {
        wait(self.0.as_fd(), PollFlags::empty());
    }

    /// True if a read would not wait.
    pub(super) fn is_readable(&self) -> bool {
        !events_now(self.0.as_fd(), PollFlags::IN).is_empty()
    }
}

impl Outlet {
    pub(super) fn new(descriptor: OwnedFd) -> Self {
        Self { file: Mutex::new(Some(File::from(descriptor))), lines_sent: AtomicU64::new(0) }
    }

    pub(super) fn stdout() -> io::Result<Self> {
        Ok(Self::new(io::stdout().as_fd().try_clone_to_owned()?))
    }

    /// An outlet to nowhere: everything fails as if the reader had gone.
    pub(super) fn closed() -> Self {
        Self { file: Mutex::new(None), lines_sent: AtomicU64::new(0) }
    }

    /// Sends whole lines.
    pub(super) fn send(&self, lines: &[u8]) -> io::Result<()> {
        self.line().write_all(lines)
    }

    pub(super) fn send_message(&self, message: &Message) -> io::Result<()> {
        message.write_to(&mut self.line())
    }

    /// Starts a line that is written in pieces.
    pub(super) fn line(&self) -> OpenLine<'_> {
        OpenLine { file: self.file.lock().unwrap_or_else(PoisonError::into_inner), outlet: self }
    }

    /// How often something has been sent; it changes whenever the reader was given anything.
    pub(super) fn lines_sent(&self) -> u64 {
        self.lines_sent.load(Ordering::Relaxed)
    }

    /// True while someone is writing.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.file.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// False if nobody can ever read what is sent. While someone is writing, somebody may.
    pub(super) fn has_reader(&self) -> bool {
        let Ok(file) = self.file.try_lock() else { return true };
        let Some(file) = file.as_ref() else { return false };
        let broken = PollFlags::ERR | PollFlags::HUP;
        !events_now(file.as_fd(), PollFlags::empty()).intersects(broken)
    }

    /// Closes the outlet; the reader sees its end.
    pub(super) fn close(&self) {
        self.line().file.take();
    }

    /// Closes the outlet unless someone is writing, who may be stuck.
    pub(super) fn close_unless_busy(&self) {
        match self.file.try_lock() {
            Ok(mut file) => drop(file.take()),
            Err(TryLockError::Poisoned(poisoned)) => drop(poisoned.into_inner().take()),
            Err(TryLockError::WouldBlock) => {}
        }
    }
}

impl Write for OpenLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(mut file) = self.file.as_ref() else { return Err(ErrorKind::BrokenPipe.into()) };
        loop {
            match file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(file.as_fd(), PollFlags::OUT);
                }
                Ok(count) => {
                    self.outlet.lines_sent.fetch_add(1, Ordering::Relaxed);
                    return Ok(count);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What holds of a descriptor right now, of `flags` and the conditions that are always told.
fn events_now(descriptor: BorrowedFd<'_>, flags: PollFlags) -> PollFlags {
    let mut descriptors = [PollFd::new(&descriptor, flags)];
    match poll(&mut descriptors, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
        Ok(_) => descriptors[0].revents(),
        Err(_) => PollFlags::empty(),
    }
}

/// Waits until one of `flags` holds, or the other end is closed.
fn wait(descriptor: BorrowedFd<'_>, flags: PollFlags) {
    // Any other error shows again at the next read or write.
    while poll(&mut [PollFd::new(&descriptor, flags)], None) == Err(Errno::INTR) {}
}
