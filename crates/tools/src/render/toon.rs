//! TOON: rows without nested values as a table, others as a list of objects.

use forebay_query::Column;
use serde_json::Value;

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
        let value = serde_json::from_str(json).unwrap_or_default();
        member(&mut lines, 0, &cell::toon_name(&column.name), &value);
    }
    under_a_dash(&lines, 2).join("\n")
}

fn member(lines: &mut Vec<String>, depth: usize, name: &str, value: &Value) {
    let blank = "  ".repeat(depth);
    match value {
        Value::Array(list) => array(lines, depth, name, list),
        Value::Object(members) => {
            lines.push(format!("{blank}{name}:"));
            for (name, value) in members {
                member(lines, depth + 1, &cell::toon_name(name), value);
            }
        }
        simple => lines.push(format!("{blank}{name}: {}", cell::toon(&simple.to_string()))),
    }
}

fn array(lines: &mut Vec<String>, depth: usize, name: &str, list: &[Value]) {
    let blank = "  ".repeat(depth);
    let count = list.len();
    if list.is_empty() {
        lines.push(format!("{blank}{name}[0]:"));
        return;
    }
    if list.iter().all(|value| !value.is_array() && !value.is_object()) {
        let cells: Vec<String> = list.iter().map(|one| cell::toon(&one.to_string())).collect();
        lines.push(format!("{blank}{name}[{count}]: {}", cells.join(",")));
        return;
    }
    lines.push(format!("{blank}{name}[{count}]:"));
    for value in list {
        let mut inner = Vec::new();
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (name, value) in members {
                    member(&mut inner, 0, &cell::toon_name(name), value);
                }
            }
            Value::Object(_) => inner.push(String::new()),
            Value::Array(list) => array(&mut inner, 0, "", list),
            simple => inner.push(cell::toon(&simple.to_string())),
        }
        lines.extend(under_a_dash(&inner, 2 * (depth + 1)));
    }
}

/// Lines as an item of a list.
fn under_a_dash(lines: &[String], blanks: usize) -> Vec<String> {
    let blank = " ".repeat(blanks);
    let mark = |index: usize| if index == 0 { "- " } else { "  " };
    let marked =
        lines.iter().enumerate().map(|(index, line)| format!("{blank}{}{line}", mark(index)));
    marked.map(|line| line.trim_end().to_owned()).collect()
}
