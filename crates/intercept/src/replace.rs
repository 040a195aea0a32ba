//! Stage 5 of 5: puts the summary in the place of what was kept.
//!
//! Everything else of a result stays as it came: `_meta`, small blocks, images, unknown fields. A
//! client shows the model either `content` or `structuredContent`, so both are replaced where both
//! were there. A tool whose result may be replaced cannot promise its output's schema any more: in
//! the list of tools it is left out or widened, because strict clients hold results against it.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use forebay_proxy::body::Payload;
use forebay_wire::walk;
use serde_json::{Value, json};

use crate::{
    policy::OutputSchema,
    result::{Block, Fate, ToolResult},
    summarise::Summary,
    widen,
};

/// The result with the summary in it, as JSON.
pub(crate) fn result(result: &ToolResult, summary: &Summary) -> io::Result<Vec<u8>> {
    let mut edits = Vec::new();
    if let Some(span) = &result.content {
        edits.push((span.clone(), content(result, &summary.text)?));
    }
    if let (Some(span), Some(facts)) = (&result.structured, &summary.facts) {
        edits.push((span.clone(), facts.clone().into_bytes()));
    }
    edits.sort_by_key(|(span, _)| span.start);
    let mut out = Vec::new();
    let mut at = 0;
    for (span, replacement) in edits {
        io::copy(&mut result.whole.part(&(at..span.start)).reader(), &mut out)?;
        out.write_all(&replacement)?;
        at = span.end;
    }
    io::copy(&mut result.whole.part(&(at..result.whole.bytes())).reader(), &mut out)?;
    Ok(out)
}

/// The list of tools with other output schemas, or none, for those whose result may be replaced;
/// `None` if there are no such schemas.
pub(crate) fn tool_list(
    list: &[u8],
    output_schema: OutputSchema,
    may_be_replaced: impl Fn(&str) -> bool,
) -> Option<Vec<u8>> {
    let (_, tools) = walk::members(list)?.find(|(key, _)| *key == b"tools")?;
    let mut has_changed = false;
    let mut changed = Vec::new();
    for tool in walk::elements(tools)? {
        let has_schema = walk::members(tool)?.any(|(key, _)| key == b"outputSchema");
        if has_schema && may_be_replaced(&tool_name(tool).unwrap_or_default()) {
            has_changed = true;
            changed.push(with_schema(tool, output_schema));
        } else {
            changed.push(tool.to_vec());
        }
    }
    let start = tools.as_ptr().addr() - list.as_ptr().addr();
    let (before, after) = (&list[..start], &list[start + tools.len()..]);
    has_changed.then(|| [before, b"[", &changed.join(&b","[..]), b"]", after].concat())
}

/// The names of tools that draw their own interface from their result, which must stay whole.
pub(crate) fn tools_with_interface(list: &[u8]) -> Vec<String> {
    let tools = walk::members(list).into_iter().flatten().find(|(key, _)| *key == b"tools");
    let tools = tools.and_then(|(_, tools)| walk::elements(tools)).into_iter().flatten();
    tools
        .filter(|tool| {
            serde_json::from_slice::<Value>(tool)
                .is_ok_and(|tool| tool["_meta"]["ui"]["resourceUri"].is_string())
        })
        .filter_map(tool_name)
        .collect()
}

/// The blocks that stay, with the summary where the first that went had been.
fn content(result: &ToolResult, summary: &str) -> io::Result<Vec<u8>> {
    let mut blocks = Vec::new();
    let mut has_summary = false;
    for block in &result.blocks {
        match block.fate {
            Fate::Stays => blocks.push(result.json_at(&block.span)?),
            Fate::Apart | Fate::Gathered if has_summary => {}
            Fate::Apart | Fate::Gathered => {
                has_summary = true;
                blocks.push(summary_in(result, block, summary)?);
            }
        }
    }
    if !has_summary {
        blocks.insert(0, text_block(summary));
    }
    Ok([b"[".as_slice(), &blocks.join(&b","[..]), b"]"].concat())
}

/// A text block with the summary as its text; its annotations and all else stay.
fn summary_in(result: &ToolResult, block: &Block, summary: &str) -> io::Result<Vec<u8>> {
    let text = match &block.text {
        Some(text) if block.is_text => text,
        _ => return Ok(text_block(summary)),
    };
    let before = result.json_at(&(block.span.start..text.start))?;
    let after = result.json_at(&(text.end..block.span.end))?;
    Ok([before, Value::from(summary).to_string().into_bytes(), after].concat())
}

fn text_block(text: &str) -> Vec<u8> {
    json!({"type": "text", "text": text}).to_string().into_bytes()
}

fn tool_name(tool: &[u8]) -> Option<String> {
    let (_, name) = walk::members(tool)?.filter(|(key, _)| *key == b"name").last()?;
    serde_json::from_slice(name).ok()
}

fn with_schema(tool: &[u8], output_schema: OutputSchema) -> Vec<u8> {
    let mut members = Vec::new();
    for (key, value) in walk::members(tool).into_iter().flatten() {
        let value = match (key, output_schema) {
            (b"outputSchema", OutputSchema::Drop) => continue,
            (b"outputSchema", OutputSchema::Widen) => match widen::schema(value) {
                Some(widened) => Cow::Owned(widened),
                None => continue,
            },
            _ => Cow::Borrowed(value),
        };
        members.push([b"\"", key, b"\":", &*value].concat());
    }
    [b"{".as_slice(), &members.join(&b","[..]), b"}"].concat()
}

/// Reads a list of tools, which must fit into memory.
pub(crate) fn in_memory(list: &Payload) -> io::Result<Vec<u8>> {
    let mut json = Vec::new();
    io::copy(&mut list.reader(), &mut json)?;
    Ok(json)
}
