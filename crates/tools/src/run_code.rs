//! `run_code`: a program that calls tools and works on their whole results. Only what it returns or logs goes to
//! the model, and through capture, as any result does.

mod definition;
mod help;
mod host;
mod types;
mod value;

use std::{sync::Arc, time::Duration};

use forebay_intercept::{Named, NeverKept, Policy};
use forebay_proxy::{chain::Caller, session::Call};
use forebay_sandbox::{Host, Run, Sandbox};
use forebay_store::DatasetId;
use serde_json::Value;

use self::host::Reach;
use crate::{
    Budget, Desk, ToolError,
    arguments::{Arguments, counted},
    catalogue::Catalogue,
    definitions::Tool,
    desk::SERVER,
    events,
    reply::Reply,
};

/// What becomes of a program's call of a tool that its server marks as destructive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Destructive {
    /// It is refused: whoever lets programs run has not seen what they call.
    #[default]
    Refused,
    /// It is made as any other.
    Allowed,
}

/// How long an answer may take beyond what the program may.
const GRACE: Duration = Duration::from_secs(15);
/// How many results may be in a program's memory at once, as long as they may be.
const RESULTS: u64 = 4;

/// What has become of a program: its reply, with the datasets that it has read.
pub(crate) enum Ran {
    /// It has come to its end, and its reply is a result as any other.
    Result(Reply),
    /// It has not, or nothing of it may be kept: the reply goes to the model as it is.
    Answer(Reply),
}

/// Runs programs.
pub struct Programs {
    sandbox: Sandbox,
    destructive: Destructive,
}

/// What a program is run with.
pub(crate) struct Around<'a> {
    pub(crate) catalogue: &'a Arc<Catalogue>,
    pub(crate) desk: Desk,
    pub(crate) policy: &'a Policy,
    /// The call that is answered.
    pub(crate) call: &'a Call,
    pub(crate) caller: &'a Caller,
    /// For what is said of a failure.
    pub(crate) budget: Budget,
}

impl Programs {
    /// Runs programs in `sandbox`, within its limits.
    pub fn new(sandbox: Sandbox, destructive: Destructive) -> Self {
        Self { sandbox, destructive }
    }

    /// How long an answer may take.
    pub(crate) fn patience(&self) -> Duration {
        self.sandbox.longest_run() + GRACE
    }

    pub(crate) fn answer(&self, given: Value, around: &Around<'_>) -> Result<Ran, ToolError> {
        let arguments = Arguments::new(Tool::RunCode, given)?;
        let code = arguments.text("code", "return (await tools.git.git_log({})).length")?;
        let most = self.sandbox.limits().wall.as_secs().max(1);
        let seconds = arguments.number("timeout_seconds", 1, most)?.unwrap_or(most);
        let max_result_bytes = self.sandbox.limits().memory_bytes / RESULTS;
        let reach = Reach::new(
            around.catalogue.clone(),
            around.desk.clone(),
            around.policy.clone(),
            around.caller.clone(),
            self.destructive,
            max_result_bytes,
        );
        let host: Arc<dyn Host> = Arc::new(reach.clone());
        let run = self.sandbox.run(&unfenced(&code), Duration::from_secs(seconds), &host);
        // The host knows the run's own calls, and the run knows the host.
        drop(host);
        let secretive = reach.secretive();
        if secretive.is_some() {
            around.call.note(NeverKept);
        }
        let datasets = reach.asked();
        match run {
            // It may have come to its value, and only what it did besides has failed.
            Ok(run) if run.failure.is_none() || run.value.is_some() => {
                let reply = completed(run).made_from(datasets);
                Ok(match secretive {
                    Some(tool) if !around.holds(&reply) => {
                        let told = around.budget.cut(&too_long(&reply, tool));
                        Ran::Answer(Reply::error(&told).made_from(reply.datasets().to_vec()))
                    }
                    Some(_) | None => Ran::Result(reply),
                })
            }
            Ok(run) => {
                let told = around.failed(&run, reach.shapes(), secretive);
                Ok(Ran::Answer(Reply::error(&told).made_from(datasets)))
            }
            Err(error) => Err(ToolError::Refused(error.to_string())),
        }
    }
}

impl Around<'_> {
    /// True if a reply is no longer than the client takes.
    fn holds(&self, reply: &Reply) -> bool {
        let (tokens, bytes) = self.policy.reply_limit(self.call.client.as_deref());
        Budget { tokens, bytes }.holds(&reply.texts())
    }

    /// Why a program failed, and what it logged before: all of it, or how it begins and what has become of the
    /// rest.
    fn failed(&self, run: &Run, shapes: Option<String>, secretive: Option<&str>) -> String {
        let why = why_failed(run, shapes);
        if run.logged.is_empty() {
            return self.budget.cut(&why);
        }
        let logged = run.logged.join("\n");
        let left_out = (run.left_out_bytes > 0).then(|| left_out(run.left_out_bytes));
        let left_out = left_out.map(|it| format!("\n{it}")).unwrap_or_default();
        // An error can be as long as what it tells of, and leaves room for the logs.
        let shorter = Budget { tokens: self.budget.tokens / 2, ..self.budget }.cut(&why);
        for why in [&why, &shorter] {
            let all = format!("{why}\nLogged before:\n{logged}{left_out}");
            if self.budget.holds(&all) {
                return all;
            }
        }
        let bytes = counted(logged.len(), "byte");
        let whereabouts = match (secretive, self.keep_logs(&logged)) {
            (Some(tool), _) => format!(
                "{bytes} were logged before, of which nothing is kept because results of {tool} never \
                 are"
            ),
            (None, Some(id)) => format!(
                "{bytes} were logged before, and are kept as {id}: read-saved-dataset reads and \
                 searches them"
            ),
            (None, None) => format!("{bytes} were logged before, and are not kept"),
        };
        self.budget.cut(&format!("{shorter}{left_out}\n{whereabouts}. They begin so:\n{logged}"))
    }

    /// Keeps what a program logged, if what programs give may be kept.
    fn keep_logs(&self, logged: &str) -> Option<DatasetId> {
        let Self { call, policy, desk, .. } = self;
        let tool = call.tool()?;
        if call.noted::<NeverKept>().is_some() || !policy.may_keep(call.upstream.as_str(), tool) {
            return None;
        }
        let named = Named { name: &format!("{tool}_log"), server: SERVER };
        let store = desk.store().ok()?;
        match forebay_intercept::save_text(logged, named, &store, policy, desk.viewer()) {
            Ok(dataset) => Some(dataset.id().clone()),
            Err(error) => {
                events::logs_not_kept(call, &error);
                None
            }
        }
    }
}

/// A program without the fence that Markdown has around it. Its lines keep their numbers.
fn unfenced(code: &str) -> String {
    let fenced = code.trim().strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let body = fenced.and_then(|rest| rest.split_once('\n'));
    body.map_or_else(|| code.to_owned(), |(_language, body)| format!("\n{body}"))
}

/// What a program gave and logged.
fn completed(run: Run) -> Reply {
    let Run { value, notes, logged, left_out_bytes, failure, .. } = run;
    let value = value.map(|json| match serde_json::from_str(&json) {
        Ok(Value::String(text)) => text,
        _ => json,
    });
    let logged = logged.join("\n");
    // `return help()` has shown its text already.
    let logged = if value.as_ref() == Some(&logged) { String::new() } else { logged };
    let mut reply = Reply::default();
    let is_silent = value.is_none() && logged.is_empty();
    if let Some(value) = value {
        reply = reply.and_text(value);
    }
    if !logged.is_empty() {
        reply = reply.and_text(logged);
    }
    if !notes.is_empty() {
        reply = reply.and_text(notes.join("\n"));
    }
    if left_out_bytes > 0 {
        reply = reply.and_text(left_out(left_out_bytes));
    }
    if let Some(failure) = failure {
        reply = reply.and_text(format!("What was still under way was given up. {failure}"));
    }
    if is_silent {
        let calls = counted(run.calls, "call");
        reply = reply.and_text(format!(
            "The program ended after {calls}, and gave nothing: return what you want to see, or log it."
        ));
    }
    reply
}

/// Why a program failed, and what it had done.
fn why_failed(run: &Run, shapes: Option<String>) -> String {
    let mut parts = Vec::new();
    parts.extend(run.failure.as_ref().map(ToString::to_string));
    parts.extend(shapes);
    if run.calls > 1 {
        parts.push(format!(
            "{} had been made; what they changed stays.",
            counted(run.calls, "call")
        ));
    }
    parts.join("\n")
}

/// What is said in the place of a reply that can be neither given nor kept.
fn too_long(reply: &Reply, secretive: &str) -> String {
    let texts = reply.texts();
    format!(
        "The program has given {}, too much for the client; and nothing of it is kept, because it has \
         called {secretive}, whose results never are (excluded_tools). Return less of it. What was \
         called has been done. It begins so:\n{texts}",
        counted(texts.len(), "byte"),
    )
}

fn left_out(bytes: u64) -> String {
    format!(
        "{} more were logged and are left out: code.output_bytes allows no more.",
        counted(bytes, "byte")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_around_a_program_is_taken_away() {
        assert_eq!(unfenced("```ts\nreturn 1\n```\n"), "\nreturn 1\n");
        for code in ["return 1", "```return 1```", "return `a`", "``` x"] {
            assert_eq!(unfenced(code), code);
        }
    }
}
