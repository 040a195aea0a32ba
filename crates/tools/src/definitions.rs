//! The tools as a model sees them. Every turn pays for these texts, so each word has a reason.

use serde_json::Value;

use crate::json;

/// What stands between the name of an upstream and that of a tool.
pub(crate) const SEPARATOR: &str = "__";

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
    /// A program.
    RunCode,
    /// The servers behind a gateway.
    Servers,
    /// The tools of those servers.
    Search,
    /// One of them.
    Call,
    /// A call that has become a job.
    RunStatus,
    /// What was kept, by its meaning.
    SemanticSearch,
    /// What is worth knowing of some datasets.
    ArtifactContext,
    /// Kept files, by their tags and names.
    SearchWorkspace,
    /// One of them.
    WorkspaceFile,
}

impl Tool {
    /// All that look at what was kept, and what runs programs, in the order in which they are listed.
    pub const ALL: [Self; 10] = [
        Self::Analyze,
        Self::List,
        Self::Read,
        Self::Export,
        Self::Visualize,
        Self::RunCode,
        Self::SemanticSearch,
        Self::ArtifactContext,
        Self::SearchWorkspace,
        Self::WorkspaceFile,
    ];
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
            Self::RunCode => "run_code",
            Self::Servers => "list_servers",
            Self::Search => "search_tools",
            Self::Call => "call_tool",
            Self::RunStatus => "get_run_status",
            Self::SemanticSearch => "semantic_search",
            Self::ArtifactContext => "get_artifact_context",
            Self::SearchWorkspace => "search_workspace",
            Self::WorkspaceFile => "get_workspace_file",
        }
    }

    /// The tool with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Its definition under a name, as JSON without blanks: what is counted is what a model pays.
    pub(crate) fn definition(self, name: &str) -> String {
        let rest = self.text().trim().strip_prefix('{').unwrap_or_default();
        let rest = json::compact(rest.as_bytes());
        format!("{{\"name\":{},{}", Value::from(name), String::from_utf8_lossy(&rest))
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
            Self::RunCode => include_str!("definitions/run_code.json"),
            Self::Servers => include_str!("definitions/servers.json"),
            Self::Search => include_str!("definitions/search.json"),
            Self::Call => include_str!("definitions/call.json"),
            Self::RunStatus => include_str!("definitions/run_status.json"),
            Self::SemanticSearch => include_str!("definitions/semantic_search.json"),
            Self::ArtifactContext => include_str!("definitions/artifact_context.json"),
            Self::SearchWorkspace => include_str!("definitions/search_workspace.json"),
            Self::WorkspaceFile => include_str!("definitions/workspace_file.json"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a model pays for tools.
    fn tokens(tools: &[Tool]) -> u64 {
        let definitions: Vec<String> =
            tools.iter().map(|tool| tool.definition(tool.name())).collect();
        forebay_records::tokens(&definitions.join(","))
    }

    #[test]
    fn definitions_cost_little() {
        let (core, all) = (tokens(&Tool::CORE), tokens(&Tool::ALL));
        assert!(core <= 600, "the core set has {core} tokens");
        let readme = include_str!("../../../README.md");
        assert!(readme.contains(&format!("definitions have {core} tokens")), "README: {core}");
        assert!(all <= 1_800, "all have {all} tokens");
        let with_jobs = all + tokens(&[Tool::RunStatus]);
        assert!(with_jobs <= 1_800, "with the one for jobs they have {with_jobs} tokens");
        let run_code = tokens(&[Tool::RunCode]);
        assert!(run_code <= 250, "run_code has {run_code} tokens");
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
