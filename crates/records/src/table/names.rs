//! What fields are called in SQL.

use std::collections::{HashMap, HashSet};

use forebay_text::is_deceptive;

use super::Field;

/// What stands before a name that is not a record's own: the key of a map, or a field of what the
/// records lie in. It gets its name at the end, when all others are known.
pub(crate) const FOREIGN: u8 = 0;
/// The field that holds the keys of a map.
pub(crate) const KEY: &[u8] = b"\0key";

/// Columns that queries add themselves.
const RESERVED: [&str; 6] =
    ["__at", "file_row_number", "_dataset", "_captured_at", "_arguments", "_parent"];

/// Gives the fields of a table or an object names that SQL can tell apart, and those their names that
/// are not the records' own: what they are called where they come from, if that is free.
pub(super) fn settle(fields: &mut [Field]) {
    let own: HashSet<String> = fields.iter().map(|field| field.name.to_lowercase()).collect();
    for field in fields.iter_mut() {
        let Some(given) = field.name.strip_prefix(char::from(FOREIGN)).map(str::to_owned) else {
            continue;
        };
        let is_taken = own.contains(&given.to_lowercase());
        field.name = match given.as_str() {
            "key" if is_taken => "_key".to_owned(),
            name if is_taken => format!("parent_{name}"),
            name => name.to_owned(),
        };
        field.carried = Some(given);
    }
    let columns = unique(fields.iter().map(|field| field.name.as_str()));
    let locals = fields.iter().zip(&columns).filter(|(field, _)| field.has_offset);
    let locals: Vec<String> = locals.map(|(_, column)| format!("{column}_local")).collect();
    let all = unique(columns.iter().chain(&locals).map(String::as_str));
    let mut locals = all[columns.len()..].iter().cloned();
    for (field, column) in fields.iter_mut().zip(columns) {
        field.column = column;
        field.local = if field.has_offset { locals.next() } else { None };
    }
}

/// Names that SQL can tell apart, whatever the fields are called: it does not heed capitals. Of names
/// that differ by these alone, none is given to one of them: a query that means another would get it.
pub(super) fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let given: Vec<&str> = names.collect();
    let mut spellings: HashMap<String, &str> = HashMap::new();
    let mut ambiguous: HashSet<String> = HashSet::new();
    for name in &given {
        if spellings.insert(name.to_lowercase(), name).is_some_and(|known| known != *name) {
            ambiguous.insert(name.to_lowercase());
        }
    }
    let mut taken: HashSet<String> = RESERVED.iter().map(|name| (*name).to_owned()).collect();
    let mut unique = Vec::new();
    for (index, given) in given.into_iter().enumerate() {
        let is_ambiguous = ambiguous.contains(&given.to_lowercase());
        let given = writable(given);
        let given = if given.is_empty() { format!("column_{}", index + 1) } else { given };
        let mut name = if is_ambiguous { format!("{given}_1") } else { given.clone() };
        let mut number = 2;
        while !taken.insert(name.to_lowercase()) {
            name = format!("{given}_{number}");
            number += 1;
        }
        unique.push(name);
    }
    unique
}

/// A name without what cannot be written in a query, or be told from it by looking.
fn writable(name: &str) -> String {
    let is_blank = |character: char| character.is_whitespace() && character != ' ';
    let is_odd = |character| is_deceptive(character) || is_blank(character);
    let shown = name.chars().filter(|character| *character != '\0');
    shown.map(|character| if is_odd(character) { '_' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_as_sql_does() {
        let names = ["id", "ID", "", "id_2", "Id", "column_3", "__at"];
        let unique = unique(names.into_iter());
        assert_eq!(unique, ["id_1", "ID_2", "column_3", "id_2_2", "Id_3", "column_3_2", "__at_2"]);
    }
}
