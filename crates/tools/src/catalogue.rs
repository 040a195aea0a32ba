//! Which tools there are behind us, of one server or of many, for whoever calls them by their own names.

use std::sync::Arc;

use forebay_proxy::{
    chain::Caller,
    router::UpstreamName,
    upstream::{OfferedTool, Standing, State},
};
use forebay_wire::{scan, walk};
use parking_lot::Mutex;
use serde_json::Value;

use crate::{Servers, ToolError, error::refuse};

/// More pages than this has no list of tools that ends.
const MAX_PAGES: usize = 100;

/// The servers behind us, and their tools.
pub(crate) struct Catalogue {
    servers: Arc<dyn Servers>,
}

/// A single server, whose tools are known once somebody has asked for them.
pub(crate) struct Sole {
    name: UpstreamName,
    tools: Mutex<Option<Arc<[OfferedTool]>>>,
}

impl Catalogue {
    pub(crate) fn new(servers: Arc<dyn Servers>) -> Self {
        Self { servers }
    }

    /// A client asks for the tools, which may have changed.
    pub(crate) fn forget(&self) {
        self.servers.forget();
    }

    /// The names of the servers.
    pub(crate) fn servers(&self) -> Vec<String> {
        self.servers.standings().iter().map(|standing| standing.name.to_string()).collect()
    }

    /// A server, by its name or what it is as a word of a program.
    pub(crate) fn server(&self, name: &str) -> Result<Standing, ToolError> {
        let standings = self.servers.standings();
        let exact = standings.iter().find(|it| it.name.as_str() == name);
        let found = exact.or_else(|| {
            let mut same = standings.iter().filter(|it| as_word(it.name.as_str()) == as_word(name));
            same.next().filter(|_| same.next().is_none())
        });
        match found {
            Some(standing) => Ok(standing.clone()),
            None => self.no_server(name),
        }
    }

    fn no_server(&self, name: &str) -> Result<Standing, ToolError> {
        // What clients call a tool of one of many servers.
        if let Some(tool) = self.servers.tools().iter().find(|tool| tool.name == name) {
            let (server, own) = (&tool.server, &tool.own);
            return refuse!(
                "{name} is the tool {own} of {server}: write tools.{server}.{own}(args)."
            );
        }
        let servers = self.servers();
        let meant = forebay_query::nearest(name, servers.iter().map(String::as_str));
        let meant = meant.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
        refuse!("There is no server {name}.{meant} The servers are: {}.", servers.join(", "))
    }

    /// All tools of a server. One of which nothing is known yet is asked.
    pub(crate) fn tools_of(&self, server: &Standing, caller: &Caller) -> Vec<OfferedTool> {
        let known = |servers: &Arc<dyn Servers>| -> Vec<OfferedTool> {
            servers.tools().iter().filter(|tool| tool.server == server.name).cloned().collect()
        };
        let tools = known(&self.servers);
        if !tools.is_empty() || server.tools.is_some_and(|count| count == 0) {
            return tools;
        }
        self.servers.learn(caller);
        known(&self.servers)
    }

    /// The tool that is meant by these names.
    pub(crate) fn tool(
        &self,
        server: &str,
        tool: &str,
        caller: &Caller,
    ) -> Result<OfferedTool, ToolError> {
        let standing = self.server(server)?;
        let tools = self.tools_of(&standing, caller);
        let exact = tools.iter().find(|it| *it.own == *tool || it.name == tool);
        let found = exact.or_else(|| {
            let mut same = tools.iter().filter(|it| as_word(&it.own) == as_word(tool));
            same.next().filter(|_| same.next().is_none())
        });
        if let Some(found) = found {
            return Ok(found.clone());
        }
        if tools.is_empty() && standing.state == State::Down {
            let why = standing.last_error.map(|why| format!(": {why}")).unwrap_or_default();
            return refuse!("The server {server} cannot be reached{why}.");
        }
        let meant = forebay_query::nearest(tool, tools.iter().map(|it| &*it.own));
        let meant = meant.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
        refuse!("{server} has no tool {tool}.{meant} help(\"{server}\") shows what it has.")
    }
}

impl Sole {
    pub(crate) fn new(name: UpstreamName) -> Self {
        Self { name, tools: Mutex::default() }
    }

    fn ask(&self, caller: &Caller) -> Option<Arc<[OfferedTool]>> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page = caller.list_tools_and_wait(cursor.as_deref()).ok()?;
            let json = page.to_vec().ok()?;
            let member = |key: &[u8]| walk::members(&json)?.find(|(it, _)| *it == key);
            for definition in member(b"tools").and_then(|(_, list)| walk::elements(list))? {
                // What else of it cannot be read is no reason not to know it, or the others.
                let [name] = scan::members(definition, ["name"]);
                let Some(name) = name.and_then(scan::string) else { continue };
                let (server, own) = (self.name.clone(), Arc::from(&*name));
                let (name, definition) = (name.into_owned(), definition.to_vec());
                tools.push(OfferedTool { name, server, own, definition });
            }
            let next = member(b"nextCursor").map(|(_, cursor)| serde_json::from_slice(cursor));
            match next {
                Some(Ok(Value::String(next))) => cursor = Some(next),
                _ => return Some(tools.into()),
            }
        }
        None
    }
}

impl Servers for Sole {
    fn standings(&self) -> Arc<[Standing]> {
        let tools = self.tools.lock().as_ref().map(|tools| tools.len());
        let name = self.name.clone();
        let state = State::Open;
        Arc::new([Standing { name, state, revision: None, tools, last_error: None }])
    }

    fn tools(&self) -> Arc<[OfferedTool]> {
        self.tools.lock().clone().unwrap_or_else(|| Arc::new([]))
    }

    fn leading_to(&self, _: &UpstreamName, tool: &str) -> String {
        tool.to_owned()
    }

    fn learn(&self, caller: &Caller) {
        if let Some(tools) = self.ask(caller) {
            *self.tools.lock() = Some(tools);
        }
    }

    fn forget(&self) {
        self.tools.lock().take();
    }
}

/// A name as a word of a program: `server-filesystem` is `server_filesystem`.
pub(crate) fn as_word(name: &str) -> String {
    let fits = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    name.chars().map(|letter| if fits(letter) { letter } else { '_' }).collect()
}
