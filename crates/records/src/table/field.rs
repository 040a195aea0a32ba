//! The facts of one field.

use forebay_store::facts;

use super::{distinct::Count, kind::Kind};

/// A field of the records, or of what lies in them.
#[derive(Debug, Clone)]
pub struct Field {
    /// What the data call it.
    pub name: String,
    /// What SQL calls it.
    pub column: String,
    /// What it is called in what the records lie in, if it comes from there.
    pub carried: Option<String>,
    /// What its values are.
    pub kind: Kind,
    /// Some of its times are written with an offset from UTC. In SQL they are in UTC.
    pub has_offset: bool,
    /// What SQL calls the same times as they are written, without the offset.
    pub local: Option<String>,
    /// In how many records it has a value.
    pub present: u64,
    /// In how many it is null or missing.
    pub nulls: u64,
    /// How many different values there are; of objects and lists that is not told.
    pub distinct: Option<Count>,
    /// The least and the greatest value.
    pub range: Option<(String, String)>,
    /// The most frequent values, if there are few.
    pub top: Vec<(String, u64)>,
    /// The length of the longest value: a text's own, anything else's as it is written.
    pub longest: usize,
    /// How many values there are of each kind, where they differ.
    pub kinds: Vec<(Kind, u64)>,
    /// What lies in its objects and lists.
    pub inside: Nested,
}

/// What lies in the objects and lists of a field.
#[derive(Debug, Clone, Default)]
pub struct Nested {
    /// The members of its objects, unless these are maps.
    pub members: Vec<Field>,
    /// What lies in its lists.
    pub items: Option<Box<Items>>,
    /// What lies in its maps.
    pub entries: Option<Box<Entries>>,
    /// Nothing was too deep to be looked into.
    pub is_whole: bool,
}

/// What lies in the lists of a field.
#[derive(Debug, Clone)]
pub struct Items {
    /// How many lists there are.
    pub lists: u64,
    /// How long the shortest is.
    pub shortest: u64,
    /// How long the longest is.
    pub longest: u64,
    /// How many elements there are in all lists.
    pub elements: u64,
    /// An element.
    pub item: Field,
}

/// What lies in the maps of a field.
#[derive(Debug, Clone)]
pub struct Entries {
    /// How many maps there are.
    pub objects: u64,
    /// A key.
    pub key: Field,
    /// A value.
    pub value: Field,
}

/// A value as it is found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Raw<'a> {
    /// JSON as it is written.
    Json(&'a [u8]),
    /// A text, such as the key of a member.
    Text(&'a [u8]),
    /// A text that stands for whatever it looks like, such as a cell of a CSV file.
    Cell(&'a [u8]),
}

impl Field {
    /// True if no two records have the same value, and each has one.
    pub fn is_unique(&self) -> bool {
        self.nulls == 0 && self.present > 1 && self.distinct == Some(Count::Exactly(self.present))
    }

    /// The facts, for the metadata.
    pub(crate) fn facts(&self) -> facts::Field {
        facts::Field {
            name: Some(self.name.clone()),
            column: (self.column != self.name).then(|| self.column.clone()),
            carried: self.carried.clone(),
            local_column: self.local.clone(),
            ..self.nameless_facts()
        }
    }

    /// The name and type, for the metadata.
    pub(super) fn brief_facts(&self) -> facts::Field {
        facts::Field::new(self.name.clone(), self.kind)
    }

    /// The facts of what has no name of its own, such as the items of lists.
    fn nameless_facts(&self) -> facts::Field {
        let distinct = self.distinct.map(|count| match count {
            Count::Exactly(count) => (count, true),
            Count::About(count) => (count, false),
        });
        let (distinct, distinct_is_exact) = distinct.unzip();
        let (min, max) = self.range.clone().unzip();
        let kinds = self.kinds.iter().map(|(kind, count)| (kind.name().to_owned(), *count));
        facts::Field {
            kind: self.kind.into(),
            nulls: Some(self.nulls),
            distinct,
            distinct_is_exact,
            longest: Some(self.longest),
            min,
            max,
            top: self.top.clone(),
            kinds: kinds.collect(),
            ..self.inside.facts()
        }
    }
}

impl Nested {
    /// What the objects are, if there are any and they hold something.
    pub(super) fn object_kind(&self) -> Option<Kind> {
        match (&self.entries, self.members.is_empty()) {
            (Some(_), _) => Some(Kind::Map),
            (None, false) => Some(Kind::Struct),
            (None, true) => None,
        }
    }

    fn facts(&self) -> facts::Field {
        let mut facts = facts::Field {
            fields: self.members.iter().map(Field::facts).collect(),
            ..facts::Field::default()
        };
        if let Some(items) = &self.items {
            facts.lists = Some(items.lists);
            facts.shortest_list = Some(items.shortest);
            facts.longest_list = Some(items.longest);
            facts.elements = Some(items.elements);
            facts.items = Some(Box::new(items.item.nameless_facts()));
        }
        if let Some(entries) = &self.entries {
            facts.objects = Some(entries.objects);
            facts.keys = Some(Box::new(entries.key.nameless_facts()));
            facts.values = Some(Box::new(entries.value.nameless_facts()));
        }
        facts
    }
}

/// True if a cell may say that there is no value.
pub(crate) fn is_marker(text: &[u8]) -> bool {
    matches!(text, b"NA" | b"N/A" | b"NULL" | b"null" | b"NaN" | b"nan" | b"None")
}
