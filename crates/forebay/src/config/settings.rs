//! The table of settings. Everything else about them follows from it.

use std::time::Duration;

use forebay_intercept::{OnStoreFailure, OutputSchema, Tokenizer};
use forebay_proxy::router::Prefix;
use forebay_store::Scope;
use forebay_tools::Formulas;

use super::{
    Config,
    gateway::Expose,
    kind::{Choice, Given, Kind},
    problem::Weight,
};

/// How the name of a variable begins that sets one.
pub(super) const PREFIX: &str = "FOREBAY_";

/// A setting of a `T`.
pub(super) struct Setting<T: 'static = Config> {
    /// Its name; after a dot, the one within a table.
    pub(super) key: &'static str,
    /// What holds if it is not set, as it would be written.
    pub(super) default: &'static str,
    /// What it does.
    pub(super) meaning: &'static str,
    pub(super) kind: Kind<T>,
}

/// The setting with this name.
pub(super) fn named(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Settings that say how much there is of something, or in which form. A mistake in one of them is
/// told, and the setting is as if nothing had been written. All others say what is kept, where, for
/// how long, or what may be seen of it: with a mistake in one of these nothing starts.
pub(super) const FORGIVING: [&str; 18] = [
    "threshold",
    "tokenizer",
    "summary_tokens",
    "output_schema",
    "max_spool_bytes",
    "compress_after_days",
    "schema_inference.sample_size",
    "schema_inference.type_detection",
    "injected_prefix",
    "reply_tokens",
    "query.memory_limit",
    "query.threads",
    "query.spill_limit",
    "query.time_limit",
    "query.idle_time",
    "query.max_rows",
    "query.max_bytes",
    "gateway.separator",
];

impl Setting {
    /// What follows from a mistake in it.
    pub(super) fn weight(&self) -> Weight {
        if FORGIVING.contains(&self.key) { Weight::PassedOver } else { Weight::Grave }
    }

    /// The environment variable for it.
    pub(super) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.key.replace('.', "_").to_uppercase())
    }
}

impl<T> Setting<T> {
    /// Sets it, or says what to write.
    pub(super) fn set(&self, config: &mut T, given: &Given) -> Result<(), String> {
        if self.kind.set(config, given) { Ok(()) } else { Err(self.refusal(given)) }
    }

    /// What to write, if it cannot be what was given.
    pub(super) fn refusal(&self, given: &Given) -> String {
        let (key, expected) = (self.key, self.kind.expected());
        match given {
            _ if self.kind.is_private() => format!("`{key}` cannot be this; write {expected}"),
            // Where everything is text, quotes would be part of it.
            Given::Word(_) => format!("cannot be {given}; write {}", expected.replace('"', "`")),
            _ => format!("`{key}` cannot be {given}; write {expected}"),
        }
    }
}

/// All settings but those of single tools and servers.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "enabled",
        default: "true",
        meaning: "Whether results are kept at all. If not, every message passes as it came.",
        kind: Kind::Switch(|config, on| config.enabled = on),
    },
    Setting {
        key: "threshold",
        default: "8192",
        meaning: "A result of more tokens than this is kept. If it is not set, known clients that take less have a limit of their own.",
        kind: Kind::Number {
            from: 1,
            to: u64::MAX,
            set: |config, tokens| config.policy.threshold = Some(tokens),
        },
    },
    Setting {
        key: "tokenizer",
        default: "\"o200k\"",
        meaning: "How tokens are counted.",
        kind: Kind::Choice(&[
            Choice {
                word: "o200k",
                meaning: "as today's models do",
                set: |config| config.policy.tokenizer = Tokenizer::O200k,
            },
            Choice {
                word: "estimate",
                meaning: "a token for every three bytes: quicker, and may be half of the truth",
                set: |config| config.policy.tokenizer = Tokenizer::Estimate,
            },
        ]),
    },
    Setting {
        key: "excluded_tools",
        default: "[]",
        meaning: "Tools whose results always pass. `*` stands for any characters, `?` for one. In the variable, commas stand between them.",
        kind: Kind::Patterns(|config, patterns| config.policy.excluded_tools = patterns),
    },
    Setting {
        key: "summary_tokens",
        default: "600",
        meaning: "How many tokens a summary may have.",
        kind: Kind::Number {
            from: 100,
            to: 2_000,
            set: |config, tokens| {
                config.policy.summary_tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
            },
        },
    },
    Setting {
        key: "output_schema",
        default: "\"drop\"",
        meaning: "What becomes of the `outputSchema` of a tool whose result may be replaced: strict clients hold results against it.",
        kind: Kind::Choice(&[
            Choice {
                word: "drop",
                meaning: "it is left out of the list of tools",
                set: |config| config.policy.output_schema = OutputSchema::Drop,
            },
            Choice {
                word: "widen",
                meaning: "it allows what stands in the place of a large result, too",
                set: |config| config.policy.output_schema = OutputSchema::Widen,
            },
        ]),
    },
    Setting {
        key: "persist_location",
        default: "\"~/.forebay\"",
        meaning: "The directory for what is kept. If it is not set, `FOREBAY_HOME` is used, if that is.",
        kind: Kind::Directory(|config, path| config.persist_location = path),
    },
    Setting {
        key: "cleanup_after_days",
        default: "30",
        meaning: "How long a result is kept that is not pinned. 0 keeps all.",
        kind: Kind::Number {
            from: 0,
            to: u64::MAX,
            set: |config, days| config.cleanup_after_days = days,
        },
    },
    Setting {
        key: "max_store_bytes",
        default: "\"20 GB\"",
        meaning: "How much space all results may take; the oldest go first that are not pinned, and the newest stays. 0 sets no limit. If it is not set, it is a tenth of the disk if that is less. What is made of results for a tool's history (`united/`) comes on top.",
        kind: Kind::Bytes { from: 0, set: |config, bytes| config.max_store_bytes = Some(bytes) },
    },
    Setting {
        key: "max_spool_bytes",
        default: "\"4 GB\"",
        meaning: "How much disk the messages may take that are too long for memory while they pass, all together. One for which there is no room passes unread; where it has to be read, in front of an HTTP client, its request is answered with an error.",
        kind: Kind::Bytes { from: 0, set: |config, bytes| config.max_spool_bytes = bytes },
    },
    Setting {
        key: "compress_after_days",
        default: "1",
        meaning: "When results are compressed. 0 compresses none.",
        kind: Kind::Number {
            from: 0,
            to: u64::MAX,
            set: |config, days| config.compress_after_days = days,
        },
    },
    Setting {
        key: "wait_for_disk",
        default: "false",
        meaning: "Whether a result must be safe against a loss of power before the summary goes out. If not, it is a moment later.",
        kind: Kind::Switch(|config, on| config.wait_for_disk = on),
    },
    Setting {
        key: "on_store_failure",
        default: "\"pass\"",
        meaning: "What becomes of a large result that cannot be kept, on a full disk for one.",
        kind: Kind::Choice(&[
            Choice {
                word: "pass",
                meaning: "it passes as it came, and the log says why",
                set: |config| config.policy.on_store_failure = OnStoreFailure::Pass,
            },
            Choice {
                word: "error",
                meaning: "the model gets an error that says why",
                set: |config| config.policy.on_store_failure = OnStoreFailure::Error,
            },
        ]),
    },
    Setting {
        key: "keep_arguments",
        default: "true",
        meaning: "Whether the arguments of a call are kept with its result, so that results can be told apart. What looks like a secret is masked, by its name (`password`, `api_key`) or its form (`Bearer …`).",
        kind: Kind::Switch(|config, on| config.policy.keep_arguments = on),
    },
    Setting {
        key: "ca_file",
        default: "\"\"",
        meaning: "A file with certificates (PEM) that are trusted besides the system's, when a server is reached by `https`: those of a private authority, or of a proxy that looks into TLS. \"\" is none.",
        kind: Kind::File(|config, path| config.ca_file = path),
    },
    Setting {
        key: "traces_url",
        default: "\"\"",
        meaning: "Where a span for each tool call is sent, as OpenTelemetry's OTLP over HTTP: such as \"http://localhost:4318/v1/traces\". A call that has `traceparent` in its `_meta` belongs to that trace. \"\" is nowhere.",
        kind: Kind::AddressOrNone(|config, address| config.traces_url = address),
    },
    Setting {
        key: "schema_inference.sample_size",
        default: "0",
        meaning: "How many records are looked at to describe the fields, from the first on. 0 looks at all.",
        kind: Kind::Number {
            from: 0,
            to: u64::MAX,
            set: |config, records| config.policy.schema_inference.sample_size = records,
        },
    },
    Setting {
        key: "schema_inference.type_detection",
        default: "true",
        meaning: "Whether strings are told apart: timestamps, dates, URLs and the like.",
        kind: Kind::Switch(|config, on| config.policy.schema_inference.type_detection = on),
    },
    Setting {
        key: "injected_tools",
        default: "\"core\"",
        meaning: "Which tools are added to those of a server: \"core\" (query, list, read), \"full\" (export and charts, too), \"none\", or a list of names. In the variable, commas stand between them.",
        kind: Kind::Tools(|config, tools| config.offer.tools = tools),
    },
    Setting {
        key: "injected_prefix",
        default: "\"\"",
        meaning: "What stands before the names of the added tools. If a server has a tool of the same name as one of them, the server's is offered under the server's own name, two underscores and its name.",
        kind: Kind::Prefix(|config, prefix| config.offer.prefix = prefix),
    },
    Setting {
        key: "scope",
        default: "\"project\"",
        meaning: "Which of what was kept the added tools of a session may see. A project is the first root that the client names to a server that asks, or else the directory in which Forebay was started. What has no project, because an older version has kept it, is seen with \"all\" only. The command line sees all.",
        kind: Kind::Choice(&[
            Choice {
                word: "session",
                meaning: "what was kept in the same session",
                set: |config| config.policy.scope = Scope::Session,
            },
            Choice {
                word: "project",
                meaning: "that, and what other sessions have kept in the same project",
                set: |config| config.policy.scope = Scope::Project,
            },
            Choice {
                word: "all",
                meaning: "everything, of all servers and clients",
                set: |config| config.policy.scope = Scope::All,
            },
        ]),
    },
    Setting {
        key: "reply_tokens",
        default: "4000",
        meaning: "How many tokens a reply of an added tool may have, if the call does not say.",
        kind: Kind::Number {
            from: 200,
            to: 1_000_000,
            set: |config, tokens| config.offer.reply_tokens = tokens,
        },
    },
    Setting {
        key: "escape_formulas",
        default: "true",
        meaning: "Whether a text that a spreadsheet would run as a formula, because it begins with = + - @, a tab or a carriage return, gets a `'` before it in a CSV file. How many there were is told.",
        kind: Kind::Switch(|config, on| {
            config.formulas = if on { Formulas::Disarmed } else { Formulas::AsWritten };
        }),
    },
    Setting {
        key: "query.memory_limit",
        default: "\"1 GB\"",
        meaning: "How much memory a query may use before it writes to disk.",
        kind: Kind::Bytes {
            from: 64_000_000,
            set: |config, bytes| config.query.memory_bytes = bytes,
        },
    },
    Setting {
        key: "query.threads",
        default: "4",
        meaning: "How many threads a query may use; never more than there are cores.",
        kind: Kind::Number {
            from: 1,
            to: 256,
            set: |config, threads| {
                config.query.threads = usize::try_from(threads).unwrap_or(1);
            },
        },
    },
    Setting {
        key: "query.spill_limit",
        default: "\"10 GB\"",
        meaning: "How much a query may write to disk where the memory is not enough.",
        kind: Kind::Bytes { from: 0, set: |config, bytes| config.query.spill_bytes = bytes },
    },
    Setting {
        key: "query.time_limit",
        default: "30",
        meaning: "How many seconds a query may run.",
        kind: Kind::Number {
            from: 1,
            to: 100,
            set: |config, seconds| config.query.time = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "query.idle_time",
        default: "60",
        meaning: "After how many seconds without a query its memory is given back.",
        kind: Kind::Number {
            from: 1,
            to: 86_400,
            set: |config, seconds| config.query.idle = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "query.max_rows",
        default: "1000000",
        meaning: "How many rows the result of a query may have that becomes a dataset of its own.",
        kind: Kind::Number {
            from: 1,
            to: u64::MAX,
            set: |config, rows| config.query.max_rows = rows,
        },
    },
    Setting {
        key: "query.max_bytes",
        default: "\"1 GB\"",
        meaning: "How much space the result of a query may take that becomes a dataset of its own.",
        kind: Kind::Bytes { from: 1, set: |config, bytes| config.query.max_bytes = bytes },
    },
    Setting {
        key: "gateway.separator",
        default: "\"__\"",
        meaning: "What stands between the name of a server and that of its tool, where several servers are offered as one.",
        kind: Kind::Separator(|config, separator| config.gateway.separator = separator),
    },
    Setting {
        key: "gateway.prefix",
        default: "\"always\"",
        meaning: "Which tools have the name of their server before their own, where several servers are offered as one.",
        kind: Kind::Choice(&[
            Choice {
                word: "always",
                meaning: "all",
                set: |config| config.gateway.prefix = Prefix::Always,
            },
            Choice {
                word: "where_needed",
                meaning: "those of which two servers have one of the same name",
                set: |config| config.gateway.prefix = Prefix::WhereNeeded,
            },
        ]),
    },
    Setting {
        key: "gateway.expose",
        default: "\"all\"",
        meaning: "Which tools of several servers are listed. Those that are not can be found with `search_tools` and called with `call_tool`.",
        kind: Kind::Choice(&[
            Choice {
                word: "all",
                meaning: "all",
                set: |config| config.gateway.expose = Expose::All,
            },
            Choice {
                word: "search",
                meaning: "none",
                set: |config| config.gateway.expose = Expose::Search,
            },
            Choice {
                word: "auto",
                meaning: "all, unless their definitions have more tokens than `gateway.expose_tokens`",
                set: |config| config.gateway.expose = Expose::Auto,
            },
        ]),
    },
    Setting {
        key: "gateway.expose_tokens",
        default: "20000",
        meaning: "How many tokens the definitions of all tools may have to be listed, with `gateway.expose = \"auto\"`.",
        kind: Kind::Number {
            from: 1,
            to: u64::MAX,
            set: |config, tokens| config.gateway.expose_tokens = tokens,
        },
    },
];

/// What the table of a tool may hold, one of these: the key, an example and its meaning.
pub(super) const TOOL_KEYS: [(&str, &str, &str); 3] = [
    ("threshold", "20000", "Results of more tokens than this are kept."),
    ("always", "true", "All results are kept that are longer than what would be said about them."),
    ("never", "true", "All results pass."),
];
