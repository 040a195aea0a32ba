//! Rows as text that a model reads: as short as can be without losing anything, and within a budget.
//!
//! Rows come as JSON arrays, and cells stay as they are written in them: a number of any length is
//! the same number on the other side.

mod cell;
mod toon;

use forebay_query::{Column, Selected};
use forebay_wire::walk;
use serde_json::Value;

use crate::budget::Budget;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A header, then a line for each row, with commas between the cells.
    Csv,
    /// A list of objects.
    Json,
    /// A table.
    Markdown,
    /// Token-oriented object notation.
    Toon,
    /// A list of the columns' names, then a list for each row.
    Lists,
}

impl Format {
    /// Those that can be asked for.
    pub const NAMED: [(&'static str, Self); 4] = [
        ("csv", Self::Csv),
        ("json", Self::Json),
        ("markdown", Self::Markdown),
        ("toon", Self::Toon),
    ];

    /// The shortest form in which nothing is lost.
    pub(crate) fn shortest(columns: &[Column]) -> Self {
        if columns.iter().any(is_nested) { Self::Lists } else { Self::Csv }
    }
}

/// Rows as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    /// How many rows are in it.
    pub(crate) rows: usize,
    /// Whether cells have been cut, because not even one row fits.
    pub(crate) is_cut: bool,
}

/// True if a column holds lists or objects.
pub(crate) fn is_nested(column: &Column) -> bool {
    let kind = column.kind.as_str();
    kind.ends_with(']')
        || ["STRUCT", "MAP", "JSON", "UNION", "VARIANT"].iter().any(|it| kind.starts_with(it))
}

/// All rows.
pub(crate) fn all(format: Format, found: &Selected) -> String {
    let lines = found.rows.iter().map(|row| line(format, &found.columns, row));
    whole(format, &found.columns, &lines.collect::<Vec<_>>())
}

/// As many rows as fit.
pub(crate) fn within(budget: Budget, format: Format, found: &Selected) -> Rendered {
    let lines: Vec<String> =
        found.rows.iter().map(|row| line(format, &found.columns, row)).collect();
    let text = |rows: usize| whole(format, &found.columns, &lines[..rows]);
    let head = head(format, &found.columns, lines.len());
    let parts = std::iter::once(head.as_str()).chain(lines.iter().map(String::as_str));
    // The header is the first of them.
    let mut rows = budget.fitting(parts).saturating_sub(1);
    // Counted together, rows are a little less than one by one, or a little more.
    let mut step = rows / 4;
    while step > 0 {
        if rows + step <= lines.len() && budget.holds(&text(rows + step)) {
            rows += step;
        } else {
            step /= 2;
        }
    }
    while rows > 0 && !budget.holds(&text(rows)) {
        rows -= 1;
    }
    if rows == 0 && !lines.is_empty() {
        return cut(budget, format, found);
    }
    // There may be more columns than fit.
    let text = Some(text(rows)).filter(|text| rows > 0 || budget.holds(text));
    Rendered { text: text.unwrap_or_default(), rows, is_cut: false }
}

/// The first row, with its cells as long as fit.
fn cut(budget: Budget, format: Format, found: &Selected) -> Rendered {
    let mut longest = usize::try_from(budget.max_bytes()).unwrap_or(usize::MAX).min(1 << 16);
    let first = found.rows.first().map_or("[]", String::as_str);
    loop {
        longest /= 2;
        let row = line(format, &found.columns, &shortened(first, longest));
        let text = whole(format, &found.columns, &[row]);
        if longest == 0 || budget.holds(&text) {
            let is_shown = budget.holds(&text);
            let text = if is_shown { text } else { String::new() };
            return Rendered { text, rows: usize::from(is_shown), is_cut: is_shown };
        }
    }
}

/// A row whose cells have at most so many characters.
fn shortened(row: &str, longest: usize) -> String {
    let cells = walk::elements(row.as_bytes()).into_iter().flatten();
    let cells: Vec<String> = cells.map(|cell| shortened_value(cell, longest)).collect();
    format!("[{}]", cells.join(","))
}

/// A value that has at most so many characters, or a text that says how many are left out.
pub(crate) fn shortened_value(json: &[u8], longest: usize) -> String {
    let json = str::from_utf8(json).unwrap_or("null");
    if json.len() <= longest {
        return json.to_owned();
    }
    // A list or an object becomes the text of its beginning.
    let text = match serde_json::from_str(json) {
        Ok(Value::String(text)) => text,
        _ => json.to_owned(),
    };
    let kept: String = text.chars().take(longest).collect();
    match text.chars().count() - kept.chars().count() {
        0 => json.to_owned(),
        more => Value::from(format!("{kept}… ({more} characters more)")).to_string(),
    }
}

fn whole(format: Format, columns: &[Column], rows: &[String]) -> String {
    let head = head(format, columns, rows.len());
    let (between, end) = match format {
        Format::Json => (",", "]"),
        Format::Csv | Format::Markdown | Format::Toon | Format::Lists => ("\n", ""),
    };
    match (format, rows) {
        (Format::Json, _) | (_, []) => format!("{head}{}{end}", rows.join(between)),
        _ => format!("{head}\n{}{end}", rows.join(between)),
    }
}

fn head(format: Format, columns: &[Column], rows: usize) -> String {
    let names = || columns.iter().map(|column| column.name.as_str());
    let joined = |separator: &str, name: fn(&str) -> String| {
        names().map(name).collect::<Vec<_>>().join(separator)
    };
    match format {
        Format::Csv => joined(",", cell::csv_text),
        Format::Json => "[".to_owned(),
        Format::Markdown => {
            format!("| {} |\n|{}", joined(" | ", cell::markdown_text), "---|".repeat(columns.len()))
        }
        Format::Toon => toon::head(names(), rows, columns.iter().any(is_nested)),
        Format::Lists => names().collect::<Value>().to_string(),
    }
}

fn line(format: Format, columns: &[Column], row: &str) -> String {
    let cells: Vec<&str> = walk::elements(row.as_bytes())
        .into_iter()
        .flatten()
        .map(|cell| str::from_utf8(cell).unwrap_or("null"))
        .collect();
    let joined = |separator: &str, cell: fn(&str) -> String| {
        cells.iter().map(|json| cell(json)).collect::<Vec<_>>().join(separator)
    };
    match format {
        Format::Csv => joined(",", cell::csv),
        Format::Json => {
            let members = columns.iter().zip(&cells);
            let members: Vec<String> = members
                .map(|(column, cell)| format!("{}:{cell}", Value::from(column.name.as_str())))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Format::Markdown => format!("| {} |", joined(" | ", cell::markdown)),
        Format::Toon if columns.iter().any(is_nested) => toon::item(columns, &cells),
        Format::Toon => format!("  {}", joined(",", cell::toon)),
        Format::Lists => row.to_owned(),
    }
}

#[cfg(test)]
mod tests;
