//! How a reference is written: `forebay://dataset/ID?rows=0-99`, or `{"$dataset": "ID", "select": {…}}`.
//!
//! Pure: what is named need not exist. A text is a reference only if it is one from its first character
//! to its last; a text in which one stands is a text.

use forebay_store::ADDRESS;
use serde_json::{Map, Value};

use super::{percent::decoded, selection::Selection};
use crate::{ToolError, arguments::shown, error::refuse};

/// The member that makes an object the second spelling.
pub(super) const MEMBER: &str = "$dataset";
const SELECT: &str = "select";

/// A dataset that is named in place of what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// What queries call the dataset, or one of its tables.
    pub(super) name: String,
    pub(super) selection: Selection,
    pub(super) spelling: Spelling,
}

/// The two spellings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    Text,
    Object,
}

impl Reference {
    /// Reads a text; `None` if it is no reference.
    pub(super) fn of_text(text: &str) -> Option<Result<Self, ToolError>> {
        // What has blanks around it is part of another text, such as a line of a file.
        let (name, query) = parts(text).filter(|_| text.trim() == text)?;
        let selection = Selection::of_query(query);
        Some(selection.map(|selection| Self { name, selection, spelling: Spelling::Text }))
    }

    /// Reads an object; `None` if it is no reference.
    pub(super) fn of_object(object: &Map<String, Value>) -> Option<Result<Self, ToolError>> {
        let named = object.get(MEMBER)?;
        Some(Self::of_members(object, named))
    }

    fn of_members(object: &Map<String, Value>, named: &Value) -> Result<Self, ToolError> {
        let Some(text) = named.as_str().filter(|text| !text.trim().is_empty()) else {
            return refuse!(
                "{MEMBER} must be the name of a dataset, such as \"dataset_k3v9x2ma\", not {}.",
                shown(named)
            );
        };
        if let Some(other) = object.keys().find(|key| ![MEMBER, SELECT].contains(&key.as_str())) {
            return refuse!(
                "An object with {MEMBER} has only {SELECT} beside it, not {}. Write \
                 {{\"{MEMBER}\": {}, \"{SELECT}\": {{…}}}}.",
                shown(&Value::from(other.as_str())),
                shown(named)
            );
        }
        let selected = object.get(SELECT).filter(|selected| !selected.is_null());
        let (name, query) = parts(text).unwrap_or_else(|| (text.trim().to_owned(), ""));
        let selection = match selected {
            Some(_) if !query.is_empty() => {
                return refuse!("Write what is to be selected behind ? or in {SELECT}, not both.");
            }
            Some(selected) => Selection::of_value(selected)?,
            None => Selection::of_query(query)?,
        };
        Ok(Self { name, selection, spelling: Spelling::Object })
    }
}

/// The name in a reference that is a text, and what stands behind its question mark. A table's name may
/// stand behind a slash. `None` if what stands there can be no name: then it is some other text.
fn parts(text: &str) -> Option<(String, &str)> {
    let rest = text.trim().strip_prefix(ADDRESS)?;
    let (name, query) = rest.split_once('?').unwrap_or((rest, ""));
    let name = decoded(name.trim_end_matches('/'));
    // A server called `dataset` may have resources of this form: `forebay://dataset/note://1`.
    let is_name =
        !name.is_empty() && !name.contains([':', '"']) && !name.contains(char::is_whitespace);
    is_name.then(|| (name.replacen('/', "_", 1), query))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::selection::Format, *};

    fn text(text: &str) -> Reference {
        Reference::of_text(text).unwrap().unwrap()
    }

    fn object(value: &Value) -> Result<Reference, String> {
        let read = Reference::of_object(value.as_object().unwrap()).unwrap();
        read.map_err(|error| error.told())
    }

    #[test]
    fn a_text_is_a_reference_only_if_all_of_it_is() {
        assert_eq!(text("forebay://dataset/dataset_k3v9x2ma").name, "dataset_k3v9x2ma");
        assert_eq!(text("forebay://dataset/k3v9x2ma/").name, "k3v9x2ma");
        assert_eq!(text("forebay://dataset/k3v9x2ma/authors").name, "k3v9x2ma_authors");
        assert_eq!(text("forebay://dataset/list%5forders").name, "list_orders");
        for other in [
            "",
            "forebay://dataset/",
            "forebay://other/k3v9x2ma",
            "see forebay://dataset/k3v9x2ma",
            " forebay://dataset/k3v9x2ma",
            "forebay://dataset/k3v9x2ma\n",
            "forebay://dataset/k3v9x2ma holds the orders",
            "forebay://dataset/note://1",
            "FOREBAY://dataset/k3v9x2ma",
            "{\"data\":\"forebay://dataset/k3v9x2ma\"}",
        ] {
            assert!(Reference::of_text(other).is_none(), "{other}");
        }
    }

    #[test]
    fn both_spellings_say_the_same() {
        let sql = "SELECT a, 'x%' FROM dataset WHERE b & 1 = 1";
        for (written, select) in [
            ("?fields=a,b%2Cc&rows=0-99", json!({"fields": ["a", "b,c"], "rows": "0-99"})),
            ("?pointer=/items/0/a%20b", json!({"pointer": "/items/0/a b"})),
            (&*format!("?sql={sql}&format=csv"), json!({"sql": sql, "format": "csv"})),
            ("?block=1", json!({"block": 1})),
            ("?rows=7", json!({"rows": 7})),
            ("", Value::Null),
        ] {
            let one = text(&format!("forebay://dataset/k3v9x2ma{written}"));
            let other = object(&json!({"$dataset": "k3v9x2ma", "select": select})).unwrap();
            assert_eq!((one.name, one.selection), (other.name, other.selection), "{written}");
        }
        let whole = object(&json!({"$dataset": "forebay://dataset/k3v9x2ma?format=csv"})).unwrap();
        assert_eq!(whole.selection.format, Some(Format::Csv));
        assert!(
            Reference::of_object(json!({"dataset": "k3v9x2ma"}).as_object().unwrap()).is_none()
        );
    }

    #[test]
    fn an_object_that_is_meant_as_a_reference_and_is_none_is_refused() {
        for (value, expected) in [
            (json!({"$dataset": 7}), "not 7."),
            (json!({"$dataset": ""}), "must be the name"),
            (json!({"$dataset": "a", "selct": {}}), "only select beside it, not \"selct\"."),
            (json!({"$dataset": "a", "select": 1}), "select must be an object"),
            (json!({"$dataset": "forebay://dataset/a?rows=1", "select": {"rows": 1}}), "not both."),
        ] {
            let told = object(&value).unwrap_err();
            assert!(told.contains(expected), "{value}: {told}");
        }
    }
}
