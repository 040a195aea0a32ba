//! What upstreams say of their tools: a gateway knows it, and of a single upstream it is learnt from the lists
//! that pass.

use std::{collections::HashMap, sync::Arc};

use forebay_intercept::Policy;
use forebay_proxy::{chain::Caller, router::UpstreamName, upstream::OfferedTool};
use forebay_wire::{scan, walk};
use parking_lot::Mutex;
use serde_json::Value;

use crate::Servers;

/// How many tools are remembered of a single upstream.
const MAX_TOOLS: usize = 10_000;
/// How many pages of a list are asked for.
const MAX_PAGES: usize = 100;

/// What upstreams say of their tools.
#[derive(Default)]
pub struct KnownTools {
    servers: Option<Arc<dyn Servers>>,
    /// Those of a single upstream, by name.
    learnt: Mutex<HashMap<String, Learnt>>,
}

/// What is remembered of a tool, as it is written.
struct Learnt {
    schema: Option<Box<[u8]>>,
    annotations: Option<Box<[u8]>>,
}

impl KnownTools {
    /// Those of the servers behind a gateway.
    pub fn of(servers: Arc<dyn Servers>) -> Self {
        Self { servers: Some(servers), ..Self::default() }
    }

    /// True if the cache learns them from lists.
    pub(crate) fn are_learnt_by_cache(&self, policy: &Policy) -> bool {
        self.servers.is_none() && policy.has_caching()
    }

    /// True if the references learn them from lists. Where there is a cache, it does: it is nearer to the
    /// upstream, and between the two, tools gain parameters of ours.
    pub(crate) fn are_learnt_by_references(&self, policy: &Policy) -> bool {
        self.servers.is_none() && !policy.has_caching()
    }

    /// Asks the upstreams for their tools.
    pub(crate) fn ask(&self, caller: &Caller) {
        if let Some(servers) = &self.servers {
            return servers.learn(caller);
        }
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let list = caller.list_tools_and_wait(cursor.as_deref()).ok();
            let Some(list) = list.and_then(|list| list.to_vec().ok()) else { return };
            self.learn(&list);
            let [next] = scan::members(&list, ["nextCursor"]);
            cursor = next.and_then(scan::string).map(Into::into);
            if cursor.is_none() {
                return;
            }
        }
    }

    /// True if a tool has been in a list.
    pub(crate) fn knows(&self, upstream: &UpstreamName, tool: &str) -> bool {
        match &self.servers {
            Some(servers) => {
                let is_it = |it: &OfferedTool| it.server == *upstream && *it.own == *tool;
                servers.tools().iter().any(is_it)
            }
            None => self.learnt.lock().contains_key(tool),
        }
    }

    /// Takes note of the tools in a list.
    pub(crate) fn learn(&self, list: &[u8]) {
        let [tools] = scan::members(list, ["tools"]);
        let mut learnt = self.learnt.lock();
        for tool in tools.and_then(walk::elements).into_iter().flatten() {
            let [name, schema, annotations] =
                scan::members(tool, ["name", "inputSchema", "annotations"]);
            let Some(name) = name.and_then(scan::string) else { continue };
            if learnt.len() < MAX_TOOLS || learnt.contains_key(&*name) {
                let (schema, annotations) = (schema.map(Into::into), annotations.map(Into::into));
                learnt.insert(name.into_owned(), Learnt { schema, annotations });
            }
        }
    }

    /// What a tool takes, if that is known.
    pub(crate) fn schema(&self, upstream: &UpstreamName, tool: &str) -> Option<Value> {
        self.part(upstream, tool, "inputSchema", |learnt| learnt.schema.as_deref())
    }

    /// True if a tool says that it only reads.
    pub(crate) fn only_reads(&self, upstream: &UpstreamName, tool: &str) -> bool {
        let said = self.part(upstream, tool, "annotations", |it| it.annotations.as_deref());
        said.is_some_and(|annotations| annotations["readOnlyHint"] == true)
    }

    fn part(
        &self,
        upstream: &UpstreamName,
        tool: &str,
        key: &'static str,
        of_learnt: impl Fn(&Learnt) -> Option<&[u8]>,
    ) -> Option<Value> {
        let Some(servers) = &self.servers else {
            return serde_json::from_slice(of_learnt(self.learnt.lock().get(tool)?)?).ok();
        };
        let tools = servers.tools();
        let found = tools.iter().find(|it| it.server == *upstream && *it.own == *tool)?;
        let [part] = scan::members(&found.definition, [key]);
        serde_json::from_slice(part?).ok()
    }
}

#[cfg(test)]
mod tests {
    use forebay_intercept::{Caching, ToolRule};
    use serde_json::json;

    use super::*;
    use crate::servers::NoServers;

    #[test]
    fn a_list_is_learnt_once_and_by_the_cache_if_there_is_one() {
        let caching = Caching { seconds: 60, is_for_unmarked: false };
        let rule = ToolRule { cache: Some(caching), ..ToolRule::of("*") };
        let cached = Policy { tools: vec![rule], ..Policy::default() };
        for (policy, expected) in [(Policy::default(), (false, true)), (cached, (true, false))] {
            let learners = |known: &KnownTools| {
                (known.are_learnt_by_cache(&policy), known.are_learnt_by_references(&policy))
            };
            assert_eq!(learners(&KnownTools::default()), expected);
            let gateway = KnownTools::of(Arc::new(NoServers));
            assert_eq!(learners(&gateway), (false, false), "a gateway knows them");
        }
    }

    #[test]
    fn what_was_listed_last_is_known() {
        let known = KnownTools::default();
        let list = |kind: &str| {
            let schema = json!({"properties": {"a": {"type": kind}}});
            let hints = json!({"readOnlyHint": true});
            let tool = json!({"name": "x", "inputSchema": schema, "annotations": hints});
            json!({"tools": [tool, {"name": "y"}, 7]}).to_string()
        };
        known.learn(list("string").as_bytes());
        known.learn(list("array").as_bytes());
        let upstream = UpstreamName::new("s");
        let schema = known.schema(&upstream, "x").unwrap();
        assert_eq!(schema["properties"]["a"]["type"], "array");
        assert!(known.schema(&upstream, "y").is_none() && known.knows(&upstream, "y"));
        assert!(!known.knows(&upstream, "z"));
        assert!(known.only_reads(&upstream, "x") && !known.only_reads(&upstream, "y"));
        assert!(!known.only_reads(&upstream, "z"));
    }
}
