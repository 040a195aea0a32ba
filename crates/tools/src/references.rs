//! Arguments by reference: a call names a dataset, and its upstream gets what the dataset holds.
//!
//! So a long result goes from one server to another without the model. A reference
//! ([`form`]) is found among the arguments ([`find`]), what it stands for is read ([`resolve`]), and put in
//! its place in the form that the parameter takes ([`wanted`], [`content`]). All other bytes of the call
//! stay as they are. One that cannot be resolved makes the call an error, and no upstream is asked.

mod content;
mod find;
mod form;
mod percent;
mod resolve;
mod selection;
mod wanted;

use std::{io::Write as _, sync::Arc};

use forebay_intercept::{MadeFrom, Policy, Usage};
use forebay_proxy::{
    body::Payload,
    chain::{CallVerdict, Caller, HookError, Interceptor, Moment, Verdict},
    session::{Call, SubjectKind},
};
use forebay_store::DatasetId;
use serde_json::Value;

use self::{
    find::{Found, Path, Step},
    form::Reference,
    resolve::{Resolved, Resolver},
    wanted::Wanted,
};
use crate::{
    Desk, KnownTools, ToolError,
    budget::Budget,
    desk::{Unnamed, unique},
    error::refuse,
    events,
    export::create,
    reply::Reply,
    toolbox::ERROR_TOKENS,
    waiting::Waiting,
};

/// Puts what datasets hold in the place of references to them.
pub struct References {
    desk: Desk,
    policy: Policy,
    known: Arc<KnownTools>,
    usage: Option<Arc<Usage>>,
}

/// A call with what its references stand for.
#[derive(Default)]
struct Expanded {
    params: Vec<u8>,
    datasets: Vec<DatasetId>,
    /// What was asked of which of them: each reference, with the argument that it stands in.
    asked: Vec<(String, Vec<DatasetId>)>,
    /// Files whose paths are among the arguments; they go away with the call.
    files: Vec<Unnamed>,
}

impl References {
    /// An interceptor that reads at `desk` what a call may see by `policy`.
    pub fn new(desk: Desk, policy: Policy, known: Arc<KnownTools>) -> Self {
        Self { desk, policy, known, usage: None }
    }

    /// The same, which has it noted which datasets are passed on.
    #[must_use]
    pub fn noting(self, usage: Arc<Usage>) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// Puts what the references stand for in their places; `None` if there are none.
    fn expand(
        &self,
        call: &Call,
        params: &[u8],
        caller: &Caller,
    ) -> Result<Option<Expanded>, ToolError> {
        let found = find::references(params);
        if found.is_empty() {
            return Ok(None);
        }
        let desk = self.desk.seen_by(self.policy.viewer(call));
        let observer = Waiting(caller);
        let max_bytes = self.policy.references.max_bytes;
        let reader = Resolver { desk: &desk, observer: &observer, max_bytes };
        let schema = self.known.schema(&call.upstream, call.tool().unwrap_or_default());
        let mut expanded = Expanded::default();
        let (mut bytes, mut at) = (0, 0);
        for Found { span, path, reference } in found {
            let resolve = |reference: Reference| {
                let resolved = reader.resolve(&reference, bytes)?;
                Ok((resolved, reference))
            };
            let about = |error: ToolError| cannot(&path, &error);
            let (resolved, reference) = reference.and_then(resolve).map_err(about)?;
            bytes += resolved.content.bytes.len() as u64;
            expanded.datasets.extend(resolved.datasets.iter().cloned());
            let asked = format!("{path}: {}", written(&params[span.clone()]));
            expanded.asked.push((asked, resolved.datasets.clone()));
            let json = match self.wanted(call, schema.as_ref(), &path) {
                Wanted::Path => {
                    let file = self.file(call, resolved).map_err(about)?;
                    let path = Value::from(file.0.to_string_lossy().into_owned());
                    expanded.files.push(file);
                    path.to_string().into_bytes()
                }
                wanted => resolved.content.written_as(wanted, reference.spelling).map_err(about)?,
            };
            expanded.params.extend_from_slice(&params[at..span.start]);
            expanded.params.extend(json);
            at = span.end;
        }
        expanded.params.extend_from_slice(&params[at..]);
        expanded.datasets.sort_unstable();
        expanded.datasets.dedup();
        Ok(Some(expanded))
    }

    /// What the parameter at `path` takes.
    fn wanted(&self, call: &Call, schema: Option<&Value>, path: &Path) -> Wanted {
        let tool = call.tool().unwrap_or_default();
        let paths = self.policy.path_arguments(call.upstream.as_str(), tool);
        let name = path.0.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(key),
            Step::Index(_) => None,
        });
        if name.is_some_and(|name| paths.contains(name)) {
            return Wanted::Path;
        }
        schema.map_or(Wanted::Any, |schema| wanted::at(schema, path))
    }

    /// A file with what was resolved, for an upstream that can read it. It is a copy: what an upstream does
    /// to it changes nothing that was kept.
    fn file(&self, call: &Call, resolved: Resolved) -> Result<Unnamed, ToolError> {
        let server = call.upstream.as_str();
        if !self.policy.shares_disk(server) {
            return refuse!(
                "The parameter takes the path of a file, and {server} is not known to read files of \
                 this machine (the setting servers.{server}.shares_disk)."
            );
        }
        let Resolved { content, extension, datasets } = resolved;
        let name = datasets.first().map(ToString::to_string).unwrap_or_default();
        let name = format!("{name}-{}.{extension}", unique());
        let file = Unnamed(self.desk.folder("references")?.join(name));
        create(&file.0)?.write_all(&content.bytes)?;
        Ok(file)
    }

    /// Notes what is asked of datasets that are passed on.
    fn note_asked(&self, call: &Call, asked: &[(String, Vec<DatasetId>)]) {
        let Some(usage) = &self.usage else { return };
        let tool = format!("{}.{}", call.upstream, call.tool().unwrap_or_default());
        for (what, datasets) in asked {
            usage.asked(call, &tool, what, datasets);
        }
    }

    fn error(&self, error: &ToolError, call: &Call) -> Vec<u8> {
        let (_, bytes) = self.policy.reply_limit(call.client.as_deref());
        let budget = Budget { tokens: ERROR_TOKENS, bytes };
        Reply::error(&budget.cut(&self.desk.without_paths(error.told()))).into_json()
    }
}

/// A reference as it is written, without the quotes of a text.
fn written(json: &[u8]) -> String {
    serde_json::from_slice::<String>(json)
        .unwrap_or_else(|_| String::from_utf8_lossy(json).into_owned())
}

/// Says which reference cannot be resolved, and why.
fn cannot(path: &Path, error: &ToolError) -> ToolError {
    ToolError::Refused(format!(
        "The reference in the argument {path} cannot be resolved, and nothing was sent. {}",
        error.told()
    ))
}

impl Interceptor for References {
    fn name(&self) -> &'static str {
        "references"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        match moment {
            // Letters that are written as \u0066 are no reference: nobody writes them so, and every
            // call with such an escape would have to be looked at. A slash may be written as \/.
            Moment::Call(call, params) => {
                (params.contains(b"forebay:") || params.contains(b"$dataset"))
                    && call.tool().is_some_and(|tool| {
                        self.policy.resolves_references(call.upstream.as_str(), tool)
                    })
            }
            Moment::Answer(SubjectKind::ToolList, ..) => {
                self.known.are_learnt_by_references(&self.policy)
            }
            Moment::Answer(SubjectKind::Result | SubjectKind::Handshake, ..) => false,
        }
    }

    /// An upstream has no use for a reference that was not resolved.
    fn must_see(&self) -> bool {
        true
    }

    fn on_call(
        &self,
        call: &Call,
        params: &Payload,
        caller: &Caller,
    ) -> Result<CallVerdict, HookError> {
        let json = params.to_vec()?;
        match self.expand(call, &json, caller) {
            Ok(None) => Ok(CallVerdict::Forward),
            Ok(Some(Expanded { params, datasets, asked, files })) => {
                events::references_resolved(call, datasets.len(), params.len());
                self.note_asked(call, &asked);
                let sources = datasets.iter().map(ToString::to_string).collect();
                call.note(MadeFrom(sources));
                // They are there as long as the call.
                call.note(files);
                Ok(CallVerdict::Rewrite(params))
            }
            Err(error) => Ok(CallVerdict::Answer(self.error(&error, call))),
        }
    }

    fn on_tool_list(&self, _call: &Call, list: &Payload) -> Result<Verdict, HookError> {
        let json = list.to_vec()?;
        self.known.learn(&json);
        Ok(Verdict::Pass)
    }
}
