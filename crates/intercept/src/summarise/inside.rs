//! The tables inside, as a summary lists them: what they have in common is said once.

use forebay_records::{InnerForm, Within};

use super::{MAX_NAME_CHARS, names};

/// A table inside: its name in SQL, its rows, and how it lies in its parent.
pub(super) struct Inside<'a> {
    pub(super) name: &'a str,
    pub(super) rows: u64,
    pub(super) within: &'a Within,
}

impl Inside<'_> {
    /// The columns that its rows have from their parents.
    fn carried(&self) -> String {
        let names = self.within.columns().map(|name| names::shown(name, MAX_NAME_CHARS));
        names.collect::<Vec<_>>().join(", ")
    }

    fn told(&self, name: &str, carried: &str) -> String {
        let rows = self.rows;
        let of = match self.within.form {
            InnerForm::List => "",
            InnerForm::Map { value_is_plain: true } => " of key, value",
            InnerForm::Map { value_is_plain: false } => " of key and members",
        };
        let with = if carried.is_empty() { "" } else { ", with " };
        format!("{name} ({rows} rows{of}{with}{carried})")
    }
}

/// The tables inside the result `id`, in words; none if there is none.
pub(super) fn told(id: &str, tables: &[Inside<'_>]) -> Option<String> {
    let [first, others @ ..] = tables else { return None };
    let carried = first.carried();
    let ends: Option<Vec<&str>> =
        tables.iter().map(|table| table.name.strip_prefix(id)?.strip_prefix('_')).collect();
    let (Some(ends), false) = (ends, others.is_empty()) else {
        let all = tables.iter().map(|table| table.told(table.name, &table.carried()));
        return Some(format!("- Tables inside: {}", all.collect::<Vec<_>>().join(", ")));
    };
    let is_shared = !carried.is_empty() && others.iter().all(|table| table.carried() == carried);
    let each_with = if is_shared { format!(", each with {carried}") } else { String::new() };
    let all = ends.iter().zip(tables).map(|(end, table)| {
        let carried = if is_shared { String::new() } else { table.carried() };
        table.told(end, &carried)
    });
    let all = all.collect::<Vec<_>>().join(", ");
    Some(format!("- Tables inside, named {id}_NAME{each_with}: {all}"))
}
