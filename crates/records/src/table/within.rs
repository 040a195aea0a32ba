//! Where a table lies that is in the records of another.

use forebay_store::facts;

/// Where a table lies in the records of another.
#[derive(Debug, Clone)]
pub struct Within {
    /// The other's place among the tables.
    pub parent: usize,
    /// What it is made of.
    pub form: InnerForm,
    /// Its column, and the members on the way, by their names in SQL.
    pub column: Vec<String>,
    /// The other's columns that come along.
    pub carried: Vec<Carried>,
    /// The other's records have nothing that tells them apart but their number.
    pub has_number: bool,
}

/// What a table inside is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InnerForm {
    /// The elements of lists.
    List,
    /// The entries of maps.
    Map {
        /// The values are no objects with members.
        value_is_plain: bool,
    },
}

/// A column of the other table that comes along.
#[derive(Debug, Clone)]
pub struct Carried {
    /// What it is called here.
    pub name: String,
    /// Where it is there.
    pub from: Vec<String>,
}

impl Within {
    /// The facts, for the metadata.
    pub(super) fn facts(&self) -> facts::Within {
        let (of, value_is_plain) = match self.form {
            InnerForm::List => (facts::Form::List, None),
            InnerForm::Map { value_is_plain } => (facts::Form::Map, Some(value_is_plain)),
        };
        facts::Within {
            parent: self.parent,
            of,
            value_is_plain,
            column: self.column.clone(),
            carried: self.carried.iter().map(|one| one.name.clone()).collect(),
            carried_from: self.carried.iter().map(|one| one.from.clone()).collect(),
            has_number: self.has_number,
        }
    }

    /// The columns that come with each row, by their names.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let number = self.has_number.then_some("_parent");
        number.into_iter().chain(self.carried.iter().map(|one| one.name.as_str()))
    }
}
