//! What was read, for people. It comes as the JSON that a model gets.

use std::{fmt, io::Write};

use anyhow::Result;
use forebay_tools::{Page, Part};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    cli::{
        figures::grouped,
        screen::{Screen, Style},
        sheet::Sheet,
        table::harmless,
    },
    observe,
};

#[derive(Deserialize)]
struct Listed<'r> {
    #[serde(borrow)]
    results: Vec<&'r RawValue>,
    pagination: Pagination,
}

#[derive(Deserialize)]
struct Pagination {
    total_count: u64,
}

/// A page of records, or of the lines of a text.
pub(super) fn page(json: &str, page: &Page, screen: &mut Screen) -> Result<()> {
    let Page { part, fields, .. } = page;
    let Listed { results, pagination } = serde_json::from_str(json)?;
    let (shown, total) = (results.len() as u64, pagination.total_count);
    let is_text = results.first().is_some_and(|first| first.get().starts_with('"'));
    if is_text {
        for line in results {
            print_line(&serde_json::from_str::<String>(line.get())?, screen)?;
        }
        if let Some(place) = place("lines", *part, shown, total) {
            // What goes to a file is the text alone.
            observe::say(&place);
        }
        return Ok(());
    }
    if results.is_empty() {
        writeln!(screen, "No records.")?;
        return Ok(());
    }
    let records: Vec<Record<'_>> = results
        .iter()
        .map(|record| serde_json::from_str(record.get()))
        .collect::<Result<_, _>>()?;
    print_records(&records, fields, part.offset + 1, screen)?;
    if let Some(place) = place("Records", *part, shown, total) {
        writeln!(screen, "\n{place}.")?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct SomeLines {
    lines: Vec<String>,
}

pub(super) fn lines(json: &str, screen: &mut Screen) -> Result<()> {
    let SomeLines { lines } = serde_json::from_str(json)?;
    lines.iter().try_for_each(|line| print_line(line, screen))
}

#[derive(Deserialize)]
struct SomeBytes {
    text: String,
}

pub(super) fn bytes(json: &str, screen: &mut Screen) -> Result<()> {
    let SomeBytes { text } = serde_json::from_str(json)?;
    if screen.is_terminal() {
        return text.lines().try_for_each(|line| print_line(line, screen));
    }
    Ok(write!(screen, "{text}")?)
}

#[derive(Deserialize)]
struct Encoded {
    base64: String,
}

/// Bytes of a file that is no text.
pub(super) fn base64(json: &str, screen: &mut Screen) -> Result<()> {
    let Encoded { base64 } = serde_json::from_str(json)?;
    Ok(writeln!(screen, "{base64}")?)
}

#[derive(Deserialize)]
struct Matches {
    matches: Vec<Match>,
    total_matches: u64,
}

#[derive(Deserialize)]
struct Match {
    line: u64,
    /// Where in a long line it is.
    column: Option<u64>,
    text: String,
    #[serde(default)]
    before: Vec<String>,
    #[serde(default)]
    after: Vec<String>,
}

/// Matches with the numbers of their lines, as `grep -n` writes them.
pub(super) fn matches(json: &str, part: Part, screen: &mut Screen) -> Result<()> {
    let Matches { matches, total_matches } = serde_json::from_str(json)?;
    if matches.is_empty() {
        observe::say("nothing matches; `(?i)` at the front makes capitals count as small letters");
        return Ok(());
    }
    let has_context = matches.iter().any(|it| !it.before.is_empty() || !it.after.is_empty());
    for (index, found) in matches.iter().enumerate() {
        if has_context && index > 0 {
            writeln!(screen, "{}", screen.styled(Style::Dim, "--"))?;
        }
        let first = found.line - found.before.len() as u64;
        for (number, line) in (first..).zip(&found.before) {
            print_numbered(&format!("{number}-"), line, screen)?;
        }
        let place = found.column.map(|column| format!("{column}:")).unwrap_or_default();
        print_numbered(&format!("{}:{place}", found.line), &found.text, screen)?;
        for (number, line) in (found.line + 1..).zip(&found.after) {
            print_numbered(&format!("{number}-"), line, screen)?;
        }
    }
    if let Some(place) = place("matches", part, matches.len() as u64, total_matches) {
        observe::say(&place);
    }
    Ok(())
}

fn print_numbered(number: &str, line: &str, screen: &mut Screen) -> Result<()> {
    let number = screen.styled(Style::Dim, number);
    write!(screen, "{number}")?;
    print_line(line, screen)
}

/// A line of a text: as it is, or with nothing that a terminal would take for more.
fn print_line(line: &str, screen: &mut Screen) -> Result<()> {
    if !screen.is_terminal() {
        return Ok(writeln!(screen, "{line}")?);
    }
    let pieces: Vec<String> = line.split('\t').map(harmless).collect();
    Ok(writeln!(screen, "{}", pieces.join("\t"))?)
}

/// Which part of the whole is shown, and how to go on, if it is not all of it.
fn place(what: &str, part: Part, shown: u64, total: u64) -> Option<String> {
    let Part { offset, limit } = part;
    if shown == total {
        return None;
    }
    let end = offset + shown;
    let place = if shown == 1 {
        format!("{what} {} of {}", grouped(end), grouped(total))
    } else {
        format!("{what} {} to {} of {}", grouped(offset + 1), grouped(end), grouped(total))
    };
    if end >= total {
        return Some(place);
    }
    let next = if offset.is_multiple_of(limit) {
        format!("--page {}", offset / limit + 2)
    } else {
        format!("--offset {end}")
    };
    Some(format!("{place}; `{next}` goes on"))
}

/// The members of an object, in their order.
struct Record<'r>(Vec<(String, &'r RawValue)>);

fn print_records(
    records: &[Record<'_>],
    fields: &[String],
    first: u64,
    screen: &mut Screen,
) -> Result<()> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in records.iter().flat_map(|Record(members)| members) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    // In the order in which they were asked for.
    names.sort_by_key(|name| fields.iter().position(|field| field.eq_ignore_ascii_case(name)));
    let mut sheet = Sheet::new(names.iter().copied(), first);
    for Record(members) in records {
        let value = |name: &&str| members.iter().find(|(it, _)| it == name).map(|(_, json)| *json);
        sheet.push(names.iter().map(value));
    }
    Ok(sheet.print(screen)?)
}

impl<'de: 'r, 'r> Deserialize<'de> for Record<'r> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Record<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Record(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_says_how_to_go_on() {
        let place = |offset, limit, shown, total| {
            place("Records", Part { offset, limit }, shown, total).unwrap_or_default()
        };
        assert_eq!(place(0, 20, 20, 5_000), "Records 1 to 20 of 5,000; `--page 2` goes on");
        assert_eq!(place(20, 20, 20, 45), "Records 21 to 40 of 45; `--page 3` goes on");
        assert_eq!(place(5, 20, 20, 45), "Records 6 to 25 of 45; `--offset 25` goes on");
        assert_eq!(place(40, 20, 5, 45), "Records 41 to 45 of 45");
        assert_eq!(place(44, 20, 1, 45), "Records 45 of 45");
        assert_eq!(place(0, 20, 7, 7), "");
    }
}
