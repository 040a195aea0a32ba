//! How several servers look like one.

use forebay_proxy::router::Prefix;

use super::Setting;
use crate::config::{
    gateway::Expose,
    kind::{Choice, Kind},
};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "gateway.separator",
        default: "\"__\"",
        meaning: "What stands between the name of a server and that of its tool, where several servers are offered as one.",
        kind: Kind::Separator(|config, separator| config.gateway.separator = separator),
    },
    Setting {
        key: "gateway.prefix",
        default: "\"always\"",
        meaning: "Which tools have the name of their server before their own, where several servers are offered as one.",
        kind: Kind::Choice(&[
            Choice {
                word: "always",
                meaning: "all",
                set: |config| config.gateway.prefix = Prefix::Always,
            },
            Choice {
                word: "where_needed",
                meaning: "those of which two servers have one of the same name",
                set: |config| config.gateway.prefix = Prefix::WhereNeeded,
            },
        ]),
    },
    Setting {
        key: "gateway.expose",
        default: "\"all\"",
        meaning: "Which tools of several servers are listed. Those that are not can be found with `search_tools` and called with `call_tool`.",
        kind: Kind::Choice(&[
            Choice {
                word: "all",
                meaning: "all",
                set: |config| config.gateway.expose = Expose::All,
            },
            Choice {
                word: "search",
                meaning: "none",
                set: |config| config.gateway.expose = Expose::Search,
            },
            Choice {
                word: "auto",
                meaning: "all, unless their definitions have more tokens than `gateway.expose_tokens`",
                set: |config| config.gateway.expose = Expose::Auto,
            },
        ]),
    },
    Setting {
        key: "gateway.expose_tokens",
        default: "20000",
        meaning: "How many tokens the definitions of all tools may have to be listed, with `gateway.expose = \"auto\"`.",
        kind: Kind::Number {
            from: 1,
            to: u64::MAX,
            set: |config, tokens| config.gateway.expose_tokens = tokens,
        },
    },
];
