//! What is kept, and how much is said about it.
//!
//! Every question about a tool is answered here, so that the stages and the list of tools agree.

mod files;
mod glob;
mod presets;

use std::{collections::HashMap, path::Path, time::Duration};

use forebay_proxy::session::Call;
use forebay_records::{Inference, Tokenizer};
use forebay_store::{Principal, Scope, Viewer};

pub use files::FilePolicy;
pub(crate) use files::Origin;
pub use glob::Glob;
pub use presets::{CLIENT_LIMITS, ClientLimit, Takes, known_clients};

/// A result of more tokens than this is kept, if nothing else is said.
pub const DEFAULT_THRESHOLD: u64 = 8_192;

/// The settings of the five stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// A result of more tokens than this is kept; `None` leaves it to the limits of known clients,
    /// and to [`DEFAULT_THRESHOLD`] for all others.
    pub threshold: Option<u64>,
    /// What holds for the files in results.
    pub files: FilePolicy,
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
    /// What holds for references among the arguments of calls.
    pub references: References,
    /// Which of what was kept the tools of a session may see.
    pub scope: Scope,
    /// The project of a session whose client tells none: where we were started.
    pub directory: Option<String>,
    /// Where clients are.
    pub clients: Clients,
}

/// Where clients are. A path on this machine is told to those that are here, and to no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clients {
    /// On this machine.
    #[default]
    Here,
    /// On other machines, as far as is known.
    Elsewhere,
}

impl Clients {
    /// What is said to clients of the store at `home`: no path of ours, if they cannot see our disk.
    pub fn without_paths(self, text: String, home: &Path) -> String {
        match self {
            Self::Here => text,
            Self::Elsewhere => text.replace(&*home.to_string_lossy(), "the store"),
        }
    }
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
    /// Whether it can read our files.
    pub shares_disk: bool,
}

/// What holds for the tools of a pattern; what a rule does not say, the next one that fits may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRule {
    /// Which tools.
    pub pattern: Glob,
    /// When their results are kept.
    pub when: Option<When>,
    /// Whether references among their arguments are resolved.
    pub references: Option<bool>,
    /// Which of their parameters take the path of a file.
    pub path_arguments: Option<Vec<String>>,
    /// How long the result of a call may be given again.
    pub cache: Option<Caching>,
    /// After how many seconds a call becomes a job; 0 is at once.
    pub job_after: Option<u64>,
}

/// What holds for references among the arguments of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct References {
    /// Whether they are resolved.
    pub is_enabled: bool,
    /// How many bytes those of a call may stand for.
    pub max_bytes: u64,
    /// Whether all servers can read our files.
    pub shares_disk: bool,
}

/// How long the result of a call may be given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caching {
    /// 0 is not at all.
    pub seconds: u64,
    /// Whether that holds for tools that do not say that they only read.
    pub is_for_unmarked: bool,
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
            files: FilePolicy::default(),
            tokenizer: Tokenizer::default(),
            summary_tokens: 600,
            excluded_tools: Vec::new(),
            tools: Vec::new(),
            servers: HashMap::new(),
            keep_arguments: true,
            schema_inference: Inference::default(),
            on_store_failure: OnStoreFailure::default(),
            output_schema: OutputSchema::default(),
            references: References::default(),
            scope: Scope::Project,
            directory: None,
            clients: Clients::default(),
        }
    }
}

impl Default for References {
    fn default() -> Self {
        Self { is_enabled: true, max_bytes: 50_000_000, shares_disk: false }
    }
}

impl ToolRule {
    /// A rule that says nothing about the tools of a pattern.
    pub fn of(pattern: &str) -> Self {
        let pattern = Glob::new(pattern);
        Self {
            pattern,
            when: None,
            references: None,
            path_arguments: None,
            cache: None,
            job_after: None,
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
        if let Some(when) = self.rules(server, tool).find_map(|rule| rule.when) {
            return match when {
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

    /// The rules that fit a server's `tool`, the first of which holds.
    fn rules(&self, server: &str, tool: &str) -> impl Iterator<Item = &ToolRule> {
        let of_server = self.servers.get(server).into_iter().flat_map(|it| &it.tools);
        of_server.chain(&self.tools).filter(move |rule| rule.pattern.matches(tool))
    }

    /// True if references among the arguments of a server's `tool` are resolved.
    pub fn resolves_references(&self, server: &str, tool: &str) -> bool {
        let of_tool = self.rules(server, tool).find_map(|rule| rule.references);
        self.references.is_enabled && of_tool.unwrap_or(true)
    }

    /// The parameters of a server's `tool` that take the path of a file.
    pub fn path_arguments(&self, server: &str, tool: &str) -> &[String] {
        let of_tool = self.rules(server, tool).find_map(|rule| rule.path_arguments.as_deref());
        of_tool.unwrap_or_default()
    }

    /// True if a server can read our files.
    pub fn shares_disk(&self, server: &str) -> bool {
        self.references.shares_disk || self.servers.get(server).is_some_and(|it| it.shares_disk)
    }

    /// How long a result of a server's `tool` may be given again, if at all.
    pub fn caching(&self, server: &str, tool: &str) -> Option<Caching> {
        self.rules(server, tool).find_map(|rule| rule.cache).filter(|cache| cache.seconds > 0)
    }

    /// True if the results of some tools may be given again.
    pub fn has_caching(&self) -> bool {
        let mut rules = self.servers.values().flat_map(|server| &server.tools).chain(&self.tools);
        rules.any(|rule| rule.cache.is_some_and(|cache| cache.seconds > 0))
    }

    /// After how long a call of a server's `tool` becomes a job, if it does. The result of a job has to be
    /// kept until somebody asks for it, so a tool whose results are never kept has none.
    pub fn job_after(&self, server: &str, tool: &str) -> Option<Duration> {
        let seconds = self.rules(server, tool).find_map(|rule| rule.job_after)?;
        self.may_keep(server, tool).then(|| Duration::from_secs(seconds))
    }

    /// True if calls of some tools may become jobs.
    pub fn has_jobs(&self) -> bool {
        let mut rules = self.servers.values().flat_map(|server| &server.tools).chain(&self.tools);
        rules.any(|rule| rule.job_after.is_some())
    }

    /// What a reply of our own may have for a client of that name, in tokens and bytes. Keeping more
    /// of what upstreams send does not make it less.
    pub fn reply_limit(&self, client: Option<&str>) -> (u64, Option<u64>) {
        let tokens = self.threshold.unwrap_or_default().max(DEFAULT_THRESHOLD);
        (tokens, client.and_then(presets::max_bytes))
    }

    /// True if a result of a server's `tool` may be kept.
    pub fn may_keep(&self, server: &str, tool: &str) -> bool {
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
        let rule = |pattern, when| ToolRule { when: Some(when), ..ToolRule::of(pattern) };
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
        let rule = ToolRule { when: Some(When::Never), ..ToolRule::of("list_*") };
        let keeping = Keeping {
            threshold: Some(7),
            excluded_tools: vec![Glob::new("x")],
            tools: vec![rule],
            shares_disk: false,
        };
        policy.servers.insert("s".to_owned(), keeping);
        let limit = |server, tool| policy.limit_for(server, tool, Some("cline"));
        assert_eq!((limit("s", "x"), limit("s", "list_all")), (Limit::Never, Limit::Never));
        assert_eq!(limit("s", "other"), Limit::Over { tokens: 7, bytes: None });
        assert_eq!(limit("s", "get_a"), Limit::Never, "what holds for all holds there, too");
        assert_eq!(limit("t", "list_all"), Limit::Always);
        assert_eq!(limit("t", "other"), Limit::Over { tokens: 8_192, bytes: Some(8_000) });
    }

    #[test]
    fn a_rule_holds_for_what_it_says_and_the_next_one_for_the_rest() {
        let cache = Some(Caching { seconds: 60, is_for_unmarked: false });
        let off = Some(Caching { seconds: 0, is_for_unmarked: false });
        let mut policy = Policy {
            tools: vec![
                ToolRule { references: Some(false), ..ToolRule::of("write_*") },
                ToolRule { cache: off, ..ToolRule::of("write_now") },
                ToolRule { when: Some(When::Always), cache, ..ToolRule::of("*") },
            ],
            ..Policy::default()
        };
        assert!(!policy.resolves_references("s", "write_now"));
        assert!(policy.resolves_references("s", "read"));
        assert_eq!(policy.limit_for("s", "write_now", None), Limit::Always);
        assert_eq!((policy.caching("s", "write_now"), policy.caching("s", "x")), (None, cache));
        assert!(policy.has_caching() && !Policy::default().has_caching());
        let paths = Some(vec!["file".to_owned()]);
        let of_server = ToolRule { path_arguments: paths, ..ToolRule::of("read") };
        let keeping = Keeping { tools: vec![of_server], shares_disk: true, ..Keeping::default() };
        policy.servers.insert("s".to_owned(), keeping);
        assert_eq!(policy.path_arguments("s", "read"), ["file"]);
        assert!(policy.path_arguments("t", "read").is_empty());
        assert!(policy.shares_disk("s") && !policy.shares_disk("t"));
        policy.references.is_enabled = false;
        assert!(!policy.resolves_references("s", "read"));
    }

    #[test]
    fn calls_become_jobs_where_a_rule_says_so_and_results_may_be_kept() {
        let job_after =
            |seconds, pattern| ToolRule { job_after: Some(seconds), ..ToolRule::of(pattern) };
        let mut policy =
            Policy { tools: vec![job_after(0, "report"), job_after(20, "*")], ..policy() };
        let after = |policy: &Policy, tool| policy.job_after("s", tool).map(|it| it.as_secs());
        assert_eq!((after(&policy, "report"), after(&policy, "x")), (Some(0), Some(20)));
        assert_eq!(after(&policy, "get_a"), None, "its results are never kept");
        assert!(policy.has_jobs());
        policy.tools.clear();
        assert!(!policy.has_jobs() && after(&policy, "x").is_none());
        let keeping = Keeping { tools: vec![job_after(5, "x")], ..Keeping::default() };
        policy.servers.insert("s".to_owned(), keeping);
        assert!(policy.has_jobs() && after(&policy, "x") == Some(5));
        assert_eq!(policy.job_after("t", "x"), None);
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
