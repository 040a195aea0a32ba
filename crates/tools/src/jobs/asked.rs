//! What a call asks for: whether it may become a job, when, and what its work is.

use std::time::Duration;

use forebay_wire::{scan, walk};
use serde_json::{Map, Value, json};

use super::TASKS;
use crate::{ToolError, arguments::Arguments, canonical, json as json_text};

/// The argument that asks for a job.
pub(super) const JOB_AFTER: &str = "job_after";
/// The same as it is written.
pub(super) const WRITTEN: &[u8] = b"\"job_after\"";

const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Whose the argument `job_after` of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    Ours,
    /// The tool's own, or nobody's.
    NotOurs,
}

/// What a call wants of us.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Nothing.
    Pass,
    /// Nothing, but these are its `params` without what is for us.
    Rewrite(Vec<u8>),
    /// To become a job when it has taken so long.
    Job(Asked),
}

/// A call that may become a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// What the client calls the tool.
    pub(super) name: String,
    /// What is for the upstream.
    pub(super) arguments: Vec<u8>,
    /// When it becomes a job.
    pub(super) after: Duration,
}

impl Asked {
    /// The call as one that does not become a job.
    pub(super) fn as_ordinary_call(&self, params: &[u8]) -> Wish {
        let [given] = scan::members(params, ["arguments"]);
        match given {
            Some(given) if given != self.arguments => {
                Wish::Rewrite(with_arguments(params, given, &self.arguments))
            }
            _ => Wish::Pass,
        }
    }
}

/// What a call wants whose tool becomes a job as `rule` says.
pub(super) fn wish(
    params: &[u8],
    argument: Argument,
    rule: Option<Duration>,
) -> Result<Wish, ToolError> {
    // A call that is more than a name and arguments is a task, or goes on with one that was asked for more.
    let is_plain = |key: &[u8]| [&b"name"[..], b"arguments", b"_meta"].contains(&key);
    let [name, given] = scan::members(params, ["name", "arguments"]);
    let Some(name) = name.and_then(scan::string) else { return Ok(Wish::Pass) };
    if walk::members(params).into_iter().flatten().any(|(key, _)| !is_plain(key)) {
        return Ok(Wish::Pass);
    }
    let arguments = given.unwrap_or(b"{}");
    let wished = match argument {
        Argument::Ours => json_text::without(arguments, JOB_AFTER),
        Argument::NotOurs => None,
    };
    let after = match &wished {
        Some((seconds, _)) => seconds_of(seconds)?.or(rule),
        None => rule,
    };
    let arguments = wished.map(|(_, rest)| rest);
    Ok(match (after, arguments, given) {
        (Some(after), arguments, given) => Wish::Job(Asked {
            name: name.into_owned(),
            arguments: arguments.unwrap_or_else(|| given.unwrap_or(b"{}").to_vec()),
            after,
        }),
        (None, Some(rest), Some(given)) => Wish::Rewrite(with_arguments(params, given, &rest)),
        (None, Some(_) | None, _) => Wish::Pass,
    })
}

/// What the argument says; `null` is as good as not given.
fn seconds_of(written: &[u8]) -> Result<Option<Duration>, ToolError> {
    let value = serde_json::from_slice(written).unwrap_or_default();
    let given = Map::from_iter([(JOB_AFTER.to_owned(), value)]);
    let seconds = Arguments::among_others(given).number(JOB_AFTER, 0, u64::MAX)?;
    Ok(seconds.map(Duration::from_secs))
}

/// `params` with other arguments in the place of those `given`, which are part of them.
fn with_arguments(params: &[u8], given: &[u8], arguments: &[u8]) -> Vec<u8> {
    let start = given.as_ptr().addr() - params.as_ptr().addr();
    [&params[..start], arguments, &params[start + given.len()..]].concat()
}

/// True if a modern call says that its client takes a task in the place of a result.
pub(super) fn takes_tasks(params: &[u8]) -> bool {
    let [meta] = scan::members(params, ["_meta"]);
    let [capabilities] = scan::members(meta.unwrap_or_default(), [CLIENT_CAPABILITIES]);
    let [extensions] = scan::members(capabilities.unwrap_or_default(), ["extensions"]);
    let [tasks] = scan::members(extensions.unwrap_or_default(), [TASKS]);
    tasks.is_some()
}

/// A hash of what is being done with these arguments, for whom and where.
pub(super) fn work(parts: &[&str], arguments: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    let arguments = canonical::of(arguments);
    for part in parts.iter().map(|part| part.as_bytes()).chain([arguments.as_slice()]) {
        // With its length before it, no part can be taken for the end of another.
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex().to_string()
}

/// Our argument as a tool's definition has it.
pub(super) fn schema() -> Map<String, Value> {
    let schema = json!({
        "type": "integer",
        "minimum": 0,
        "description": "Seconds after which you get a job to ask about, if there is no result yet.",
    });
    Map::from_iter([(JOB_AFTER.to_owned(), schema)])
}

#[cfg(test)]
mod tests {
    use super::{
        Argument::{NotOurs, Ours},
        *,
    };

    const RULE: Option<Duration> = Some(Duration::from_secs(20));

    fn job(arguments: &str, seconds: u64) -> Wish {
        let (name, arguments) = ("t".to_owned(), arguments.as_bytes().to_vec());
        Wish::Job(Asked { name, arguments, after: Duration::from_secs(seconds) })
    }

    fn asked(params: &str, argument: Argument, rule: Option<Duration>) -> Wish {
        wish(params.as_bytes(), argument, rule).unwrap()
    }

    #[test]
    fn a_rule_or_the_argument_makes_a_job_and_the_argument_goes_first() {
        let plain = r#"{"name":"t","arguments":{"a":1.0}}"#;
        assert_eq!(asked(plain, Ours, None), Wish::Pass);
        assert_eq!(asked(plain, Ours, RULE), job(r#"{"a":1.0}"#, 20));
        let wished = r#"{"name":"t","arguments":{"a":1.0,"job_after":"5","b":[]}}"#;
        assert_eq!(asked(wished, Ours, RULE), job(r#"{"a":1.0,"b":[]}"#, 5));
        assert_eq!(asked(wished, Ours, None), job(r#"{"a":1.0,"b":[]}"#, 5));
        assert_eq!(asked(wished, NotOurs, None), Wish::Pass, "it is the tool's own");
        assert_eq!(asked(r#"{"name":"t"}"#, Ours, RULE), job("{}", 20));
    }

    #[test]
    fn what_is_ours_does_not_reach_the_upstream() {
        let null = r#"{"name":"t","arguments":{"job_after":null,"a":1},"_meta":{}}"#;
        let without = br#"{"name":"t","arguments":{"a":1},"_meta":{}}"#.to_vec();
        assert_eq!(asked(null, Ours, None), Wish::Rewrite(without.clone()));
        let wished = null.replace("null", "3");
        let Wish::Job(asked) = asked(&wished, Ours, None) else { panic!("it is a job") };
        assert_eq!(asked.as_ordinary_call(wished.as_bytes()), Wish::Rewrite(without));
    }

    #[test]
    fn tasks_and_calls_that_go_on_are_left_alone() {
        for more in [r#""task":{"ttl":1}"#, r#""inputResponses":{}"#, r#""requestState":"x""#] {
            let params = format!(r#"{{"name":"t","arguments":{{}},{more}}}"#);
            assert_eq!(asked(&params, Ours, RULE), Wish::Pass, "{more}");
        }
        assert_eq!(asked(r#"{"arguments":{}}"#, Ours, RULE), Wish::Pass);
        let modern = json!({"name": "t", "_meta": {
            CLIENT_CAPABILITIES: {"extensions": {TASKS: {}}},
        }});
        assert!(takes_tasks(modern.to_string().as_bytes()) && !takes_tasks(b"{\"name\":\"t\"}"));
    }

    #[test]
    fn a_time_that_is_none_is_told() {
        for bad in ["-1", "\"soon\"", "1.5", "[]"] {
            let params = format!(r#"{{"name":"t","arguments":{{"job_after":{bad}}}}}"#);
            let said = wish(params.as_bytes(), Ours, None).unwrap_err().told();
            assert!(said.starts_with("job_after must be a whole number, 0 or more"), "{said}");
        }
    }

    #[test]
    fn the_same_work_has_the_same_hash_however_it_is_written() {
        let hash = |arguments: &str| work(&["p", "s", "t"], arguments.as_bytes());
        assert_eq!(hash(r#"{"a":1,"b":2}"#), hash(r#"{ "b":2, "a":1 }"#));
        assert_ne!(hash(r#"{"a":1}"#), hash(r#"{"a":2}"#));
        assert_ne!(work(&["p", "st"], b"{}"), work(&["ps", "t"], b"{}"));
    }
}
