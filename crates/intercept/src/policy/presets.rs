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

/// What a client does with results that it finds too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimit {
    /// What people call it.
    pub client: &'static str,
    /// What it calls itself, up to where versions and editions differ.
    name: &'static str,
    /// What it takes whole.
    pub takes: Takes,
    /// What becomes of more, as the end of a sentence about it.
    pub beyond: &'static str,
}

impl ClientLimit {
    /// How many bytes of text it is given where no threshold is set, if that is less than others are.
    pub fn given_bytes(&self) -> Option<u64> {
        max_bytes(self.name)
    }
}

/// How much a client takes of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Bytes of text, or characters.
    Bytes(u64),
    /// Tokens.
    Tokens(u64),
}

impl Takes {
    /// The same in tokens; of bytes, about.
    pub fn tokens(self) -> u64 {
        /// Of JSON and prose, as o200k has them.
        const BYTES_PER_TOKEN: u64 = 4;
        match self {
            Self::Bytes(bytes) => bytes / BYTES_PER_TOKEN,
            Self::Tokens(tokens) => tokens,
        }
    }
}

/// What today's clients do, those that take least first.
pub const CLIENT_LIMITS: [ClientLimit; 9] = [
    limit("Cline", "cline", Takes::Bytes(8_000), "cuts the rest off"),
    limit(
        "VS Code",
        "visual studio code",
        Takes::Bytes(8_000),
        "writes it to a file that the model may not open",
    ),
    limit("Copilot CLI", "github-copilot-developer", Takes::Bytes(10_000), "cuts the rest off"),
    limit("Codex", "codex-mcp-client", Takes::Tokens(10_000), "cuts the middle out"),
    limit("Gemini CLI", "gemini-cli-mcp-client", Takes::Bytes(40_000), "writes it to a file"),
    limit("OpenCode", "opencode", Takes::Bytes(50_000), "writes it to a file"),
    limit("Claude Code", "claude-code", Takes::Tokens(25_000), "writes it to a file"),
    limit("Claude Desktop", "claude-ai", Takes::Bytes(150_000), "writes it to a file"),
    limit("Goose", "goose", Takes::Bytes(200_000), "writes it to a file"),
];

const fn limit(
    client: &'static str,
    name: &'static str,
    takes: Takes,
    beyond: &'static str,
) -> ClientLimit {
    ClientLimit { client, name, takes, beyond }
}

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
    use super::{super::DEFAULT_THRESHOLD, *};

    #[test]
    fn who_takes_less_than_the_default_lets_through_is_given_no_more_than_it_takes() {
        let less = |limit: &&ClientLimit| limit.takes.tokens() < DEFAULT_THRESHOLD;
        let clients: Vec<&ClientLimit> = CLIENT_LIMITS.iter().filter(less).collect();
        assert_eq!(clients.len(), 3);
        for limit in CLIENT_LIMITS {
            let Some(bytes) = limit.given_bytes() else {
                assert!(!clients.contains(&&limit), "{limit:?}");
                continue;
            };
            assert_eq!(limit.takes, Takes::Bytes(bytes), "{limit:?}");
        }
    }

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
