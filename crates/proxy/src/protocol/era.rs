//! The families of revisions, and what they ask of every result.

use forebay_wire::scan::{self, Object, Outline};

/// The revisions of the protocol that are known, the oldest first; the last one is modern.
pub const REVISIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Which family of revisions a session speaks, as far as it has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Era {
    /// Nothing has been said yet.
    #[default]
    Unknown,
    /// 2024-11-05 to 2025-11-25: `initialize`, sessions, requests from upstream to client.
    Legacy,
    /// 2026-07-28 and later: `server/discover`, stateless, `input_required`.
    Modern,
}

/// The first revision that has `resource_link`.
const FIRST_WITH_LINKS: &str = "2025-06-18";

/// True if a block of content may be a link in that revision. Revisions are dates.
pub(crate) fn has_links(revision: &str) -> bool {
    revision >= FIRST_WITH_LINKS
}

impl Era {
    /// A tool's result, which is JSON, with what this era asks of every result.
    pub(crate) fn completed(self, result: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Unknown | Self::Legacy => result,
            Self::Modern => with_result_type(result),
        }
    }
}

/// Modern: a result says of what type it is.
fn with_result_type(mut result: Vec<u8>) -> Vec<u8> {
    let Outline::Object(Object { members: [None], span }) = scan::outline(&result, ["resultType"])
    else {
        return result;
    };
    let Ok(inside) = usize::try_from(span.start + 1) else { return result };
    let is_empty = result[inside..].trim_ascii_start().starts_with(b"}");
    let member =
        if is_empty { r#""resultType":"complete""# } else { r#""resultType":"complete","# };
    result.splice(inside..inside, member.bytes());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modern_result_says_that_it_is_complete() {
        let completed = |era: Era, json: &str| {
            String::from_utf8(era.completed(json.as_bytes().to_vec())).unwrap()
        };
        let modern = [
            (r#"{"content":[]}"#, r#"{"resultType":"complete","content":[]}"#),
            (" { } ", r#" {"resultType":"complete" } "#),
            (r#"{"a":{"resultType":1}}"#, r#"{"resultType":"complete","a":{"resultType":1}}"#),
            (r#"{"resultType":"task"}"#, r#"{"resultType":"task"}"#),
            ("[1]", "[1]"),
        ];
        for (json, expected) in modern {
            assert_eq!(completed(Era::Modern, json), expected);
            assert_eq!(completed(Era::Legacy, json), json);
            assert_eq!(completed(Era::Unknown, json), json);
        }
    }
}
