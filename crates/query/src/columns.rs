//! The columns of a table that is made from records: their names in SQL, and their types.
//!
//! What the summary calls a thing is what SQL has: both follow from the same facts.

use forebay_store::facts::{self, Field};
use serde::{Deserialize, Serialize};

/// A column in the making.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Made {
    /// What it is called in SQL.
    pub(crate) name: String,
    /// What its values are read as.
    pub(crate) kind: Type,
}

/// What values are read as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Type {
    Integer,
    /// An integer of more than 64 bits.
    Huge,
    Float,
    Boolean,
    Timestamp,
    Date,
    Text,
    /// Texts, as far as anyone knows: there is no value at all.
    Null,
    Struct(Vec<Made>),
    List(Box<Type>),
    /// Objects whose keys are data.
    Map(Box<Type>),
    /// Anything.
    Json,
}

impl Type {
    /// What values can be read as that may be anything.
    pub(crate) fn as_written(&self) -> Self {
        match self {
            Self::Struct(_) | Self::List(_) | Self::Map(_) | Self::Json => Self::Json,
            Self::Integer
            | Self::Huge
            | Self::Float
            | Self::Boolean
            | Self::Timestamp
            | Self::Date
            | Self::Text
            | Self::Null => Self::Text,
        }
    }

    /// What DuckDB calls it.
    pub(crate) fn sql(&self) -> String {
        match self {
            Self::Integer => "BIGINT".to_owned(),
            // Parquet has no integers of more than 64 bits.
            Self::Huge => "DECIMAL(38,0)".to_owned(),
            Self::Float => "DOUBLE".to_owned(),
            Self::Boolean => "BOOLEAN".to_owned(),
            Self::Timestamp => "TIMESTAMP".to_owned(),
            Self::Date => "DATE".to_owned(),
            Self::Text | Self::Null => "VARCHAR".to_owned(),
            Self::Struct(members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|member| format!("{} {}", quoted(&member.name), member.kind.sql()))
                    .collect();
                format!("STRUCT({})", members.join(", "))
            }
            Self::List(items) => format!("{}[]", items.sql()),
            Self::Map(values) => format!("MAP(VARCHAR, {})", values.sql()),
            Self::Json => "JSON".to_owned(),
        }
    }

    /// How many columns it takes in a file.
    pub(crate) fn leaves(&self) -> usize {
        match self {
            Self::Struct(members) => members.iter().map(|member| member.kind.leaves()).sum(),
            Self::List(items) => items.leaves(),
            Self::Map(values) => 1 + values.leaves(),
            _ => 1,
        }
    }

    /// The type that covers the values of both.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (ours, theirs) if ours == theirs => ours,
            (Self::Null, known) | (known, Self::Null) => known,
            (Self::Integer | Self::Huge | Self::Float, Self::Float)
            | (Self::Float, Self::Integer | Self::Huge) => Self::Float,
            (Self::Integer, Self::Huge) | (Self::Huge, Self::Integer) => Self::Huge,
            (Self::Date, Self::Timestamp) | (Self::Timestamp, Self::Date) => Self::Timestamp,
            (Self::Text, Self::Date | Self::Timestamp)
            | (Self::Date | Self::Timestamp, Self::Text) => Self::Text,
            (Self::List(ours), Self::List(theirs)) => Self::List(Box::new(ours.or(*theirs))),
            (Self::Map(ours), Self::Map(theirs)) => Self::Map(Box::new(ours.or(*theirs))),
            (Self::Struct(ours), Self::Struct(theirs)) => Self::Struct(united(ours, theirs)),
            _ => Self::Json,
        }
    }

    /// The type that has the values of both just as they are; `None` if some would change.
    pub(crate) fn joined(&self, other: &Self) -> Option<Self> {
        Some(match (self, other) {
            (ours, theirs) if ours == theirs => ours.clone(),
            (Self::Null, known) | (known, Self::Null) => known.clone(),
            (Self::List(ours), Self::List(theirs)) => Self::List(Box::new(ours.joined(theirs)?)),
            (Self::Map(ours), Self::Map(theirs)) => Self::Map(Box::new(ours.joined(theirs)?)),
            // A member that an object does not have would be one that is null.
            (Self::Struct(ours), Self::Struct(theirs)) => Self::Struct(joined(ours, theirs)?),
            _ => return None,
        })
    }
}

/// The columns, or members, of the same names in the same order that have the values of both just as they
/// are; `None` if some would change.
pub(crate) fn joined(ours: &[Made], theirs: &[Made]) -> Option<Vec<Made>> {
    let have_same_names = ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(own, their)| own.name == their.name);
    let both = have_same_names.then(|| ours.iter().zip(theirs))?;
    let join = |(own, their): (&Made, &Made)| {
        Some(Made { name: own.name.clone(), kind: own.kind.joined(&their.kind)? })
    };
    both.map(join).collect()
}

impl Type {
    /// The expression that makes a value of this type, `column`, one of `other`; `None` if it is one.
    pub(crate) fn cast(&self, column: &str, other: &Self) -> Option<String> {
        match other {
            _ if self == other => None,
            Self::Json => Some(format!("to_json({column})")),
            other => Some(format!("CAST({column} AS {})", other.sql())),
        }
    }

    /// True if [`Type::cast`] keeps what the values say. Inside, what becomes JSON would be read as
    /// JSON, which a text is not.
    pub(crate) fn can_be_cast_to(&self, other: &Self) -> bool {
        *other == Self::Json || self.fits(other)
    }

    fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (ours, theirs) if ours == theirs => true,
            (Self::Null, _) => true,
            (Self::List(ours), Self::List(theirs)) => ours.fits(theirs),
            (Self::Map(ours), Self::Map(theirs)) => ours.fits(theirs),
            (Self::Struct(ours), Self::Struct(theirs)) => ours.iter().all(|own| {
                let same = theirs.iter().find(|it| it.name.eq_ignore_ascii_case(&own.name));
                same.is_some_and(|same| own.kind.fits(&same.kind))
            }),
            (_, Self::Json | Self::List(_) | Self::Map(_) | Self::Struct(_)) => false,
            // Those that cover others are read from them.
            _ => true,
        }
    }
}

/// Columns or members by name, those of both together.
pub(crate) fn united(mut ours: Vec<Made>, theirs: Vec<Made>) -> Vec<Made> {
    for column in theirs {
        match ours.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&column.name)) {
            Some(known) => {
                let kind = std::mem::replace(&mut known.kind, Type::Null);
                known.kind = kind.or(column.kind);
            }
            None => ours.push(column),
        }
    }
    ours
}

/// Finds a place for each of `theirs` among columns that may have the same name several times: one that
/// has their values just as they are. Where there is none, it is made.
pub(crate) fn places(columns: &mut Vec<Made>, theirs: &[Made]) -> Vec<usize> {
    let mut places = Vec::new();
    for column in theirs {
        let fitting = columns.iter().enumerate().find_map(|(place, known)| {
            let is_free = known.name.eq_ignore_ascii_case(&column.name) && !places.contains(&place);
            Some((place, is_free.then(|| known.kind.joined(&column.kind))??))
        });
        if let Some((place, kind)) = fitting {
            columns[place].kind = kind;
            places.push(place);
        } else {
            places.push(columns.len());
            columns.push(column.clone());
        }
    }
    places
}

/// The column of that name.
pub(crate) fn named<'c>(columns: &'c [Made], name: &str) -> Option<&'c Made> {
    columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
}

/// The columns of a table, of which `facts` are the metadata.
pub(crate) fn of(facts: &facts::Table) -> Vec<Made> {
    members(&facts.fields)
}

/// The columns of a text without records.
pub(crate) fn of_lines() -> Vec<Made> {
    let column = |name: &str, kind| Made { name: name.to_owned(), kind };
    vec![column("line", Type::Integer), column("text", Type::Text)]
}

fn members(fields: &[Field]) -> Vec<Made> {
    let own = fields.iter().map(|it| Made { name: it.column().to_owned(), kind: kind(it) });
    let local = fields.iter().filter_map(|field| field.local_column.clone());
    let local = local.map(|name| Made { name, kind: Type::Timestamp });
    own.chain(local).collect()
}

fn kind(field: &Field) -> Type {
    let inside = |field: &Option<Box<Field>>| Box::new(field.as_deref().map_or(Type::Text, kind));
    match &field.kind {
        facts::Type::Known(facts::Kind::Integer) => {
            let mut ends = [&field.min, &field.max].into_iter().flatten();
            if ends.all(|end| end.parse::<i64>().is_ok()) { Type::Integer } else { Type::Huge }
        }
        facts::Type::Known(facts::Kind::Float) => Type::Float,
        facts::Type::Known(facts::Kind::Boolean) => Type::Boolean,
        facts::Type::Known(facts::Kind::Timestamp) => Type::Timestamp,
        facts::Type::Known(facts::Kind::Date) => Type::Date,
        facts::Type::Known(facts::Kind::Struct) => Type::Struct(members(&field.fields)),
        facts::Type::Known(facts::Kind::List) => Type::List(inside(&field.items)),
        facts::Type::Known(facts::Kind::Map) => Type::Map(inside(&field.values)),
        facts::Type::Known(facts::Kind::Json) => Type::Json,
        facts::Type::Known(facts::Kind::Null) => Type::Null,
        facts::Type::Known(facts::Kind::String | facts::Kind::Uuid | facts::Kind::Url)
        | facts::Type::Other(_) => Type::Text,
    }
}

/// A name in SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in SQL. One with line breaks is on one line: a form of a browser would change them. SQL has no zero bytes.
pub fn literal(text: &str) -> String {
    if text.contains('\0') {
        let parts: Vec<String> = text.split('\0').map(literal).collect();
        return format!("({})", parts.join(" || chr(0) || "));
    }
    let plain = text.replace('\'', "''");
    if !plain.contains(['\n', '\r']) {
        return format!("'{plain}'");
    }
    let escaped = plain.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    format!("E'{escaped}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_line_breaks_or_zero_bytes_can_be_written() {
        assert_eq!(literal("it's a \\n"), r"'it''s a \n'");
        assert_eq!(literal("it's\r\n\\"), r"E'it''s\r\n\\'");
        assert_eq!(literal("a\0b"), "('a' || chr(0) || 'b')");
    }

    #[test]
    fn columns_of_a_name_are_one_where_no_value_changes() {
        let column = |name: &str, kind| Made { name: name.to_owned(), kind };
        let list = |kind| Type::List(Box::new(kind));
        let object = |names: &[&str]| {
            Type::Struct(names.iter().map(|name| column(name, Type::Integer)).collect())
        };
        let mut columns = Vec::new();
        let mut place = |name: &str, kind| places(&mut columns, &[column(name, kind)])[0];
        assert_eq!(place("a", Type::Null), 0);
        assert_eq!(place("a", Type::Integer), 0);
        assert_eq!(place("A", Type::Null), 0);
        assert_eq!(place("a", Type::Float), 1, "5 is not 5.0");
        assert_eq!(place("a", Type::Text), 2);
        assert_eq!(place("b", list(Type::Null)), 3);
        assert_eq!(place("b", list(Type::Date)), 3);
        assert_eq!(place("b", list(Type::Timestamp)), 4);
        assert_eq!(place("b", object(&["k"])), 5);
        assert_eq!(place("b", object(&["k", "l"])), 6, "no l is not an l that is null");
        assert_eq!(place("b", object(&["k"])), 5);
        let twice = [column("c", Type::Null), column("c", Type::Null)];
        assert_eq!(places(&mut columns, &twice), [7, 8]);
        assert_eq!(columns[0], column("a", Type::Integer));
        assert_eq!(columns[3], column("b", list(Type::Date)));
    }

    #[test]
    fn integers_have_as_many_bits_as_they_need() {
        let kind = |max: &str| {
            let (min, max) = (Some("0".to_owned()), Some(max.to_owned()));
            kind(&Field {
                kind: facts::Type::Known(facts::Kind::Integer),
                min,
                max,
                ..Field::default()
            })
        };
        assert_eq!(kind("9223372036854775807"), Type::Integer);
        assert_eq!(kind("9223372036854775808"), Type::Huge);
    }
}
