//! What the definition of a tool tells of its pages: which parameters lead to them, by their names and types.

use serde_json::Value;

use super::{
    super::{
        raw::normal,
        settings::{PagingSettings, PagingStyle},
    },
    First, Perhaps, Size, Type, Way,
};
use crate::pages::MAX_LIMIT;

/// How many records are asked for, if neither the policy nor the definition says how many there can be.
const USUAL_SIZE: u64 = 100;

const PAGES: [&str; 8] =
    ["page", "pagenumber", "pageno", "pagenum", "pageindex", "currentpage", "pageid", "p"];
const OFFSETS: [&str; 10] = [
    "offset",
    "skip",
    "startindex",
    "startat",
    "start",
    "from",
    "firstresult",
    "startrow",
    "startrecord",
    "resultoffset",
];
const SIZES: [&str; 18] = [
    "perpage",
    "pagesize",
    "limit",
    "size",
    "maxresults",
    "count",
    "top",
    "take",
    "rows",
    "first",
    "resultsperpage",
    "itemsperpage",
    "hitsperpage",
    "maxitems",
    "maxrecords",
    "pagelimit",
    "resultrecordcount",
    "num",
];
const CURSORS: [&str; 18] = [
    "cursor",
    "pagetoken",
    "nextpagetoken",
    "nexttoken",
    "nextcursor",
    "after",
    "startingafter",
    "continuationtoken",
    "continuation",
    "continue",
    "scrollid",
    "bookmark",
    "marker",
    "startcursor",
    "pagecursor",
    "nextmarker",
    "exclusivestartkey",
    "resumetoken",
];
const URLS: [&str; 5] = ["nexturl", "nextlink", "nextpageurl", "nextpage", "next"];
/// Names that a parameter for the URL of the next page has, and others, too.
const PERHAPS_URLS: [&str; 4] = ["url", "link", "pageurl", "href"];

/// The parameters of a tool.
pub(super) struct Definition<'d> {
    properties: Vec<(&'d str, &'d Value)>,
    /// Those without which the tool cannot be called.
    required: Vec<&'d str>,
}

impl<'d> Definition<'d> {
    pub(super) fn read(schema: &'d Value) -> Self {
        let properties = schema["properties"].as_object().into_iter().flatten();
        let required = schema["required"].as_array().into_iter().flatten();
        Self {
            properties: properties.map(|(name, property)| (name.as_str(), property)).collect(),
            required: required.filter_map(Value::as_str).collect(),
        }
    }

    pub(super) fn parameters(&self) -> Vec<(String, Type)> {
        self.properties
            .iter()
            .map(|(name, property)| ((*name).to_owned(), type_of(property)))
            .collect()
    }

    pub(super) fn way(&self, settings: &PagingSettings) -> Way {
        let page = settings.page_parameter.as_deref().or_else(|| self.numbered(&PAGES));
        let offset = settings.offset_parameter.as_deref().or_else(|| self.numbered(&OFFSETS));
        let cursor = settings.cursor_parameter.as_deref().or_else(|| self.cursor());
        let url = settings.cursor_parameter.as_deref().or_else(|| self.named(&URLS));
        let by_page = page.map(|parameter| Way::Page {
            parameter: parameter.to_owned(),
            first: settings.first_page.map_or_else(|| self.first_page(parameter), First::Known),
        });
        let by_offset = offset.map(|parameter| Way::Offset {
            parameter: parameter.to_owned(),
            first: settings.first_page.or_else(|| self.first_number(parameter)).unwrap_or(0),
        });
        let by_cursor = cursor.map(|parameter| Way::Cursor { parameter: parameter.to_owned() });
        let by_url = url.map(|parameter| Way::Url { parameter: Some(parameter.to_owned()) });
        match settings.style {
            PagingStyle::Auto => {
                by_page.or(by_offset).or(by_cursor).or(by_url).unwrap_or(Way::Unknown)
            }
            PagingStyle::Page => {
                let first = settings.first_page.map_or(First::Presumed, First::Known);
                by_page.unwrap_or_else(|| Way::Page { parameter: "page".to_owned(), first })
            }
            PagingStyle::Offset => {
                let first = settings.first_page.unwrap_or(0);
                by_offset.unwrap_or_else(|| Way::Offset { parameter: "offset".to_owned(), first })
            }
            PagingStyle::Cursor => {
                by_cursor.unwrap_or_else(|| Way::Cursor { parameter: "cursor".to_owned() })
            }
            PagingStyle::Next => by_url.unwrap_or(Way::Url { parameter: None }),
            PagingStyle::None => Way::Whole,
        }
    }

    pub(super) fn perhaps(&self) -> Perhaps {
        let number = |wanted: &&str| {
            let mut all = self.properties.iter();
            let fits = |(name, property): &&(&str, &Value)| {
                normal(name) == **wanted && type_of(property) == Type::Number
            };
            all.find(fits).map(|(name, _)| (*name).to_owned())
        };
        Perhaps {
            cursor: CURSORS.iter().find_map(number),
            url: self.named(&PERHAPS_URLS).map(ToOwned::to_owned),
        }
    }

    pub(super) fn size(&self, settings: &PagingSettings) -> Option<Size> {
        if settings.style == PagingStyle::None {
            return None;
        }
        let parameter = settings.size_parameter.as_deref().or_else(|| self.numbered(&SIZES))?;
        let most = self.property(parameter).and_then(|property| property["maximum"].as_u64());
        let asked = settings.page_size.or(most.map(|most| most.clamp(1, MAX_LIMIT)));
        Some(Size { parameter: parameter.to_owned(), asked: asked.unwrap_or(USUAL_SIZE) })
    }

    /// The parameter for numbers whose name comes first among these.
    fn numbered(&self, names: &[&str]) -> Option<&'d str> {
        // A date may be called so, too.
        let is_plain = |name: &str| !matches!(name, "start" | "from" | "p" | "next" | "num");
        names.iter().find_map(|wanted| {
            let found = self.properties.iter().find(|(name, property)| {
                let fits = match type_of(property) {
                    Type::Number => true,
                    Type::Any => is_plain(wanted),
                    Type::Text => false,
                };
                normal(name) == **wanted && fits
            });
            found.map(|(name, _)| *name)
        })
    }

    fn cursor(&self) -> Option<&'d str> {
        // Some call a cursor an offset, or a page.
        let as_text = |name: &str| {
            let found = self
                .properties
                .iter()
                .find(|(own, property)| normal(own) == name && type_of(property) == Type::Text);
            found.map(|(own, _)| *own)
        };
        self.named(&CURSORS).or_else(|| as_text("offset")).or_else(|| as_text("page"))
    }

    fn named(&self, names: &[&str]) -> Option<&'d str> {
        names.iter().find_map(|wanted| {
            let found = self.properties.iter().find(|(name, property)| {
                normal(name) == **wanted && type_of(property) != Type::Number
            });
            found.map(|(name, _)| *name)
        })
    }

    /// The number of the first page, as far as the definition tells it.
    fn first_page(&self, parameter: &str) -> First {
        match self.first_number(parameter) {
            Some(number) => First::Known(number),
            // One that has to be named can only be tried.
            None if self.required.contains(&parameter) => First::Untried,
            None => First::Presumed,
        }
    }

    /// What a parameter counts from, as its bounds, its default or its description tell it.
    fn first_number(&self, parameter: &str) -> Option<u64> {
        const FROM_0: [&str; 8] = [
            "0-based",
            "zero-based",
            "zero based",
            "0-indexed",
            "zero-indexed",
            "starting at 0",
            "starts at 0",
            "from 0",
        ];
        const FROM_1: [&str; 8] = [
            "1-based",
            "one-based",
            "one based",
            "1-indexed",
            "one-indexed",
            "starting at 1",
            "starts at 1",
            "from 1",
        ];
        let property = self.property(parameter).unwrap_or(&Value::Null);
        let alternatives = ["anyOf", "oneOf"].iter().filter_map(|key| property[key].as_array());
        let all: Vec<&Value> = alternatives.flatten().chain([property]).collect();
        let numbers =
            ["minimum", "default"].map(|key| all.iter().find_map(|one| one[key].as_u64()));
        let described = property["description"].as_str().unwrap_or_default().to_lowercase();
        // "From 100" is not "from 1".
        let is_apart = |(at, words): (usize, &str)| {
            let is_digit = |found: Option<char>| found.is_some_and(|it| it.is_ascii_digit());
            let behind = &described[at + words.len()..];
            !is_digit(described[..at].chars().next_back()) && !is_digit(behind.chars().next())
        };
        let says =
            |all: &[&str]| all.iter().any(|words| described.match_indices(words).any(is_apart));
        if numbers.contains(&Some(0)) || says(&FROM_0) {
            return Some(0);
        }
        (numbers.contains(&Some(1)) || says(&FROM_1)).then_some(1)
    }

    fn property(&self, parameter: &str) -> Option<&'d Value> {
        self.properties.iter().find(|(name, _)| *name == parameter).map(|(_, property)| *property)
    }
}

/// What a parameter takes. One that may be null is what else it may be.
fn type_of(property: &Value) -> Type {
    let alternatives = ["anyOf", "oneOf"].iter().filter_map(|key| property[key].as_array());
    let all = alternatives.flatten().chain([property]);
    let named = all.flat_map(|one| match &one["type"] {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    });
    let mut kind = Type::Any;
    for name in named {
        match name {
            "integer" | "number" => return Type::Number,
            "string" => kind = Type::Text,
            _ => {}
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::Style, *};

    fn way(properties: &Value) -> Way {
        Style::of(&json!({"properties": properties}), &PagingSettings::default()).way
    }

    fn page(parameter: &str, first: First) -> Way {
        Way::Page { parameter: parameter.to_owned(), first }
    }

    #[test]
    fn the_way_is_told_by_names_and_types() {
        let integer = json!({"type": "integer"});
        let text = json!({"type": "string"});
        assert_eq!(
            way(&json!({"q": text, "page": integer, "per_page": integer})),
            page("page", First::Presumed)
        );
        assert_eq!(
            way(&json!({"pageNumber": {"type": "integer", "minimum": 0}})),
            page("pageNumber", First::Known(0))
        );
        let offset = |name: &str| Way::Offset { parameter: name.to_owned(), first: 0 };
        assert_eq!(way(&json!({"$skip": integer, "$top": integer})), offset("$skip"));
        assert_eq!(way(&json!({"start": integer})), offset("start"));
        assert_eq!(way(&json!({"start": text})), Way::Unknown, "a date, perhaps");
        let cursor = |name: &str| Way::Cursor { parameter: name.to_owned() };
        assert_eq!(way(&json!({"pageToken": text, "maxResults": integer})), cursor("pageToken"));
        assert_eq!(way(&json!({"offset": text})), cursor("offset"), "as some call it");
        let or_null = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
        assert_eq!(way(&json!({"starting_after": or_null})), cursor("starting_after"));
        assert_eq!(
            way(&json!({"next_url": text})),
            Way::Url { parameter: Some("next_url".into()) }
        );
        assert_eq!(way(&json!({"q": text})), Way::Unknown);
        assert_eq!(way(&json!({})), Way::Unknown);
    }

    #[test]
    fn the_policy_says_it_outright() {
        let schema = json!({"properties": {"page": {"type": "integer"}, "n": {"type": "integer"}}});
        let of = |settings: PagingSettings| Style::of(&schema, &settings);
        let set = PagingSettings { style: PagingStyle::Offset, ..PagingSettings::default() };
        let style = of(PagingSettings { offset_parameter: Some("n".to_owned()), ..set.clone() });
        assert_eq!(
            (style.way.clone(), style.guess()),
            (Way::Offset { parameter: "n".into(), first: 0 }, None)
        );
        let from_1 = PagingSettings { first_page: Some(1), ..set.clone() };
        assert_eq!(of(from_1).way, Way::Offset { parameter: "offset".into(), first: 1 });
        assert_eq!(of(set).way, Way::Offset { parameter: "offset".into(), first: 0 });
        let none = PagingSettings { style: PagingStyle::None, ..PagingSettings::default() };
        assert_eq!(of(none).way, Way::Whole);
        let zero = PagingSettings { first_page: Some(0), ..PagingSettings::default() };
        assert_eq!(of(zero).way, page("page", First::Known(0)));
    }

    #[test]
    fn what_an_offset_counts_from_is_told_by_its_definition_and_else_0() {
        let first = |name: &str, value: Value| {
            let mut property = json!({"type": "integer"});
            property[name] = value;
            match way(&json!({"start": property, "num": {"type": "integer", "default": 10}})) {
                Way::Offset { first, .. } => first,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(first("default", 1.into()), 1);
        assert_eq!(first("minimum", 1.into()), 1);
        assert_eq!(first("description", "The 1-based index of the first result.".into()), 1);
        assert_eq!(first("description", "First record, from 1.".into()), 1);
        assert_eq!(first("description", "One of the records from 100 on".into()), 0);
        assert_eq!(first("description", "First record, counted from 0".into()), 0);
        assert_eq!(first("default", 0.into()), 0);
        assert_eq!(first("title", "Start".into()), 0);
        let schema = json!({"properties": {"start": {"type": "integer"}}});
        let from_1 = PagingSettings { first_page: Some(1), ..PagingSettings::default() };
        let way = Style::of(&schema, &from_1).way;
        assert_eq!(way, Way::Offset { parameter: "start".to_owned(), first: 1 });
    }
}
