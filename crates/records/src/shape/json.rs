//! Finds the records in a JSON document, wherever they lie, by looking and not by name.
//!
//! - a list of objects is a table; where each of them only wraps another one, that is the record
//! - so are an object whose many members are alike (its keys become a column), equally long lists
//!   side by side (each a column), and a list of lists under a header
//! - a list of values is a table of one column, unless there is something better
//! - an object that holds no table to speak of is a record itself
//!
//! Tables do not lie in each other: what is in a record belongs to it.

mod candidate;
mod flat;
mod unite;

use std::borrow::Cow;

use forebay_store::Mapped;
use forebay_wire::{
    syntax,
    walk::{self, Passed, Type},
};

use self::candidate::{Candidate, Form};
use super::{Contents, Counts};
use crate::{
    parallel,
    strings::{quoted, step, text_of, text_of_key},
    table::{Builder, KEY, Raw, Records, Rules, Table},
};

/// How deep records are looked for.
const MAX_DEPTH: usize = 8;
/// Smaller tables than these many largest are not described.
const MAX_TABLES: usize = 12;
/// A document is one record if its largest table is a smaller part of it than one in this many.
const MIN_SHARE: usize = 10;
/// Values beside the tables are told of up to this many, and up to this length each.
const MAX_ENVELOPE: usize = 40;
const MAX_ENVELOPE_BYTES: usize = 500;

/// What is found in a document before its records are read.
struct Found<'a> {
    /// Tables, the largest first.
    candidates: Vec<Candidate<'a>>,
    envelope: Vec<(String, String)>,
    counts: Counts,
}

/// A shorter document is checked sooner than a thread is started.
const MIN_CHECKED_ASIDE_BYTES: usize = 256 * 1024;

/// The tables of a document, and the values beside them; `None` if it is no JSON after all.
pub(super) fn contents(json: &[u8], rules: Rules, payload: &Mapped) -> Option<Contents> {
    let release = |rest: &[u8]| payload.release_before_slice(rest);
    let json = json.trim_ascii_start();
    let Found { candidates, envelope, counts } = find(json, Some(&release));
    let rest = unchecked(json, &candidates, rules);
    let (is_valid, tables) = parallel::both(
        json.len() >= MIN_CHECKED_ASIDE_BYTES,
        || {
            syntax::is_utf8_telling(json, Some(&release))
                && syntax::is_valid_telling(&rest, Some(&release))
        },
        || -> Option<Vec<Table>> {
            let tables = candidates.iter();
            tables.map(|candidate| table(candidate, rules, payload, Some(&release))).collect()
        },
    );
    let tables = tables?.into_iter().filter(|table| table.records > 0).collect();
    is_valid.then_some(Contents { tables, envelope, counts })
}

/// Hands the records of the table at `path` to `rows`; `None` if there is no such table, or more than one document.
pub(super) fn rows(
    json: &[u8],
    path: &str,
    payload: &Mapped,
    rows: &mut impl for<'r> Records<'r>,
) -> Option<()> {
    let release = |rest: &[u8]| payload.release_before_slice(rest);
    let json = json.trim_ascii_start();
    // Where several follow one another, another one may have been described.
    let (_, rest) = walk::value_telling(json, Some(&release))?;
    rest.trim_ascii_start().is_empty().then_some(())?;
    let found = find(json, Some(&release));
    let candidate =
        found.candidates.into_iter().find(|candidate| candidate.table_path() == path)?;
    match &candidate.form {
        Form::Objects => {
            walk::elements(candidate.json)?.for_each(|element| record(rows, element));
        }
        Form::Columns => columns_as_rows(candidate.json, rows),
        _ => tell(&candidate, Some(&release), rows),
    }
    Some(())
}

fn find<'a>(json: &'a [u8], passed: Passed<'a>) -> Found<'a> {
    let mut search =
        Search { passed, candidates: Vec::new(), envelope: Vec::new(), envelope_count: 0 };
    search.look(json, "$", 0);
    let Search { mut candidates, mut envelope, envelope_count, .. } = search;
    let has_records = candidates.iter().any(|candidate| candidate.form.has_records());
    // A short list of values beside records is one of the values around them.
    let largest = candidates.iter().map(Candidate::bytes).max().unwrap_or(0);
    let mut envelope_count = envelope_count;
    candidates.retain(|candidate| {
        let is_table =
            candidate.form.has_records() || !has_records || candidate.bytes() * MIN_SHARE > largest;
        if !is_table {
            envelope_count += 1;
            if envelope.len() < MAX_ENVELOPE {
                envelope.push((candidate.path.clone(), shortened(candidate.json)));
            }
        }
        is_table
    });
    // The values come last.
    candidates.sort_by_key(|candidate| {
        (!candidate.form.has_records(), std::cmp::Reverse(candidate.bytes()))
    });
    let left_out = candidates.len().saturating_sub(MAX_TABLES);
    candidates.truncate(MAX_TABLES);
    candidates = candidates.into_iter().flat_map(Candidate::unwrapped).collect();
    let mut counts = Counts { tables: candidates.len() + left_out, envelope: envelope_count };
    let share = if has_records { MIN_SHARE } else { 2 };
    if json.starts_with(b"{")
        && candidates.first().is_none_or(|first| first.bytes() * share < json.len())
    {
        candidates.insert(0, candidate::of_record(json));
        // The values beside the tables are fields of the record.
        envelope.clear();
        counts = Counts { tables: counts.tables + 1, envelope: 0 };
    }
    Found { candidates, envelope, counts }
}

/// The part of a document whose syntax is not checked while its records are read: all but its lists
/// of objects, in whose place there is a number.
fn unchecked<'a>(json: &'a [u8], candidates: &[Candidate<'_>], rules: Rules) -> Cow<'a, [u8]> {
    const MAX_REST_BYTES: usize = 16 * 1024 * 1024;
    let mut lists: Vec<&[u8]> =
        candidates.iter().filter(|c| c.form == Form::Objects).map(|c| c.json).collect();
    let checked: usize = lists.iter().map(|list| list.len()).sum();
    if checked == 0 || rules.sample_size > 0 || json.len() - checked > MAX_REST_BYTES {
        return Cow::Borrowed(json);
    }
    lists.sort_by_key(|list| list.as_ptr());
    let mut rest = Vec::with_capacity(json.len() - checked + lists.len());
    let mut at = 0;
    for list in lists {
        let start = list.as_ptr().addr() - json.as_ptr().addr();
        rest.extend_from_slice(&json[at..start]);
        rest.push(b'0');
        at = start + list.len();
    }
    rest.extend_from_slice(&json[at..]);
    Cow::Owned(rest)
}

struct Search<'a> {
    passed: Passed<'a>,
    candidates: Vec<Candidate<'a>>,
    envelope: Vec<(String, String)>,
    envelope_count: usize,
}

impl<'a> Search<'a> {
    fn look(&mut self, json: &'a [u8], path: &str, depth: usize) {
        match walk::type_of(json) {
            Some(Type::Array) => {
                let mut elements = walk::elements(json).into_iter().flatten();
                let first = elements.next();
                // A list of one is mostly a wrapper.
                if let (Some(only), None) = (first, elements.next())
                    && walk::type_of(only) == Some(Type::Object)
                    && depth < MAX_DEPTH
                {
                    let before = self.candidates.len();
                    let (beside, count) = (self.envelope.len(), self.envelope_count);
                    self.look(only, &format!("{path}[0]"), depth + 1);
                    if self.candidates[before..].iter().any(|found| found.form.has_records()) {
                        return;
                    }
                    self.candidates.truncate(before);
                    self.envelope.truncate(beside);
                    self.envelope_count = count;
                }
                match candidate::of_array(json, path) {
                    Some(candidate) => self.candidates.push(candidate),
                    None => self.note(path.to_owned(), json),
                }
            }
            Some(Type::Object) => match candidate::of_object(json, path, self.passed) {
                Some(candidate) => self.candidates.push(candidate),
                None if depth < MAX_DEPTH && walk::first_value(json).is_some() => {
                    self.look_into(json, path, depth);
                }
                None => self.note(path.to_owned(), json),
            },
            _ => {}
        }
    }

    /// Takes note of a value that is no table.
    fn note(&mut self, path: String, value: &[u8]) {
        self.envelope_count += 1;
        if self.envelope.len() < MAX_ENVELOPE {
            self.envelope.push((path, shortened(value)));
        }
    }

    fn look_into(&mut self, object: &'a [u8], path: &str, depth: usize) {
        let before = self.candidates.len();
        let mut members = Vec::new();
        for (key, value) in walk::members_telling(object, self.passed).into_iter().flatten() {
            let inner = step(path, key);
            if let Some(Type::Array | Type::Object) = walk::type_of(value) {
                self.look(value, &inner, depth + 1);
                members.push(unite::Member { key, path: inner, end: self.candidates.len() });
                continue;
            }
            self.note(inner, value);
        }
        unite::alike(&mut self.candidates, before, &members, path);
        let headers =
            candidate::name_columns(&mut self.candidates[before..], object, path, self.passed);
        self.candidates.retain(|candidate| !headers.contains(&candidate.path));
    }
}

/// Reads a table; `None` if its records are not JSON after all.
fn table<'a>(
    candidate: &Candidate<'a>,
    rules: Rules,
    payload: &'a Mapped,
    passed: Passed<'a>,
) -> Option<Table> {
    let mut builder = Builder::new(rules, payload);
    match &candidate.form {
        Form::Objects => {
            builder = objects(candidate.json, rules, builder, || Builder::new(rules, payload))?;
        }
        Form::Columns => builder.columns(columns(candidate.json)),
        _ => tell(candidate, passed, &mut builder),
    }
    let mut table =
        builder.finish(candidate.table_path(), candidate.form.name(), candidate.header.clone());
    table.without = candidate.without();
    Some(table)
}

/// Hands the records of a table on that has one after the other.
fn tell<'a>(candidate: &Candidate<'a>, passed: Passed<'a>, table: &mut impl Records<'a>) {
    let json = candidate.json;
    let elements = || walk::elements_telling(json, passed).into_iter().flatten();
    match &candidate.form {
        Form::Record => record(table, json),
        Form::Map => {
            for (key, value) in walk::members_telling(json, passed).into_iter().flatten() {
                // From the key on, so that a sample shows it.
                let start = key.as_ptr().addr() - json.as_ptr().addr() - 1;
                let end = value.as_ptr().addr() - json.as_ptr().addr() + value.len();
                if table.record(&json[start..end]) {
                    table.field(0, KEY, Raw::Text(&text_of_key(key)));
                    members(table, 1, value);
                }
            }
        }
        Form::Lists(lists) => {
            for (key, list) in lists {
                let key = text_of_key(key);
                for element in walk::elements_telling(list, passed).into_iter().flatten() {
                    if table.record(element) {
                        table.field(0, KEY, Raw::Text(&key));
                        members(table, 1, element);
                    }
                }
            }
        }
        Form::Elements(outer, way) => way.elements(|| flat::wrappers(json, *outer), table),
        Form::Rest(outer, way) => way.rest(flat::wrappers(json, *outer), table),
        Form::Rows { names, skip } => {
            for row in elements().skip(*skip) {
                if table.record(row) {
                    let cells = walk::elements(row).into_iter().flatten();
                    for (place, (name, cell)) in names.iter().zip(cells).enumerate() {
                        table.field(place, name, Raw::Json(cell));
                    }
                }
            }
        }
        Form::Values => {
            for value in elements() {
                if table.record(value) {
                    table.field(0, b"value", Raw::Json(value));
                }
            }
        }
        // These are read in ways of their own.
        Form::Objects | Form::Columns => {}
    }
}

/// The columns of an object of lists.
fn columns(json: &[u8]) -> impl Iterator<Item = (Cow<'_, [u8]>, Option<walk::Elements<'_>>)> {
    let members = walk::members(json).into_iter().flatten();
    members.map(|(key, list)| (text_of(quoted(json, key)), walk::elements(list)))
}

/// Goes through all columns at once.
fn columns_as_rows<'a>(json: &'a [u8], rows: &mut impl Records<'a>) {
    let mut columns: Vec<_> = columns(json).collect();
    loop {
        let mut is_begun = false;
        for (place, (name, values)) in columns.iter_mut().enumerate() {
            let Some(value) = values.as_mut().and_then(Iterator::next) else { continue };
            if !is_begun {
                // The record stands nowhere as such.
                rows.record(b"");
                is_begun = true;
            }
            rows.field(place, name, Raw::Json(value));
        }
        if !is_begun {
            return;
        }
    }
}

/// Goes through a list of objects, looking at each byte once, a long one with two threads; `None` if
/// it is not JSON to its end.
fn objects<'a>(
    list: &'a [u8],
    rules: Rules,
    mut table: Builder<'a>,
    another: impl Fn() -> Builder<'a> + Sync,
) -> Option<Builder<'a>> {
    /// Less is not worth it.
    const MIN_SPLIT_BYTES: usize = 512 * 1024;
    let may_split = list.len() >= MIN_SPLIT_BYTES && rules.sample_size == 0 && !rules.has_cells;
    let text = list.strip_prefix(b"[")?;
    if !may_split {
        objects_until(text, b"]", &mut table)?;
    } else if !objects_with_two_threads(list, &mut table, &another)? {
        table = another();
        objects_until(text, b"]", &mut table)?;
    }
    table.is_valid().then_some(table)
}

/// Goes through a list of objects, one half of a window and the other at once; `None` if it is not JSON
/// to its end. `false` if they have to be looked at one after the other: there are so many fields that
/// each half has described other ones, some of them of its own records alone.
fn objects_with_two_threads<'a>(
    list: &'a [u8],
    table: &mut Builder<'a>,
    another: &(impl Fn() -> Builder<'a> + Sync),
) -> Option<bool> {
    /// More of a file is not held in memory at once.
    const WINDOW_BYTES: usize = 32 * 1024 * 1024;
    // The opening bracket, or a comma, and what follows it.
    let mut rest = list;
    loop {
        let window = (rest.len() > WINDOW_BYTES).then(|| walk::split_objects(rest, WINDOW_BYTES));
        // The last one has the closing bracket.
        let (window, end, after) = match window.flatten() {
            Some((window, after)) => (window, &b""[..], after.trim_ascii_start()),
            None => (rest, &b"]"[..], &b""[..]),
        };
        match walk::split_objects(window, window.len() / 2) {
            None => objects_until(&window[1..], end, table)?,
            Some((first, second)) => {
                let second = second.trim_ascii_start();
                let (later, earlier) = parallel::both(
                    true,
                    || {
                        let mut later = another();
                        // Nothing but the end may be left.
                        if second != end {
                            objects_until(second.strip_prefix(b",")?, end, &mut later)?;
                        }
                        Some(later)
                    },
                    || objects_until(&first[1..], b"", table),
                );
                earlier?;
                let later = later?;
                if !table.describes_all_fields() || !later.describes_all_fields() {
                    return Some(false);
                }
                table.merge(later);
            }
        }
        match after {
            b"" | b"]" => return Some(true),
            _ => rest = after.starts_with(b",").then_some(after)?,
        }
    }
}

/// Goes through objects up to `end`, which must be all that is left.
fn objects_until<'a>(text: &'a [u8], end: &[u8], table: &mut Builder<'a>) -> Option<()> {
    let mut rest = text.trim_ascii_start();
    if rest == end {
        return Some(());
    }
    loop {
        let element = rest.trim_ascii_start();
        rest = if element.starts_with(b"{") && table.observes_next() {
            table.object_record(element)?
        } else {
            let (value, after) = walk::value(element)?;
            syntax::is_valid_telling(value, None).then_some(())?;
            record(table, value);
            after
        };
        rest = rest.trim_ascii_start();
        if rest == end {
            return Some(());
        }
        rest = rest.strip_prefix(b",")?;
    }
}

pub(super) fn record<'a>(table: &mut impl Records<'a>, json: &'a [u8]) {
    if table.record(json) {
        members(table, 0, json);
    }
}

fn members<'a>(table: &mut impl Records<'a>, before: usize, json: &[u8]) {
    if json.starts_with(b"{") {
        table.members(before, json);
    } else {
        table.field(before, b"value", Raw::Json(json));
    }
}

/// A value as it is written, with its length if it is cut.
fn shortened(value: &[u8]) -> String {
    match value.get(..MAX_ENVELOPE_BYTES) {
        Some(head) if value.len() > MAX_ENVELOPE_BYTES => {
            format!("{}… ({} bytes)", String::from_utf8_lossy(head), value.len())
        }
        _ => String::from_utf8_lossy(value).into_owned(),
    }
}
