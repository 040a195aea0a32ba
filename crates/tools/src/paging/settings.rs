//! How pages are put in front of tools: what is set, for which of them.

use std::{collections::HashMap, time::Duration};

use forebay_intercept::Glob;

/// Which tools get pages, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paging {
    /// For tools that no rule fits, and that their servers mark as only reading.
    pub otherwise: Option<PagingSettings>,
    /// For some tools; the first that fits holds.
    pub tools: Vec<PagingRule>,
    /// The same for single servers, by their names; they go before.
    pub servers: HashMap<String, Vec<PagingRule>>,
}

/// What holds for the tools of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagingRule {
    /// Which tools.
    pub pattern: Glob,
    /// How they get pages; `None` if they get none.
    pub settings: Option<PagingSettings>,
}

/// How an upstream's pages are found and fetched, and how long they hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagingSettings {
    /// What the upstream has.
    pub style: PagingStyle,
    /// The upstream's parameter for the number of a page.
    pub page_parameter: Option<String>,
    /// Its parameter for how many records a page has.
    pub size_parameter: Option<String>,
    /// Its parameter for how many records come before.
    pub offset_parameter: Option<String>,
    /// Its parameter for a cursor, or for the URL of the next page.
    pub cursor_parameter: Option<String>,
    /// How many records a page of the upstream has.
    pub page_size: Option<u64>,
    /// The number of the first page, or of the first record where these are counted.
    pub first_page: Option<u64>,
    /// Where the records are in a result, as a JSON pointer.
    pub records: Option<String>,
    /// Where it says how many there are in all.
    pub total: Option<String>,
    /// Where it says what comes next.
    pub next: Option<String>,
    /// For how long a page is not fetched again.
    pub lifetime: Duration,
    /// How many pages one call may fetch.
    pub max_pages: u64,
    /// How many records may be kept of one call.
    pub max_records: u64,
    /// How long they may be together.
    pub max_bytes: u64,
    /// How long one call may go on fetching.
    pub max_time: Duration,
}

/// What an upstream has for its pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PagingStyle {
    /// It is told by the tool's definition and by its results.
    #[default]
    Auto,
    /// The number of a page.
    Page,
    /// How many records come before.
    Offset,
    /// A cursor, which each result gives for the next.
    Cursor,
    /// The URL of the next page.
    Next,
    /// Nothing: all records come at once.
    None,
}

impl Default for PagingSettings {
    fn default() -> Self {
        Self {
            style: PagingStyle::Auto,
            page_parameter: None,
            size_parameter: None,
            offset_parameter: None,
            cursor_parameter: None,
            page_size: None,
            first_page: None,
            records: None,
            total: None,
            next: None,
            lifetime: Duration::from_secs(300),
            max_pages: 100,
            max_records: 1_000_000,
            max_bytes: 256_000_000,
            max_time: Duration::from_secs(60),
        }
    }
}

impl Paging {
    /// True if no tool gets pages.
    pub fn is_off(&self) -> bool {
        let rules = self.servers.values().flatten().chain(&self.tools);
        self.otherwise.is_none() && rules.map(|rule| &rule.settings).all(Option::is_none)
    }

    /// How a server's tool gets pages, if it does.
    pub(crate) fn of(&self, server: &str, tool: &str) -> Option<&PagingSettings> {
        self.rule(server, tool).map_or(self.otherwise.as_ref(), |rule| rule.settings.as_ref())
    }

    /// True if a rule names the tool. Others get pages only if they are marked as only reading: what is
    /// fetched once is not called again, and one answer may take several calls.
    pub(crate) fn names(&self, server: &str, tool: &str) -> bool {
        self.rule(server, tool).is_some()
    }

    fn rule(&self, server: &str, tool: &str) -> Option<&PagingRule> {
        let of_server = self.servers.get(server).into_iter().flatten();
        of_server.chain(&self.tools).find(|rule| rule.pattern.matches(tool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_holds_and_a_servers_go_before() {
        let rule = |pattern: &str, max_pages| PagingRule {
            pattern: Glob::new(pattern),
            settings: Some(PagingSettings { max_pages, ..PagingSettings::default() }),
        };
        let off = |pattern: &str| PagingRule { pattern: Glob::new(pattern), settings: None };
        let mut paging = Paging {
            otherwise: None,
            tools: vec![off("get_*"), rule("*_all", 1), rule("list_*", 2)],
            servers: [("s".to_owned(), vec![rule("list_*", 3)])].into(),
        };
        let pages = |paging: &Paging, server, tool| paging.of(server, tool).map(|it| it.max_pages);
        assert_eq!(pages(&paging, "t", "list_all"), Some(1));
        assert_eq!(pages(&paging, "s", "list_all"), Some(3));
        assert_eq!(pages(&paging, "s", "get_all"), None);
        assert_eq!(pages(&paging, "s", "other"), None);
        assert!(!paging.is_off());
        paging.otherwise = Some(PagingSettings::default());
        assert_eq!(pages(&paging, "s", "other"), Some(100));
        assert_eq!(pages(&paging, "s", "get_all"), None);
        assert!(Paging { tools: vec![off("*")], ..Paging::default() }.is_off());
    }
}
