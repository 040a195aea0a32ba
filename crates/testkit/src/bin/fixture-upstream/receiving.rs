//! What there is with `--receives`: tools that tell what they were given, and how often they were called.
//!
//! - `receive {…}`: a line for each argument: its name, `text`, `json` or `file`, its length and its BLAKE3 hash.
//!   A text is hashed as it reads, other JSON as it is written; `path` is the file that is there
//! - `received`: how often `receive` was called
//! - `count {…}` and `fail {…}`, which say that they only read, and `count-unmarked {…}`: how often these were
//!   called; `fail` says so as an error

use std::{fmt::Write as _, fs, io, sync::atomic::Ordering};

use forebay_wire::walk;

use crate::{request::text, world::World};

/// The tools, as they are listed behind others.
pub(crate) const TOOLS: &str = r#",{"name":"csv","inputSchema":{"type":"object"}},{"name":"prose","inputSchema":{"type":"object"}},{"name":"receive","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"list":{"type":"array"},"number":{"type":"integer"},"any":{},"path":{"type":"string","format":"file-path"},"nested":{"type":"object","properties":{"text":{"type":["string","null"]}}}}}},{"name":"received","inputSchema":{"type":"object"}},{"name":"count","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"of":{}}}},{"name":"fail","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}},{"name":"count-unmarked","inputSchema":{"type":"object","properties":{"of":{}}}}"#;

pub(crate) fn answer(tool: &str, arguments: &[u8], world: &World) -> io::Result<String> {
    if tool == "received" {
        return Ok(world.received.load(Ordering::Relaxed).to_string());
    }
    let before = world.received.fetch_add(1, Ordering::Relaxed);
    if tool != "receive" {
        return Ok(format!("{}: {}", before + 1, String::from_utf8_lossy(arguments)));
    }
    let mut told = String::new();
    describe(arguments, &mut told)?;
    Ok(told)
}

fn describe(arguments: &[u8], told: &mut String) -> io::Result<()> {
    for (name, value) in walk::members(arguments).into_iter().flatten() {
        let name = String::from_utf8_lossy(name);
        let (kind, bytes) = match value.first() {
            Some(b'"') if name == "path" => ("file", fs::read(text(Some(value)))?),
            Some(b'"') => ("text", text(Some(value)).into_bytes()),
            Some(b'{') if name == "nested" => {
                describe(value, told)?;
                continue;
            }
            _ => ("json", value.to_vec()),
        };
        let hash = blake3::hash(&bytes).to_hex();
        let _ = writeln!(told, "{name} {kind} {} {hash}", bytes.len());
    }
    Ok(())
}
