//! Pages: which part of a list is wanted, and where in it a part stands.

use crate::{
    ToolError,
    arguments::{Arguments, counted},
    error::refuse,
    json,
};

/// How many there are on a page, if nothing is said.
pub const DEFAULT_LIMIT: u64 = 20;
/// How many there can be.
pub const MAX_LIMIT: u64 = 1_000;

/// The part of a list that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// How many come before.
    pub offset: u64,
    /// How many at most.
    pub limit: u64,
}

impl Default for Part {
    fn default() -> Self {
        Self { offset: 0, limit: DEFAULT_LIMIT }
    }
}

impl Part {
    /// A page, from 1 on.
    pub fn page(page: u64, limit: u64) -> Self {
        Self { offset: page.saturating_sub(1).saturating_mul(limit), limit }
    }

    pub(crate) fn of(arguments: &Arguments) -> Result<Self, ToolError> {
        let limit = arguments.number("limit", 1, MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT);
        let page = arguments.number("page", 1, u64::MAX)?;
        let offset = arguments.number("offset", 0, u64::MAX)?;
        match (page, offset) {
            (Some(_), Some(_)) => {
                refuse!("Give page or offset, not both: page counts from 1, offset from 0.")
            }
            (Some(page), None) => Ok(Self::page(page, limit)),
            (None, offset) => Ok(Self { offset: offset.unwrap_or_default(), limit }),
        }
    }

    /// Refuses what lies behind the end.
    pub(crate) fn check(self, total: u64, what: &str) -> Result<(), ToolError> {
        if self.offset == 0 || self.offset < total {
            return Ok(());
        }
        let pages = counted(total.div_ceil(self.limit), "page");
        refuse!(
            "That is past the end: there are {}, which is {pages} of {}.",
            counted(total, what),
            self.limit
        )
    }

    /// Where the part stands, if `returned` of it are there.
    pub(crate) fn pagination(self, total: u64, returned: u64) -> String {
        let Self { offset, limit } = self;
        let page = offset / limit + 1;
        let end = offset + returned;
        let has_more = end < total;
        // A page of which something is left out does not end where the next one begins.
        let is_whole = returned == limit && offset % limit == 0;
        let next = (has_more && is_whole).then_some(page + 1);
        let rest = (has_more && !is_whole).then_some(("next_offset", end.into()));
        let members = [
            ("total_count", total.into()),
            ("current_page", page.into()),
            ("page_size", limit.into()),
            ("total_pages", total.div_ceil(limit).into()),
            ("has_more", has_more.into()),
            ("next_page", next.into()),
            ("offset", offset.into()),
            ("returned", returned.into()),
        ];
        json::object(members.into_iter().chain(rest))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::definitions::Tool;

    fn fields(part: Part, total: u64, returned: u64) -> Value {
        serde_json::from_str(&part.pagination(total, returned)).unwrap()
    }

    fn part(given: Value) -> Result<Part, ToolError> {
        Part::of(&Arguments::new(Tool::Read, given).unwrap())
    }

    #[test]
    fn page_and_offset_exclude_each_other() {
        assert_eq!(part(json!({"page": 3, "limit": 10})).unwrap(), Part { offset: 20, limit: 10 });
        assert_eq!(part(json!({"offset": 7})).unwrap(), Part { offset: 7, limit: 20 });
        assert_eq!(part(json!({})).unwrap(), Part::default());
        let error = part(json!({"page": 1, "offset": 0})).unwrap_err().told();
        assert!(error.contains("not both"), "{error}");
        assert!(part(json!({"page": 0})).is_err());
        assert!(part(json!({"limit": 1001})).is_err());
    }

    #[test]
    fn the_paging_fields_say_where_a_page_stands() {
        let second = fields(Part::page(2, 20), 45, 20);
        let expected = json!({
            "total_count": 45, "current_page": 2, "page_size": 20, "total_pages": 3,
            "has_more": true, "next_page": 3, "offset": 20, "returned": 20,
        });
        assert_eq!(second, expected);
        let last = fields(Part::page(3, 20), 45, 5);
        assert_eq!((&last["has_more"], &last["next_page"]), (&json!(false), &Value::Null));
        assert_eq!(last.get("next_offset"), None);
        let cut = fields(Part::page(2, 20), 45, 7);
        assert_eq!((&cut["next_page"], &cut["next_offset"]), (&Value::Null, &json!(27)));
    }

    #[test]
    fn a_page_past_the_end_says_how_many_there_are() {
        let error = Part::page(4, 20).check(45, "record").unwrap_err().told();
        assert_eq!(error, "That is past the end: there are 45 records, which is 3 pages of 20.");
        Part::page(3, 20).check(45, "record").unwrap();
        Part::default().check(0, "record").unwrap();
    }
}
