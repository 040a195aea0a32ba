//! TOON: rows without nested values as a table, others as a list of objects.

use forebay_query::Column;
use forebay_wire::walk::{self, Type};

use super::cell;

/// What stands above the rows.
pub(super) fn head<'n>(
    names: impl Iterator<Item = &'n str>,
    rows: usize,
    is_nested: bool,
) -> String {
    if is_nested || rows == 0 {
        return format!("[{rows}]:");
    }
    let names: Vec<String> = names.map(cell::toon_name).collect();
    format!("[{rows}]{{{}}}:", names.join(","))
}

/// A row with nested values.
pub(super) fn item(columns: &[Column], cells: &[&str]) -> String {
    let mut lines = Vec::new();
    for (column, json) in columns.iter().zip(cells) {
        member(&mut lines, 0, &cell::toon_name(&column.name), json.as_bytes());
    }
    under_a_dash(&lines, 2).join("\n")
}

fn member(lines: &mut Vec<String>, depth: usize, name: &str, json: &[u8]) {
    let blank = "  ".repeat(depth);
    match walk::type_of(json) {
        Some(Type::Array) => array(lines, depth, name, json),
        Some(Type::Object) => {
            lines.push(format!("{blank}{name}:"));
            members(lines, depth + 1, json);
        }
        _ => lines.push(format!("{blank}{name}: {}", simple(json))),
    }
}

fn members(lines: &mut Vec<String>, depth: usize, object: &[u8]) {
    for (name, value) in walk::members(object).into_iter().flatten() {
        let quoted = [b"\"", name, b"\""].concat();
        let name: String = serde_json::from_slice(&quoted).unwrap_or_default();
        member(lines, depth, &cell::toon_name(&name), value);
    }
}

fn array(lines: &mut Vec<String>, depth: usize, name: &str, json: &[u8]) {
    let blank = "  ".repeat(depth);
    let list: Vec<&[u8]> = walk::elements(json).into_iter().flatten().collect();
    let count = list.len();
    let is_nested = |json: &&[u8]| matches!(walk::type_of(json), Some(Type::Array | Type::Object));
    if list.is_empty() {
        lines.push(format!("{blank}{name}[0]:"));
        return;
    }
    if !list.iter().any(is_nested) {
        let cells: Vec<String> = list.into_iter().map(simple).collect();
        lines.push(format!("{blank}{name}[{count}]: {}", cells.join(",")));
        return;
    }
    lines.push(format!("{blank}{name}[{count}]:"));
    for value in list {
        let mut inner = Vec::new();
        match walk::type_of(value) {
            Some(Type::Object) => members(&mut inner, 0, value),
            Some(Type::Array) => {
                array(&mut inner, 0, "", value);
                // Its items stand one step below the dash, not below the list's own sign.
                for line in inner.iter_mut().skip(1) {
                    line.drain(..2);
                }
            }
            _ => inner.push(simple(value)),
        }
        if inner.is_empty() {
            inner.push(String::new());
        }
        lines.extend(under_a_dash(&inner, 2 * (depth + 1)));
    }
}

fn simple(json: &[u8]) -> String {
    cell::toon(str::from_utf8(json).unwrap_or("null"))
}

/// Lines as an item of a list.
fn under_a_dash(lines: &[String], blanks: usize) -> Vec<String> {
    let blank = " ".repeat(blanks);
    let mark = |index: usize| if index == 0 { "- " } else { "  " };
    let marked =
        lines.iter().enumerate().map(|(index, line)| format!("{blank}{}{line}", mark(index)));
    marked.map(|line| line.trim_end().to_owned()).collect()
}
