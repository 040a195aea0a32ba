//! Where lines that are too long for memory are kept while they pass, and how much of it there is.

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use forebay_system::{positioned, private};

use super::Body;

/// Where lines that are too long for memory are kept. Clones share its room.
#[derive(Debug, Clone)]
pub struct Spool {
    /// A line up to this long stays in memory.
    max_memory_bytes: usize,
    /// The directory for the rest; made when it is first needed.
    directory: PathBuf,
    room: Arc<Room>,
}

/// How much disk all lines together may take, and do.
#[derive(Debug)]
struct Room {
    max_bytes: u64,
    used_bytes: AtomicU64,
}

/// A line's share of the room, which is given back with it.
#[derive(Debug)]
pub struct Share {
    room: Arc<Room>,
    bytes: u64,
}

/// Collects the pieces of a line.
#[derive(Debug)]
pub(crate) struct Hold<'a> {
    spool: &'a Spool,
    memory: Vec<u8>,
    file: Option<(File, Share)>,
}

impl Spool {
    /// A spool in `directory` for lines of more than `max_memory_bytes`, which take `max_bytes` there
    /// at most, all together.
    pub fn new(max_memory_bytes: usize, max_bytes: u64, directory: impl Into<PathBuf>) -> Self {
        let room = Arc::new(Room { max_bytes, used_bytes: AtomicU64::new(0) });
        Self { max_memory_bytes, directory: directory.into(), room }
    }

    /// One that has no place but memory.
    pub fn of_memory(max_memory_bytes: usize) -> Self {
        Self::new(max_memory_bytes, 0, PathBuf::new())
    }

    /// A file without a name, which goes away with its handle.
    fn file(&self) -> io::Result<File> {
        private::make_folder(&self.directory)?;
        tempfile::tempfile_in(&self.directory)
    }

    fn share(&self) -> Share {
        Share { room: self.room.clone(), bytes: 0 }
    }
}

impl Share {
    fn grow(&mut self, more: usize) -> io::Result<()> {
        let (more, Room { max_bytes, used_bytes }) = (more as u64, &*self.room);
        let fits = |used: u64| used.checked_add(more).filter(|sum| sum <= max_bytes);
        match used_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => {
                self.bytes += more;
                Ok(())
            }
            Err(_) => Err(io::Error::new(
                io::ErrorKind::QuotaExceeded,
                format!("long messages may take {max_bytes} bytes of disk (`max_spool_bytes`)"),
            )),
        }
    }

    fn shrink_to(&mut self, bytes: u64) {
        self.room.used_bytes.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        self.bytes = bytes;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.room.used_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl<'a> Hold<'a> {
    pub(crate) fn new(spool: &'a Spool) -> Self {
        Self { spool, memory: Vec::new(), file: None }
    }

    /// Adds a piece. After an error the hold still yields all pieces before this one.
    pub(crate) fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.file.is_none() && self.memory.len() + piece.len() <= self.spool.max_memory_bytes {
            self.make_room(piece.len());
            self.memory.extend_from_slice(piece);
            return Ok(());
        }
        if self.file.is_none() {
            let mut share = self.spool.share();
            share.grow(self.memory.len())?;
            let file = self.spool.file()?;
            positioned::write_all(&file, &self.memory, 0)?;
            self.memory = Vec::new();
            self.file = Some((file, share));
        }
        let Some((file, share)) = &mut self.file else { return Ok(()) };
        let end = share.bytes;
        share.grow(piece.len())?;
        positioned::write_all(file, piece, end).inspect_err(|_| share.shrink_to(end))
    }

    /// A line that is long already may become as long as one may. Room that is not written to takes no
    /// memory, whereas a line that is moved whenever it has doubled takes twice its own, and time.
    fn make_room(&mut self, more: usize) {
        const LONG_BYTES: usize = 256 * 1024;
        const ROOM_BYTES: usize = 16 * 1024 * 1024;
        let bytes = self.memory.len() + more;
        if bytes > self.memory.capacity() && bytes > LONG_BYTES {
            let room = ROOM_BYTES.min(self.spool.max_memory_bytes).max(2 * bytes);
            self.memory.reserve_exact(room - self.memory.len());
        }
    }

    pub(crate) fn finish(mut self) -> Body {
        if let Some((file, share)) = self.file {
            return Body::Spooled { bytes: share.bytes, file, share };
        }
        self.memory.shrink_to_fit();
        Body::Memory(self.memory)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::*, *};

    fn spool(directory: &tempfile::TempDir, max_bytes: u64) -> Spool {
        Spool::new(8, max_bytes, directory.path().join("spool"))
    }

    fn held(spool: &Spool, pieces: &[&[u8]]) -> Arc<Body> {
        let mut hold = Hold::new(spool);
        for piece in pieces {
            hold.push(piece).unwrap();
        }
        Arc::new(hold.finish())
    }

    #[test]
    fn a_line_past_the_limit_is_kept_in_a_file_and_reads_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let spool = spool(&directory, 100);
        let pieces: [&[u8]; 3] = [br#"{"id":7,"#, br#""params":{"#, b"\"a\":1}}\n"];
        let body = held(&spool, &pieces);
        assert!(matches!(*body, Body::Spooled { bytes: 26, .. }), "{body:?}");

        let mut out = Vec::new();
        Message::whole(body.clone()).write_to(&mut out).unwrap();
        assert_eq!(out, pieces.concat());
        let [params] = Source::Held(&body).members(&(0..25), ["params"]);
        assert_eq!(params.unwrap().span, 17..24);
        assert_eq!(std::fs::read_dir(&spool.directory).unwrap().count(), 0, "it has no name");
    }

    #[test]
    fn a_short_line_touches_no_disk() {
        let directory = tempfile::tempdir().unwrap();
        let spool = spool(&directory, 100);
        assert!(matches!(&*held(&spool, &[b"1234", b"5678"]), Body::Memory(_)));
        assert!(!spool.directory.exists());
    }

    #[test]
    fn after_a_failed_piece_the_others_are_still_there() {
        let spool = Spool::new(4, 100, "/dev/null/nowhere");
        let mut hold = Hold::new(&spool);
        hold.push(b"1234").unwrap();
        hold.push(b"5").unwrap_err();
        assert!(matches!(hold.finish(), Body::Memory(bytes) if bytes == b"1234"));
    }

    #[test]
    fn all_lines_together_take_no_more_disk_than_they_may() {
        let directory = tempfile::tempdir().unwrap();
        let spool = spool(&directory, 30);
        let first = held(&spool, &[b"123456789", b"123456789"]);
        let mut second = Hold::new(&spool);
        second.push(b"123456789").unwrap();
        let error = second.push(b"1234").unwrap_err();
        assert!(error.to_string().contains("max_spool_bytes"), "{error}");
        assert!(second.push(b"123").is_ok(), "as much as there is room for");
        let second = second.finish();
        assert_eq!(second.bytes(), 12);
        let mut third = Hold::new(&spool);
        third.push(b"123456789").unwrap_err();
        drop((first, second));
        third.push(b"123456789").unwrap();
        assert_eq!(third.finish().bytes(), 9, "what is gone has given its room back");
    }
}
