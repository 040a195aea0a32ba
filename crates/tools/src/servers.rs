//! `list_servers`: the servers behind a gateway, and how they stand.

use std::sync::Arc;

use forebay_proxy::{
    chain::Caller,
    router::UpstreamName,
    upstream::{GroupSettings, OfferedTool, Standing},
};
use forebay_store::Filter;

use crate::{Desk, ToolError, json, reply::Reply};

/// Whoever knows how the servers behind a gateway stand.
pub trait Servers: Send + Sync {
    /// Each of them, in their order.
    fn standings(&self) -> Arc<[Standing]>;

    /// All tools of theirs that are known.
    fn tools(&self) -> Arc<[OfferedTool]>;

    /// The name by which a server's tool can be called, whether or not it is known.
    fn leading_to(&self, server: &UpstreamName, tool: &str) -> String;

    /// Asks those whose tools are not known.
    fn learn(&self, caller: &Caller);

    /// A client asks for the tools, which may have changed.
    fn forget(&self) {}
}

impl Servers for GroupSettings {
    fn standings(&self) -> Arc<[Standing]> {
        self.standings()
    }

    fn tools(&self) -> Arc<[OfferedTool]> {
        self.tools()
    }

    fn leading_to(&self, server: &UpstreamName, tool: &str) -> String {
        self.leading_to(server, tool)
    }

    fn learn(&self, caller: &Caller) {
        // All servers are asked for their tools, and what they answer becomes known.
        drop(caller.list_tools_and_wait(None));
    }
}

/// There are none.
pub(crate) struct NoServers;

impl Servers for NoServers {
    fn standings(&self) -> Arc<[Standing]> {
        Arc::new([])
    }

    fn tools(&self) -> Arc<[OfferedTool]> {
        Arc::new([])
    }

    fn leading_to(&self, _: &UpstreamName, tool: &str) -> String {
        tool.to_owned()
    }

    fn learn(&self, _: &Caller) {}
}

pub(crate) fn answer(desk: &Desk, servers: &dyn Servers) -> Result<Reply, ToolError> {
    let store = desk.store()?;
    let mut told = Vec::new();
    for standing in servers.standings().iter() {
        let server = Some(standing.name.to_string());
        let filter = Filter { viewer: desk.viewer().clone(), server, ..Filter::default() };
        told.push(described(standing, store.count(&filter)?));
    }
    Ok(Reply::text(format!("{{\"servers\":[{}]}}", told.join(","))))
}

fn described(standing: &Standing, datasets: u64) -> String {
    let members =
        [("name", standing.name.as_str().into()), ("state", standing.state.as_str().into())];
    let revision = standing.revision.as_deref().map(|it| ("revision", it.into()));
    let tools = standing.tools.map(|tools| ("tools", tools.into()));
    let error = standing.last_error.as_deref().map(|it| ("last_error", it.into()));
    let members = members.into_iter().chain(revision).chain(tools).chain(error);
    json::object(members.chain([("datasets", datasets.into())]))
}

#[cfg(test)]
mod tests {
    use forebay_proxy::upstream::State;

    use super::*;

    #[test]
    fn what_is_known_of_a_server_is_told_and_nothing_else() {
        let mut standing = Standing {
            name: UpstreamName::new("git"),
            state: State::Open,
            revision: Some("2025-11-25".to_owned()),
            tools: Some(12),
            last_error: None,
        };
        assert_eq!(
            described(&standing, 3),
            r#"{"name":"git","state":"open","revision":"2025-11-25","tools":12,"datasets":3}"#
        );
        standing = Standing {
            state: State::Down,
            revision: None,
            tools: None,
            last_error: Some("exited with code 1".to_owned()),
            ..standing
        };
        assert_eq!(
            described(&standing, 0),
            r#"{"name":"git","state":"down","last_error":"exited with code 1","datasets":0}"#
        );
    }
}
