//! The error that stands in the place of a result that could not be kept, if the policy wants one.

use std::path::Path;

use forebay_proxy::{
    chain::with_causes,
    session::{Call, Era},
};
use serde_json::json;

use crate::{CaptureError, Clients, detect::Weight, events};

/// A result that says why, and what to do.
pub(crate) fn result(
    call: &Call,
    weight: Weight,
    error: &CaptureError,
    clients: Clients,
    home: &Path,
) -> Vec<u8> {
    let why = with_causes(error);
    events::result_refused(call, weight.bytes, &why);
    let why = clients.without_paths(why, home);
    let text = format!(
        "The tool has answered, but its result ({} bytes) is too large to read and could not be \
         saved: {why}. Ask for less at once (a filter, a limit, fewer fields), or have the user \
         look at where Forebay keeps results; `on_store_failure = \"pass\"` in its settings lets \
         such results through.",
        weight.bytes
    );
    let mut result = json!({"content": [{"type": "text", "text": text}], "isError": true});
    if call.era == Era::Modern {
        result["resultType"] = "complete".into();
    }
    result.to_string().into_bytes()
}
