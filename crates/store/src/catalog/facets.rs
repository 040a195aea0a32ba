//! How many datasets fit a filter, by what they can be told apart by.

use std::collections::BTreeMap;

use rusqlite::{Row, params_from_iter};

use super::{Catalog, Filter};

/// What datasets can be told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facet {
    /// The upstream.
    Server,
    /// The tool.
    Tool,
    /// The day on which it was kept, in UTC.
    Day,
    /// The words that it has been tagged with, of which there may be several.
    Tag,
}

impl Facet {
    fn column(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Tool => "tool",
            Self::Day => "date(timestamp / 1000, 'unixepoch')",
            Self::Tag => "tags",
        }
    }
}

impl Catalog {
    /// The values of a facet among all datasets that `filter` lets through, each with how many have it, the
    /// most frequent first. Offset and limit are not regarded.
    pub(crate) fn facet(
        &self,
        filter: &Filter,
        facet: Facet,
    ) -> rusqlite::Result<Vec<(String, u64)>> {
        let (fitting, values) = filter.all(&format!("id, {} AS value", facet.column()));
        let sql = format!("SELECT value, count(*) FROM ({fitting}) GROUP BY value");
        let mut query = self.connection.prepare_cached(&sql)?;
        let counted = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()));
        let counted = query.query_map(params_from_iter(values), counted)?;
        let mut all: BTreeMap<String, u64> = BTreeMap::new();
        for line in counted {
            let (value, count): (String, u64) = line?;
            match facet {
                Facet::Server | Facet::Tool | Facet::Day => *all.entry(value).or_default() += count,
                Facet::Tag => {
                    for tag in value.split_whitespace() {
                        *all.entry(tag.to_owned()).or_default() += count;
                    }
                }
            }
        }
        let mut all: Vec<(String, u64)> = all.into_iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Ok(all)
    }
}
