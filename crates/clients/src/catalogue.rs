//! The clients: where each keeps its servers, and how it writes one.

use crate::{
    environment::Location::{
        self, Config, Home, Linux, MacOs, Named, Project, Settings, Variable, Windows,
    },
    form::Form,
};

/// A client, and all that is known of its files.
#[derive(Debug)]
pub(crate) struct Client {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What people call it.
    pub(crate) title: &'static str,
    /// The files that are a person's own.
    pub(crate) files: &'static [Location],
    /// The files in a project, which are often committed.
    pub(crate) project_files: &'static [&'static str],
    pub(crate) form: Form,
    /// Where in a file the servers are; `*` stands for every name.
    pub(crate) tables: &'static [&'static [&'static str]],
    /// Where they are instead, if there is a table: newer versions of the client may have moved them.
    pub(crate) newer_table: Option<&'static [&'static str]>,
    pub(crate) entry: EntryForm,
    /// What may forbid or allow servers by their command or URL.
    pub(crate) policies: &'static [Policy],
    /// Where its own files say of servers by their names which run.
    pub(crate) switches: &'static [Switch],
}

/// How a client writes a server.
#[derive(Debug)]
pub(crate) struct EntryForm {
    pub(crate) start: StartForm,
    /// The key of the program.
    pub(crate) command: &'static str,
    /// The key of the variables.
    pub(crate) environment: &'static str,
    /// The keys that a URL may have; the first that is there counts.
    pub(crate) urls: &'static [&'static str],
    /// What `type` is for a server that is started.
    pub(crate) started_type: Option<&'static str>,
    /// What a server with a URL speaks if there is no `type`.
    pub(crate) untyped: Untyped,
    /// The types with which the client tries both Streamable HTTP and SSE, as it does without one.
    pub(crate) either: &'static [&'static str],
    pub(crate) headers: HeaderForm,
    /// What the client wants in every entry: which of the server's tools it offers.
    pub(crate) tools: Option<&'static str>,
    /// What else it wants in one that is started.
    pub(crate) wanted: &'static [(&'static str, Wanted)],
    pub(crate) variables: Variables,
    /// How long it waits, in seconds or parts of one.
    pub(crate) patience: &'static [Patience],
    /// Programs whose packages it looks up among known malware before it starts them.
    pub(crate) looked_up: &'static [&'static str],
}

/// A key that says how long a call or a start may take.
#[derive(Debug)]
pub(crate) struct Patience {
    pub(crate) key: &'static str,
    /// How many of what it counts are a second.
    pub(crate) per_second: u64,
    /// What a gateway calls it.
    pub(crate) ours: &'static str,
}

/// What a client wants in an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// `true`.
    On,
    /// The name of the server.
    Name,
}

/// Where a client puts the values of variables in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variables {
    /// In what it sets for a server that is started, too, or nowhere.
    Everywhere,
    /// In URLs and headers alone.
    InRemote,
}

/// How a command is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartForm {
    /// `command` and `args`.
    CommandAndArguments,
    /// `command` is a list.
    List,
}

/// What a URL without a `type` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untyped {
    StreamableHttp,
    Sse,
    /// The client wants a `type`.
    Mistake,
}

/// How headers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderForm {
    /// `headers`.
    Headers,
    /// `http_headers`, `env_http_headers` and `bearer_token_env_var`, as Codex has it.
    Codex,
}

/// A list, or a table, that says of servers by their names which run.
#[derive(Debug)]
pub(crate) struct Switch {
    /// The names that lead to it; `*` stands for the folder of every project.
    pub(crate) place: &'static [&'static str],
    pub(crate) says: Says,
}

/// What a list says of those that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// They do not run.
    Off,
    /// They do not run if they stand in the file of a project.
    OffInProjects,
    /// It is a table of theirs, and they do not run where it has `enabled: false`.
    OffIfNotEnabled,
    /// They run, and no others.
    On,
    /// These are rules, such as `mcp__NAME__TOOL`, for what may not be used.
    Denied,
}

/// A file that may say which servers are allowed.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) file: Location,
    pub(crate) form: Form,
    /// One of these keys at the top is a policy.
    pub(crate) keys: &'static [&'static str],
    /// Where it says of servers by their names which run.
    pub(crate) switches: &'static [Switch],
}

/// What most clients do.
const USUAL: EntryForm = EntryForm {
    start: StartForm::CommandAndArguments,
    command: "command",
    environment: "env",
    urls: &["url"],
    started_type: Some("stdio"),
    untyped: Untyped::StreamableHttp,
    either: &["remote"],
    headers: HeaderForm::Headers,
    tools: None,
    wanted: &[],
    variables: Variables::Everywhere,
    patience: &[],
    looked_up: &[],
};

/// Of Codex's two keys for a start, the one in milliseconds is the older.
const CODEXS_PATIENCE: &[Patience] = &[
    Patience { key: "tool_timeout_sec", per_second: 1, ours: "timeout" },
    Patience { key: "startup_timeout_sec", per_second: 1, ours: "start_timeout" },
    Patience { key: "startup_timeout_ms", per_second: 1_000, ours: "start_timeout" },
];
const GOOSES_PATIENCE: &[Patience] = &[Patience { key: "timeout", per_second: 1, ours: "timeout" }];

const SERVERS: &[&[&str]] = &[&["mcpServers"]];
const POLICY_KEYS: &[&str] = &["allowedMcpServers", "deniedMcpServers"];

/// Where Claude Code says which servers are off in a project.
const CLAUDES: &[Switch] = &[
    off(&["projects", "*", "disabledMcpServers"]),
    Switch { place: &["projects", "*", "disabledMcpjsonServers"], says: Says::OffInProjects },
];
/// The same in its settings, with which tools are denied.
const CLAUDES_SETTINGS: &[Switch] = &[
    Switch { place: &["disabledMcpjsonServers"], says: Says::OffInProjects },
    Switch { place: &["permissions", "deny"], says: Says::Denied },
];
const GEMINIS: &[Switch] =
    &[off(&["mcp", "excluded"]), Switch { place: &["mcp", "allowed"], says: Says::On }];
/// What `gemini mcp disable` writes.
const GEMINIS_ENABLEMENT: &[Switch] = &[Switch { place: &[], says: Says::OffIfNotEnabled }];
const COPILOTS: &[Switch] = &[off(&["disabledMcpServers"])];

const fn policy(file: Location, switches: &'static [Switch]) -> Policy {
    Policy { file, form: Form::Json, keys: POLICY_KEYS, switches }
}

/// A file with settings of Claude Code.
const fn claudes(file: Location) -> Policy {
    policy(file, CLAUDES_SETTINGS)
}

/// A file that says only by their names which servers run.
const fn names(file: Location, switches: &'static [Switch]) -> Policy {
    Policy { file, form: Form::Json, keys: &[], switches }
}

const fn off(place: &'static [&'static str]) -> Switch {
    Switch { place, says: Says::Off }
}

pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        files: &[Variable("CLAUDE_CONFIG_DIR", ".claude.json", ".claude.json")],
        project_files: &[".mcp.json"],
        form: Form::Json,
        tables: &[&["mcpServers"], &["projects", "*", "mcpServers"]],
        newer_table: None,
        entry: EntryForm { untyped: Untyped::Mistake, ..USUAL },
        policies: &[
            names(Variable("CLAUDE_CONFIG_DIR", ".claude.json", ".claude.json"), CLAUDES),
            claudes(Variable("CLAUDE_CONFIG_DIR", "settings.json", ".claude/settings.json")),
            claudes(Linux("/etc/claude-code/managed-settings.json")),
            claudes(Linux("/etc/claude-code/managed-settings.d/*.json")),
            claudes(MacOs("/Library/Application Support/ClaudeCode/managed-settings.json")),
            claudes(MacOs("/Library/Application Support/ClaudeCode/managed-settings.d/*.json")),
            claudes(Windows("ProgramFiles", "ClaudeCode/managed-settings.json")),
            claudes(Windows("ProgramFiles", "ClaudeCode/managed-settings.d/*.json")),
            claudes(Project(".claude/settings.json")),
            claudes(Project(".claude/settings.local.json")),
        ],
        switches: CLAUDES,
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        files: &[
            Settings("Claude/claude_desktop_config.json"),
            Windows(
                "LOCALAPPDATA",
                "Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
            ),
        ],
        project_files: &[],
        form: Form::Json,
        tables: SERVERS,
        newer_table: None,
        entry: EntryForm { urls: &[], started_type: None, ..USUAL },
        policies: &[],
        switches: &[],
    },
    Client {
        name: "cursor",
        title: "Cursor",
        files: &[Home(".cursor/mcp.json")],
        project_files: &[".cursor/mcp.json"],
        form: Form::Json,
        tables: SERVERS,
        newer_table: None,
        entry: USUAL,
        policies: &[],
        switches: &[],
    },
    Client {
        name: "vscode",
        title: "VS Code",
        files: &[
            Settings("Code/User/mcp.json"),
            Settings("Code/User/profiles/*/mcp.json"),
            Settings("Code - Insiders/User/mcp.json"),
            Settings("Code - Insiders/User/profiles/*/mcp.json"),
            Settings("VSCodium/User/mcp.json"),
            Settings("VSCodium/User/profiles/*/mcp.json"),
        ],
        project_files: &[".vscode/mcp.json"],
        form: Form::Json,
        tables: &[&["servers"]],
        newer_table: None,
        entry: EntryForm { either: &["http"], ..USUAL },
        policies: &[],
        switches: &[],
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        files: &[Home(".codeium/windsurf/mcp_config.json")],
        project_files: &[],
        form: Form::Json,
        tables: SERVERS,
        newer_table: None,
        entry: EntryForm { urls: &["serverUrl", "url"], started_type: None, ..USUAL },
        policies: &[],
        switches: &[],
    },
    Client {
        name: "codex",
        title: "Codex",
        files: &[Variable("CODEX_HOME", "config.toml", ".codex/config.toml")],
        project_files: &[".codex/config.toml"],
        form: Form::Toml,
        tables: &[&["mcp_servers"]],
        newer_table: None,
        entry: EntryForm {
            started_type: None,
            headers: HeaderForm::Codex,
            patience: CODEXS_PATIENCE,
            ..USUAL
        },
        policies: &[
            Policy {
                file: Linux("/etc/codex/requirements.toml"),
                form: Form::Toml,
                keys: &["mcp_servers"],
                switches: &[],
            },
            Policy {
                file: MacOs("/etc/codex/requirements.toml"),
                form: Form::Toml,
                keys: &["mcp_servers"],
                switches: &[],
            },
        ],
        switches: &[],
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        files: &[Home(".gemini/settings.json")],
        project_files: &[".gemini/settings.json"],
        form: Form::Json,
        tables: SERVERS,
        newer_table: None,
        entry: EntryForm { urls: &["httpUrl", "url"], started_type: None, ..USUAL },
        policies: &[
            names(Home(".gemini/settings.json"), GEMINIS),
            names(Home(".gemini/mcp-server-enablement.json"), GEMINIS_ENABLEMENT),
            names(Linux("/etc/gemini-cli/settings.json"), GEMINIS),
            names(MacOs("/Library/Application Support/GeminiCli/settings.json"), GEMINIS),
            names(Windows("ProgramData", "gemini-cli/settings.json"), GEMINIS),
        ],
        switches: GEMINIS,
    },
    Client {
        name: "copilot",
        title: "Copilot CLI",
        files: &[Variable("COPILOT_HOME", "mcp-config.json", ".copilot/mcp-config.json")],
        project_files: &[".github/mcp.json"],
        form: Form::Json,
        tables: SERVERS,
        newer_table: None,
        entry: EntryForm {
            started_type: Some("local"),
            untyped: Untyped::Mistake,
            tools: Some("tools"),
            ..USUAL
        },
        policies: &[
            policy(Variable("COPILOT_HOME", "settings.json", ".copilot/settings.json"), COPILOTS),
            names(Variable("COPILOT_HOME", "config.json", ".copilot/config.json"), COPILOTS),
        ],
        switches: &[],
    },
    Client {
        name: "zed",
        title: "Zed",
        files: &[Config("zed/settings.json")],
        project_files: &[".zed/settings.json"],
        form: Form::Json,
        tables: &[&["context_servers"]],
        newer_table: None,
        entry: EntryForm { started_type: None, ..USUAL },
        policies: &[],
        switches: &[],
    },
    Client {
        name: "cline",
        title: "Cline",
        files: &[
            Named("CLINE_MCP_SETTINGS_PATH"),
            Home(".cline/data/settings/cline_mcp_settings.json"),
            Settings(
                "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
            Settings(
                "Code - Insiders/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
            Settings(
                "VSCodium/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
        ],
        project_files: &[],
        form: Form::Json,
        tables: SERVERS,
        newer_table: None,
        entry: EntryForm { untyped: Untyped::Sse, ..USUAL },
        policies: &[],
        switches: &[],
    },
    Client {
        name: "roo",
        title: "Roo Code",
        files: &[
            Settings(
                "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            ),
            Settings(
                "Code - Insiders/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            ),
            Settings(
                "VSCodium/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            ),
        ],
        project_files: &[".roo/mcp.json"],
        form: Form::Json,
        tables: SERVERS,
        newer_table: None,
        entry: EntryForm { untyped: Untyped::Mistake, ..USUAL },
        policies: &[],
        switches: &[],
    },
    Client {
        name: "goose",
        title: "Goose",
        files: &[Config("goose/config.yaml"), Windows("APPDATA", "Block/goose/config/config.yaml")],
        project_files: &[],
        form: Form::Yaml,
        tables: &[&["extensions"]],
        newer_table: None,
        entry: EntryForm {
            command: "cmd",
            environment: "envs",
            urls: &["uri"],
            untyped: Untyped::Mistake,
            wanted: &[("enabled", Wanted::On), ("name", Wanted::Name)],
            variables: Variables::InRemote,
            patience: GOOSES_PATIENCE,
            looked_up: &["npx", "uvx"],
            ..USUAL
        },
        policies: &[],
        switches: &[],
    },
    Client {
        name: "opencode",
        title: "OpenCode",
        files: &[
            Config("opencode/opencode.json"),
            Config("opencode/opencode.jsonc"),
            Config("opencode/config.json"),
        ],
        project_files: &[
            "opencode.json",
            "opencode.jsonc",
            ".opencode/opencode.json",
            ".opencode/opencode.jsonc",
        ],
        form: Form::Json,
        tables: &[&["mcp"]],
        newer_table: Some(&["mcp", "servers"]),
        entry: EntryForm {
            start: StartForm::List,
            environment: "environment",
            started_type: Some("local"),
            untyped: Untyped::Mistake,
            ..USUAL
        },
        policies: &[],
        switches: &[],
    },
    Client {
        name: "junie",
        title: "Junie",
        files: &[Home(".junie/mcp/mcp.json")],
        project_files: &[".junie/mcp/mcp.json"],
        form: Form::Json,
        tables: SERVERS,
        newer_table: None,
        entry: EntryForm { started_type: None, ..USUAL },
        policies: &[],
        switches: &[],
    },
    Client {
        name: "kiro",
        title: "Kiro",
        files: &[Home(".kiro/settings/mcp.json")],
        project_files: &[".kiro/settings/mcp.json"],
        form: Form::Json,
        tables: SERVERS,
        newer_table: None,
        entry: EntryForm { started_type: None, ..USUAL },
        policies: &[],
        switches: &[],
    },
    Client {
        name: "lmstudio",
        title: "LM Studio",
        files: &[Home(".lmstudio/mcp.json"), Home(".cache/lm-studio/mcp.json")],
        project_files: &[],
        form: Form::Json,
        tables: SERVERS,
        newer_table: None,
        entry: EntryForm { started_type: None, ..USUAL },
        policies: &[],
        switches: &[],
    },
];
