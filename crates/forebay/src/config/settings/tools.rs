//! What the injected tools are called, what they may see, and how much they may say.

use forebay_store::Scope;
use forebay_tools::{Formulas, PagingSettings};

use super::Setting;
use crate::config::kind::{Choice, Kind};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "injected_tools",
        default: "\"core\"",
        meaning: "Which tools are added to those of a server: \"core\" (query, list, read), \"full\" (export, charts and programs, too), \"none\", or a list of names. In the variable, commas stand between them.",
        kind: Kind::Tools(|config, tools| config.offer.tools = tools),
    },
    Setting {
        key: "injected_prefix",
        default: "\"\"",
        meaning: "What stands before the names of the added tools. If a server has a tool of the same name as one of them, the server's is offered under the server's own name, two underscores and its name.",
        kind: Kind::Prefix(|config, prefix| config.offer.prefix = prefix),
    },
    Setting {
        key: "scope",
        default: "\"project\"",
        meaning: "Which of what was kept the added tools of a session may see. A project is the first root that the client names to a server that asks, or else the directory in which Forebay was started. What has no project, because an older version has kept it, is seen with \"all\" only. The command line sees all.",
        kind: Kind::Choice(&[
            Choice {
                word: "session",
                meaning: "what was kept in the same session",
                set: |config| config.policy.scope = Scope::Session,
            },
            Choice {
                word: "project",
                meaning: "that, and what other sessions have kept in the same project",
                set: |config| config.policy.scope = Scope::Project,
            },
            Choice {
                word: "all",
                meaning: "everything, of all servers and clients",
                set: |config| config.policy.scope = Scope::All,
            },
        ]),
    },
    Setting {
        key: "reply_tokens",
        default: "4000",
        meaning: "How many tokens a reply of an added tool may have, if the call does not say.",
        kind: Kind::Number {
            from: 200,
            to: 1_000_000,
            set: |config, tokens| config.offer.reply_tokens = tokens,
        },
    },
    Setting {
        key: "escape_formulas",
        default: "true",
        meaning: "Whether a text that a spreadsheet would run as a formula, because it begins with = + - @, a tab or a carriage return, gets a `'` before it in a CSV file. How many there were is told.",
        kind: Kind::Switch(|config, on| {
            config.formulas = if on { Formulas::Disarmed } else { Formulas::AsWritten };
        }),
    },
    Setting {
        key: "paging",
        default: "\"off\"",
        meaning: "Pages in front of the tools of servers: whether a tool without a `paging` of its own gains `page`, `limit`, `offset`, `fields`, `refresh` and `fetch_all`. What a tool has itself stays its own, and a call without them passes as before.",
        kind: Kind::Choice(&[
            Choice {
                word: "off",
                meaning: "it does not",
                set: |config| config.paging.otherwise = None,
            },
            Choice {
                word: "auto",
                meaning: "it does if its server marks it as only reading (`readOnlyHint`); one whose result holds no list says so when they are used",
                set: |config| config.paging.otherwise = Some(PagingSettings::default()),
            },
        ]),
    },
];
