//! Stage 5 of 5: puts the summary in the place of what was kept.
//!
//! Everything else of a result stays as it came: `_meta`, small blocks, unknown fields. A file that was
//! kept becomes a link where it stood; in structured content, its address. A
//! client shows the model either `content` or `structuredContent`, so both are replaced where both
//! were there. A tool whose result may be replaced cannot promise its output's schema any more: in
//! the list of tools it is left out or widened, because strict clients hold results against it.

use std::{
    borrow::Cow,
    collections::HashSet,
    io::{self, Write},
    ops::Range,
};

use forebay_store::Insight;
use forebay_wire::walk;
use serde_json::{Value, json};

use crate::{
    binary::{Binary, Quotes},
    linked::{Linked, LinkedFile, Table},
    places::is_tellable,
    policy::OutputSchema,
    result::{Block, Fate, ToolResult},
    summarise::{Summary, findings},
    widen,
};

/// Under which name a link's `_meta` says how the resource was called that it stands for.
const OWN_URI: &str = "forebay/uri";

/// Stands where a block stood that should have been a file.
const DAMAGED: &str = "The data of the image, sound or blob that stood here are no base64: they were kept as the text that they are.";

/// What stands in the place of what was kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replacement<'a> {
    /// Of texts and structured content, unless they stay.
    pub(crate) summary: Option<&'a Summary>,
    /// A link to what the summary is about.
    pub(crate) link: Option<&'a Value>,
    /// Of files.
    pub(crate) linked: &'a Linked,
    /// What somebody has said of it who has read it.
    pub(crate) insight: Option<&'a Insight>,
}

/// The result with the summary in it, as JSON.
pub(crate) fn result(result: &ToolResult, replacement: Replacement<'_>) -> io::Result<Vec<u8>> {
    let mut edits = Vec::new();
    if let Some(span) = &result.content {
        edits.push((span.clone(), content(result, replacement)?));
    }
    let facts = replacement.summary.and_then(|summary| summary.facts.as_ref());
    match (&result.structured, facts) {
        (Some(span), Some(facts)) => {
            let with = replacement.insight.and_then(|insight| findings::added_to(facts, insight));
            edits.push((span.clone(), with.unwrap_or_else(|| facts.clone()).into_bytes()));
        }
        (Some(span), None) => {
            edits.push((span.clone(), with_addresses(result, span, replacement.linked)?));
        }
        (None, _) => {}
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
    match replacement.insight {
        Some(insight) => Ok(with_meta(&out, insight).unwrap_or(out)),
        None => Ok(out),
    }
}

/// A result with what was said of it in its `_meta`, for programs: the model reads the summary.
fn with_meta(result: &[u8], insight: &Insight) -> Option<Vec<u8>> {
    let member = format!("\"forebay/{}\":{}", findings::KEY, findings::object(insight));
    let mut members = Vec::new();
    let mut has_meta = false;
    for (name, value) in walk::members(result)? {
        let is_meta = name == b"_meta" && walk::members(value).is_some();
        has_meta |= is_meta;
        let value = if is_meta {
            let is_empty = walk::members(value)?.next().is_none();
            let mut meta = value.trim_ascii_end().to_vec();
            meta.pop();
            meta.extend_from_slice(if is_empty { b"" } else { b"," });
            meta.extend_from_slice(member.as_bytes());
            meta.push(b'}');
            Cow::Owned(meta)
        } else {
            Cow::Borrowed(value)
        };
        members.push([b"\"", name, b"\":", &*value].concat());
    }
    if !has_meta {
        members.push(format!("\"_meta\":{{{member}}}").into_bytes());
    }
    Some([b"{".as_slice(), &members.join(&b","[..]), b"}"].concat())
}

/// What stands at `span`, with the addresses of the files in it in their place.
fn with_addresses(result: &ToolResult, span: &Range<u64>, linked: &Linked) -> io::Result<Vec<u8>> {
    let mut files = result.binaries.within(span);
    let mut out = Vec::new();
    for piece in result.binaries.around(span) {
        out.extend_from_slice(&result.json_at(&piece)?);
        if let Some(Binary { file, encoded, .. }) = files.next() {
            let uri = inside_string(&linked.uris[*file]);
            let uri = match encoded.quotes {
                Quotes::Plain => uri,
                Quotes::Escaped => inside_string(&uri),
            };
            out.extend_from_slice(uri.as_bytes());
        }
    }
    Ok(out)
}

/// A text as it is written in a JSON string, without the quotes.
fn inside_string(text: &str) -> String {
    let json = Value::from(text).to_string();
    json[1..json.len() - 1].to_owned()
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

/// The blocks that stay, with the summary where the first that went had been, and links where files were.
fn content(result: &ToolResult, replacement: Replacement<'_>) -> io::Result<Vec<u8>> {
    let Replacement { mut summary, link, linked, insight: _ } = replacement;
    let mut blocks = Vec::new();
    let mut table = linked.table.as_ref();
    let mut is_linked = HashSet::new();
    for block in &result.blocks {
        match block.fate {
            Fate::Stays => blocks.push(with_addresses(result, &block.span, linked)?),
            Fate::Apart | Fate::Gathered | Fate::Listed => {
                if let Some(summary) = summary.take() {
                    blocks.push(summary_in(result, block, &summary.text)?);
                    blocks.extend(link.map(json_of));
                }
                if block.is_damaged {
                    blocks.push(text_block(DAMAGED));
                }
            }
            Fate::Linked { binary } => match (&linked.table, table.take()) {
                (Some(_), Some(table)) => blocks.extend(table_in(table)),
                (Some(_), None) => {}
                (None, _) => {
                    is_linked.insert(binary);
                    if let Some(file) = linked.files.iter().find(|file| file.binary == binary) {
                        blocks.extend(link_in(result, block, file)?);
                    }
                }
            },
        }
    }
    // Those that stand in JSON alone.
    match (&linked.table, table) {
        (Some(_), Some(table)) => blocks.extend(table_in(table)),
        (Some(_), None) => {}
        (None, _) => {
            let others = linked.files.iter().filter(|file| !is_linked.contains(&file.binary));
            others.for_each(|file| blocks.push(json_of(&file.block)));
        }
    }
    match (replacement.summary, summary) {
        // Nothing has gone that it could stand for.
        (Some(_), Some(summary)) => {
            let first = [text_block(&summary.text)].into_iter().chain(link.map(json_of));
            blocks.splice(0..0, first);
        }
        (Some(_), None) => {}
        // A table says it all.
        (None, _) if linked.table.is_some() => {}
        (None, _) => blocks.insert(0, text_block(&linked.note)),
    }
    Ok([b"[".as_slice(), &blocks.join(&b","[..]), b"]"].concat())
}

/// What is said of a table of files, and a link to it.
fn table_in(table: &Table) -> impl Iterator<Item = Vec<u8>> {
    [text_block(&table.summary)].into_iter().chain(table.link.as_ref().map(json_of))
}

/// A file's link with the annotations and the `_meta` of the block that it was, and what shows it.
fn link_in(result: &ToolResult, block: &Block, file: &LinkedFile) -> io::Result<Vec<Vec<u8>>> {
    let mut link = file.block.clone();
    let own = block.candidate.as_ref().and_then(|candidate| candidate.called.as_deref());
    if let Some(own) = own.filter(|own| link["type"] == "resource_link" && is_tellable(own)) {
        let told = link["description"].as_str().map(|told| format!("{told}; "));
        link["description"] = format!("{}from {own}", told.unwrap_or_default()).into();
    }
    let mut blocks = vec![json_of(&link)];
    let meta = meta_of(result, block, own)?;
    if !meta.is_empty() {
        add_member(
            &mut blocks[0],
            "_meta",
            &[b"{".as_slice(), &meta.join(&b","[..]), b"}"].concat(),
        );
    }
    blocks.extend(file.shown.as_ref().map(json_of));
    if let Some(span) = &block.annotations {
        let annotations = result.json_at(span)?;
        for json in &mut blocks {
            add_member(json, "annotations", &annotations);
        }
    }
    Ok(blocks)
}

/// Adds a member to an object that has some.
fn add_member(object: &mut Vec<u8>, name: &str, value: &[u8]) {
    // In front of the bracket that closes it.
    object.pop();
    object.extend_from_slice(format!(",\"{name}\":").as_bytes());
    object.extend_from_slice(value);
    object.push(b'}');
}

/// The members of a block's `_meta` and of its resource's, with the resource's own address.
fn meta_of(result: &ToolResult, block: &Block, own: Option<&str>) -> io::Result<Vec<Vec<u8>>> {
    let (mut names, mut members) = (HashSet::new(), Vec::new());
    for span in &block.meta {
        let json = result.json_at(span)?;
        for (name, value) in walk::members(&json).into_iter().flatten() {
            if names.insert(name.to_vec()) {
                members.push([b"\"", name, b"\":", value].concat());
            }
        }
    }
    let own = own.map(|own| format!("\"{OWN_URI}\":{}", Value::from(own)));
    members.extend(own.map(String::into_bytes));
    Ok(members)
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

fn json_of(block: &Value) -> Vec<u8> {
    block.to_string().into_bytes()
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
