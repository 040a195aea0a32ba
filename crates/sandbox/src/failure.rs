//! Why a program did not come to its end, in words that lead to one that does.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a program failed with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong.
    pub message: String,
    /// Where in the program's own source.
    pub place: Option<Place>,
    /// The line at that place.
    pub source_line: Option<String>,
    /// The call that failed, as in `tools.git.log(…), call no. 3`.
    pub call: Option<String>,
    /// What to try.
    pub hint: Option<String>,
}

/// A place in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The line, from 1 on.
    pub line: usize,
    /// The character within it, from 1 on.
    pub column: usize,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure, at a place of `source`.
    pub(crate) fn at(mut self, place: Place, source: &str) -> Self {
        self.source_line = line(source, place.line).map(str::to_owned);
        self.place = Some(place);
        self
    }
}

/// The message, the place with a caret beneath it, the call and the hint.
impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, place, source_line, call, hint } = self;
        formatter.write_str(message)?;
        if let Some(Place { line, column }) = place {
            write!(formatter, "\nat line {line}, column {column}")?;
            if let Some(text) = source_line {
                let (text, column) = excerpt(text, *column);
                write!(formatter, ":\n  {text}\n  {:>column$}", "^")?;
            }
        }
        if let Some(call) = call {
            write!(formatter, "\nin {call}")?;
        }
        if let Some(hint) = hint {
            write!(formatter, "\n{hint}")?;
        }
        Ok(())
    }
}

/// What of a line is shown, and where the column is in it.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    const BEFORE: usize = 60;
    const LENGTH: usize = 120;
    let skipped = column.saturating_sub(BEFORE + 1);
    // A tab would move the caret.
    let shown = line.chars().skip(skipped).take(LENGTH);
    let shown = shown.map(|c| if c == '\t' { ' ' } else { c }).collect();
    (shown, column - skipped)
}

/// A line of a source, from 1 on.
pub(crate) fn line(source: &str, number: usize) -> Option<&str> {
    source.lines().nth(number.checked_sub(1)?)
}
