//! Which column a name stands for, or which member of one.

use forebay_query::{Column, plain, quoted};

use crate::{ToolError, error::refuse, render::is_nested};

/// How many names are told where one is not found.
const SHOWN: usize = 60;

/// What is drawn of each row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Drawn {
    /// What it is called: a column, or a path such as `address.city`.
    pub(super) name: String,
    /// The same in SQL.
    pub(super) sql: String,
}

/// Finds what `name`, given for `role`, stands for. What is not there, and what no chart can draw, is
/// refused with what to write instead.
pub(super) fn drawn(columns: &[Column], role: &str, name: &str) -> Result<Drawn, ToolError> {
    let (column, path) = find(columns, name)?;
    let mut found = Drawn { name: column.name.clone(), sql: quoted(&column.name) };
    let mut kind = column.kind.clone();
    for wanted in path.into_iter().flat_map(|path| path.split('.')) {
        let members = members(&kind).unwrap_or_default();
        let member = members.into_iter().find(|(member, _)| member.eq_ignore_ascii_case(wanted));
        let Some((member, member_kind)) = member else {
            return refuse!(
                "{} has no member {wanted}.{}",
                found.name,
                instead(role, &found, &kind)
            );
        };
        found.name = format!("{}.{member}", found.name);
        found.sql = format!("{}.{}", found.sql, quoted(&member));
        kind = member_kind;
    }
    // What is JSON may be texts and numbers: that shows when it is read.
    let is_nested = is_nested(&Column { name: String::new(), kind: kind.clone() });
    if is_nested && kind != "JSON" {
        return refuse!("{}", cannot_be_drawn(role, &found, &kind));
    }
    Ok(found)
}

/// Says that there are lists or objects in a column of JSON.
pub(super) fn json_is_nested(role: &str, name: &str) -> ToolError {
    let sql = quoted(name);
    ToolError::Refused(format!(
        "{name} holds JSON objects or lists, which `{role}` cannot be: take a value out of them in a \
         query, such as SELECT {sql}->>'$.member' AS member FROM …."
    ))
}

/// The column, and the path behind it if it is no column on its own.
fn find<'c, 'n>(
    columns: &'c [Column],
    name: &'n str,
) -> Result<(&'c Column, Option<&'n str>), ToolError> {
    let column = |name: &str| columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
    if let Some(found) = column(name) {
        return Ok((found, None));
    }
    let parted = name.match_indices('.').rev().find_map(|(dot, _)| {
        let found = column(&name[..dot]).filter(|column| members(&column.kind).is_some())?;
        Some((found, Some(&name[dot + 1..])))
    });
    if let Some(found) = parted {
        return Ok(found);
    }
    let names = || columns.iter().map(|column| column.name.as_str());
    let meant = forebay_query::nearest(name, names());
    let meant = meant.map(|it| format!(" Did you mean {}?", plain(it)));
    let known: Vec<String> = names().take(SHOWN).map(plain).collect();
    refuse!(
        "There is no column {}.{} The columns are {}.",
        plain(name),
        meant.unwrap_or_default(),
        known.join(", ")
    )
}

fn cannot_be_drawn(role: &str, found: &Drawn, kind: &str) -> String {
    let Drawn { name, sql } = found;
    if kind.ends_with(']') {
        return format!(
            "{name} holds lists, which `{role}` cannot be: make a row of each item in a query, such as \
             SELECT unnest({sql}) AS item FROM …."
        );
    }
    if members(kind).is_some() {
        return format!(
            "{name} holds objects, which `{role}` cannot be.{}",
            instead(role, found, kind)
        );
    }
    format!(
        "{name} holds maps, which `{role}` cannot be: take the value of a key in a query, such as \
         SELECT {sql}['key'] AS value FROM …."
    )
}

/// Says which member to write.
fn instead(role: &str, found: &Drawn, kind: &str) -> String {
    let members = members(kind).unwrap_or_default();
    let Some(first) = first_value(kind) else { return String::new() };
    let names: Vec<&str> = members.iter().take(SHOWN).map(|(name, _)| name.as_str()).collect();
    format!(" Its members are {}: write {role}: {}.{first}, for one.", names.join(", "), found.name)
}

/// The path of the first member that can be drawn.
fn first_value(kind: &str) -> Option<String> {
    let members = members(kind)?;
    let is_value = |kind: &str| !is_nested(&Column { name: String::new(), kind: kind.to_owned() });
    members.iter().find(|(_, kind)| is_value(kind)).map(|(name, _)| name.clone()).or_else(|| {
        members
            .iter()
            .find_map(|(name, kind)| Some(format!("{name}.{}", first_value(kind)?)))
            .or_else(|| Some(members.first()?.0.clone()))
    })
}

/// The members of a type of objects, with their types, as DuckDB writes it.
fn members(kind: &str) -> Option<Vec<(String, String)>> {
    let inside = kind.strip_prefix("STRUCT(")?.strip_suffix(')')?;
    let mut parts = vec![String::new()];
    let (mut depth, mut is_quoted) = (0_u32, false);
    for letter in inside.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        match parts.last_mut() {
            Some(_) if letter == ',' && depth == 0 && !is_quoted => parts.push(String::new()),
            Some(part) => part.push(letter),
            None => {}
        }
    }
    parts.iter().map(|part| member(part.trim())).collect()
}

/// A name, which may stand in quotes, and what follows it.
fn member(text: &str) -> Option<(String, String)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (name, kind) = text.split_once(' ')?;
        return Some((name.to_owned(), kind.to_owned()));
    };
    // A quote within is written twice.
    let mut end = 0;
    loop {
        end += quoted[end..].find('"')?;
        if !quoted[end + 1..].starts_with('"') {
            break;
        }
        end += 2;
    }
    Some((quoted[..end].replace("\"\"", "\""), quoted[end + 1..].trim_start().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NESTED: &str = "STRUCT(city VARCHAR, \"a, \"\"b\" DECIMAL(18,3), at STRUCT(lat DOUBLE), \
                          ids BIGINT[])";

    fn columns() -> Vec<Column> {
        let column = |name: &str, kind: &str| Column { name: name.into(), kind: kind.into() };
        vec![
            column("amount", "DOUBLE"),
            column("place", NESTED),
            column("tags", "VARCHAR[]"),
            column("rates", "MAP(VARCHAR, DOUBLE)"),
            column("a.b", "BIGINT"),
            column("deep", "STRUCT(inner STRUCT(\"value\" BIGINT))"),
        ]
    }

    fn refusal(name: &str) -> String {
        drawn(&columns(), "x", name).unwrap_err().told()
    }

    #[test]
    fn a_path_leads_to_a_member() {
        let sql = |name: &str| drawn(&columns(), "x", name).unwrap().sql;
        assert_eq!(sql("Amount"), r#""amount""#);
        assert_eq!(sql("a.b"), r#""a.b""#);
        assert_eq!(sql("place.CITY"), r#""place"."city""#);
        assert_eq!(sql("place.at.lat"), r#""place"."at"."lat""#);
        assert_eq!(sql("place.a, \"b"), r#""place"."a, ""b""#);
        assert_eq!(drawn(&columns(), "x", "place.CITY").unwrap().name, "place.city");
    }

    #[test]
    fn what_is_no_value_is_refused_with_what_to_write() {
        assert_eq!(
            refusal("place"),
            "place holds objects, which `x` cannot be. Its members are city, a, \"b, at, ids: write \
             x: place.city, for one."
        );
        assert!(refusal("deep").ends_with("write x: deep.inner.value, for one."));
        assert!(refusal("place.town").starts_with("place has no member town. Its members are"));
        assert!(refusal("place.ids").contains(r#"SELECT unnest("place"."ids") AS item"#));
        assert!(refusal("tags").contains("tags holds lists, which `x` cannot be"));
        assert!(refusal("rates").contains(r#"SELECT "rates"['key']"#));
    }

    #[test]
    fn an_unknown_column_is_told_with_those_that_there_are() {
        let error = refusal("amonut");
        assert!(error.contains("Did you mean amount?"), "{error}");
    }
}
