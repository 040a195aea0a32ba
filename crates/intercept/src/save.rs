//! Keeps a value or a text that no tool has given, as if one had.

use forebay_proxy::body::Payload;
use forebay_records::Profile;
use forebay_store::{Dataset, Store, Viewer};
use serde_json::json;

use crate::{
    CaptureError, Policy,
    capture::{self, Captured, Of},
    detect::Weight,
    result::ToolResult,
};

/// What a value is kept as.
#[derive(Debug, Clone, Copy)]
pub struct Named<'n> {
    /// Its name, by which queries know the latest.
    pub name: &'n str,
    /// What it counts as a result of.
    pub server: &'n str,
}

/// Where a value comes from.
#[derive(Debug)]
pub(crate) enum Made {
    /// A program has given it. It counts as a result.
    ByProgram,
    /// It tells of these datasets, and counts as none.
    From(Vec<String>),
}

/// Keeps a value, which is JSON, for `viewer`.
pub fn save(
    json: &[u8],
    named: Named<'_>,
    store: &Store,
    policy: &Policy,
    viewer: &Viewer,
) -> Result<Dataset, CaptureError> {
    profiled(json, named, Made::ByProgram, store, policy, viewer).map(|(dataset, _)| dataset)
}

/// Keeps a text, which has a KiB or more, for `viewer`.
pub fn save_text(
    text: &str,
    named: Named<'_>,
    store: &Store,
    policy: &Policy,
    viewer: &Viewer,
) -> Result<Dataset, CaptureError> {
    let result = json!({"content": [{"type": "text", "text": text}]}).to_string().into_bytes();
    kept(result, named, Made::ByProgram, store, policy, viewer).map(|(dataset, _)| dataset)
}

/// [`save`] for any value; with what is known of it.
pub(crate) fn profiled(
    json: &[u8],
    named: Named<'_>,
    made: Made,
    store: &Store,
    policy: &Policy,
    viewer: &Viewer,
) -> Result<(Dataset, Profile), CaptureError> {
    let result = [br#"{"content":[],"structuredContent":"#, json, b"}"].concat();
    kept(result, named, made, store, policy, viewer)
}

fn kept(
    result: Vec<u8>,
    named: Named<'_>,
    made: Made,
    store: &Store,
    policy: &Policy,
    viewer: &Viewer,
) -> Result<(Dataset, Profile), CaptureError> {
    let weight = Weight { bytes: result.len() as u64 };
    let result = ToolResult::read(&Payload::from(result))?;
    let mut captured = capture::take(&result, store)?;
    let Captured { payloads, files } = &mut captured;
    files.write(&result, payloads)?;
    let profile = forebay_records::profile(payloads, policy.schema_inference)?;
    let (tokens, made_from) = match made {
        Made::ByProgram => (Some(policy.tokenizer.about_all(payloads)), Vec::new()),
        Made::From(datasets) => (None, datasets),
    };
    let (tool, server) = (named.name, named.server);
    let of = Of { tool, server, arguments: None, made_from };
    let finished = captured.finish(&of, Some(&profile), weight, tokens, viewer)?;
    Ok((finished.commit()?, profile))
}
