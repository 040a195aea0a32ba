//! The types that values of results are found to have.

/// A type, as the summary and the metadata name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Float,
    /// True or false.
    Boolean,
    /// Texts of no form that is known.
    String,
    /// Times of a day.
    Timestamp,
    /// Days.
    Date,
    /// Texts that are UUIDs.
    Uuid,
    /// Texts that are addresses in the web.
    Url,
    /// Lists.
    List,
    /// Objects with members that have names.
    Struct,
    /// Objects whose keys are data.
    Map,
    /// Anything: the values differ.
    Json,
    /// There are no values.
    Null,
}

const NAMES: [(Kind, &str); 13] = [
    (Kind::Integer, "integer"),
    (Kind::Float, "float"),
    (Kind::Boolean, "boolean"),
    (Kind::String, "string"),
    (Kind::Timestamp, "timestamp"),
    (Kind::Date, "date"),
    (Kind::Uuid, "uuid"),
    (Kind::Url, "url"),
    (Kind::List, "list"),
    (Kind::Struct, "struct"),
    (Kind::Map, "map"),
    (Kind::Json, "json"),
    (Kind::Null, "null"),
];

impl Kind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// The kind that covers both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Integer, Self::Float) | (Self::Float, Self::Integer) => Self::Float,
            (a, b) if a.is_text() && b.is_text() => Self::String,
            _ => Self::Json,
        }
    }

    /// [`Kind::or`] for cells, which are all texts: what is not of one kind is a string.
    #[must_use]
    pub fn or_text(self, other: Self) -> Self {
        match self.or(other) {
            Self::Json => Self::String,
            kind => kind,
        }
    }

    /// True if the least and the greatest value tell something.
    pub fn is_number_or_time(self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Timestamp | Self::Date)
    }

    /// True if its values are texts.
    pub fn is_text(self) -> bool {
        matches!(self, Self::String | Self::Timestamp | Self::Date | Self::Uuid | Self::Url)
    }
}
