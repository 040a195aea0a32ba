//! Whose file one is: several clients may read the same, by a link or by the same path.

use crate::{
    catalogue::{CLIENTS, Client},
    document::{Node, Place},
    form::Form,
    ledger::Record,
    own::Own,
    tables::tables,
    value::Value,
};

/// The clients of a file that was changed, which all write it in the same form. Each may have its servers at another
/// place in it.
#[derive(Debug)]
pub(crate) struct Owners {
    /// The one that it was changed for last.
    pub(crate) first: &'static Client,
    others: Vec<&'static Client>,
}

impl Owners {
    /// Whose file is remembered here, if that client is still known.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let first = CLIENTS.iter().find(|client| client.name == record.client)?;
        let is_other = |client: &&Client| {
            client.form == first.form && record.also.iter().any(|name| name == client.name)
        };
        Some(Self { first, others: CLIENTS.iter().filter(is_other).collect() })
    }

    pub(crate) fn form(&self) -> Form {
        self.first.form
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &'static Client> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    /// What people call them.
    pub(crate) fn titles(&self) -> String {
        self.all().map(|client| client.title).collect::<Vec<_>>().join(", ")
    }

    /// The entries of any of them that are written as `forebay install` writes them, and where.
    pub(crate) fn entries_of_install(&self, text: &str) -> Vec<(Place, Value)> {
        let mut found: Vec<(Place, Value)> = Vec::new();
        for entry in self.all().flat_map(|client| entries_of_install(client, text)) {
            if !found.contains(&entry) {
                found.push(entry);
            }
        }
        found
    }
}

/// The entries that are written as `forebay install` writes them, and where.
pub(crate) fn entries_of_install(client: &Client, text: &str) -> Vec<(Place, Value)> {
    let Ok(root) = client.form.read(text) else { return Vec::new() };
    let mut found = Vec::new();
    for table in tables(&root, client).unwrap_or_default() {
        for member in root.at(&table).map(Node::members).unwrap_or_default() {
            let value = member.value.value();
            if Own::of(&value).is_some_and(|own| own.is_of_install()) {
                found.push(([table.as_slice(), std::slice::from_ref(&member.key)].concat(), value));
            }
        }
    }
    found
}
