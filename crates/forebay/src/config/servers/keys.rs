//! The table of what can be written of a server. Everything else about it follows from this.

use std::time::Duration;

use forebay_proxy::upstream::Sharing;

use super::{Start, draft::Draft};
use crate::config::{
    kind::{Choice, Kind},
    settings::Setting,
};

/// How a server is started, and what goes with it.
pub(in crate::config) const COMMAND: &str = "command";
pub(in crate::config) const ARGUMENTS: &str = "args";
pub(in crate::config) const OF_COMMAND: [&str; 4] = ["args", "env", "cwd", "watch"];
/// Where a server is, and what goes with it.
pub(in crate::config) const URL: &str = "url";
pub(in crate::config) const OF_URL: [&str; 2] = ["headers", "ca_file"];
/// The rules for its tools, which have a table of their own.
pub(in crate::config) const TOOLS: &str = "tools";

/// In which of them `${…}` stands for a variable.
pub(in crate::config) const EXPANDED: [&str; 7] =
    ["command", "args", "env", "cwd", "watch", "url", "headers"];

/// In seconds.
const DAY: u64 = 24 * 60 * 60;

/// All but the rules for single tools.
pub(in crate::config) const KEYS: &[Setting<Draft>] = &[
    Setting {
        key: COMMAND,
        default: "",
        meaning: "The program that is started.",
        kind: Kind::Program(|server, program| server.program = program),
    },
    Setting {
        key: ARGUMENTS,
        default: "[]",
        meaning: "What it is started with.",
        kind: Kind::Texts(|server, arguments| server.arguments = arguments),
    },
    Setting {
        key: "env",
        default: "{}",
        meaning: "What is added to its environment.",
        kind: Kind::Pairs(|server, environment| server.environment = environment),
    },
    Setting {
        key: "cwd",
        default: "",
        meaning: "The directory in which it is started; if it is not set, the one of Forebay.",
        kind: Kind::Directory(|server, directory| server.directory = Some(directory)),
    },
    Setting {
        key: URL,
        default: "",
        meaning: "Where it is, if it is not started. It speaks Streamable HTTP.",
        kind: Kind::Address(|server, url| server.url = url),
    },
    Setting {
        key: "headers",
        default: "{}",
        meaning: "Headers that are sent with each request to the URL.",
        kind: Kind::Pairs(|server, headers| server.headers = headers),
    },
    Setting {
        key: "ca_file",
        default: "\"\"",
        meaning: "The same as the setting `ca_file`, before which it goes, for this server.",
        kind: Kind::File(|server, file| server.ca_file = file),
    },
    Setting {
        key: "enabled",
        default: "true",
        meaning: "Whether it is used. If not, it is listed, and never started.",
        kind: Kind::Switch(|server, on| server.is_enabled = on),
    },
    Setting {
        key: "start",
        default: "\"eager\"",
        meaning: "When it is started.",
        kind: Kind::Choice(&[
            Choice { word: "eager", meaning: "at once", set: |server| server.start = Start::Eager },
            Choice {
                word: "lazy",
                meaning: "when it is first needed",
                set: |server| server.start = Start::Lazy,
            },
        ]),
    },
    Setting {
        key: "sharing",
        default: "\"auto\"",
        meaning: "Whether clients share its process.",
        kind: Kind::Choice(&[
            Choice {
                word: "auto",
                meaning: "if its protocol has no sessions",
                set: |server| server.sharing = Sharing::Auto,
            },
            Choice {
                word: "shared",
                meaning: "there is one for all",
                set: |server| server.sharing = Sharing::Shared,
            },
            Choice {
                word: "apart",
                meaning: "each session has its own",
                set: |server| server.sharing = Sharing::Apart,
            },
        ]),
    },
    Setting {
        key: "watch",
        default: "[]",
        meaning: "Files and folders that it is made of. When one changes, it is started anew, and clients stay connected.",
        kind: Kind::Paths(|server, paths| server.watch = paths),
    },
    Setting {
        key: "timeout",
        default: "",
        meaning: "How many seconds a call may take.",
        kind: Kind::Number {
            from: 1,
            to: DAY,
            set: |server, seconds| server.call_timeout = Some(Duration::from_secs(seconds)),
        },
    },
    Setting {
        key: "start_timeout",
        default: "",
        meaning: "How many seconds it may take to start.",
        kind: Kind::Number {
            from: 1,
            to: DAY,
            set: |server, seconds| server.start_timeout = Some(Duration::from_secs(seconds)),
        },
    },
    Setting {
        key: "allow_tools",
        default: "[]",
        meaning: "Which of its tools are offered: those that fit one of these, or all if there are none.",
        kind: Kind::Patterns(|server, patterns| server.allow = patterns),
    },
    Setting {
        key: "deny_tools",
        default: "[]",
        meaning: "Which of its tools are not offered, whatever `allow_tools` says.",
        kind: Kind::Patterns(|server, patterns| server.deny = patterns),
    },
    Setting {
        key: "shares_disk",
        default: "false",
        meaning: "Whether it can read files of this machine, as this user: then a reference in place of a file's path becomes the path of a file.",
        kind: Kind::Switch(|server, on| server.keeping.shares_disk = on),
    },
    Setting {
        key: "threshold",
        default: "",
        meaning: "The same as the setting `threshold`, before which it goes, for this server.",
        kind: Kind::Number {
            from: 1,
            to: u64::MAX,
            set: |server, tokens| server.keeping.threshold = Some(tokens),
        },
    },
    Setting {
        key: "excluded_tools",
        default: "[]",
        meaning: "Tools of this server whose results always pass, besides those of the setting `excluded_tools`.",
        kind: Kind::Patterns(|server, patterns| server.keeping.excluded_tools = patterns),
    },
];
