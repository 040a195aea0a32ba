//! The places in a text where a pattern matches.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use forebay_query::{Observer, QueryError};
use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Value, json};

use super::{
    Reading,
    text::{Lines, Text},
};
use crate::{ToolError, budget::Budget, error::refuse, pages::Part};

/// A longer line is shown in pieces, each around a match.
const LONG_LINE: usize = 1_000;
/// How much of a long line is shown on either side of a match.
const WINDOW: usize = 150;
/// What stands around the matches.
const FRAME_TOKENS: u64 = 80;
/// How much of a long line is searched at a time.
const SEARCHED_PART: usize = 1 << 20;
/// After so many matches in a long line it is asked whether they are still wanted.
const ASKED_EVERY: u64 = 16;
/// How much is searched before whoever asked is asked whether they still wait.
const STEP: usize = 4 << 20;

pub(super) fn of(
    text: &Text,
    pattern: &str,
    context: usize,
    part: Part,
    budget: Budget,
    (limit, observer): (Duration, &dyn Observer),
) -> Result<Reading, ToolError> {
    let regex = compiled(pattern)?;
    let watch = Watch { observer, until: Instant::now() + limit, limit };
    let found = Search {
        regex,
        context,
        part,
        room: budget.max_bytes(),
        total: 0,
        occurrences: 0,
        matches: Vec::new(),
        open: VecDeque::new(),
    }
    .through(text.bytes(), &watch)?;
    let total = found.total;
    part.check(total, "match")?;
    let matches: Vec<String> = found.matches.iter().map(Value::to_string).collect();
    let fitting = budget.without(FRAME_TOKENS).fitting(matches.iter().map(String::as_str));
    let shown = match (fitting, found.matches.first()) {
        (0, Some(first)) => vec![alone(first)],
        _ => matches[..fitting].to_vec(),
    };
    let occurrences = match found.occurrences {
        0 => String::new(),
        count => format!(",\"occurrences_in_long_lines\":{count}"),
    };
    let matches = shown.join(",");
    let json = format!("{{\"matches\":[{matches}],\"total_matches\":{total}{occurrences}}}");
    let end = part.offset + shown.len() as u64;
    let note = match (total, end < total) {
        (0, _) => Some(
            "Nothing matches; (?i) at the front makes capitals count as small letters.".to_owned(),
        ),
        (_, true) => Some(format!("There are more matches: go on with offset {end}.")),
        (_, false) => None,
    };
    Ok(Reading { json, note })
}

fn compiled(pattern: &str) -> Result<Regex, ToolError> {
    const MAX_BYTES: usize = 1 << 20;
    match RegexBuilder::new(pattern).size_limit(MAX_BYTES).build() {
        Ok(regex) => Ok(regex),
        Err(regex::Error::CompiledTooBig(_)) => refuse!(
            "grep is a regular expression that is too large. Repeat less, write [a-z] in place of \
             classes such as \\w and \\p{{L}}, or look for a part of it."
        ),
        Err(error) => refuse!(
            "grep is not a regular expression: {error}. For the characters as they are put \\ before \
             . * + ? ( ) [ ] {{ }} | ^ $."
        ),
    }
}

/// A match without the lines around it, which do not fit.
fn alone(found: &Value) -> String {
    let text: String = found["text"].as_str().unwrap_or_default().chars().take(WINDOW).collect();
    json!({"line": found["line"], "text": text}).to_string()
}

struct Search {
    regex: Regex,
    context: usize,
    part: Part,
    /// How many bytes of matches can still be of use.
    room: u64,
    total: u64,
    /// How often it stands in long lines, of which passages are shown.
    occurrences: u64,
    matches: Vec<Value>,
    /// Matches whose lines behind are still to come: which, and how many lines.
    open: VecDeque<(usize, usize)>,
}

impl Search {
    fn through(mut self, text: &[u8], watch: &Watch<'_>) -> Result<Self, ToolError> {
        let mut before: VecDeque<&[u8]> = VecDeque::new();
        let (mut searched, mut asked) = (0, 0);
        for (index, line) in Lines(text).enumerate() {
            searched += line.len() + 1;
            if searched - asked > STEP {
                asked = searched;
                watch.ask(searched, text.len())?;
            }
            self.close(line);
            if line.len() > LONG_LINE {
                self.long_line(index + 1, line, watch)?;
            } else if self.regex.is_match(line) {
                self.line(index + 1, line, &before);
            }
            if self.context > 0 {
                before.push_back(line);
                if before.len() > self.context {
                    before.pop_front();
                }
            }
        }
        Ok(self)
    }

    /// Gives a line to the matches that it comes behind.
    fn close(&mut self, line: &[u8]) {
        for (index, left) in &mut self.open {
            if let Some(Value::Array(after)) = self.matches[*index].get_mut("after") {
                after.push(shown(line));
            }
            *left -= 1;
        }
        self.open.retain(|(_, left)| *left > 0);
    }

    fn is_wanted(&mut self) -> bool {
        self.total += 1;
        self.total > self.part.offset
            && (self.matches.len() as u64) < self.part.limit
            && self.room > 0
    }

    fn line(&mut self, number: usize, line: &[u8], before: &VecDeque<&[u8]>) {
        if !self.is_wanted() {
            return;
        }
        let mut found = json!({"line": number, "text": shown(line)});
        if self.context > 0 {
            found["before"] = before.iter().map(|line| shown(line)).collect();
            found["after"] = json!([]);
            self.open.push_back((self.matches.len(), self.context));
        }
        self.room = self.room.saturating_sub(found.to_string().len() as u64);
        self.matches.push(found);
    }

    /// Each match with what stands around it; matches near each other are shown together. A match is
    /// looked for in a part of the line at a time, so that no pattern takes long.
    fn long_line(
        &mut self,
        number: usize,
        line: &[u8],
        watch: &Watch<'_>,
    ) -> Result<(), ToolError> {
        let (mut part, mut shown_to) = (0, 0);
        let regex = self.regex.clone();
        while part < line.len() {
            watch.ask(part, line.len())?;
            let end = (part + SEARCHED_PART).min(line.len());
            // What begins near the end of a part is found in the next one.
            let next = if end == line.len() { end } else { end - SEARCHED_PART / 8 };
            let mut at = part;
            // From the line's own start, so that `^` is there alone.
            while let Some(found) = regex.find_at(&line[..end], at) {
                let from = found.start();
                if from >= next && end < line.len() {
                    break;
                }
                // What reaches to the end of a part may go on behind it, or not end there.
                let is_cut = found.end() == end && end < line.len();
                let whole = if is_cut { regex.find_at(line, from) } else { Some(found) };
                let Some(to) = whole.filter(|it| it.start() == from).map(|it| it.end()) else {
                    at = from + 1;
                    continue;
                };
                at = to.max(from + 1);
                self.occurrences += 1;
                if self.occurrences.is_multiple_of(ASKED_EVERY) {
                    watch.ask(from, line.len())?;
                }
                if from < shown_to {
                    continue;
                }
                let start = boundary(line, from.saturating_sub(WINDOW));
                let stop = to.min(from + LONG_LINE) + WINDOW;
                shown_to = boundary(line, stop.min(line.len()));
                if self.is_wanted() {
                    let text = String::from_utf8_lossy(&line[start..shown_to]);
                    self.room = self.room.saturating_sub(text.len() as u64);
                    self.matches.push(json!({"line": number, "column": start + 1, "text": text}));
                }
            }
            part = next.max(at.min(end));
        }
        Ok(())
    }
}

/// Whether a search is still wanted, and may still go on.
struct Watch<'a> {
    observer: &'a dyn Observer,
    until: Instant,
    limit: Duration,
}

impl Watch<'_> {
    fn ask(&self, done: usize, of: usize) -> Result<(), ToolError> {
        if self.observer.is_cancelled() {
            return Err(QueryError::Cancelled.into());
        }
        if Instant::now() > self.until {
            return refuse!(
                "The search was stopped after {} s. Look for a text that is simpler: fewer `.*`, fewer \
                 alternatives.",
                self.limit.as_secs()
            );
        }
        #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
        self.observer.progress(done as f64 / of.max(1) as f64, "searching");
        Ok(())
    }
}

/// The next place that is not within a character.
fn boundary(line: &[u8], mut at: usize) -> usize {
    while line.get(at).is_some_and(|byte| byte & 0xC0 == 0x80) {
        at += 1;
    }
    at
}

fn shown(line: &[u8]) -> Value {
    String::from_utf8_lossy(&line[..boundary(line, LONG_LINE.min(line.len()))]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_that_is_too_large_is_not_called_wrong() {
        for large in [r"\p{L}{900}z".to_owned(), "x".repeat(200_000)] {
            let said = compiled(&large).unwrap_err().to_string();
            assert!(said.contains("too large") && !said.contains("not a regular"), "{said}");
        }
        let wrong = compiled("(").unwrap_err().to_string();
        assert!(wrong.contains("is not a regular expression"), "{wrong}");
    }
}
