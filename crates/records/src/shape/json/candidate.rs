//! Tells whether a list or an object is a table.

use forebay_wire::walk::{self, Passed, Type};

use super::flat::{self, Outer, Way};
use crate::strings::text_of;

/// How many elements are looked at to tell what a container holds.
const LOOKED_AT: usize = 50;
/// An object of fewer members is a record, not a table of them.
const MIN_MAP_MEMBERS: usize = 8;
/// An object of fewer plain values is a record, not a table of two columns.
const MIN_DICTIONARY_MEMBERS: usize = 40;
/// Lists side by side are columns if they are at least this long.
const MIN_COLUMN_LENGTH: usize = 3;

/// Columns are read one after the other, so all of them are held in memory.
const MAX_COLUMNS_BYTES: usize = 32 * 1024 * 1024;

/// Something that may be a table.
pub(super) struct Candidate<'a> {
    pub(super) path: String,
    pub(super) json: &'a [u8],
    pub(super) form: Form<'a>,
    /// Where the names of the columns are, if elsewhere.
    pub(super) header: Option<String>,
}

/// How a table is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form<'a> {
    /// An object that is itself the only record.
    Record,
    /// A list of objects.
    Objects,
    /// An object whose members are the records.
    Map,
    /// Lists of objects under several keys.
    Lists(Vec<(&'a [u8], &'a [u8])>),
    /// What is in the lists of wrappers: of objects in a list, or of the members of a map.
    Elements(Outer, Way<'a>),
    /// The wrappers without their lists.
    Rest(Outer, Way<'a>),
    /// A list of lists.
    Rows {
        /// The columns' names.
        names: Vec<Vec<u8>>,
        /// How many rows are none.
        skip: usize,
    },
    /// An object of lists, each of them a column.
    Columns,
    /// A list of anything else.
    Values,
}

impl Candidate<'_> {
    /// Where the records are.
    pub(super) fn table_path(&self) -> String {
        match &self.form {
            Form::Elements(outer, way) => way.path(&self.records_path(*outer)),
            _ => self.path.clone(),
        }
    }

    /// The path of each wrapper.
    fn records_path(&self, outer: Outer) -> String {
        match outer {
            Outer::List => format!("{}[]", self.path),
            Outer::Map => format!("{}.*", self.path),
        }
    }

    /// The path of the lists that are told of elsewhere.
    pub(super) fn without(&self) -> Option<String> {
        match &self.form {
            Form::Rest(outer, way) => Some(way.path(&self.records_path(*outer))),
            _ => None,
        }
    }

    /// How much of the document it is.
    pub(super) fn bytes(&self) -> usize {
        match &self.form {
            Form::Lists(lists) => lists.iter().map(|(_, list)| list.len()).sum(),
            _ => self.json.len(),
        }
    }

    /// Two in place of one whose records are mere wrappers around lists: the elements, and the rest.
    pub(super) fn unwrapped(self) -> Vec<Self> {
        let outer = match self.form {
            Form::Objects => Outer::List,
            Form::Map => Outer::Map,
            _ => return vec![self],
        };
        let Some(way) = flat::way(self.json, outer) else { return vec![self] };
        let of = |form| Self { path: self.path.clone(), json: self.json, form, header: None };
        vec![of(Form::Elements(outer, way.clone())), of(Form::Rest(outer, way))]
    }
}

impl Form<'_> {
    /// The name that the metadata gives it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Objects | Self::Rest(Outer::List, _) => "list",
            Self::Record => "object",
            Self::Map | Self::Rest(Outer::Map, _) => "map",
            Self::Lists(_) | Self::Elements(..) => "grouped",
            Self::Rows { .. } => "rows",
            Self::Columns => "columns",
            Self::Values => "values",
        }
    }

    pub(super) fn has_records(&self) -> bool {
        *self != Self::Values
    }
}

/// Looks at a list.
pub(super) fn of_array<'a>(json: &'a [u8], path: &str) -> Option<Candidate<'a>> {
    let (mut objects, mut lists, mut others) = (0, 0, 0);
    for element in first_elements(json) {
        match walk::type_of(element)? {
            Type::Object => objects += 1,
            Type::Array => lists += 1,
            _ => others += 1,
        }
    }
    let form = match (objects, lists, others) {
        (0, 0, 0) => return None,
        (1.., ..) if objects >= lists + others => Form::Objects,
        (0, 2.., 0) => match header(json) {
            Some(names) => Form::Rows { names, skip: 1 },
            None => Form::Values,
        },
        _ => Form::Values,
    };
    Some(Candidate { path: path.to_owned(), json, form, header: None })
}

/// Looks at an object.
pub(super) fn of_object<'a>(
    json: &'a [u8],
    path: &str,
    passed: Passed<'a>,
) -> Option<Candidate<'a>> {
    let members = || walk::members_telling(json, passed).into_iter().flatten();
    // What its first value begins with says what it cannot be, before that value is walked over.
    let form = match walk::first_value(json)
        .and_then(|value| Some((walk::type_of(value)?, value)))?
    {
        (Type::Object, _) if is_map(members()) => Form::Map,
        (Type::String | Type::Number | Type::Boolean, _) if is_dictionary(members()) => Form::Map,
        (Type::Array, list)
            if json.len() <= MAX_COLUMNS_BYTES && holds_values(list) && is_columns(members()) =>
        {
            Form::Columns
        }
        _ => return None,
    };
    Some(Candidate { path: path.to_owned(), json, form, header: None })
}

/// A document as a record.
pub(super) fn of_record(json: &[u8]) -> Candidate<'_> {
    Candidate { path: "$".to_owned(), json, form: Form::Record, header: None }
}

/// Lists of lists whose columns are named in another list beside them: `{"columns": […], "rows": …}`.
///
/// Returns where those lists are.
pub(super) fn name_columns<'a>(
    found: &mut [Candidate<'a>],
    object: &'a [u8],
    path: &str,
    passed: Passed<'a>,
) -> Vec<String> {
    let mut headers = Vec::new();
    for candidate in found.iter_mut() {
        let rows = match candidate.form {
            Form::Values => walk::elements(candidate.json),
            _ => None,
        };
        let Some(row) = rows.and_then(|mut rows| rows.next()) else { continue };
        let Some(width) = walk::elements(row).map(Iterator::count) else { continue };
        let same_width = first_elements(candidate.json)
            .all(|row| walk::elements(row).is_some_and(|cells| cells.count() == width));
        if width < 2 || !same_width {
            continue;
        }
        for (key, value) in walk::members_telling(object, passed).into_iter().flatten() {
            if let Some(names) = column_names(value)
                && names.len() == width
            {
                let header = super::step(path, key);
                headers.push(header.clone());
                candidate.header = Some(header);
                candidate.form = Form::Rows { names, skip: 0 };
                break;
            }
        }
    }
    headers
}

fn first_elements(json: &[u8]) -> impl Iterator<Item = &[u8]> {
    walk::elements(json).into_iter().flatten().take(LOOKED_AT)
}

fn keys(json: &[u8]) -> impl Iterator<Item = &[u8]> {
    walk::members(json).into_iter().flatten().map(|(key, _)| key)
}

/// The names in the first of equally long rows, if they are names: texts, and no two the same.
fn header(json: &[u8]) -> Option<Vec<Vec<u8>>> {
    let names = column_names(walk::elements(json)?.next()?)?;
    let fits = |row| walk::elements(row).is_some_and(|cells| cells.count() == names.len());
    // If every row is all texts, the first is a header only if nothing in it looks like data.
    let is_unlike = first_elements(json).skip(1).any(|row| {
        walk::elements(row)
            .into_iter()
            .flatten()
            .any(|cell| walk::type_of(cell) != Some(Type::String))
    });
    let all_fit = first_elements(json).all(fits);
    (names.len() > 1 && all_fit && is_unlike).then_some(names)
}

/// A list of names: texts, or objects with a `name` each.
fn column_names(json: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for element in walk::elements(json)? {
        let name = match walk::type_of(element)? {
            Type::String => element,
            Type::Object => {
                walk::members(element)?
                    .find(|(key, value)| {
                        *key == b"name" && walk::type_of(value) == Some(Type::String)
                    })?
                    .1
            }
            _ => return None,
        };
        let name = text_of(name).into_owned();
        if name.is_empty() || names.contains(&name) {
            return None;
        }
        names.push(name);
    }
    Some(names)
}

/// True if an object's members are records: many, all objects, with the same fields in the main.
fn is_map<'a>(members: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> bool {
    let mut records = Vec::new();
    for (_, value) in members.take(LOOKED_AT) {
        if walk::type_of(value) != Some(Type::Object) {
            return false;
        }
        records.push(value);
    }
    if records.len() < MIN_MAP_MEMBERS {
        return false;
    }
    // How many of the records have the field that most of them have.
    let mut counts: Vec<(&[u8], usize)> = Vec::new();
    let (mut shared, mut all) = (0, 0);
    for record in &records {
        for key in keys(record).take(LOOKED_AT) {
            all += 1;
            match counts.iter_mut().find(|(known, _)| *known == key) {
                Some((_, count)) => {
                    *count += 1;
                    shared += 1;
                }
                None => counts.push((key, 1)),
            }
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    // Either nearly all share a field, or most of what they have.
    most * 10 >= records.len() * 9 || (most * 2 >= records.len() && shared * 2 >= all)
}

/// True if an object's members are plain values of one type, and so many that they are data.
fn is_dictionary<'a>(members: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> bool {
    let mut types = members.map(|(_, value)| walk::type_of(value));
    let first = types.next();
    let mut count = 1;
    types.all(|kind| {
        count += 1;
        Some(kind) == first
    }) && count >= MIN_DICTIONARY_MEMBERS
}

/// True if an object holds nothing but equally long lists of values, and several.
fn is_columns<'a>(members: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> bool {
    let mut length = None;
    let mut count = 0;
    for (_, list) in members {
        let this = holds_values(list).then(|| walk::elements(list).map_or(0, Iterator::count));
        if this.is_none() || length.is_some_and(|length| Some(length) != this) {
            return false;
        }
        length = this;
        count += 1;
    }
    count > 1 && length.is_some_and(|length| length >= MIN_COLUMN_LENGTH)
}

/// True if a list begins with plain values.
fn holds_values(list: &[u8]) -> bool {
    walk::type_of(list) == Some(Type::Array)
        && first_elements(list)
            .take(3)
            .all(|value| !matches!(walk::type_of(value), Some(Type::Object | Type::Array) | None))
}
