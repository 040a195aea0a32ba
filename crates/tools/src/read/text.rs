//! A payload as text: its lines and its bytes.

use std::io::Read;

use forebay_query::is_result;
use forebay_store::{Dataset, Mapped};
use memchr::{memchr, memchr_iter};
use serde_json::Value;

use super::{Range, Reading};
use crate::{
    Desk, ToolError, arguments::counted, budget::Budget, error::refuse, json, pages::Part,
};

/// What stands around the lines.
const FRAME_TOKENS: u64 = 120;

/// A payload that nobody removes while it is open.
pub(super) struct Text {
    payload: Mapped,
    _held: Box<dyn Read + Send>,
}

impl Text {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.payload
    }

    fn line_count(&self) -> u64 {
        let breaks = memchr_iter(b'\n', &self.payload).count() as u64;
        breaks + u64::from(!self.payload.is_empty() && !self.payload.ends_with(b"\n"))
    }

    /// The lines from a number on, counted from 0.
    fn lines_from(&self, first: u64) -> impl Iterator<Item = &[u8]> {
        let start = match first {
            0 => Some(0),
            before => {
                let index = usize::try_from(before - 1).unwrap_or(usize::MAX);
                memchr_iter(b'\n', &self.payload).nth(index).map(|at| at + 1)
            }
        };
        Lines(start.map_or(&[][..], |start| &self.payload[start..]))
    }
}

/// The lines of a text, without what ends them.
pub(super) struct Lines<'t>(pub(super) &'t [u8]);

impl<'t> Iterator for Lines<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let (line, rest) = match memchr(b'\n', self.0) {
            Some(at) => (&self.0[..at], &self.0[at + 1..]),
            None => (self.0, &[][..]),
        };
        self.0 = rest;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Opens a payload: the one that is asked for, or the one that the summary is about.
pub(super) fn open(
    desk: &Desk,
    dataset: &Dataset,
    block: Option<usize>,
) -> Result<Text, ToolError> {
    if is_result(dataset) {
        return refuse!(
            "{} is the result of a query, not a text: read it by pages, or query it.",
            dataset.id()
        );
    }
    let part = part_of(dataset, block)?;
    let held = dataset.open(part)?;
    let payload = desk.store()?.map(dataset, part)?;
    Ok(Text { payload, _held: held })
}

/// The place of a payload: the one that is asked for, or the one that the summary is about.
pub(crate) fn part_of(dataset: &Dataset, block: Option<usize>) -> Result<usize, ToolError> {
    let payloads = dataset.payload_count();
    let part = block.unwrap_or_else(|| dataset.main_part());
    if part >= payloads {
        return refuse!(
            "{} has {}, counted from 0: there is no block {part}.",
            dataset.id(),
            counted(payloads, "block")
        );
    }
    Ok(part)
}

/// A page of lines.
pub(super) fn page(text: &Text, part: Part, budget: Budget) -> Result<Reading, ToolError> {
    let total = text.line_count();
    part.check(total, "line")?;
    let limit = usize::try_from(part.limit).unwrap_or(usize::MAX);
    let fitted = fitted(text.lines_from(part.offset).take(limit), budget);
    let pagination = part.pagination(total, fitted.lines.len() as u64);
    let json = format!("{{\"results\":[{}],\"pagination\":{pagination}}}", fitted.lines.join(","));
    let next = part.offset + fitted.lines.len() as u64;
    let is_part = next < total.min(part.offset + part.limit);
    let rest = is_part.then(|| format!("offset {next}"));
    Ok(Reading { json, note: fitted.note(rest) })
}

/// A range of lines.
pub(super) fn lines(text: &Text, range: Range, budget: Budget) -> Result<Reading, ToolError> {
    let total = text.line_count();
    if range.from > total {
        return refuse!("That is past the end: there are {}.", counted(total, "line"));
    }
    let last = range.to.unwrap_or(total).min(total);
    let wanted = usize::try_from(last + 1 - range.from).unwrap_or(usize::MAX);
    let fitted = fitted(text.lines_from(range.from - 1).take(wanted), budget);
    let json = format!(
        "{{\"lines\":[{}],\"first\":{},\"total_lines\":{total}}}",
        fitted.lines.join(","),
        range.from
    );
    let next = range.from + fitted.lines.len() as u64;
    let rest = (next <= last).then(|| format!("lines \"{next}-{last}\""));
    Ok(Reading { json, note: fitted.note(rest) })
}

/// A range of bytes, as text.
pub(super) fn bytes(text: &Text, range: Range, budget: Budget) -> Result<Reading, ToolError> {
    let all = text.bytes();
    let total = all.len() as u64;
    let from = usize::try_from(range.from).unwrap_or(usize::MAX);
    if from >= all.len() {
        return refuse!("That is past the end: there are {}.", counted(total, "byte"));
    }
    let wanted = usize::try_from(range.to.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let wanted = &all[from..wanted.saturating_add(1).min(all.len())];
    let most = usize::try_from(budget.max_bytes()).unwrap_or(usize::MAX);
    let mut length = wanted.len().min(most);
    let budget = budget.without(FRAME_TOKENS);
    loop {
        let shown = &wanted[..length];
        let to = range.from + (length as u64).saturating_sub(1);
        let json = json::object([
            ("from", range.from.into()),
            ("to", to.into()),
            ("total_bytes", total.into()),
            ("text", String::from_utf8_lossy(shown).into()),
        ]);
        if length <= 1 || budget.holds(&json) {
            let is_part = length < wanted.len();
            let rest = || format!("There is more: go on with bytes \"{}-\".", to + 1);
            return Ok(Reading { json, note: is_part.then(rest) });
        }
        // Not within a character.
        length = (length * 3 / 4).max(1);
        while length > 1 && all.get(from + length).is_some_and(|byte| byte & 0xC0 == 0x80) {
            length -= 1;
        }
    }
}

/// Lines as JSON, as many as fit.
struct Fitted {
    lines: Vec<String>,
    /// The only line does not fit, and has been cut.
    is_cut: bool,
}

impl Fitted {
    /// How to get at what did not fit.
    fn note(&self, rest: Option<String>) -> Option<String> {
        let cut =
            "The line is too long for this reply and has been cut: bytes or grep reads within it.";
        match (self.is_cut, rest) {
            (false, None) => None,
            (false, Some(next)) => Some(format!("No more fit in this reply: go on with {next}.")),
            (true, None) => Some(cut.to_owned()),
            (true, Some(next)) => Some(format!("{cut} Go on with {next}.")),
        }
    }
}

fn fitted<'t>(lines: impl Iterator<Item = &'t [u8]>, budget: Budget) -> Fitted {
    let budget = budget.without(FRAME_TOKENS);
    let most = budget.max_bytes();
    let mut bytes = 0;
    let mut candidates = Vec::new();
    let mut first = None;
    for line in lines {
        first = first.or(Some(line));
        bytes += line.len() as u64;
        if bytes > most {
            break;
        }
        candidates.push(Value::from(String::from_utf8_lossy(line)).to_string());
    }
    let fitting = budget.fitting(candidates.iter().map(String::as_str));
    candidates.truncate(fitting);
    if fitting > 0 {
        return Fitted { lines: candidates, is_cut: false };
    }
    // Not even the first one fits.
    match first.map(String::from_utf8_lossy) {
        Some(line) => Fitted { lines: vec![cut(&line, budget)], is_cut: true },
        None => Fitted { lines: Vec::new(), is_cut: false },
    }
}

/// The beginning of a line, as JSON, and how much is left out.
pub(super) fn cut(line: &str, budget: Budget) -> String {
    let mut length = usize::try_from(budget.max_bytes()).unwrap_or(usize::MAX).min(line.len());
    loop {
        length = length * 3 / 4;
        let kept: String = line.chars().take(length).collect();
        let more = line.chars().count() - kept.chars().count();
        let json = Value::from(format!("{kept}… ({more} characters more)")).to_string();
        if length == 0 || budget.fitting(std::iter::once(json.as_str())) == 1 {
            return json;
        }
    }
}
