//! What is kept, and how much is said about it.
//!
//! Every question about a tool is answered here, so that the stages and the list of tools agree.

mod glob;
mod presets;

use std::collections::HashMap;

use forebay_proxy::session::Call;
use forebay_records::{Inference, Tokenizer};
use forebay_store::{Principal, Scope, Viewer};

pub use glob::Glob;
pub use presets::known_clients;

/// A result of more tokens than this is kept, if nothing else is said.
pub const DEFAULT_THRESHOLD: u64 = 8_192;

/// The settings of the five stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// A result of more tokens than this is kept; `None` leaves it to the limits of known clients,
    /// and to [`DEFAULT_THRESHOLD`] for all others.
    pub threshold: Option<u64>,
    /// How tokens are counted.
    pub tokenizer: Tokenizer,
    /// How many tokens a summary may have.
    pub summary_tokens: usize,
    /// Tools whose results always pass.
    pub excluded_tools: Vec<Glob>,
    /// What holds for some tools; the first that fits does.
    pub tools: Vec<ToolRule>,
    /// What holds for single servers, by their names, before what holds for all.
    pub servers: HashMap<String, Keeping>,
    /// Whether a call's arguments are kept with its result.
    pub keep_arguments: bool,
    /// How much is looked at to describe the fields.
    pub schema_inference: Inference,
    /// What becomes of a result that cannot be kept.
    pub on_store_failure: OnStoreFailure,
    /// What becomes of the output schema of a tool whose result may be replaced.
    pub output_schema: OutputSchema,
    /// Which of what was kept the tools of a session may see.
    pub scope: Scope,
    /// The project of a session whose client tells none: where we were started.
    pub directory: Option<String>,
}

/// What holds for the results of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keeping {
    /// As in [`Policy`].
    pub threshold: Option<u64>,
    /// As in [`Policy`].
    pub excluded_tools: Vec<Glob>,
    /// As in [`Policy`].
    pub tools: Vec<ToolRule>,
}

/// What holds for the tools of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRule {
    /// Which tools.
    pub pattern: Glob,
    /// When their results are kept.
    pub when: When,
}

/// When results are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Whenever they are longer than what would be said about them.
    Always,
    /// Never.
    Never,
    /// If they have more tokens than this.
    Over(u64),
}

/// What becomes of a result that cannot be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnStoreFailure {
    /// It passes as it came.
    #[default]
    Pass,
    /// The client gets an error in its place.
    Error,
}

/// What becomes of the output schema of a tool whose result may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputSchema {
    /// It is left out of the list of tools.
    #[default]
    Drop,
    /// It allows a replacement, too.
    Widen,
}

/// What a result may have before it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// It always passes.
    Never,
    /// It is kept.
    Always,
    /// This much.
    Over { tokens: u64, bytes: Option<u64> },
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            threshold: None,
            tokenizer: Tokenizer::default(),
            summary_tokens: 600,
            excluded_tools: Vec::new(),
            tools: Vec::new(),
            servers: HashMap::new(),
            keep_arguments: true,
            schema_inference: Inference::default(),
            on_store_failure: OnStoreFailure::default(),
            output_schema: OutputSchema::default(),
            scope: Scope::Project,
            directory: None,
        }
    }
}

impl Policy {
    /// Whoever calls: what it may see, and whose results are kept.
    pub fn viewer(&self, call: &Call) -> Viewer {
        let project = call.root.as_deref().or(self.directory.as_deref());
        Viewer {
            principal: Principal::new(call.principal.as_str()),
            session: Some(call.session.to_string()),
            project: project.map(str::to_owned),
            scope: self.scope,
        }
    }

    /// What a result of a server's `tool` may have before it is kept from a client of that name.
    pub(crate) fn limit_for(&self, server: &str, tool: &str, client: Option<&str>) -> Limit {
        let of_server = self.servers.get(server);
        let excluded = of_server.iter().flat_map(|it| &it.excluded_tools);
        if excluded.chain(&self.excluded_tools).any(|pattern| pattern.matches(tool)) {
            return Limit::Never;
        }
        let mut rules = of_server.iter().flat_map(|it| &it.tools).chain(&self.tools);
        if let Some(rule) = rules.find(|rule| rule.pattern.matches(tool)) {
            return match rule.when {
                When::Always => Limit::Always,
                When::Never => Limit::Never,
                When::Over(tokens) => Limit::Over { tokens, bytes: None },
            };
        }
        match of_server.and_then(|it| it.threshold).or(self.threshold) {
            Some(tokens) => Limit::Over { tokens, bytes: None },
            None => Limit::Over {
                tokens: DEFAULT_THRESHOLD,
                bytes: client.and_then(presets::max_bytes),
            },
        }
    }

    /// What a reply of our own may have for a client of that name, in tokens and bytes. Keeping more
    /// of what upstreams send does not make it less.
    pub fn reply_limit(&self, client: Option<&str>) -> (u64, Option<u64>) {
        let tokens = self.threshold.unwrap_or_default().max(DEFAULT_THRESHOLD);
        (tokens, client.and_then(presets::max_bytes))
    }

    /// True if a result of a server's `tool` may be kept.
    pub(crate) fn may_keep(&self, server: &str, tool: &str) -> bool {
        self.limit_for(server, tool, None) != Limit::Never
    }
}

impl Limit {
    /// True if a result of so many bytes may be over the limit. A token is a byte at least.
    pub(crate) fn may_be_over(self, result_bytes: u64) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Over { tokens, bytes } => result_bytes > bytes.map_or(tokens, |b| b.min(tokens)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        let rule = |pattern, when| ToolRule { pattern: Glob::new(pattern), when };
        Policy {
            excluded_tools: vec![Glob::new("get_?")],
            tools: vec![
                rule("list_all*", When::Always),
                rule("list_*", When::Over(100)),
                rule("*_all", When::Never),
            ],
            ..Policy::default()
        }
    }

    #[test]
    fn the_first_rule_that_fits_holds_and_exclusions_go_before_rules() {
        let mut policy = policy();
        let over = |tokens| Limit::Over { tokens, bytes: None };
        let limit = |policy: &Policy, tool| policy.limit_for("s", tool, None);
        assert_eq!(limit(&policy, "list_all"), Limit::Always);
        assert_eq!(limit(&policy, "list_some_all"), over(100));
        assert_eq!(limit(&policy, "get_all"), Limit::Never);
        assert_eq!(limit(&policy, "get_a"), Limit::Never);
        assert_eq!(limit(&policy, "other"), over(8_192));
        policy.threshold = Some(9);
        assert_eq!(limit(&policy, "other"), over(9));
        let may_keep = |tool| policy.may_keep("s", tool);
        assert!(may_keep("list_all") && may_keep("x") && !may_keep("get_a"));
        policy.excluded_tools.push(Glob::new("list_all"));
        assert_eq!(limit(&policy, "list_all"), Limit::Never);
    }

    #[test]
    fn what_holds_for_a_server_goes_before_what_holds_for_all() {
        let mut policy = policy();
        let rule = ToolRule { pattern: Glob::new("list_*"), when: When::Never };
        let keeping =
            Keeping { threshold: Some(7), excluded_tools: vec![Glob::new("x")], tools: vec![rule] };
        policy.servers.insert("s".to_owned(), keeping);
        let limit = |server, tool| policy.limit_for(server, tool, Some("cline"));
        assert_eq!((limit("s", "x"), limit("s", "list_all")), (Limit::Never, Limit::Never));
        assert_eq!(limit("s", "other"), Limit::Over { tokens: 7, bytes: None });
        assert_eq!(limit("s", "get_a"), Limit::Never, "what holds for all holds there, too");
        assert_eq!(limit("t", "list_all"), Limit::Always);
        assert_eq!(limit("t", "other"), Limit::Over { tokens: 8_192, bytes: Some(8_000) });
    }

    #[test]
    fn a_known_client_has_a_limit_of_its_own_unless_one_is_set() {
        let mut policy = policy();
        let cline = |policy: &Policy, tool| policy.limit_for("s", tool, Some("cline"));
        let limit = Limit::Over { tokens: 8_192, bytes: Some(8_000) };
        assert_eq!(cline(&policy, "other"), limit);
        assert_eq!(cline(&policy, "list_x"), Limit::Over { tokens: 100, bytes: None });
        policy.threshold = Some(20_000);
        assert_eq!(cline(&policy, "other"), Limit::Over { tokens: 20_000, bytes: None });
        assert!(limit.may_be_over(8_001) && !limit.may_be_over(8_000));
    }
}
