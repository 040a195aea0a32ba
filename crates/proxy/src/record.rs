//! Writes a session down as JSON Lines, for tests to read again.
//!
//! One object a line of the session: when it came, from which side, and its very bytes as a string
//! (or, where they are not UTF-8, in hexadecimal). Lines are recorded as they arrive, before any
//! interceptor. The environment is never written.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write},
    path::Path,
    time::Instant,
};

use forebay_system::{positioned, private};
use parking_lot::Mutex;

use serde_json::json;

use crate::{body::Source, events, router::UpstreamName};

/// Who sent a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The client.
    Client,
    /// The upstream.
    Upstream,
}

/// Records a session to a file.
#[derive(Debug)]
pub struct Recorder {
    started: Instant,
    /// `None` after the first failure.
    file: Mutex<Option<BufWriter<File>>>,
}

impl Recorder {
    /// Starts a recording at the end of `path`, which only its owner may read.
    pub fn create(path: &Path, upstream: &UpstreamName, command: &[String]) -> io::Result<Self> {
        let file =
            private::file(OpenOptions::new().read(true).append(true).create(true)).open(path)?;
        let mut file = BufWriter::new(file);
        lock_for_a_moment(file.get_ref());
        if ends_mid_line(file.get_ref())? {
            writeln!(file)?;
        }
        let heading = json!({
            "forebay_recording": 1, "upstream": upstream.as_str(), "command": command
        });
        writeln!(file, "{heading}")?;
        file.flush()?;
        file.get_ref().unlock()?;
        Ok(Self { started: Instant::now(), file: Mutex::new(Some(file)) })
    }

    /// Records a line. A failure ends the recording, not the session.
    pub(crate) fn line(&self, side: Side, source: Source<'_>) {
        self.write(|writer| {
            self.begin(writer, side)?;
            let (key, escape): (_, Escape) =
                if source.is_utf8()? { ("line", json_escape) } else { ("line_hex", hex) };
            write!(writer, r#","{key}":""#)?;
            let mut written = Ok(());
            source.each_chunk(|chunk| {
                if written.is_ok() {
                    written = escape(writer, chunk);
                }
            })?;
            written?;
            writer.write_all(b"\"}\n")
        });
    }

    /// Records that a line has passed which could not be kept.
    pub(crate) fn unread_line(&self, side: Side, bytes: u64) {
        self.write(|writer| {
            self.begin(writer, side)?;
            writeln!(writer, r#","unread_bytes":{bytes}}}"#)
        });
    }

    fn begin(&self, writer: &mut BufWriter<File>, side: Side) -> io::Result<()> {
        let from = match side {
            Side::Client => "client",
            Side::Upstream => "upstream",
        };
        let at_ms = self.started.elapsed().as_millis();
        write!(writer, r#"{{"at_ms":{at_ms},"from":"{from}""#)
    }

    /// Writes an entry. The file is locked meanwhile: other sessions may record to it too.
    fn write(&self, entry: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        let mut file = self.file.lock();
        let Some(writer) = file.as_mut() else { return };
        lock_for_a_moment(writer.get_ref());
        let written =
            entry(writer).and_then(|()| writer.flush()).and_then(|()| writer.get_ref().unlock());
        if let Err(error) = written {
            events::recording_stopped(&error);
            *file = None;
        }
    }
}

/// Locks the file, unless somebody holds it for long: then lines may mix, and nothing stalls.
fn lock_for_a_moment(file: &File) {
    for _ in 0..20 {
        if file.try_lock().is_ok() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// True if a recording before this one was cut off.
fn ends_mid_line(file: &File) -> io::Result<bool> {
    let bytes = file.metadata()?.len();
    let mut last = [b'\n'];
    if bytes > 0 {
        positioned::read_exact(file, &mut last, bytes - 1)?;
    }
    Ok(last != *b"\n")
}

type Escape = fn(&mut BufWriter<File>, &[u8]) -> io::Result<()>;

/// Escapes what must be escaped in a JSON string; works on any piece of UTF-8 text.
fn json_escape(writer: &mut BufWriter<File>, bytes: &[u8]) -> io::Result<()> {
    let mut plain = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        writer.write_all(&bytes[plain..at])?;
        plain = at + 1;
        match byte {
            b'"' | b'\\' => writer.write_all(&[b'\\', byte])?,
            _ => write!(writer, "\\u{byte:04x}")?,
        }
    }
    writer.write_all(&bytes[plain..])
}

fn hex(writer: &mut BufWriter<File>, bytes: &[u8]) -> io::Result<()> {
    bytes.iter().try_for_each(|byte| write!(writer, "{byte:02x}"))
}
