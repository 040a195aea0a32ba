//! What the upstreams of a group have: their lists, read to the end, and one list of all of them.

use std::{collections::HashMap, ops::Range, sync::Arc};

use forebay_wire::{scan, walk};

use crate::router::{Names, UpstreamName};

/// What there are lists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

/// Something that an upstream has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// What it is called there: a name, or the URI of a resource.
    pub(crate) own: Arc<str>,
    json: Vec<u8>,
    /// Where its name is written.
    name: Option<Range<usize>>,
}

/// One of an upstream's lists; `None` until it is known.
pub(crate) type List = Option<Vec<Item>>;

/// A page of a list.
pub(super) struct Page {
    pub(super) items: Vec<Item>,
    pub(super) next: Option<String>,
}

impl Kind {
    pub(super) const ALL: [Self; 4] =
        [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The kind that a method lists.
    pub(super) fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == method)
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
        }
    }

    /// The member of the result that is the list.
    fn key(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// What tells one item of it from another.
    fn identity(self) -> &'static [u8] {
        match self {
            Self::Tools | Self::Prompts => b"name",
            Self::Resources => b"uri",
            Self::Templates => b"uriTemplate",
        }
    }

    /// What is said when it has changed.
    pub(super) fn changed(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources | Self::Templates => "notifications/resources/list_changed",
        }
    }

    /// The capability of an upstream that has it.
    pub(super) fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources | Self::Templates => "resources",
        }
    }
}

impl Page {
    /// Reads the result of a list; `None` if it is none.
    pub(super) fn read(kind: Kind, result: &[u8]) -> Option<Self> {
        let [next] = scan::members(result, ["nextCursor"]);
        let (_, list) = walk::members(result)?.find(|(key, _)| *key == kind.key().as_bytes())?;
        let items = walk::elements(list)?.filter_map(|json| Item::read(kind, json)).collect();
        let next = next.and_then(|json| scan::string(json).map(std::borrow::Cow::into_owned));
        Some(Self { items, next })
    }
}

impl Item {
    /// `None` if it has nothing by which it could be asked for.
    fn read(kind: Kind, json: &[u8]) -> Option<Self> {
        let (mut own, mut name) = (None, None);
        for (key, value) in walk::members(json)? {
            if key == kind.identity() {
                own = scan::string(value);
            }
            if key == b"name" {
                let start = value.as_ptr().addr() - json.as_ptr().addr();
                name = Some(start..start + value.len());
            }
        }
        Some(Self { own: own?.as_ref().into(), json: json.to_vec(), name })
    }

    /// As it is listed under another name.
    fn named(&self, name: &str) -> Vec<u8> {
        let mut json = self.json.clone();
        if let Some(place) = &self.name {
            json.splice(place.clone(), serde_json::Value::from(name).to_string().into_bytes());
        }
        json
    }

    /// A hint that a tool gives: whether it says `true`.
    pub(super) fn hints(&self, hint: &'static str) -> bool {
        let [annotations] = scan::members(&self.json, ["annotations"]);
        let [said] = annotations.map_or([None], |json| scan::members(json, [hint]));
        said == Some(b"true")
    }

    /// Its name as it is written, which for a resource is not what it is asked for by.
    fn name(&self) -> String {
        let written = self.name.clone().and_then(|place| self.json.get(place));
        written.and_then(scan::string).map_or_else(String::new, std::borrow::Cow::into_owned)
    }
}

/// A resource with another URI.
fn with_uri(json: &[u8], uri: &str) -> Vec<u8> {
    let [written] = scan::members(json, ["uri"]);
    let Some(written) = written else { return json.to_vec() };
    let start = written.as_ptr().addr() - json.as_ptr().addr();
    let (before, after) = (&json[..start], &json[start + written.len()..]);
    [before, serde_json::Value::from(uri).to_string().as_bytes(), after].concat()
}

/// One list of what all upstreams have.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// The items, as they are offered.
    pub(super) json: Vec<Vec<u8>>,
    /// What each is called, whose it is, and what it is called there.
    pub(super) names: Vec<(String, usize, Arc<str>)>,
    /// Where among them each name is.
    places: HashMap<String, usize>,
}

impl Merged {
    /// Merges the lists of one kind, which are in the order of the upstreams.
    pub(super) fn of(kind: Kind, lists: &[(usize, &UpstreamName, &[Item])], names: &Names) -> Self {
        let all: Vec<(usize, &UpstreamName, &Item)> = lists
            .iter()
            .flat_map(|(at, upstream, items)| items.iter().map(|item| (*at, *upstream, item)))
            .collect();
        // The only upstream that has it; `None` if there are several.
        let mut owners: HashMap<&str, Option<usize>> = HashMap::new();
        for (at, _, item) in &all {
            let owner = owners.entry(&item.own).or_insert(Some(*at));
            *owner = owner.filter(|owner| owner == at);
        }
        let mut merged = Self::default();
        let offered = match kind {
            Kind::Tools | Kind::Prompts => {
                let owned: Vec<_> = all.iter().map(|(_, name, item)| (*name, &*item.own)).collect();
                names.offered(&owned)
            }
            Kind::Resources | Kind::Templates => all
                .iter()
                .map(|(_, upstream, item)| {
                    let is_shared = kind == Kind::Resources && owners[&*item.own].is_none();
                    if is_shared { uri_of(upstream, &item.own) } else { item.own.to_string() }
                })
                .collect(),
        };
        for ((at, upstream, item), name) in all.into_iter().zip(offered) {
            let json = match kind {
                Kind::Tools | Kind::Prompts => item.named(&name),
                Kind::Resources | Kind::Templates => {
                    let json = item.named(&names.shown(upstream, &item.name()));
                    if name == *item.own { json } else { with_uri(&json, &name) }
                }
            };
            merged.json.push(json);
            merged.names.push((name, at, item.own.clone()));
        }
        let places = merged.names.iter().enumerate().map(|(at, (name, ..))| (name.clone(), at));
        merged.places = places.collect();
        merged
    }

    /// Whose it is that is offered under this name, and what it is called there.
    pub(super) fn find(&self, called: &str) -> Option<(usize, &Arc<str>)> {
        let at = *self.places.get(called)?;
        let (_, upstream, own) = &self.names[at];
        Some((*upstream, own))
    }

    /// What is offered: its name, whose it is, what it is called there, and how it is listed.
    pub(super) fn offered(&self) -> impl Iterator<Item = (&str, usize, &Arc<str>, &[u8])> {
        let names = self.names.iter().zip(&self.json);
        names.map(|((name, upstream, own), json)| (name.as_str(), *upstream, own, json.as_slice()))
    }

    /// The result of a list.
    pub(super) fn result(&self, kind: Kind) -> Vec<u8> {
        let head = format!(r#"{{"{}":["#, kind.key());
        [head.as_bytes(), &self.json.join(&b","[..]), b"]}"].concat()
    }
}

/// A list as an upstream gives it: the result.
pub(super) fn result(kind: Kind, items: &[Item]) -> Vec<u8> {
    let head = format!(r#"{{"{}":["#, kind.key());
    let items: Vec<&[u8]> = items.iter().map(|item| item.json.as_slice()).collect();
    [head.as_bytes(), &items.join(&b","[..]), b"]}"].concat()
}

/// What such a result lists.
pub(super) fn items(kind: Kind, result: &[u8]) -> Option<Vec<Item>> {
    Page::read(kind, result).map(|page| page.items)
}

/// How the URIs begin of resources that several upstreams have.
const SHARED: &str = "forebay://";

/// The URI of a resource that other upstreams have, too.
fn uri_of(upstream: &UpstreamName, own: &str) -> String {
    format!("{SHARED}{upstream}/{own}")
}

/// What such a URI stands for: the upstream's name, and the URI there.
pub(super) fn shared_uri(uri: &str) -> Option<(&str, &str)> {
    uri.strip_prefix(SHARED)?.split_once('/')
}

/// True if a URI may be one of a template's: it has the same beginning, up to the first variable.
pub(super) fn fits_template(template: &str, uri: &str) -> bool {
    let fixed = template.split('{').next().unwrap_or(template);
    if fixed.len() == template.len() { template == uri } else { uri.starts_with(fixed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::Prefix;

    fn names(upstreams: &[&str]) -> Names {
        let upstreams = upstreams.iter().map(|name| UpstreamName::new(*name)).collect();
        Names::new("__".to_owned(), Prefix::Always, upstreams)
    }

    fn page(kind: Kind, json: &str) -> Page {
        Page::read(kind, json.as_bytes()).unwrap()
    }

    #[test]
    fn a_page_is_read_with_what_follows_it() {
        let read = page(
            Kind::Tools,
            r#"{"nextCursor":"2","tools":[{"description":"d","name":"a","annotations":{"readOnlyHint":true}},{"x":1}]}"#,
        );
        assert_eq!(read.next.as_deref(), Some("2"));
        assert_eq!(read.items.len(), 1, "what has no name cannot be called");
        assert!(read.items[0].hints("readOnlyHint") && !read.items[0].hints("idempotentHint"));
        assert!(page(Kind::Prompts, r#"{"prompts":[],"nextCursor":null}"#).next.is_none());
        assert!(Page::read(Kind::Tools, br#"{"prompts":[]}"#).is_none());
    }

    #[test]
    fn tools_are_listed_under_names_that_lead_to_them() {
        let one = page(Kind::Tools, r#"{"tools":[{"name":"log","x":{"name":"y"}}]}"#).items;
        let two = page(Kind::Tools, r#"{"tools":[{"title":"L","name":"log"}]}"#).items;
        let names = names(&["git", "svn"]);
        let (git, svn) = (UpstreamName::new("git"), UpstreamName::new("svn"));
        let merged = Merged::of(Kind::Tools, &[(0, &git, &one), (1, &svn, &two)], &names);
        assert_eq!(
            String::from_utf8(merged.result(Kind::Tools)).unwrap(),
            r#"{"tools":[{"name":"git__log","x":{"name":"y"}},{"title":"L","name":"svn__log"}]}"#
        );
        let (name, upstream, own) = &merged.names[1];
        assert_eq!((name.as_str(), *upstream, &**own), ("svn__log", 1, "log"));
    }

    #[test]
    fn a_resource_keeps_its_uri_unless_two_have_it() {
        let list = |json: &str| page(Kind::Resources, json).items;
        let one = list(r#"{"resources":[{"uri":"a://1","name":"n"},{"uri":"a://2","name":"m"}]}"#);
        let two = list(r#"{"resources":[{"uri":"a://1","name":"n"}]}"#);
        let names = names(&["git", "svn"]);
        let (git, svn) = (UpstreamName::new("git"), UpstreamName::new("svn"));
        let merged = Merged::of(Kind::Resources, &[(0, &git, &one), (1, &svn, &two)], &names);
        let uris: Vec<&str> = merged.names.iter().map(|(uri, ..)| uri.as_str()).collect();
        assert_eq!(uris, ["forebay://git/a://1", "a://2", "forebay://svn/a://1"]);
        let first = String::from_utf8(merged.json[0].clone()).unwrap();
        assert_eq!(first, r#"{"uri":"forebay://git/a://1","name":"git__n"}"#);
        assert_eq!(shared_uri(uris[2]), Some(("svn", "a://1")));
        assert_eq!(shared_uri("a://2"), None);
    }

    #[test]
    fn a_uri_fits_a_template_by_its_beginning() {
        assert!(fits_template("a://{id}/x", "a://1/x") && fits_template("a://1", "a://1"));
        assert!(!fits_template("a://1", "a://12") && !fits_template("b://{id}", "a://1"));
    }
}
