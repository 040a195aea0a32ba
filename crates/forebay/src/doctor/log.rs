//! What went wrong lately, as the log file has it.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use super::{Area, Finding, State};
use crate::{
    config::{self, Config, log::FileLevel},
    observe::{Entry, logged},
};

/// What is older says little of how things stand.
const LATELY: SignedDuration = SignedDuration::from_hours(7 * 24);
/// So many different errors are told, and so many warnings.
const MOST: usize = 5;
/// More of what is said of an event does not help.
const MOST_CHARACTERS: usize = 300;

pub(super) fn examine(config: &Config) -> Vec<Finding> {
    if config.log_file_level == FileLevel::Off {
        let text = "What goes wrong is not written down: `log.file_level` is \"off\".";
        return vec![found(State::Note, text)];
    }
    config::home().map_or_else(|_| Vec::new(), |home| of(&home, Timestamp::now()))
}

fn of(home: &Path, now: Timestamp) -> Vec<Finding> {
    let all = repeated(logged(home).into_iter().filter(|it| now.duration_since(it.time) < LATELY));
    let (errors, warnings): (Vec<_>, Vec<_>) = all
        .into_iter()
        .filter(|it| matches!(it.last.level.as_str(), "error" | "warn"))
        .partition(|it| it.last.level == "error");
    if errors.is_empty() && warnings.is_empty() {
        return vec![found(State::Ok, "Nothing has gone wrong in the last 7 days.")];
    }
    let file = home.join("logs/forebay.log");
    let advice = format!("What led to it stands in {}.", file.display());
    let gravest = if errors.is_empty() { State::Note } else { State::Warning };
    let mut findings = Vec::new();
    for (state, of_state) in [(State::Warning, errors), (State::Note, warnings)] {
        findings.extend(of_state.iter().take(MOST).map(|it| found(state, it.told())));
        if of_state.len() > MOST {
            let more = of_state.len() - MOST;
            findings.push(found(state, format!("{more} others, each less recent.")));
        }
    }
    for finding in findings.iter_mut().filter(|it| it.state == gravest) {
        finding.advice = Some(advice.clone());
    }
    findings
}

/// The same, said several times.
struct Repeated {
    last: Entry,
    times: u64,
}

/// What was logged, each once, the most recent first.
fn repeated(entries: impl Iterator<Item = Entry>) -> Vec<Repeated> {
    let mut all: Vec<Repeated> = Vec::new();
    for entry in entries {
        let is_same = |it: &&mut Repeated| {
            (&it.last.level, &it.last.target, &it.last.message)
                == (&entry.level, &entry.target, &entry.message)
        };
        match all.iter_mut().find(is_same) {
            Some(known) => {
                known.times += 1;
                known.last = entry;
            }
            None => all.push(Repeated { last: entry, times: 1 }),
        }
    }
    all.sort_by_key(|it| std::cmp::Reverse(it.last.time));
    all
}

impl Repeated {
    fn told(&self) -> String {
        let Entry { time, command, message, fields, .. } = &self.last;
        let fields = fields.iter().map(|(name, value)| match value.as_str() {
            Some(text) => format!("{name}={text}"),
            None => format!("{name}={value}"),
        });
        let fields: Vec<String> = fields.collect();
        let with =
            if fields.is_empty() { String::new() } else { format!(" ({})", fields.join(", ")) };
        let what: String = format!("{message}{with}").chars().take(MOST_CHARACTERS).collect();
        let when = time.strftime("%Y-%m-%d %H:%M UTC");
        match self.times {
            1 => format!("{when}, {command}: {what}"),
            times => format!("{when}, {command}, {times} times: {what}"),
        }
    }
}

fn found(state: State, text: impl Into<String>) -> Finding {
    Finding::new(Area::Log, state, text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn line(time: &str, level: &str, message: &str) -> String {
        let mut line = serde_json::json!({
            "time": time, "pid": 1, "command": "wrap", "level": level, "target": "t", "message": message,
        });
        if level == "error" {
            line["fields"] = serde_json::json!({ "upstream": "git", "bytes": 3 });
        }
        format!("{line}\n")
    }

    #[test]
    fn errors_come_first_with_their_times_and_counts_and_old_ones_are_past() {
        let home = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-11-18T12:00:00Z".parse().unwrap();
        let told = || of(home.path(), now);
        let nothing = found(State::Ok, "Nothing has gone wrong in the last 7 days.");
        assert_eq!(told(), [nothing]);
        fs::create_dir(home.path().join("logs")).unwrap();
        let lines = [
            line("2026-11-01T10:00:00Z", "error", "old"),
            line("2026-11-17T10:00:00Z", "error", "disk full"),
            line("2026-11-18T10:00:00Z", "warn", "slow"),
            line("2026-11-18T11:00:00Z", "info", "kept"),
            line("2026-11-18T11:30:00Z", "error", "disk full"),
        ];
        fs::write(home.path().join("logs/forebay.log"), lines.concat()).unwrap();
        let error = "2026-11-18 11:30 UTC, wrap, 2 times: disk full (bytes=3, upstream=git)";
        let warning = found(State::Note, "2026-11-18 10:00 UTC, wrap: slow");
        let file = home.path().join("logs/forebay.log");
        let advice = format!("What led to it stands in {}.", file.display());
        assert_eq!(told(), [found(State::Warning, error).advised(advice), warning]);
    }
}
