//! Dataset: what the model got beside the original, its fields, rows, SQL over it, charts, files of it.
//!
//! Each of these is a page of its own below that of the dataset; they share the [`Head`].

pub(crate) mod cell;
pub(crate) mod chart;
mod columns;
pub(crate) mod damaged;
pub(crate) mod export;
pub(crate) mod fields;
pub(crate) mod file;
pub(crate) mod original;
pub(crate) mod overview;
pub(crate) mod remove;
pub(crate) mod rows;
pub(crate) mod sql;

use forebay_store::{Dataset, DatasetId, Entry, Tag, facts};
use forebay_text::{counted, grouped, size};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::{Pages, problem::Problem, visible::named};

/// How much of a call's arguments is shown.
const ARGUMENTS_CHARS: usize = 2_000;

/// What stands above every page of a dataset.
#[derive(Serialize)]
pub(crate) struct Head {
    id: String,
    timestamp: Timestamp,
    server: String,
    tool: String,
    bytes: u64,
    tokens: Option<u64>,
    records: Option<u64>,
    is_pinned: bool,
    tags: Vec<String>,
    arguments: Option<Value>,
    tables: Vec<Table>,
    blocks: usize,
    #[serde(skip)]
    here: &'static str,
}

/// A table of the dataset, as SQL has it.
#[derive(Serialize, Clone)]
pub(crate) struct Table {
    /// What stands behind the dataset's own name.
    suffix: String,
    /// Its name in SQL.
    name: String,
    records: Option<u64>,
}

/// A page of the dataset.
pub(crate) struct Tab {
    pub(crate) name: &'static str,
    pub(crate) path: String,
    pub(crate) is_here: bool,
}

impl Pages {
    /// The dataset that a path names.
    pub(crate) fn dataset(&self, name: &str) -> Result<Dataset, Problem> {
        let id = DatasetId::parse(name)
            .ok_or_else(|| Problem::missing(format!("There is no dataset {}.", named(name))))?;
        Ok(self.desk.dataset(&id)?)
    }

    /// What is on the shelf by a name, damaged or not.
    pub(crate) fn listed(&self, name: &str) -> Result<DatasetId, Problem> {
        let id = DatasetId::parse(name);
        match id
            .filter(|id| matches!(self.desk.store().map(|store| store.entry(id)), Ok(Ok(Some(_)))))
        {
            Some(id) => Ok(id),
            None => self.dataset(name).map(|dataset| dataset.id().clone()),
        }
    }

    /// What stands above the pages of a dataset, damaged or not.
    pub(crate) fn head(&self, name: &str) -> Result<Head, Problem> {
        let id = self.listed(name)?;
        match self.desk.dataset(&id) {
            Ok(dataset) => Ok(Head::of(&dataset, "")),
            Err(error) => match self.desk.store()?.entry(&id)? {
                Some(entry) => Ok(Head::left(entry)),
                None => Err(error.into()),
            },
        }
    }
}

impl Head {
    fn of(dataset: &Dataset, here: &'static str) -> Self {
        let metadata = dataset.metadata();
        let description = &metadata.description;
        Self {
            id: dataset.id().to_string(),
            timestamp: metadata.timestamp,
            server: description.server.clone(),
            tool: description.tool.clone(),
            bytes: metadata.bytes(),
            tokens: description.facts.tokens,
            records: description.record_count,
            is_pinned: dataset.is_pinned(),
            tags: dataset.own_tags().into_iter().map(String::from).collect(),
            arguments: description
                .facts
                .arguments
                .as_ref()
                .map(|it| forebay_tools::brief(it, ARGUMENTS_CHARS)),
            tables: tables(dataset),
            blocks: dataset.payload_count(),
            here,
        }
    }

    /// That of a dataset of which only the catalog knows.
    fn left(entry: Entry) -> Self {
        Self {
            id: entry.id.to_string(),
            timestamp: entry.timestamp,
            server: entry.server,
            tool: entry.tool,
            bytes: entry.bytes,
            tokens: None,
            records: entry.records,
            is_pinned: entry.is_pinned,
            tags: Vec::new(),
            arguments: None,
            tables: Vec::new(),
            blocks: 0,
            here: "Overview",
        }
    }

    fn path(&self) -> String {
        format!("/dataset/{}", self.id)
    }

    fn tabs(&self) -> Vec<Tab> {
        let mut tabs = vec![("Overview", ""), ("Original", "/original")];
        if !self.tables.is_empty() {
            tabs.extend([("Rows", "/rows"), ("Fields", "/fields")]);
        }
        tabs.push(("SQL and charts", "/sql"));
        let path = self.path();
        let tab = |(name, below): (&'static str, &str)| Tab {
            name,
            path: format!("{path}{below}"),
            is_here: name == self.here,
        };
        tabs.into_iter().map(tab).collect()
    }

    fn when(&self) -> String {
        self.timestamp.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
    }

    /// How large it is, in one line.
    fn extent(&self) -> String {
        let records = self.records.map(|records| counted(records, "record"));
        // Files have none that could be counted.
        let tokens = self.tokens.filter(|tokens| *tokens > 0);
        let tokens = tokens.map(|tokens| format!("about {} tokens", grouped(tokens)));
        let all = records.into_iter().chain([size(self.bytes)]).chain(tokens);
        all.collect::<Vec<_>>().join(" · ")
    }

    fn called_with(&self) -> String {
        match &self.arguments {
            Some(Value::Object(members)) if members.is_empty() => String::new(),
            Some(arguments) => arguments.to_string(),
            None => String::new(),
        }
    }

    #[expect(clippy::unused_self, reason = "templates call methods")]
    fn forms(&self) -> Vec<&'static str> {
        forebay_tools::ExportForm::NAMED.map(|(name, _)| name).into()
    }
}

impl Table {
    fn told(&self) -> String {
        let name = if self.suffix.is_empty() { "records" } else { &self.suffix };
        match self.records {
            Some(records) => format!("{name} ({})", grouped(records)),
            None => name.to_owned(),
        }
    }
}

/// What is known of one of a dataset's tables.
fn facts<'d>(dataset: &'d Dataset, table: &str) -> Option<&'d facts::Table> {
    let names = forebay_query::table_names(dataset);
    let index = names.iter().position(|name| name.eq_ignore_ascii_case(table))?;
    dataset.facts().tables().get(index)
}

/// Says that a table has more fields than SQL knows of.
fn without_column(fields: usize) -> String {
    let has = if fields == 1 { "has" } else { "have" };
    format!(
        "{} {has} no column, and are only in the original.",
        counted(fields as u64, "more field")
    )
}

/// The tables of a dataset, the main one first.
fn tables(dataset: &Dataset) -> Vec<Table> {
    let description = &dataset.metadata().description;
    let facts = description.facts.tables();
    if facts.is_empty() && !forebay_query::is_result(dataset) {
        return Vec::new();
    }
    let names = forebay_query::table_names(dataset);
    let table = |(index, suffix): (usize, String)| {
        let records = facts.get(index).map(|table| table.records);
        let records = records.or(description.record_count.filter(|_| index == 0));
        Table { name: forebay_query::table_name(dataset.id(), &suffix), suffix, records }
    };
    names.into_iter().enumerate().map(table).collect()
}

/// A tag that somebody has written.
pub(crate) fn tag(text: &str) -> Result<Tag, Problem> {
    Tag::parse(text.trim()).map_err(|why| Problem::refused(format!("{}.", why.replace('`', ""))))
}
