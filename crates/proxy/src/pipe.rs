//! The two ends of a pipe (or socket, or file) that a session reads from and writes to.

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Write},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use forebay_system::pipes::{self, End};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::{body::Message, chain::ToClient};

/// Where lines come from.
#[derive(Debug)]
pub(crate) struct Inlet(File);

/// Where lines go to. Lines of several threads do not mix.
#[derive(Debug)]
pub(crate) struct Outlet {
    sink: Mutex<Sink>,
    line_ended: Condvar,
    lines_sent: AtomicU64,
    /// Someone is in the middle of a write, which the reader may not take.
    is_writing: AtomicBool,
}

/// Whoever reads what an outlet sends.
#[derive(Debug)]
pub(crate) struct Reader(Option<File>);

#[derive(Debug)]
struct Sink {
    file: Option<File>,
    /// The last line that was sent has not ended.
    is_mid_line: bool,
    /// Nobody will end it any more.
    is_cut_off: bool,
}

/// The right to write; others wait until it is dropped.
struct Turn<'a> {
    sink: MutexGuard<'a, Sink>,
    outlet: &'a Outlet,
}

impl Inlet {
    pub(crate) fn new(descriptor: End) -> Self {
        Self(File::from(descriptor))
    }

    pub(crate) fn into_descriptor(self) -> End {
        self.0.into()
    }

    pub(crate) fn stdin() -> io::Result<Self> {
        Ok(Self(pipes::stdin()?))
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Reads what there is, or waits for it; 0 at the end. A peer that vanished is an end too.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> usize {
        loop {
            match (&self.0).read(buffer) {
                Ok(count) => return count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    pipes::wait_to_read(&self.0);
                }
                Err(_) => return 0,
            }
        }
    }

    /// Waits until the other end has been closed, whether or not everything has been read. For a
    /// file, which has no other end, that is for ever.
    pub(crate) fn wait_for_hang_up(&self) {
        pipes::wait_for_hang_up(&self.0);
    }

    /// True if a read would not wait.
    pub(crate) fn is_readable(&self) -> bool {
        pipes::is_readable(&self.0)
    }
}

impl Outlet {
    pub(crate) fn new(descriptor: End) -> Self {
        Self::to(Some(File::from(descriptor)))
    }

    pub(crate) fn stdout() -> io::Result<Self> {
        Ok(Self::to(Some(pipes::stdout()?)))
    }

    /// An outlet to nowhere: everything fails as if the reader had gone.
    pub(crate) fn closed() -> Self {
        Self::to(None)
    }

    fn to(file: Option<File>) -> Self {
        Self {
            sink: Mutex::new(Sink { file, is_mid_line: false, is_cut_off: false }),
            line_ended: Condvar::new(),
            lines_sent: AtomicU64::new(0),
            is_writing: AtomicBool::new(false),
        }
    }

    /// Sends lines on as they came.
    pub(crate) fn send(&self, lines: &[u8]) -> io::Result<()> {
        self.turn().write_all(lines)
    }

    pub(crate) fn send_message(&self, message: &Message) -> io::Result<()> {
        message.write_to(&mut self.turn())
    }

    /// Sends a part of a line that is let through. Until its last part, other lines wait.
    pub(crate) fn send_piece(&self, piece: &[u8]) -> io::Result<()> {
        Turn { sink: self.lock(), outlet: self }.write_all(piece)
    }

    /// Sends lines of our own. If what came before was cut off, they do not continue it.
    pub(crate) fn say(&self, lines: &[u8]) -> io::Result<()> {
        let mut turn = self.turn();
        if turn.sink.is_mid_line {
            turn.write_all(b"\n")?;
        }
        turn.write_all(lines)
    }

    /// Says that a line which is half sent will not be continued.
    pub(crate) fn cut_off(&self) {
        self.lock().is_cut_off = true;
        self.line_ended.notify_all();
    }

    /// Waits for the end of a line that is half sent.
    fn turn(&self) -> Turn<'_> {
        let mut sink = self.lock();
        while sink.is_mid_line && !sink.is_cut_off && sink.file.is_some() {
            self.line_ended.wait(&mut sink);
        }
        Turn { sink, outlet: self }
    }

    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock()
    }

    /// How often something has been sent; it changes whenever the reader was given anything.
    pub(crate) fn lines_sent(&self) -> u64 {
        self.lines_sent.load(Ordering::Relaxed)
    }

    /// True while something waits for the reader to take it.
    pub(crate) fn is_backed_up(&self) -> bool {
        self.is_writing.load(Ordering::Relaxed)
    }

    /// False if nobody can ever read what is sent. While someone is writing, somebody may.
    pub(crate) fn has_reader(&self) -> bool {
        let Some(sink) = self.sink.try_lock() else { return true };
        let Some(file) = sink.file.as_ref() else { return false };
        !pipes::is_hung_up(file)
    }

    /// Whoever reads what is sent.
    pub(crate) fn reader(&self) -> io::Result<Reader> {
        Ok(Reader(self.lock().file.as_ref().map(File::try_clone).transpose()?))
    }

    /// Closes the outlet; the reader sees its end.
    pub(crate) fn close(&self) {
        self.lock().file.take();
        self.line_ended.notify_all();
    }

    /// Closes the outlet unless someone is writing, who may be stuck.
    pub(crate) fn close_unless_busy(&self) {
        if let Some(mut sink) = self.sink.try_lock() {
            sink.file.take();
        }
    }
}

impl Reader {
    /// Waits until nobody can ever read what is sent. For a file that is for ever.
    pub(crate) fn wait_until_gone(&self) {
        if let Some(file) = &self.0 {
            pipes::wait_for_hang_up(file);
        }
    }
}

impl ToClient for Outlet {
    fn tell(&self, line: &[u8]) {
        // A client that is gone is noticed by its pump.
        let _ = self.say(line);
    }
}

impl Write for Turn<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(mut file) = self.sink.file.as_ref() else {
            return Err(ErrorKind::BrokenPipe.into());
        };
        self.outlet.is_writing.store(true, Ordering::Relaxed);
        let written = loop {
            match file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    pipes::wait_to_write(file);
                }
                written => break written,
            }
        };
        self.outlet.is_writing.store(false, Ordering::Relaxed);
        let count = written?;
        self.outlet.lines_sent.fetch_add(1, Ordering::Relaxed);
        if let Some(last) = bytes[..count].last() {
            self.sink.is_mid_line = *last != b'\n';
            if !self.sink.is_mid_line {
                self.outlet.line_ended.notify_all();
            }
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
