//! Hop 3: which upstream a call is for.

mod names;

use std::{fmt, sync::Arc};

pub use self::names::{Names, Prefix};

/// The name by which an upstream is known in errors, logs and on disk.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UpstreamName(Arc<str>);

/// Names the upstream that has a tool, and what the tool is called there.
#[derive(Debug, Clone)]
pub struct Router {
    whole: UpstreamName,
    names: Option<Arc<Names>>,
    /// The tool whose arguments name another, which is meant.
    through: Option<Arc<str>>,
}

impl Router {
    /// A router for a client with one upstream.
    pub fn sole(upstream: UpstreamName) -> Self {
        Self { whole: upstream, names: None, through: None }
    }

    /// A router for a client with many upstreams; `whole` is what all of them are called together.
    pub fn group(whole: UpstreamName, names: Arc<Names>) -> Self {
        Self { whole, names: Some(names), through: None }
    }

    /// The same, where all tools can also be called through the one with this name.
    #[must_use]
    pub fn through(self, tool: &str) -> Self {
        Self { through: Some(tool.into()), ..self }
    }

    /// True if a call of this tool stands for the call of another, which its arguments name.
    pub(crate) fn leads_through(&self, called: &str) -> bool {
        self.through.as_deref() == Some(called)
    }

    /// The upstream with this name.
    pub(crate) fn upstream(&self, name: &str) -> Option<UpstreamName> {
        self.names.as_ref()?.upstream(name)
    }

    /// The upstream, or all of them together.
    pub fn whole(&self) -> &UpstreamName {
        &self.whole
    }

    /// The upstream that has the tool which clients call by this name, and what it is called there. What
    /// no upstream is known to have is as it is called.
    pub fn tool(&self, called: &str) -> (UpstreamName, Arc<str>) {
        let found = self.names.as_ref().and_then(|names| names.tool(called));
        found.unwrap_or_else(|| (self.whole.clone(), called.into()))
    }
}

impl UpstreamName {
    /// Takes a name as given.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Derives a name from a command line: the package or script that a launcher starts, without
    /// its scope, path, version and ending.
    pub fn from_command(program: &str, arguments: &[String]) -> Self {
        const LAUNCHERS: [&str; 14] = [
            "npx", "npm", "pnpm", "bunx", "bun", "deno", "node", "uvx", "uv", "pipx", "python",
            "python3", "sh", "bash",
        ];
        const SUBCOMMANDS: [&str; 5] = ["run", "exec", "x", "tool", "dlx"];
        let file_name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
        let launcher = file_name(program);
        let started = LAUNCHERS.contains(&launcher.as_str()).then(|| {
            arguments.iter().find(|word| {
                !word.starts_with('-')
                    && !SUBCOMMANDS.contains(&word.as_str())
                    && !word.contains(' ')
            })
        });
        let name = started.flatten().map_or(launcher, |word| file_name(word));
        let without_version = match name.split_once('@') {
            Some((before, _)) if !before.is_empty() => before,
            _ => &name,
        };
        let short = [".js", ".mjs", ".cjs", ".ts", ".py"]
            .iter()
            .find_map(|ending| without_version.strip_suffix(ending))
            .unwrap_or(without_version);
        Self::new(short)
    }

    /// Derives a name from a URL: its host, and its port if it has one. The path may hold a secret.
    pub fn from_url(url: &str) -> Self {
        let name = url.parse::<http::Uri>().ok().and_then(|uri| {
            let host = uri.host()?;
            Some(uri.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
        });
        Self::new(name.unwrap_or_else(|| "upstream".to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UpstreamName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_a_person_would_call_the_command() {
        let cases = [
            ("npx -y @modelcontextprotocol/server-everything", "server-everything"),
            ("npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /tmp", "server-filesystem"),
            ("uvx mcp-server-git --repository .", "mcp-server-git"),
            ("/usr/bin/python3 -m mcp_server_time", "mcp_server_time"),
            ("uv run server.py", "server"),
            ("node /srv/app/dist/index.js stdio", "index"),
            ("./my-server --flag", "my-server"),
            ("bash -c", "bash"),
        ];
        for (command, expected) in cases {
            let mut words = command.split(' ').map(str::to_owned);
            let program = words.next().unwrap();
            let arguments: Vec<String> = words.collect();
            assert_eq!(UpstreamName::from_command(&program, &arguments).as_str(), expected);
        }
    }

    #[test]
    fn a_remote_upstream_is_called_by_its_host_and_port() {
        let cases = [
            ("https://mcp.example.com/mcp?key=secret", "mcp.example.com"),
            ("http://user:word@localhost:3001/mcp", "localhost:3001"),
            ("http://127.0.0.1:8001/mcp", "127.0.0.1:8001"),
            ("http://127.0.0.1:8002/mcp", "127.0.0.1:8002"),
            ("http://[::1]:8080/", "[::1]:8080"),
            ("nonsense and spaces", "upstream"),
        ];
        for (url, expected) in cases {
            assert_eq!(UpstreamName::from_url(url).as_str(), expected);
        }
    }
}
