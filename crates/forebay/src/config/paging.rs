//! Pages in front of tools: `paging` for all, and `[tools."PATTERN".paging]` for some.

use std::time::Duration;

use forebay_intercept::Glob;
use forebay_tools::{PagingRule, PagingSettings, PagingStyle};

use super::{
    kind::{Choice, Kind},
    problem::nearest,
    settings::Setting,
    tree::{Member, Mistake, Node, Shape},
};

/// The name of the key in a tool's table.
pub(super) const PAGING: &str = "paging";

/// As many seconds as a call may take, with what is left to do when all is fetched.
const LONGEST: u64 = 3_600;

/// What a tool's table for pages may hold.
pub(super) const KEYS: &[Setting<PagingSettings>] = &[
    Setting {
        key: "style",
        default: "\"auto\"",
        meaning: "What the tool has for its pages.",
        kind: Kind::Choice(&[
            Choice {
                word: "auto",
                meaning: "it is guessed from its parameters and its first result, and the answer says so",
                set: |paging| paging.style = PagingStyle::Auto,
            },
            Choice {
                word: "page",
                meaning: "the number of a page",
                set: |paging| paging.style = PagingStyle::Page,
            },
            Choice {
                word: "offset",
                meaning: "how many records come before",
                set: |paging| paging.style = PagingStyle::Offset,
            },
            Choice {
                word: "cursor",
                meaning: "a cursor or token, which each result gives for the next",
                set: |paging| paging.style = PagingStyle::Cursor,
            },
            Choice {
                word: "next",
                meaning: "the URL of the next page: whole, or what its query sets",
                set: |paging| paging.style = PagingStyle::Next,
            },
            Choice {
                word: "none",
                meaning: "nothing: all records come at once",
                set: |paging| paging.style = PagingStyle::None,
            },
        ]),
    },
    Setting {
        key: "page_parameter",
        default: "",
        meaning: "The tool's parameter for the number of a page.",
        kind: Kind::Name(|paging, name| paging.page_parameter = Some(name)),
    },
    Setting {
        key: "size_parameter",
        default: "",
        meaning: "Its parameter for how many records a page has.",
        kind: Kind::Name(|paging, name| paging.size_parameter = Some(name)),
    },
    Setting {
        key: "offset_parameter",
        default: "",
        meaning: "Its parameter for how many records come before.",
        kind: Kind::Name(|paging, name| paging.offset_parameter = Some(name)),
    },
    Setting {
        key: "cursor_parameter",
        default: "",
        meaning: "Its parameter for a cursor, or for the URL of the next page.",
        kind: Kind::Name(|paging, name| paging.cursor_parameter = Some(name)),
    },
    Setting {
        key: "page_size",
        default: "",
        meaning: "How many records a page of the tool has; they are asked for if it has a parameter for that. If it is not set, it is what the definition allows, up to 1000, or 100, and the first page shows how many there are.",
        kind: Kind::Number {
            from: 1,
            to: u64::MAX,
            set: |paging, records| paging.page_size = Some(records),
        },
    },
    Setting {
        key: "first_page",
        default: "",
        meaning: "The number of the first page, or of the first record where offsets count. If it is not set, it is what the definition or the pages show, and else 1 for pages and 0 for offsets.",
        kind: Kind::Number { from: 0, to: 1, set: |paging, page| paging.first_page = Some(page) },
    },
    Setting {
        key: "records",
        default: "",
        meaning: "Where the records are in a result, as a JSON pointer such as \"/data/items\".",
        kind: Kind::Pointer(|paging, pointer| paging.records = Some(pointer)),
    },
    Setting {
        key: "total",
        default: "",
        meaning: "Where it says how many there are in all.",
        kind: Kind::Pointer(|paging, pointer| paging.total = Some(pointer)),
    },
    Setting {
        key: "next",
        default: "",
        meaning: "Where it says what comes next.",
        kind: Kind::Pointer(|paging, pointer| paging.next = Some(pointer)),
    },
    Setting {
        key: "lifetime_seconds",
        default: "300",
        meaning: "For how long a page that was fetched is not fetched again, unless the call says `refresh`.",
        kind: Kind::Number {
            from: 0,
            to: u64::MAX,
            set: |paging, seconds| paging.lifetime = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "max_pages",
        default: "100",
        meaning: "How many pages one call may fetch. What was fetched stays, and the same call goes on from there.",
        kind: Kind::Number { from: 1, to: u64::MAX, set: |paging, pages| paging.max_pages = pages },
    },
    Setting {
        key: "max_records",
        default: "1000000",
        meaning: "How many records may be kept of one call.",
        kind: Kind::Number {
            from: 1,
            to: u64::MAX,
            set: |paging, records| paging.max_records = records,
        },
    },
    Setting {
        key: "max_bytes",
        default: "\"256 MB\"",
        meaning: "How long they may be together, and how long one result may be.",
        kind: Kind::Bytes { from: 1, set: |paging, bytes| paging.max_bytes = bytes },
    },
    Setting {
        key: "max_seconds",
        default: "60",
        meaning: "How long one call may go on fetching.",
        kind: Kind::Number {
            from: 1,
            to: LONGEST,
            set: |paging, seconds| paging.max_time = Duration::from_secs(seconds),
        },
    },
];

/// Reads what stands under `paging` in the table of the tools that a pattern fits, unless it is a mistake.
pub(super) fn read(pattern: &str, value: &Node, mistakes: &mut Vec<Mistake>) -> Option<PagingRule> {
    let rule = |settings| Some(PagingRule { pattern: Glob::new(pattern), settings });
    let given = value.given();
    match given.text() {
        Some("off") => return rule(None),
        Some("auto") => return rule(Some(PagingSettings::default())),
        Some(_) | None => {}
    }
    let Shape::Table(members) = &value.shape else {
        let what = format!(
            "`paging` cannot be {given}; write \"off\" or \"auto\", or a table \
             `[tools.\"{pattern}\".paging]`"
        );
        mistakes.push(Mistake::new(value.at, what));
        return None;
    };
    let (mut paging, before) = (PagingSettings::default(), mistakes.len());
    for Member { key, at, value } in members {
        let mistake = match KEYS.iter().find(|setting| setting.key == key) {
            Some(setting) => {
                let wrong = setting.set(&mut paging, &value.given()).err();
                wrong.map(|what| Mistake::new(value.at, what))
            }
            None => Some(Mistake::new(*at, unknown(key))),
        };
        mistakes.extend(mistake);
    }
    if mistakes.len() == before { rule(Some(paging)) } else { None }
}

fn unknown(key: &str) -> String {
    let names = || KEYS.iter().map(|setting| setting.key);
    let meant = nearest(key, names()).map_or_else(|| names().collect(), |near| vec![near]);
    let meant: Vec<String> = meant.iter().map(|name| format!("`{name}`")).collect();
    format!("`paging` has no `{key}`; write {}", meant.join(" or "))
}
