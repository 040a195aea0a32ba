//! What known clients take before they cut a result, or put it where the model cannot read it.
//!
//! Only limits that may lie below our own default are listed: Claude Code (25,000 tokens), Codex
//! (10,000 tokens), Goose (200,000 characters) and others take more than that.

/// A client's name, as it gives it, up to where versions and editions differ; and how many bytes of
/// text it takes. Limits in characters count as bytes, so that they hold for any script.
const PRESETS: [(&str, u64); 6] = [
    // Cuts at 8,000 characters.
    ("cline", 8_000),
    // Copilot in VS Code writes more than 8 KB to a file that the model could not open.
    ("visual studio code", 8_000),
    ("visual-studio-code", 8_000),
    // Copilot CLI cuts to 10 KB.
    ("github-copilot-developer", 10_000),
    // 40,000 characters, then a file.
    ("gemini-cli-mcp-client", 40_000),
    // 50 KB, then a file.
    ("opencode", 50_000),
];

/// The clients that take less text than the default threshold lets through: how their names begin, in
/// small letters, and how many bytes.
pub fn known_clients() -> impl Iterator<Item = (&'static str, u64)> {
    PRESETS.into_iter()
}

/// How many bytes of text a client of this name takes, if that is known to be little.
pub(super) fn max_bytes(client: &str) -> Option<u64> {
    let is_known = |known: &str| {
        client.get(..known.len()).is_some_and(|start| start.eq_ignore_ascii_case(known))
    };
    PRESETS.iter().find(|(known, _)| is_known(known)).map(|(_, bytes)| *bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_known_by_how_their_name_begins() {
        assert_eq!(max_bytes("Cline"), Some(8_000));
        assert_eq!(max_bytes("Visual Studio Code - Insiders"), Some(8_000));
        assert_eq!(max_bytes("gemini-cli-mcp-client-notes"), Some(40_000));
        assert_eq!(max_bytes("github-copilot-developer"), Some(10_000));
        for other in ["", "claude-code", "codex-mcp-client", "my cline", "clin", "cliné"] {
            assert_eq!(max_bytes(other), None, "{other}");
        }
    }
}
