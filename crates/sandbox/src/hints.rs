//! What to write instead of what is not there.

use crate::Failure;

/// What there is besides JavaScript itself.
const THERE: &str = "There is: tools.<server>.<tool>(args), callMCPTool(server, tool, args), \
    datasets.query(sql), datasets.read(id), datasets.save(name, value), help(), console.log(...), \
    setTimeout, sleep(ms), and the objects of JavaScript itself.";

/// What is said of modules, which there are none of.
pub(crate) fn no_modules(what: &str) -> Failure {
    Failure::new(format!("{what}: there are no modules here.")).with_hint(THERE)
}

/// What to write instead, if `message` says that something is not defined, or is no number.
pub(crate) fn for_message(message: &str) -> Option<String> {
    if message.contains("BigInt to number") {
        return Some(
            "A whole number past 2^53 is a BigInt here, so that it stays exact: write Number(x) to \
             count with it, String(x) to compare or show it."
                .to_owned(),
        );
    }
    let name = message.strip_prefix("ReferenceError: ")?.strip_suffix(" is not defined")?;
    let instead = match name.trim_matches('\'') {
        "fetch" | "XMLHttpRequest" | "WebSocket" | "axios" => {
            "There is no network; what is outside is reached by tools."
        }
        "process" | "Deno" | "Bun" | "fs" | "path" | "os" | "Buffer" | "__dirname" => {
            "This is not Node: there are no files, processes or environment."
        }
        "window" | "document" | "localStorage" | "navigator" | "alert" => "This is not a browser.",
        "setInterval" | "setImmediate" => "Use a loop with await sleep(ms).",
        "performance" => "Use Date.now().",
        "crypto" => "Use Math.random() where no secret is made.",
        _ => return Some(THERE.to_owned()),
    };
    Some(format!("{instead} {THERE}"))
}
