//! The slash command `/gateway-init` of Claude Code: a file that tells a model the steps.
//!
//! Its last line holds a hash of the rest, by which a file is known as ours that nobody has changed, also when
//! another version has written it.

/// Where it lies in a project.
pub(super) const PATH: &str = ".claude/commands/gateway-init.md";

const STEPS: &str = "\
---
description: Tell this project how to use Forebay's tools, and see whether they are there
allowed-tools: Bash(forebay init:*), Bash(forebay config:*), Bash(forebay servers), Bash(forebay datasets list:*)
---

Set this project up for Forebay:

1. Run `forebay init`. It writes a short section on Forebay's tools into CLAUDE.md or AGENTS.md, or brings it
   up to date. If it refuses, tell me what it says and stop; write no section yourself.
2. Read the section that it wrote. Check that the tools named there are among yours (they may be called
   `mcp__SERVER__NAME`).
3. If none of them is, look at `.mcp.json` and run `forebay servers`. Tell me which entry to change: `forebay`
   as the command, and `wrap --` before the server's own command as its arguments; or one entry
   `forebay gateway` for all servers. Change nothing before I agree.
4. Run `forebay datasets list --limit 5`, and tell me in three sentences what has been kept, and what you can
   now do with it.
";

const MARK: &str = "<!-- forebay:command ";

/// The whole file.
pub(super) fn text() -> String {
    format!("{STEPS}\n{MARK}{} -->\n", hash(&format!("{STEPS}\n")))
}

/// True if a file is as some version of this program has written it.
pub(super) fn is_unchanged(file: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(file) else { return false };
    // Git may have changed how lines end.
    let text = text.replace("\r\n", "\n");
    let Some((steps, mark)) = text.split_once(MARK) else { return false };
    mark == format!("{} -->\n", hash(steps))
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_ours_until_somebody_changes_it() {
        let text = text();
        assert!(is_unchanged(text.as_bytes()));
        assert!(is_unchanged(text.replace('\n', "\r\n").as_bytes()));
        let older = format!("Run it.\n\n{MARK}{} -->\n", hash("Run it.\n\n"));
        assert!(is_unchanged(older.as_bytes()), "another version's");
        for other in [text.replace("three", "two"), format!("{text}More.\n"), String::new()] {
            assert!(!is_unchanged(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn it_begins_with_what_the_client_shows() {
        assert!(text().starts_with("---\ndescription: "));
    }
}
