//! Which lines of the catalog are meant, as SQL that an index serves.

use jiff::Timestamp;
use rusqlite::types::Value;

use super::ENTRY;
use crate::{Viewer, tag};

/// Which datasets to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those of this tool.
    pub tool: Option<String>,
    /// Only those of this upstream.
    pub server: Option<String>,
    /// Only those that have all of these tags.
    pub tags: Vec<String>,
    /// Only those that it may see.
    pub viewer: Viewer,
    /// Only those captured at this time or later.
    pub from: Option<Timestamp>,
    /// Only those captured before this time.
    pub until: Option<Timestamp>,
    /// Only those with payloads of so many bytes or more.
    pub min_bytes: Option<u64>,
    /// Which come first.
    pub sorting: Sorting,
    /// How many to pass over.
    pub offset: u64,
    /// How many at most; all if not given.
    pub limit: Option<u64>,
}

/// In which order datasets are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sorting {
    /// The newest first.
    #[default]
    Newest,
    /// The largest first.
    Largest,
}

impl Sorting {
    fn sql(self) -> &'static str {
        match self {
            Self::Newest => "timestamp DESC, id",
            Self::Largest => "bytes DESC, timestamp DESC, id",
        }
    }
}

impl Filter {
    /// The conditions as SQL, with their values: one set for each way in which a dataset can fit, since
    /// an index serves one at a time.
    fn ways(&self) -> Vec<(String, Vec<Value>)> {
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        let time = |time: Option<Timestamp>| time.map(|it| Value::Integer(it.as_millisecond()));
        let all = [
            ("tool = ?", text(&self.tool)),
            ("server = ?", text(&self.server)),
            ("timestamp >= ?", time(self.from)),
            ("timestamp < ?", time(self.until)),
            ("bytes >= ?", self.min_bytes.map(|it| Value::Integer(whole(it)))),
        ];
        let of_all = all.into_iter().filter_map(|(condition, value)| Some((condition, value?)));
        let (words, origins): (Vec<&String>, Vec<&String>) =
            self.tags.iter().partition(|tag| of_origin(tag).is_none());
        let of_all: Vec<(&str, Value)> =
            of_all.chain(origins.into_iter().filter_map(|tag| of_origin(tag))).collect();
        let ways = self.viewer.ways().into_iter().map(|way| {
            let (conditions, mut values): (Vec<&str>, Vec<Value>) =
                way.into_iter().chain(of_all.iter().cloned()).unzip();
            let mut sql = format!("WHERE {}", conditions.join(" AND "));
            if !words.is_empty() {
                // What is tagged with all of them is less than what an index of anything else lets through.
                let tagged = tagged_with(words.len());
                sql = format!("INDEXED BY by_tags {sql} AND tags IN ({tagged})");
                values.extend([self.viewer.own_name(), self.viewer.own_name()]);
                values.extend(words.iter().map(|word| Value::Text(format!(" {word} "))));
            }
            (sql, values)
        });
        ways.collect()
    }

    /// Some columns of all that fits, each dataset once, without regard to offset and limit.
    pub(super) fn all(&self, columns: &str) -> (String, Vec<Value>) {
        let (ways, values): (Vec<String>, Vec<Vec<Value>>) = self
            .ways()
            .into_iter()
            .map(|(conditions, values)| {
                (format!("SELECT {columns} FROM datasets {conditions}"), values)
            })
            .unzip();
        (ways.join(" UNION "), values.concat())
    }

    /// Lists what fits. What comes before a page is passed over in an index alone.
    pub(super) fn listing(&self) -> (String, Vec<Value>) {
        let limit = self.limit.map_or(-1, whole);
        // Of each way as many as the page may need, if they were all of that one.
        let reach = self.limit.map_or(-1, |limit| whole(self.offset.saturating_add(limit)));
        let (ways, order) = (self.ways(), self.sorting.sql());
        let (mut sql, mut values) = (Vec::new(), Vec::new());
        for (conditions, of_conditions) in &ways {
            let way = match self.sorting {
                Sorting::Newest => format!(
                    "SELECT id, timestamp FROM datasets {conditions} ORDER BY {order} LIMIT ?"
                ),
                Sorting::Largest => format!(
                    "SELECT id, timestamp, bytes FROM datasets {conditions} ORDER BY {order} LIMIT ?"
                ),
            };
            values.extend(of_conditions.iter().cloned());
            values.push(Value::Integer(reach));
            sql.push(if ways.len() == 1 { way } else { format!("SELECT * FROM ({way})") });
        }
        values.extend([Value::Integer(limit), Value::Integer(whole(self.offset))]);
        let fitting = sql.join(" UNION ");
        let sql = format!(
            "SELECT {ENTRY} FROM datasets WHERE id IN
                 (SELECT id FROM ({fitting}) ORDER BY {order} LIMIT ? OFFSET ?)
             ORDER BY {order}"
        );
        (sql, values)
    }
}

/// A number as the database takes it.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The condition that a dataset has a tag that says where it is from; `None` for other tags.
fn of_origin(tag: &str) -> Option<(&'static str, Value)> {
    let is_of = |column, name: &str| Some((column, Value::Text(name.to_owned())));
    match (tag.strip_prefix(tag::SERVER), tag.strip_prefix(tag::TOOL)) {
        (Some(server), _) => is_of("server = ?", server),
        (None, Some(tool)) => is_of("tool = ?", tool),
        (None, None) => None,
    }
}

/// The tags of a principal's datasets as they are written, each once. Most datasets have the same: from one to
/// the next that is another.
pub(super) const EACH_TAGS: &str = "
    WITH RECURSIVE each(tags) AS (
        SELECT min(tags) FROM datasets INDEXED BY by_tags WHERE principal = ?
        UNION ALL
        SELECT (SELECT min(tags) FROM datasets INDEXED BY by_tags
                WHERE principal = ? AND tags > each.tags)
        FROM each WHERE each.tags IS NOT NULL)
    SELECT tags FROM each WHERE tags IS NOT NULL";

/// Of these, those that have so many words in them.
fn tagged_with(words: usize) -> String {
    format!("{EACH_TAGS}{}", " AND instr(tags, ?) > 0".repeat(words))
}

#[cfg(test)]
mod tests {
    use super::{super::Catalog, *};
    use rusqlite::{params, params_from_iter};

    use crate::{Scope, layout};

    #[test]
    fn what_is_tagged_is_found_by_its_tags_alone() {
        let catalog = Catalog::in_memory().unwrap();
        let insert = "INSERT INTO datasets (id, folder, timestamp, tags, tool, principal)
                      VALUES (?1, '2026/11/19', ?2, ?3, ?4, ?5)";
        let datasets = [
            (" table ", "list", "local"),
            (" table late ", "list", "local"),
            (" later table ", "list", "local"),
            (" late table ", "read", "local"),
            (" late open table ", "list", "local"),
            (" late ", "list", "ann"),
            ("", "list", "local"),
        ];
        for (number, (tags, tool, principal)) in (0_i64..).zip(datasets) {
            let id = format!("dataset_{}", (number + 2).to_string().repeat(8));
            let values = params![id, number, tags, tool, principal];
            catalog.connection.execute(insert, values).unwrap();
        }
        let found = |tags: &[&str], filter: Filter| {
            let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
            let filter = Filter { tags, ..filter };
            let (sql, values) = filter.listing();
            let sql = format!("EXPLAIN QUERY PLAN {sql}");
            let mut query = catalog.connection.prepare(&sql).unwrap();
            let rows = query.query_map(params_from_iter(values), |row| row.get(3)).unwrap();
            let plan: Vec<String> = rows.map(Result::unwrap).collect();
            let by_tags = "SEARCH datasets USING COVERING INDEX by_tags (principal=? AND tags=?";
            assert!(plan.iter().any(|step| step.starts_with(by_tags)), "{plan:#?}");
            let listed = catalog.list(&filter).unwrap();
            listed.iter().map(|entry| entry.timestamp.as_millisecond()).collect::<Vec<i64>>()
        };
        let all = Filter::default;
        assert_eq!(found(&["late"], all()), [4, 3, 1]);
        assert_eq!(found(&["table", "late"], all()), [4, 3, 1]);
        assert_eq!(found(&["late", "open"], all()), [4]);
        assert_eq!(found(&["late", "tool:list"], all()), [4, 1]);
        assert_eq!(found(&["never"], all()), [0; 0]);
        let from = Timestamp::from_millisecond(2).ok();
        assert_eq!(found(&["late"], Filter { from, ..all() }), [4, 3]);
        assert_eq!(found(&["late"], Filter { limit: Some(1), offset: 1, ..all() }), [3]);
        let late = Filter { tags: vec!["late".to_owned()], ..all() };
        assert_eq!(catalog.count(&late).unwrap(), 3);
    }

    #[test]
    fn what_comes_before_a_page_is_passed_over_in_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        layout::create(&path).unwrap();
        let catalog = Catalog::create(&path).unwrap();
        let (tool, server) = (Some("list".to_owned()), Some("notes".to_owned()));
        let (from, until) = (Some(Timestamp::UNIX_EPOCH), Some(Timestamp::MAX));
        let (session, project) = (Some("1".to_owned()), Some("/work".to_owned()));
        let viewer = Viewer { session, project, scope: Scope::Project, ..Viewer::default() };
        let filters = [
            (Filter::default(), "by_time"),
            (Filter { from, until, ..Filter::default() }, "by_time"),
            (Filter { tool: tool.clone(), ..Filter::default() }, "by_tool"),
            (Filter { server: server.clone(), from, ..Filter::default() }, "by_server"),
            (Filter { viewer: viewer.in_session(), ..Filter::default() }, "by_session"),
            (Filter { viewer: viewer.clone(), ..Filter::default() }, "by_project"),
            (Filter { viewer, tool: tool.clone(), ..Filter::default() }, "by_project_and_tool"),
            (Filter { tool, server, ..Filter::default() }, "by_"),
            (Filter { sorting: Sorting::Largest, ..Filter::default() }, "by_size"),
            (
                Filter {
                    min_bytes: Some(1),
                    sorting: Sorting::Largest,
                    tool: Some("list".to_owned()),
                    ..Filter::default()
                },
                "by_size",
            ),
        ];
        for (filter, index) in filters {
            let filter = Filter { limit: Some(20), offset: 9_980, ..filter };
            let (sql, values) = filter.listing();
            let mut query =
                catalog.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let rows = query.query_map(params_from_iter(values), |row| row.get(3)).unwrap();
            let plan: Vec<String> = rows.map(Result::unwrap).collect();
            let is_used = |word: &str| word == index || index == "by_" && word.starts_with(index);
            let covering = plan.iter().filter(|step| step.contains("COVERING INDEX"));
            assert!(covering.flat_map(|step| step.split(' ')).any(is_used), "{index}: {plan:?}");
            let is_scan = |step: &&String| step.contains("SCAN datasets USING INDEX");
            assert_eq!(plan.iter().filter(is_scan).count(), 0, "{plan:?}");
        }
    }
}
