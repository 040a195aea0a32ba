//! The tools as a model sees them. Every turn pays for these texts, so each word has a reason.

use serde_json::Value;

/// An injected tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// SQL.
    Analyze,
    /// What there is.
    List,
    /// Pages, lines, matches.
    Read,
    /// A file.
    Export,
    /// A chart.
    Visualize,
    /// The servers behind a gateway.
    Servers,
    /// The tools of those servers.
    Search,
    /// One of them.
    Call,
}

impl Tool {
    /// All that look at what was kept, in the order in which they are listed.
    pub const ALL: [Self; 5] =
        [Self::Analyze, Self::List, Self::Read, Self::Export, Self::Visualize];
    /// Those that are enough to get at everything.
    pub const CORE: [Self; 3] = [Self::Analyze, Self::List, Self::Read];

    /// What it is called, if nobody else has that name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Analyze => "analyze-with-duckdb",
            Self::List => "list-saved-datasets",
            Self::Read => "read-saved-dataset",
            Self::Export => "export-dataset",
            Self::Visualize => "visualize-dataset",
            Self::Servers => "list_servers",
            Self::Search => "search_tools",
            Self::Call => "call_tool",
        }
    }

    /// The tool with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Its definition under a name, as JSON.
    pub(crate) fn definition(self, name: &str) -> String {
        let rest = self.text().trim().strip_prefix('{').unwrap_or_default();
        format!("{{\"name\":{},{rest}", Value::from(name))
    }

    /// The names of its arguments.
    pub(crate) fn arguments(self) -> Vec<String> {
        let definition: Value = serde_json::from_str(self.text()).unwrap_or_default();
        let properties = definition["inputSchema"]["properties"].as_object();
        properties.map(|all| all.keys().cloned().collect()).unwrap_or_default()
    }

    fn text(self) -> &'static str {
        match self {
            Self::Analyze => include_str!("definitions/analyze.json"),
            Self::List => include_str!("definitions/list.json"),
            Self::Read => include_str!("definitions/read.json"),
            Self::Export => include_str!("definitions/export.json"),
            Self::Visualize => include_str!("definitions/visualize.json"),
            Self::Servers => include_str!("definitions/servers.json"),
            Self::Search => include_str!("definitions/search.json"),
            Self::Call => include_str!("definitions/call.json"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a model pays for tools, as compact JSON.
    fn tokens(tools: &[Tool]) -> u64 {
        let definitions = tools
            .iter()
            .map(|tool| -> Value { serde_json::from_str(&tool.definition(tool.name())).unwrap() });
        forebay_records::tokens(&definitions.collect::<Value>().to_string())
    }

    #[test]
    fn definitions_cost_little() {
        let (core, all) = (tokens(&Tool::CORE), tokens(&Tool::ALL));
        assert!(core <= 600, "the core set has {core} tokens");
        assert!(all <= 1_000, "all have {all} tokens");
        let on_demand = tokens(&[Tool::Search, Tool::Call, Tool::Servers]);
        assert!(on_demand <= 300, "those that stand for all others have {on_demand} tokens");
    }

    #[test]
    fn every_tool_is_found_by_its_name_and_knows_its_arguments() {
        for tool in Tool::ALL {
            assert_eq!(Tool::named(tool.name()), Some(tool));
            assert!(!tool.arguments().is_empty());
        }
    }
}
