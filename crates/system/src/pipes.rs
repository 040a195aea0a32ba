//! Pipes: waiting until something comes or goes, and whether anybody is at the other end.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

/// An end of a pipe, as it is handed from one to another.
pub type End = OwnedFd;

/// At once.
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Standard input, without a buffer.
pub fn stdin() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Standard output, without a buffer.
pub fn stdout() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Waits until there is something to read, or the other end is closed.
pub fn wait_to_read(pipe: &impl AsFd) {
    wait(pipe, PollFlags::IN);
}

/// Waits until something can be written, or the other end is closed.
pub fn wait_to_write(pipe: &impl AsFd) {
    wait(pipe, PollFlags::OUT);
}

/// Waits until the other end is closed. For a file, which has none, that is for ever.
pub fn wait_for_hang_up(pipe: &impl AsFd) {
    wait(pipe, PollFlags::empty());
}

/// Waits for something to read. False if nothing has come for so long.
pub fn has_come_within(pipe: &impl AsFd, time: Duration) -> io::Result<bool> {
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    loop {
        match poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&time)) {
            Ok(count) => return Ok(count > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// True if a read would not wait.
pub fn is_readable(pipe: &impl AsFd) -> bool {
    !events_now(pipe, PollFlags::IN).is_empty()
}

/// True if a write of some bytes would not wait.
pub fn is_writable(pipe: &impl AsFd) -> bool {
    poll(&mut [PollFd::new(pipe, PollFlags::OUT)], Some(&NOW)) == Ok(1)
}

/// True if nobody is at the other end any more: nobody can ever read what is written, or write more to read.
pub fn is_hung_up(pipe: &impl AsFd) -> bool {
    events_now(pipe, PollFlags::empty()).intersects(PollFlags::ERR | PollFlags::HUP)
}

/// From now on what cannot be read or written at once fails with [`io::ErrorKind::WouldBlock`].
pub fn do_not_wait(pipe: &impl AsFd) -> io::Result<()> {
    rustix::io::ioctl_fionbio(pipe, true).map_err(io::Error::from)
}

/// Lets whoever writes to a pipe write further ahead. It is a wish; more would eat into what the system grants a
/// user for all pipes.
#[cfg(target_os = "linux")]
pub fn widen(pipe: &impl AsFd) {
    const PIPE_BYTES: usize = 256 * 1024;
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
}

/// Only Linux can do that.
#[cfg(not(target_os = "linux"))]
pub fn widen(_pipe: &impl AsFd) {}

/// What holds right now, of `flags` and the conditions that are always told.
fn events_now(pipe: &impl AsFd, flags: PollFlags) -> PollFlags {
    let mut descriptors = [PollFd::new(pipe, flags)];
    match poll(&mut descriptors, Some(&NOW)) {
        Ok(_) => descriptors[0].revents(),
        Err(_) => PollFlags::empty(),
    }
}

/// Waits until one of `flags` holds, or the other end is closed.
fn wait(pipe: &impl AsFd, flags: PollFlags) {
    // Any other error shows again at the next read or write.
    while poll(&mut [PollFd::new(pipe, flags)], None) == Err(Errno::INTR) {}
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_pipe_tells_what_is_in_it_and_who_is_at_its_other_end() {
        let (reader, mut writer) = io::pipe().unwrap();
        assert!(!is_readable(&reader) && is_writable(&writer) && !is_hung_up(&writer));
        assert!(!has_come_within(&reader, Duration::ZERO).unwrap());
        writer.write_all(b"x").unwrap();
        assert!(is_readable(&reader) && has_come_within(&reader, Duration::ZERO).unwrap());
        wait_to_read(&reader);
        wait_to_write(&writer);
        drop(reader);
        wait_for_hang_up(&writer);
        assert!(is_hung_up(&writer));
    }

    #[test]
    fn what_does_not_fit_into_a_pipe_is_told_at_once_if_nobody_is_to_wait() {
        let (reader, mut writer) = io::pipe().unwrap();
        do_not_wait(&writer).unwrap();
        let written = writer.write(&vec![0; 1 << 20]).unwrap();
        assert!((1..1 << 20).contains(&written));
        assert_eq!(writer.write(b"x").unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(writer);
        assert!(is_hung_up(&reader));
    }
}
