//! The tables of settings. Everything else about them follows from these.

mod capture;
mod code;
mod files;
mod gateway;
mod jobs;
mod log;
mod query;
mod search;
mod sharing;
mod summaries;
mod tools;

use super::{
    Config,
    kind::{Given, Kind},
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
    all().find(|setting| setting.key == key)
}

/// Settings that say how much there is of something, or in which form. A mistake in one of them is
/// told, and the setting is as if nothing had been written. All others say what is kept, where, for
/// how long, or what may be seen of it: with a mistake in one of these nothing starts.
pub(super) const FORGIVING: [&str; 51] = [
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
    "code.wall_seconds",
    "code.cpu_seconds",
    "code.memory_bytes",
    "code.output_bytes",
    "code.max_calls",
    "code.calls_at_once",
    "code.runs_at_once",
    "code.idle_time",
    "files.max_bytes",
    "files.max_image_bytes",
    "files.max_audio_bytes",
    "files.max_blob_bytes",
    "files.max_text_bytes",
    "files.gather_above",
    "files.show_images_up_to",
    "references.max_bytes",
    "resources.max_bytes",
    "outputs.max_bytes",
    "jobs.max_running",
    "jobs.max_per_session",
    "jobs.max_wait_seconds",
    "jobs.max_run_seconds",
    "summaries.threshold_bytes",
    "summaries.deadline_seconds",
    "summaries.input_tokens",
    "summaries.max_running",
    "summaries.cache_similarity",
    "summaries.cache_hours",
    "gateway.separator",
    "log.file_level",
    "search.quiet_seconds",
    "search.max_passages",
    "search.max_vectors",
    "search.idle_time",
];

impl Setting {
    /// What follows from a mistake in it.
    pub(super) fn weight(&self) -> Weight {
        if FORGIVING.contains(&self.key) { Weight::PassedOver } else { Weight::Grave }
    }

    /// The environment variable for it.
    pub(super) fn variable(&self) -> String {
        match SHORT.iter().find(|(key, _)| *key == self.key) {
            Some((_, variable)) => (*variable).to_owned(),
            None => format!("{PREFIX}{}", self.key.replace('.', "_").to_uppercase()),
        }
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

/// The variables of settings that are known by a shorter name.
const SHORT: [(&str, &str); 1] = [("search.chroma_url", "FOREBAY_CHROMA_URL")];

/// All settings but those of single tools and servers, in the order in which they are told.
const TABLES: [&[Setting]; 11] = [
    capture::SETTINGS,
    tools::SETTINGS,
    query::SETTINGS,
    code::SETTINGS,
    files::SETTINGS,
    sharing::SETTINGS,
    jobs::SETTINGS,
    summaries::SETTINGS,
    gateway::SETTINGS,
    log::SETTINGS,
    search::SETTINGS,
];

/// All settings but those of single tools and servers.
pub(super) fn all() -> impl Iterator<Item = &'static Setting> + Clone {
    TABLES.into_iter().flatten()
}

/// What the table of a tool may hold: the key, an example and its meaning.
pub(super) const TOOL_KEYS: [(&str, &str, &str); 8] = [
    ("threshold", "20000", "Results of more tokens than this are kept."),
    ("always", "true", "All results are kept that are longer than what would be said about them."),
    ("never", "true", "All results pass."),
    (
        "references",
        "false",
        "References such as `forebay://dataset/ID` among the arguments reach the server as they are written.",
    ),
    (
        "path_arguments",
        "[\"path\"]",
        "Parameters that take the path of a file: a reference becomes that of a file with what it stands for, if the server shares the disk.",
    ),
    (
        "cache_seconds",
        "60",
        "For so long the same call, with the same arguments, gets the result that it had before, with its age. 0 asks each time. It holds for tools that are marked as `readOnlyHint`.",
    ),
    ("cache_unmarked", "true", "`cache_seconds` holds whether or not the tool is marked."),
    (
        "job_after",
        "20",
        "A call that is not answered after so many seconds becomes a job, which `get_run_status` tells of; 0 makes it one at once. Not for tools whose results are never kept.",
    ),
];

/// Those that say when results are kept, of which a tool has one.
pub(super) const WHEN_KEYS: [&str; 3] = ["threshold", "always", "never"];
