//! What the tools and prompts of many upstreams are called, so that each name leads to one of them.
//!
//! A name is the upstream's, a separator and the tool's own: it says by itself what it stands for, before
//! any list has been seen. Names that are too long, or that stand alone because only one upstream has them,
//! do not; they are learnt from the lists.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use parking_lot::RwLock;

use super::UpstreamName;

/// Clients and models take no longer names.
const MAX_CHARACTERS: usize = 64;

/// When a tool's name has its upstream's before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prefix {
    /// Always.
    #[default]
    Always,
    /// Where two upstreams have a tool of that name.
    WhereNeeded,
}

/// The names of all that the upstreams of a group have.
#[derive(Debug)]
pub struct Names {
    separator: String,
    prefix: Prefix,
    upstreams: RwLock<Arc<[UpstreamName]>>,
    /// The tools whose names do not say whose they are.
    learnt: RwLock<HashMap<String, (UpstreamName, Arc<str>)>>,
}

impl Names {
    /// The names of what `upstreams` have.
    pub fn new(separator: String, prefix: Prefix, upstreams: Vec<UpstreamName>) -> Self {
        let upstreams = RwLock::new(upstreams.into());
        Self { separator, prefix, upstreams, learnt: RwLock::default() }
    }

    /// From now on these are the upstreams.
    pub(crate) fn rearrange(&self, upstreams: Vec<UpstreamName>) {
        self.learnt.write().retain(|_, (upstream, _)| upstreams.contains(upstream));
        *self.upstreams.write() = upstreams.into();
    }

    /// The upstream that has this tool, and what it is called there, as far as the name or the lists tell.
    pub(crate) fn tool(&self, called: &str) -> Option<(UpstreamName, Arc<str>)> {
        let learnt = self.learnt.read().get(called).cloned();
        learnt.or_else(|| self.split(called).map(|(upstream, own)| (upstream, own.into())))
    }

    /// The upstream with this name.
    pub(crate) fn upstream(&self, name: &str) -> Option<UpstreamName> {
        self.upstreams.read().iter().find(|it| it.as_str() == name).cloned()
    }

    /// The name that leads to an upstream's tool.
    pub fn leading_to(&self, upstream: &UpstreamName, own: &str) -> String {
        let learnt = self.learnt.read();
        let name = learnt.iter().find(|(_, (it, name))| it == upstream && **name == *own);
        name.map_or_else(|| self.joined(upstream, own), |(name, _)| name.clone())
    }

    /// What a name says by itself: the upstream, and the name there.
    pub(crate) fn split<'n>(&self, called: &'n str) -> Option<(UpstreamName, &'n str)> {
        let after = |upstream: &UpstreamName| {
            called.strip_prefix(upstream.as_str())?.strip_prefix(self.separator.as_str())
        };
        let upstreams = self.upstreams.read();
        let found = upstreams.iter().filter_map(|it| Some((it, after(it)?)));
        // Of `a` and `a-b`, with `-` between, the longer one is meant.
        let found = found.filter(|(_, own)| !own.is_empty()).min_by_key(|(_, own)| own.len());
        found.map(|(upstream, own)| (upstream.clone(), own))
    }

    /// What is offered under which name, in the order in which it is given: upstreams, and names there.
    pub(crate) fn offered(&self, all: &[(&UpstreamName, &str)]) -> Vec<String> {
        let mut owners: HashMap<&str, usize> = HashMap::new();
        for (_, own) in all {
            *owners.entry(own).or_default() += 1;
        }
        let mut taken = HashSet::new();
        let offered = all.iter().map(|(upstream, own)| {
            let stands_alone = self.prefix == Prefix::WhereNeeded
                && owners.get(own) == Some(&1)
                && self.split(own).is_none();
            let name = if stands_alone { (*own).to_owned() } else { self.joined(upstream, own) };
            let fits = name.chars().count() <= MAX_CHARACTERS && !taken.contains(&name);
            let name = if fits { name } else { shortened(&name, upstream) };
            taken.insert(name.clone());
            name
        });
        offered.collect()
    }

    /// Learns which tools are offered under which names.
    pub(crate) fn learn<'t>(
        &self,
        tools: impl IntoIterator<Item = (&'t str, &'t UpstreamName, &'t Arc<str>)>,
    ) {
        let mut learnt = self.learnt.write();
        for (name, upstream, own) in tools {
            let says_so =
                self.split(name).is_some_and(|(it, rest)| it == *upstream && *rest == **own);
            if !says_so {
                learnt.insert(name.to_owned(), (upstream.clone(), own.clone()));
            }
        }
    }

    /// The name of what nobody asks for by its name, so that it need not be one of a kind.
    pub(crate) fn shown(&self, upstream: &UpstreamName, own: &str) -> String {
        match self.prefix {
            Prefix::Always => self.joined(upstream, own),
            Prefix::WhereNeeded => own.to_owned(),
        }
    }

    fn joined(&self, upstream: &UpstreamName, own: &str) -> String {
        format!("{upstream}{}{own}", self.separator)
    }
}

/// The beginning of a name, and what tells it from others that begin so. The same in every process.
fn shortened(name: &str, upstream: &UpstreamName) -> String {
    const MARK_CHARACTERS: usize = 9;
    // FNV-1a: clients remember names, so the mark must not change with us.
    let bytes = name.bytes().chain(upstream.as_str().bytes());
    let mark = bytes
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let beginning: String = name.chars().take(MAX_CHARACTERS - MARK_CHARACTERS).collect();
    format!("{beginning}_{mark:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up(name: &str) -> UpstreamName {
        UpstreamName::new(name)
    }

    fn names(separator: &str, prefix: Prefix, upstreams: &[&str]) -> Names {
        Names::new(separator.to_owned(), prefix, upstreams.iter().map(|name| up(name)).collect())
    }

    fn offered(names: &Names, all: &[(&str, &str)]) -> Vec<String> {
        let upstreams: Vec<UpstreamName> = all.iter().map(|(name, _)| up(name)).collect();
        let all: Vec<_> = upstreams.iter().zip(all).map(|(it, (_, own))| (it, *own)).collect();
        names.offered(&all)
    }

    fn learn(names: &Names, name: &str, upstream: &str, own: &str) {
        names.learn([(name, &up(upstream), &own.into())]);
    }

    fn tool(names: &Names, called: &str) -> Option<(String, String)> {
        let (upstream, own) = names.tool(called)?;
        Some((upstream.to_string(), own.to_string()))
    }

    fn of(upstream: &str, own: &str) -> (String, String) {
        (upstream.to_owned(), own.to_owned())
    }

    #[test]
    fn a_name_says_whose_tool_it_is_before_any_list_was_seen() {
        let names = names("__", Prefix::Always, &["git", "time"]);
        assert_eq!(tool(&names, "git__log"), Some(of("git", "log")));
        assert_eq!(tool(&names, "time__a__b"), Some(of("time", "a__b")));
        for unknown in ["log", "git__", "gitlog", "other__log", "__log"] {
            assert_eq!(tool(&names, unknown), None, "{unknown}");
        }
        assert_eq!(offered(&names, &[("git", "log"), ("time", "log")]), ["git__log", "time__log"]);
    }

    #[test]
    fn of_two_upstreams_that_fit_the_longer_is_meant() {
        let names = names("-", Prefix::Always, &["a", "a-b"]);
        assert_eq!(tool(&names, "a-b-c"), Some(of("a-b", "c")));
        assert_eq!(tool(&names, "a-c"), Some(of("a", "c")));
        let offered = offered(&names, &[("a", "b-c"), ("a-b", "c")]);
        assert_eq!(offered[0], "a-b-c");
        assert!(offered[1].starts_with("a-b-c_"), "{offered:?}");
        learn(&names, &offered[0], "a", "b-c");
        learn(&names, &offered[1], "a-b", "c");
        assert_eq!(tool(&names, &offered[0]), Some(of("a", "b-c")));
        assert_eq!(tool(&names, &offered[1]), Some(of("a-b", "c")));
    }

    #[test]
    fn a_name_stands_alone_where_one_upstream_has_it() {
        let names = names("__", Prefix::WhereNeeded, &["git", "svn"]);
        let all = [("git", "log"), ("git", "blame"), ("svn", "log"), ("svn", "git__x")];
        assert_eq!(offered(&names, &all), ["git__log", "blame", "svn__log", "svn__git__x"]);
        assert_eq!(tool(&names, "blame"), None);
        learn(&names, "blame", "git", "blame");
        assert_eq!(tool(&names, "blame"), Some(of("git", "blame")));
        names.rearrange(vec![up("svn")]);
        assert_eq!(tool(&names, "blame"), None, "it is not known of whom is not there any more");
    }

    #[test]
    fn a_name_that_is_too_long_is_cut_and_told_apart() {
        let names = names("__", Prefix::Always, &["git"]);
        let (a, b) = (format!("{}a", "x".repeat(80)), format!("{}b", "x".repeat(80)));
        let offered = offered(&names, &[("git", &a), ("git", &b), ("git", &"ü".repeat(59))]);
        assert!(offered.iter().all(|name| name.chars().count() <= 64), "{offered:?}");
        assert!(offered[0] != offered[1] && offered[0].starts_with("git__xxx"));
        assert_eq!(offered[2], format!("git__{}", "ü".repeat(59)));
        learn(&names, &offered[1], "git", &b);
        assert_eq!(tool(&names, &offered[1]), Some(of("git", &b)));
    }
}
