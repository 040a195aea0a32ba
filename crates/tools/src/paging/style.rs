//! What an upstream has for its pages: which of its parameters leads to which page.
//!
//! The policy says it, or it is guessed from the names and types of the tool's parameters; what only
//! a result can tell, its first one does ([`Style::after_first`]).

mod definition;

use serde_json::Value;

use self::definition::Definition;
use super::{
    found::{Next, Told},
    next_url,
    raw::RawArguments,
    settings::{PagingSettings, PagingStyle},
};

/// How an upstream's pages are reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) way: Way,
    size: Option<Size>,
    /// Whether nobody has said so.
    is_guessed: bool,
    /// What may lead to the next page, if the first result gives what fits it.
    perhaps: Perhaps,
    /// The names of all parameters, and whether each takes a text.
    parameters: Vec<(String, Type)>,
}

/// What leads to a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Way {
    /// The number of the page.
    Page { parameter: String, first: First },
    /// How many records come before.
    Offset {
        parameter: String,
        /// The number of the first record: 0, unless something says that it is 1.
        first: u64,
    },
    /// What the page before gave.
    Cursor { parameter: String },
    /// The URL that the page before gave: whole, or the parameters in it.
    Url { parameter: Option<String> },
    /// Nothing that the definition tells: the first result may.
    Unknown,
    /// All records come at once.
    Whole,
}

/// The number of the first page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    /// It is told, or its pages have shown it.
    Known(u64),
    /// It is 1 as with most. The first page is asked for without a number.
    Presumed,
    /// The same, and what has come speaks against it.
    Doubted,
    /// It cannot be left out: 0 is tried first, and what it gives is compared with what 1 gives.
    Untried,
}

/// Which page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// The page that the upstream calls 1: the first one, or the second.
    Numbered1,
    /// The page of this number, from 0 on.
    Page(u64),
    /// The page that begins with this record.
    Offset(u64),
    /// The first one, or the only one.
    First,
    /// The one behind another.
    Behind(Next),
}

/// Parameters that are called like those that lead to the next page, and may be something else: a number called
/// `after` may be a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Perhaps {
    /// For numbers.
    cursor: Option<String>,
    /// For texts.
    url: Option<String>,
}

/// The parameter for how many records a page has.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Size {
    parameter: String,
    asked: u64,
}

/// What a parameter takes, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Number,
    Text,
    Any,
}

impl Style {
    /// The style of a tool with this input schema.
    pub(crate) fn of(schema: &Value, settings: &PagingSettings) -> Self {
        let definition = Definition::read(schema);
        let way = definition.way(settings);
        let size = definition.size(settings);
        let is_guessed = settings.style == PagingStyle::Auto && !matches!(way, Way::Unknown);
        let perhaps = definition.perhaps();
        Self { way, size, is_guessed, perhaps, parameters: definition.parameters() }
    }

    /// The style, now that the first result is known.
    pub(crate) fn after_first(mut self, told: &Told) -> Self {
        if self.way != Way::Unknown {
            return self;
        }
        let leads_on = |url: &str| !self.arguments_in(url).is_empty();
        self.way = match (&told.next, &self.perhaps) {
            (Some(Next::Url(url)), Perhaps { url: Some(parameter), .. })
                if next_url::is_whole(url) && !self.places(url) =>
            {
                Way::Url { parameter: Some(parameter.clone()) }
            }
            (Some(Next::Url(url)), _) if leads_on(url) => Way::Url { parameter: None },
            (Some(Next::Token(_)), Perhaps { cursor: Some(parameter), .. }) => {
                Way::Cursor { parameter: parameter.clone() }
            }
            (Some(Next::Url(_) | Next::Token(_)) | None, _) => Way::Whole,
        };
        self.is_guessed = true;
        self
    }

    /// True if the query of a URL sets a number of the tool's that may be a place among the records, or what may
    /// be a parameter for URLs: it is then no URL to be given whole.
    fn places(&self, url: &str) -> bool {
        self.arguments_in(url).iter().any(|(name, value)| {
            let is_place = value.is_number() && Some(name.as_str()) != self.size_parameter();
            is_place || Some(name) == self.perhaps.url.as_ref()
        })
    }

    /// The style, now that it is known which number the first page has.
    pub(crate) fn counting_from(self, number: u64) -> Self {
        self.with_first(First::Known(number))
    }

    /// The style, now that something speaks against the number that the first page is presumed to have.
    pub(crate) fn doubting(self) -> Self {
        self.with_first(First::Doubted)
    }

    fn with_first(mut self, number: First) -> Self {
        if let Way::Page { first, .. } = &mut self.way {
            *first = number;
        }
        self
    }

    /// The style, now that the page is known that comes if none is asked for by its number.
    pub(crate) fn after_unnumbered(self, told: &Told) -> Self {
        if self.tries_0() {
            // It was asked for by a number, and some take 0 for 1.
            return self;
        }
        match told.number.or_else(|| self.number_before(told.next.as_ref()?)) {
            Some(1) => self.counting_from(1),
            // Some say 0 where no number was given.
            Some(_) => self.doubting(),
            None => self,
        }
    }

    /// The number of the first page, if this leads to the second.
    fn number_before(&self, next: &Next) -> Option<u64> {
        let next: u64 = match next {
            Next::Token(token) => token.as_u64().or_else(|| token.as_str()?.parse().ok())?,
            Next::Url(url) => {
                let query = next_url::query(url);
                let own = query.iter().find(|(it, _)| Some(&**it) == self.position_parameter());
                own.and_then(|(_, number)| number.parse().ok())?
            }
        };
        next.checked_sub(1).filter(|number| *number <= 1)
    }

    /// True if it is only presumed which number the first page has.
    pub(crate) fn presumes_first(&self) -> bool {
        matches!(
            self.way,
            Way::Page { first: First::Presumed | First::Doubted | First::Untried, .. }
        )
    }

    /// True if something speaks against what is presumed, or nothing for it.
    pub(crate) fn doubts_first(&self) -> bool {
        matches!(self.way, Way::Page { first: First::Doubted | First::Untried, .. })
    }

    /// True if the first page is asked for as 0, to see whether that is its number.
    pub(crate) fn tries_0(&self) -> bool {
        matches!(self.way, Way::Page { first: First::Untried, .. })
    }

    /// The parameter that says which page.
    pub(crate) fn position_parameter(&self) -> Option<&str> {
        match &self.way {
            Way::Page { parameter, .. }
            | Way::Offset { parameter, .. }
            | Way::Cursor { parameter } => Some(parameter),
            Way::Url { parameter } => parameter.as_deref(),
            Way::Unknown | Way::Whole => None,
        }
    }

    /// The parameter for what the page before gave.
    pub(crate) fn cursor_parameter(&self) -> Option<&str> {
        match self.way {
            Way::Unknown => self.perhaps.cursor.as_deref(),
            _ => self.position_parameter().filter(|_| self.goes_in_order()),
        }
    }

    /// The parameter that says how many records a page has.
    pub(crate) fn size_parameter(&self) -> Option<&str> {
        self.size.as_ref().map(|size| size.parameter.as_str())
    }

    /// From now on no size is asked for; `false` if none was.
    pub(crate) fn asks_no_size(&mut self) -> bool {
        self.size.take().is_some()
    }

    /// How many records a page is asked to have.
    pub(crate) fn asked_size(&self) -> Option<u64> {
        self.size.as_ref().map(|size| size.asked)
    }

    /// True if a page is asked for by its number.
    pub(crate) fn is_numbered(&self) -> bool {
        matches!(self.way, Way::Page { .. })
    }

    /// True if a page is asked for by its place among the others.
    pub(crate) fn has_places(&self) -> bool {
        matches!(self.way, Way::Page { .. } | Way::Offset { .. })
    }

    /// True if a page can only be reached through the one before.
    pub(crate) fn goes_in_order(&self) -> bool {
        matches!(self.way, Way::Cursor { .. } | Way::Url { .. })
    }

    /// The arguments that lead to a page.
    pub(crate) fn arguments(&self, base: &RawArguments, step: &Step) -> RawArguments {
        let mut arguments = base.clone();
        if let Some(Size { parameter, asked }) = &self.size
            && base.get(parameter).is_none()
        {
            arguments.set(parameter, &self.number(parameter, *asked));
        }
        match (&self.way, step) {
            (Way::Page { first: First::Presumed | First::Doubted, .. }, Step::Page(0)) => {}
            (Way::Page { parameter, first }, Step::Page(page)) => {
                arguments.set(parameter, &self.number(parameter, page + first.number()));
            }
            (Way::Page { parameter, .. }, Step::Numbered1) => {
                arguments.set(parameter, &self.number(parameter, 1));
            }
            (Way::Offset { parameter, first }, Step::Offset(offset)) => {
                arguments.set(parameter, &self.number(parameter, offset + first));
            }
            (Way::Cursor { parameter }, Step::Behind(Next::Token(token))) => {
                arguments.set(parameter, &self.fitting(parameter, token));
            }
            (Way::Cursor { parameter }, Step::Behind(Next::Url(url))) => {
                // The cursor stands in it, or it is the URL itself.
                let query = next_url::query(url);
                let cursor = query.iter().find(|(name, _)| name == parameter);
                let cursor = cursor.map_or(url, |(_, cursor)| cursor).as_str().into();
                arguments.set(parameter, &self.fitting(parameter, &cursor));
            }
            (Way::Url { parameter: Some(parameter) }, Step::Behind(next)) => {
                arguments.set(parameter, &next.value());
            }
            (Way::Url { parameter: None }, Step::Behind(Next::Url(url))) => {
                for (name, value) in self.arguments_in(url) {
                    arguments.set(&name, &value);
                }
            }
            // The first page is reached without saying so.
            _ => {}
        }
        arguments
    }

    /// How it is told, if it is a guess.
    pub(crate) fn guess(&self) -> Option<String> {
        let by = match &self.way {
            _ if !self.is_guessed => return None,
            Way::Page { parameter, .. }
            | Way::Offset { parameter, .. }
            | Way::Cursor { parameter } => parameter.clone(),
            Way::Url { parameter } => parameter.clone().unwrap_or_else(|| "next URL".to_owned()),
            Way::Unknown | Way::Whole => return Some("one page (guessed)".to_owned()),
        };
        let size = self.size_parameter().map(|size| format!(", {size}")).unwrap_or_default();
        Some(format!("{by}{size} (guessed)"))
    }

    /// What the query of a URL sets that is a parameter of the tool.
    fn arguments_in(&self, url: &str) -> Vec<(String, Value)> {
        let set = next_url::query(url).into_iter().filter_map(|(name, value)| {
            let (name, kind) = self.parameters.iter().find(|(known, _)| *known == name)?;
            let number = value.parse::<u64>().ok().filter(|_| *kind != Type::Text);
            Some((name.clone(), number.map_or_else(|| value.into(), Value::from)))
        });
        set.collect()
    }

    fn number(&self, parameter: &str, number: u64) -> Value {
        self.fitting(parameter, &number.into())
    }

    /// A text or a number, as the parameter takes it.
    fn fitting(&self, parameter: &str, value: &Value) -> Value {
        let known = self.parameters.iter().find(|(name, _)| name == parameter);
        let number = || value.as_str()?.parse::<i64>().ok();
        match known.map_or(Type::Any, |(_, kind)| *kind) {
            Type::Text if value.is_number() => value.to_string().into(),
            Type::Number => number().map_or_else(|| value.clone(), Value::from),
            Type::Text | Type::Any => value.clone(),
        }
    }
}

impl First {
    fn number(self) -> u64 {
        match self {
            Self::Known(number) => number,
            Self::Presumed | Self::Doubted => 1,
            Self::Untried => 0,
        }
    }
}

impl Step {
    /// What the page is called where it is told.
    pub(crate) fn told(&self, style: &Style, place: u64) -> String {
        match (self, &style.way) {
            (Self::Page(page), Way::Page { parameter, first }) => {
                format!("upstream page {} ({parameter} = {})", page + 1, page + first.number())
            }
            (Self::Numbered1, Way::Page { parameter, .. }) => {
                format!("upstream page with {parameter} = 1")
            }
            (Self::Offset(offset), Way::Offset { parameter, first }) => {
                format!("upstream page at {parameter} = {}", offset + first)
            }
            _ => format!("upstream page {}", place + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn style(properties: &Value) -> Style {
        Style::of(&json!({"properties": properties}), &PagingSettings::default())
    }

    fn way(properties: &Value) -> Way {
        style(properties).way
    }

    fn page(parameter: &str, first: First) -> Way {
        Way::Page { parameter: parameter.to_owned(), first }
    }

    #[test]
    fn the_number_of_the_first_page_is_told_by_its_definition() {
        let first = |property: Value| match way(&json!({"page": property})) {
            Way::Page { first, .. } => first,
            other => panic!("{other:?}"),
        };
        let integer = |name: &str, value: Value| json!({"type": "integer", name: value});
        assert_eq!(first(integer("minimum", 1.into())), First::Known(1));
        assert_eq!(first(integer("default", 0.into())), First::Known(0));
        assert_eq!(first(integer("description", "Page (0-based)".into())), First::Known(0));
        assert_eq!(first(integer("description", "Starting from 1.".into())), First::Known(1));
        assert_eq!(first(integer("description", "The page".into())), First::Presumed);
        let or_null = json!({"anyOf": [integer("minimum", 0.into()), {"type": "null"}]});
        assert_eq!(first(or_null), First::Known(0));
        let required = json!({"properties": {"page": {"type": "integer"}}, "required": ["page"]});
        let way = Style::of(&required, &PagingSettings::default()).way;
        assert_eq!(way, page("page", First::Untried), "it cannot be left out");
        let unmarked = style(&json!({"page": {"type": "integer"}}));
        let after = |next| {
            let told = Told { next: Some(next), ..Told::default() };
            unmarked.clone().after_unnumbered(&told).way
        };
        assert_eq!(after(Next::Token(1.into())), page("page", First::Doubted));
        assert_eq!(after(Next::Token("2".into())), page("page", First::Known(1)));
        let url = Next::Url("https://h/?q=1&page=2".to_owned());
        assert_eq!(after(url), page("page", First::Known(1)));
        assert_eq!(after(Next::Token("x".into())), page("page", First::Presumed));
    }

    #[test]
    fn a_page_is_asked_for_by_what_leads_to_it() {
        let arguments = |style: &Style, base: &str, step: Step| {
            let base = RawArguments::read(base.as_bytes());
            String::from_utf8(style.arguments(&base, &step).to_json()).unwrap()
        };
        let size = json!({"type": "integer", "maximum": 250});
        let paged = style(&json!({"page": {"type": "integer"}, "per_page": size}));
        assert_eq!(
            arguments(&paged, r#"{"q":1.0}"#, Step::Page(2)),
            r#"{"q":1.0,"per_page":250,"page":3}"#
        );
        assert_eq!(
            arguments(&paged, r#"{"per_page":30}"#, Step::Page(0)),
            r#"{"per_page":30}"#,
            "the first one, whatever its number is"
        );
        let known = paged.clone().counting_from(0);
        assert_eq!(arguments(&known, "{}", Step::Page(0)), r#"{"per_page":250,"page":0}"#);
        let cursors = style(&json!({"cursor": {"type": "string"}}));
        assert_eq!(arguments(&cursors, "{}", Step::First), "{}");
        let behind = Step::Behind(Next::Token("x=".into()));
        assert_eq!(arguments(&cursors, "{}", behind), r#"{"cursor":"x="}"#);
        let url = Step::Behind(Next::Url("https://h/x?cursor=a%3D&n=1".to_owned()));
        assert_eq!(arguments(&cursors, "{}", url), r#"{"cursor":"a="}"#);
        assert_eq!(cursors.guess().unwrap(), "cursor (guessed)");
    }

    #[test]
    fn a_next_url_leads_on_if_the_tool_has_its_parameters() {
        let told = |url: &str| Told { next: Some(Next::Url(url.to_owned())), ..Told::default() };
        let url = "https://api.example.com/v1/x?key=1&at=7&part=a%20b";
        let unknown = style(&json!({"at": {"type": "integer"}, "part": {"type": "string"}}));
        let known = unknown.after_first(&told(url));
        assert_eq!(known.way, Way::Url { parameter: None });
        let step = Step::Behind(Next::Url(url.to_owned()));
        let arguments = known.arguments(&RawArguments::default(), &step).to_json();
        assert_eq!(String::from_utf8(arguments).unwrap(), r#"{"at":7,"part":"a b"}"#);
        let lost = style(&json!({"q": {"type": "string"}})).after_first(&told(url));
        assert_eq!(lost.way, Way::Whole);
    }
}
