//! A line of the log file: written by one process, read by another.

use std::{fmt, path::Path};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tracing::{
    Event, Level,
    field::{Field, Visit},
};

use super::file;
use crate::regular;

/// Longer texts are cut: a line is written at once.
const MAX_TEXT_BYTES: usize = 4_000;
/// A full file, and what was written to it while another was begun.
const MAX_FILE_MIB: u64 = 4;

/// Something that was logged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) time: Timestamp,
    pub(crate) pid: u32,
    /// The command that the process was started with.
    pub(crate) command: String,
    pub(crate) level: String,
    /// The module that says it.
    pub(crate) target: String,
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) fields: Map<String, Value>,
}

impl Entry {
    /// What a process says of an event.
    pub(super) fn of(event: &Event<'_>, command: &str) -> Self {
        let metadata = event.metadata();
        let mut entry = Self::new(*metadata.level(), metadata.target(), command);
        event.record(&mut entry);
        entry
    }

    /// What a process says of its own end.
    pub(super) fn failure(message: &str, command: &str) -> Self {
        let message = cut(message.to_owned());
        Self { message, ..Self::new(Level::ERROR, "forebay", command) }
    }

    fn new(level: Level, target: &str, command: &str) -> Self {
        let now = Timestamp::now();
        Self {
            time: Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now),
            pid: std::process::id(),
            command: command.to_owned(),
            level: level.to_string().to_lowercase(),
            target: target.to_owned(),
            message: String::new(),
            fields: Map::new(),
        }
    }

    /// One JSON object and a line break.
    pub(super) fn line(&self) -> Option<String> {
        Some(serde_json::to_string(self).ok()? + "\n")
    }

    fn put(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            (name, value) => drop(self.fields.insert(name.to_owned(), value)),
        }
    }
}

impl Visit for Entry {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, cut(format!("{value:?}")).into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, cut(value.to_owned()).into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }
}

/// All that was logged in this home and is still there, the oldest first. A line that is no entry, because the
/// disk was full in the middle of it, is passed over.
pub(crate) fn logged(home: &Path) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut paths: Vec<_> = file::paths(home).collect();
    paths.reverse();
    for path in paths {
        let bytes = regular::contents_within(&path, MAX_FILE_MIB).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        entries.extend(lines.filter_map(|line| serde_json::from_slice::<Entry>(line).ok()));
    }
    entries
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT_BYTES {
        let end = (0..=MAX_TEXT_BYTES).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written_and_others_are_passed_over() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("logs")).unwrap();
        let long = Entry::failure(&"é".repeat(MAX_TEXT_BYTES), "wrap");
        let short = Entry::failure("line\nbreak \u{1b}[31m", "serve");
        let older = format!("torn\":1}}\n{}", long.line().unwrap());
        std::fs::write(home.path().join("logs/forebay.log.1"), older).unwrap();
        let newer = format!("{}{{\"time\":", short.line().unwrap());
        std::fs::write(home.path().join("logs/forebay.log"), newer).unwrap();
        let read = logged(home.path());
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].message.len(), MAX_TEXT_BYTES + "…".len());
        assert_eq!(
            (read[1].message.as_str(), read[1].time),
            ("line\nbreak \u{1b}[31m", short.time)
        );
        assert_eq!(short.line().unwrap().matches('\n').count(), 1);
    }
}
