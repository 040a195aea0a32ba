//! How the values of a column are written, whatever lies in them.
//!
//! Objects are written with the names that SQL has for their members, each once; times in one way;
//! everything else as it stands in the payload.

use std::collections::{HashMap, HashSet};

use forebay_store::facts::{Field, Kind, Type};
use forebay_text::Time;
use forebay_wire::walk;
use memchr::{memchr, memmem};

use crate::{
    strings::{quoted, text_of},
    table::{Raw, is_marker},
};

/// A column, or what lies in one.
pub(super) enum Column {
    Text,
    /// Times in UTC.
    Timestamp,
    /// Times as they are written, without the offset.
    LocalTime,
    Date,
    /// Numbers and booleans.
    Plain,
    Struct(Members),
    List(Box<Column>),
    /// Objects whose keys are data, with the column of their values.
    Map(Box<Column>),
    Json,
}

/// The members of objects.
pub(super) struct Members {
    by_name: HashMap<Vec<u8>, usize>,
    list: Vec<Member>,
    /// How many objects have been written.
    objects: u64,
}

struct Member {
    /// Its name in SQL, with the colon behind it.
    lead: Vec<u8>,
    column: Column,
    /// The same for times as they are written, if they have a column of their own.
    local_lead: Option<Vec<u8>>,
    /// The object that has a value for it already: of two of the same name the first one counts.
    last_object: u64,
}

impl Column {
    /// The column of a field, by its facts.
    pub(super) fn of(facts: &Field) -> Self {
        let inside = |facts: &Option<Box<Field>>| {
            Box::new(facts.as_ref().map_or(Self::Json, |facts| Self::of(facts)))
        };
        match &facts.kind {
            Type::Known(Kind::String | Kind::Uuid | Kind::Url | Kind::Null) => Self::Text,
            Type::Known(Kind::Timestamp) => Self::Timestamp,
            Type::Known(Kind::Date) => Self::Date,
            Type::Known(Kind::Struct) => Self::Struct(Members::of(&facts.fields)),
            Type::Known(Kind::List) => Self::List(inside(&facts.items)),
            Type::Known(Kind::Map) => Self::Map(inside(&facts.values)),
            Type::Known(Kind::Integer | Kind::Float | Kind::Boolean) => Self::Plain,
            Type::Known(Kind::Json) | Type::Other(_) => Self::Json,
        }
    }

    /// Writes a value; in JSON with cells, strings stand for whatever they look like.
    pub(super) fn write(&mut self, row: &mut Vec<u8>, value: Raw<'_>, has_cells: bool) {
        match value {
            Raw::Json(json @ [b'"', ..]) if has_cells => self.cell(row, &text_of(json)),
            Raw::Json(json) => self.json(row, json, has_cells),
            Raw::Text(text) if matches!(self, Self::Timestamp) => timestamp(row, text),
            Raw::Text(text) if matches!(self, Self::LocalTime) => local_time(row, text),
            Raw::Text(text) => push_text(row, text),
            Raw::Cell(cell) => self.cell(row, cell),
        }
    }

    fn json(&mut self, row: &mut Vec<u8>, json: &[u8], has_cells: bool) {
        match (self, json.first()) {
            (Self::Timestamp, Some(b'"')) => timestamp(row, &text_of(json)),
            (Self::LocalTime, Some(b'"')) => local_time(row, &text_of(json)),
            (Self::Struct(members), Some(b'{')) => members.write(row, json, has_cells),
            // Among objects, an empty list is one that is empty, and the other way round.
            (Self::Struct(_) | Self::Map(_), Some(b'[')) if is_empty(json) => row.extend(b"{}"),
            (Self::List(_), Some(b'{')) if is_empty(json) => row.extend(b"[]"),
            (Self::List(items), Some(b'[')) => {
                row.push(b'[');
                for element in walk::elements(json).into_iter().flatten() {
                    items.write(row, Raw::Json(element), has_cells);
                    row.push(b',');
                }
                close(row, b']');
            }
            (Self::Map(values), Some(b'{')) => {
                let mut seen = HashSet::new();
                row.push(b'{');
                for (key, value) in walk::members(json).into_iter().flatten() {
                    let key = text_of(quoted(json, key));
                    if seen.insert(key.clone()) {
                        push_text(row, &key);
                        row.push(b':');
                        values.write(row, Raw::Json(value), has_cells);
                        row.push(b',');
                    }
                }
                close(row, b'}');
            }
            _ => as_it_stands(row, json),
        }
    }

    fn cell(&self, row: &mut Vec<u8>, cell: &[u8]) {
        let trimmed = cell.trim_ascii();
        match self {
            _ if cell.is_empty() => row.extend(b"null"),
            Self::Text | Self::Json => push_text(row, cell),
            _ if is_marker(cell) => row.extend(b"null"),
            Self::Timestamp => timestamp(row, trimmed),
            Self::LocalTime => local_time(row, trimmed),
            _ => push_text(row, trimmed),
        }
    }
}

impl Members {
    /// Members by their facts, each with the name that it has in SQL.
    fn of(fields: &[Field]) -> Self {
        let lead = |name: &str| {
            let mut lead = Vec::new();
            push_text(&mut lead, name.as_bytes());
            lead.push(b':');
            lead
        };
        let member = |field: &Field| Member {
            lead: lead(field.column()),
            column: Column::of(field),
            local_lead: field.local_column.as_deref().map(lead),
            last_object: 0,
        };
        Self { by_name: places(fields), list: fields.iter().map(member).collect(), objects: 0 }
    }

    /// The columns of a table, each called by its place; those of local times come after all others.
    pub(super) fn by_place(fields: &[Field]) -> Self {
        let mut members = Self::of(fields);
        let leads = members.list.iter_mut().map(|member| &mut member.lead);
        let mut place = 0;
        let mut name = |lead: &mut Vec<u8>| {
            *lead = format!("\"{place}\":").into_bytes();
            place += 1;
        };
        leads.for_each(&mut name);
        members.list.iter_mut().filter_map(|member| member.local_lead.as_mut()).for_each(name);
        members
    }

    /// Begins an object whose members are told one by one.
    pub(super) fn begin(&mut self) {
        self.objects += 1;
    }

    /// Writes a member of the object that has begun, and a comma, if it is one and has no value yet.
    pub(super) fn member(&mut self, row: &mut Vec<u8>, name: &[u8], value: Raw<'_>, cells: bool) {
        let Some(index) = self.by_name.get(name) else { return };
        let member = &mut self.list[*index];
        if member.last_object == self.objects {
            return;
        }
        member.last_object = self.objects;
        row.extend_from_slice(&member.lead);
        member.column.write(row, value, cells);
        row.push(b',');
        if let Some(lead) = &member.local_lead {
            row.extend_from_slice(lead);
            Column::LocalTime.write(row, value, cells);
            row.push(b',');
        }
    }

    fn write(&mut self, row: &mut Vec<u8>, json: &[u8], has_cells: bool) {
        self.begin();
        row.push(b'{');
        for (key, value) in walk::members(json).into_iter().flatten() {
            self.member(row, &text_of(quoted(json, key)), Raw::Json(value), has_cells);
        }
        close(row, b'}');
    }
}

/// Where each field is, by what the data call it.
fn places(fields: &[Field]) -> HashMap<Vec<u8>, usize> {
    let mut places = HashMap::new();
    for (index, field) in fields.iter().enumerate() {
        // One that comes from elsewhere is told by a name of its own.
        let name = match &field.carried {
            Some(carried) => format!("\0{carried}"),
            None => field.name().to_owned(),
        };
        places.entry(name.into_bytes()).or_insert(index);
    }
    places
}

/// True if nothing is in a list or an object.
fn is_empty(json: &[u8]) -> bool {
    json.len() > 1 && json[1..json.len() - 1].trim_ascii().is_empty()
}

/// Ends a list or an object, in place of the comma behind its last part.
pub(super) fn close(row: &mut Vec<u8>, end: u8) {
    if row.last() == Some(&b',') {
        row.pop();
    }
    row.push(end);
}

/// Writes a text as a JSON string.
pub(super) fn push_text(row: &mut Vec<u8>, text: &[u8]) {
    let written = serde_json::to_writer(&mut *row, &String::from_utf8_lossy(text));
    debug_assert!(written.is_ok(), "a text in memory can be written");
}

/// Writes JSON without the white space between its values, so that equal texts are equal values.
fn as_it_stands(row: &mut Vec<u8>, json: &[u8]) {
    let start = row.len();
    let mut rest = json;
    while let Some(at) = memchr(b'"', rest) {
        let (between, text) = rest.split_at(at);
        let after = walk::text(text).map_or(&[][..], |(_, _, after)| after);
        row.extend(between.iter().filter(|byte| !byte.is_ascii_whitespace()));
        row.extend_from_slice(&text[..text.len() - after.len()]);
        rest = after;
    }
    row.extend(rest.iter().filter(|byte| !byte.is_ascii_whitespace()));
    mend_surrogates(&mut row[start..]);
}

/// A time in UTC, in the one form that what reads these lines knows for certain.
fn timestamp(row: &mut Vec<u8>, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let utc = Time::read(&text).and_then(|time| time.utc());
    push_text(row, utc.as_deref().unwrap_or(&text).as_bytes());
}

/// What a clock showed, wherever it stood.
fn local_time(row: &mut Vec<u8>, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let local = Time::read(&text).map(|time| time.local());
    push_text(row, local.as_deref().unwrap_or(&text).as_bytes());
}

/// Half a surrogate pair is allowed in JSON, but no text can hold it: what reads these lines would
/// refuse them all.
fn mend_surrogates(json: &mut [u8]) {
    let unit = |json: &[u8], at: usize| -> Option<u16> {
        let escape = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(str::from_utf8(escape).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = memmem::find(&json[at..], b"\\u") {
        at += found;
        let backslashes = json[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        match unit(json, at) {
            // The backslash is itself escaped: this is text.
            _ if backslashes % 2 == 1 => at += 2,
            Some(0xD800..=0xDBFF) if matches!(unit(json, at + 6), Some(0xDC00..=0xDFFF)) => {
                at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                json[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
            _ => at += 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_is_mended() {
        for (json, mended) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d!""#, r#""\ufffd!""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
        ] {
            let mut text = json.as_bytes().to_vec();
            mend_surrogates(&mut text);
            assert_eq!(String::from_utf8(text).unwrap(), mended);
        }
    }
}
