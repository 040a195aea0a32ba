//! `help()` in a program: what can be called, with types, within a budget.

use std::fmt::Write as _;

use forebay_proxy::{chain::Caller, upstream::OfferedTool};
use serde_json::Value;

use super::{definition, types};
use crate::{ToolError, arguments::counted, budget::Budget, catalogue::Catalogue, error::refuse};

/// What one text of help may have.
const TOKENS: u64 = 2_000;
/// What of a description stands beside a signature.
const BRIEF: usize = 120;

/// What `help(what)` gives.
pub(super) fn text(
    what: Option<&str>,
    catalogue: &Catalogue,
    caller: &Caller,
) -> Result<String, ToolError> {
    match what.map(str::trim).filter(|what| !what.is_empty()) {
        None => Ok(overview(catalogue)),
        Some(what) => match named(what, catalogue) {
            (server, None) => of_server(server, catalogue, caller),
            (server, Some(tool)) => {
                let tool = catalogue.tool(server, tool, caller)?;
                Ok(Budget { tokens: TOKENS, bytes: None }.cut(&in_full(&tool)))
            }
        },
    }
}

/// `tools.git.log` and `git.log` are the tool of a server, `git` is the server. A server's name may have a dot.
fn named<'w>(what: &'w str, catalogue: &Catalogue) -> (&'w str, Option<&'w str>) {
    let what = what.strip_prefix("tools.").unwrap_or(what);
    let is_server = |name: &str| catalogue.server(name).is_ok();
    if is_server(what) {
        return (what, None);
    }
    let dots = what.match_indices('.').map(|(at, _)| at);
    let split = dots.map(|at| (&what[..at], &what[at + 1..])).find(|(server, _)| is_server(server));
    split.map_or((what, None), |(server, tool)| (server, Some(tool)))
}

fn overview(catalogue: &Catalogue) -> String {
    let servers: Vec<String> = catalogue.servers().iter().map(|name| types::key(name)).collect();
    format!(
        "Servers: {}. help(\"SERVER\") lists the tools of one.\n\
         tools.SERVER.TOOL(args) and callMCPTool(server, tool, args): a call; await it\n\
         datasets.query(sql): Promise<object[]>\n\
         datasets.read(id, options?: {{ offset?, limit?, fields?, filter?, sort?, lines?, grep? }}): \
         without options all of it, else a page as read-saved-dataset gives it\n\
         datasets.save(name, value): Promise<{{ id: string, records?: number }}>; SQL knows it by both",
        servers.join(", ")
    )
}

fn of_server(server: &str, catalogue: &Catalogue, caller: &Caller) -> Result<String, ToolError> {
    let standing = catalogue.server(server)?;
    let tools = catalogue.tools_of(&standing, caller);
    if tools.is_empty() {
        let why = standing.last_error.map(|why| format!(": {why}")).unwrap_or_default();
        return refuse!("The tools of {server} are not known ({}{why}).", standing.state.as_str());
    }
    let lines: Vec<String> = tools.iter().map(brief).collect();
    let budget = Budget { tokens: TOKENS, bytes: None };
    let mut count = budget.fitting(lines.iter().map(String::as_str));
    let mut shown = lines;
    if count < shown.len() {
        // Their names, at least.
        let names: Vec<String> = tools.iter().map(|tool| types::key(&tool.own)).collect();
        let left_out = names[count..].join(", ");
        let left = budget.without(forebay_records::tokens(&left_out).min(TOKENS / 2));
        count = left.fitting(shown.iter().map(String::as_str));
        let rest = budget.cut(&names[count..].join(", "));
        shown.truncate(count);
        shown.push(format!(
            "… and {}: {rest}. help(\"{server}.TOOL\") shows one of them.",
            counted(names.len() - count, "more tool")
        ));
    }
    Ok(shown.join("\n"))
}

/// A tool on a line.
fn brief(tool: &OfferedTool) -> String {
    let definition = definition::readable(&tool.definition);
    let told = definition["description"].as_str().unwrap_or_default();
    let sentence = told.split_terminator(['\n']).next().unwrap_or_default();
    let sentence = sentence.split_inclusive(". ").next().unwrap_or_default().trim();
    let short: String = sentence.chars().take(BRIEF).collect();
    let mark = if definition::is_destructive(&tool.definition) { "destructive: " } else { "" };
    let comment = format!(" // {mark}{short}");
    let comment = if comment.trim() == "//" { String::new() } else { comment };
    format!("{}{comment}", signature(tool, &definition))
}

fn signature(tool: &OfferedTool, definition: &Value) -> String {
    let result = match &definition["outputSchema"] {
        Value::Null => "any".to_owned(),
        schema => types::type_of(schema, schema),
    };
    let name = format!("tools{}{}", types::step(tool.server.as_str()), types::step(&tool.own));
    format!("{name}({}): Promise<{result}>", types::parameter(&definition["inputSchema"]))
}

/// All that is known of a tool.
fn in_full(tool: &OfferedTool) -> String {
    let definition = definition::readable(&tool.definition);
    let mut text = signature(tool, &definition);
    let properties = definition["inputSchema"]["properties"].as_object();
    for (name, schema) in properties.into_iter().flatten() {
        let mut facts = Vec::new();
        facts.extend(schema["description"].as_str().map(str::to_owned));
        facts.extend(schema.get("default").map(|value| format!("default {value}")));
        for (key, word) in [("minimum", "from"), ("maximum", "to"), ("format", "format")] {
            facts.extend(schema.get(key).map(|value| format!("{word} {value}")));
        }
        if !facts.is_empty() {
            let _ = write!(text, "\n  {name}: {}", facts.join("; "));
        }
    }
    if let Some(description) = definition["description"].as_str() {
        let _ = write!(text, "\n{description}");
    }
    let hints = definition["annotations"].as_object().into_iter().flatten();
    let hints: Vec<&str> =
        hints.filter(|(_, is_so)| **is_so == true).map(|(name, _)| name.as_str()).collect();
    if !hints.is_empty() {
        let _ = write!(text, "\n({})", hints.join(", "));
    }
    text
}
